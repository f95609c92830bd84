/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Clipping by the joint norm, as torch.nn.utils.clip_grad_norm_: scale = max_norm / (norm + 1e-6),
 * where that is below 1.
 */
#include <math.h>

#include "array/array.h"
#include <tenon/optim.h>

#include "optim/runs.h"

static tn_status sum_of_squares(const tn_module *module, double *sum)
{
	struct tn_run run;
	size_t next = 0;
	*sum = 0.0;
	while (tn_next_run(module, NULL, &next, &run)) {
		double part;
		tn_array *g = tn_slice_run(module->arena.gradients, &run);
		tn_array *square = tn_sum(tn_square(g), TN_ALL_AXES, NULL, 0);
		tn_status status = square ? tn_item(square, &part) : module->runtime->error.status;
		if (status)
			return status;
		*sum += part;
	}
	return TN_OK;
}

static tn_status scale(const tn_module *module, double factor)
{
	struct tn_run run;
	size_t next = 0;
	while (tn_next_run(module, NULL, &next, &run)) {
		tn_array *g = tn_slice_run(module->arena.gradients, &run);
		tn_array *by = tn_scalar_f32(module->context, (float)factor);
		tn_status status = by ? tn_multiply_into(g, g, by) : module->runtime->error.status;
		if (status)
			return status;
	}
	return TN_OK;
}

/* Runs on the module's device, regardless of the current one. */
tn_status tn_clip_grad_norm(tn_module *module, double max_norm, double *norm)
{
	double sum = 0.0;
	if (!module || !module->arena.values || !(max_norm > 0.0))
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (!status)
		status = tn_scope_begin(module->context);
	if (status)
		return status;
	struct tn_device *current = rt->device;
	rt->device = tn_array_home(module->arena.values);
	status = sum_of_squares(module, &sum);
	double factor = max_norm / (sqrt(sum) + 1e-6);
	if (!status && factor < 1.0)
		status = scale(module, factor);
	rt->device = current;
	tn_scope_end(module->context, NULL);
	if (!status && norm)
		*norm = sqrt(sum);
	return status;
}
