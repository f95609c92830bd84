/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parts of an array, as one node: their gradients are written to the places of one array, where
 * slices would each give an array of the whole size, to be added up.
 */
#include "layers/split.h"

#include <string.h>

#include "array/array.h"
#include "autograd/node.h"

struct split {
	int axis;
	int rank; /* of a part */
	int64_t shape[TN_MAX_RANK];
	tn_dtype dtype;
};

/* The gradient of part i, zeros where it has none. */
static tn_array *gradient_of(const struct tn_node *node, uint32_t i)
{
	const struct split *split = node->state;
	tn_array *g = node->outputs[i]->gradient;
	return g ? g
		 : tn_zeros(tn_node_runtime(node)->context, split->dtype, split->rank,
			    split->shape);
}

static tn_array *join(const struct tn_node *node)
{
	const struct split *split = node->state;
	const int64_t length = split->shape[split->axis];
	int64_t shape[TN_MAX_RANK];
	memcpy(shape, split->shape, sizeof(shape));
	shape[split->axis] *= node->n_outputs;
	tn_array *whole =
		tn_empty(tn_node_runtime(node)->context, split->dtype, split->rank, shape);
	for (uint32_t i = 0; whole && i < node->n_outputs; i++) {
		const tn_array *g = node->outputs[i]->gradient;
		tn_array *place = tn_slice(whole, split->axis, i * length, (i + 1) * length, 1);
		if (!place || (g ? tn_assign(place, g) : tn_fill(place, 0.0)))
			return NULL;
	}
	return whole;
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct split *split = node->state;
	const tn_array *parts[TN_SPLIT_PARTS];
	(void)dy;
	if (!tn_node_records(node))
		return tn_node_give(node, 0, join(node));
	for (uint32_t i = 0; i < node->n_outputs; i++) {
		parts[i] = gradient_of(node, i);
		if (!parts[i])
			return tn_runtime_status(tn_node_runtime(node));
	}
	return tn_node_give(node, 0, tn_concatenate((int)node->n_outputs, parts, split->axis));
}

tn_status tn_split_parts(const tn_array *x, int axis, int n, tn_array **parts)
{
	struct split split = {.axis = axis, .rank = x->rank, .dtype = x->dtype};
	struct tn_error_info error;
	struct tn_suspension suspension = tn_tape_suspend(x);
	tn_status status = suspension.runtime ? TN_OK : TN_PENDING_ERROR;
	const int64_t length = x->shape[axis] / n;
	memcpy(split.shape, x->shape, sizeof(split.shape));
	split.shape[axis] = length;
	for (int i = 0; i < n; i++) {
		parts[i] = status ? NULL : tn_slice(x, axis, i * length, (i + 1) * length, 1);
		if (!parts[i] && !status)
			status = tn_runtime_status(suspension.runtime);
	}
	tn_tape_resume(suspension, NULL, NULL);
	if (!status && suspension.recorder) {
		const struct tn_node_request request = {.operation = "split",
							.backward = backward,
							.n_inputs = 1,
							.inputs = {x},
							.state = &split,
							.state_size = sizeof(split),
							.is_twice = 1};
		status = tn_tape_add_node(suspension.recorder->user, (uint32_t)n, parts, &request,
					  &error);
		if (status)
			tn_runtime_keep(suspension.runtime, &error);
	}
	for (int i = 0; i < n && status; i++) {
		tn_array_destroy(parts[i]);
		parts[i] = NULL;
	}
	return status;
}
