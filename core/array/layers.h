/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The layer operations of the ABI on arrays: each takes the route (native slot, lent, composed, host)
 * and records nothing: core/autograd builds differentiable layers from them.  Functions that make
 * arrays follow the rules of <tenon/array.h>; formulas and shapes are those of <tenon/backend.h>.
 */
#ifndef TN_ARRAY_LAYERS_H
#define TN_ARRAY_LAYERS_H

#include <tenon/array.h>

/* Zero is the ordinary value: a convolution's strides, dilations and groups are then 1, a pooling's
 * stride is its kernel. */
struct tn_window {
	int64_t kernel[2]; /* pooling */
	int64_t stride[2];
	int64_t dilation[2]; /* convolution */
	int64_t padding[4];  /* top, left, bottom, right */
	uint32_t groups;     /* convolution */
	uint32_t kind;       /* pooling: TN_POOL_MAX or TN_POOL_AVERAGE */
	uint32_t count_padding;
};

tn_array *tn_conv2d_forward(const tn_array *x, const tn_array *w, const tn_array *bias,
			    const struct tn_window *window);
tn_array *tn_conv2d_input_gradient(const tn_array *dy, const tn_array *w, const int64_t x_shape[4],
				   const struct tn_window *window);
/* dw := or += (accumulate) */
tn_status tn_conv2d_weight_gradient(tn_array *dw, const tn_array *x, const tn_array *dy,
				    const struct tn_window *window, int accumulate);

/* `index` may be NULL (not wanted); for max it receives an i32 array. */
tn_array *tn_pool2d_forward(const tn_array *x, const struct tn_window *window, tn_array **index);
tn_array *tn_pool2d_backward(const tn_array *dy, const tn_array *index, const int64_t x_shape[4],
			     const struct tn_window *window);

tn_array *tn_softmax_forward(const tn_array *x, int axis, int logarithm);
tn_array *tn_softmax_backward(const tn_array *y, const tn_array *dy, int axis, int logarithm);

/* loss and lse have one element a row. */
tn_status tn_cross_entropy_forward(const tn_array *x, const tn_array *labels, int32_t ignore_label,
				   tn_array **loss, tn_array **lse);
tn_array *tn_cross_entropy_backward(const tn_array *x, const tn_array *labels, const tn_array *lse,
				    const tn_array *dloss, int32_t ignore_label);

/* kind: 0 batch norm, 1 layer norm.  w and b may both be NULL.  Statistics are made, unless
 * use_statistics is 1 (batch norm at inference). */
tn_array *tn_norm_forward(int kind, const tn_array *x, const tn_array *w, const tn_array *b,
			  double epsilon, int use_statistics, tn_array **mean, tn_array **rstd);
/* dw and db may both be NULL; they are written, or added to with accumulate.  use_statistics: mean and
 * rstd were given to the forward, and are constants.  Returns dx. */
tn_array *tn_norm_backward(int kind, const tn_array *dy, const tn_array *x, const tn_array *w,
			   const tn_array *mean, const tn_array *rstd, int use_statistics,
			   tn_array *dw, tn_array *db, int accumulate);

#endif
