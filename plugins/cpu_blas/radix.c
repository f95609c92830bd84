/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A pass counts the values of one byte in each chunk, says from that where each chunk's items of each
 * value go, and moves them.  A byte that all keys have in common is passed over.  Few items are inserted
 * one after the other.
 */
#include "radix.h"

#include <string.h>

enum { FEW = 48 };

static inline __attribute__((always_inline)) uint64_t key_at(const void *items, uint64_t i,
							     int is_wide)
{
	return is_wide ? ((const struct cpu_wide_item *)items)[i].key
		       : ((const uint64_t *)items)[i];
}

static inline __attribute__((always_inline)) void move(void *to, uint64_t j, const void *from,
						       uint64_t i, int is_wide)
{
	if (is_wide)
		((struct cpu_wide_item *)to)[j] = ((const struct cpu_wide_item *)from)[i];
	else
		((uint64_t *)to)[j] = ((const uint64_t *)from)[i];
}

/* ---- A pass ----------------------------------------------------------------------------------*/

static inline __attribute__((always_inline)) void count(const struct cpu_radix *radix,
							uint64_t chunk, int is_wide)
{
	uint32_t *counts = radix->counts[chunk];
	uint64_t end = cpu_radix_chunk(radix, chunk + 1);
	memset(counts, 0, sizeof(radix->counts[chunk]));
	for (uint64_t i = cpu_radix_chunk(radix, chunk); i < end; i++)
		counts[key_at(radix->items, i, is_wide) >> radix->shift & 255]++;
}

static void count_chunks(void *argument, uint64_t begin, uint64_t end)
{
	const struct cpu_radix *radix = argument;
	for (uint64_t chunk = begin; chunk < end; chunk++) {
		if (radix->is_wide)
			count(radix, chunk, 1);
		else
			count(radix, chunk, 0);
	}
}

/* Counts become places.  0: one value has all items, and nothing moves. */
static int place(struct cpu_radix *radix)
{
	uint32_t at = 0;
	for (unsigned value = 0; value < 256; value++) {
		uint32_t before = at;
		for (uint64_t chunk = 0; chunk < radix->chunks; chunk++) {
			uint32_t n = radix->counts[chunk][value];
			radix->counts[chunk][value] = at;
			at += n;
		}
		if (at - before == radix->n)
			return 0;
	}
	return 1;
}

static inline __attribute__((always_inline)) void scatter(const struct cpu_radix *radix,
							  uint64_t chunk, int is_wide)
{
	uint32_t *at = radix->counts[chunk];
	uint64_t end = cpu_radix_chunk(radix, chunk + 1);
	for (uint64_t i = cpu_radix_chunk(radix, chunk); i < end; i++) {
		uint64_t value = key_at(radix->items, i, is_wide) >> radix->shift & 255;
		move(radix->other, at[value]++, radix->items, i, is_wide);
	}
}

static void scatter_chunks(void *argument, uint64_t begin, uint64_t end)
{
	const struct cpu_radix *radix = argument;
	for (uint64_t chunk = begin; chunk < end; chunk++) {
		if (radix->is_wide)
			scatter(radix, chunk, 1);
		else
			scatter(radix, chunk, 0);
	}
}

static void on_chunks(struct cpu_radix *radix, const struct cpu_device *cpu,
		      void (*body)(void *argument, uint64_t begin, uint64_t end))
{
	if (cpu)
		cpu_parallel(cpu, radix->chunks, 1, body, radix);
	else
		body(radix, 0, radix->chunks);
}

/* ---- All of them -----------------------------------------------------------------------------*/

/* Narrow items are all different, and in order by all of their bits. */
static inline __attribute__((always_inline)) void insert(struct cpu_radix *radix, int is_wide)
{
	for (uint64_t i = 1; i < radix->n; i++) {
		uint64_t j = i, key = key_at(radix->items, i, is_wide);
		move(radix->other, 0, radix->items, i, is_wide);
		for (; j > 0 && key_at(radix->items, j - 1, is_wide) > key; j--)
			move(radix->items, j, radix->items, j - 1, is_wide);
		move(radix->items, j, radix->other, 0, is_wide);
	}
}

void cpu_radix_sort(struct cpu_radix *radix, const struct cpu_device *cpu)
{
	if (radix->n <= FEW) {
		if (radix->is_wide)
			insert(radix, 1);
		else
			insert(radix, 0);
		return;
	}
	for (unsigned byte = 0; byte < radix->bytes; byte++) {
		void *items = radix->items;
		radix->shift = 8 * byte + (radix->is_wide ? 0 : 32);
		on_chunks(radix, cpu, count_chunks);
		if (!place(radix))
			continue;
		on_chunks(radix, cpu, scatter_chunks);
		radix->items = radix->other;
		radix->other = items;
	}
}
