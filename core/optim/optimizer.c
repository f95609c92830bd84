/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes an optimizer of a rule, and takes its steps: an element program updates each run of weights
 * with equal settings.
 *
 * A captured run is a source of stepped scalars (capture/stepped.h): all those of the program and
 * the deviation of the noise, because the learning rate and the step number change.  A replay
 * counts the step of each of its weights.
 */
#include "optim/optimizer.h"

#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "array/handle.h"
#include "array/watch.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "capture/capture.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "nn/tree.h"
#include "ops/map.h"
#include "optim/hooks.h"
#include "optim/layerwise.h"
#include "optim/lookahead.h"
#include "optim/masters.h"
#include "optim/shard.h"
#include "optim/state.h"

/* A run that is captured in a graph. */
struct captured_run {
	struct tn_captured captured;
	tn_optimizer *optimizer;
	struct tn_run run;
};

enum { LONGEST_NAMES = 256 };

/* The names of inputs and outputs of a program, words as in a formula. */
struct operands {
	char inputs[LONGEST_NAMES];
	char outputs[LONGEST_NAMES];
	tn_dtype first; /* of the first input */
};

static void add_word(char words[LONGEST_NAMES], const char *word)
{
	const size_t length = strlen(words);
	snprintf(words + length, LONGEST_NAMES - length, "%s%s", length ? " " : "", word);
}

static void add_states(const tn_optimizer *optimizer, struct operands *operands)
{
	for (size_t i = 0; i < optimizer->n_states; i++) {
		add_word(operands->inputs, optimizer->rule->states[i]);
		add_word(operands->outputs, optimizer->rule->states[i]);
	}
}

static tn_status parse_text(const tn_optimizer *optimizer, const char *text,
			    const struct operands *operands, tn_program **program,
			    struct tn_error_info *error)
{
	const struct tn_formula formula = {.text = text,
					   .inputs = operands->inputs,
					   .scalars = optimizer->rule->scalars,
					   .outputs = operands->outputs};
	tn_dtype dtypes[TN_OPTIMIZER_MAX_INPUTS], scalars[TN_PROGRAM_MAX_SCALARS];
	for (uint32_t i = 0; i < TN_OPTIMIZER_MAX_INPUTS; i++)
		dtypes[i] = tn_arena_dtype(optimizer->module);
	for (uint32_t i = 0; i < TN_PROGRAM_MAX_SCALARS; i++)
		scalars[i] = tn_arena_dtype(optimizer->module);
	if (operands->first)
		dtypes[0] = operands->first;
	return tn_formula_parse(&formula, dtypes, scalars, program, error);
}

/* A rule of one program; with masters, its weights are an output more. */
static tn_status parse_plain(tn_optimizer *optimizer, struct tn_error_info *error)
{
	const struct tn_optimizer_rule *rule = optimizer->rule;
	struct operands plain = {.inputs = "w dw", .outputs = "w"};
	struct operands with_masters = {.inputs = "stored master dw",
					.outputs = "stored master",
					.first = optimizer->module->arena.values->dtype};
	struct operands *operands = optimizer->masters ? &with_masters : &plain;
	add_states(optimizer, operands);
	if (!optimizer->masters)
		return parse_text(optimizer, rule->text, operands, &optimizer->program, error);
	char *text = tn_masters_text(operands->first, rule->text);
	if (!text)
		return tn_no_memory(error, rule->name, NULL, "a program");
	tn_status status = parse_text(optimizer, text, operands, &optimizer->program, error);
	tn_mem_free(text);
	return status;
}

/* The programs of a layer-wise rule, in which w is the master where there is one. */
static tn_status parse_layerwise(tn_optimizer *optimizer, struct tn_error_info *error)
{
	static const struct operands squares = {.inputs = "w_squares d_squares",
						.outputs = "ratio"};
	const struct tn_optimizer_rule *rule = optimizer->rule;
	struct operands before = {.inputs = "w dw"};
	struct operands update = {.inputs = "w dw", .outputs = "w"};
	struct tn_text text;
	tn_status status = TN_OK;
	if (rule->prepare) {
		add_states(optimizer, &before);
		add_word(before.outputs, "d");
		strcpy(update.inputs, "w d");
		status = parse_text(optimizer, rule->prepare, &before, &optimizer->prepare, error);
	} else {
		add_states(optimizer, &update);
	}
	add_word(update.inputs, "ratio");
	if (!status)
		status = parse_text(optimizer, rule->ratio, &squares, &optimizer->ratio, error);
	if (status)
		return status;
	tn_text_init(&text);
	tn_text_add(&text, rule->text);
	if (optimizer->masters) {
		add_word(update.outputs, "stored");
		tn_text_add(&text, "; stored = w");
	}
	char *whole = tn_text_take(&text);
	if (!whole)
		return tn_no_memory(error, rule->name, NULL, "a program");
	status = parse_text(optimizer, whole, &update, &optimizer->program, error);
	tn_mem_free(whole);
	return status;
}

/* Makes the arenas of the masters and the states in the innermost scope. */
static tn_status make_arenas(tn_optimizer *optimizer)
{
	const tn_module *module = optimizer->module;
	tn_status status = tn_shard_open(optimizer);
	const int64_t size = optimizer->share.end - optimizer->share.begin;
	if (!status)
		status = tn_masters_make(optimizer);
	for (size_t i = 0; i < optimizer->n_states && !status; i++) {
		tn_array *state = tn_zeros(module->context, tn_arena_dtype(module), 1, &size);
		status = state ? TN_OK : module->runtime->error.status;
		if (state)
			optimizer->states[i] = tn_array_hold(state);
	}
	return status;
}

/* Makes the arenas on the module's device, regardless of the current one. */
static tn_status make_parts(tn_optimizer *optimizer, const void *options, size_t size)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	struct tn_error_info error;
	optimizer->options = tn_mem_alloc(size);
	if (!optimizer->options)
		return tn_runtime_no_memory(rt, optimizer->rule->name, "the optimizer");
	memcpy(optimizer->options, options, size);
	while (optimizer->rule->states[optimizer->n_states])
		optimizer->n_states++;
	optimizer->n_scalars = tn_count_words(optimizer->rule->scalars);
	struct tn_device *current = rt->device;
	const int is_layerwise = optimizer->rule->ratio != NULL;
	tn_status status = is_layerwise ? tn_layerwise_open(optimizer) : TN_OK;
	if (!status)
		status = tn_scope_begin(module->context);
	if (status)
		return status;
	rt->device = tn_array_home(module->arena.values);
	status = make_arenas(optimizer);
	rt->device = current;
	tn_scope_end(module->context, NULL);
	if (status)
		return status;
	status = is_layerwise ? parse_layerwise(optimizer, &error) : parse_plain(optimizer, &error);
	return status ? tn_runtime_keep(rt, &error) : TN_OK;
}

tn_optimizer *tn_optimizer_create(tn_module *module, const struct tn_optimizer_rule *rule,
				  double lr, double weight_decay, const void *options, size_t size)
{
	struct tn_runtime *rt = module->runtime;
	if (tn_runtime_ready(rt) || tn_module_check_network(module, rule->name))
		return NULL;
	tn_optimizer *optimizer = tn_mem_zeroed(1, sizeof(*optimizer));
	struct tn_weight_setting *settings = tn_mem_zeroed(module->n_listing, sizeof(*settings));
	if (!optimizer || !settings) {
		tn_mem_free(optimizer);
		tn_mem_free(settings);
		tn_runtime_no_memory(rt, rule->name, "the optimizer");
		return NULL;
	}
	for (size_t i = 0; i < module->n_listing; i++)
		settings[i] = (struct tn_weight_setting){
			.lr_factor = 1.0, .weight_decay = weight_decay, .is_adapted = 1};
	optimizer->module = module;
	optimizer->rule = rule;
	optimizer->lr = lr;
	optimizer->settings = settings;
	module->n_users++;
	if (!make_parts(optimizer, options, size))
		return optimizer;
	tn_optimizer_destroy(optimizer);
	return NULL;
}

void tn_optimizer_destroy(tn_optimizer *optimizer)
{
	if (!optimizer ||
	    tn_handle_has_ended(optimizer->module->runtime, optimizer, "optimizer_destroy"))
		return;
	optimizer->module->n_users--;
	tn_captured_abandon(&optimizer->captured);
	tn_state_forget_views(optimizer);
	tn_shard_close(optimizer);
	tn_array_unhold(optimizer->hooks.mask);
	tn_array_unhold(optimizer->lookahead.slow);
	for (size_t i = 0; i < optimizer->n_states; i++)
		tn_array_unhold(optimizer->states[i]);
	tn_array_unhold(optimizer->masters);
	tn_array_unhold(optimizer->segments);
	tn_row_sums_close(&optimizer->row_sums);
	tn_program_destroy(optimizer->prepare);
	tn_program_destroy(optimizer->ratio);
	tn_program_destroy(optimizer->program);
	tn_mem_free(optimizer->settings);
	tn_mem_free(optimizer->options);
	tn_module_user_end(&optimizer->module, optimizer, "the optimizer");
}

tn_status tn_nesterov_check(struct tn_runtime *runtime, const char *operation, double momentum,
			    double dampening)
{
	if (momentum > 0.0 && dampening == 0.0)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
			       "nesterov: expected momentum above 0 and dampening 0, found %g and "
			       "%g",
			       momentum, dampening);
}

void tn_optimizer_spare_vectors(tn_optimizer *optimizer, int are_spared)
{
	for (size_t i = 0; optimizer && i < optimizer->module->n_listing; i++)
		optimizer->settings[i].is_adapted =
			!are_spared || optimizer->module->listing[i].weight->rank > 1;
}

/* The scalars of the run's next step: the rule's, then the deviation of the noise. */
static void scalars_of(const tn_optimizer *optimizer, const struct tn_run *run,
		       struct tn_scalar *scalars)
{
	const struct tn_weight_setting *setting =
		tn_setting_at(optimizer->module, optimizer->settings, run->first);
	const struct tn_rule_point at = {.step = setting->steps + 1,
					 .lr = optimizer->lr * setting->lr_factor,
					 .weight_decay = setting->weight_decay,
					 .is_adapted = setting->is_adapted};
	const tn_dtype dtype = tn_arena_dtype(optimizer->module);
	double values[TN_PROGRAM_MAX_SCALARS];
	optimizer->rule->scalars_at(optimizer->options, &at, values);
	for (uint32_t i = 0; i < optimizer->n_scalars; i++)
		scalars[i] = tn_scalar_of(dtype, values[i]);
	scalars[optimizer->n_scalars] =
		tn_scalar_of(dtype, tn_noise_deviation(&optimizer->hooks, at.step));
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

/* A run of a step that has begun. */
struct pending_run {
	struct tn_run run;
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS];
	int is_captured;
};

/* Takes the scalars of the run's step, and runs the hooks. */
static tn_status begin_run(tn_optimizer *optimizer, const struct tn_scalar random[2],
			   struct pending_run *pending)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	const uint32_t n_scalars = optimizer->n_scalars;
	void *state;
	scalars_of(optimizer, &pending->run, pending->scalars);
	if (tn_stepped_add(rt, tn_array_home(module->arena.values), &captured_run, n_scalars + 1,
			   pending->scalars, &state))
		return tn_runtime_keep(rt, &rt->report);
	struct captured_run *captured = state;
	pending->is_captured = captured != NULL;
	if (captured) {
		captured->optimizer = optimizer;
		captured->run = pending->run;
		tn_captured_add(&optimizer->captured, &captured->captured);
		count_steps(optimizer, &pending->run, 1);
	}
	return tn_hooks_run(optimizer, &pending->run, random, pending->scalars[n_scalars]);
}

static tn_status update_run(const tn_optimizer *optimizer, const struct pending_run *pending)
{
	const tn_module *module = optimizer->module;
	const struct tn_run *run = &pending->run;
	struct tn_runtime *rt = module->runtime;
	const tn_array *inputs[TN_OPTIMIZER_MAX_INPUTS];
	tn_array *outputs[TN_OPTIMIZER_MAX_OUTPUTS];
	uint32_t n_inputs = 0, n_outputs = 0;
	inputs[n_inputs++] = outputs[n_outputs++] = tn_slice_run(module->arena.values, run);
	if (optimizer->masters)
		inputs[n_inputs++] = outputs[n_outputs++] =
			tn_shard_slice(optimizer, optimizer->masters, run);
	inputs[n_inputs++] = tn_slice_run(module->arena.gradients, run);
	for (size_t i = 0; i < optimizer->n_states; i++)
		inputs[n_inputs++] = outputs[n_outputs++] =
			tn_shard_slice(optimizer, optimizer->states[i], run);
	if (rt->error.status)
		return rt->error.status;
	const struct tn_map_run map = {.operation = tn_operation_named(rt, optimizer->rule->name),
				       .program = optimizer->program,
				       .inputs = inputs,
				       .outputs = outputs,
				       .scalars = pending->scalars};
	return tn_end_into(rt, tn_map_run(rt, &map));
}

/* Each run at once. */
static tn_status step_runs(tn_optimizer *optimizer, const struct tn_scalar random[2])
{
	struct pending_run pending = {0};
	size_t next = 0;
	tn_status status = TN_OK;
	while (!status &&
	       tn_next_run(optimizer->module, optimizer->settings, &next, &pending.run)) {
		if (tn_shard_clip(optimizer, &pending.run)) {
			status = begin_run(optimizer, random, &pending);
			if (!status)
				status = update_run(optimizer, &pending);
		}
		if (!status && !pending.is_captured)
			count_steps(optimizer, &pending.run, 1);
	}
	return status;
}

/* What depends on whole weights follows what all runs have done before. */
static tn_status step_layerwise(tn_optimizer *optimizer, const struct tn_scalar random[2])
{
	const tn_module *module = optimizer->module;
	struct tn_layerwise_step step;
	size_t next = 0, n = 0;
	struct pending_run *runs = tn_mem_zeroed(module->n_listing + 1, sizeof(*runs));
	if (!runs)
		return tn_runtime_no_memory(module->runtime, optimizer->rule->name,
					    "the runs of a step");
	tn_status status = tn_masters_update(optimizer);
	if (!status)
		status = tn_layerwise_begin(optimizer, &step);
	while (!status && tn_next_run(module, optimizer->settings, &next, &runs[n].run)) {
		status = begin_run(optimizer, random, &runs[n]);
		if (!status)
			status = tn_layerwise_prepare(optimizer, &step, &runs[n].run,
						      runs[n].scalars);
		n++;
	}
	if (!status && n)
		status = tn_layerwise_sums(optimizer, &step);
	for (size_t i = 0; i < n && !status; i++)
		status = tn_layerwise_ratio(optimizer, &step, &runs[i].run, runs[i].scalars);
	if (!status && n)
		status = tn_layerwise_spread(optimizer, &step);
	for (size_t i = 0; i < n && !status; i++) {
		status = tn_layerwise_update(optimizer, &step, &runs[i].run, runs[i].scalars);
		if (!status && !runs[i].is_captured)
			count_steps(optimizer, &runs[i].run, 1);
	}
	tn_mem_free(runs);
	return status;
}

tn_status tn_optimizer_step(tn_optimizer *optimizer)
{
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = optimizer->module->runtime;
	const struct tn_random_state before = rt->random;
	struct tn_device *current = rt->device;
	struct tn_scalar random[2];
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
	rt->device = tn_array_home(optimizer->module->arena.values);
	struct tn_watch *watch = rt->watch;
	if (watch)
		tn_watch_begin(watch, TN_WATCH_STEP, optimizer->module->watch_row,
			       optimizer->rule->name);
	if (!status)
		status = tn_shard_before_step(optimizer);
	if (!status)
		status = optimizer->rule->ratio ? step_layerwise(optimizer, random)
						: step_runs(optimizer, random);
	rt->device = current;
	if (!status)
		status = tn_lookahead_step(optimizer);
	if (!status)
		status = tn_shard_after_step(optimizer);
	if (watch)
		tn_watch_end(watch, NULL);
	tn_scope_end(optimizer->module->context, NULL);
	return tn_stepped_drawn(rt, before, status);
}

void tn_optimizer_set_lr(tn_optimizer *optimizer, double lr)
{
	static const char operation[] = "optimizer_set_lr";
	if (!optimizer)
		return;
	struct tn_runtime *rt = optimizer->module->runtime;
	if (tn_handle_check(rt, operation))
		return;
	if (!(lr >= 0.0))
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				"lr: expected a number of at least 0, found %g", lr);
	else if (!tn_capture_refuse(rt, operation, "the learning rate"))
		optimizer->lr = lr;
}

double tn_optimizer_lr(const tn_optimizer *optimizer)
{
	return optimizer && !tn_module_user_check(optimizer->module, "optimizer_lr") ? optimizer->lr
										     : 0.0;
}
