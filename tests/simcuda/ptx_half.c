/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * f16, bf16, tf32 and the 8-bit floats, as bits.  Arithmetic on them is done in f32 or f64 and
 * rounded here.
 */
#include <string.h>

#include "ptx_levels.h"
#include "ptx_small.h"

static inline u32 bits_of(f32 x)
{
	u32 bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

/* To f32 by rounding to odd, so that a second rounding is correct: truncates, and sets the last bit
 * if bits were lost. */
static inline u32 odd(f64 x)
{
	u64 bits;
	memcpy(&bits, &x, sizeof bits);
	u32 sign = (u32)(bits >> 32) & 0x80000000;
	u64 size = bits & ~(1ull << 63);
	if (size > 0x7ff0000000000000ull)
		return 0x7fffffff;
	if (size >=
	    0x47f0000000000000ull) /* 2^128 and more: infinite, or beyond the range of f16 */
		return sign | (size == 0x7ff0000000000000ull ? 0x7f800000 : 0x7f7fffff);
	if (size < 0x3810000000000000ull) /* less than the smallest normal f32 */
		return sign | (size != 0);
	u32 lost = (size & 0x1fffffff) != 0;
	return sign | ((u32)((size >> 29) - (896ull << 23)) | lost);
}

#define ROWS(X)                                                                                    \
	X(widen_f16, u32, u16, u16, u16, ptx_widen_half(x))                                        \
	X(widen_bf16, u32, u16, u16, u16, (u32)x << 16)                                            \
	X(half_rn, u16, u32, u32, u32, ptx_half(x, PTX_NEAREST))                                   \
	X(half_rz, u16, u32, u32, u32, ptx_half(x, PTX_ZERO))                                      \
	X(half_rm, u16, u32, u32, u32, ptx_half(x, PTX_DOWN))                                      \
	X(half_rp, u16, u32, u32, u32, ptx_half(x, PTX_UP))                                        \
	X(bhalf_rn, u16, u32, u32, u32, ptx_bhalf(x, PTX_NEAREST))                                 \
	X(bhalf_rz, u16, u32, u32, u32, ptx_bhalf(x, PTX_ZERO))                                    \
	X(bhalf_rm, u16, u32, u32, u32, ptx_bhalf(x, PTX_DOWN))                                    \
	X(bhalf_rp, u16, u32, u32, u32, ptx_bhalf(x, PTX_UP))                                      \
	X(odd_f64, u32, f64, f64, f64, odd(x))                                                     \
	X(fmaodd_f32, u32, f32, f32, f32, odd((f64)x *y + z))                                      \
	X(tf32_rna, u32, u32, u32, u32, ptx_tf32(x, PTX_AWAY))                                     \
	X(tf32_rn, u32, u32, u32, u32, ptx_tf32(x, PTX_NEAREST))                                   \
	X(tf32_rz, u32, u32, u32, u32, ptx_tf32(x, PTX_ZERO))                                      \
	X(relu_f32, u32, u32, u32, u32, (x & 0x7fffffff) > 0x7f800000 ? x : x >> 31 ? 0 : x)       \
	X(nan_half, u16, u16, u16, u16, (x & 0x7fff) > 0x7c00 ? 0x7fff : x)                        \
	X(nan_bhalf, u16, u16, u16, u16, (x & 0x7fff) > 0x7f80 ? 0x7fff : x)                       \
	X(neg_f16, u16, u16, u16, u16, x ^ 0x8000)                                                 \
	X(abs_f16, u16, u16, u16, u16, x & 0x7fff)                                                 \
	X(finite_f16, u16, u16, u16, u16, (x & 0x7fff) == 0x7c00 ? x - 1 : x)                      \
	X(finite_bf16, u16, u16, u16, u16, (x & 0x7fff) == 0x7f80 ? x - 1 : x)                     \
	X(e4m3_f32, u8, u32, u32, u32, ptx_e4m3(x))                                                \
	X(e5m2_f32, u8, u32, u32, u32, ptx_e5m2(x))                                                \
	X(f32_e4m3, u32, u8, u8, u8, bits_of(ptx_widen_e4m3(x)))                                   \
	X(f32_e5m2, u32, u8, u8, u8, ptx_widen_half((u16)(x << 8)))

ROWS(LANE_FUNCTION)

static const struct ptx_lane_entry rows[] = {ROWS(LANE_ENTRY)};

const struct ptx_lane_family LANE_LEVEL(ptx_half) = {rows, sizeof rows / sizeof *rows};
