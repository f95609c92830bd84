/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the reductions that are composed of other operations share: the checked call, and the shape
 * of the result.
 */
#ifndef TN_NUMPY_COMPOSED_REDUCTION_H
#define TN_NUMPY_COMPOSED_REDUCTION_H

#include "array/array.h"

/* A reduction composed of other operations. */
struct tn_composed_reduction {
	const char *operation;
	struct tn_runtime *runtime;
	const tn_array *a;
	uint32_t mask;
	int n;
	int axes[TN_MAX_RANK]; /* 0 or more, in the order given */
	int keepdims;
	int64_t count; /* elements reduced to one */
	int rank;      /* of the result */
	int64_t shape[TN_MAX_RANK];
};

/* Checks the call and opens a scope, which the caller ends if this succeeds.  Errors are kept.
 * TN_PENDING_ERROR: a is NULL, or an error is kept. */
tn_status tn_composed_reduction_begin(struct tn_composed_reduction *r, const char *operation,
				      const tn_array *a, int n, const int *axes, int keepdims);
/* Has the reduction real numbers to compare?  TN_DTYPE, TN_SHAPE, kept. */
tn_status tn_composed_reduction_check_order(const struct tn_composed_reduction *r);
/* One element for each of the result, in the result's shape; recorded. */
tn_array *tn_composed_reduction_result(const struct tn_composed_reduction *r, const tn_array *a);

#endif
