/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradients of views and copies: the elements of dy move back to their origin.
 */
#include "autograd/gradient_view.h"

#include <tenon/manipulate.h>

#include "array/array.h"
#include "autograd/gradient_reduce.h"
#include "autograd/gradients.h"
#include "autograd/node.h"
#include "base/dtype.h"
#include "ops/take.h"
#include "ops/take_along.h"

static tn_array *zeros_like_input(const struct tn_recorded *recorded, const tn_array *dy)
{
	return tn_zeros(tn_array_context(dy), recorded->dtype, recorded->rank, recorded->shape);
}

/* Ends a backward that scattered dy into g with recording suspended, and gives g.  Its node's
 * gradient is taken from the same places. */
static tn_status give_scattered(struct tn_suspension suspension, struct tn_node *node, tn_array *dy,
				tn_array *g, tn_status status, const struct tn_node_request *gather)
{
	struct tn_node_request request = *gather;
	request.operation = node->operation;
	request.is_twice = 1;
	request.n_inputs = 1;
	request.inputs[0] = dy;
	g = tn_tape_resume(suspension, status ? NULL : g, &request);
	return g ? tn_node_give(node, 0, g) : tn_runtime_status(tn_node_runtime(node));
}

tn_status tn_reshape_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	return tn_node_give(node, 0, tn_reshape(dy, recorded->rank, recorded->shape));
}

tn_status tn_transpose_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	int inverse[TN_MAX_RANK];
	for (int i = 0; i < recorded->rank; i++)
		inverse[recorded->record.permutation[i]] = i;
	return tn_node_give(node, 0, tn_transpose(dy, inverse));
}

struct slice {
	int axis;
	int64_t start, stop, step;
};

static tn_status slice_again(struct tn_node *node, tn_array *ddx)
{
	const struct slice *s = node->state;
	return tn_node_give(node, 0, tn_slice(ddx, s->axis, s->start, s->stop, s->step));
}

tn_status tn_slice_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	const struct tn_record *record = &recorded->record;
	int64_t stop = record->start + dy->shape[record->axis] * record->step;
	/* A stop below 0 would count from the end. */
	const struct slice slice = {record->axis, record->start, stop < 0 ? INT64_MIN : stop,
				    record->step};
	struct tn_suspension suspension = tn_tape_suspend(dy);
	tn_array *g = zeros_like_input(recorded, dy);
	tn_array *place = tn_slice(g, slice.axis, slice.start, slice.stop, slice.step);
	tn_status status = place ? tn_assign(place, dy) : TN_OUT_OF_MEMORY;
	return give_scattered(suspension, node, dy, g, status,
			      &(struct tn_node_request){.backward = slice_again,
							.state = &slice,
							.state_size = sizeof(slice)});
}

struct diagonal {
	int64_t offset;
	int axes[2];
};

static tn_status diagonal_again(struct tn_node *node, tn_array *ddx)
{
	const struct diagonal *d = node->state;
	return tn_node_give(node, 0, tn_diagonal(ddx, d->offset, d->axes[0], d->axes[1]));
}

tn_status tn_diagonal_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	const struct tn_record *record = &recorded->record;
	const struct diagonal d = {record->start, {record->permutation[0], record->permutation[1]}};
	struct tn_suspension suspension = tn_tape_suspend(dy);
	tn_array *g = zeros_like_input(recorded, dy);
	tn_array *place = tn_diagonal(g, d.offset, d.axes[0], d.axes[1]);
	tn_status status = place ? tn_assign(place, dy) : TN_OUT_OF_MEMORY;
	return give_scattered(suspension, node, dy, g, status,
			      &(struct tn_node_request){.backward = diagonal_again,
							.state = &d,
							.state_size = sizeof(d)});
}

tn_status tn_broadcast_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	return tn_node_give(node, 0, tn_sum_to_shape(dy, recorded->rank, recorded->shape));
}

/* Windows overlap, so each offset within the window is added separately: for offset k,
 * g[i + k] += dy[i, k]. */
static tn_status add_window_place(tn_array *g, tn_array *dy, const struct tn_record *record,
				  const int64_t *offset)
{
	int first_window_axis = dy->rank - record->n_axes;
	tn_array *part = dy, *place = g;
	for (int i = record->n_axes - 1; i >= 0; i--) {
		part = tn_slice(part, first_window_axis + i, offset[i], offset[i] + 1, 1);
		part = tn_squeeze(part, first_window_axis + i);
	}
	for (int i = 0; i < record->n_axes; i++) {
		int axis = record->permutation[i];
		place = tn_slice(place, axis, offset[i], offset[i] + dy->shape[axis], 1);
	}
	if (!place || !part)
		return TN_OUT_OF_MEMORY;
	return tn_add_into(place, place, part);
}

struct windows {
	int n;
	int axes[TN_MAX_RANK];
	int64_t window[TN_MAX_RANK];
};

static tn_status window_again(struct tn_node *node, tn_array *ddx)
{
	const struct windows *w = node->state;
	return tn_node_give(node, 0, tn_sliding_window_view(ddx, w->n, w->window, w->axes));
}

tn_status tn_window_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	const struct tn_record *record = &recorded->record;
	struct windows windows = {.n = record->n_axes};
	int64_t offset[TN_MAX_RANK] = {0};
	int axis = record->n_axes - 1;
	for (int i = 0; i < record->n_axes; i++) {
		windows.axes[i] = record->permutation[i];
		windows.window[i] = dy->shape[dy->rank - record->n_axes + i];
	}
	struct tn_suspension suspension = tn_tape_suspend(dy);
	tn_array *g = zeros_like_input(recorded, dy);
	tn_status status = g ? TN_OK : TN_OUT_OF_MEMORY;
	while (axis >= 0 && !status) {
		status = add_window_place(g, dy, record, offset);
		/* The next offset, as an odometer. */
		for (axis = record->n_axes - 1; axis >= 0; axis--) {
			if (++offset[axis] < windows.window[axis])
				break;
			offset[axis] = 0;
		}
	}
	return give_scattered(suspension, node, dy, g, status,
			      &(struct tn_node_request){.backward = window_again,
							.state = &windows,
							.state_size = sizeof(windows)});
}

tn_status tn_copy_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	tn_array *g = dy->storage->device == recorded->device ? dy : tn_to(dy, recorded->device);
	if (g && g->dtype != recorded->dtype)
		g = tn_astype(g, recorded->dtype);
	return tn_node_give(node, 0, tn_reshape(g, recorded->rank, recorded->shape));
}

/* Adds dy to zeros where the indices point. */
static tn_status scatter(struct tn_node *node, tn_array *dy, tn_scatter_function add,
			 tn_status (*gather)(struct tn_node *node, tn_array *ddx))
{
	const struct tn_recorded *recorded = node->state;
	const tn_array *indices = node->saved[0].array;
	int axis = recorded->record.axis;
	struct tn_suspension suspension = tn_tape_suspend(dy);
	tn_array *g = tn_scattered(add, recorded->rank, recorded->shape, indices, axis, dy);
	return give_scattered(suspension, node, dy, g, TN_OK,
			      &(struct tn_node_request){.backward = gather,
							.n_saved = 1,
							.saved = {indices},
							.state = &axis,
							.state_size = sizeof(axis)});
}

static tn_status take_again(struct tn_node *node, tn_array *ddx)
{
	return tn_node_give(
		node, 0, tn_take(ddx, node->saved[0].array, *(const int *)node->state, TN_RAISE));
}

tn_status tn_take_backward(struct tn_node *node, tn_array *dy)
{
	return scatter(node, dy, tn_scatter_add, take_again);
}

static tn_status take_along_again(struct tn_node *node, tn_array *ddx)
{
	return tn_node_give(
		node, 0, tn_take_along_axis(ddx, node->saved[0].array, *(const int *)node->state));
}

tn_status tn_take_along_axis_backward(struct tn_node *node, tn_array *dy)
{
	return scatter(node, dy, tn_scatter_add_along_axis, take_along_again);
}

tn_status tn_concatenate_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	int axis = recorded->record.axis;
	int64_t start = 0;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		int64_t n = recorded->inputs[i].shape[axis];
		tn_status status = TN_OK;
		if (tn_node_wants(node, i)) {
			tn_array *g = tn_slice(dy, axis, start, start + n, 1);
			if (g && g->dtype != recorded->inputs[i].dtype)
				g = tn_astype(g, recorded->inputs[i].dtype);
			status = tn_node_give(node, i, g);
		}
		if (status)
			return status;
		start += n;
	}
	return TN_OK;
}
