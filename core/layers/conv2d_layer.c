/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution; the three products are the backend's slots or the core's compositions.
 *     db = sum over n, p, q of dy
 * They are each other's gradients: each is linear in both of its operands, and of y = conv(x, w),
 * dx = input_gradient(dy, w) and dw = weight_gradient(x, dy) any two determine the third.
 */
#include "layers/conv2d_layer.h"

#include <inttypes.h>
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "layers/conv2d.h"
#include "layers/window.h"

enum { X, W, BIAS };

struct conv_state {
	struct tn_window window;
	int64_t x_shape[4];
	int64_t w_shape[4];
};

tn_status tn_conv_check(struct tn_runtime *runtime, const char *operation,
			const struct tn_conv2d_options *o)
{
	const struct {
		const char *name;
		int64_t least;
		int64_t found[2];
	} members[] = {
		{"stride", 1, {o->stride[0], o->stride[1]}},
		{"padding", 0, {o->padding[0], o->padding[1]}},
		{"dilation", 1, {o->dilation[0], o->dilation[1]}},
		{"groups", 1, {o->groups, o->groups}},
	};
	for (size_t i = 0; i < 2 * sizeof(members) / sizeof(members[0]); i++) {
		int64_t least = members[i / 2].least, found = members[i / 2].found[i % 2];
		if (found < least || found > INT32_MAX)
			return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
					       "%s: expected %" PRId64 " to %d, found %" PRId64,
					       members[i / 2].name, least, INT32_MAX, found);
	}
	return TN_OK;
}

tn_status tn_conv_check_channels(struct tn_runtime *runtime, const char *operation,
				 const struct tn_conv2d_options *o, int64_t in_channels,
				 int64_t out_channels)
{
	if (!(in_channels % o->groups) && !(out_channels % o->groups))
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
			       "expected channels divisible by %" PRId64 " groups, found %" PRId64
			       " in and %" PRId64 " out",
			       o->groups, in_channels, out_channels);
}

struct tn_conv2d_options tn_conv1d_plane(const struct tn_conv1d_options *o)
{
	return (struct tn_conv2d_options){.struct_size = sizeof(struct tn_conv2d_options),
					  .stride = {1, o->stride},
					  .padding = {0, o->padding},
					  .dilation = {1, o->dilation},
					  .groups = o->groups};
}

struct tn_conv2d_options tn_conv_transpose2d_plane(const struct tn_conv_transpose2d_options *o)
{
	return (struct tn_conv2d_options){.struct_size = sizeof(struct tn_conv2d_options),
					  .stride = {o->stride[0], o->stride[1]},
					  .padding = {o->padding[0], o->padding[1]},
					  .dilation = {o->dilation[0], o->dilation[1]},
					  .groups = o->groups};
}

struct tn_window tn_conv2d_window(const struct tn_conv2d_options *o)
{
	return (struct tn_window){
		.stride = {o->stride[0], o->stride[1]},
		.dilation = {o->dilation[0], o->dilation[1]},
		.padding = {o->padding[0], o->padding[1], o->padding[0], o->padding[1]},
		.groups = (uint32_t)o->groups,
	};
}

/* ---- The three products, recorded ------------------------------------------------------------*/

static tn_array *convolve(const tn_array *x, const tn_array *w, const tn_array *bias,
			  const struct tn_window *window);
static tn_array *input_gradient(const tn_array *dy, const tn_array *w,
				const struct conv_state *state);
static tn_array *weight_gradient(const tn_array *x, const tn_array *dy,
				 const struct conv_state *state);

enum { DY };

/* Of dx = input_gradient(dy, w). */
static tn_status backward_of_input_gradient(struct tn_node *node, tn_array *ddx)
{
	const struct conv_state *state = node->state;
	const tn_array *dy = node->saved[DY].array, *w = node->saved[W].array;
	tn_status status = TN_OK;
	if (tn_node_wants(node, DY))
		status = tn_node_give(node, DY, convolve(ddx, w, NULL, &state->window));
	if (!status && tn_node_wants(node, W))
		status = tn_node_give(node, W, weight_gradient(ddx, dy, state));
	return status;
}

/* Of dw = weight_gradient(x, dy), whose inputs are dy and x. */
static tn_status backward_of_weight_gradient(struct tn_node *node, tn_array *ddw)
{
	const struct conv_state *state = node->state;
	const tn_array *dy = node->saved[DY].array, *x = node->saved[1].array;
	tn_status status = TN_OK;
	if (tn_node_wants(node, DY))
		status = tn_node_give(node, DY, convolve(x, ddw, NULL, &state->window));
	if (!status && tn_node_wants(node, 1))
		status = tn_node_give(node, 1, input_gradient(dy, ddw, state));
	return status;
}

static tn_array *input_gradient(const tn_array *dy, const tn_array *w,
				const struct conv_state *state)
{
	struct tn_suspension suspension = tn_tape_suspend(dy);
	return tn_tape_resume(suspension,
			      tn_conv2d_input_gradient(dy, w, state->x_shape, &state->window),
			      &(struct tn_node_request){.operation = "conv2d_input_gradient",
							.backward = backward_of_input_gradient,
							.is_twice = 1,
							.n_inputs = 2,
							.inputs = {dy, w},
							.n_saved = 2,
							.saved = {dy, w},
							.state = state,
							.state_size = sizeof(*state)});
}

static tn_array *weight_gradient(const tn_array *x, const tn_array *dy,
				 const struct conv_state *state)
{
	struct tn_suspension suspension = tn_tape_suspend(dy);
	tn_array *dw = tn_empty(tn_array_context(dy), dy->dtype, 4, state->w_shape);
	if (dw && tn_conv2d_weight_gradient(dw, x, dy, &state->window, 0))
		dw = NULL;
	return tn_tape_resume(suspension, dw,
			      &(struct tn_node_request){.operation = "conv2d_weight_gradient",
							.backward = backward_of_weight_gradient,
							.is_twice = 1,
							.n_inputs = 2,
							.inputs = {dy, x},
							.n_saved = 2,
							.saved = {dy, x},
							.state = state,
							.state_size = sizeof(*state)});
}

static tn_status backward_recorded(struct tn_node *node, tn_array *dy)
{
	const struct conv_state *state = node->state;
	const tn_array *x = node->saved[X].array, *w = node->saved[W].array;
	tn_status status = TN_OK;
	if (tn_node_wants(node, W))
		status = tn_node_give(node, W, weight_gradient(x, dy, state));
	if (!status && tn_node_wants(node, BIAS))
		status = tn_node_give(node, BIAS, tn_sum(dy, 3, (const int[]){0, 2, 3}, 0));
	if (!status && tn_node_wants(node, X))
		status = tn_node_give(node, X, input_gradient(dy, w, state));
	return status;
}

/* ---- The layer -------------------------------------------------------------------------------*/

/* dw first: dx does not read x, and takes as much memory. */
static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct conv_state *state = node->state;
	const tn_array *x = node->saved[X].array, *w = node->saved[W].array;
	tn_status status = TN_OK;
	if (tn_node_records(node))
		return backward_recorded(node, dy);
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

static tn_array *convolve(const tn_array *x, const tn_array *w, const tn_array *bias,
			  const struct tn_window *window)
{
	struct conv_state state = {.window = *window};
	struct tn_suspension suspension = tn_tape_suspend(x);
	if (!suspension.runtime)
		return NULL;
	tn_array *y = tn_conv2d_forward(x, w, bias, window);
	if (y) {
		memcpy(state.x_shape, x->shape, sizeof(state.x_shape));
		memcpy(state.w_shape, w->shape, sizeof(state.w_shape));
	}
	return tn_tape_resume(suspension, y,
			      &(struct tn_node_request){.operation = "conv2d",
							.backward = backward,
							.is_twice = 1,
							.n_inputs = 3,
							.inputs = {x, w, bias},
							.n_saved = 2,
							.saved = {x, w},
							.state = &state,
							.state_size = sizeof(state)});
}

tn_array *tn_conv2d(const tn_array *x, const tn_array *w, const tn_array *bias,
		    const struct tn_conv2d_options *options)
{
	struct tn_conv2d_options o = tn_conv2d_defaults();
	if (tn_arrays_given(2, (const tn_array *[]){x, w}, "conv2d") ||
	    tn_runtime_take(x->runtime, &o, sizeof(o), options, "struct tn_conv2d_options",
			    "conv2d") ||
	    tn_conv_check(x->runtime, "conv2d", &o))
		return NULL;
	const struct tn_window window = tn_conv2d_window(&o);
	return convolve(x, w, bias, &window);
}

/* ---- For layers made of it -------------------------------------------------------------------*/

tn_array *tn_conv2d_convolve(const tn_array *x, const tn_array *w, const tn_array *bias,
			     const struct tn_window *window)
{
	return convolve(x, w, bias, window);
}

tn_array *tn_conv2d_differentiate(const tn_array *x, const tn_array *dy, const int64_t w_shape[4],
				  const struct tn_window *window)
{
	struct conv_state state = {.window = *window};
	memcpy(state.x_shape, x->shape, sizeof(state.x_shape));
	memcpy(state.w_shape, w_shape, sizeof(state.w_shape));
	return weight_gradient(x, dy, &state);
}
