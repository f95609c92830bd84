/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Philox in plain integer arithmetic, one counter or LANES of them at a time (structure of arrays,
 * which compilers vectorise), and the normal quantile by table.  This file must be compiled without
 * contraction (-ffp-contract=off): a fused multiply-add would change the bits.
 */
#include "program/random.h"

#include <string.h>

#if defined(__FAST_MATH__)
#error "random.c needs exact floating-point arithmetic"
#endif

#define LANES 16

void tn_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
	uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
	uint32_t k0 = key[0], k1 = key[1];
	for (int round = 0; round < TN_PHILOX_ROUNDS; round++) {
		uint64_t p0 = (uint64_t)TN_PHILOX_M0 * c0, p1 = (uint64_t)TN_PHILOX_M1 * c2;
		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += TN_PHILOX_W0;
		k1 += TN_PHILOX_W1;
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

/* The four words from number 4 * index on. */
static void four(uint64_t seed, uint64_t stream, uint64_t index, uint32_t out[4])
{
	const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream,
				     (uint32_t)(stream >> 32)};
	const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	tn_philox(counter, key, out);
}

uint32_t tn_random(uint64_t seed, uint64_t stream, uint64_t i)
{
	uint32_t words[4];
	four(seed, stream, i / 4, words);
	return words[i % 4];
}

/* One round of LANES counters with one key. */
static void round_lanes(uint32_t c[4][LANES], uint32_t k0, uint32_t k1)
{
	for (int j = 0; j < LANES; j++) {
		uint64_t p0 = (uint64_t)TN_PHILOX_M0 * c[0][j];
		uint64_t p1 = (uint64_t)TN_PHILOX_M1 * c[2][j];
		c[0][j] = (uint32_t)(p1 >> 32) ^ c[1][j] ^ k0;
		c[1][j] = (uint32_t)p1;
		c[2][j] = (uint32_t)(p0 >> 32) ^ c[3][j] ^ k1;
		c[3][j] = (uint32_t)p0;
	}
}

/* The 4 * LANES numbers from 4 * index on. */
static void lanes(uint64_t seed, uint64_t stream, uint64_t index, uint32_t *out)
{
	uint32_t c[4][LANES];
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
	for (int j = 0; j < LANES; j++) {
		uint64_t counter = (index + (unsigned)j) & (UINT64_MAX / 4); /* as i wraps */
		c[0][j] = (uint32_t)counter;
		c[1][j] = (uint32_t)(counter >> 32);
		c[2][j] = (uint32_t)stream;
		c[3][j] = (uint32_t)(stream >> 32);
	}
	for (int round = 0; round < TN_PHILOX_ROUNDS; round++) {
		round_lanes(c, k0, k1);
		k0 += TN_PHILOX_W0;
		k1 += TN_PHILOX_W1;
	}
	for (int j = 0; j < LANES; j++) {
		for (int w = 0; w < 4; w++)
			out[4 * j + w] = c[w][j];
	}
}

void tn_random_block(uint64_t seed, uint64_t stream, uint64_t i, uint32_t *out, size_t n)
{
	for (; n && i % 4; n--)
		*out++ = tn_random(seed, stream, i++);
	for (; n >= 4 * LANES; n -= 4 * LANES, i += 4 * LANES, out += 4 * LANES)
		lanes(seed, stream, i / 4, out);
	for (; n; i += 4) {
		uint32_t words[4];
		size_t taken = n < 4 ? n : 4;
		four(seed, stream, i / 4, words);
		memcpy(out, words, taken * sizeof(*words));
		out += taken;
		n -= taken;
	}
}

float tn_normal(uint32_t word)
{
	uint32_t positive = word >> 31;
	uint32_t g = (positive ? ~word : word) << 1 | 1;
	unsigned z = (unsigned)__builtin_clz(g);
	uint32_t n = g << z;
	const float *c = tn_normal_table[8 * (31 - z) + (n >> 28 & 7)];
	float u = (float)((int32_t)(n >> 4 & 0xffffff) - 0x800000) * 0x1p-23f;
	float q = c[4] * u;
	q = (q + c[3]) * u;
	q = (q + c[2]) * u;
	q = (q + c[1]) * u;
	q = q + c[0];
	return positive ? q : -q;
}

void tn_normal_block(const uint32_t *words, float *out, size_t n)
{
	for (size_t j = 0; j < n; j++) {
		uint32_t word = words[j];
		out[j] = tn_normal(word);
	}
}
