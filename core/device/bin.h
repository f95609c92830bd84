/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Bins of free pieces, and the records of pieces.
 */
#ifndef TN_DEVICE_BIN_H
#define TN_DEVICE_BIN_H

#include "device/pool_parts.h"

/* The bins of the piece's queue; inline because every block goes through them. */
static inline void tn_bin_push(struct tn_piece *piece)
{
	struct tn_queue *queue = piece->queue;
	struct tn_piece *head = queue->bins[piece->class];
	piece->next = head;
	piece->previous = NULL;
	if (head)
		head->previous = piece;
	queue->bins[piece->class] = piece;
	queue->filled[piece->class / 64] |= UINT64_C(1) << piece->class % 64;
}

static inline void tn_bin_remove(struct tn_piece *piece)
{
	struct tn_queue *queue = piece->queue;
	if (piece->next)
		piece->next->previous = piece->previous;
	if (piece->previous)
		piece->previous->next = piece->next;
	else
		queue->bins[piece->class] = piece->next;
	if (!queue->bins[piece->class])
		queue->filled[piece->class / 64] &= ~(UINT64_C(1) << piece->class % 64);
}

/* The first piece of the queue's lowest filled bin in [class, end), or NULL. */
struct tn_piece *tn_bin_find(const struct tn_queue *queue, uint32_t class, uint32_t end);

/* Takes a piece record (NULL: no host memory), and gives one back. */
struct tn_piece *tn_record_take(struct tn_pool *pool);
void tn_record_give(struct tn_pool *pool, struct tn_piece *record);

#endif
