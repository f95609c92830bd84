/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Large requests that no free piece fits: before the pool grows, a larger free piece is split, and
 * free neighbours are joined.  Memory that forward kept for backward can thus hold gradients and
 * workspace of smaller layers, which have other sizes.  Pieces are not joined earlier, because the
 * next step needs the same sizes again; small requests use the shared chunks.
 */
#include "device/split.h"

#include "device/bin.h"
#include "device/point.h"
#include "device/pool_parts.h"

/* The smallest request that splits a piece, and the smallest rest that becomes a piece. */
#define SMALLEST (UINT64_C(256) << 10)
#define REST (UINT64_C(64) << 10)

static void file_piece(struct tn_piece *piece)
{
	piece->class = tn_size_class_within(piece->size);
	tn_bin_push(piece);
}

/* The lower part of the piece, of `need` bytes; the upper one goes to its bin. */
static struct tn_piece *split_piece(struct tn_device *device, struct tn_piece *piece,
				    uint32_t class)
{
	uint64_t need = tn_class_size(class);
	struct tn_piece *lower = piece->size - need < REST ? NULL : tn_record_take(device->pool);
	tn_bin_remove(piece);
	if (!lower)
		return piece;
	/* The queue waits for all of it now: neither part has points then. */
	tn_piece_join(device, piece);
	*lower = (struct tn_piece){.queue = piece->queue,
				   .sibling = piece->sibling,
				   .chunk = piece->chunk,
				   .offset = piece->offset,
				   .size = need,
				   .class = class};
	piece->sibling = lower;
	piece->offset += need;
	piece->size -= need;
	file_piece(piece);
	return lower;
}

/* Joins neighbours that are free in one queue; returns how many. */
static int join_neighbours(struct tn_pool *pool, struct tn_chunk *chunk)
{
	int joined = 0;
	for (struct tn_piece *piece = chunk->pieces; piece;) {
		struct tn_piece *lower = piece->sibling;
		if (!lower || piece->used || lower->used || piece->queue != lower->queue) {
			piece = lower;
			continue;
		}
		tn_bin_remove(piece);
		tn_bin_remove(lower);
		tn_piece_merge_points(piece, lower);
		piece->offset = lower->offset;
		piece->size += lower->size;
		piece->sibling = lower->sibling;
		tn_record_give(pool, lower);
		file_piece(piece);
		joined++;
	}
	return joined;
}

struct tn_piece *tn_piece_split(struct tn_device *device, uint32_t class)
{
	struct tn_pool *pool = device->pool;
	if (tn_class_size(class) < SMALLEST)
		return NULL;
	struct tn_piece *piece = tn_bin_find(device->queue, class, TN_POOL_CLASSES);
	if (!piece) {
		int joined = 0;
		for (struct tn_chunk *chunk = pool->chunks; chunk; chunk = chunk->next)
			joined += join_neighbours(pool, chunk);
		if (joined)
			piece = tn_bin_find(device->queue, class, TN_POOL_CLASSES);
	}
	return piece ? split_piece(device, piece, class) : NULL;
}
