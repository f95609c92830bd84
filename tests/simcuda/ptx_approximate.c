/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The functions that the device approximates.  Here they are as accurate as the C library's, so
 * they differ from a device by some units in the last place.
 */
#include <math.h>
#include <string.h>

#include "ptx_levels.h"

static inline f32 from_bits(u32 bits)
{
	f32 x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* 2^x by the nearest whole number and a polynomial of the rest, in doubles: within one unit in the
 * last place, and vectorised by the compiler, unlike exp2f. */
static inline f32 power_of_two(f32 x)
{
	/* NaN, which no integer is, becomes the lower end here. */
	f32 limited = x >= -160 ? x : -160;
	limited = limited > 130 ? 130 : limited;
	f32 whole = rintf(limited);
	f64 t = (f64)(limited - whole) * 0.693147180559945309417;
	f64 p = 1.0 / 40320;
	p = p * t + 1.0 / 5040;
	p = p * t + 1.0 / 720;
	p = p * t + 1.0 / 120;
	p = p * t + 1.0 / 24;
	p = p * t + 1.0 / 6;
	p = p * t + 0.5;
	p = p * t + 1;
	p = p * t + 1;
	s64 bits = (s64)((s32)whole + 1023) << 52;
	f64 scale;
	memcpy(&scale, &bits, sizeof scale);
	return x != x ? x : (f32)(p * scale);
}

/* The f64 forms read only the high half of the operand, and leave the low half of the result
 * zero. */
static inline f64 high_half(f64 x)
{
	u64 bits;
	memcpy(&bits, &x, sizeof bits);
	bits &= 0xffffffff00000000ull;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline f32 square_root(f32 x)
{
	return x != x ? x : x < 0 ? from_bits(0x7fffffff) : sqrtf(x);
}

#define ROWS(X)                                                                                    \
	X(ex2_f32, f32, f32, f32, f32, power_of_two(x))                                            \
	X(lg2_f32, f32, f32, f32, f32, log2f(x))                                                   \
	X(sin_f32, f32, f32, f32, f32, sinf(x))                                                    \
	X(cos_f32, f32, f32, f32, f32, cosf(x))                                                    \
	X(tanh_f32, f32, f32, f32, f32, tanhf(x))                                                  \
	X(rsqrt_f32, f32, f32, f32, f32, 1 / square_root(x))                                       \
	X(rsqrt_f64, f64, f64, f64, f64, 1 / sqrt(x))                                              \
	X(rcphigh_f64, f64, f64, f64, f64, high_half(1 / high_half(x)))                            \
	X(rsqrthigh_f64, f64, f64, f64, f64, high_half(1 / sqrt(high_half(x))))

ROWS(LANE_FUNCTION)

static const struct ptx_lane_entry rows[] = {ROWS(LANE_ENTRY)};

const struct ptx_lane_family LANE_LEVEL(ptx_approximate) = {rows, sizeof rows / sizeof *rows};
