/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The exponential of one f32, for the files that need it.
 *
 *     k = nearest integer to x / ln 2,  r = x - k ln 2,  |r| <= ln 2 / 2,  e^x = 2^k e^r
 *
 * The polynomials are minimax fits with f32 coefficients (Sollya's fpminimax).
 */
#ifndef CPU_EXP_H
#define CPU_EXP_H

#include "real.h"

#define LOG2_E 0x1.715476p0f

struct exp_parts {
	float r;
	int32_t k;
};

static inline struct exp_parts exp_reduce(float x)
{
	float rounded = x * LOG2_E + ROUND_F32;
	float k = rounded - ROUND_F32;
	float r = x - k * LN2_HIGH;
	struct exp_parts parts = {r - k * LN2_LOW, (int32_t)(tn_plugin_bits_of_f32(rounded) -
							     tn_plugin_bits_of_f32(ROUND_F32))};
	return parts;
}

/* e^r; relative error of the fit 2^-28.  Grouped by r^2, which shortens the chain of dependent
 * operations: these kernels are bound by latency. */
static inline float exp_polynomial(float r)
{
	float s = r * r;
	float low = 0x1.555492p-3f * r + 0x1.fffffap-2f;
	float high = 0x1.12398ep-7f * r + 0x1.555a28p-5f;
	high = 0x1.694ac4p-10f * s + high;
	low = high * s + low;
	return 1.0f + (low * s + r);
}

/* e^r - 1; relative error of the fit 2^-26. */
static inline float expm1_polynomial(float r)
{
	float s = r * r;
	float low = 0x1.5554bp-3f * r + 0x1.fffffep-2f;
	float high = 0x1.1227a2p-7f * r + 0x1.555716p-5f;
	high = 0x1.6b737cp-10f * s + high;
	low = high * s + low;
	return low * s + r;
}

/* 2^extra e^x for |extra| <= 2; x beyond the clamps gives infinity or 0. */
static inline float exp_scaled(float x, int32_t extra)
{
	struct exp_parts parts = exp_reduce(clamp(x, 106.0f));
	return scale(exp_polynomial(parts.r), parts.k + extra);
}

/* e^x for |x| <= 87, where it is a normal number: the power of two is added to the exponent
 * directly. */
static inline float exp_ordinary(float x)
{
	struct exp_parts parts = exp_reduce(x);
	return tn_plugin_f32_of_bits(tn_plugin_bits_of_f32(exp_polynomial(parts.r)) +
				     ((uint32_t)parts.k << 23));
}

#define EXP_GUARD(bits) ((bits)&0x7fffffffu)
#define EXP_LIMIT 0x42ae0000u /* 87 */

/* e^x - 1; from 89 on it is infinite, and from -84 down it is -1.  With h = 2^(k-1): 2 (h (e^r - 1)
 * + (h - 1/2)), where h - 1/2 is exact or far larger than its rounding.  The caller handles the
 * sign of zero. */
static inline float expm1_unsigned(float x)
{
	float inside = x < -84.0f ? -84.0f : x;
	struct exp_parts parts = exp_reduce(inside > 89.0f ? 89.0f : inside);
	float h = tn_plugin_f32_of_bits((uint32_t)(parts.k - 1 + 127) << 23);
	float sum = h * expm1_polynomial(parts.r) + (h - 0.5f);
	return sum + sum;
}

#endif
