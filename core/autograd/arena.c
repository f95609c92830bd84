/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cuts pieces from zeroed chunks, and frees all chunks at once.
 */
#include "autograd/arena.h"

#include <stdint.h>

#include "base/memory.h"

#define CHUNK_SIZE 32768

struct tn_arena_chunk {
	struct tn_arena_chunk *next;
	size_t used;
	size_t size;
	_Alignas(16) unsigned char data[];
};

void *tn_arena_take(struct tn_arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	struct tn_arena_chunk *chunk = arena->chunks;
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size < CHUNK_SIZE ? CHUNK_SIZE : size;
		chunk = tn_mem_zeroed(1, sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->size = room;
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	void *memory = chunk->data + chunk->used;
	chunk->used += size;
	return memory;
}

void tn_arena_release(struct tn_arena *arena)
{
	while (arena->chunks) {
		struct tn_arena_chunk *chunk = arena->chunks;
		arena->chunks = chunk->next;
		tn_mem_free(chunk);
	}
}
