/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parts of the pool.
 *
 *	chunk   one allocation of the backend, cut from its start into pieces
 *	piece   a range of a chunk, of one size class; used, or free in the bin of its class
 *	bin     the free pieces of one class and one queue, the last freed first
 *	queue   a stream of the backend, with the free memory that its work may use at once
 *
 * In the steady state pool.c only takes from and gives to the bins (bin.c).  chunk.c gets chunks,
 * cuts them and gives them back; split.c tries to use free pieces before a new chunk is needed;
 * scratch.c has the one block that successive calls of a queue share, store.c the pieces of
 * captured work.  point.c orders the queues that use a piece in turn.
 */
#ifndef TN_DEVICE_POOL_PARTS_H
#define TN_DEVICE_POOL_PARTS_H

#include "device/device.h"
#include "device/size_class.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TN_POOL_POISONS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TN_POOL_POISONS 1
#endif
#ifdef TN_POOL_POISONS
#include <sanitizer/asan_interface.h>
#endif

struct tn_chunk;
struct tn_point;

enum { TN_MOST_QUEUES = 64 };

struct tn_piece {
	struct tn_piece *next, *previous; /* in the bin, while free */
	struct tn_queue *queue;           /* that it belongs to */
	uint64_t users;                   /* bit q: queue q, not its own, has work with it */
	struct tn_point *points;          /* free: what its next user waits for (point.c) */
	struct tn_store *store;           /* NULL: it returns to the pool */
	uint32_t class;
	int used;                 /* enum tn_use */
	struct tn_piece *sibling; /* the piece of the chunk that ends where this one begins */
	struct tn_chunk *chunk;
	uint64_t offset;
	uint64_t size;   /* at least the size of the class */
	int is_captured; /* captured work uses it */
	const char *tag; /* used: that of the program's hook */
};

enum tn_use {
	TN_PIECE_FREE,
	TN_PIECE_USED,
	TN_PIECE_STORED, /* given back to the store; captured work may use it again */
};

/* The memory of captured work. */
struct tn_store {
	struct tn_piece **pieces; /* all its pieces */
	size_t n, room;
	struct tn_piece *free;          /* pieces given back, the latest first */
	struct tn_check_record *checks; /* what checks in the work write (checks.h); NULL: none */
	uint64_t users;                 /* bit q: a replay waits for the work of queue q */
};

struct tn_chunk {
	struct tn_chunk *next, *previous; /* the newest first */
	struct tn_piece *pieces;          /* the last one first */
	uint64_t buffer;
	struct tn_queue *queue; /* the one that cuts it */
	uint64_t size;
	uint64_t cut; /* bytes cut into pieces so far */
	uint64_t used_pieces;
};

/* Piece records are allocated in batches, so that taking one costs no allocation. */
struct tn_piece_batch {
	struct tn_piece_batch *next;
	struct tn_piece pieces[64];
};

struct tn_queue {
	void *handle;    /* the backend's stream; NULL: its NULL stream */
	uint32_t number; /* in the pool's list */
	int is_imported; /* a stream of others (native.h) */
	int scratch_is_taken;
	struct tn_chunk *current; /* where small pieces are cut; NULL: none */
	struct tn_chunk *scratch; /* one block that successive calls share; NULL: none yet */
	uint64_t filled[TN_POOL_CLASSES / 64]; /* bit c: bin c has a piece */
	struct tn_piece *bins[TN_POOL_CLASSES];
};

struct tn_pool {
	uint64_t used;
	uint64_t peak;
	uint64_t high;             /* as peak, since tn_pool_restart_high */
	uint64_t reserved;         /* bytes of all chunks */
	uint64_t limit;            /* for `reserved`; 0: none */
	uint64_t n_taken, n_given; /* blocks handed out, and back, so far */
	uint64_t n_chunks, n_chunks_taken;
	struct tn_chunk *chunks;
	struct tn_chunk *last;
	struct tn_piece *records; /* unused ones, by `next` */
	struct tn_piece_batch *batches;
	struct tn_point *points, *all_points;    /* the unused ones, and all */
	struct tn_queue *queues[TN_MOST_QUEUES]; /* NULL: free places */
	struct tn_queue ordinary;                /* queues[0] */
};

static inline uint64_t tn_queue_bit(const struct tn_queue *queue)
{
	return UINT64_C(1) << queue->number;
}

/* Makes the queue current. */
static inline void tn_queue_enter(struct tn_device *device, struct tn_queue *queue)
{
	device->queue = queue;
	device->stream = queue->handle;
}

/* Adds to the bytes handed out. */
static inline void tn_pool_count(struct tn_pool *pool, uint64_t size)
{
	pool->used += size;
	if (pool->used > pool->high)
		pool->high = pool->used;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
}

/* Poisons host memory under AddressSanitizer. */
static inline void tn_pool_poison(void *address, uint64_t size)
{
	(void)address;
	(void)size;
#ifdef TN_POOL_POISONS
	__asan_poison_memory_region(address, size);
#endif
}

static inline void tn_pool_unpoison(void *address, uint64_t size)
{
	(void)address;
	(void)size;
#ifdef TN_POOL_POISONS
	__asan_unpoison_memory_region(address, size);
#endif
}

#endif
