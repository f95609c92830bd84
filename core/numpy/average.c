/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Weighted means along axes.
 */
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/composed_reduction.h"
#include "ops/copy.h"

/* Weights of the array's shape, or one for each place along the listed axes, in their order. */
static tn_status check_weights(const struct tn_composed_reduction *r, const tn_array *weights,
			       int n)
{
	char expected[TN_SHAPE_TEXT], along[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < r->n; i++)
		shape[i] = r->a->shape[r->axes[i]];
	if (tn_shape_equal(weights->rank, weights->shape, r->a->rank, r->a->shape))
		return TN_OK;
	if (n != TN_ALL_AXES && tn_shape_equal(weights->rank, weights->shape, r->n, shape))
		return TN_OK;
	return tn_runtime_fail(r->runtime, TN_SHAPE, r->operation,
			       "weights: expected shape %s of a, or %s of its listed axes, found "
			       "%s",
			       tn_array_text(r->a, expected), tn_shape_print(r->n, shape, along),
			       tn_array_text(weights, found));
}

/* Weights of the listed axes as an array that broadcasts to `a`. */
static const tn_array *placed(const struct tn_composed_reduction *r, const tn_array *weights)
{
	int order[TN_MAX_RANK] = {0}, n = 0;
	int64_t shape[TN_MAX_RANK];
	if (tn_shape_equal(weights->rank, weights->shape, r->a->rank, r->a->shape))
		return weights;
	for (int axis = 0; axis < r->a->rank; axis++) {
		shape[axis] = r->mask >> axis & 1 ? r->a->shape[axis] : 1;
		for (int i = 0; i < r->n; i++) {
			if (r->axes[i] == axis)
				order[n++] = i;
		}
	}
	return tn_reshape(tn_transpose(weights, order), r->a->rank, shape);
}

static tn_array *weighted(const struct tn_composed_reduction *r, const tn_array *weights, int n,
			  const int *axes, tn_array **sum)
{
	tn_dtype dtype = tn_result_type(r->a->dtype, weights->dtype);
	if (!tn_is_inexact(r->a->dtype))
		dtype = tn_result_type(dtype, TN_F64);
	weights = placed(r, weights);
	if (!weights)
		return NULL;
	const tn_array *w = tn_astype(tn_broadcast_to(weights, r->a->rank, r->a->shape), dtype);
	*sum = tn_sum(w, n, axes, r->keepdims);
	return tn_divide(tn_sum(tn_multiply(r->a, w), n, axes, r->keepdims), *sum);
}

/* The number of elements, as the sum of weights that are all 1. */
static tn_array *counted(const struct tn_composed_reduction *r, const tn_array *average)
{
	return average ? tn_array_filled(average, average->dtype, average->rank, average->shape,
					 (double)r->count)
		       : NULL;
}

tn_array *tn_average(const tn_array *a, const tn_array *weights, int n, const int *axes,
		     int keepdims, tn_array **sum_of_weights)
{
	const tn_array *both[] = {a, weights};
	struct tn_composed_reduction r;
	tn_array *results[2] = {NULL}; /* the average, the sum of weights */
	if (sum_of_weights)
		*sum_of_weights = NULL;
	if (weights && !tn_begin(2, both, "average"))
		return NULL;
	if (tn_composed_reduction_begin(&r, "average", a, n, axes, keepdims))
		return NULL;
	if (!weights) {
		results[0] = tn_mean(a, n, axes, keepdims);
		if (sum_of_weights)
			results[1] = counted(&r, results[0]);
	} else if (!check_weights(&r, weights, n)) {
		results[0] = weighted(&r, weights, n, axes, &results[1]);
	}
	tn_scope_end_all(r.runtime->context, TN_OK, sum_of_weights ? 2 : 1, results);
	if (sum_of_weights)
		*sum_of_weights = results[1];
	return results[0];
}
