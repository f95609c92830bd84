/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Layer norm: x is viewed as rows; the elements of a row share their statistics.
 */
#include <string.h>

#include "array/array.h"
#include "autograd/node.h"
#include "layers/norm.h"
#include "layers/norm_backward.h"

static tn_status check_parameter(const tn_array *x, const char *which, const tn_array *w,
				 int n_axes)
{
	const int64_t *shape = x->shape + x->rank - n_axes;
	if (!w || (w->rank == n_axes && !memcmp(w->shape, shape, (size_t)n_axes * sizeof(*shape))))
		return TN_OK;
	return tn_runtime_fail(
		x->runtime, TN_SHAPE, "layer_norm",
		"%s: expected the shape of x's last %d axes (%lld elements), found rank "
		"%d, %lld elements",
		which, n_axes, (long long)shape[0], w->rank, (long long)w->size);
}

static tn_array *flat(const tn_array *w)
{
	return w ? tn_reshape(w, 1, (const int64_t[]){-1}) : NULL;
}

tn_array *tn_layer_norm(const tn_array *x, const tn_array *w, const tn_array *b, int n_axes,
			double epsilon)
{
	if (tn_norm_given(x, w, b, "layer_norm"))
		return NULL;
	if (n_axes < 1 || n_axes > x->rank) {
		tn_runtime_fail(x->runtime, TN_INVALID_ARGUMENT, "layer_norm",
				"expected 1 to %d axes, found %d", x->rank, n_axes);
		return NULL;
	}
	if (check_parameter(x, "w", w, n_axes) || check_parameter(x, "b", b, n_axes))
		return NULL;
	struct tn_suspension suspension = tn_tape_suspend(x);
	int64_t shape[2] = {1, 1}; /* (rows, C): C the elements of the normalised axes */
	for (int i = 0; i < x->rank; i++)
		shape[i >= x->rank - n_axes] *= x->shape[i];
	tn_array *rows = tn_reshape(x, 2, shape), *flat_w = flat(w), *flat_b = flat(b);
	struct tn_norm_call call = {
		.kind = TN_NORM_LAYER, .epsilon = epsilon, .x = rows, .w = flat_w, .b = flat_b};
	int is_ready = rows && !flat_w == !w && !flat_b == !b;
	tn_array *normal = is_ready ? tn_norm_call_forward(&call) : NULL;
	tn_array *y = normal ? tn_reshape(normal, x->rank, x->shape) : NULL;
	y = tn_norm_record(suspension, "layer_norm", &call, &(struct tn_norm_inputs){x, w, b}, y);
	tn_array *const temporaries[] = {rows, flat_w, flat_b, normal, call.mean, call.rstd};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_destroy(temporaries[i]);
	return y;
}
