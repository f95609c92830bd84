/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Notes that the current queue uses a piece of memory that belongs to another one, or that
 * captured work does.
 */
#include "device/use.h"

#include "device/pool_parts.h"

void tn_block_note_use(struct tn_device *device, const struct tn_block *block)
{
	struct tn_piece *piece = block->piece;
	if (!piece)
		return;
	if (piece->queue != device->queue)
		piece->users |= tn_queue_bit(device->queue);
	if (device->store)
		piece->is_captured = 1;
}
