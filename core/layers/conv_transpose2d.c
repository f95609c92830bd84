/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Transposed convolution: the input gradient of the convolution with the same weights and window,
 * whose own gradients are that convolution and its weight gradient, with x and dy exchanged.
 */
#include <inttypes.h>
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "layers/conv2d.h"
#include "layers/conv2d_layer.h"
#include "layers/window.h"

enum { X, W, BIAS };

static tn_status backward_recorded(struct tn_node *node, tn_array *dy)
{
	const struct tn_window *window = node->state;
	const tn_array *x = node->saved[X].array, *w = node->saved[W].array;
	tn_status status = TN_OK;
	if (tn_node_wants(node, W))
		status = tn_node_give(node, W, tn_conv2d_differentiate(dy, x, w->shape, window));
	if (!status && tn_node_wants(node, BIAS))
		status = tn_node_give(node, BIAS, tn_sum(dy, 3, (const int[]){0, 2, 3}, 0));
	if (!status && tn_node_wants(node, X))
		status = tn_node_give(node, X, tn_conv2d_convolve(dy, w, NULL, window));
	return status;
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_window *window = node->state;
	const tn_array *x = node->saved[X].array, *w = node->saved[W].array;
	tn_status status = TN_OK;
	if (tn_node_records(node))
		return backward_recorded(node, dy);
	if (tn_node_wants(node, W)) {
		int accumulate = 0;
		tn_array *target = tn_node_target(node, W, &accumulate);
		tn_array *dw = target ? target
				      : tn_empty(tn_array_context(w), w->dtype, w->rank, w->shape);
		status = tn_conv2d_weight_gradient(dw, dy, x, window, accumulate);
		if (target)
			status = tn_node_wrote(node, W, status);
		else if (!status)
			status = tn_node_give(node, W, dw);
	}
	tn_node_drop(node, X);
	if (!status && tn_node_wants(node, BIAS))
		status = tn_node_give(node, BIAS, tn_sum(dy, 3, (const int[]){0, 2, 3}, 0));
	if (!status && tn_node_wants(node, X))
		status = tn_node_give(node, X, tn_conv2d_forward(dy, w, NULL, window));
	return status;
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_shapes(const tn_array *x, const tn_array *w, const tn_array *bias,
			      int64_t groups)
{
	struct tn_runtime *rt = x->runtime;
	if (x->rank != 4 || w->rank != 4)
		return tn_runtime_fail(rt, TN_SHAPE, "conv_transpose2d",
				       "expected x (N, C, H, W) and w (C, O / groups, R, S), found "
				       "ranks %d and %d",
				       x->rank, w->rank);
	if (x->shape[1] != w->shape[0] || x->shape[1] % groups)
		return tn_runtime_fail(rt, TN_SHAPE, "conv_transpose2d",
				       "expected x and w of equal channels, divisible by %" PRId64
				       " groups, found %" PRId64 " and %" PRId64,
				       groups, x->shape[1], w->shape[0]);
	if (bias && (bias->rank != 1 || bias->shape[0] != w->shape[1] * groups))
		return tn_runtime_fail(rt, TN_SHAPE, "conv_transpose2d",
				       "bias: expected %" PRId64
				       " elements, found rank %d, %" PRId64 " elements",
				       w->shape[1] * groups, bias->rank, bias->size);
	return TN_OK;
}

/* (length - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1 */
static tn_status find_length(const tn_array *x, const tn_array *w, const struct tn_window *window,
			     const int64_t *output_padding, int axis, int64_t *length)
{
	struct tn_runtime *rt = x->runtime;
	int64_t stride = window->stride[axis], dilation = window->dilation[axis];
	int64_t padding = window->padding[axis], more = output_padding[axis];
	int64_t n = x->shape[2 + axis], kernel = w->shape[2 + axis];
	if (more < 0 || more >= stride)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "conv_transpose2d",
				       "output_padding: expected 0 to %" PRId64
				       ", below the stride, found %" PRId64,
				       stride - 1, more);
	if (n <= INT32_MAX && kernel >= 1 && kernel <= INT32_MAX)
		*length = (n - 1) * stride - 2 * padding + dilation * (kernel - 1) + more + 1;
	if (*length >= 1)
		return TN_OK;
	return tn_runtime_fail(rt, TN_SHAPE, "conv_transpose2d",
			       "a length of %" PRId64 " and a kernel of %" PRId64
			       " (stride %" PRId64 ", padding %" PRId64 ", dilation %" PRId64
			       ", output_padding %" PRId64 ") give no output",
			       n, kernel, stride, padding, dilation, more);
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static tn_array *forward(const tn_array *x, const tn_array *w, const tn_array *bias,
			 const int64_t *shape, const struct tn_window *window)
{
	tn_array *y = tn_conv2d_input_gradient(x, w, shape, window);
	if (!y || !bias)
		return y;
	tn_array *over_channels = tn_reshape(bias, 4, (const int64_t[]){1, bias->size, 1, 1});
	tn_status status =
		over_channels ? tn_add_into(y, y, over_channels) : tn_runtime_status(x->runtime);
	tn_array_destroy(over_channels);
	if (!status)
		return y;
	tn_array_destroy(y);
	return NULL;
}

tn_array *tn_conv_transpose2d(const tn_array *x, const tn_array *w, const tn_array *bias,
			      const struct tn_conv_transpose2d_options *options)
{
	struct tn_conv_transpose2d_options o = tn_conv_transpose2d_defaults();
	if (tn_arrays_given(2, (const tn_array *[]){x, w}, "conv_transpose2d") ||
	    tn_runtime_take(x->runtime, &o, sizeof(o), options,
			    "struct tn_conv_transpose2d_options", "conv_transpose2d"))
		return NULL;
	const struct tn_conv2d_options plane = tn_conv_transpose2d_plane(&o);
	if (tn_conv_check(x->runtime, "conv_transpose2d", &plane) ||
	    check_shapes(x, w, bias, o.groups))
		return NULL;
	const struct tn_window window = tn_conv2d_window(&plane);
	int64_t shape[] = {x->shape[0], w->shape[1] * o.groups, 0, 0};
	for (int axis = 0; axis < 2; axis++) {
		if (find_length(x, w, &window, o.output_padding, axis, &shape[2 + axis]))
			return NULL;
	}
	struct tn_suspension suspension = tn_tape_suspend(x);
	if (!suspension.runtime)
		return NULL;
	return tn_tape_resume(suspension, forward(x, w, bias, shape, &window),
			      &(struct tn_node_request){.operation = "conv_transpose2d",
							.backward = backward,
							.is_twice = 1,
							.n_inputs = 3,
							.inputs = {x, w, bias},
							.n_saved = 2,
							.saved = {x, w},
							.state = &window,
							.state_size = sizeof(window)});
}
