/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See reduce_axes.h.
 */
#include "ops/reduce_axes.h"

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/axes.h"

tn_status tn_axes_mask(const tn_array *a, const char *operation, int *n, const int *axes,
		       int checked[TN_MAX_RANK], uint32_t *mask)
{
	*mask = 0;
	if (*n < 0 && *n != TN_ALL_AXES)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				       "n: expected TN_ALL_AXES, or 0 or more axes, found %d", *n);
	/* Also for n = 0: the caller may mean all axes, or a list that happens to be empty. */
	if (*n != TN_ALL_AXES && !axes)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				       "axes: expected a list of %d, found NULL (TN_ALL_AXES: all "
				       "axes)",
				       *n);
	tn_status status = tn_axes_check(a, operation, "axes", n, axes, checked);
	for (int i = 0; i < *n && !status; i++)
		*mask |= 1u << checked[i];
	return status;
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
