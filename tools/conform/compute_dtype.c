/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Devices that compute f32 in bf16 or in f16: which inputs they represent, and how far a rounded
 * value may be off.  Inputs are numbers of that type, so that loading them changes nothing, and an
 * operation that rounds once is off by half a unit in the last place of that type at most.
 */
#include <float.h>

#include "base/dtype.h"
#include "conform.h"
#include "program/cast.h"

tn_dtype kit_compute_dtype(const struct kit *kit, int family)
{
	switch (kit->description.accuracy[family]) {
	case TN_ACCURACY_BF16:
		return TN_BF16;
	case TN_ACCURACY_F16:
		return TN_F16;
	default:
		return TN_F32;
	}
}

static double rounded(tn_dtype dtype, double number)
{
	return tn_f64_of_bits(
		tn_cast_bits(dtype, TN_F64, tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(number))));
}

double kit_representable(const struct kit *kit, double number)
{
	static const int families[] = {TN_FAMILY_MAP, TN_FAMILY_REDUCE};
	for (int i = 0; i < 2; i++) {
		const tn_dtype dtype = kit_compute_dtype(kit, families[i]);
		if (dtype != TN_F32)
			number = rounded(dtype, number);
	}
	return number;
}

double kit_unit(tn_dtype dtype, double number)
{
	/* The exponents of the smallest normal numbers, as FLT_MIN_EXP has them. */
	int exponent, least = dtype == TN_F64 ? DBL_MIN_EXP : dtype == TN_F16 ? -13 : FLT_MIN_EXP;
	frexp(number, &exponent);
	return ldexp(tn_half_unit(dtype), exponent < least ? least : exponent);
}

/* The type to which results of a dtype are rounded; 0: none. */
static tn_dtype rounded_to(const struct kit *kit, int family, tn_dtype dtype)
{
	const tn_dtype compute = kit_compute_dtype(kit, family);
	return compute != TN_F32 && tn_compute_dtype(dtype) == TN_F32 ? compute : 0;
}

int kit_rounds(const struct kit *kit, int family, tn_dtype dtype)
{
	return rounded_to(kit, family, dtype) != 0;
}

double kit_rounding(const struct kit *kit, int family, tn_dtype dtype, double number)
{
	const tn_dtype compute = rounded_to(kit, family, dtype);
	if (!compute)
		return 0;
	/* Half a unit and a little more: rounded to f32 first, the number may be a tie now. */
	return isfinite(rounded(compute, number)) ? (0.5 + 0x1p-10) * kit_unit(compute, number)
						  : INFINITY;
}

double kit_family_error(const struct kit *kit, int family, tn_dtype dtype, double terms,
			double others)
{
	const tn_dtype compute = rounded_to(kit, family, dtype);
	if (!compute)
		return (terms + others) * kit_family_epsilon(kit, family, dtype);
	return terms * kit_epsilon(TN_F32) + others * tn_half_unit(compute);
}

double kit_composed_error(const struct kit *kit, int family, tn_dtype dtype, double terms,
			  double others)
{
	static const int parts[] = {TN_FAMILY_MAP, TN_FAMILY_REDUCE, TN_FAMILY_MATMUL};
	double error = kit_family_error(kit, family, dtype, terms, others);
	for (int i = 0; i < 3; i++) {
		if (rounded_to(kit, parts[i], dtype))
			error = fmax(error, kit_family_error(kit, parts[i], dtype, terms, others));
	}
	return error;
}

int kit_is_value(const struct kit *kit, tn_dtype dtype, uint64_t expected, uint64_t found)
{
	const tn_dtype compute = rounded_to(kit, TN_FAMILY_MAP, dtype);
	if (expected == found || !compute)
		return expected == found;
	const double e = tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, expected));
	const double f = tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, found));
	if (isnan(e) || isnan(f))
		return isnan(e) && isnan(f);
	/* Rounded to f16 first, a result in bf16 may be the other neighbour. */
	const double unit = kit_unit(dtype, e), computed = kit_unit(compute, e);
	return f == rounded(compute, e) ||
	       (isfinite(e) &&
		fabs(e - f) <= (unit > computed ? unit : (0.5 + 0x1p-10) * computed));
}
