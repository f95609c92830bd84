/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Exact floating point arithmetic.  A direction of rounding other than to nearest is set in the
 * processor by the caller, so this file is compiled with -frounding-math.
 */
#include <math.h>
#include <string.h>

#include "ptx_levels.h"

/* min and max return the number if one operand is a NaN, and order -0 below +0. */
static inline f32 least32(f32 x, f32 y)
{
	return x != x ? y : y != y ? x : x < y ? x : y < x ? y : signbit(x) ? x : y;
}

static inline f32 most32(f32 x, f32 y)
{
	return x != x ? y : y != y ? x : x > y ? x : y > x ? y : signbit(x) ? y : x;
}

static inline f64 least64(f64 x, f64 y)
{
	return x != x ? y : y != y ? x : x < y ? x : y < x ? y : signbit(x) ? x : y;
}

static inline f64 most64(f64 x, f64 y)
{
	return x != x ? y : y != y ? x : x > y ? x : y > x ? y : signbit(x) ? y : x;
}

/* .sat: to [0, 1], and a NaN to 0. */
static inline f32 unit32(f32 x)
{
	return x > 0 ? (x < 1 ? x : 1) : 0;
}

static inline f64 unit64(f64 x)
{
	return x > 0 ? (x < 1 ? x : 1) : 0;
}

/* .ftz: a subnormal number becomes zero with its sign.  `bits` are those of an f32. */
static inline u32 flush(u32 bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

#define ROWS(X)                                                                                    \
	X(add_f32, f32, f32, f32, f32, x + y)                                                      \
	X(add_f64, f64, f64, f64, f64, x + y)                                                      \
	X(sub_f32, f32, f32, f32, f32, x - y)                                                      \
	X(sub_f64, f64, f64, f64, f64, x - y)                                                      \
	X(mul_f32, f32, f32, f32, f32, x *y)                                                       \
	X(mul_f64, f64, f64, f64, f64, x *y)                                                       \
	X(fma_f32, f32, f32, f32, f32, fmaf(x, y, z))                                              \
	X(fma_f64, f64, f64, f64, f64, fma(x, y, z))                                               \
	X(div_f32, f32, f32, f32, f32, x / y)                                                      \
	X(div_f64, f64, f64, f64, f64, x / y)                                                      \
	X(rcp_f32, f32, f32, f32, f32, 1 / x)                                                      \
	X(rcp_f64, f64, f64, f64, f64, 1 / x)                                                      \
	X(sqrt_f32, f32, f32, f32, f32, sqrtf(x))                                                  \
	X(sqrt_f64, f64, f64, f64, f64, sqrt(x))                                                   \
	X(neg_f32, u32, u32, u32, u32, x ^ 0x80000000)                                             \
	X(neg_f64, u64, u64, u64, u64, x ^ 1ull << 63)                                             \
	X(abs_f32, u32, u32, u32, u32, x & 0x7fffffff)                                             \
	X(abs_f64, u64, u64, u64, u64, x & ~(1ull << 63))                                          \
	X(copysign_f32, u32, u32, u32, u32, (y & 0x7fffffff) | (x & 0x80000000))                   \
	X(copysign_f64, u64, u64, u64, u64, (y & ~(1ull << 63)) | (x & 1ull << 63))                \
	X(min_f32, f32, f32, f32, f32, least32(x, y))                                              \
	X(min_f64, f64, f64, f64, f64, least64(x, y))                                              \
	X(max_f32, f32, f32, f32, f32, most32(x, y))                                               \
	X(max_f64, f64, f64, f64, f64, most64(x, y))                                               \
	X(minnan_f32, f32, f32, f32, f32, x != x || y != y ? NAN : least32(x, y))                  \
	X(maxnan_f32, f32, f32, f32, f32, x != x || y != y ? NAN : most32(x, y))                   \
	X(unit_f32, f32, f32, f32, f32, unit32(x))                                                 \
	X(unit_f64, f64, f64, f64, f64, unit64(x))                                                 \
	X(flush_f32, u32, u32, u32, u32, flush(x))                                                 \
	X(integral_f32, f32, f32, f32, f32, rintf(x))                                              \
	X(integral_f64, f64, f64, f64, f64, rint(x))                                               \
	X(narrow_f64, f32, f64, f64, f64, x)                                                       \
	X(widen_f32, f64, f32, f32, f32, x)                                                        \
	X(float_s32, f32, s32, s32, s32, x)                                                        \
	X(float_u32, f32, u32, u32, u32, x)                                                        \
	X(float_s64, f32, s64, s64, s64, x)                                                        \
	X(float_u64, f32, u64, u64, u64, x)                                                        \
	X(double_s32, f64, s32, s32, s32, x)                                                       \
	X(double_u32, f64, u32, u32, u32, x)                                                       \
	X(double_s64, f64, s64, s64, s64, x)                                                       \
	X(double_u64, f64, u64, u64, u64, x)

ROWS(LANE_FUNCTION)

static const struct ptx_lane_entry rows[] = {ROWS(LANE_ENTRY)};

const struct ptx_lane_family LANE_LEVEL(ptx_float) = {rows, sizeof rows / sizeof *rows};
