/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NumPy's universal functions: each is a row of the table of operations.
 */
#include <tenon/ufunc.h>

#include "base/dtype.h"
#include "ops/complex_arcs.h"
#include "ops/elementwise.h"

tn_array *tn_reciprocal(const tn_array *a)
{
	return tn_element_unary(TN_DO_RECIPROCAL, a);
}

tn_array *tn_positive(const tn_array *a)
{
	return tn_element_unary(TN_DO_POSITIVE, a);
}

tn_array *tn_fabs(const tn_array *a)
{
	return tn_element_unary(TN_DO_FABS, a);
}

tn_array *tn_floor_divide(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_FLOOR_DIVIDE, a, b);
}

tn_array *tn_remainder(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_REMAINDER, a, b);
}

tn_array *tn_fmod(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_FMOD, a, b);
}

tn_array *tn_fmax(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_FMAX, a, b);
}

tn_array *tn_fmin(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_FMIN, a, b);
}

tn_array *tn_clip(const tn_array *a, const tn_array *low, const tn_array *high)
{
	const tn_array *inputs[] = {a, low, high};
	return tn_element_run(TN_DO_CLIP, inputs, NULL);
}

tn_array *tn_hypot(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_HYPOT, a, b);
}

tn_array *tn_cbrt(const tn_array *a)
{
	return tn_element_unary(TN_DO_CBRT, a);
}

tn_array *tn_exp2(const tn_array *a)
{
	return tn_element_unary(TN_DO_EXP2, a);
}

tn_array *tn_expm1(const tn_array *a)
{
	return tn_element_unary(TN_DO_EXPM1, a);
}

tn_array *tn_log2(const tn_array *a)
{
	return tn_element_unary(TN_DO_LOG2, a);
}

tn_array *tn_log10(const tn_array *a)
{
	return tn_element_unary(TN_DO_LOG10, a);
}

tn_array *tn_log1p(const tn_array *a)
{
	return tn_element_unary(TN_DO_LOG1P, a);
}

tn_array *tn_logaddexp(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_LOGADDEXP, a, b);
}

tn_array *tn_logaddexp2(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_LOGADDEXP2, a, b);
}

tn_array *tn_xlogy(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_XLOGY, a, b);
}

tn_array *tn_logit(const tn_array *a)
{
	return tn_element_unary(TN_DO_LOGIT, a);
}

tn_array *tn_tan(const tn_array *a)
{
	return tn_element_unary(TN_DO_TAN, a);
}

/* Of complex numbers not a program, but composed. */
static tn_array *arc(enum tn_operation operation, enum tn_complex_arc arc, const tn_array *a)
{
	if (a && tn_is_complex(a->dtype))
		return tn_complex_arc(arc, tn_operations[operation].name, a);
	return tn_element_unary(operation, a);
}

tn_array *tn_arcsin(const tn_array *a)
{
	return arc(TN_DO_ARCSIN, TN_ARC_SIN, a);
}

tn_array *tn_arccos(const tn_array *a)
{
	return arc(TN_DO_ARCCOS, TN_ARC_COS, a);
}

tn_array *tn_arctan(const tn_array *a)
{
	return tn_element_unary(TN_DO_ARCTAN, a);
}

tn_array *tn_arctan2(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_ARCTAN2, a, b);
}

tn_array *tn_sinh(const tn_array *a)
{
	return tn_element_unary(TN_DO_SINH, a);
}

tn_array *tn_cosh(const tn_array *a)
{
	return tn_element_unary(TN_DO_COSH, a);
}

tn_array *tn_arcsinh(const tn_array *a)
{
	return arc(TN_DO_ARCSINH, TN_ARC_SINH, a);
}

tn_array *tn_arccosh(const tn_array *a)
{
	return arc(TN_DO_ARCCOSH, TN_ARC_COSH, a);
}

tn_array *tn_arctanh(const tn_array *a)
{
	return tn_element_unary(TN_DO_ARCTANH, a);
}

tn_array *tn_deg2rad(const tn_array *a)
{
	return tn_element_unary(TN_DO_DEG2RAD, a);
}

tn_array *tn_rad2deg(const tn_array *a)
{
	return tn_element_unary(TN_DO_RAD2DEG, a);
}

tn_array *tn_degrees(const tn_array *a)
{
	return tn_rad2deg(a);
}

tn_array *tn_radians(const tn_array *a)
{
	return tn_deg2rad(a);
}

tn_array *tn_sinc(const tn_array *a)
{
	return tn_element_unary(TN_DO_SINC, a);
}

tn_array *tn_erfc(const tn_array *a)
{
	return tn_element_unary(TN_DO_ERFC, a);
}

tn_array *tn_trunc(const tn_array *a)
{
	return tn_element_unary(TN_DO_TRUNC, a);
}

tn_array *tn_rint(const tn_array *a)
{
	return tn_element_unary(TN_DO_RINT, a);
}

tn_array *tn_signbit(const tn_array *a)
{
	return tn_element_unary(TN_DO_SIGNBIT, a);
}

tn_array *tn_copysign(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_COPYSIGN, a, b);
}

tn_array *tn_heaviside(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_HEAVISIDE, a, b);
}

tn_array *tn_isnan(const tn_array *a)
{
	return tn_element_unary(TN_DO_ISNAN, a);
}

tn_array *tn_isinf(const tn_array *a)
{
	return tn_element_unary(TN_DO_ISINF, a);
}

tn_array *tn_isfinite(const tn_array *a)
{
	return tn_element_unary(TN_DO_ISFINITE, a);
}

tn_array *tn_float_power(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_FLOAT_POWER, a, b);
}

tn_array *tn_logical_and(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_LOGICAL_AND, a, b);
}

tn_array *tn_logical_or(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_LOGICAL_OR, a, b);
}

tn_array *tn_logical_xor(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_LOGICAL_XOR, a, b);
}

tn_array *tn_logical_not(const tn_array *a)
{
	return tn_element_unary(TN_DO_LOGICAL_NOT, a);
}

tn_array *tn_bitwise_and(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_BITWISE_AND, a, b);
}

tn_array *tn_bitwise_or(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_BITWISE_OR, a, b);
}

tn_array *tn_bitwise_xor(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_BITWISE_XOR, a, b);
}

tn_array *tn_invert(const tn_array *a)
{
	return tn_element_unary(TN_DO_INVERT, a);
}

tn_array *tn_left_shift(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_LEFT_SHIFT, a, b);
}

tn_array *tn_right_shift(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_RIGHT_SHIFT, a, b);
}
