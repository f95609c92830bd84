/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A captured run is a source of stepped scalars (capture/stepped.h): all those of the program and
 * the deviation of the noise, because the learning rate and the step number change.  A replay
 * counts the step of each of its weights.
 */
#include "optim/optimizer.h"

#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "base/error.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "ops/map.h"
#include "optim/hooks.h"
#include "optim/lookahead.h"

/* A run that is captured in a graph. */
struct captured_run {
	struct tn_captured captured;
	tn_optimizer *optimizer;
	struct tn_run run;
};

static tn_program *parse_rule(const struct tn_optimizer_rule *rule, size_t n_states,
			      struct tn_error_info *error)
{
	static const tn_dtype f32[TN_PROGRAM_MAX_SCALARS] = {
		TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32,
		TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32};
	const char *inputs[2 + TN_OPTIMIZER_MAX_STATES] = {"w", "dw"};
	const char *outputs[1 + TN_OPTIMIZER_MAX_STATES] = {"w"};
	for (size_t i = 0; i < n_states; i++)
		inputs[2 + i] = outputs[1 + i] = rule->states[i];
	struct tn_program_names names = {
		.struct_size = sizeof(names),
		.n_inputs = (uint32_t)(2 + n_states),
		.inputs = inputs,
		.input_dtypes = f32,
		.n_scalars = rule->n_scalars,
		.scalars = rule->scalars,
		.scalar_dtypes = f32,
		.n_outputs = (uint32_t)(1 + n_states),
		.outputs = outputs,
	};
	tn_program *program = NULL;
	return tn_program_parse(rule->text, &names, &program, error) ? NULL : program;
}

/* Makes the states' arenas on the module's device, regardless of the current one. */
static tn_status make_parts(tn_optimizer *optimizer, const void *options, size_t size)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	struct tn_error_info error;
	optimizer->options = tn_mem_alloc(size);
	if (!optimizer->options)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, optimizer->rule->name,
				       "no memory for the optimizer");
	memcpy(optimizer->options, options, size);
	while (optimizer->rule->states[optimizer->n_states])
		optimizer->n_states++;
	optimizer->program = parse_rule(optimizer->rule, optimizer->n_states, &error);
	if (!optimizer->program)
		return tn_runtime_keep(rt, &error);
	struct tn_device *current = rt->device;
	tn_status status = tn_scope_begin(module->context);
	if (status)
		return status;
	rt->device = tn_array_home(module->arena.values);
	for (size_t i = 0; i < optimizer->n_states && !status; i++) {
		tn_array *state = tn_zeros(module->context, TN_F32, 1, &module->arena.size);
		status = state ? TN_OK : rt->error.status;
		if (state)
			optimizer->states[i] = tn_array_hold(state);
	}
	rt->device = current;
	tn_scope_end(module->context, NULL);
	return status;
}

tn_optimizer *tn_optimizer_create(tn_module *module, const struct tn_optimizer_rule *rule,
				  double lr, double weight_decay, const void *options, size_t size)
{
	struct tn_runtime *rt = module->runtime;
	if (tn_runtime_ready(rt))
		return NULL;
	if (!module->arena.values) {
		tn_runtime_fail(rt, TN_STATE, rule->name,
				"the module has not been built, or is a member of another module");
		return NULL;
	}
	tn_optimizer *optimizer = tn_mem_zeroed(1, sizeof(*optimizer));
	struct tn_weight_setting *settings = tn_mem_zeroed(module->n_listing, sizeof(*settings));
	if (!optimizer || !settings) {
		tn_mem_free(optimizer);
		tn_mem_free(settings);
		tn_runtime_fail(rt, TN_OUT_OF_MEMORY, rule->name, "no memory for the optimizer");
		return NULL;
	}
	for (size_t i = 0; i < module->n_listing; i++)
		settings[i] =
			(struct tn_weight_setting){.lr_factor = 1.0, .weight_decay = weight_decay};
	optimizer->module = module;
	optimizer->rule = rule;
	optimizer->lr = lr;
	optimizer->settings = settings;
	if (!make_parts(optimizer, options, size))
		return optimizer;
	tn_optimizer_destroy(optimizer);
	return NULL;
}

void tn_optimizer_destroy(tn_optimizer *optimizer)
{
	if (!optimizer)
		return;
	tn_captured_abandon(&optimizer->captured);
	for (size_t i = 0; optimizer->views && i < optimizer->module->n_listing; i++) {
		for (size_t k = 0; k <= TN_OPTIMIZER_MAX_STATES; k++)
			tn_array_unhold(optimizer->views[i].states[k]);
	}
	tn_mem_free(optimizer->views);
	tn_array_unhold(optimizer->hooks.mask);
	tn_array_unhold(optimizer->lookahead.slow);
	for (size_t i = 0; i < optimizer->n_states; i++)
		tn_array_unhold(optimizer->states[i]);
	tn_program_destroy(optimizer->program);
	tn_mem_free(optimizer->settings);
	tn_mem_free(optimizer->options);
	tn_mem_free(optimizer);
}

/* The scalars of the run's next step: the rule's, then the deviation of the noise. */
static void scalars_of(const tn_optimizer *optimizer, const struct tn_run *run,
		       struct tn_scalar *scalars)
{
	const struct tn_weight_setting *setting =
		tn_setting_at(optimizer->module, optimizer->settings, run->first);
	const struct tn_rule_point at = {.step = setting->steps + 1,
					 .lr = optimizer->lr * setting->lr_factor,
					 .weight_decay = setting->weight_decay};
	double values[TN_PROGRAM_MAX_SCALARS];
	optimizer->rule->scalars_at(optimizer->options, &at, values);
	for (uint32_t i = 0; i < optimizer->program->n_scalars; i++)
		scalars[i] = tn_scalar_of(TN_F32, values[i]);
	scalars[optimizer->program->n_scalars] =
		tn_scalar_of(TN_F32, tn_noise_deviation(&optimizer->hooks, at.step));
}

static void count_steps(const tn_optimizer *optimizer, const struct tn_run *run, int by)
{
	for (size_t i = run->first; i < run->last; i++)
		tn_setting_at(optimizer->module, optimizer->settings, i)->steps +=
			(uint64_t)(int64_t)by;
}

/* ---- Captured steps --------------------------------------------------------------------------*/

/* The weights of a run had equal settings when it was captured; later eager steps of only some of
 * them, or new settings, would have split it. */
static tn_status captured_next(struct tn_runtime *rt, void *state, struct tn_scalar *scalars)
{
	const struct captured_run *captured = state;
	tn_status status = tn_captured_check(rt, &captured->captured, "the optimizer");
	if (status)
		return status;
	const tn_optimizer *optimizer = captured->optimizer;
	const tn_module *module = optimizer->module;
	const struct tn_run *run = &captured->run;
	for (size_t i = run->first + 1; i < run->last; i++) {
		if (!tn_settings_equal(tn_setting_at(module, optimizer->settings, i),
				       tn_setting_at(module, optimizer->settings, run->first)))
			return tn_fail(&rt->report, TN_STATE, "graph_replay",
				       "%s: %s and %s were captured together but have since been "
				       "stepped separately or given different settings",
				       optimizer->rule->name, tn_weight_name_at(module, run->first),
				       tn_weight_name_at(module, i));
	}
	scalars_of(optimizer, run, scalars);
	count_steps(optimizer, run, 1);
	return TN_OK;
}

static void captured_take_back(void *state)
{
	const struct captured_run *captured = state;
	if (captured->captured.list)
		count_steps(captured->optimizer, &captured->run, -1);
}

static const struct tn_stepped_source captured_run = {
	.size = sizeof(struct captured_run),
	.next = captured_next,
	.take_back = captured_take_back,
	.release = tn_captured_release,
};

/* ---- Steps -----------------------------------------------------------------------------------*/

static tn_status step_run(tn_optimizer *optimizer, const struct tn_run *run,
			  const struct tn_scalar random[2])
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	const uint32_t n_scalars = optimizer->program->n_scalars;
	const tn_array *inputs[2 + TN_OPTIMIZER_MAX_STATES];
	tn_array *outputs[1 + TN_OPTIMIZER_MAX_STATES], *gradients;
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS];
	void *state;
	scalars_of(optimizer, run, scalars);
	tn_status status = tn_stepped_add(rt, tn_array_home(module->arena.values), &captured_run,
					  n_scalars + 1, scalars, &state);
	if (status)
		return tn_runtime_keep(rt, &rt->report);
	struct captured_run *captured = state;
	if (captured) {
		captured->optimizer = optimizer;
		captured->run = *run;
		tn_captured_add(&optimizer->captured, &captured->captured);
		count_steps(optimizer, run, 1);
	}
	inputs[0] = outputs[0] = tn_slice_run(module->arena.values, run);
	inputs[1] = gradients = tn_slice_run(module->arena.gradients, run);
	for (size_t i = 0; i < optimizer->n_states; i++)
		inputs[2 + i] = outputs[1 + i] = tn_slice_run(optimizer->states[i], run);
	if (rt->error.status)
		return rt->error.status;
	status = tn_end_into(
		rt, tn_hooks_run(optimizer, run, inputs[0], gradients, random, scalars[n_scalars]));
	if (status)
		return status;
	const struct tn_map_run map = {.operation = tn_operation_named(rt, optimizer->rule->name),
				       .program = optimizer->program,
				       .inputs = inputs,
				       .outputs = outputs,
				       .scalars = scalars};
	status = tn_end_into(rt, tn_map_run(rt, &map));
	if (!status && !captured)
		count_steps(optimizer, run, 1);
	return status;
}

tn_status tn_optimizer_step(tn_optimizer *optimizer)
{
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = optimizer->module->runtime;
	const struct tn_random_state before = rt->random;
	struct tn_scalar random[2];
	struct tn_run run;
	size_t next = 0;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (rt->recorder)
		return tn_runtime_fail(
			rt, TN_STATE, optimizer->rule->name,
			"a tape is recording: end it, or run backward, before the step");
	status = tn_scope_begin(optimizer->module->context);
	if (status)
		return status;
	if (optimizer->hooks.eta > 0.0 &&
	    tn_stepped_random(rt, tn_array_home(optimizer->module->arena.values), random))
		status = tn_runtime_keep(rt, &rt->report);
	while (!status && tn_next_run(optimizer->module, optimizer->settings, &next, &run))
		status = step_run(optimizer, &run, random);
	if (!status)
		status = tn_lookahead_step(optimizer);
	tn_scope_end(optimizer->module->context, NULL);
	return tn_stepped_drawn(rt, before, status);
}

void tn_optimizer_set_lr(tn_optimizer *optimizer, double lr)
{
	if (optimizer &&
	    !tn_capture_refuse(optimizer->module->runtime, "optimizer_set_lr", "the learning rate"))
		optimizer->lr = lr;
}

double tn_optimizer_lr(const tn_optimizer *optimizer)
{
	return optimizer ? optimizer->lr : 0.0;
}
