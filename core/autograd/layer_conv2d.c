/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution; the three products are the backend's slots or the core's compositions.
 *     db = sum over n, p, q of dy
 */
#include "autograd/layer_conv2d.h"

#include <string.h>

#include "array/array.h"
#include "autograd/node.h"
#include "ops/conv2d.h"
#include "ops/window.h"

enum { X, W, BIAS };

struct conv_state {
	struct tn_window window;
	int64_t x_shape[4];
};

static int64_t or_default(int64_t value, int64_t otherwise)
{
	return value ? value : otherwise;
}

struct tn_window tn_conv2d_window(const struct tn_conv2d_options *o)
{
	return (struct tn_window){
		.stride = {or_default(o->stride[0], 1), or_default(o->stride[1], 1)},
		.dilation = {or_default(o->dilation[0], 1), or_default(o->dilation[1], 1)},
		.padding = {o->padding[0], o->padding[1], o->padding[0], o->padding[1]},
		.groups = (uint32_t)or_default(o->groups, 1),
	};
}

/* dw first: dx does not read x, and takes as much memory. */
static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct conv_state *state = node->state;
	const tn_array *x = node->saved[X].array, *w = node->saved[W].array;
	tn_status status = TN_OK;
	if (tn_node_wants(node, W)) {
		int accumulate = 0;
		tn_array *target = tn_node_target(node, W, &accumulate);
		tn_array *dw = target ? target
				      : tn_empty(tn_array_context(w), w->dtype, w->rank, w->shape);
		status = tn_conv2d_weight_gradient(dw, x, dy, &state->window, accumulate);
		if (target)
			status = tn_node_wrote(node, W, status);
		else if (!status)
			status = tn_node_give(node, W, dw);
	}
	tn_node_drop(node, X);
	if (!status && tn_node_wants(node, BIAS))
		status = tn_node_give(node, BIAS, tn_sum(dy, 3, (const int[]){0, 2, 3}, 0));
	if (!status && tn_node_wants(node, X))
		status = tn_node_give(
			node, X, tn_conv2d_input_gradient(dy, w, state->x_shape, &state->window));
	return status;
}

tn_array *tn_conv2d(const tn_array *x, const tn_array *w, const tn_array *bias,
		    const struct tn_conv2d_options *options)
{
	struct tn_conv2d_options o = {0};
	if (!x || !w ||
	    tn_runtime_take(x->runtime, &o, sizeof(o), options, "struct tn_conv2d_options",
			    "conv2d"))
		return NULL;
	struct conv_state state = {.window = tn_conv2d_window(&o)};
	struct tn_suspension suspension = tn_tape_suspend(x);
	if (!suspension.runtime)
		return NULL;
	tn_array *y = tn_conv2d_forward(x, w, bias, &state.window);
	if (y)
		memcpy(state.x_shape, x->shape, sizeof(state.x_shape));
	return tn_tape_resume(suspension, y,
			      &(struct tn_node_request){.operation = "conv2d",
							.backward = backward,
							.n_inputs = 3,
							.inputs = {x, w, bias},
							.n_saved = 2,
							.saved = {x, w},
							.state = &state,
							.state_size = sizeof(state)});
}
