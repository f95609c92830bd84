/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Truth values along axes: whether any, all, or how many elements are not 0.  They are sums and
 * products of truth values, which exist over no elements too.
 */
#include <tenon/statistics.h>

#include "numpy/composed_reduction.h"

static const tn_array *truth_of(const tn_array *a)
{
	return a->dtype == TN_BOOL ? a : tn_astype(a, TN_BOOL);
}

tn_array *tn_any(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, "any", a, n, axes, keepdims))
		return NULL;
	tn_array *count = tn_sum(truth_of(a), n, axes, keepdims);
	return tn_scope_end(r.runtime->context, tn_astype(count, TN_BOOL));
}

tn_array *tn_all(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, "all", a, n, axes, keepdims))
		return NULL;
	tn_array *product = tn_prod(truth_of(a), n, axes, keepdims);
	return tn_scope_end(r.runtime->context, tn_astype(product, TN_BOOL));
}

tn_array *tn_count_nonzero(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, "count_nonzero", a, n, axes, keepdims))
		return NULL;
	return tn_scope_end(r.runtime->context, tn_sum(truth_of(a), n, axes, keepdims));
}
