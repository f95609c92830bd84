/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lends a call scratch memory: one large block for each queue is kept from call to call, smaller
 * requests go to the pool.
 */
#include "device/scratch.h"

#include "device/chunk.h"
#include "device/memory_events.h"
#include "device/open.h"
#include "device/pool.h"
#include "device/pool_parts.h"

/* Smaller scratch memory is an ordinary piece. */
#define SMALLEST_SCRATCH (UINT64_C(1) << 20)

tn_status tn_scratch_take(struct tn_device *device, uint64_t size, struct tn_block *block,
			  struct tn_error_info *error)
{
	struct tn_queue *queue = device->queue;
	struct tn_error_info ignored;
	if (size < SMALLEST_SCRATCH || size > TN_POOL_MAX_SIZE || queue->scratch_is_taken ||
	    device->store || tn_device_open(device, NULL))
		return tn_block_take(device, size, block, error);
	if ((!queue->scratch || queue->scratch->size < size) &&
	    tn_chunk_get_scratch(device, size, &ignored))
		return tn_block_take(device, size, block, error);
	*block = (struct tn_block){.buffer = queue->scratch->buffer, .size = size};
	if (device->host_memory)
		block->address = (void *)(uintptr_t)block->buffer;
	queue->scratch_is_taken = 1;
	tn_pool_count(device->pool, queue->scratch->size);
	device->pool->n_taken++;
	tn_memory_event(device, TN_MEMORY_ALLOCATE, queue->scratch->size, block->buffer,
			tn_memory_tag(device));
	return TN_OK;
}

void tn_scratch_give(struct tn_device *device, const struct tn_block *block)
{
	struct tn_queue *queue = device->queue;
	if (block->piece) {
		tn_block_give(device, block);
		return;
	}
	queue->scratch_is_taken = 0;
	device->pool->used -= queue->scratch->size;
	device->pool->n_given++;
	tn_memory_event(device, TN_MEMORY_FREE, queue->scratch->size, block->buffer,
			tn_memory_tag(device));
}
