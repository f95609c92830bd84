/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arithmetic on registers full of floats, for kernels that take rows: extremes, sums across the
 * lanes, and the exponential.
 */
#ifndef CPU_VECTOR_MATH_H
#define CPU_VECTOR_MATH_H

#include "exp.h"
#include "vector.h"

/* n elements, possibly fewer than LANES; 0 in the other lanes. */
static inline vf vf_load_some(const float *p, int64_t n)
{
	return n < LANES ? vf_load_first(p, n) : vf_load(p);
}

static inline void vf_store_some(float *p, vf x, int64_t n)
{
	if (n < LANES)
		vf_store_first(p, x, n);
	else
		vf_store(p, x);
}

/* x in the first n lanes, `other` in the rest. */
static inline vf vf_first(vf x, vf other, int64_t n)
{
#if defined(__AVX512F__)
	return vf_pick(vector_first(n), x, other);
#else
	return vf_select(vi_ramp() < (int32_t)n, x, other);
#endif
}

typedef float quarter __attribute__((vector_size(16), aligned(4), may_alias));

/* The sum of all lanes, in pairs. */
static inline float vf_total(vf x)
{
	quarter part[VECTOR_BYTES / 16];
	memcpy(part, &x, sizeof(part));
#if defined(__AVX512F__)
	quarter sum = (part[0] + part[2]) + (part[1] + part[3]);
#elif defined(__AVX2__)
	quarter sum = part[0] + part[1];
#else
	quarter sum = part[0];
#endif
	return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* The largest lane.  If one is NaN, that or any other. */
static inline float vf_largest(vf x)
{
#if defined(__AVX512F__)
	v4sf part[4];
	memcpy(part, &x, sizeof(part));
	v4sf most = __builtin_ia32_maxps(__builtin_ia32_maxps(part[0], part[2]),
					 __builtin_ia32_maxps(part[1], part[3]));
	float first = most[0] > most[2] ? most[0] : most[2];
	float second = most[1] > most[3] ? most[1] : most[3];
	return first > second ? first : second;
#else
	float largest = x[0];
	for (int64_t i = 1; i < LANES; i++)
		largest = x[i] > largest ? x[i] : largest;
	return largest;
#endif
}

typedef uint32_t vu __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

/* e^x, 0 where it is below the normal numbers, infinity above 88.3, NaN for NaN.  The steps are
 * those of exp.h; 2^k is a factor, so that a NaN stays NaN. */
static inline vf vf_exp(vf x)
{
	vf inside = vf_min(vf_set(89.0f), x);
	vf rounded = inside * LOG2_E + ROUND_F32;
	vf k = rounded - ROUND_F32;
	vf r = (inside - k * LN2_HIGH) - k * LN2_LOW;
	vf s = r * r;
	vf low = 0x1.555492p-3f * r + 0x1.fffffap-2f;
	vf high = 0x1.12398ep-7f * r + 0x1.555a28p-5f;
	high = 0x1.694ac4p-10f * s + high;
	low = high * s + low;
	vf power = (vf)(((vu)rounded + (127u - tn_plugin_bits_of_f32(ROUND_F32))) << 23);
	vf value = (1.0f + (low * s + r)) * power;
	return vf_select(x < -87.33654f, (vf){0}, value);
}

#endif
