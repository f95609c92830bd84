/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradient noise: A. Neelakantan et al., "Adding Gradient Noise Improves Learning for Very Deep
 * Networks", 2015.  An element's number is its place in the arena, so that the noise does not
 * depend on the runs.
 */
#include "optim/hooks.h"

#include <math.h>
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "dispatch/ledger.h"
#include "ops/map.h"

double tn_noise_deviation(const struct tn_gradient_hooks *hooks, uint64_t step)
{
	return hooks->eta > 0.0 ? sqrt(hooks->eta / pow((double)step, hooks->gamma)) : 0.0;
}

static tn_status add_lasso(struct tn_runtime *rt, double rate, const tn_array *weights,
			   tn_array *gradients)
{
	static const struct tn_formula added = {.text = "dw = dw + rate * sign(w)",
						.inputs = "dw w",
						.scalars = "rate",
						.outputs = "dw"};
	return tn_formula_map(rt, tn_operation_named(rt, "lasso"), &added,
			      (const tn_array *const[]){gradients, weights}, &gradients, &rate);
}

static tn_status add_noise(struct tn_runtime *rt, int64_t begin, const tn_array *mask,
			   tn_array *gradients, const struct tn_scalar random[2],
			   struct tn_scalar deviation)
{
	static const struct tn_formula noisy = {
		.text = "dw = mask ? dw + deviation * normal(seed, stream, begin + element()) : dw",
		.inputs = "dw mask",
		.scalars = "seed stream begin deviation",
		.outputs = "dw"};
	const tn_dtype dtypes[] = {gradients->dtype, TN_U8};
	const tn_dtype scalar_dtypes[] = {TN_I64, TN_I64, TN_I64, gradients->dtype};
	const struct tn_scalar scalars[] = {
		random[0], random[1], {.dtype = TN_I64, .bits = (uint64_t)begin}, deviation};
	struct tn_map_run map = {.operation = tn_operation_named(rt, "gradient_noise"),
				 .inputs = (const tn_array *const[]){gradients, mask},
				 .outputs = &gradients,
				 .scalars = scalars};
	tn_status status = tn_formula_program_typed(rt, "gradient_noise", &noisy, dtypes,
						    scalar_dtypes, &map.program);
	return status ? status : tn_map_run(rt, &map);
}

tn_status tn_hooks_run(const tn_optimizer *optimizer, const struct tn_run *run,
		       const struct tn_scalar random[2], struct tn_scalar deviation)
{
	const struct tn_gradient_hooks *hooks = &optimizer->hooks;
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	if (!(hooks->lasso > 0.0) && !(hooks->eta > 0.0))
		return TN_OK;
	const tn_array *weights = tn_slice_run(module->arena.values, run);
	tn_array *gradients = tn_slice_run(module->arena.gradients, run);
	const tn_array *mask = hooks->eta > 0.0 ? tn_slice_run(hooks->mask, run) : NULL;
	tn_status status = rt->error.status;
	if (!status && hooks->lasso > 0.0)
		status = tn_end_into(rt, add_lasso(rt, hooks->lasso, weights, gradients));
	if (!status && mask)
		status = tn_end_into(rt,
				     add_noise(rt, run->begin, mask, gradients, random, deviation));
	return status;
}

/* ---- Settings --------------------------------------------------------------------------------*/

static tn_status check_settings(const tn_optimizer *optimizer, const char *operation,
				const char *name, double value)
{
	struct tn_runtime *rt = optimizer->module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (!status)
		status = tn_capture_refuse(rt, operation, "what a step adds to the gradients");
	if (status || (value >= 0.0 && isfinite(value)))
		return status;
	return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
			       "%s: expected a finite number of 0 or more, found %g", name, value);
}

tn_status tn_optimizer_set_lasso(tn_optimizer *optimizer, double rate)
{
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_settings(optimizer, "optimizer_set_lasso", "rate", rate);
	if (!status)
		optimizer->hooks.lasso = rate;
	return status;
}

/* Makes the mask on the module's device, regardless of the current one. */
static tn_status make_mask(tn_optimizer *optimizer)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	struct tn_device *current = rt->device;
	uint8_t *values = tn_mem_zeroed((size_t)module->arena.size, 1);
	if (!values)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, "optimizer_set_gradient_noise",
				       "no host memory for %lld elements",
				       (long long)module->arena.size);
	for (size_t i = 0; i < module->n_listing; i++) {
		const struct tn_weight *weight = module->listing[i].weight;
		memset(values + weight->offset, 1, (size_t)weight->size);
	}
	tn_status status = tn_scope_begin(module->context);
	if (!status) {
		rt->device = tn_array_home(module->arena.values);
		tn_array *mask =
			tn_from_host(module->context, TN_U8, 1, &module->arena.size, values);
		if (mask)
			optimizer->hooks.mask = tn_array_hold(mask);
		status = mask ? TN_OK : rt->error.status;
		rt->device = current;
		tn_scope_end(module->context, NULL);
	}
	tn_mem_free(values);
	return status;
}

tn_status tn_optimizer_set_gradient_noise(tn_optimizer *optimizer, double eta, double gamma)
{
	static const char operation[] = "optimizer_set_gradient_noise";
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_settings(optimizer, operation, "eta", eta);
	if (!status)
		status = check_settings(optimizer, operation, "gamma", gamma);
	if (!status && eta > 0.0 && !optimizer->hooks.mask)
		status = make_mask(optimizer);
	if (status)
		return status;
	optimizer->hooks.eta = eta;
	optimizer->hooks.gamma = gamma;
	return TN_OK;
}
