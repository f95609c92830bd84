/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Dropout of whole channels, and of whole samples: x times a mask with one element for each part.
 */
#include <tenon/autograd.h>

#include "array/array.h"
#include "layers/check_floating.h"

/* Drops parts of x, each with its own index on the first n_axes axes. */
static tn_array *drop_parts(const char *operation, const tn_array *x, int n_axes, double p)
{
	if (!x || tn_runtime_ready(x->runtime))
		return NULL;
	struct tn_runtime *rt = x->runtime;
	if (!(p >= 0.0 && p <= 1.0)) {
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				"expected p in [0, 1], found %g", p);
		return NULL;
	}
	if (x->rank < n_axes) {
		tn_runtime_fail(rt, TN_SHAPE, operation, "x: expected %s, found rank %d",
				n_axes == 1 ? "(N, ...)" : "(N, C, ...)", x->rank);
		return NULL;
	}
	if (tn_check_floating(operation, x))
		return NULL;
	if (p == 0.0)
		return tn_reshape(x, x->rank, x->shape);
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < x->rank; i++)
		shape[i] = i < n_axes ? x->shape[i] : 1;
	struct tn_device *current = rt->device;
	rt->device = tn_array_home(x);
	tn_array *ones = tn_ones(tn_array_context(x), x->dtype, x->rank, shape);
	rt->device = current;
	tn_array *mask = tn_dropout(ones, p);
	tn_array *y = tn_multiply(x, mask);
	tn_array_destroy(ones);
	tn_array_destroy(mask);
	return y;
}

tn_array *tn_dropout2d(const tn_array *x, double p)
{
	return drop_parts("dropout2d", x, 2, p);
}

tn_array *tn_stochastic_depth(const tn_array *x, double p)
{
	return drop_parts("stochastic_depth", x, 1, p);
}
