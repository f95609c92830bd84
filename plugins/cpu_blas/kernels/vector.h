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

/* Including <immintrin.h> takes gcc 0.3 s for each file.  The few instructions without operators
 * are called by their builtins, which gcc and clang share but for some of AVX-512. */
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

/* What the builtins take. */
typedef float v4sf __attribute__((vector_size(16)));
typedef float v8sf __attribute__((vector_size(32)));
typedef int32_t v8si __attribute__((vector_size(32)));
typedef float v16sf __attribute__((vector_size(64)));
typedef int32_t v16si __attribute__((vector_size(64)));

#if defined(__AVX512F__)
typedef uint16_t vm; /* a bit for each lane */
/* Predicates of comparisons; how to round, as the processor is set, where nothing is rounded. */
enum { EQUAL = 0x00, NOT_AT_MOST = 0x16, ROUNDING = 4 };

/* The first n lanes. */
static inline vm vector_first(int64_t n)
{
	return (vm)((1u << n) - 1);
}

/* The instructions, as <immintrin.h> defines them: parameters of aligned types keep what is spilled
 * to the stack aligned. */
static inline v16sf vector_load(const float *p, vm mask)
{
	return __builtin_ia32_loadups512_mask(p, (v16sf){0}, mask);
}

static inline void vector_store(float *p, v16sf x, vm mask)
{
	__builtin_ia32_storeups512_mask(p, x, mask);
}

static inline v16sf vector_max(v16sf a, v16sf b)
{
#if defined(__clang__)
	return __builtin_ia32_maxps512(a, b, ROUNDING);
#else
	return __builtin_ia32_maxps512_mask(a, b, (v16sf){0}, 0xffff, ROUNDING);
#endif
}

static inline v16sf vector_min(v16sf a, v16sf b)
{
#if defined(__clang__)
	return __builtin_ia32_minps512(a, b, ROUNDING);
#else
	return __builtin_ia32_minps512_mask(a, b, (v16sf){0}, 0xffff, ROUNDING);
#endif
}

#if !defined(__clang__)
static inline v16sf vector_shuffle(v16sf a, v16sf b, v16si places)
{
	return __builtin_shuffle(a, b, places);
}
#endif
#endif

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
#if VECTOR_BYTES == 64 && defined(__clang__)
	return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27,
				       29, 31);
#elif VECTOR_BYTES == 64
	return (vf)vector_shuffle(
		(v16sf)low, (v16sf)high,
		(v16si){0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31});
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
	return (vf)vector_load(p, vector_first(n));
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
	return (vf)vector_load(p, (vm)~vector_first(n));
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
	vector_store(p, (v16sf)x, vector_first(n));
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
	vector_store(p, (v16sf)x, (vm)~vector_first(n));
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
#if defined(__clang__) && VECTOR_BYTES == 64
	return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
				       23);
#elif defined(__clang__) && VECTOR_BYTES == 32
	return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#elif defined(__clang__)
	return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#elif VECTOR_BYTES == 64
	return (vf)vector_shuffle((v16sf)a, (v16sf)b,
				  (v16si){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
#elif VECTOR_BYTES == 32
	return __builtin_shuffle(a, b, (vi){0, 8, 1, 9, 2, 10, 3, 11});
#else
	return __builtin_shuffle(a, b, (vi){0, 4, 1, 5});
#endif
}

static inline vf vf_weave_high(vf a, vf b)
{
#if defined(__clang__) && VECTOR_BYTES == 64
	return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
				       15, 31);
#elif defined(__clang__) && VECTOR_BYTES == 32
	return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif defined(__clang__)
	return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#elif VECTOR_BYTES == 64
	return (vf)vector_shuffle(
		(v16sf)a, (v16sf)b,
		(v16si){8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
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

/* a > b ? a : b; b if one is NaN. */
static inline vf vf_max(vf a, vf b)
{
#if defined(__AVX512F__)
	return (vf)vector_max((v16sf)a, (v16sf)b);
#elif defined(__AVX2__)
	return (vf)__builtin_ia32_maxps256((v8sf)a, (v8sf)b);
#elif defined(__SSE2__)
	return (vf)__builtin_ia32_maxps((v4sf)a, (v4sf)b);
#else
	return vf_select(a > b, a, b);
#endif
}

/* a < b ? a : b; b if one is NaN. */
static inline vf vf_min(vf a, vf b)
{
#if defined(__AVX512F__)
	return (vf)vector_min((v16sf)a, (v16sf)b);
#elif defined(__AVX2__)
	return (vf)__builtin_ia32_minps256((v8sf)a, (v8sf)b);
#elif defined(__SSE2__)
	return (vf)__builtin_ia32_minps((v4sf)a, (v4sf)b);
#else
	return vf_select(a < b, a, b);
#endif
}

/* low where x is less, high where it is more; a NaN stays. */
static inline vf vf_clamp(vf x, vf low, vf high)
{
	return vf_min(high, vf_max(low, x));
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
static inline vm vf_equal(vf a, vf b)
{
	return __builtin_ia32_cmpps512_mask((v16sf)a, (v16sf)b, EQUAL, 0xffff, ROUNDING);
}

/* a > b, or either is NaN. */
static inline vm vf_not_at_most(vf a, vf b)
{
	return __builtin_ia32_cmpps512_mask((v16sf)a, (v16sf)b, NOT_AT_MOST, 0xffff, ROUNDING);
}

static inline vm vi_equal(vi a, vi b)
{
	return __builtin_ia32_cmpd512_mask((v16si)a, (v16si)b, EQUAL, 0xffff);
}

static inline vm vm_and(vm a, vm b)
{
	return a & b;
}

/* mask ? a : b */
static inline vf vf_pick(vm mask, vf a, vf b)
{
#if defined(__clang__)
	return (vf)__builtin_ia32_selectps_512(mask, (v16sf)a, (v16sf)b);
#else
	return (vf)__builtin_ia32_blendmps_512_mask((v16sf)b, (v16sf)a, mask);
#endif
}

static inline vi vi_pick(vm mask, vi a, vi b)
{
#if defined(__clang__)
	return (vi)__builtin_ia32_selectd_512(mask, (v16si)a, (v16si)b);
#else
	return (vi)__builtin_ia32_blendmd_512_mask((v16si)b, (v16si)a, mask);
#endif
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
