/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A pass counts the values of one byte in each chunk, computes the targets of each chunk's items
 * from the counts, and moves them.  A byte that is equal in all keys is skipped.  A few items are
 * sorted by insertion in runs, which are then merged.
 */
#include "radix.h"

#include <string.h>

enum { RUN = 12, FEW = 600 };

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

/* Counts become positions.  0: all items have one value, and nothing moves. */
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

/* Narrow items are all different, and ordered by all of their bits. */
static inline __attribute__((always_inline)) void insert(void *items, uint64_t begin, uint64_t end,
							 int is_wide)
{
	for (uint64_t i = begin + 1; i < end; i++) {
		uint64_t j = i, key = key_at(items, i, is_wide);
		struct cpu_wide_item one;
		move(&one, 0, items, i, is_wide);
		for (; j > begin && key_at(items, j - 1, is_wide) > key; j--)
			move(items, j, items, j - 1, is_wide);
		move(items, j, &one, 0, is_wide);
	}
}

/* Merges runs [begin, middle) and [middle, end) into `to`; of equals the first run's come first. */
static inline __attribute__((always_inline)) void merge(void *to, const void *from, uint64_t begin,
							uint64_t middle, uint64_t end, int is_wide)
{
	uint64_t a = begin, b = middle, at = begin;
	while (a < middle && b < end) {
		int is_second = key_at(from, b, is_wide) < key_at(from, a, is_wide);
		move(to, at++, from, is_second ? b : a, is_wide);
		b += (uint64_t)is_second;
		a += (uint64_t)!is_second;
	}
	while (a < middle)
		move(to, at++, from, a++, is_wide);
	while (b < end)
		move(to, at++, from, b++, is_wide);
}

static inline __attribute__((always_inline)) void sort_few(struct cpu_radix *radix, int is_wide)
{
	uint64_t n = radix->n;
	for (uint64_t i = 0; i < n; i += RUN)
		insert(radix->items, i, n - i < RUN ? n : i + RUN, is_wide);
	for (uint64_t run = RUN; run < n; run *= 2) {
		void *items = radix->items;
		for (uint64_t i = 0; i < n; i += 2 * run)
			merge(radix->other, items, i, n - i < run ? n : i + run,
			      n - i < 2 * run ? n : i + 2 * run, is_wide);
		radix->items = radix->other;
		radix->other = items;
	}
}

void cpu_radix_sort(struct cpu_radix *radix, const struct cpu_device *cpu)
{
	if (radix->n <= FEW) {
		if (radix->is_wide)
			sort_few(radix, 1);
		else
			sort_few(radix, 0);
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
