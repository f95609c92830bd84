/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Running sums and products with their options, and of exponentials.
 */
#include <string.h>
#include <tenon/reduce.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "base/dtype.h"
#include "ops/axes.h"
#include "ops/copy.h"

/* The sums behind the one of no elements. */
static tn_array *with_initial(const tn_array *sums, int axis, double initial)
{
	int64_t shape[TN_MAX_RANK];
	if (!sums)
		return NULL;
	memcpy(shape, sums->shape, sizeof(shape));
	shape[axis] = 1;
	const tn_array *both[] = {tn_array_filled(sums, sums->dtype, sums->rank, shape, initial),
				  sums};
	return tn_concatenate(2, both, axis);
}

static tn_array *cumulative(const char *operation, tn_array *(*f)(const tn_array *a, int axis),
			    double initial, const tn_array *a, int axis, tn_dtype dtype,
			    int include_initial)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime)
		return NULL;
	if (dtype && !tn_dtype_size(dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, operation,
				"dtype: expected an element type, or 0, found %d", dtype);
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *x = tn_axis_or_flat(a, operation, &axis);
	if (dtype)
		x = tn_astype(x, dtype);
	tn_array *sums = f(x, axis);
	if (include_initial)
		sums = with_initial(sums, axis, initial);
	if (sums && dtype && sums->dtype != dtype)
		sums = tn_astype(sums, dtype);
	return tn_scope_end(runtime->context, sums);
}

tn_array *tn_cumulative_sum(const tn_array *a, int axis, tn_dtype dtype, int include_initial)
{
	return cumulative("cumulative_sum", tn_cumsum, 0, a, axis, dtype, include_initial);
}

tn_array *tn_cumulative_prod(const tn_array *a, int axis, tn_dtype dtype, int include_initial)
{
	return cumulative("cumulative_prod", tn_cumprod, 1, a, axis, dtype, include_initial);
}

/* ---- log sum exp -----------------------------------------------------------------------------*/

/* Each step joins every sum with the one `step` before it, which doubles what they are of. */
static tn_array *doubled(const tn_array *sums, int axis, int64_t step, int64_t length)
{
	const tn_array *longer = tn_logaddexp(tn_slice(sums, axis, step, length, 1),
					      tn_slice(sums, axis, 0, length - step, 1));
	const tn_array *both[] = {tn_slice(sums, axis, 0, step, 1), longer};
	return tn_concatenate(2, both, axis);
}

tn_array *tn_logcumsumexp(const tn_array *a, int axis)
{
	static const char operation[] = "logcumsumexp";
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime)
		return NULL;
	if (!tn_is_floating(a->dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, operation,
				"a: expected a floating type, found %s", tn_dtype_name(a->dtype));
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	tn_array *view = tn_axis_or_flat(a, operation, &axis);
	const int64_t length = view ? view->shape[axis] : 0;
	const tn_array *x = tn_is_narrow(a->dtype) ? tn_astype(view, TN_F32) : view;
	tn_array *sums = tn_copy(x);
	for (int64_t step = 1; step < length && sums; step *= 2)
		sums = doubled(sums, axis, step, length);
	return tn_scope_end(runtime->context,
			    tn_is_narrow(a->dtype) ? tn_astype(sums, a->dtype) : sums);
}
