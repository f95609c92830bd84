/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays compared as bools, composed of comparisons and reductions.
 */
#include <tenon/testing.h>

#include <tenon/statistics.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/tolerance.h"

static int shapes_broadcast(const tn_array *a, const tn_array *b)
{
	int64_t shape[TN_MAX_RANK];
	int rank = 0;
	return tn_shape_broadcast(&rank, shape, a->rank, a->shape) &&
	       tn_shape_broadcast(&rank, shape, b->rank, b->shape);
}

static tn_status check_shapes(struct tn_runtime *runtime, const char *operation, const tn_array *a,
			      const tn_array *b)
{
	char a_text[TN_SHAPE_TEXT], b_text[TN_SHAPE_TEXT];
	if (shapes_broadcast(a, b))
		return TN_OK;
	return tn_runtime_fail(runtime, TN_SHAPE, operation, "shapes %s and %s do not broadcast",
			       tn_array_text(a, a_text), tn_array_text(b, b_text));
}

static tn_status check_flag(struct tn_runtime *runtime, const char *operation, int equal_nan)
{
	if (equal_nan == 0 || equal_nan == 1)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
			       "equal_nan: expected 0 or 1, found %d", equal_nan);
}

static tn_array *or_both_nan(tn_array *equal, const tn_array *a, const tn_array *b, int equal_nan)
{
	if (!equal_nan)
		return equal;
	return tn_logical_or(equal, tn_logical_and(tn_isnan(a), tn_isnan(b)));
}

/* Opens a scope if the call is right. */
static struct tn_runtime *begin(const char *operation, const tn_array *a, const tn_array *b,
				int equal_nan)
{
	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){a, b}, operation);
	if (!runtime || check_flag(runtime, operation, equal_nan) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	return runtime;
}

static tn_array *isclose(const char *operation, const tn_array *a, const tn_array *b, double rtol,
			 double atol, int equal_nan)
{
	static const struct tn_formula bound = {.text = "z = mul_rounded(rtol, size) + atol",
						.inputs = "size",
						.scalars = "rtol atol"};
	const double tolerances[] = {rtol, atol};
	a = tn_array_untracked(operation, a);
	b = tn_array_untracked(operation, b);
	if (b && !tn_is_inexact(b->dtype))
		b = tn_astype(b, TN_F64);
	const tn_array *size = tn_abs(b);
	if (!size)
		return NULL;
	const tn_array *most =
		tn_formula_operation(operation, &bound, size->dtype, &size, tolerances);
	tn_array *near = tn_less_equal(tn_abs(tn_subtract(a, b)), most);
	tn_array *close = tn_logical_or(tn_logical_and(near, tn_isfinite(b)), tn_equal(a, b));
	return or_both_nan(close, a, b, equal_nan);
}

static struct tn_runtime *begin_close(const char *operation, const tn_array *a, const tn_array *b,
				      double rtol, double atol, int equal_nan)
{
	struct tn_runtime *runtime = begin(operation, a, b, equal_nan);
	if (!runtime)
		return NULL;
	if (!check_shapes(runtime, operation, a, b) &&
	    !tn_tolerance_check(runtime, operation, "rtol", rtol) &&
	    !tn_tolerance_check(runtime, operation, "atol", atol))
		return runtime;
	tn_scope_end(runtime->context, NULL);
	return NULL;
}

tn_array *tn_isclose(const tn_array *a, const tn_array *b, double rtol, double atol, int equal_nan)
{
	static const char operation[] = "isclose";
	struct tn_runtime *runtime = begin_close(operation, a, b, rtol, atol, equal_nan);
	if (!runtime)
		return NULL;
	return tn_scope_end(runtime->context, isclose(operation, a, b, rtol, atol, equal_nan));
}

tn_array *tn_allclose(const tn_array *a, const tn_array *b, double rtol, double atol, int equal_nan)
{
	static const char operation[] = "allclose";
	struct tn_runtime *runtime = begin_close(operation, a, b, rtol, atol, equal_nan);
	if (!runtime)
		return NULL;
	tn_array *close = isclose(operation, a, b, rtol, atol, equal_nan);
	return tn_scope_end(runtime->context, tn_all(close, TN_ALL_AXES, NULL, 0));
}

static tn_array *falsehood(const tn_array *a)
{
	return tn_array_filled(a, TN_BOOL, 0, NULL, 0);
}

static tn_array *all_equal(const char *operation, const tn_array *a, const tn_array *b,
			   int equal_nan)
{
	a = tn_array_untracked(operation, a);
	b = tn_array_untracked(operation, b);
	return tn_all(or_both_nan(tn_equal(a, b), a, b, equal_nan), TN_ALL_AXES, NULL, 0);
}

tn_array *tn_array_equal(const tn_array *a, const tn_array *b, int equal_nan)
{
	static const char operation[] = "array_equal";
	struct tn_runtime *runtime = begin(operation, a, b, equal_nan);
	if (!runtime)
		return NULL;
	const int is_same = tn_shape_equal(a->rank, a->shape, b->rank, b->shape);
	return tn_scope_end(runtime->context,
			    is_same ? all_equal(operation, a, b, equal_nan) : falsehood(a));
}

tn_array *tn_array_equiv(const tn_array *a, const tn_array *b)
{
	static const char operation[] = "array_equiv";
	struct tn_runtime *runtime = begin(operation, a, b, 0);
	if (!runtime)
		return NULL;
	return tn_scope_end(runtime->context,
			    shapes_broadcast(a, b) ? all_equal(operation, a, b, 0) : falsehood(a));
}
