/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory that is allocated piece by piece and freed as a whole.
 */
#ifndef TN_AUTOGRAD_ARENA_H
#define TN_AUTOGRAD_ARENA_H

#include <stddef.h>

struct tn_arena_chunk;

struct tn_arena {
	struct tn_arena_chunk *chunks; /* newest first */
};

/* `size` zeroed bytes, aligned to 16; NULL: out of memory. */
void *tn_arena_take(struct tn_arena *arena, size_t size);
void tn_arena_release(struct tn_arena *arena);

#endif
