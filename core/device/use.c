/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See use.h.
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
