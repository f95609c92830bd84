/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Bins of free pieces, and the records of pieces.
 */
#include "device/bin.h"

#include "device/pool_parts.h"

#include "base/memory.h"

struct tn_piece *tn_bin_find(const struct tn_queue *queue, uint32_t class, uint32_t end)
{
	uint32_t word = class / 64;
	uint64_t bits = queue->filled[word] & (UINT64_MAX << class % 64);
	while (!bits && (word + 1) * 64 < end)
		bits = queue->filled[++word];
	if (!bits)
		return NULL;
	uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);
	return found < end ? queue->bins[found] : NULL;
}

struct tn_piece *tn_record_take(struct tn_pool *pool)
{
	if (!pool->records) {
		struct tn_piece_batch *batch = tn_mem_alloc(sizeof(*batch));
		if (!batch)
			return NULL;
		batch->next = pool->batches;
		pool->batches = batch;
		for (int i = 0; i < 64; i++) {
			batch->pieces[i].next = pool->records;
			pool->records = &batch->pieces[i];
		}
	}
	struct tn_piece *record = pool->records;
	pool->records = record->next;
	return record;
}

void tn_record_give(struct tn_pool *pool, struct tn_piece *record)
{
	record->next = pool->records;
	pool->records = record;
}
