/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * RANDOM: word i mod 4 of Philox4x32-10 with counter {i / 4, stream} and key seed (J. Salmon and
 * others: Parallel random numbers: as easy as 1, 2, 3.  SC 2011).  Only integers, so the bits are
 * those of every other implementation.
 *
 * Programs nearly always draw consecutive numbers of one seed and stream; those are computed GROUP
 * counters at a time, four numbers of each.  A lane is 64 bits wide and holds one word of a counter
 * in its lower half: a product then needs no shuffle, and the upper half is never read, because
 * products take lower halves and the higher word is shifted down.
 */
#include <string.h>

#include "variant.h"
#include "vector.h"

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum {
	COUNTERS = VECTOR_BYTES / 8, /* in a vector */
	VECTORS = 4,                 /* side by side, for a product takes several cycles */
	GROUP = VECTORS * COUNTERS,
	RUN = 4 * GROUP,
};

typedef uint64_t vw __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

/* The products of lower halves. */
INLINE vw multiply(vw a, uint32_t b)
{
#if defined(__AVX512F__)
	return (vw)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi32((int32_t)b));
#elif defined(__AVX2__)
	return (vw)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi32((int32_t)b));
#elif defined(__SSE2__)
	return (vw)_mm_mul_epu32((__m128i)a, _mm_set1_epi32((int32_t)b));
#elif defined(__aarch64__)
	return (vw)vmull_u32(vmovn_u64((uint64x2_t)a), vdup_n_u32(b));
#else
	return (a & UINT32_MAX) * b;
#endif
}

/* Of each pair of lanes the first: a0, b0, a2, b2, ... */
INLINE vw firsts(vw a, vw b)
{
#if defined(__AVX512F__)
	return (vw)_mm512_unpacklo_epi64((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
	return (vw)_mm256_unpacklo_epi64((__m256i)a, (__m256i)b);
#else
	return (vw){a[0], b[0]};
#endif
}

/* And the second: a1, b1, a3, b3, ... */
INLINE vw seconds(vw a, vw b)
{
#if defined(__AVX512F__)
	return (vw)_mm512_unpackhi_epi64((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
	return (vw)_mm256_unpackhi_epi64((__m256i)a, (__m256i)b);
#else
	return (vw){a[1], b[1]};
#endif
}

/* Counters first, first + 1, ... in the order that `firsts` and `seconds` invert. */
INLINE vw counters(uint64_t first)
{
	vw counter = {0};
	for (unsigned i = 0; i < COUNTERS / 2; i++) {
		counter[2 * i] = i;
		counter[2 * i + 1] = COUNTERS / 2 + i;
	}
	return (counter + first) & (UINT64_MAX / 4); /* as i wraps */
}

/* The words of a vector of counters, in the order of the counters. */
INLINE void put(uint32_t *out, const vw c[4])
{
	vw low = (c[0] & UINT32_MAX) | c[1] << 32, high = (c[2] & UINT32_MAX) | c[3] << 32;
	*(vw *)out = firsts(low, high);
	*(vw *)(out + 2 * COUNTERS) = seconds(low, high);
}

static void group(uint64_t seed, uint64_t stream, uint64_t first, uint32_t *out)
{
	vw c[VECTORS][4], none = {0};
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
#pragma GCC unroll 8
	for (unsigned v = 0; v < VECTORS; v++) {
		c[v][0] = counters(first + v * COUNTERS);
		c[v][1] = c[v][0] >> 32;
		c[v][2] = none + stream;
		c[v][3] = none + (stream >> 32);
	}
	for (int round = 0; round < 10; round++) {
#pragma GCC unroll 8
		for (unsigned v = 0; v < VECTORS; v++) {
			vw p0 = multiply(c[v][0], 0xD2511F53u), p1 = multiply(c[v][2], 0xCD9E8D57u);
			c[v][0] = p1 >> 32 ^ c[v][1] ^ k0;
			c[v][1] = p1;
			c[v][2] = p0 >> 32 ^ c[v][3] ^ k1;
			c[v][3] = p0;
		}
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
#pragma GCC unroll 8
	for (unsigned v = 0; v < VECTORS; v++)
		put(out + v * 4 * COUNTERS, c[v]);
}

/* The number of elements from i on that draw consecutive numbers of one seed and stream. */
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
			group(seed, stream, index / 4, out);
		} else {
			group(seed, stream, index / 4, words);
			memcpy(out, words + skip, count * sizeof(*words));
		}
		out += count;
		index += count;
		n -= count;
	}
}

/* Are they all one run?  Checked as a whole, which tests many at a time. */
static int is_run(const uint64_t *seed, const uint64_t *stream, const uint64_t *index, size_t n)
{
	uint64_t differ = 0;
#pragma omp simd reduction(| : differ)
	for (size_t i = 0; i < n; i++)
		differ |=
			(seed[i] ^ seed[0]) | (stream[i] ^ stream[0]) | (index[i] ^ (index[0] + i));
	return !differ;
}

/* The numbers have four bytes and the operands eight, so a block that starts at the same address as
 * an operand overwrites only what was read. */
static void random_i64(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	const uint64_t *seed = a, *stream = b, *index = c;
	uint32_t *out = dst;
	if (n && is_run(seed, stream, index, n)) {
		draw(*seed, *stream, *index, out, n);
		return;
	}
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
