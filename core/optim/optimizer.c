/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs: consecutive weights of the arena that are trainable, have a gradient and have been stepped
 * equally often.  The gaps between weights belong to the run: they are zero and remain zero.
 *
 * A captured run is a source of stepped scalars (capture/stepped.h): all those of the program,
 * because the learning rate and the step number change.  A replay counts the step of each of its
 * weights.
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

/* A run that is captured in a graph. */
struct tn_captured_run {
	tn_optimizer *optimizer; /* NULL: has been destroyed */
	struct tn_captured_run *next;
	struct tn_run run;
};

int tn_optimizer_next_run(const tn_module *module, const uint64_t *steps, size_t *next,
			  struct tn_run *run)
{
	int found = 0;
	for (; *next < module->n_listing; ++*next) {
		const struct tn_weight *weight = module->listing[*next].weight;
		uint64_t step = steps ? steps[*next] + 1 : 0;
		int wanted = weight->trainable && weight->filled && (!found || step == run->step);
		if (found && !wanted)
			break;
		if (!wanted)
			continue;
		if (!found)
			*run = (struct tn_run){
				.begin = weight->offset, .first = *next, .step = step};
		run->end = weight->offset + weight->size;
		run->last = *next + 1;
		found = 1;
	}
	return found;
}

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
	optimizer->steps = tn_mem_zeroed(module->n_listing, sizeof(*optimizer->steps));
	optimizer->options = tn_mem_alloc(size);
	if (!optimizer->steps || !optimizer->options)
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
				  double lr, const void *options, size_t size)
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
	if (!optimizer) {
		tn_runtime_fail(rt, TN_OUT_OF_MEMORY, rule->name, "no memory for the optimizer");
		return NULL;
	}
	optimizer->module = module;
	optimizer->rule = rule;
	optimizer->lr = lr;
	if (!make_parts(optimizer, options, size))
		return optimizer;
	tn_optimizer_destroy(optimizer);
	return NULL;
}

void tn_optimizer_destroy(tn_optimizer *optimizer)
{
	if (!optimizer)
		return;
	for (struct tn_captured_run *each = optimizer->captured; each; each = each->next)
		each->optimizer = NULL;
	for (size_t i = 0; i < optimizer->n_states; i++)
		tn_array_unhold(optimizer->states[i]);
	tn_program_destroy(optimizer->program);
	tn_mem_free(optimizer->steps);
	tn_mem_free(optimizer->options);
	tn_mem_free(optimizer);
}

static void scalars_of(const tn_optimizer *optimizer, uint64_t step, struct tn_scalar *scalars)
{
	double values[TN_PROGRAM_MAX_SCALARS];
	optimizer->rule->scalars_at(optimizer->options, optimizer->lr, step, values);
	for (uint32_t i = 0; i < optimizer->program->n_scalars; i++)
		scalars[i] = tn_scalar_of(TN_F32, values[i]);
}

/* ---- Captured steps --------------------------------------------------------------------------*/

static void count_steps(tn_optimizer *optimizer, const struct tn_run *run, int by)
{
	for (size_t i = run->first; i < run->last; i++)
		optimizer->steps[i] += (uint64_t)(int64_t)by;
}

/* The weights of a run were stepped equally often when it was captured; later eager steps of only
 * some of them would have split it. */
static tn_status captured_next(struct tn_runtime *rt, void *state, struct tn_scalar *scalars)
{
	const struct tn_captured_run *captured = state;
	tn_optimizer *optimizer = captured->optimizer;
	const struct tn_run *run = &captured->run;
	if (!optimizer)
		return tn_fail(&rt->report, TN_STATE, "graph_replay",
			       "the optimizer whose step was captured has been destroyed");
	for (size_t i = run->first + 1; i < run->last; i++) {
		if (optimizer->steps[i] != optimizer->steps[run->first])
			return tn_fail(&rt->report, TN_STATE, "graph_replay",
				       "%s: %s and %s were captured together but have since been "
				       "stepped separately",
				       optimizer->rule->name,
				       optimizer->module->listing[run->first].name,
				       optimizer->module->listing[i].name);
	}
	scalars_of(optimizer, optimizer->steps[run->first] + 1, scalars);
	count_steps(optimizer, run, 1);
	return TN_OK;
}

static void captured_take_back(void *state)
{
	const struct tn_captured_run *captured = state;
	if (captured->optimizer)
		count_steps(captured->optimizer, &captured->run, -1);
}

static void captured_release(void *state)
{
	struct tn_captured_run *captured = state;
	struct tn_captured_run **link = captured->optimizer ? &captured->optimizer->captured : NULL;
	while (link && *link != captured)
		link = &(*link)->next;
	if (link)
		*link = captured->next;
}

static const struct tn_stepped_source captured_run = {
	.size = sizeof(struct tn_captured_run),
	.next = captured_next,
	.take_back = captured_take_back,
	.release = captured_release,
};

/* ---- Steps -----------------------------------------------------------------------------------*/

static tn_array *slice_run(const tn_array *arena, const struct tn_run *run)
{
	return tn_slice(arena, 0, run->begin, run->end, 1);
}

static tn_status step_run(tn_optimizer *optimizer, const struct tn_run *run)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	const tn_array *inputs[2 + TN_OPTIMIZER_MAX_STATES];
	tn_array *outputs[1 + TN_OPTIMIZER_MAX_STATES];
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS];
	void *state;
	scalars_of(optimizer, run->step, scalars);
	tn_status status = tn_stepped_add(rt, tn_array_home(module->arena.values), &captured_run,
					  optimizer->program->n_scalars, scalars, &state);
	if (status)
		return tn_runtime_keep(rt, &rt->report);
	struct tn_captured_run *captured = state;
	if (captured) {
		*captured = (struct tn_captured_run){
			.optimizer = optimizer, .next = optimizer->captured, .run = *run};
		optimizer->captured = captured;
		count_steps(optimizer, run, 1);
	}
	inputs[0] = outputs[0] = slice_run(module->arena.values, run);
	inputs[1] = slice_run(module->arena.gradients, run);
	for (size_t i = 0; i < optimizer->n_states; i++)
		inputs[2 + i] = outputs[1 + i] = slice_run(optimizer->states[i], run);
	if (rt->error.status)
		return rt->error.status;
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
	while (!status && tn_optimizer_next_run(optimizer->module, optimizer->steps, &next, &run))
		status = step_run(optimizer, &run);
	tn_scope_end(optimizer->module->context, NULL);
	return status;
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
