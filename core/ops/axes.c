/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks the axes that a caller names, counted from either end, and gives them counted from 0.
 */
#include "ops/axes.h"

#include <tenon/manipulate.h>

#include "array/shape.h"

tn_status tn_axis_check(const tn_array *a, const char *operation, const char *argument, int *axis)
{
	char shape[TN_SHAPE_TEXT];
	if (tn_axis_normal(axis, a->rank))
		return TN_OK;
	if (!a->rank)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				       "%s: found %d for a 0-d array, which has no axis", argument,
				       *axis);
	return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
			       "%s: expected an axis of shape %s, from %d to %d, found %d",
			       argument, tn_array_text(a, shape), -a->rank, a->rank - 1, *axis);
}

tn_status tn_axes_check(const tn_array *a, const char *operation, const char *argument, int *n,
			const int *axes, int checked[TN_MAX_RANK])
{
	const int all = *n == TN_ALL_AXES;
	uint32_t seen = 0;
	if (all)
		*n = a->rank;
	if (*n < 0 || *n > a->rank || (*n && !all && !axes))
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				       "n: expected 0 to %d %s, found %d", a->rank, argument, *n);
	for (int i = 0; i < *n; i++) {
		checked[i] = all ? i : axes[i];
		tn_status status = tn_axis_check(a, operation, argument, &checked[i]);
		if (status)
			return status;
		if (seen >> checked[i] & 1)
			return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
					       "%s: expected different axes, found %d twice",
					       argument, checked[i]);
		seen |= 1u << checked[i];
	}
	return TN_OK;
}

int64_t tn_axes_size(const tn_array *a, int first, int end)
{
	int64_t size = 1;
	for (int i = first; i < end; i++)
		size *= a->shape[i];
	return size;
}

tn_array *tn_axis_or_flat(const tn_array *a, const char *operation, int *axis)
{
	if (*axis == TN_AXIS_NONE) {
		*axis = 0;
		return tn_reshape(a, 1, &a->size);
	}
	if (tn_axis_check(a, operation, "axis", axis))
		return NULL;
	return tn_reshape(a, a->rank, a->shape);
}
