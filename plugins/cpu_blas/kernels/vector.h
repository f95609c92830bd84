/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A register full of floats on each level, for kernels that are written once: the compiler's vector
 * type, whose operators work lane by lane and may contract a * b + c, and loads and stores of the
 * first n lanes for the ends of rows, which do not access memory after them.
 */
#ifndef CPU_VECTOR_H
#define CPU_VECTOR_H

#include <stdint.h>
#include <string.h>

/* Including <immintrin.h> takes gcc 0.3 s for each file.  Below AVX-512 the few instructions
 * without operators are called by the builtins that gcc and clang share. */
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define VECTOR_REGISTERS 32
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define VECTOR_REGISTERS 16
#elif defined(__aarch64__)
#define VECTOR_BYTES 16
#define VECTOR_REGISTERS 32
#else
#define VECTOR_BYTES 16
#define VECTOR_REGISTERS 16
#endif

#define LANES ((int64_t)(VECTOR_BYTES / sizeof(float)))

typedef float vf __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

static inline vf vf_load(const float *p)
{
	return *(const vf *)p;
}

static inline void vf_store(float *p, vf x)
{
	*(vf *)p = x;
}

static inline vf vf_set(float x)
{
	return x - (vf){0};
}

/* p[0], p[2], p[4], ...: reads nothing after the last. */
static inline vf vf_load_alternate(const float *p)
{
	vf low = vf_load(p), high = vf_load(p + LANES - 1);
#if defined(__AVX512F__)
	const __m512i places =
		_mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
	return (vf)_mm512_permutex2var_ps((__m512)low, places, (__m512)high);
#else
	vf x = low;
	for (int64_t i = 0; i < LANES / 2; i++) {
		x[i] = low[2 * i];
		x[LANES / 2 + i] = high[2 * i + 1];
	}
	return x;
#endif
}

static inline vi vi_set(int32_t x)
{
	return x + (vi){0};
}

/* 0, 1, 2, ... */
static inline vi vi_ramp(void)
{
	static const int32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	return *(const vi *)numbers;
}

#if defined(__AVX2__) && !defined(__AVX512F__)
typedef float v8sf __attribute__((vector_size(32)));
typedef int32_t v8si __attribute__((vector_size(32)));

/* All bits of the first n lanes. */
static inline v8si vector_first(int64_t n)
{
	static const int32_t bits[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
	return (v8si) * (const vi *)(bits + 8 - n);
}
#endif

/* The first n < LANES elements, 0 in the other lanes. */
static inline vf vf_load_first(const float *p, int64_t n)
{
#if defined(__AVX512F__)
	return (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif defined(__AVX2__)
	return (vf)__builtin_ia32_maskloadps256((const v8sf *)p, vector_first(n));
#else
	vf x = {0};
	memcpy(&x, p, (size_t)n * sizeof(float));
	return x;
#endif
}

/* All elements but the first n < LANES, 0 in their lanes. */
static inline vf vf_load_last(const float *p, int64_t n)
{
#if defined(__AVX512F__)
	return (vf)_mm512_maskz_loadu_ps((__mmask16)(0xffffu << n), p);
#elif defined(__AVX2__)
	return (vf)__builtin_ia32_maskloadps256((const v8sf *)p, ~vector_first(n));
#else
	vf x = {0};
	memcpy((char *)&x + n * (int64_t)sizeof(float), p + n, (size_t)(LANES - n) * sizeof(float));
	return x;
#endif
}

static inline void vf_store_first(float *p, vf x, int64_t n)
{
#if defined(__AVX512F__)
	_mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)x);
#elif defined(__AVX2__)
	__builtin_ia32_maskstoreps256((v8sf *)p, vector_first(n), (v8sf)x);
#else
	memcpy(p, &x, (size_t)n * sizeof(float));
#endif
}

/* All lanes but the first n < LANES. */
static inline void vf_store_last(float *p, vf x, int64_t n)
{
#if defined(__AVX512F__)
	_mm512_mask_storeu_ps(p, (__mmask16)(0xffffu << n), (__m512)x);
#elif defined(__AVX2__)
	__builtin_ia32_maskstoreps256((v8sf *)p, ~vector_first(n), (v8sf)x);
#else
	memcpy(p + n, (const char *)&x + n * (int64_t)sizeof(float),
	       (size_t)(LANES - n) * sizeof(float));
#endif
}

/* Interleaves lanes of a and b, from the lower halves: a0, b0, a1, b1, ...; and from the upper
 * ones. */
static inline vf vf_weave_low(vf a, vf b)
{
#if VECTOR_BYTES == 64
	const vi places = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
	return (vf)_mm512_permutex2var_ps((__m512)a, (__m512i)places, (__m512)b);
#elif defined(__clang__) && VECTOR_BYTES == 32
	return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#elif defined(__clang__)
	return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#elif VECTOR_BYTES == 32
	return __builtin_shuffle(a, b, (vi){0, 8, 1, 9, 2, 10, 3, 11});
#else
	return __builtin_shuffle(a, b, (vi){0, 4, 1, 5});
#endif
}

static inline vf vf_weave_high(vf a, vf b)
{
#if VECTOR_BYTES == 64
	const vi places = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
	return (vf)_mm512_permutex2var_ps((__m512)a, (__m512i)places, (__m512)b);
#elif defined(__clang__) && VECTOR_BYTES == 32
	return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif defined(__clang__)
	return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#elif VECTOR_BYTES == 32
	return __builtin_shuffle(a, b, (vi){4, 12, 5, 13, 6, 14, 7, 15});
#else
	return __builtin_shuffle(a, b, (vi){2, 6, 3, 7});
#endif
}

/* Transposes: each round interleaves row i with row i + LANES / 2. */
static inline void vf_transpose(vf x[VECTOR_BYTES / 4])
{
	vf y[VECTOR_BYTES / 4];
	for (int64_t step = 1; step < LANES; step *= 2) {
#pragma GCC unroll 8
		for (int64_t i = 0; i < LANES / 2; i++) {
			y[2 * i] = vf_weave_low(x[i], x[i + LANES / 2]);
			y[2 * i + 1] = vf_weave_high(x[i], x[i + LANES / 2]);
		}
		memcpy(x, y, sizeof(y));
	}
}

/* mask ? a : b, with masks from comparisons. */
static inline vf vf_select(vi mask, vf a, vf b)
{
	return (vf)((mask & (vi)a) | (~mask & (vi)b));
}

/* low where x is less, high where it is more; a NaN stays. */
static inline vf vf_clamp(vf x, vf low, vf high)
{
#if defined(__AVX512F__)
	return (vf)_mm512_min_ps((__m512)high, _mm512_max_ps((__m512)low, (__m512)x));
#elif defined(__AVX2__)
	return (vf)__builtin_ia32_minps256((v8sf)high, __builtin_ia32_maxps256((v8sf)low, (v8sf)x));
#else
	x = vf_select(x < low, low, x);
	return vf_select(x > high, high, x);
#endif
}

/* Lane i is element at[i] of a followed by b. */
static inline vf vf_shuffle(vf a, vf b, vi at)
{
#if defined(__clang__)
	vf x = a;
	for (int i = 0; i < LANES; i++)
		x[i] = at[i] < LANES ? a[at[i]] : b[at[i] - LANES];
	return x;
#else
	return __builtin_shuffle(a, b, at);
#endif
}

static inline float vf_sum(vf x)
{
	float total = 0;
	for (int64_t i = 0; i < LANES; i++)
		total += x[i];
	return total;
}

/* ---- Masks: what a comparison gives, in the processor's own form ----------------------------- */

#if defined(__AVX512F__)
typedef __mmask16 vm;

static inline vm vf_equal(vf a, vf b)
{
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_EQ_OQ);
}

/* a > b, or either is NaN. */
static inline vm vf_not_at_most(vf a, vf b)
{
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_NLE_UQ);
}

static inline vm vi_equal(vi a, vi b)
{
	return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
}

static inline vm vm_and(vm a, vm b)
{
	return a & b;
}

/* mask ? a : b */
static inline vf vf_pick(vm mask, vf a, vf b)
{
	return (vf)_mm512_mask_blend_ps(mask, (__m512)b, (__m512)a);
}

static inline vi vi_pick(vm mask, vi a, vi b)
{
	return (vi)_mm512_mask_blend_epi32(mask, (__m512i)b, (__m512i)a);
}
#else
typedef vi vm;

static inline vm vf_equal(vf a, vf b)
{
	return a == b;
}

/* a > b, or either is NaN. */
static inline vm vf_not_at_most(vf a, vf b)
{
	return ~(a <= b);
}

static inline vm vi_equal(vi a, vi b)
{
	return a == b;
}

static inline vm vm_and(vm a, vm b)
{
	return a & b;
}

/* mask ? a : b */
static inline vf vf_pick(vm mask, vf a, vf b)
{
	return vf_select(mask, a, b);
}

static inline vi vi_pick(vm mask, vi a, vi b)
{
	return (mask & a) | (~mask & b);
}
#endif

#endif
