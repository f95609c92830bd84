/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The layer operations of the ABI on arrays: each takes the route (native slot, lent, composed, host)
 * and records nothing: core/autograd builds differentiable layers from them.  Functions that make
 * arrays follow the rules of <tenon/array.h>; formulas and shapes are those of <tenon/backend.h>.
 */
#ifndef TN_OPS_LAYERS_H
#define TN_OPS_LAYERS_H

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
/* What a convolution goes on with; zeros: nothing.  Where the backend does not do it in its call, a
 * step of its own does. */
struct tn_conv2d_finish {
	const tn_array *residual; /* like y */
	uint32_t activation;      /* TN_ACTIVATION_..., of (the sum + bias + residual) */
	const tn_array *packed;   /* w, as tn_conv2d_prepack made it for such a call */
};
tn_array *tn_conv2d_forward_finished(const tn_array *x, const tn_array *w, const tn_array *bias,
				     const struct tn_window *window,
				     const struct tn_conv2d_finish *finish);
/* Weights in the form that the device's own backend reads fastest, for forwards with an x of that shape
 * and those strides: an array of bytes, or NULL in *packed where the backend has none.  It is the
 * caller's to drop it when w changes. */
tn_status tn_conv2d_prepack(const tn_array *x, const tn_array *w, const tn_array *bias,
			    const struct tn_window *window, const struct tn_conv2d_finish *finish,
			    tn_array **packed);
tn_array *tn_conv2d_input_gradient(const tn_array *dy, const tn_array *w, const int64_t x_shape[4],
				   const struct tn_window *window);
/* dw := or += (accumulate) */
tn_status tn_conv2d_weight_gradient(tn_array *dw, const tn_array *x, const tn_array *dy,
				    const struct tn_window *window, int accumulate);

/* c := activation(op(a) op(b) + bias); bias may be NULL, else it has as many elements as c's last axis. */
tn_status tn_matmul_epilogue(tn_array *c, const tn_array *a, int transpose_a, const tn_array *b,
			     int transpose_b, const tn_array *bias, uint32_t activation);

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

enum { TN_NORM_BATCH = 0, TN_NORM_LAYER = 1, TN_NORM_GROUP = 2 };

/* A norm with all that it may go on with.  Pointers that are not used are NULL.  w and b may both be
 * NULL. */
struct tn_norm_call {
	int kind;
	int64_t groups; /* of group norm */
	double epsilon;
	int use_statistics;  /* mean and rstd are given, and constants */
	uint32_t activation; /* TN_ACTIVATION_NONE, RELU or RELU6 */
	const tn_array *x;
	const tn_array *w;
	const tn_array *b;
	tn_array *mean; /* forward makes them unless they are given */
	tn_array *rstd;
	const tn_array *residual; /* forward: y = activation(norm + residual) */
	/* Backward: */
	const tn_array *dy;
	const tn_array *result; /* the forward's y; needed with an activation */
	tn_array *dw;           /* both or none: written, or added to with accumulate */
	tn_array *db;
	int accumulate;
	int wants_dresidual;
	tn_array *dresidual; /* made: what flows on to the residual */
};
tn_array *tn_norm_call_forward(struct tn_norm_call *call);  /* y */
tn_array *tn_norm_call_backward(struct tn_norm_call *call); /* dx */

/* The same without residual and activation.  Statistics are made, unless use_statistics is 1 (batch
 * norm at inference). */
tn_array *tn_norm_forward(int kind, const tn_array *x, const tn_array *w, const tn_array *b,
			  double epsilon, int use_statistics, tn_array **mean, tn_array **rstd);
tn_array *tn_norm_backward(int kind, const tn_array *dy, const tn_array *x, const tn_array *w,
			   const tn_array *mean, const tn_array *rstd, int use_statistics,
			   tn_array *dw, tn_array *db, int accumulate);

#endif
