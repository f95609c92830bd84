/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Conversions between widths of integers, and from floating point to integers.  The latter clamp to
 * the range of the result; the number was made integral before.
 */
#include <math.h>

#include "ptx_levels.h"

/* The result for NaN: 0 from f32 to at most 32 bits, else only the highest bit. */
#define HIGH32 0x80000000u
#define HIGH64 (1ull << 63)

static inline s64 signed64(f64 x)
{
	return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : x != x ? INT64_MIN : (s64)x;
}

static inline u64 unsigned64(f64 x)
{
	return x >= 0x1p64 ? UINT64_MAX : x < 0 ? 0 : x != x ? HIGH64 : (u64)x;
}

static inline s32 signed32(f64 x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x != x ? 0 : (s32)x;
}

static inline u32 unsigned32(f64 x)
{
	return x > UINT32_MAX ? UINT32_MAX : x < 0 ? 0 : x != x ? 0 : (u32)x;
}

static inline s32 near_signed32(f32 x)
{
	f32 limited = x < 0x1p31f ? (x >= -0x1p31f ? x : -0x1p31f) : 0;
	s32 whole = (s32)limited;
	return x >= 0x1p31f ? INT32_MAX : whole;
}

#define ROWS(X)                                                                                    \
	X(zero_16_8, u16, u8, u8, u8, x)                                                           \
	X(zero_32_8, u32, u8, u8, u8, x)                                                           \
	X(zero_64_8, u64, u8, u8, u8, x)                                                           \
	X(zero_32_16, u32, u16, u16, u16, x)                                                       \
	X(zero_64_16, u64, u16, u16, u16, x)                                                       \
	X(zero_64_32, u64, u32, u32, u32, x)                                                       \
	X(sign_16_8, s16, s8, s8, s8, x)                                                           \
	X(sign_32_8, s32, s8, s8, s8, x)                                                           \
	X(sign_64_8, s64, s8, s8, s8, x)                                                           \
	X(sign_32_16, s32, s16, s16, s16, x)                                                       \
	X(sign_64_16, s64, s16, s16, s16, x)                                                       \
	X(sign_64_32, s64, s32, s32, s32, x)                                                       \
	X(cut_8_16, u8, u16, u16, u16, x)                                                          \
	X(cut_8_32, u8, u32, u32, u32, x)                                                          \
	X(cut_8_64, u8, u64, u64, u64, x)                                                          \
	X(cut_16_32, u16, u32, u32, u32, x)                                                        \
	X(cut_16_64, u16, u64, u64, u64, x)                                                        \
	X(cut_32_64, u32, u64, u64, u64, x)                                                        \
	X(high_16_32, u16, u32, u32, u32, x >> 16)                                                 \
	X(high_32_64, u32, u64, u64, u64, x >> 32)                                                 \
	X(pack_32_16, u32, u16, u16, u16, (u32)y << 16 | x)                                        \
	X(pack_64_32, u64, u32, u32, u32, (u64)y << 32 | x)                                        \
	X(pack_16_8, u16, u8, u8, u8, (u32)y << 8 | x)                                             \
	X(high_8_16, u8, u16, u16, u16, x >> 8)                                                    \
	X(high_64_128, u64, u128, u128, u128, x >> 64)                                             \
	X(cut_64_128, u64, u128, u128, u128, x)                                                    \
	X(pack_128_64, u128, u64, u64, u64, (u128)y << 64 | x)                                     \
	X(toward_f32, f32, f32, f32, f32, truncf(x))                                               \
	X(toward_f64, f64, f64, f64, f64, trunc(x))                                                \
	X(floor_f32, f32, f32, f32, f32, floorf(x))                                                \
	X(floor_f64, f64, f64, f64, f64, floor(x))                                                 \
	X(ceil_f32, f32, f32, f32, f32, ceilf(x))                                                  \
	X(ceil_f64, f64, f64, f64, f64, ceil(x))                                                   \
	X(whole_s32_f32, s32, f32, f32, f32, near_signed32(x))                                     \
	X(whole_u32_f32, u32, f32, f32, f32, unsigned32(x))                                        \
	X(whole_s64_f32, s64, f32, f32, f32, signed64(x))                                          \
	X(whole_u64_f32, u64, f32, f32, f32, unsigned64(x))                                        \
	X(whole_s32_f64, s32, f64, f64, f64, x != x ? (s32)HIGH32 : signed32(x))                   \
	X(whole_u32_f64, u32, f64, f64, f64, x != x ? HIGH32 : unsigned32(x))                      \
	X(whole_s64_f64, s64, f64, f64, f64, signed64(x))                                          \
	X(whole_u64_f64, u64, f64, f64, f64, unsigned64(x))

ROWS(LANE_FUNCTION)

static const struct ptx_lane_entry rows[] = {ROWS(LANE_ENTRY)};

const struct ptx_lane_family LANE_LEVEL(ptx_convert) = {rows, sizeof rows / sizeof *rows};
