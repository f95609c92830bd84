/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution over one axis: that of a picture with a height of 1.
 */
#include <tenon/autograd.h>

#include "array/array.h"
#include "array/make.h"
#include "layers/conv2d_layer.h"

tn_array *tn_conv1d(const tn_array *x, const tn_array *w, const tn_array *bias,
		    const struct tn_conv1d_options *options)
{
	struct tn_conv1d_options o = tn_conv1d_defaults();
	if (tn_arrays_given(2, (const tn_array *[]){x, w}, "conv1d") ||
	    tn_runtime_take(x->runtime, &o, sizeof(o), options, "struct tn_conv1d_options",
			    "conv1d"))
		return NULL;
	if (x->rank != 3 || w->rank != 3) {
		tn_runtime_fail(x->runtime, TN_SHAPE, "conv1d",
				"expected x (N, C, L) and w (O, C / groups, K), found ranks %d "
				"and %d",
				x->rank, w->rank);
		return NULL;
	}
	const struct tn_conv2d_options plane = tn_conv1d_plane(&o);
	if (tn_conv_check(x->runtime, "conv1d", &plane))
		return NULL;
	tn_array *lines = tn_expand_dims(x, 2), *kernels = tn_expand_dims(w, 2);
	tn_array *planes = tn_conv2d(lines, kernels, bias, &plane);
	tn_array *y = tn_squeeze(planes, 2);
	tn_array_destroy(lines);
	tn_array_destroy(kernels);
	tn_array_destroy(planes);
	return y;
}
