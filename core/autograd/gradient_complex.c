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
#include "ops/map.h"
#include "ops/parts.h"

/* Runs the derivative by one input's parts, from `first` on, over the parts of the inputs and dy;
 * returns an array of dy's shape with the input's dtype, or NULL with the error kept. */
static tn_array *differentiate(struct tn_node *node, const tn_array *dy, const struct tn_parts *in,
			       uint32_t which, uint32_t first)
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
	struct tn_parts to = {0};
	tn_array *outputs[2];
	tn_status status = out ? tn_parts_add(&to, out) : rt->report.status;
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
	tn_parts_release(&to);
	return tn_end(rt, status, out);
}

tn_status tn_complex_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	struct tn_parts in = {0};
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < node->n_inputs && !status; i++)
		status = tn_parts_add(&in, node->saved[i].array);
	if (!status)
		status = tn_parts_add(&in, dy);
	for (uint32_t i = 0, first = 0; i < node->n_inputs && !status; i++) {
		const struct tn_recorded_input *x = &recorded->inputs[i];
		if (tn_node_wants(node, i)) {
			tn_array *g = differentiate(node, dy, &in, i, first);
			status = tn_node_give(node, i,
					      g ? tn_sum_to_shape(g, x->rank, x->shape) : NULL);
		}
		first += tn_is_complex(x->dtype) ? 2 : 1;
	}
	tn_parts_release(&in);
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
