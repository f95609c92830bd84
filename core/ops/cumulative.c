/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Running sums and products with their options.
 */
#include <string.h>
#include <tenon/reduce.h>

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
