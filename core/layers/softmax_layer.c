/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax and its logarithm; backward reads the output.
 */
#include "array/array.h"
#include "autograd/node.h"
#include "layers/softmax.h"

struct softmax_state {
	int axis;
	int logarithm;
};

/* Of y = softmax x:  dx = y (dy - sum of y dy);  of its logarithm:  dx = dy - exp(y) sum of dy. */
static tn_array *recorded_gradient(const tn_array *y, const tn_array *dy,
				   const struct softmax_state *state)
{
	tn_array *sum = tn_sum(state->logarithm ? dy : tn_multiply(y, dy), 1, &state->axis, 1);
	if (state->logarithm)
		return tn_subtract(dy, tn_multiply(tn_exp(y), sum));
	return tn_multiply(y, tn_subtract(dy, sum));
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct softmax_state *state = node->state;
	if (tn_node_records(node))
		return tn_node_give(node, 0, recorded_gradient(node->saved[0].array, dy, state));
	return tn_node_give(
		node, 0,
		tn_softmax_backward(node->saved[0].array, dy, state->axis, state->logarithm));
}

static tn_array *softmax(const char *operation, const tn_array *x, int axis, int logarithm)
{
	struct softmax_state state = {axis, logarithm};
	struct tn_suspension suspension = tn_tape_suspend(x);
	if (!suspension.runtime)
		return NULL;
	tn_array *y = tn_softmax_forward(x, axis, logarithm);
	return tn_tape_resume(suspension, y,
			      &(struct tn_node_request){.operation = operation,
							.backward = backward,
							.is_twice = 1,
							.n_inputs = 1,
							.inputs = {x},
							.n_saved = 1,
							.saved = {y},
							.state = &state,
							.state_size = sizeof(state)});
}

tn_array *tn_softmax(const tn_array *x, int axis)
{
	return softmax("softmax", x, axis, 0);
}

tn_array *tn_log_softmax(const tn_array *x, int axis)
{
	return softmax("log_softmax", x, axis, 1);
}
