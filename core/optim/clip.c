/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Clipping by the joint norm, as torch.nn.utils.clip_grad_norm_: scale = max_norm / (norm + 1e-6),
 * where that is below 1; and by value, as clip_grad_value_.
 */
#include "optim/clip.h"

#include <math.h>

#include "array/array.h"
#include "array/make.h"
#include "dispatch/ledger.h"
#include "ops/formula.h"
#include "ops/map.h"
#include "optim/runs.h"

/* The sum of the squares of all gradients, 0-d; NULL: there are none, or the error is kept. */
static tn_array *sum_of_squares(const tn_module *module)
{
	struct tn_run run;
	size_t next = 0;
	tn_array *sum = NULL;
	while (tn_next_run(module, NULL, &next, &run)) {
		const tn_array *g = tn_slice_run(module->arena.gradients, &run);
		tn_array *part = tn_sum(tn_square(g), TN_ALL_AXES, NULL, 0);
		sum = sum ? tn_add(sum, part) : part;
		if (!sum)
			return NULL;
	}
	return sum;
}

/* All gradients times the 0-d `factor`.  It may be NaN: zeros stay zeros, as what lies between the
 * gradients of two parameters must, which later norms include. */
static tn_status scale(const tn_module *module, const tn_array *factor)
{
	static const struct tn_formula scaled = {
		.text = "g = g == 0 ? g : g * factor", .inputs = "g factor", .outputs = "g"};
	struct tn_runtime *rt = module->runtime;
	struct tn_run run;
	size_t next = 0;
	while (factor && tn_next_run(module, NULL, &next, &run)) {
		tn_array *g = tn_slice_run(module->arena.gradients, &run);
		tn_status status =
			g ? tn_end_into(rt, tn_formula_map(
						    rt, tn_operation_named(rt, "clip_grad_norm"),
						    &scaled, (const tn_array *const[]){g, factor},
						    &g, NULL))
			  : rt->error.status;
		if (status)
			return status;
	}
	return factor ? TN_OK : rt->error.status;
}

/* Runs a formula with one scalar on all gradients g of a built module, in place. */
static tn_status map_gradients(tn_module *module, const char *operation,
			       const struct tn_formula *formula, double scalar)
{
	struct tn_run run;
	size_t next = 0;
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_scope_begin(module->context);
	if (status)
		return status;
	while (!status && tn_next_run(module, NULL, &next, &run)) {
		tn_array *g = tn_slice_run(module->arena.gradients, &run);
		status = g ? tn_end_into(rt, tn_formula_map(rt, tn_operation_named(rt, operation),
							    formula, (const tn_array *const[]){g},
							    &g, &scalar))
			   : rt->error.status;
	}
	tn_scope_end(module->context, NULL);
	return status;
}

tn_status tn_gradient_scale(tn_module *module, double factor)
{
	static const struct tn_formula scaled = {
		.text = "g = g * factor", .inputs = "g", .scalars = "factor", .outputs = "g"};
	return map_gradients(module, "gradient_scale", &scaled, factor);
}

static tn_status ready_to_clip(const tn_module *module, const char *operation, double limit)
{
	if (!module)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (!module->arena.values || !(limit > 0.0))
		return tn_runtime_fail(
			rt, TN_INVALID_ARGUMENT, operation,
			"expected a built module and a limit > 0, found %s module and "
			"limit %g",
			module->arena.values ? "a built" : "another", limit);
	return TN_OK;
}

tn_status tn_clip_grad_value(tn_module *module, double limit)
{
	static const struct tn_formula clipped = {.text = "g = clamp(g, -limit, limit)",
						  .inputs = "g",
						  .scalars = "limit",
						  .outputs = "g"};
	tn_status status = ready_to_clip(module, "clip_grad_value", limit);
	return status ? status : map_gradients(module, "clip_grad_value", &clipped, limit);
}

tn_status tn_gradient_norm(const tn_module *module, double *norm)
{
	double square = 0.0;
	tn_status status = tn_scope_begin(module->context);
	if (status)
		return status;
	const tn_array *sum = sum_of_squares(module);
	status = sum ? tn_item(sum, &square) : module->runtime->error.status;
	tn_scope_end(module->context, NULL);
	*norm = sqrt(square);
	return status;
}

/* Runs on the module's device, regardless of the current one.  The factor stays on the device. */
tn_status tn_clip_grad_norm(tn_module *module, double max_norm, double *norm)
{
	static const struct tn_formula factor = {
		/* NaN stays NaN. */
		.text = "scale = max_norm / (sqrt(square) + 1e-6) >= 1 "
			"? 1 : max_norm / (sqrt(square) + 1e-6)",
		.inputs = "square",
		.scalars = "max_norm"};
	const tn_number limit = tn_number_f64(max_norm);
	double square = 0.0;
	tn_status status = ready_to_clip(module, "clip_grad_norm", max_norm);
	if (!status)
		status = tn_scope_begin(module->context);
	if (status)
		return status;
	struct tn_runtime *rt = module->runtime;
	struct tn_device *current = rt->device;
	rt->device = tn_array_home(module->arena.values);
	const tn_array *sum = sum_of_squares(module);
	if (sum && norm)
		status = tn_item(sum, &square);
	if (sum && !status)
		status = scale(module, tn_formula_map_number(&factor, &sum, &limit));
	if (!status)
		status = rt->error.status;
	rt->device = current;
	tn_scope_end(module->context, NULL);
	if (!status && norm)
		*norm = sqrt(square);
	return status;
}
