/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Building blocks for branch-free arithmetic on f32.  Everything is written so that compilers
 * vectorise a loop over it: no branches, no tables, a choice is a `?:` of two values that are both
 * computed.  Expressions may be contracted to fused multiply-adds or not: both are correct.
 * Nothing here is correct under -ffast-math.
 */
#ifndef CPU_REAL_H
#define CPU_REAL_H

#include <tenon/plugin.h>

#if defined(__FAST_MATH__)
#error "the kernels need exact floating-point arithmetic"
#endif

static inline float magnitude(float x)
{
	return tn_plugin_f32_of_bits(tn_plugin_bits_of_f32(x) & 0x7fffffffu);
}

/* |x| with the sign of y. */
static inline float with_sign(float x, float y)
{
	return tn_plugin_f32_of_bits((tn_plugin_bits_of_f32(x) & 0x7fffffffu) |
				     (tn_plugin_bits_of_f32(y) & 0x80000000u));
}

/* x within [-limit, limit]; a NaN stays. */
static inline float clamp(float x, float limit)
{
	float a = magnitude(x);
	return with_sign(limit < a ? limit : a, x);
}

/* ln 2 in two parts, the first with so few bits that its product with a power of two is exact. */
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f

/* Added to |x| < 2^22 it leaves the nearest integer to x in the low bits of the sum. */
#define ROUND_F32 0x1.8p23f

/* p 2^k for -252 <= k <= 254, rounded once: two factors, each a normal number. */
static inline float scale(float p, int32_t k)
{
	int32_t half = k >> 1;
	float first = tn_plugin_f32_of_bits((uint32_t)(half + 127) << 23);
	float second = tn_plugin_f32_of_bits((uint32_t)(k - half + 127) << 23);
	return p * first * second;
}

#endif
