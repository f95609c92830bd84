/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Integer arithmetic.  Sums wrap, so they are computed in unsigned types.
 */
#include "ptx_levels.h"

static inline u32 high32(u32 x, u32 y)
{
	return (u32)((u64)x * y >> 32);
}

static inline s32 high32s(s32 x, s32 y)
{
	return (s32)((s64)x * y >> 32);
}

static inline u64 high64(u64 x, u64 y)
{
	return (u64)((u128)x * y >> 64);
}

static inline s64 high64s(s64 x, s64 y)
{
	return (s64)((s128)x * y >> 64);
}

static inline s32 low24(s32 x)
{
	return (s32)((u32)x << 8) >> 8;
}

static inline s32 clamp32(s64 x)
{
	return (s32)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

/* On the device a quotient by 0 is all ones, and the remainder is the dividend. */
static inline u64 quotient(u64 x, u64 y)
{
	return y ? x / y : UINT64_MAX;
}

static inline u32 quotient32(u32 x, u32 y)
{
	return y ? x / y : UINT32_MAX;
}

static inline u64 remainder_of(u64 x, u64 y)
{
	return y ? x % y : x;
}

static inline u32 remainder32(u32 x, u32 y)
{
	return y ? x % y : x;
}

/* The divisor -1 is separate: the smallest number has no negative. */
static inline s64 quotient_s(s64 x, s64 y)
{
	return !y ? -1 : y == -1 ? (s64)(0 - (u64)x) : x / y;
}

static inline s64 remainder_s(s64 x, s64 y)
{
	return !y ? x : y == -1 ? 0 : x % y;
}

static inline s32 quotient32s(s32 x, s32 y)
{
	return !y ? -1 : y == -1 ? (s32)(0 - (u32)x) : x / y;
}

static inline s32 remainder32s(s32 x, s32 y)
{
	return !y ? x : y == -1 ? 0 : x % y;
}

static inline u32 dot4(u32 x, u32 y, u32 z, int x_signed, int y_signed)
{
	for (int i = 0; i < 32; i += 8) {
		s32 a = x_signed ? (s8)(x >> i) : (u8)(x >> i);
		s32 b = y_signed ? (s8)(y >> i) : (u8)(y >> i);
		z += (u32)(a * b);
	}
	return z;
}

static inline u32 dot2(u32 x, u32 y, u32 z, int high, int x_signed, int y_signed)
{
	y >>= high ? 16 : 0;
	for (int i = 0; i < 2; i++) {
		s32 a = x_signed ? (s16)(x >> 16 * i) : (u16)(x >> 16 * i);
		s32 b = y_signed ? (s8)(y >> 8 * i) : (u8)(y >> 8 * i);
		z += (u32)(a * b);
	}
	return z;
}

#define ROWS(X)                                                                                    \
	X(add_b16, u16, u16, u16, u16, x + y)                                                      \
	X(add_b32, u32, u32, u32, u32, x + y)                                                      \
	X(add_b64, u64, u64, u64, u64, x + y)                                                      \
	X(addsat_s32, s32, s32, s32, s32, clamp32((s64)x + y))                                     \
	X(sub_b16, u16, u16, u16, u16, x - y)                                                      \
	X(sub_b32, u32, u32, u32, u32, x - y)                                                      \
	X(sub_b64, u64, u64, u64, u64, x - y)                                                      \
	X(subsat_s32, s32, s32, s32, s32, clamp32((s64)x - y))                                     \
	X(addc_b32, u32, u32, u32, u32, x + y + z)                                                 \
	X(addc_b64, u64, u64, u64, u32, x + y + z)                                                 \
	X(carry_b32, u32, u32, u32, u32, ((u64)x + y + z) >> 32)                                   \
	X(carry_b64, u32, u64, u64, u32, ((u128)x + y + z) >> 64)                                  \
	X(subc_b32, u32, u32, u32, u32, x - y - z)                                                 \
	X(subc_b64, u64, u64, u64, u32, x - y - z)                                                 \
	X(borrow_b32, u32, u32, u32, u32, ((u64)x - y - z) >> 63)                                  \
	X(borrow_b64, u32, u64, u64, u32, ((u128)x - y - z) >> 127)                                \
	X(mul_b16, u16, u16, u16, u16, (u32)x *y)                                                  \
	X(mul_b32, u32, u32, u32, u32, x *y)                                                       \
	X(mul_b64, u64, u64, u64, u64, x *y)                                                       \
	X(mad_b16, u16, u16, u16, u16, (u32)x *y + z)                                              \
	X(mad_b32, u32, u32, u32, u32, x *y + z)                                                   \
	X(mad_b64, u64, u64, u64, u64, x *y + z)                                                   \
	X(mulhi_u16, u16, u16, u16, u16, (u32)x *y >> 16)                                          \
	X(mulhi_s16, s16, s16, s16, s16, (s32)x *y >> 16)                                          \
	X(mulhi_u32, u32, u32, u32, u32, high32(x, y))                                             \
	X(mulhi_s32, s32, s32, s32, s32, high32s(x, y))                                            \
	X(mulhi_u64, u64, u64, u64, u64, high64(x, y))                                             \
	X(mulhi_s64, s64, s64, s64, s64, high64s(x, y))                                            \
	X(mulwide_u16, u32, u16, u16, u16, (u32)x *y)                                              \
	X(mulwide_s16, s32, s16, s16, s16, (s32)x *y)                                              \
	X(mulwide_u32, u64, u32, u32, u32, (u64)x *y)                                              \
	X(mulwide_s32, s64, s32, s32, s32, (s64)x *y)                                              \
	X(mul24lo_u32, u32, u32, u32, u32, (u64)(x & 0xffffff) * (y & 0xffffff))                   \
	X(mul24lo_s32, u32, s32, s32, s32, (s64)low24(x) * low24(y))                               \
	X(mul24hi_u32, u32, u32, u32, u32, (u64)(x & 0xffffff) * (y & 0xffffff) >> 16)             \
	X(mul24hi_s32, u32, s32, s32, s32, (s64)low24(x) * low24(y) >> 16)                         \
	X(sad_u16, u16, u16, u16, u16, z + (x < y ? y - x : x - y))                                \
	X(sad_s16, u16, s16, s16, u16, z + (x < y ? y - x : x - y))                                \
	X(sad_u32, u32, u32, u32, u32, z + (x < y ? y - x : x - y))                                \
	X(sad_s32, u32, s32, s32, u32, z + (x < y ? (u32)y - (u32)x : (u32)x - (u32)y))            \
	X(sad_u64, u64, u64, u64, u64, z + (x < y ? y - x : x - y))                                \
	X(sad_s64, u64, s64, s64, u64, z + (x < y ? (u64)y - (u64)x : (u64)x - (u64)y))            \
	X(div_u16, u16, u16, u16, u16, quotient32(x, y))                                           \
	X(div_s16, s16, s16, s16, s16, quotient32s(x, y))                                          \
	X(div_u32, u32, u32, u32, u32, quotient32(x, y))                                           \
	X(div_s32, s32, s32, s32, s32, quotient32s(x, y))                                          \
	X(div_u64, u64, u64, u64, u64, quotient(x, y))                                             \
	X(div_s64, s64, s64, s64, s64, quotient_s(x, y))                                           \
	X(rem_u16, u16, u16, u16, u16, remainder32(x, y))                                          \
	X(rem_s16, s16, s16, s16, s16, remainder32s(x, y))                                         \
	X(rem_u32, u32, u32, u32, u32, remainder32(x, y))                                          \
	X(rem_s32, s32, s32, s32, s32, remainder32s(x, y))                                         \
	X(rem_u64, u64, u64, u64, u64, remainder_of(x, y))                                         \
	X(rem_s64, s64, s64, s64, s64, remainder_s(x, y))                                          \
	X(abs_s16, u16, s16, s16, s16, x < 0 ? -x : x)                                             \
	X(abs_s32, u32, s32, s32, s32, x < 0 ? 0 - (u32)x : (u32)x)                                \
	X(abs_s64, u64, s64, s64, s64, x < 0 ? 0 - (u64)x : (u64)x)                                \
	X(neg_s16, u16, u16, u16, u16, 0 - x)                                                      \
	X(neg_s32, u32, u32, u32, u32, 0 - x)                                                      \
	X(neg_s64, u64, u64, u64, u64, 0 - x)                                                      \
	X(min_u16, u16, u16, u16, u16, x < y ? x : y)                                              \
	X(min_s16, s16, s16, s16, s16, x < y ? x : y)                                              \
	X(min_u32, u32, u32, u32, u32, x < y ? x : y)                                              \
	X(min_s32, s32, s32, s32, s32, x < y ? x : y)                                              \
	X(min_u64, u64, u64, u64, u64, x < y ? x : y)                                              \
	X(min_s64, s64, s64, s64, s64, x < y ? x : y)                                              \
	X(max_u16, u16, u16, u16, u16, x > y ? x : y)                                              \
	X(max_s16, s16, s16, s16, s16, x > y ? x : y)                                              \
	X(max_u32, u32, u32, u32, u32, x > y ? x : y)                                              \
	X(max_s32, s32, s32, s32, s32, x > y ? x : y)                                              \
	X(max_u64, u64, u64, u64, u64, x > y ? x : y)                                              \
	X(max_s64, s64, s64, s64, s64, x > y ? x : y)                                              \
	X(dp4a_uu, u32, u32, u32, u32, dot4(x, y, z, 0, 0))                                        \
	X(dp4a_us, u32, u32, u32, u32, dot4(x, y, z, 0, 1))                                        \
	X(dp4a_su, u32, u32, u32, u32, dot4(x, y, z, 1, 0))                                        \
	X(dp4a_ss, u32, u32, u32, u32, dot4(x, y, z, 1, 1))                                        \
	X(dp2alo_uu, u32, u32, u32, u32, dot2(x, y, z, 0, 0, 0))                                   \
	X(dp2alo_us, u32, u32, u32, u32, dot2(x, y, z, 0, 0, 1))                                   \
	X(dp2alo_su, u32, u32, u32, u32, dot2(x, y, z, 0, 1, 0))                                   \
	X(dp2alo_ss, u32, u32, u32, u32, dot2(x, y, z, 0, 1, 1))                                   \
	X(dp2ahi_uu, u32, u32, u32, u32, dot2(x, y, z, 1, 0, 0))                                   \
	X(dp2ahi_us, u32, u32, u32, u32, dot2(x, y, z, 1, 0, 1))                                   \
	X(dp2ahi_su, u32, u32, u32, u32, dot2(x, y, z, 1, 1, 0))                                   \
	X(dp2ahi_ss, u32, u32, u32, u32, dot2(x, y, z, 1, 1, 1))

ROWS(LANE_FUNCTION)

static const struct ptx_lane_entry rows[] = {ROWS(LANE_ENTRY)};

const struct ptx_lane_family LANE_LEVEL(ptx_integer) = {rows, sizeof rows / sizeof *rows};
