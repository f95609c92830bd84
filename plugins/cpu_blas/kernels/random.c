/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * RANDOM: word i mod 4 of Philox4x32-10 with counter {i / 4, stream} and key seed (J. Salmon and
 * others: Parallel random numbers: as easy as 1, 2, 3.  SC 2011).  Integers alone, so the bits are
 * those of every other implementation.
 *
 * Programs nearly always draw consecutive numbers of one seed and stream; those are made LANES
 * counters at a time, four numbers of each.
 */
#include <string.h>

#include "variant.h"

#define LANES 16
#define RUN (4 * LANES)

static void lanes(uint64_t seed, uint64_t stream, uint64_t first, uint32_t *out)
{
	uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
#pragma omp simd
	for (int j = 0; j < LANES; j++) {
		uint64_t counter = (first + (unsigned)j) & (UINT64_MAX / 4); /* as i wraps */
		c0[j] = (uint32_t)counter;
		c1[j] = (uint32_t)(counter >> 32);
		c2[j] = (uint32_t)stream;
		c3[j] = (uint32_t)(stream >> 32);
	}
	for (int round = 0; round < 10; round++) {
#pragma omp simd
		for (int j = 0; j < LANES; j++) {
			uint64_t p0 = UINT64_C(0xD2511F53) * c0[j];
			uint64_t p1 = UINT64_C(0xCD9E8D57) * c2[j];
			c0[j] = (uint32_t)(p1 >> 32) ^ c1[j] ^ k0;
			c1[j] = (uint32_t)p1;
			c2[j] = (uint32_t)(p0 >> 32) ^ c3[j] ^ k1;
			c3[j] = (uint32_t)p0;
		}
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	for (int j = 0; j < LANES; j++) {
		out[4 * j] = c0[j];
		out[4 * j + 1] = c1[j];
		out[4 * j + 2] = c2[j];
		out[4 * j + 3] = c3[j];
	}
}

/* How many elements from i on draw consecutive numbers of one seed and stream? */
static size_t run_length(const uint64_t *seed, const uint64_t *stream, const uint64_t *index,
			 size_t i, size_t n)
{
	size_t length = 1;
	while (i + length < n && seed[i + length] == seed[i] && stream[i + length] == stream[i] &&
	       index[i + length] == index[i] + length)
		length++;
	return length;
}

static void draw(uint64_t seed, uint64_t stream, uint64_t index, uint32_t *out, size_t n)
{
	uint32_t words[RUN];
	while (n) {
		size_t skip = index % 4, count = RUN - skip < n ? RUN - skip : n;
		if (skip == 0 && count == RUN) {
			lanes(seed, stream, index / 4, out);
		} else {
			lanes(seed, stream, index / 4, words);
			memcpy(out, words + skip, count * sizeof(*words));
		}
		out += count;
		index += count;
		n -= count;
	}
}

/* The numbers are four bytes and the operands eight, so a block that starts where an operand does
 * overwrites only what was read. */
static void random_i64(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	const uint64_t *seed = a, *stream = b, *index = c;
	uint32_t *out = dst;
	for (size_t i = 0; i < n;) {
		size_t length = run_length(seed, stream, index, i, n);
		draw(seed[i], stream[i], index[i], out + i, length);
		i += length;
	}
}

const struct cpu_row VARIANT(cpu_rows_random)[] = {
	{TN_OP_RANDOM, TN_COLUMN_I64, random_i64},
	{0},
};
