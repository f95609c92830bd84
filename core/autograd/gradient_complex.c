/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradients of complex arrays, by PyTorch's convention: the gradient of a real loss L with respect
 * to x + iy is dL/dx + i dL/dy.  So it is the gradient of the real program over the parts.
 */
#include "autograd/gradient_complex.h"

#include "array/array.h"
#include "array/make.h"
#include "autograd/derivatives.h"
#include "autograd/gradient_reduce.h"
#include "autograd/gradients.h"
#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "ops/complex_parts.h"
#include "ops/map.h"

/* Runs the derivative by one input's parts, from `first` on, over the parts of the inputs and dy;
 * returns an array of dy's shape with the input's dtype, or NULL with the error kept. */
static tn_array *differentiate(struct tn_node *node, const tn_array *dy,
			       const struct tn_complex_parts *in, uint32_t which, uint32_t first)
{
	const struct tn_recorded *recorded = node->state;
	struct tn_runtime *rt = tn_node_runtime(node);
	tn_dtype dtype = recorded->inputs[which].dtype;
	uint32_t wanted = (tn_is_complex(dtype) ? 3u : 1u) << first;
	const struct tn_program *gradient =
		tn_derivative_of(rt, node->operation, recorded->record.program, wanted);
	if (!gradient)
		return NULL;
	tn_array *out = tn_array_make(rt, tn_array_home(dy), dtype, dy->rank, dy->shape);
	struct tn_complex_parts to = {0};
	tn_array *outputs[2];
	tn_status status = out ? tn_complex_parts_add(&to, out) : rt->report.status;
	for (uint32_t k = 0; k < to.n; k++)
		outputs[k] = to.views[k] ? to.views[k] : out;
	if (!status)
		status = tn_map_run(rt, &(struct tn_map_run){.operation = tn_operation_named(
								     rt, node->operation),
							     .program = gradient,
							     .inputs = in->arrays,
							     .outputs = outputs,
							     .scalars = recorded->scalars,
							     .are_apart = 1});
	tn_complex_parts_release(&to);
	return tn_end(rt, status, out);
}

/* Adds the recorded views of an array's parts to the inputs of a program. */
static uint32_t add_parts(const tn_array **inputs, uint32_t n, const tn_array *a)
{
	inputs[n++] = tn_is_complex(a->dtype) ? tn_real(a) : a;
	if (tn_is_complex(a->dtype))
		inputs[n++] = tn_imag(a);
	return n;
}

/* The gradient by one part of an input, recorded as a map of the parts. */
static tn_array *differentiate_part(struct tn_node *node, const tn_array *dy, uint32_t n,
				    const tn_array *const *inputs, uint32_t which)
{
	const struct tn_recorded *recorded = node->state;
	struct tn_runtime *rt = tn_node_runtime(node);
	const struct tn_program *gradient =
		tn_derivative_of(rt, node->operation, recorded->record.program, 1u << which);
	for (uint32_t i = 0; i < n; i++) {
		if (!inputs[i] || !gradient)
			return NULL;
	}
	tn_array *g =
		tn_array_make(rt, tn_array_home(dy), inputs[which]->dtype, dy->rank, dy->shape);
	struct tn_record record = {.kind = TN_RECORD_MAP,
				   .operation = node->operation,
				   .program = gradient,
				   .scalars = recorded->scalars};
	tn_status status = g ? tn_map_run(rt, &(struct tn_map_run){.operation = tn_operation_named(
									   rt, node->operation),
								   .program = gradient,
								   .inputs = inputs,
								   .outputs = &g,
								   .scalars = recorded->scalars})
			     : rt->report.status;
	if (!status)
		status = tn_record_made(rt, &record, n, inputs, g);
	return tn_end(rt, status, g);
}

static tn_status backward_recorded(struct tn_node *node, const tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	const tn_array *inputs[2 * TN_PROGRAM_MAX_INPUTS];
	tn_status status = TN_OK;
	uint32_t n = 0, first = 0;
	for (uint32_t i = 0; i < node->n_inputs; i++)
		n = add_parts(inputs, n, node->saved[i].array);
	n = add_parts(inputs, n, dy);
	for (uint32_t i = 0; i < node->n_inputs && !status; i++) {
		const struct tn_recorded_input *x = &recorded->inputs[i];
		uint32_t n_parts = tn_is_complex(x->dtype) ? 2 : 1;
		if (tn_node_wants(node, i)) {
			tn_array *g = differentiate_part(node, dy, n, inputs, first);
			if (n_parts == 2)
				g = tn_complex(g,
					       differentiate_part(node, dy, n, inputs, first + 1));
			status = tn_node_give(node, i,
					      g ? tn_sum_to_shape(g, x->rank, x->shape) : NULL);
		}
		first += n_parts;
	}
	return status;
}

tn_status tn_complex_backward(struct tn_node *node, tn_array *dy)
{
	if (tn_node_records(node))
		return backward_recorded(node, dy);
	const struct tn_recorded *recorded = node->state;
	struct tn_complex_parts in = {0};
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < node->n_inputs && !status; i++)
		status = tn_complex_parts_add(&in, node->saved[i].array);
	if (!status)
		status = tn_complex_parts_add(&in, dy);
	for (uint32_t i = 0, first = 0; i < node->n_inputs && !status; i++) {
		const struct tn_recorded_input *x = &recorded->inputs[i];
		if (tn_node_wants(node, i)) {
			tn_array *g = differentiate(node, dy, &in, i, first);
			status = tn_node_give(node, i,
					      g ? tn_sum_to_shape(g, x->rank, x->shape) : NULL);
		}
		first += tn_is_complex(x->dtype) ? 2 : 1;
	}
	tn_complex_parts_release(&in);
	return status;
}

static tn_status part_again(struct tn_node *node, tn_array *ddx)
{
	return tn_node_give(node, 0, *(const int *)node->state ? tn_imag(ddx) : tn_real(ddx));
}

tn_status tn_part_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	const int is_imaginary = recorded->record.axis;
	struct tn_suspension suspension = tn_tape_suspend(dy);
	tn_array *g =
		tn_zeros(tn_array_context(dy), recorded->dtype, recorded->rank, recorded->shape);
	tn_array *place = is_imaginary ? tn_imag(g) : tn_real(g);
	if (!place || tn_assign(place, dy))
		g = NULL;
	g = tn_tape_resume(suspension, g,
			   &(struct tn_node_request){.operation = node->operation,
						     .backward = part_again,
						     .is_twice = 1,
						     .n_inputs = 1,
						     .inputs = {dy},
						     .state = &is_imaginary,
						     .state_size = sizeof(is_imaginary)});
	return tn_node_give(node, 0, g);
}
