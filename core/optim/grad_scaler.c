/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Dynamic scaling of the loss: P. Micikevicius et al., "Mixed Precision Training", ICLR 2018; with
 * the rules of torch.amp.GradScaler.  The scale is an f32, on the host and on the device.
 */
#include "optim/grad_scaler.h"

#include <float.h>
#include <math.h>

#include "array/array.h"
#include "array/make.h"
#include "array/handle.h"
#include "base/memory.h"
#include "base/options.h"
#include "capture/capture.h"
#include "dispatch/ledger.h"
#include "nn/tree.h"
#include "ops/map.h"
#include "ops/reduce_run.h"
#include "optim/optimizer.h"

/* How far the step since the last update is. */
enum progress { SCALED, UNSCALED, STEPPED };

struct tn_grad_scaler {
	tn_module *module;
	struct tn_grad_scaler_options o;
	struct tn_grad_scaler_state state;
	tn_array *scale; /* state.scale, without axes, kept */
	tn_array
		*found; /* kept: above 0 for each run with an element that is not finite; or NULL */
	enum progress progress;
	int is_read;  /* is_found is known */
	int is_found; /* one of the elements is not finite */
	int has_skipped;
};

/* ---- Life ------------------------------------------------------------------------------------*/

/* Makes the scale's array on the module's device, regardless of the current one. */
static tn_status make_scale(tn_grad_scaler *scaler)
{
	const tn_module *module = scaler->module;
	struct tn_runtime *rt = module->runtime;
	struct tn_device *current = rt->device;
	tn_status status = tn_scope_begin(module->context);
	if (status)
		return status;
	rt->device = tn_array_home(module->arena.values);
	tn_array *scale = tn_full(module->context, TN_F32, 0, NULL, scaler->state.scale);
	if (scale)
		scaler->scale = tn_array_hold(scale);
	status = scale ? TN_OK : rt->error.status;
	rt->device = current;
	tn_scope_end(module->context, NULL);
	return status;
}

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_grad_scaler_options, init_scale), .least = (double)FLT_MIN,
	 .most = (double)FLT_MAX},
	{TN_MEMBER(struct tn_grad_scaler_options, growth_factor), TN_LEAST | TN_MOST, .least = 1,
	 .most = INFINITY},
	{TN_MEMBER(struct tn_grad_scaler_options, backoff_factor), TN_LEAST | TN_MOST, .most = 1},
	{0},
};

tn_grad_scaler *tn_grad_scaler_create(tn_module *module,
				      const struct tn_grad_scaler_options *options)
{
	static const char operation[] = "grad_scaler_create";
	struct tn_grad_scaler_options o = tn_grad_scaler_defaults();
	if (!module)
		return NULL;
	struct tn_runtime *rt = module->runtime;
	if (tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_grad_scaler_options",
			    operation) ||
	    tn_runtime_ready(rt))
		return NULL;
	if (!o.growth_interval) {
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				"growth_interval: expected at least 1, found 0");
		return NULL;
	}
	if (tn_runtime_check(rt, &o, members, operation) ||
	    tn_module_check_network(module, operation))
		return NULL;
	tn_grad_scaler *scaler = tn_mem_zeroed(1, sizeof(*scaler));
	if (!scaler) {
		tn_runtime_no_memory(rt, operation, "a scaler");
		return NULL;
	}
	scaler->module = module;
	scaler->o = o;
	module->n_users++;
	scaler->state = (struct tn_grad_scaler_state){.struct_size = sizeof(scaler->state),
						      .scale = (double)(float)o.init_scale};
	if (!make_scale(scaler))
		return scaler;
	tn_grad_scaler_destroy(scaler);
	return NULL;
}

void tn_grad_scaler_destroy(tn_grad_scaler *scaler)
{
	if (!scaler || tn_handle_has_ended(scaler->module->runtime, scaler, "grad_scaler_destroy"))
		return;
	scaler->module->n_users--;
	tn_array_unhold(scaler->scale);
	tn_array_unhold(scaler->found);
	tn_module_user_end(&scaler->module, scaler, "the gradient scaler");
}

/* ---- A step ----------------------------------------------------------------------------------*/

tn_array *tn_grad_scaler_scale(const tn_grad_scaler *scaler, const tn_array *loss)
{
	if (scaler && loss)
		return tn_multiply(loss, scaler->scale);
	tn_runtime_null(scaler ? scaler->module->runtime
			: loss ? loss->runtime
			       : NULL,
			"grad_scaler_scale", scaler ? "loss" : "scaler");
	return NULL;
}

static tn_status check_progress(const tn_grad_scaler *scaler, const char *operation,
				const char *what)
{
	struct tn_runtime *rt = scaler->module->runtime;
	tn_status status = tn_runtime_ready(rt);
	return status ? status : tn_capture_refuse(rt, operation, what);
}

/* found := is an element infinite or NaN?  gradients := gradients / scale */
static tn_status unscale_run(const tn_grad_scaler *scaler, const struct tn_run *run,
			     tn_array *found)
{
	static const struct tn_formula is_not_finite = {
		.text = "found = g - g == 0 ? f32(0) : f32(1)", .inputs = "g"};
	/* Not a product: the inverse of a large scale is subnormal. */
	static const struct tn_formula divide = {
		.text = "g = g / scale", .inputs = "g", .scalars = "scale", .outputs = "g"};
	const tn_module *module = scaler->module;
	struct tn_runtime *rt = module->runtime;
	const uint32_t operation = tn_operation_named(rt, "grad_scaler");
	tn_array *gradients = tn_slice_run(module->arena.gradients, run);
	const tn_array *input = gradients;
	const struct tn_formula_reduction reduction = {.prologue = &is_not_finite,
						       .inputs = &input,
						       .outputs = &found,
						       .axes = 1,
						       .combiners = {TN_REDUCE_MAX}};
	if (!gradients || !found)
		return rt->error.status;
	tn_status status = tn_formula_reduce(rt, operation, &reduction);
	if (!status)
		status = tn_formula_map(rt, operation, &divide, &input, &gradients,
					&scaler->state.scale);
	return tn_end_into(rt, status);
}

/* In a scope of the caller. */
static tn_status unscale_runs(tn_grad_scaler *scaler)
{
	const tn_module *module = scaler->module;
	struct tn_runtime *rt = module->runtime;
	struct tn_run run;
	size_t next = 0;
	int64_t n = 0, i = 0;
	while (tn_next_run(module, NULL, &next, &run))
		n++;
	if (!n)
		return tn_runtime_fail(rt, TN_STATE, "grad_scaler_unscale",
				       "no trainable parameter has a gradient");
	tn_array *found = tn_empty(module->context, TN_F32, 1, &n);
	tn_status status = found ? TN_OK : rt->error.status;
	for (next = 0; !status && tn_next_run(module, NULL, &next, &run); i++)
		status = unscale_run(scaler, &run, tn_slice(found, 0, i, i + 1, 1));
	if (status)
		return status;
	scaler->found = tn_array_hold(found);
	scaler->is_read = 0;
	scaler->progress = UNSCALED;
	return TN_OK;
}

tn_status tn_grad_scaler_unscale(tn_grad_scaler *scaler)
{
	static const char operation[] = "grad_scaler_unscale";
	if (!scaler)
		return TN_INVALID_ARGUMENT;
	const tn_module *module = scaler->module;
	struct tn_runtime *rt = module->runtime;
	struct tn_device *current = rt->device;
	tn_status status = check_progress(scaler, operation, "what a scaler has unscaled");
	if (status)
		return status;
	if (scaler->progress != SCALED)
		return tn_runtime_fail(rt, TN_STATE, operation,
				       "the gradients have been unscaled since the last update");
	status = tn_scope_begin(module->context);
	if (status)
		return status;
	rt->device = tn_array_home(module->arena.values);
	status = unscale_runs(scaler);
	rt->device = current;
	tn_scope_end(module->context, NULL);
	return status;
}

/* Waits for the device, once for each unscaling. */
static tn_status read_found(tn_grad_scaler *scaler)
{
	const size_t n = (size_t)scaler->found->size;
	if (scaler->is_read)
		return TN_OK;
	float *found = tn_mem_zeroed(n, sizeof(*found));
	if (!found)
		return tn_runtime_fail(scaler->module->runtime, TN_OUT_OF_MEMORY, "grad_scaler",
				       "no host memory for %zu numbers", n);
	tn_status status = tn_to_host(scaler->found, found, n * sizeof(*found));
	scaler->is_read = !status;
	scaler->is_found = 0;
	for (size_t i = 0; i < n; i++)
		scaler->is_found |= found[i] > 0.0F;
	tn_mem_free(found);
	return status;
}

tn_status tn_grad_scaler_step(tn_grad_scaler *scaler, tn_optimizer *optimizer)
{
	static const char operation[] = "grad_scaler_step";
	const tn_module *module = scaler ? scaler->module : optimizer ? optimizer->module : NULL;
	struct tn_runtime *rt = module ? module->runtime : NULL;
	if (!scaler || !optimizer)
		return tn_runtime_null(rt, operation, scaler ? "optimizer" : "scaler");
	tn_status status = check_progress(scaler, operation, "whether a step is skipped");
	if (status)
		return status;
	if (optimizer->module != scaler->module)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "the optimizer and the scaler are of different modules");
	if (scaler->progress == STEPPED)
		return tn_runtime_fail(rt, TN_STATE, operation,
				       "a step has been taken since the last update");
	if (scaler->progress == SCALED)
		status = tn_grad_scaler_unscale(scaler);
	if (!status)
		status = read_found(scaler);
	if (!status && !scaler->is_found)
		status = tn_optimizer_step(optimizer);
	if (status)
		return status;
	scaler->has_skipped = scaler->is_found;
	scaler->progress = STEPPED;
	return TN_OK;
}

int tn_grad_scaler_has_skipped(const tn_grad_scaler *scaler)
{
	return scaler && !tn_module_user_check(scaler->module, "grad_scaler_has_skipped")
		       ? scaler->has_skipped
		       : 0;
}

/* ---- Update ----------------------------------------------------------------------------------*/

/* Changes the scale on the device first: on failure nothing changes. */
static tn_status take_state(tn_grad_scaler *scaler, const struct tn_grad_scaler_state *state)
{
	float scale = (float)state->scale;
	tn_status status = (double)scale == scaler->state.scale
				   ? TN_OK
				   : tn_assign_host(scaler->scale, &scale, sizeof(scale));
	if (status)
		return status;
	scaler->state.scale = (double)scale;
	scaler->state.good_updates = state->good_updates;
	return TN_OK;
}

tn_status tn_grad_scaler_update(tn_grad_scaler *scaler)
{
	static const char operation[] = "grad_scaler_update";
	if (!scaler)
		return TN_INVALID_ARGUMENT;
	struct tn_grad_scaler_state next = scaler->state;
	tn_status status = check_progress(scaler, operation, "the scale");
	if (status)
		return status;
	if (scaler->progress == SCALED)
		return tn_runtime_fail(scaler->module->runtime, TN_STATE, operation,
				       "no gradients have been unscaled since the last update");
	status = read_found(scaler);
	if (status)
		return status;
	next.good_updates++;
	if (scaler->is_found) {
		next.scale = fmax(next.scale * scaler->o.backoff_factor, (double)FLT_MIN);
		next.good_updates = 0;
	} else if (next.good_updates >= scaler->o.growth_interval) {
		double grown = next.scale * scaler->o.growth_factor;
		next.scale = grown <= (double)FLT_MAX ? grown : next.scale;
		next.good_updates = 0;
	}
	status = take_state(scaler, &next);
	if (status)
		return status;
	tn_array_unhold(scaler->found);
	scaler->found = NULL;
	scaler->progress = SCALED;
	return TN_OK;
}

/* ---- State -----------------------------------------------------------------------------------*/

tn_status tn_grad_scaler_get_state(const tn_grad_scaler *scaler, struct tn_grad_scaler_state *state)
{
	if (!scaler)
		return TN_INVALID_ARGUMENT;
	return tn_runtime_answer(scaler->module->runtime, state, &scaler->state, sizeof(*state),
				 "struct tn_grad_scaler_state", "grad_scaler_get_state");
}

tn_status tn_grad_scaler_set_state(tn_grad_scaler *scaler, const struct tn_grad_scaler_state *state)
{
	static const char operation[] = "grad_scaler_set_state";
	if (!scaler || !state)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = scaler->module->runtime;
	struct tn_grad_scaler_state own = scaler->state;
	tn_status status = check_progress(scaler, operation, "the scale");
	if (!status)
		status = tn_runtime_take(rt, &own, sizeof(own), state,
					 "struct tn_grad_scaler_state", operation);
	if (status)
		return status;
	if (!(own.scale >= (double)FLT_MIN && own.scale <= (double)FLT_MAX))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "scale: expected an f32 above 0, found %g", own.scale);
	if (scaler->progress != SCALED)
		return tn_runtime_fail(rt, TN_STATE, operation,
				       "gradients have been unscaled: update first");
	return take_state(scaler, &own);
}

/* ---- For checkpoints -------------------------------------------------------------------------*/

const tn_module *tn_grad_scaler_module(const tn_grad_scaler *scaler)
{
	return scaler->module;
}

const struct tn_grad_scaler_options *tn_grad_scaler_options_of(const tn_grad_scaler *scaler)
{
	return &scaler->o;
}

int tn_grad_scaler_is_within_step(const tn_grad_scaler *scaler)
{
	return scaler->progress != SCALED;
}
