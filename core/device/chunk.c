/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chunks: what the pool takes from the backend and gives back.
 *
 * A piece that is in no bin comes from the first possible source of these: the current chunk; a
 * chunk without used pieces, which is cut anew; a larger free piece, which is split (split.c); a
 * new chunk; any larger free piece; and a new chunk after all empty ones were given back.  The free
 * memory of other queues, for whose work the current one must wait, is used only when the pool has
 * grown large or the backend gives no new chunk.  Small pieces share chunks of 2 to 32 MiB that
 * grow with the pool; a large one has a chunk for itself.  Sizes are multiples of 2 MiB while
 * memory allows, so that host memory comes in huge pages.
 *
 * On an asynchronous device a chunk goes back only after a sync: its pieces may be in use by work
 * that was queued before they were freed.
 */
#include "device/chunk.h"

#include <inttypes.h>
#include <sys/mman.h>

#include "base/fork.h"
#include "base/memory.h"
#include "device/bin.h"
#include "device/memory_events.h"
#include "device/open.h"
#include "device/point.h"
#include "device/pool_parts.h"
#include "device/split.h"
#include "device/transfer.h"
#include "device/turn.h"

#define HUGE_PAGE (UINT64_C(2) << 20)
#define LARGE (UINT64_C(8) << 20)
#define MAX_SHARED (UINT64_C(32) << 20)
/* Host memory may never report exhaustion, so there the pool keeps at most twice the peak use plus
 * this much.  On other devices it grows to that before one queue uses another's memory. */
#define SLACK (UINT64_C(64) << 20)
/* Classes to a piece of twice the size. */
#define TWICE 16

static uint64_t round_up(uint64_t size, uint64_t unit)
{
	return (size + unit - 1) / unit * unit;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- Cutting ---------------------------------------------------------------------------------*/

static uint64_t room(const struct tn_chunk *chunk)
{
	return chunk ? chunk->size - chunk->cut : 0;
}

/* Cuts the next piece of a chunk that has room for it.  NULL: no host memory for its record. */
static struct tn_piece *cut_piece(struct tn_pool *pool, struct tn_chunk *chunk, uint32_t class)
{
	struct tn_piece *piece = tn_record_take(pool);
	if (!piece)
		return NULL;
	*piece = (struct tn_piece){.queue = chunk->queue,
				   .sibling = chunk->pieces,
				   .chunk = chunk,
				   .offset = chunk->cut,
				   .size = tn_class_size(class),
				   .class = class};
	chunk->pieces = piece;
	chunk->cut += piece->size;
	return piece;
}

/* Makes an empty chunk uncut again. */
static void dissolve(struct tn_device *device, struct tn_chunk *chunk)
{
	while (chunk->pieces) {
		struct tn_piece *piece = chunk->pieces;
		chunk->pieces = piece->sibling;
		tn_bin_remove(piece);
		tn_piece_settle(device, piece);
		tn_record_give(device->pool, piece);
	}
	chunk->cut = 0;
}

/* Dissolves a chunk without used pieces for the current queue, which waits for its last users. */
static void take_over(struct tn_device *device, struct tn_chunk *chunk)
{
	uint64_t queues = tn_queue_bit(chunk->queue);
	for (struct tn_piece *piece = chunk->pieces; piece; piece = piece->sibling) {
		queues |= tn_queue_bit(piece->queue);
		tn_piece_await(device, piece);
	}
	tn_queue_follow(device, device->queue, queues);
	if (chunk->queue->current == chunk && chunk->queue != device->queue)
		chunk->queue->current = NULL;
	chunk->queue = device->queue;
	dissolve(device, chunk);
}

/* ---- To and from the backend -----------------------------------------------------------------*/

static void link_chunk(struct tn_pool *pool, struct tn_chunk *chunk)
{
	chunk->next = pool->chunks;
	if (pool->chunks)
		pool->chunks->previous = chunk;
	else
		pool->last = chunk;
	pool->chunks = chunk;
	pool->reserved += chunk->size;
	pool->n_chunks++;
	pool->n_chunks_taken++;
}

static void unlink_chunk(struct tn_pool *pool, struct tn_chunk *chunk)
{
	if (chunk->next)
		chunk->next->previous = chunk->previous;
	else
		pool->last = chunk->previous;
	if (chunk->previous)
		chunk->previous->next = chunk->next;
	else
		pool->chunks = chunk->next;
	if (chunk->queue->current == chunk)
		chunk->queue->current = NULL;
	pool->reserved -= chunk->size;
	pool->n_chunks--;
}

/* A new chunk of exactly `size` bytes. */
static tn_status get_chunk(struct tn_device *device, uint64_t size, struct tn_chunk **out,
			   struct tn_error_info *error)
{
	struct tn_pool *pool = device->pool;
	uint64_t largest = device->description.max_alloc_bytes;
	if (largest && size > largest)
		return tn_fail(error, TN_OUT_OF_MEMORY, "allocate",
			       "the device allocates at most %" PRIu64 " bytes at once", largest);
	if (pool->limit && (size > pool->limit || pool->reserved > pool->limit - size))
		return tn_fail(error, TN_OUT_OF_MEMORY, "allocate", "the memory limit is reached");
	struct tn_chunk *chunk = tn_mem_zeroed(1, sizeof(*chunk));
	if (!chunk)
		return tn_no_memory(error, "allocate", NULL, "the pool's own records");
	struct tn_alloc_args args = {
		.call = {.struct_size = sizeof(args), .error = error},
		.size = size,
		.alignment = device->host_memory && size % HUGE_PAGE == 0 ? HUGE_PAGE : 0,
	};
	tn_status status =
		tn_turn_end(device, device->backend->device.alloc(tn_turn_begin(device), &args,
								  &chunk->buffer));
	if (tn_device_answer(device, status, error)) {
		tn_mem_free(chunk);
		return status;
	}
	chunk->size = size;
	chunk->queue = device->queue;
#ifdef MADV_HUGEPAGE
	/* Without kernel support this has no effect. */
	if (device->host_memory && chunk->buffer % HUGE_PAGE == 0 && size % HUGE_PAGE == 0)
		madvise((void *)(uintptr_t)chunk->buffer, size, MADV_HUGEPAGE);
#endif
	link_chunk(pool, chunk);
	tn_log_format(device->logger, TN_LOG_DEBUG, "pool",
		      "%s: %" PRIu64 " bytes allocated, %" PRIu64 " in total", device->name, size,
		      pool->reserved);
	tn_memory_event(device, TN_MEMORY_RESERVE, size, chunk->buffer, NULL);
	*out = chunk;
	return TN_OK;
}

/* A failure to free is logged, and the chunk is dropped. */
static void put_chunk(struct tn_device *device, struct tn_chunk *chunk)
{
	struct tn_error_info error;
	struct tn_free_args args = {.call = {.struct_size = sizeof(args), .error = &error},
				    .buffer = chunk->buffer};
	tn_error_reset(&error);
	if (device->host_memory)
		tn_pool_unpoison((void *)(uintptr_t)chunk->buffer, chunk->size);
	tn_status status =
		tn_turn_end(device, device->backend->device.free(tn_turn_begin(device), &args));
	if (tn_device_answer(device, status, &error))
		tn_log_format(device->logger, TN_LOG_WARNING, "pool", "%s", error.text);
	dissolve(device, chunk);
	unlink_chunk(device->pool, chunk);
	tn_memory_event(device, TN_MEMORY_RELEASE, chunk->size, chunk->buffer, NULL);
	tn_mem_free(chunk);
}

static void put_scratch(struct tn_device *device, struct tn_queue *queue);

void tn_chunk_release(struct tn_device *device, uint64_t keep)
{
	struct tn_pool *pool = device->pool;
	int settled = 0;
	if (device->store) /* the host cannot wait during a capture */
		return;
	for (struct tn_chunk *chunk = pool->last; chunk && pool->reserved > keep;) {
		struct tn_chunk *newer = chunk->previous;
		if (!chunk->used_pieces) {
			if (!settled)
				tn_device_settle(device);
			settled = 1;
			put_chunk(device, chunk);
		}
		chunk = newer;
	}
	for (uint32_t i = 0; i < TN_MOST_QUEUES && pool->reserved > keep; i++) {
		if (pool->queues[i])
			put_scratch(device, pool->queues[i]);
	}
}

void tn_pool_trim(struct tn_device *device)
{
	if (!tn_device_ready(device, NULL))
		tn_chunk_release(device, 0);
}

void tn_pool_destroy(struct tn_device *device)
{
	struct tn_pool *pool = device->pool;
	if (!pool)
		return;
	int forked = device->fork_generation != tn_fork_generation();
	if (!forked)
		tn_chunk_release(device, 0);
	if (pool->used)
		tn_log_format(device->logger, TN_LOG_ERROR, "pool",
			      "%s: %" PRIu64 " bytes were never freed", device->name, pool->used);
	tn_points_destroy(device);
	/* In a forked child the backend's handles are the parent's: only the records are freed. */
	while (pool->chunks) {
		struct tn_chunk *chunk = pool->chunks;
		unlink_chunk(pool, chunk);
		tn_mem_free(chunk);
	}
	while (pool->batches) {
		struct tn_piece_batch *batch = pool->batches;
		pool->batches = batch->next;
		tn_mem_free(batch);
	}
	tn_mem_free(pool);
	device->pool = NULL;
}

/* ---- Scratch ---------------------------------------------------------------------------------*/

/* The scratch chunk has no pieces and counts as used, so that nothing else is cut from it. */
static void put_scratch(struct tn_device *device, struct tn_queue *queue)
{
	struct tn_chunk *chunk = queue->scratch;
	if (!chunk || queue->scratch_is_taken)
		return;
	tn_queue_settle(device, queue);
	queue->scratch = NULL;
	put_chunk(device, chunk);
}

tn_status tn_chunk_get_scratch(struct tn_device *device, uint64_t size, struct tn_error_info *error)
{
	struct tn_chunk *chunk;
	put_scratch(device, device->queue);
	tn_status status = tn_device_ready(device, error);
	if (!status)
		status = get_chunk(device, round_up(size, HUGE_PAGE), &chunk, error);
	if (status)
		return status;
	chunk->cut = chunk->size;
	chunk->used_pieces = 1;
	device->queue->scratch = chunk;
	return TN_OK;
}

/* ---- Where a piece comes from ----------------------------------------------------------------*/

/* The smallest empty chunk of at least `need` bytes that is not far larger: a large chunk stays
 * available for the next large array.  queue: the one that cuts the chunk; NULL: any. */
static struct tn_chunk *empty_chunk(const struct tn_pool *pool, const struct tn_queue *queue,
				    uint64_t need)
{
	uint64_t most = need > LARGE ? 2 * need : MAX_SHARED;
	struct tn_chunk *best = NULL;
	for (struct tn_chunk *chunk = pool->chunks; chunk; chunk = chunk->next) {
		if (!chunk->used_pieces && chunk->size >= need && chunk->size <= most &&
		    (!queue || chunk->queue == queue) && (!best || chunk->size < best->size))
			best = chunk;
	}
	return best;
}

/* Cuts the rest of a chunk (NULL: none) into free pieces. */
static void cut_rest(struct tn_pool *pool, struct tn_chunk *chunk)
{
	while (room(chunk) >= TN_POOL_UNIT) {
		struct tn_piece *rest = cut_piece(pool, chunk, tn_size_class_within(room(chunk)));
		if (!rest)
			break;
		tn_bin_push(rest);
	}
}

/* Cuts from an uncut chunk.  Of it and the current chunk the one with more room becomes current;
 * the rest of the other is cut into free pieces.  Without memory for records that rest stays unused
 * until the chunk is empty. */
static struct tn_piece *begin_chunk(struct tn_pool *pool, struct tn_chunk *chunk, uint32_t class)
{
	struct tn_queue *queue = chunk->queue;
	struct tn_piece *piece = cut_piece(pool, chunk, class);
	if (!piece || chunk == queue->current)
		return piece;
	struct tn_chunk *other = chunk;
	if (room(chunk) > room(queue->current)) {
		other = queue->current;
		queue->current = chunk;
	}
	cut_rest(pool, other);
	return piece;
}

/* The most bytes to hold when `size` more are used. */
static uint64_t most_reserved(const struct tn_pool *pool, uint64_t size)
{
	return 2 * larger(pool->peak, pool->used + size) + SLACK;
}

/* A new chunk of the preferred size, else of the size needed. */
static tn_status grow_pool(struct tn_device *device, uint64_t need, struct tn_chunk **chunk,
			   struct tn_error_info *error)
{
	struct tn_pool *pool = device->pool;
	uint64_t largest = device->description.max_alloc_bytes;
	uint64_t shared = larger(HUGE_PAGE, pool->reserved / 4);
	if (shared > MAX_SHARED)
		shared = MAX_SHARED;
	uint64_t size = round_up(need > LARGE ? need : larger(need, shared), HUGE_PAGE);
	if ((largest && size > largest) || (pool->limit && pool->limit < pool->reserved + size))
		size = need;
	/* Host memory: the cache is trimmed before it grows. */
	uint64_t most = most_reserved(pool, size);
	if (device->synchronous && pool->reserved + size > most)
		tn_chunk_release(device, most > size ? most - size : 0);
	tn_status status = get_chunk(device, size, chunk, error);
	if (status == TN_OUT_OF_MEMORY && size > need)
		status = get_chunk(device, need, chunk, error);
	return status;
}

/* The first piece of the lowest bin in [class, end) that another queue has; NULL: none. */
static struct tn_piece *piece_of_others(const struct tn_device *device, uint32_t class,
					uint32_t end)
{
	struct tn_piece *best = NULL;
	for (uint32_t i = 0; i < TN_MOST_QUEUES; i++) {
		const struct tn_queue *queue = device->pool->queues[i];
		struct tn_piece *piece =
			queue && queue != device->queue ? tn_bin_find(queue, class, end) : NULL;
		if (piece && (!best || piece->class < best->class))
			best = piece;
	}
	return best;
}

/* A free piece, of a class below `end`, or an empty chunk of another queue; 0: there is none. */
static int take_from_others(struct tn_device *device, uint32_t class, uint32_t end,
			    struct tn_piece **piece, struct tn_chunk **chunk)
{
	*piece = piece_of_others(device, class, end < TN_POOL_CLASSES ? end : TN_POOL_CLASSES);
	if (*piece) {
		tn_bin_remove(*piece);
		return 1;
	}
	*chunk = empty_chunk(device->pool, NULL, tn_class_size(class));
	if (*chunk)
		take_over(device, *chunk);
	return *chunk != NULL;
}

/* The last resorts: any free piece that is large enough, memory of another queue, and a new chunk
 * in place of all empty ones. */
static tn_status scrape(struct tn_device *device, uint32_t class, struct tn_piece **piece,
			struct tn_chunk **chunk, struct tn_error_info *error)
{
	*piece = tn_bin_find(device->queue, class, TN_POOL_CLASSES);
	if (*piece) {
		tn_bin_remove(*piece);
		return TN_OK;
	}
	if (take_from_others(device, class, TN_POOL_CLASSES, piece, chunk))
		return TN_OK;
	tn_chunk_release(device, 0);
	tn_status status = tn_device_ready(device, error);
	if (status)
		return status;
	return get_chunk(device, tn_class_size(class), chunk, error);
}

tn_status tn_chunk_cut(struct tn_device *device, uint32_t class, struct tn_piece **piece,
		       struct tn_error_info *error)
{
	struct tn_pool *pool = device->pool;
	struct tn_queue *queue = device->queue;
	uint64_t need = tn_class_size(class);
	struct tn_chunk *chunk = NULL;
	tn_status status = TN_OK;
	*piece = NULL;
	if (room(queue->current) >= need) {
		*piece = cut_piece(pool, queue->current, class);
		goto done;
	}
	chunk = empty_chunk(pool, queue, need);
	if (chunk) {
		take_over(device, chunk);
	} else {
		*piece = tn_piece_split(device, class);
		if (*piece)
			return TN_OK;
		if (pool->reserved + need <= most_reserved(pool, need) ||
		    !take_from_others(device, class, class + TWICE, piece, &chunk))
			status = grow_pool(device, need, &chunk, error);
	}
	if (status == TN_OUT_OF_MEMORY)
		status = scrape(device, class, piece, &chunk, error);
	if (status)
		return status;
	if (!*piece)
		*piece = begin_chunk(pool, chunk, class);
done:
	if (*piece)
		return TN_OK;
	return tn_no_memory(error, "allocate", NULL, "the pool's own records");
}

/* ---- The end of a queue ----------------------------------------------------------------------*/

void tn_pool_inherit(struct tn_device *device, struct tn_queue *queue)
{
	struct tn_pool *pool = device->pool;
	struct tn_queue *heir = &pool->ordinary;
	if (device->fork_generation == tn_fork_generation())
		put_scratch(device, queue);
	cut_rest(pool, queue->current);
	queue->current = NULL;
	for (struct tn_chunk *chunk = pool->chunks; chunk; chunk = chunk->next) {
		if (chunk->queue == queue)
			chunk->queue = heir;
		for (struct tn_piece *piece = chunk->pieces; piece; piece = piece->sibling) {
			piece->users &= ~tn_queue_bit(queue);
			tn_piece_forget(device, piece, queue);
			if (piece->queue != queue)
				continue;
			if (!piece->used)
				tn_bin_remove(piece);
			piece->queue = heir;
			if (!piece->used)
				tn_bin_push(piece);
		}
	}
}
