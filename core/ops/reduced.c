/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See reduced.h.
 */
#include "ops/reduced.h"

#include "array/make.h"
#include "array/shape.h"

tn_status tn_axes_mask(struct tn_runtime *runtime, const char *operation, const tn_array *a, int n,
		       const int *axes, uint32_t *mask)
{
	struct tn_error_info *error = &runtime->report;
	*mask = 0;
	if (n == TN_ALL_AXES) {
		*mask = (1u << a->rank) - 1;
		return TN_OK;
	}
	if (n < 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "n: expected TN_ALL_AXES, or 0 or more axes, found %d", n);
	/* Also for n = 0: the caller may mean all axes, or a list that happens to be empty. */
	if (!axes)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "axes: expected a list of %d, found NULL (TN_ALL_AXES: all axes)",
			       n);
	for (int i = 0; i < n; i++) {
		int axis = axes[i];
		if (!tn_axis_normal(&axis, a->rank))
			return tn_fail(error, TN_INVALID_ARGUMENT, operation,
				       "axis %d: the array has rank %d", axis, a->rank);
		if (*mask >> axis & 1)
			return tn_fail(error, TN_INVALID_ARGUMENT, operation,
				       "axis %d is given twice", axis);
		*mask |= 1u << axis;
	}
	return TN_OK;
}

int64_t tn_axes_shape(const tn_array *a, uint32_t mask, int keepdims, int *rank,
		      int64_t shape[TN_MAX_RANK])
{
	int64_t count = 1;
	*rank = 0;
	for (int i = 0; i < a->rank; i++) {
		int reduced = (int)(mask >> i & 1);
		if (reduced)
			count *= a->shape[i];
		if (!reduced || keepdims)
			shape[(*rank)++] = reduced ? 1 : a->shape[i];
	}
	return count;
}

tn_array *tn_axes_last(const tn_array *a, uint32_t mask, int64_t count)
{
	int order[TN_MAX_RANK] = {0}, n_kept = 0, to = 0;
	int64_t shape[TN_MAX_RANK + 1];
	for (int reduced = 0; reduced < 2; reduced++) {
		for (int axis = 0; axis < a->rank; axis++) {
			if ((int)(mask >> axis & 1) == reduced)
				order[to++] = axis;
		}
		n_kept = reduced ? n_kept : to;
	}
	for (int i = 0; i < n_kept; i++)
		shape[i] = a->shape[order[i]];
	shape[n_kept] = count;
	return tn_reshape(tn_transpose(a, order), n_kept + 1, shape);
}

tn_status tn_reduced_begin(struct tn_reduced *r, const char *operation, const tn_array *a, int n,
			   const int *axes, int keepdims)
{
	*r = (struct tn_reduced){.operation = operation, .a = a, .keepdims = keepdims != 0};
	r->runtime = tn_begin(1, &a, operation);
	if (!r->runtime)
		return TN_PENDING_ERROR;
	tn_status status = tn_axes_mask(r->runtime, operation, a, n, axes, &r->mask);
	if (status)
		return tn_end_into(r->runtime, status);
	r->n = n == TN_ALL_AXES ? a->rank : n;
	for (int i = 0; i < r->n; i++) {
		r->axes[i] = n == TN_ALL_AXES ? i : axes[i];
		tn_axis_normal(&r->axes[i], a->rank);
	}
	r->count = tn_axes_shape(a, r->mask, r->keepdims, &r->rank, r->shape);
	return tn_scope_begin(r->runtime->context);
}

tn_array *tn_reduced_result(const struct tn_reduced *r, const tn_array *a)
{
	return tn_reshape(a, r->rank, r->shape);
}
