/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every conversion goes through the widest value of its family: integers through int64_t (u64 keeps
 * its bits and is distinguished where its size matters), floating values through double, which
 * holds f16, bf16 and f32 exactly.
 */
#include "program/cast.h"

#include <math.h>

/* The first dtype of a kind that is larger than `size` bytes; 0: none. */
static tn_dtype wider(uint8_t kind, size_t size)
{
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (tn_dtype_information(dtype)->kind == kind && tn_dtype_size(dtype) > size)
			return dtype;
	}
	return 0;
}

/* Integers of both signs. */
static tn_dtype mixed(tn_dtype is_signed, tn_dtype is_not)
{
	tn_dtype above = wider(TN_KIND_SIGNED, tn_dtype_size(is_not));
	if (!above)
		return TN_I64;
	return tn_dtype_size(above) > tn_dtype_size(is_signed) ? above : is_signed;
}

tn_dtype tn_promote(tn_dtype a, tn_dtype b)
{
	if (!tn_compute_dtype(a) || !tn_compute_dtype(b))
		return 0;
	if (a == b || b == TN_BOOL)
		return a;
	if (a == TN_BOOL)
		return b;
	if (tn_is_floating(a) != tn_is_floating(b))
		return tn_is_floating(a) ? a : b;
	if (tn_is_unsigned(a) != tn_is_unsigned(b))
		return tn_is_unsigned(a) ? mixed(b, a) : mixed(a, b);
	/* Two formats of one size, neither of which contains the other: f16 and bf16. */
	if (tn_dtype_size(a) == tn_dtype_size(b))
		return wider(TN_KIND_FLOATING, tn_dtype_size(a));
	return tn_dtype_size(a) > tn_dtype_size(b) ? a : b;
}

/* The low bytes that a value of that dtype has. */
static uint64_t mask_of(tn_dtype dtype)
{
	size_t size = tn_dtype_size(dtype);
	return size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
}

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

static double floating_of(tn_dtype from, uint64_t bits)
{
	switch (from) {
	case TN_F16:
		return (double)tn_f32_of_f16((uint16_t)bits);
	case TN_BF16:
		return (double)tn_f32_of_bf16((uint16_t)bits);
	case TN_F32:
		return (double)tn_f32_of_bits(bits);
	default:
		return tn_f64_of_bits(bits);
	}
}

static uint64_t bits_of_floating(tn_dtype to, double value)
{
	switch (to) {
	case TN_F16:
		return tn_f16_of_f32((float)value);
	case TN_BF16:
		return tn_bf16_of_f32((float)value);
	case TN_F32:
		return tn_bits_of_f32((float)value);
	default:
		return tn_bits_of_f64(value);
	}
}

/* The integer as an int64_t; u64 by its bits. */
static int64_t integer_of(tn_dtype from, uint64_t bits)
{
	switch (from) {
	case TN_I8:
		return (int8_t)bits;
	case TN_I16:
		return (int16_t)bits;
	case TN_I32:
		return (int32_t)bits;
	default:
		return (int64_t)(bits & mask_of(from));
	}
}

/* Toward zero, within [lowest, highest] of the type; NaN gives 0. */
static uint64_t saturate(tn_dtype to, double value)
{
	unsigned width = 8 * (unsigned)tn_dtype_size(to);
	if (isnan(value))
		return 0;
	if (tn_is_unsigned(to)) {
		if (value <= 0)
			return 0;
		if (value >= ldexp(1.0, (int)width))
			return mask_of(to);
		return (uint64_t)value;
	}
	double limit = ldexp(1.0, (int)width - 1);
	if (value >= limit)
		return mask_of(to) >> 1;
	if (value <= -limit)
		return UINT64_C(1) << (width - 1);
	return (uint64_t)(int64_t)value & mask_of(to);
}

/* An integer straight to f32 and, through f32, to f16 and bf16: never rounded to double first. */
static uint64_t floating_of_integer(tn_dtype from, tn_dtype to, uint64_t bits)
{
	int64_t value = integer_of(from, bits);
	if (to == TN_F64) {
		double wide = from == TN_U64 ? (double)(uint64_t)value : (double)value;
		return tn_bits_of_f64(wide);
	}
	float narrow = from == TN_U64 ? (float)(uint64_t)value : (float)value;
	return bits_of_floating(to, (double)narrow);
}

uint64_t tn_cast_bits(tn_dtype from, tn_dtype to, uint64_t bits)
{
	if (!tn_compute_dtype(from) || !tn_compute_dtype(to))
		return 0;
	bits &= mask_of(from);
	if (from == to)
		return bits;
	if (from == TN_BOOL) {
		from = TN_U8;
		bits = bits != 0;
	}
	if (tn_is_floating(from)) {
		double value = floating_of(from, bits);
		if (to == TN_BOOL)
			return value != 0;
		if (tn_is_floating(to))
			return bits_of_floating(to, value);
		return saturate(to, value);
	}
	if (to == TN_BOOL)
		return bits != 0;
	if (tn_is_floating(to))
		return floating_of_integer(from, to, bits);
	return (uint64_t)integer_of(from, bits) & mask_of(to);
}
