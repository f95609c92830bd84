/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches that are loaded ahead: a ring of slots, one for the batch that the program has, and one
 * for each batch ahead.  A batch is loaded in pieces, which are jobs of the pool of threads.
 */
#ifndef TN_DATA_BATCH_QUEUE_H
#define TN_DATA_BATCH_QUEUE_H

#include <tenon/memory.h>

#include "base/threads.h"
#include "data/batch.h"

/* The memory of a batch, and what it holds. */
struct tn_batch_slot {
	void *data[TN_MAX_FIELDS]; /* in `buffer` or `memory` */
	tn_host_buffer *buffer;
	void *memory;
	uint64_t *samples; /* their numbers within the part */
	uint32_t n;
	uint64_t epoch;
	uint64_t index; /* the position of the first */
	struct tn_batch_piece *pieces;
};

struct tn_batch_queue {
	const struct tn_batch_plan *plan;
	struct tn_threads *threads; /* NULL: the caller loads */
	uint32_t batch_size;
	uint32_t n_pieces;
	uint32_t n_slots;
	struct tn_batch_slot *slots;
	uint32_t first;    /* the slot of the oldest posted batch */
	uint32_t n_posted; /* fewer than n_slots */
};

/* A queue of `ahead` batches of at most batch_size samples (`plan` is borrowed).  With a context
 * its threads load them, in memory for its current device.  A queue of zeros may be closed. */
tn_status tn_batch_queue_open(struct tn_batch_queue *queue, const struct tn_batch_plan *plan,
			      uint32_t batch_size, uint32_t ahead, tn_context *context,
			      struct tn_error_info *error);
void tn_batch_queue_close(struct tn_batch_queue *queue);

/* May another batch be posted? */
int tn_batch_queue_has_room(const struct tn_batch_queue *queue);
/* Begins to load a batch: n samples from `index` on of an epoch, whose numbers are in `numbers`,
 * which is borrowed for the call. */
void tn_batch_queue_post(struct tn_batch_queue *queue, uint64_t epoch, uint64_t index,
			 const uint32_t *numbers, uint32_t n);
/* Waits for the oldest posted batch.  It is the caller's until the next tn_batch_queue_post.  On
 * failure the error is that of its first sample that failed, and all posted batches are dropped. */
tn_status tn_batch_queue_take(struct tn_batch_queue *queue, const struct tn_batch_slot **batch,
			      struct tn_error_info *error);
/* Drops all posted batches. */
void tn_batch_queue_drop(struct tn_batch_queue *queue);

#endif
