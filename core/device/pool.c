/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The pool's steady state: taking a block pops a bin and giving it back pushes it, without a system
 * call, a lock or a touched page.
 *
 * A block may be reused at once although queued work still uses it: in an in-order stream the next
 * use comes later, and point.c orders the uses of several streams.  Only memory returned to the
 * backend waits for the device (chunk.c).  Under
 * AddressSanitizer free pieces of host memory are poisoned, so that a use after free is detected
 * although the memory stays mapped.
 */
#include "device/pool.h"

#include "device/pool_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "base/memory.h"
#include "device/bin.h"
#include "device/chunk.h"
#include "device/memory_events.h"
#include "device/open.h"
#include "device/point.h"
#include "device/returned.h"
#include "device/store.h"
#include "device/turn.h"

/* A free piece may serve a request up to this many classes smaller: at most a quarter is wasted. */
#define NEIGHBOURS 4

struct tn_pool *tn_pool_create(uint64_t limit)
{
	struct tn_pool *pool = tn_mem_zeroed(1, sizeof(*pool));
	if (!pool)
		return NULL;
	pool->limit = limit;
	pool->queues[0] = &pool->ordinary;
	return pool;
}

/* The text of TN_OUT_OF_MEMORY; `cause` is the backend's text or the exceeded limit. */
static tn_status out_of_memory(struct tn_device *device, uint64_t size,
			       const struct tn_error_info *cause, struct tn_error_info *error)
{
	const struct tn_pool *pool = device->pool;
	char limit[64] = "no limit", available[64] = "";
	struct tn_memory_information memory = {.struct_size = sizeof(memory)};
	if (pool->limit)
		snprintf(limit, sizeof(limit), "limit %" PRIu64, pool->limit);
	if (device->handle && tn_backend_has(device->backend, TN_SLOT_MEMORY_INFORMATION) &&
	    !tn_turn_end(device, device->backend->memory.information(tn_turn_begin(device),
								     TN_MEMORY_DEVICE, &memory)))
		snprintf(available, sizeof(available), ", %" PRIu64 " free on the device",
			 memory.free_bytes);
	tn_fail(error, TN_OUT_OF_MEMORY, "allocate",
		"%s: %" PRIu64 " bytes requested, %" PRIu64 " used, %" PRIu64 " cached%s, %s: %s",
		device->name, size, pool->used, pool->reserved - pool->used, available, limit,
		cause->text);
	if (error)
		error->native_code = cause->native_code;
	return TN_OUT_OF_MEMORY;
}

/* Finds a piece when the bin of the class is empty or the request is too large. */
static tn_status take_slowly(struct tn_device *device, uint64_t size, uint32_t class,
			     struct tn_piece **piece, struct tn_error_info *error)
{
	struct tn_error_info cause;
	tn_status status = tn_device_ready(device, error);
	if (status)
		return status;
	if (size > TN_POOL_MAX_SIZE) {
		tn_fail(&cause, TN_OUT_OF_MEMORY, "allocate", "more than the library can allocate");
		return out_of_memory(device, size, &cause, error);
	}
	status = tn_device_open(device, error);
	if (status)
		return status;
	tn_returned_collect(device);
	uint32_t end = class + NEIGHBOURS + 1;
	*piece = tn_bin_find(device->queue, class, end < TN_POOL_CLASSES ? end : TN_POOL_CLASSES);
	if (*piece) {
		tn_bin_remove(*piece);
		return TN_OK;
	}
	tn_error_reset(&cause);
	status = tn_chunk_cut(device, class, piece, &cause);
	if (status == TN_OUT_OF_MEMORY)
		return out_of_memory(device, size, &cause, error);
	if (status && error)
		*error = cause;
	return status;
}

/* The block of a piece. */
static void hand_out(const struct tn_device *device, struct tn_piece *piece, uint64_t size,
		     struct tn_block *block)
{
	block->buffer = piece->chunk->buffer;
	block->offset = piece->offset;
	block->size = size;
	block->address = NULL;
	if (device->host_memory) {
		block->address = (void *)(uintptr_t)(block->buffer + block->offset);
		tn_pool_unpoison(block->address, size);
	}
	block->piece = piece;
	piece->tag = tn_memory_tag(device);
	device->pool->n_taken++;
	tn_memory_event(device, TN_MEMORY_ALLOCATE, piece->size, block->buffer + block->offset,
			piece->tag);
}

static tn_status take_from_pool(struct tn_device *device, uint64_t size, struct tn_piece **taken,
				struct tn_error_info *error)
{
	uint32_t class = size <= TN_POOL_MAX_SIZE ? tn_size_class(size) : TN_POOL_CLASSES - 1;
	struct tn_piece *piece = device->queue->bins[class];
	if (piece && size <= TN_POOL_MAX_SIZE && !tn_device_ready(device, NULL)) {
		tn_bin_remove(piece);
	} else {
		tn_status status = take_slowly(device, size, class, &piece, error);
		if (status)
			return status;
	}
	if (piece->points || piece->queue != device->queue)
		tn_piece_join(device, piece);
	piece->used = TN_PIECE_USED;
	piece->store = NULL;
	piece->is_captured = 0;
	piece->chunk->used_pieces++;
	tn_pool_count(device->pool, piece->size);
	*taken = piece;
	return TN_OK;
}

/* The block's memory is the pool's, or the store's, again. */
static void take_back(struct tn_device *device, struct tn_piece *piece)
{
	struct tn_pool *pool = device->pool;
	if (device->host_memory)
		tn_pool_poison((void *)(uintptr_t)(piece->chunk->buffer + piece->offset),
			       piece->size);
	if (device->tracks_use)
		tn_piece_leave(device, piece);
	/* All memory used during a capture is reserved for it, also blocks taken before it. */
	if (device->store && !piece->store && !tn_store_adopt(device->store, piece))
		return;
	if (piece->store) {
		tn_store_give(piece);
		return;
	}
	piece->used = TN_PIECE_FREE;
	piece->chunk->used_pieces--;
	pool->used -= piece->size;
	tn_bin_push(piece);
}

/* During a capture: the block stays with the captured work. */
static tn_status take_for_capture(struct tn_device *device, uint64_t size, struct tn_piece **taken,
				  struct tn_error_info *error)
{
	*taken = tn_store_take(device->store, size);
	tn_status status = *taken ? TN_OK : take_from_pool(device, size, taken, error);
	if (status || tn_store_adopt(device->store, *taken))
		return status;
	struct tn_store *store = device->store;
	device->store = NULL;
	take_back(device, *taken);
	device->store = store;
	return tn_no_memory(error, "allocate", NULL, "the record of captured work");
}

tn_status tn_block_take(struct tn_device *device, uint64_t size, struct tn_block *block,
			struct tn_error_info *error)
{
	struct tn_piece *piece;
	size += size == 0;
	tn_status status = device->store ? take_for_capture(device, size, &piece, error)
					 : take_from_pool(device, size, &piece, error);
	if (!status)
		hand_out(device, piece, size, block);
	return status;
}

tn_status tn_block_take_apart(struct tn_device *device, uint64_t size, struct tn_block *block,
			      struct tn_error_info *error)
{
	struct tn_piece *piece;
	size += size == 0;
	tn_status status = take_from_pool(device, size, &piece, error);
	if (!status)
		hand_out(device, piece, size, block);
	return status;
}

void tn_block_give(struct tn_device *device, const struct tn_block *block)
{
	struct tn_piece *piece = block->piece;
	if (piece->used != TN_PIECE_USED) {
		tn_log_format(device->logger, TN_LOG_ERROR, "pool", "%s: a block was freed twice",
			      device->name);
		return;
	}
	const char *tag = piece->tag;
	uint64_t size = piece->size;
	take_back(device, piece);
	device->pool->n_given++;
	tn_memory_event(device, TN_MEMORY_FREE, size, piece->chunk->buffer + piece->offset, tag);
}

uint64_t tn_pool_restart_high(struct tn_device *device)
{
	struct tn_pool *pool = device->pool;
	uint64_t high = pool->high;
	pool->high = pool->used;
	return high;
}
