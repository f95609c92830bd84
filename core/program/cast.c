/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every conversion goes through the widest value of its family: integers through int64_t (u64 keeps
 * its bits and is distinguished where its size matters), floating values through double, which
 * holds f16, bf16 and f32 exactly.  The formats themselves are in base/dtype.c.
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

int tn_is_same_kind(tn_dtype from, tn_dtype to)
{
	static const uint8_t order[] = {TN_KIND_BOOL, TN_KIND_UNSIGNED, TN_KIND_SIGNED,
					TN_KIND_FLOATING, TN_KIND_COMPLEX};
	int found_from = 0;
	for (size_t i = 0; i < sizeof(order); i++) {
		found_from |= tn_dtype_information(from)->kind == order[i];
		if (tn_dtype_information(to)->kind == order[i])
			return found_from;
	}
	return 0;
}

/* The low bytes that a value of that dtype has. */
static uint64_t mask_of(tn_dtype dtype)
{
	size_t size = tn_dtype_size(dtype);
	return size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
}

/* The integer as an int64_t; u64 by its bits. */
static int64_t integer_of(tn_dtype from, uint64_t bits)
{
	if (tn_is_unsigned(from))
		return (int64_t)bits;
	uint64_t sign = UINT64_C(1) << (8 * tn_dtype_size(from) - 1);
	return (int64_t)((bits ^ sign) - sign);
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
	float single = from == TN_U64 ? (float)(uint64_t)value : (float)value;
	return tn_dtype_information(to)->bits_of((double)single);
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
		double value = tn_dtype_information(from)->value_of(bits);
		if (to == TN_BOOL)
			return value != 0;
		if (tn_is_floating(to))
			return tn_dtype_information(to)->bits_of(value);
		return saturate(to, value);
	}
	if (to == TN_BOOL)
		return bits != 0;
	if (tn_is_floating(to))
		return floating_of_integer(from, to, bits);
	return (uint64_t)integer_of(from, bits) & mask_of(to);
}
