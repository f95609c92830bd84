/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of dtypes.  A new dtype needs a number and a size in <tenon/types.h>, one line here
 * (with two conversions if it is floating), and kernels in block_cast.h and block_cast.c.  Each
 * file format that supports it adds a row to its own table (npy_header.c, safetensors_type.c).
 */
#include "base/dtype.h"

#include <math.h>
#include <tenon/status.h>

#include "base/bits.h"

static double value_of_f16(uint64_t bits)
{
	return (double)tn_f32_of_f16((uint16_t)bits);
}

static uint64_t bits_of_f16(double value)
{
	return tn_f16_of_f32((float)value);
}

static double value_of_bf16(uint64_t bits)
{
	return (double)tn_f32_of_bf16((uint16_t)bits);
}

static uint64_t bits_of_bf16(double value)
{
	return tn_bf16_of_f32((float)value);
}

static double value_of_f32(uint64_t bits)
{
	return (double)tn_f32_of_bits(bits);
}

static uint64_t bits_of_f32(double value)
{
	return tn_bits_of_f32((float)value);
}

const struct tn_dtype_info tn_dtype_table[TN_DTYPES] = {
	[0] = {.name = "unknown"},
	[TN_BOOL] = {.name = "bool", .kind = TN_KIND_BOOL, .compute = TN_BOOL},
	[TN_I8] = {.name = "i8", .kind = TN_KIND_SIGNED, .compute = TN_I32},
	[TN_I16] = {.name = "i16", .kind = TN_KIND_SIGNED, .compute = TN_I32},
	[TN_I32] = {.name = "i32", .kind = TN_KIND_SIGNED, .compute = TN_I32},
	[TN_I64] = {.name = "i64", .kind = TN_KIND_SIGNED, .compute = TN_I64},
	[TN_U8] = {.name = "u8", .kind = TN_KIND_UNSIGNED, .compute = TN_I32},
	[TN_U16] = {.name = "u16", .kind = TN_KIND_UNSIGNED, .compute = TN_I32},
	[TN_U32] = {.name = "u32", .kind = TN_KIND_UNSIGNED, .compute = TN_U32},
	[TN_U64] = {.name = "u64", .kind = TN_KIND_UNSIGNED, .compute = TN_I64},
	[TN_F16] = {.name = "f16",
		    .kind = TN_KIND_FLOATING,
		    .compute = TN_F32,
		    .digits = 11,
		    .value_of = value_of_f16,
		    .bits_of = bits_of_f16},
	[TN_BF16] = {.name = "bf16",
		     .kind = TN_KIND_FLOATING,
		     .compute = TN_F32,
		     .digits = 8,
		     .value_of = value_of_bf16,
		     .bits_of = bits_of_bf16},
	[TN_F32] = {.name = "f32",
		    .kind = TN_KIND_FLOATING,
		    .compute = TN_F32,
		    .digits = 24,
		    .value_of = value_of_f32,
		    .bits_of = bits_of_f32},
	[TN_F64] = {.name = "f64",
		    .kind = TN_KIND_FLOATING,
		    .compute = TN_F64,
		    .digits = 53,
		    .value_of = tn_f64_of_bits,
		    .bits_of = tn_bits_of_f64},
	[TN_C64] = {.name = "c64", .kind = TN_KIND_COMPLEX},
	[TN_C128] = {.name = "c128", .kind = TN_KIND_COMPLEX},
};

const char *tn_dtype_name(tn_dtype dtype)
{
	return tn_dtype_information(dtype)->name;
}

int tn_dtype_holds(tn_dtype dtype, double value)
{
	if (!tn_is_integer(dtype))
		return 1;
	const double limit = ldexp(1, 8 * (int)tn_dtype_size(dtype) - !tn_is_unsigned(dtype));
	const double whole = trunc(value);
	return whole >= (tn_is_unsigned(dtype) ? 0 : -limit) && whole < limit;
}
