/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Keys with positions, sorted from the lowest byte of the key to the highest: stable, and
 * independent of the number of threads.
 */
#ifndef CPU_RADIX_H
#define CPU_RADIX_H

#include "plugin.h"

/* An item with a key of up to 8 bytes.  One of up to 4 is narrow: key << 32 | index. */
struct cpu_wide_item {
	uint64_t key;
	uint64_t index;
};

struct cpu_radix {
	void *items; /* n of them; the sorted ones afterwards */
	void *other; /* of the same size */
	uint64_t n;  /* below 2^32 */
	int is_wide;
	unsigned bytes; /* of the key */
	uint64_t chunks;
	uint32_t (*counts)[256]; /* of each chunk */
	unsigned shift;          /* of this pass */
};

static inline size_t cpu_radix_item(int is_wide)
{
	return is_wide ? sizeof(struct cpu_wide_item) : sizeof(uint64_t);
}

/* The first item of chunk number `chunk`; those of the last end at n. */
static inline uint64_t cpu_radix_chunk(const struct cpu_radix *radix, uint64_t chunk)
{
	return radix->n * chunk / radix->chunks;
}

/* Sorts; the chunks by the device's threads, or all in this one if `cpu` is NULL. */
void cpu_radix_sort(struct cpu_radix *radix, const struct cpu_device *cpu);

#endif
