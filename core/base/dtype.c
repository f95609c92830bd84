/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of dtypes.  A new dtype needs a number and a size in <tenon/types.h>, one line here
 * (with two conversions if it is floating), and kernels in block_cast.h and block_cast.c.  Each
 * file format that supports it adds a row to its own table (npy_header.c, safetensors_type.c).
 */
#include "base/dtype.h"

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
	[0] = {"unknown", 0, 0, 0, NULL, NULL},
	[TN_BOOL] = {"bool", TN_KIND_BOOL, TN_BOOL, 0, NULL, NULL},
	[TN_I8] = {"i8", TN_KIND_SIGNED, TN_I32, 0, NULL, NULL},
	[TN_I16] = {"i16", TN_KIND_SIGNED, TN_I32, 0, NULL, NULL},
	[TN_I32] = {"i32", TN_KIND_SIGNED, TN_I32, 0, NULL, NULL},
	[TN_I64] = {"i64", TN_KIND_SIGNED, TN_I64, 0, NULL, NULL},
	[TN_U8] = {"u8", TN_KIND_UNSIGNED, TN_I32, 0, NULL, NULL},
	[TN_U16] = {"u16", TN_KIND_UNSIGNED, TN_I32, 0, NULL, NULL},
	[TN_U32] = {"u32", TN_KIND_UNSIGNED, TN_U32, 0, NULL, NULL},
	[TN_U64] = {"u64", TN_KIND_UNSIGNED, TN_I64, 0, NULL, NULL},
	[TN_F16] = {"f16", TN_KIND_FLOATING, TN_F32, 11, value_of_f16, bits_of_f16},
	[TN_BF16] = {"bf16", TN_KIND_FLOATING, TN_F32, 8, value_of_bf16, bits_of_bf16},
	[TN_F32] = {"f32", TN_KIND_FLOATING, TN_F32, 24, value_of_f32, bits_of_f32},
	[TN_F64] = {"f64", TN_KIND_FLOATING, TN_F64, 53, tn_f64_of_bits, tn_bits_of_f64},
	[TN_C64] = {"c64", TN_KIND_COMPLEX, 0, 0, NULL, NULL},
	[TN_C128] = {"c128", TN_KIND_COMPLEX, 0, 0, NULL, NULL},
};

const char *tn_dtype_name(tn_dtype dtype)
{
	return tn_dtype_information(dtype)->name;
}
