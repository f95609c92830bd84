/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The logarithm of one f32, for the files that need it.
 *
 *     x = 2^k m,  sqrt(1/2) <= m < sqrt(2),  f = m - 1 (exact),  log x = k ln 2 + log(1 + f)
 *
 * log(1 + f) = f - f^2 / 2 + f^3 P(f), a minimax fit with relative error 2^-27.
 */
#ifndef CPU_LOG_H
#define CPU_LOG_H

#include "real.h"

#define SQRT_HALF_BITS 0x3f3504f3u

struct log_parts {
	float f, k;
};

/* Of a normal positive number. */
static inline struct log_parts log_split(uint32_t bits)
{
	uint32_t moved = bits - SQRT_HALF_BITS;
	float m = tn_plugin_f32_of_bits((moved & 0x7fffffu) + SQRT_HALF_BITS);
	struct log_parts parts = {m - 1.0f, (float)((int32_t)moved >> 23)};
	return parts;
}

/* Subnormal numbers are normalised first. */
static inline struct log_parts log_reduce(float x)
{
	int tiny = x < 0x1p-126f;
	struct log_parts parts = log_split(tn_plugin_bits_of_f32(tiny ? x * 0x1p23f : x));
	parts.k -= tiny ? 23.0f : 0.0f;
	return parts;
}

/* log(1 + f) - f, f in [sqrt(1/2) - 1, sqrt(2) - 1]. */
static inline float log_tail(float f)
{
	float s = f * f;
	float a = 0x1.555554p-2f * f - 0.5f;
	float b = 0x1.99a028p-3f * f - 0x1.000228p-2f;
	float c = 0x1.22d788p-3f * f - 0x1.54720cp-3f;
	float d = 0x1.056c98p-3f * f - 0x1.0d853ap-3f;
	d = -0x1.38de36p-4f * s + d;
	float low = b * s + a, high = d * s + c;
	return (high * (s * s) + low) * s;
}

/* The values at the ends: 0 gives -inf, negative numbers NaN, inf and NaN themselves. */
static inline float log_ends(float value, float x)
{
	float infinity = tn_plugin_f32_of_bits(0x7f800000u),
	      nan = tn_plugin_f32_of_bits(0x7fc00000u);
	value = x < infinity ? value : x;
	value = x < 0 ? nan : value;
	return x == 0 ? -infinity : value;
}

static inline float log_sum(struct log_parts parts)
{
	float low = log_tail(parts.f) + parts.k * LN2_LOW;
	return parts.k * LN2_HIGH + (parts.f + low);
}

static inline float log_one(float x)
{
	return log_ends(log_sum(log_reduce(x)), x);
}

#endif
