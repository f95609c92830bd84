/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Promotes dtypes as NumPy 2 does: a table for two arrays, and rules by which an operation derives
 * the dtype it computes in.
 */
#include "array/result_type.h"

/* clang-format off */
/* Short names, so that the table can be read as one. */
enum {
	b = TN_BOOL, i8 = TN_I8, i16 = TN_I16, i32 = TN_I32, i64 = TN_I64,
	u8 = TN_U8, u16 = TN_U16, u32 = TN_U32, u64 = TN_U64,
	f16 = TN_F16, bf = TN_BF16, f32 = TN_F32, f64 = TN_F64, cf = TN_C64, cd = TN_C128,
};

static const uint8_t result_types[TN_DTYPES][TN_DTYPES] = {
	[TN_BOOL] = {0, b, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf, f32, f64, cf, cd},
	[TN_I8] = {0, i8, i8, i16, i32, i64, i16, i32, i64, f64, f16, bf, f32, f64, cf, cd},
	[TN_I16] = {0, i16, i16, i16, i32, i64, i16, i32, i64, f64, f32, f32, f32, f64, cf, cd},
	[TN_I32] = {0, i32, i32, i32, i32, i64, i32, i32, i64, f64, f64, f64, f64, f64, cd, cd},
	[TN_I64] = {0, i64, i64, i64, i64, i64, i64, i64, i64, f64, f64, f64, f64, f64, cd, cd},
	[TN_U8] = {0, u8, i16, i16, i32, i64, u8, u16, u32, u64, f16, bf, f32, f64, cf, cd},
	[TN_U16] = {0, u16, i32, i32, i32, i64, u16, u16, u32, u64, f32, f32, f32, f64, cf, cd},
	[TN_U32] = {0, u32, i64, i64, i64, i64, u32, u32, u32, u64, f64, f64, f64, f64, cd, cd},
	[TN_U64] = {0, u64, f64, f64, f64, f64, u64, u64, u64, u64, f64, f64, f64, f64, cd, cd},
	[TN_F16] = {0, f16, f16, f32, f64, f64, f16, f32, f64, f64, f16, f32, f32, f64, cf, cd},
	[TN_BF16] = {0, bf, bf, f32, f64, f64, bf, f32, f64, f64, f32, bf, f32, f64, cf, cd},
	[TN_F32] = {0, f32, f32, f32, f64, f64, f32, f32, f64, f64, f32, f32, f32, f64, cf, cd},
	[TN_F64] = {0, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, cd, cd},
	[TN_C64] = {0, cf, cf, cf, cd, cd, cf, cf, cd, cd, cf, cf, cf, cd, cf, cd},
	[TN_C128] = {0, cd, cd, cd, cd, cd, cd, cd, cd, cd, cd, cd, cd, cd, cd, cd},
};
/* clang-format on */

tn_dtype tn_result_type(tn_dtype x, tn_dtype y)
{
	if (!tn_dtype_size(x) || !tn_dtype_size(y))
		return 0;
	return result_types[x][y];
}

/* An integer is compared with the widest of the floating and complex dtypes, and not with what two
 * integers have in common. */
tn_dtype tn_result_type_of(uint32_t set)
{
	tn_dtype inexact = TN_BOOL, dtype;
	for (tn_dtype i = TN_BOOL; i < TN_DTYPES; i++) {
		if (set >> i & 1 && tn_is_inexact(i))
			inexact = tn_result_type(inexact, i);
	}
	dtype = inexact;
	for (tn_dtype i = TN_BOOL; i < TN_DTYPES; i++) {
		if (set >> i & 1)
			dtype = tn_result_type(dtype, tn_result_type(inexact, i));
	}
	return dtype;
}

tn_dtype tn_loop_type(enum tn_loop loop, uint32_t set)
{
	/* f32 holds each of them, if not always their common type. */
	static const uint32_t of_f32 =
		1u << TN_BOOL | 1u << TN_I8 | 1u << TN_U8 | 1u << TN_I16 | 1u << TN_U16;
	const tn_dtype common = tn_result_type_of(set);
	const int is_exact = tn_is_integer(common) || common == TN_BOOL;
	switch (loop) {
	case TN_LOOP_NUMBER:
		return common == TN_BOOL ? 0 : common;
	case TN_LOOP_REAL:
		return tn_is_complex(common) ? 0 : common;
	case TN_LOOP_COUNT:
		return common == TN_BOOL ? TN_I8 : common;
	case TN_LOOP_FLOATING:
		if (!is_exact)
			return common;
		return set & ~of_f32 ? TN_F64 : TN_F32;
	case TN_LOOP_QUOTIENT:
		return is_exact ? TN_F64 : common;
	case TN_LOOP_DOUBLE:
		return tn_is_complex(common) ? 0 : TN_F64;
	case TN_LOOP_BITS:
		return is_exact ? common : 0;
	case TN_LOOP_INTEGER:
		return common == TN_BOOL ? TN_I8 : is_exact ? common : 0;
	default:
		return common;
	}
}

tn_dtype tn_sum_type(tn_dtype dtype)
{
	if (tn_is_unsigned(dtype))
		return TN_U64;
	return tn_is_integer(dtype) || dtype == TN_BOOL ? TN_I64 : dtype;
}
