/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A register full of floats on each level, for kernels that are written once: the compiler's vector
 * type, whose operators work lane by lane and may contract a * b + c, and loads and stores of the
 * first n lanes for the ends of rows, which touch no memory after them.
 */
#ifndef CPU_VECTOR_H
#define CPU_VECTOR_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
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

/* The first n < LANES elements, 0 in the other lanes. */
static inline vf vf_load_first(const float *p, int64_t n)
{
#if defined(__AVX512F__)
	return (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
	vf x = {0};
	memcpy(&x, p, (size_t)n * sizeof(float));
	return x;
#endif
}

static inline void vf_store_first(float *p, vf x, int64_t n)
{
#if defined(__AVX512F__)
	_mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)x);
#else
	memcpy(p, &x, (size_t)n * sizeof(float));
#endif
}

/* mask ? a : b, with masks from comparisons. */
static inline vf vf_select(vi mask, vf a, vf b)
{
	return (vf)((mask & (vi)a) | (~mask & (vi)b));
}

static inline float vf_sum(vf x)
{
	float total = 0;
	for (int64_t i = 0; i < LANES; i++)
		total += x[i];
	return total;
}

#endif
