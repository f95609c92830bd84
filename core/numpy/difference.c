/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Differences of neighbours along an axis, and what is made of them: derivatives and integrals.
 */
#include <inttypes.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/axes.h"
#include "program/cast.h"

/* Opens a scope, which the caller ends if this succeeds. */
static tn_status begin_axis(const char *operation, const tn_array *a, int *axis)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime)
		return TN_PENDING_ERROR;
	tn_status status = tn_axis_check(a, operation, "axis", axis);
	return status ? status : tn_scope_begin(runtime->context);
}

/* a[start : length - end] along the axis. */
static tn_array *part(const tn_array *a, int axis, int64_t start, int64_t end)
{
	if (!a)
		return NULL;
	const int64_t stop = a->shape[axis] - end;
	return tn_slice(a, axis, start, stop > start ? stop : start, 1);
}

static tn_array *difference(const tn_array *a, int axis)
{
	tn_array *after = part(a, axis, 1, 0), *before = part(a, axis, 0, 1);
	return tn_array_dtype(a) == TN_BOOL ? tn_not_equal(after, before)
					    : tn_subtract(after, before);
}

tn_array *tn_diff(const tn_array *a, int64_t n, int axis)
{
	if (a && n < 0) {
		tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "diff",
				"n: expected 0 or more, found %" PRId64, n);
		return NULL;
	}
	if (begin_axis("diff", a, &axis))
		return NULL;
	tn_context *context = tn_array_context(a);
	tn_array *result = n ? difference(a, axis) : tn_copy(a);
	for (int64_t i = 1; i < n && result && result->shape[axis]; i++)
		result = difference(result, axis);
	return tn_scope_end(context, result);
}

/* An end of tn_ediff1d as a line of the result's dtype. */
static tn_status take_end(const char *name, const tn_array *end, tn_dtype dtype,
			  const tn_array **line)
{
	const int64_t all[] = {-1};
	if (!tn_is_same_kind(end->dtype, dtype))
		return tn_runtime_fail(end->runtime, TN_DTYPE, "ediff1d",
				       "%s: expected %s or a lower kind, found %s", name,
				       tn_dtype_name(dtype), tn_dtype_name(end->dtype));
	*line = tn_reshape(tn_astype(end, dtype), 1, all);
	return *line ? TN_OK : TN_PENDING_ERROR;
}

tn_array *tn_ediff1d(const tn_array *a, const tn_array *to_end, const tn_array *to_begin)
{
	const int64_t all[] = {-1};
	const tn_array *parts[3];
	int n = 0, axis = 0;
	if (a && a->dtype == TN_BOOL) {
		tn_runtime_fail(a->runtime, TN_DTYPE, "ediff1d", "a: expected numbers, found bool");
		return NULL;
	}
	const tn_array *end = to_end ? to_end : to_begin;
	if (tn_arrays_given(end ? 2 : 1, (const tn_array *[]){a, end}, "ediff1d") ||
	    tn_scope_begin(tn_array_context(a)))
		return NULL;
	tn_context *context = tn_array_context(a);
	tn_status status = to_begin ? take_end("to_begin", to_begin, a->dtype, &parts[n++]) : TN_OK;
	parts[n++] = difference(tn_reshape(a, 1, all), axis);
	if (!status && to_end)
		status = take_end("to_end", to_end, a->dtype, &parts[n++]);
	tn_array *result = NULL;
	if (!status)
		result = n == 1 ? tn_array_const_cast(parts[0]) : tn_concatenate(n, parts, 0);
	return tn_scope_end(context, result);
}

/* ---- Derivatives -----------------------------------------------------------------------------*/

static tn_status check_gradient(const tn_array *a, double spacing, int axis, int edge_order)
{
	char text[TN_SHAPE_TEXT];
	if (a->dtype == TN_BOOL)
		return tn_runtime_fail(a->runtime, TN_DTYPE, "gradient",
				       "a: expected numbers, found bool");
	if (edge_order != 1 && edge_order != 2)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "gradient",
				       "edge_order: expected 1 or 2, found %d", edge_order);
	if (spacing == 0)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "gradient",
				       "spacing: expected a number other than 0, found 0");
	if (a->shape[axis] < edge_order + 1)
		return tn_runtime_fail(a->runtime, TN_SHAPE, "gradient",
				       "shape %s: expected at least %d elements along axis %d",
				       tn_array_text(a, text), edge_order + 1, axis);
	return TN_OK;
}

static tn_array *element(const tn_array *a, int axis, int64_t i)
{
	return tn_slice(a, axis, i, i + 1, 1);
}

/* The derivative at the first (side 0) or the last element, from those beside it. */
static tn_array *edge(const tn_array *a, double spacing, int axis, int edge_order, int side)
{
	const int64_t first = side ? a->shape[axis] - 1 : 0, step = side ? -1 : 1;
	const double sign = side ? -1 : 1;
	const tn_array *x = element(a, axis, first), *y = element(a, axis, first + step);
	if (edge_order == 1)
		return tn_affine(tn_subtract(y, x), sign / spacing, 0);
	const tn_array *z = element(a, axis, first + 2 * step);
	return tn_add(tn_add(tn_affine(x, -1.5 * sign / spacing, 0),
			     tn_affine(y, 2.0 * sign / spacing, 0)),
		      tn_affine(z, -0.5 * sign / spacing, 0));
}

tn_array *tn_gradient(const tn_array *a, double spacing, int axis, int edge_order)
{
	if (begin_axis("gradient", a, &axis))
		return NULL;
	tn_context *context = tn_array_context(a);
	if (check_gradient(a, spacing, axis, edge_order))
		return tn_scope_end(context, NULL);
	const tn_array *x = tn_is_inexact(a->dtype) ? a : tn_astype(a, TN_F64);
	if (!x)
		return tn_scope_end(context, NULL);
	tn_array *inner = tn_subtract(part(x, axis, 2, 0), part(x, axis, 0, 2));
	const tn_array *parts[] = {edge(x, spacing, axis, edge_order, 0),
				   tn_affine(inner, 1 / (2 * spacing), 0),
				   edge(x, spacing, axis, edge_order, 1)};
	return tn_scope_end(context, tn_concatenate(3, parts, axis));
}

/* ---- Integrals -------------------------------------------------------------------------------*/

/* The distances between the places x, which broadcast to the pairs of y along the axis. */
static tn_array *distances(const tn_array *y, const tn_array *x, int axis)
{
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < y->rank; i++)
		shape[i] = i == axis ? -1 : 1;
	if (x->rank == 1 && x->shape[0] == y->shape[axis])
		return tn_reshape(difference(x, 0), y->rank, shape);
	if (tn_shape_equal(x->rank, x->shape, y->rank, y->shape))
		return difference(x, axis);
	tn_runtime_fail(y->runtime, TN_SHAPE, "trapezoid",
			"x: expected shape %s of y, or %" PRId64 " places along axis %d, found %s",
			tn_array_text(y, expected), y->shape[axis], axis, tn_array_text(x, found));
	return NULL;
}

tn_array *tn_trapezoid(const tn_array *y, const tn_array *x, double dx, int axis)
{
	const tn_array *both[] = {y, x};
	if ((x && !tn_begin(2, both, "trapezoid")) || begin_axis("trapezoid", y, &axis))
		return NULL;
	tn_array *sums = tn_add(part(y, axis, 1, 0), part(y, axis, 0, 1));
	tn_array *areas = x ? tn_affine(tn_multiply(distances(y, x, axis), sums), 0.5, 0)
			    : tn_affine(sums, 0.5 * dx, 0);
	return tn_scope_end(tn_array_context(y), tn_sum(areas, 1, &axis, 0));
}
