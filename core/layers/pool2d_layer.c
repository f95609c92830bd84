/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pools.  A max pool saves the index of each window's maximum, an average pool nothing.
 */
#include <string.h>

#include "array/array.h"
#include "autograd/node.h"
#include "layers/pool2d.h"
#include "layers/window.h"

struct pool_state {
	struct tn_window window;
	int64_t x_shape[4];
};

static struct tn_window window_of(const struct tn_pool2d_options *o, uint32_t kind)
{
	return (struct tn_window){
		.kernel = {o->kernel[0], o->kernel[1]},
		.stride = {o->stride[0] ? o->stride[0] : o->kernel[0],
			   o->stride[1] ? o->stride[1] : o->kernel[1]},
		.dilation = {1, 1},
		.padding = {o->padding[0], o->padding[1], o->padding[0], o->padding[1]},
		.groups = 1,
		.kind = kind,
		.count_padding = !o->exclude_padding,
	};
}

static tn_array *pool2d(const char *operation, const tn_array *x, const struct tn_window *window);

/* The elements of the planes of `a` that the index of a maximum points to. */
static tn_array *take_maxima(const tn_array *a, const tn_array *index)
{
	const int64_t planes[] = {a->shape[0], a->shape[1], a->shape[2] * a->shape[3]};
	const int64_t places[] = {planes[0], planes[1], index->shape[2] * index->shape[3]};
	tn_array *taken =
		tn_take_along_axis(tn_reshape(a, 3, planes), tn_reshape(index, 3, places), 2);
	return tn_reshape(taken, 4, index->shape);
}

/* dx is linear in dy: an average gives back the average of its gradient, a maximum the elements
 * where it came from. */
static tn_status pool_again(struct tn_node *node, tn_array *ddx)
{
	const struct pool_state *state = node->state;
	const tn_array *index = node->saved[0].array;
	return tn_node_give(node, 0,
			    index ? take_maxima(ddx, index)
				  : pool2d(node->operation, ddx, &state->window));
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct pool_state *state = node->state;
	const tn_array *index = node->n_saved ? node->saved[0].array : NULL;
	struct tn_suspension suspension = tn_tape_suspend(dy);
	tn_array *dx = tn_pool2d_backward(dy, index, state->x_shape, &state->window);
	return tn_node_give(
		node, 0,
		tn_tape_resume(suspension, dx,
			       &(struct tn_node_request){.operation = node->operation,
							 .backward = pool_again,
							 .is_twice = 1,
							 .n_inputs = 1,
							 .inputs = {dy},
							 .n_saved = 1,
							 .saved = {index},
							 .state = state,
							 .state_size = sizeof(*state)}));
}

static tn_array *pool2d(const char *operation, const tn_array *x, const struct tn_window *window)
{
	struct pool_state state = {.window = *window};
	int is_maximum = window->kind == TN_POOL_MAX;
	struct tn_suspension suspension = tn_tape_suspend(x);
	if (!suspension.runtime)
		return NULL;
	/* Only backward needs the index. */
	tn_array *index = NULL;
	int wants_index = is_maximum && suspension.recorder;
	tn_array *y = tn_pool2d_forward(x, &state.window, wants_index ? &index : NULL);
	if (y)
		memcpy(state.x_shape, x->shape, sizeof(state.x_shape));
	y = tn_tape_resume(suspension, y,
			   &(struct tn_node_request){.operation = operation,
						     .backward = backward,
						     .is_twice = 1,
						     .n_inputs = 1,
						     .inputs = {x},
						     .n_saved = is_maximum,
						     .saved = {index},
						     .state = &state,
						     .state_size = sizeof(state)});
	tn_array_destroy(index);
	return y;
}

static tn_array *pool2d_of(const char *operation, const tn_array *x,
			   const struct tn_pool2d_options *options, uint32_t kind)
{
	struct tn_pool2d_options o = tn_pool2d_defaults();
	if (!x || tn_runtime_take(x->runtime, &o, sizeof(o), options, "struct tn_pool2d_options",
				  operation))
		return NULL;
	const struct tn_window window = window_of(&o, kind);
	return pool2d(operation, x, &window);
}

tn_array *tn_max_pool2d(const tn_array *x, const struct tn_pool2d_options *options)
{
	return pool2d_of("max_pool2d", x, options, TN_POOL_MAX);
}

tn_array *tn_avg_pool2d(const tn_array *x, const struct tn_pool2d_options *options)
{
	return pool2d_of("avg_pool2d", x, options, TN_POOL_AVERAGE);
}

tn_array *tn_flatten(const tn_array *x, int start)
{
	int64_t shape[TN_MAX_RANK], size = 1;
	if (!x || tn_runtime_ready(x->runtime))
		return NULL;
	int from = start < 0 ? start + x->rank : start;
	if (from < 0 || from > x->rank || from >= TN_MAX_RANK) {
		tn_runtime_fail(x->runtime, TN_INVALID_ARGUMENT, "flatten",
				"start: expected an axis of x, found %d for rank %d", start,
				x->rank);
		return NULL;
	}
	memcpy(shape, x->shape, (size_t)from * sizeof(int64_t));
	for (int i = from; i < x->rank; i++)
		size *= x->shape[i];
	shape[from] = size;
	return tn_reshape(x, from + 1, shape);
}
