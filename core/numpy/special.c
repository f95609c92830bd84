/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Special functions: rows of the table of operations, and what is composed of them.
 */
#include <tenon/special.h>

#include <math.h>

#include "array/make.h"
#include "array/result_type.h"
#include "base/dtype.h"
#include "dispatch/special.h"
#include "ops/elementwise.h"
#include "ops/formula.h"

enum { MOST_ORDER = 30, MOST_DIMENSIONS = 100 };

tn_array *tn_lgamma(const tn_array *a)
{
	return tn_element_unary(TN_DO_LGAMMA, a);
}

tn_array *tn_digamma(const tn_array *a)
{
	return tn_element_unary(TN_DO_DIGAMMA, a);
}

/* factor zeta(s, x), with s = n + 1 and the factor (-1)^(n + 1) n!. */
static tn_array *polygamma(int order, const tn_array *a)
{
	static const char text[] = "n = s; q = x > 0 && x < inf ? x : 1.0\n" TN_TEXT_ZETA
				   "end = x == floor(x) ? inf : nan\n"
				   "z = x != x ? x : x <= 0 ? end : x == inf ? 0.0 : factor * zeta";
	static const char *const derivatives[] = {
		"n = s + 1; q = x > 0 && x < inf ? x : 1.0\n" TN_TEXT_ZETA
		"z = x > 0 ? (x < inf ? -dz * s * factor * zeta : 0.0) : nan",
		NULL};
	const struct tn_formula formula = {.text = text, .inputs = "x", .scalars = "s factor"};
	const double scalars[] = {order + 1, (order % 2 ? 1 : -1) * tgamma(order + 1)};
	const tn_dtype dtype = tn_loop_type(TN_LOOP_FLOATING, 1u << a->dtype);
	struct tn_runtime *runtime = a->runtime;
	if (tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *x = a->dtype == dtype ? a : tn_astype(a, dtype);
	tn_array *result = x ? tn_formula_with_derivatives("polygamma", &formula, derivatives,
							   dtype, &x, scalars)
			     : NULL;
	return tn_scope_end(runtime->context, result);
}

tn_array *tn_polygamma(int order, const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "polygamma");
	if (!runtime)
		return NULL;
	if (order < 0 || order > MOST_ORDER) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "polygamma",
				"order: expected 0 to %d, found %d", MOST_ORDER, order);
		return NULL;
	}
	if (tn_is_complex(a->dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "polygamma", "not defined for complex numbers");
		return NULL;
	}
	if (order == 0)
		return tn_digamma(a);
	return order == 1 ? tn_element_unary(TN_DO_TRIGAMMA, a) : polygamma(order, a);
}

tn_array *tn_betaln(const tn_array *a, const tn_array *b)
{
	const tn_array *both[] = {a, b};
	struct tn_runtime *runtime = tn_begin(2, both, "betaln");
	if (!runtime)
		return NULL;
	tn_dtype dtype = tn_loop_type(TN_LOOP_FLOATING, 1u << a->dtype | 1u << b->dtype);
	if (tn_is_complex(dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "betaln", "not defined for complex numbers");
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *x = tn_astype(a, dtype), *y = tn_astype(b, dtype);
	tn_array *sum = tn_lgamma(tn_add(x, y));
	tn_array *result = tn_subtract(tn_add(tn_lgamma(x), tn_lgamma(y)), sum);
	return tn_scope_end(runtime->context, result);
}

tn_array *tn_multigammaln(const tn_array *a, int p)
{
	static const struct tn_formula inside = {
		.text = "z = x > bound ? x : nan", .inputs = "x", .scalars = "bound"};
	const double bound = 0.5 * (p - 1);
	struct tn_runtime *runtime = tn_begin(1, &a, "multigammaln");
	if (!runtime)
		return NULL;
	if (p < 1 || p > MOST_DIMENSIONS) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "multigammaln",
				"p: expected 1 to %d, found %d", MOST_DIMENSIONS, p);
		return NULL;
	}
	tn_dtype dtype = tn_loop_type(TN_LOOP_FLOATING, 1u << a->dtype);
	if (tn_is_complex(dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "multigammaln",
				"not defined for complex numbers");
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *x = tn_astype(a, dtype);
	x = x ? tn_formula_operation("multigammaln", &inside, dtype, &x, &bound) : NULL;
	tn_array *sum = tn_affine(tn_lgamma(x), 1, bound * 0.5 * p * log(3.141592653589793));
	for (int i = 1; i < p && sum; i++)
		sum = tn_add(sum, tn_lgamma(tn_affine(x, 1, -0.5 * i)));
	return tn_scope_end(runtime->context, sum);
}

tn_array *tn_zeta(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_ZETA, a, b);
}

tn_array *tn_erfcx(const tn_array *a)
{
	return tn_element_unary(TN_DO_ERFCX, a);
}

tn_array *tn_erfinv(const tn_array *a)
{
	return tn_element_unary(TN_DO_ERFINV, a);
}

tn_array *tn_ndtr(const tn_array *a)
{
	return tn_element_unary(TN_DO_NDTR, a);
}

tn_array *tn_log_ndtr(const tn_array *a)
{
	return tn_element_unary(TN_DO_LOG_NDTR, a);
}

tn_array *tn_ndtri(const tn_array *a)
{
	return tn_element_unary(TN_DO_NDTRI, a);
}

tn_array *tn_i0(const tn_array *a)
{
	return tn_element_unary(TN_DO_I0, a);
}

tn_array *tn_i0e(const tn_array *a)
{
	return tn_element_unary(TN_DO_I0E, a);
}

tn_array *tn_i1(const tn_array *a)
{
	return tn_element_unary(TN_DO_I1, a);
}

tn_array *tn_i1e(const tn_array *a)
{
	return tn_element_unary(TN_DO_I1E, a);
}

tn_array *tn_bessel_j0(const tn_array *a)
{
	return tn_element_unary(TN_DO_BESSEL_J0, a);
}

tn_array *tn_bessel_j1(const tn_array *a)
{
	return tn_element_unary(TN_DO_BESSEL_J1, a);
}

tn_array *tn_entr(const tn_array *a)
{
	return tn_element_unary(TN_DO_ENTR, a);
}

tn_array *tn_xlog1py(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_XLOG1PY, a, b);
}

tn_array *tn_expit(const tn_array *a)
{
	return tn_sigmoid(a);
}
