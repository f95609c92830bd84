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

/* 1 sign, 5 exponent (bias 15), 10 fraction bits. */
float tn_f32_of_f16(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t exponent = (half >> 10) & 31;
	uint32_t fraction = half & 0x3ff;
	if (exponent == 31)
		return tn_f32_of_bits(sign | 0x7f800000 | fraction << 13);
	if (exponent)
		return tn_f32_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
	/* Subnormal: fraction * 2^-24, exact in f32. */
	float magnitude = (float)fraction * 0x1p-24f;
	return sign ? -magnitude : magnitude;
}

uint16_t tn_f16_of_f32(float value)
{
	uint32_t bits = (uint32_t)tn_bits_of_f32(value);
	uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
	uint32_t magnitude = bits & 0x7fffffff;
	if (magnitude > 0x7f800000) /* NaN: quiet, with the payload's upper bits */
		return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
	if (magnitude >= 0x477ff000) /* 65520 and above round to infinity */
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) { /* below 2^-14: a multiple of 2^-24, which rintf rounds */
		float units = rintf(tn_f32_of_bits(magnitude) * 0x1p24f);
		return (uint16_t)(sign | (uint16_t)units);
	}
	uint32_t odd = magnitude >> 13 & 1;
	return (uint16_t)(sign | ((magnitude - (112u << 23) + 0xfff + odd) >> 13));
}

float tn_f32_of_bf16(uint16_t brain)
{
	return tn_f32_of_bits((uint64_t)brain << 16);
}

uint16_t tn_bf16_of_f32(float value)
{
	uint32_t bits = (uint32_t)tn_bits_of_f32(value);
	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

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
