/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parts of the convolution for layers that are made of it.
 */
#ifndef TN_LAYERS_CONV2D_LAYER_H
#define TN_LAYERS_CONV2D_LAYER_H

#include <tenon/autograd.h>

#include "array/runtime.h"
#include "layers/window.h"

/* TN_INVALID_ARGUMENT, kept: a member is out of range.  struct_size is not read. */
tn_status tn_conv_check(struct tn_runtime *runtime, const char *operation,
			const struct tn_conv2d_options *options);
/* The same: the groups do not divide the channels of the input and of the output. */
tn_status tn_conv_check_channels(struct tn_runtime *runtime, const char *operation,
				 const struct tn_conv2d_options *options, int64_t in_channels,
				 int64_t out_channels);
/* The same convolution over planes of height 1. */
struct tn_conv2d_options tn_conv1d_plane(const struct tn_conv1d_options *options);
/* The window of a transposed convolution. */
struct tn_conv2d_options
tn_conv_transpose2d_plane(const struct tn_conv_transpose2d_options *options);
/* struct_size is not read. */
struct tn_window tn_conv2d_window(const struct tn_conv2d_options *options);
/* The convolution, and the gradient of its w (of w_shape), both recorded. */
tn_array *tn_conv2d_convolve(const tn_array *x, const tn_array *w, const tn_array *bias,
			     const struct tn_window *window);
tn_array *tn_conv2d_differentiate(const tn_array *x, const tn_array *dy, const int64_t w_shape[4],
				  const struct tn_window *window);

#endif
