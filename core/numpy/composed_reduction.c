/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See composed_reduction.h.
 */
#include "numpy/composed_reduction.h"

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/reduce_axes.h"

tn_status tn_composed_reduction_begin(struct tn_composed_reduction *r, const char *operation,
				      const tn_array *a, int n, const int *axes, int keepdims)
{
	*r = (struct tn_composed_reduction){
		.operation = operation, .a = a, .keepdims = keepdims != 0};
	r->runtime = tn_begin(1, &a, operation);
	if (!r->runtime)
		return TN_PENDING_ERROR;
	r->n = n;
	tn_status status = tn_axes_mask(a, operation, &r->n, axes, r->axes, &r->mask);
	if (status)
		return status;
	r->count = tn_axes_shape(a, r->mask, r->keepdims, &r->rank, r->shape);
	return tn_scope_begin(r->runtime->context);
}

tn_status tn_composed_reduction_check_order(const struct tn_composed_reduction *r)
{
	char text[TN_SHAPE_TEXT];
	if (tn_is_complex(r->a->dtype))
		return tn_runtime_fail(r->runtime, TN_DTYPE, r->operation,
				       "a: expected real numbers, found %s",
				       tn_dtype_name(r->a->dtype));
	if (r->count == 0)
		return tn_runtime_fail(r->runtime, TN_SHAPE, r->operation,
				       "shape %s: an axis of length 0 has no extreme element",
				       tn_array_text(r->a, text));
	return TN_OK;
}

tn_array *tn_composed_reduction_result(const struct tn_composed_reduction *r, const tn_array *a)
{
	return tn_reshape(a, r->rank, r->shape);
}
