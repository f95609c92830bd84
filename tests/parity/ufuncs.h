/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The functions of the test of universal functions.
 */
#ifndef TN_TESTS_PARITY_UFUNCS_H
#define TN_TESTS_PARITY_UFUNCS_H

#include <tenon/special.h>
#include <tenon/ufunc.h>

static tn_array *modf_integral(const tn_array *a)
{
	tn_array *integral;
	return tn_modf(a, &integral) ? integral : NULL;
}

static tn_array *modf_fraction(const tn_array *a)
{
	return tn_modf(a, NULL);
}

static tn_array *frexp_exponent(const tn_array *a)
{
	tn_array *exponent;
	return tn_frexp(a, &exponent) ? exponent : NULL;
}

static tn_array *frexp_mantissa(const tn_array *a)
{
	return tn_frexp(a, NULL);
}

static tn_array *divmod_remainder(const tn_array *a, const tn_array *b)
{
	tn_array *remainder;
	return tn_divmod(a, b, &remainder) ? remainder : NULL;
}

static tn_array *divmod_quotient(const tn_array *a, const tn_array *b)
{
	return tn_divmod(a, b, NULL);
}

static tn_array *around_1(const tn_array *a)
{
	return tn_around(a, 1);
}

static tn_array *around_2(const tn_array *a)
{
	return tn_around(a, 2);
}

static tn_array *around_minus_1(const tn_array *a)
{
	return tn_around(a, -1);
}

static tn_array *polygamma_1(const tn_array *a)
{
	return tn_polygamma(1, a);
}

static tn_array *polygamma_2(const tn_array *a)
{
	return tn_polygamma(2, a);
}

static tn_array *polygamma_5(const tn_array *a)
{
	return tn_polygamma(5, a);
}

static tn_array *multigammaln_3(const tn_array *a)
{
	return tn_multigammaln(a, 3);
}

/* What a function may err by, in units in the last place of the result and of the largest number
 * below 1, and whether NumPy leaves the sign of a zero open; between which numbers its gradient is
 * tested (none: 0, 0). */
static const struct ufunc {
	const char *name;
	tn_array *(*one)(const tn_array *a);
	tn_array *(*two)(const tn_array *a, const tn_array *b);
	tn_array *(*three)(const tn_array *a, const tn_array *b, const tn_array *c);
	double ulps, absolute;
	int any_zero;
	double low, high;
} ufuncs[] = {
	{"reciprocal", tn_reciprocal, NULL, NULL, 0.5, 0, 0, 0.5, 2},
	{"positive", tn_positive, NULL, NULL, 0, 0, 0, -1, 1},
	{"fabs", tn_fabs, NULL, NULL, 0, 0, 0, 0.2, 1},
	{"cbrt", tn_cbrt, NULL, NULL, 2, 0, 0, 0.2, 3},
	{"exp2", tn_exp2, NULL, NULL, 4, 0, 0, -1, 2},
	{"expm1", tn_expm1, NULL, NULL, 4, 0, 0, -1, 2},
	{"log2", tn_log2, NULL, NULL, 4, 0, 0, 0.3, 2},
	{"log10", tn_log10, NULL, NULL, 5, 0, 0, 0.3, 2},
	{"log1p", tn_log1p, NULL, NULL, 4, 0, 0, -0.5, 2},
	{"logit", tn_logit, NULL, NULL, 6, 0, 0, 0.1, 0.9},
	{"erfc", tn_erfc, NULL, NULL, 8, 0, 0, -1, 3},
	{"tan", tn_tan, NULL, NULL, 4, 0, 0, -1, 1},
	{"arcsin", tn_arcsin, NULL, NULL, 4, 0, 0, -0.9, 0.9},
	{"arccos", tn_arccos, NULL, NULL, 4, 0, 0, -0.9, 0.9},
	{"arctan", tn_arctan, NULL, NULL, 4, 0, 0, -2, 2},
	{"sinh", tn_sinh, NULL, NULL, 4, 0, 0, -2, 2},
	{"cosh", tn_cosh, NULL, NULL, 4, 0, 0, -2, 2},
	{"arcsinh", tn_arcsinh, NULL, NULL, 6, 0, 0, -3, 3},
	{"arccosh", tn_arccosh, NULL, NULL, 6, 0, 0, 1.2, 4},
	{"arctanh", tn_arctanh, NULL, NULL, 6, 0, 0, -0.9, 0.9},
	{"deg2rad", tn_deg2rad, NULL, NULL, 1, 0, 0, -2, 2},
	{"rad2deg", tn_rad2deg, NULL, NULL, 1, 0, 0, -2, 2},
	{"sinc", tn_sinc, NULL, NULL, 5, 2, 1, -3, 3},
	{"trunc", tn_trunc, NULL, NULL, 0, 0, 0, 0, 0},
	{"rint", tn_rint, NULL, NULL, 0, 0, 0, 0, 0},
	{"signbit", tn_signbit, NULL, NULL, 0, 0, 0, 0, 0},
	{"isnan", tn_isnan, NULL, NULL, 0, 0, 0, 0, 0},
	{"isinf", tn_isinf, NULL, NULL, 0, 0, 0, 0, 0},
	{"isfinite", tn_isfinite, NULL, NULL, 0, 0, 0, 0, 0},
	{"logical_not", tn_logical_not, NULL, NULL, 0, 0, 0, 0, 0},
	{"invert", tn_invert, NULL, NULL, 0, 0, 0, 0, 0},
	{"hypot", NULL, tn_hypot, NULL, 2, 0, 0, -1, 2},
	{"float_power", NULL, tn_float_power, NULL, 4, 0, 0, 0.5, 2},
	{"logaddexp", NULL, tn_logaddexp, NULL, 5, 2, 0, -2, 2},
	{"logaddexp2", NULL, tn_logaddexp2, NULL, 6, 2, 0, -2, 2},
	{"xlogy", NULL, tn_xlogy, NULL, 5, 0, 0, 0.2, 2},
	{"arctan2", NULL, tn_arctan2, NULL, 4, 0, 0, 0.3, 2},
	{"floor_divide", NULL, tn_floor_divide, NULL, 0, 0, 0, 0, 0},
	{"remainder", NULL, tn_remainder, NULL, 0, 0, 0, -1, 2.03},
	{"fmod", NULL, tn_fmod, NULL, 0, 0, 0, -1, 2.03},
	{"fmax", NULL, tn_fmax, NULL, 0, 0, 1, 0.1, 1},
	{"fmin", NULL, tn_fmin, NULL, 0, 0, 1, 0.1, 1},
	{"copysign", NULL, tn_copysign, NULL, 0, 0, 0, 0.1, 1},
	{"heaviside", NULL, tn_heaviside, NULL, 0, 0, 0, 0.1, 1},
	{"logical_and", NULL, tn_logical_and, NULL, 0, 0, 0, 0, 0},
	{"logical_or", NULL, tn_logical_or, NULL, 0, 0, 0, 0, 0},
	{"logical_xor", NULL, tn_logical_xor, NULL, 0, 0, 0, 0, 0},
	{"bitwise_and", NULL, tn_bitwise_and, NULL, 0, 0, 0, 0, 0},
	{"bitwise_or", NULL, tn_bitwise_or, NULL, 0, 0, 0, 0, 0},
	{"bitwise_xor", NULL, tn_bitwise_xor, NULL, 0, 0, 0, 0, 0},
	{"left_shift", NULL, tn_left_shift, NULL, 0, 0, 0, 0, 0},
	{"right_shift", NULL, tn_right_shift, NULL, 0, 0, 0, 0, 0},
	{"modf", modf_fraction, NULL, NULL, 0, 0, 0, 0.1, 0.9},
	{"modf_integral", modf_integral, NULL, NULL, 0, 0, 0, 0, 0},
	{"frexp", frexp_mantissa, NULL, NULL, 0, 0, 0, 1.1, 1.9},
	{"frexp_exponent", frexp_exponent, NULL, NULL, 0, 0, 0, 0, 0},
	{"ldexp", NULL, tn_ldexp, NULL, 0, 0, 0, 0, 0},
	{"nextafter", NULL, tn_nextafter, NULL, 0, 0, 0, 0, 0},
	{"spacing", tn_spacing, NULL, NULL, 0, 0, 0, 0, 0},
	{"divmod", NULL, divmod_quotient, NULL, 0, 0, 0, 0, 0},
	{"divmod_remainder", NULL, divmod_remainder, NULL, 0, 0, 0, -1, 2.03},
	{"fix", tn_fix, NULL, NULL, 0, 0, 0, 0, 0},
	{"around_1", around_1, NULL, NULL, 0, 0, 0, 0, 0},
	{"around_2", around_2, NULL, NULL, 0, 0, 0, 0, 0},
	{"around_minus_1", around_minus_1, NULL, NULL, 0, 0, 0, 0, 0},
	{"bitwise_count", tn_bitwise_count, NULL, NULL, 0, 0, 0, 0, 0},
	{"gcd", NULL, tn_gcd, NULL, 0, 0, 0, 0, 0},
	{"lcm", NULL, tn_lcm, NULL, 0, 0, 0, 0, 0},
	{"lgamma", tn_lgamma, NULL, NULL, 4, 10, 1, 0.2, 6},
	{"digamma", tn_digamma, NULL, NULL, 4, 10, 1, 0.2, 6},
	{"polygamma_1", polygamma_1, NULL, NULL, 8, 0, 1, 0.2, 6},
	{"polygamma_2", polygamma_2, NULL, NULL, 8, 0, 1, 0.2, 6},
	{"polygamma_5", polygamma_5, NULL, NULL, 8, 0, 1, 0.8, 6},
	{"zeta", NULL, tn_zeta, NULL, 8, 0, 1, 0, 0},
	{"erfcx", tn_erfcx, NULL, NULL, 8, 0, 1, -1, 3},
	{"erfinv", tn_erfinv, NULL, NULL, 8, 0, 1, -0.9, 0.95},
	{"ndtr", tn_ndtr, NULL, NULL, 8, 0, 1, -3, 3},
	{"log_ndtr", tn_log_ndtr, NULL, NULL, 8, 0, 1, -4, 3},
	{"ndtri", tn_ndtri, NULL, NULL, 8, 0, 1, 0.01, 0.97},
	{"i0", tn_i0, NULL, NULL, 8, 0, 1, -3, 12},
	{"i0e", tn_i0e, NULL, NULL, 8, 0, 1, -3, 12},
	{"i1", tn_i1, NULL, NULL, 8, 0, 1, -3, 12},
	{"i1e", tn_i1e, NULL, NULL, 8, 0, 1, -3, 12},
	{"bessel_j0", tn_bessel_j0, NULL, NULL, 8, 8, 1, -3, 14},
	{"bessel_j1", tn_bessel_j1, NULL, NULL, 8, 8, 1, 0, 0},
	{"entr", tn_entr, NULL, NULL, 5, 0, 1, 0.1, 3},
	{"expit", tn_expit, NULL, NULL, 4, 0, 1, -3, 3},
	{"xlog1py", NULL, tn_xlog1py, NULL, 5, 0, 1, 0.1, 2},
	{"betaln", NULL, tn_betaln, NULL, 8, 400, 1, 0.3, 3},
	{"multigammaln_3", multigammaln_3, NULL, NULL, 8, 16, 1, 1.3, 4},
	{"clip", NULL, NULL, tn_clip, 0, 0, 1, 0.1, 1},
};

#endif
