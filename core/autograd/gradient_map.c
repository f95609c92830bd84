/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradient of any element program, by differentiating it:
 *     dx[k] = sum over broadcast axes of  (d program / d x[k]) dy
 */
#include "autograd/gradient_map.h"

#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "array/shape.h"
#include "autograd/derivatives.h"
#include "autograd/gradient_reduce.h"
#include "autograd/gradients.h"
#include "autograd/node.h"
#include "dispatch/ledger.h"
#include "ops/layout.h"
#include "ops/map.h"

/* Is every output of the gradient program dz itself, as for a sum?  Then dy is the gradient. */
static int all_upstream(const struct tn_program *gradient, uint32_t n_inputs)
{
	for (uint32_t k = 0; k < gradient->n_outputs; k++) {
		const struct tn_instruction *last = &gradient->instructions[gradient->outputs[k]];
		if (last->op != TN_OP_INPUT || last->a != n_inputs)
			return 0;
	}
	return 1;
}

/* Runs the gradient program; outputs have dy's shape and the wanted inputs' dtypes.  `last`:
 * nothing reads dy after it. */
static tn_status run_gradient(struct tn_node *node, tn_array *dy, const struct tn_program *gradient,
			      const uint32_t *wanted, int last, tn_array **outputs)
{
	const struct tn_recorded *recorded = node->state;
	struct tn_runtime *rt = tn_node_runtime(node);
	const tn_array *inputs[TN_PROGRAM_MAX_INPUTS];
	uint32_t n = node->n_inputs;
	/* Inputs that were not saved are not read: dy takes their place. */
	for (uint32_t i = 0; i < n; i++) {
		int is_saved = i < node->n_saved && node->saved[i].array;
		inputs[i] = is_saved ? node->saved[i].array : dy;
	}
	inputs[n] = dy;
	/* A gradient has the memory order of its input, where that was saved and is not broadcast.
	 * The first may overwrite dy, which is read for the last time here. */
	const tn_array *x = inputs[wanted[0]];
	const tn_array *like = tn_shape_equal(x->rank, x->shape, dy->rank, dy->shape) ? x : dy;
	for (uint32_t k = 0; k < gradient->n_outputs; k++) {
		tn_dtype dtype = recorded->inputs[wanted[k]].dtype;
		int overwrites = last && k == 0 && dtype == dy->dtype &&
				 tn_array_lie_alike(dy, like) && tn_gradient_is_free(dy);
		outputs[k] = overwrites ? dy : tn_array_make_like(like, dtype);
		if (!outputs[k])
			return tn_end_into(rt, rt->report.status);
	}
	const struct tn_map_run map = {.operation = tn_operation_named(rt, node->operation),
				       .program = gradient,
				       .inputs = inputs,
				       .outputs = outputs,
				       .scalars = recorded->scalars};
	return tn_end_into(rt, tn_map_run(rt, &map));
}

/* Gradients of up to TN_PROGRAM_MAX_OUTPUTS inputs in one pass. */
static tn_status give_gradients(struct tn_node *node, tn_array *dy, const uint32_t *wanted,
				uint32_t count, int last)
{
	const struct tn_recorded *recorded = node->state;
	struct tn_runtime *rt = tn_node_runtime(node);
	uint32_t mask = 0;
	for (uint32_t k = 0; k < count; k++)
		mask |= 1u << wanted[k];
	const struct tn_program *gradient =
		tn_derivative_of(rt, node->operation, recorded->record.program, mask);
	if (!gradient)
		return tn_runtime_status(rt);
	tn_array *outputs[TN_PROGRAM_MAX_OUTPUTS];
	for (uint32_t k = 0; k < count; k++)
		outputs[k] = dy;
	tn_status status = TN_OK;
	int is_dy = all_upstream(gradient, node->n_inputs);
	for (uint32_t k = 0; k < count; k++)
		is_dy = is_dy && recorded->inputs[wanted[k]].dtype == dy->dtype;
	if (!is_dy)
		status = run_gradient(node, dy, gradient, wanted, last, outputs);
	for (uint32_t k = 0; k < count && !status; k++) {
		const struct tn_recorded_input *x = &recorded->inputs[wanted[k]];
		status = tn_node_give(node, wanted[k],
				      tn_sum_to_shape(outputs[k], x->rank, x->shape));
	}
	return status;
}

/* The gradient of input i by a program of its own, recorded as a map, which has one output.
 * An input that the program does not read is replaced by dy without its gradient. */
static tn_status give_recorded(struct tn_node *node, tn_array *dy, uint32_t i)
{
	const struct tn_recorded *recorded = node->state;
	const struct tn_recorded_input *x = &recorded->inputs[i];
	struct tn_runtime *rt = tn_node_runtime(node);
	const tn_array *inputs[TN_PROGRAM_MAX_INPUTS], *unread = tn_detach(dy);
	const struct tn_program *gradient =
		tn_derivative_of(rt, node->operation, recorded->record.program, 1u << i);
	if (!gradient || !unread)
		return tn_runtime_status(rt);
	if (all_upstream(gradient, node->n_inputs) && x->dtype == dy->dtype)
		return tn_node_give(node, i, tn_sum_to_shape(dy, x->rank, x->shape));
	for (uint32_t k = 0; k < node->n_inputs; k++) {
		int is_saved = k < node->n_saved && node->saved[k].array;
		inputs[k] = is_saved ? node->saved[k].array : unread;
	}
	inputs[node->n_inputs] = dy;
	tn_array *g = tn_array_make_like(dy, x->dtype);
	if (!g)
		return tn_end_into(rt, rt->report.status);
	tn_status status = tn_map_run(
		rt, &(struct tn_map_run){.operation = tn_operation_named(rt, node->operation),
					 .program = gradient,
					 .inputs = inputs,
					 .outputs = &g,
					 .scalars = recorded->scalars});
	struct tn_record record = {.kind = TN_RECORD_MAP,
				   .operation = node->operation,
				   .program = gradient,
				   .scalars = recorded->scalars};
	if (!status)
		status = tn_record_made(rt, &record, node->n_inputs + 1, inputs, g);
	return status ? tn_end_into(rt, status)
		      : tn_node_give(node, i, tn_sum_to_shape(g, x->rank, x->shape));
}

tn_status tn_map_backward(struct tn_node *node, tn_array *dy)
{
	tn_status status = TN_OK;
	for (uint32_t i = 0; tn_node_records(node) && i < node->n_inputs && !status; i++) {
		if (tn_node_wants(node, i))
			status = give_recorded(node, dy, i);
	}
	if (tn_node_records(node))
		return status;
	uint32_t wanted[TN_PROGRAM_MAX_INPUTS], n = 0;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (tn_node_wants(node, i))
			wanted[n++] = i;
	}
	for (uint32_t first = 0; first < n; first += TN_PROGRAM_MAX_OUTPUTS) {
		uint32_t count =
			n - first < TN_PROGRAM_MAX_OUTPUTS ? n - first : TN_PROGRAM_MAX_OUTPUTS;
		status = give_gradients(node, dy, wanted + first, count, first + count == n);
		if (status)
			return status;
	}
	return TN_OK;
}
