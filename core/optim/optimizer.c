/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs: consecutive weights of the arena that are trainable, have a gradient and have been stepped
 * equally often.  The gaps between weights belong to the run: they are zero and stay zero.
 */
#include "optim/optimizer.h"

#include "array/array.h"
#include "array/ledger.h"
#include "array/make.h"
#include "array/map.h"
#include "base/error.h"
#include "base/memory.h"

int tn_optimizer_next_run(const tn_module *module, const uint64_t *steps, size_t *next,
			  struct tn_run *run)
{
	int found = 0;
	for (; *next < module->n_listing; ++*next) {
		const struct tn_weight *weight = module->listing[*next].weight;
		uint64_t step = steps ? steps[*next] + 1 : 0;
		int wanted = weight->trainable && weight->filled && (!found || step == run->step);
		if (found && !wanted)
			return 1;
		if (!wanted)
			continue;
		if (!found)
			*run = (struct tn_run){.begin = weight->offset, .step = step};
		run->end = weight->offset + weight->size;
		found = 1;
	}
	return found;
}

static tn_program *parse(const char *text, size_t n_states, const char *const *states,
			 uint32_t n_scalars, const char *const *scalars,
			 struct tn_error_info *error)
{
	static const tn_dtype f32[TN_PROGRAM_MAX_SCALARS] = {
		TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32,
		TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32};
	const char *inputs[2 + TN_OPTIMIZER_MAX_STATES] = {"w", "dw"};
	const char *outputs[1 + TN_OPTIMIZER_MAX_STATES] = {"w"};
	for (size_t i = 0; i < n_states; i++)
		inputs[2 + i] = outputs[1 + i] = states[i];
	struct tn_program_names names = {
		.struct_size = sizeof(names),
		.n_inputs = (uint32_t)(2 + n_states),
		.inputs = inputs,
		.input_dtypes = f32,
		.n_scalars = n_scalars,
		.scalars = scalars,
		.scalar_dtypes = f32,
		.n_outputs = (uint32_t)(1 + n_states),
		.outputs = outputs,
	};
	tn_program *program = NULL;
	return tn_program_parse(text, &names, &program, error) ? NULL : program;
}

static tn_status make(tn_optimizer *optimizer, const char *const *states, const char *text,
		      uint32_t n_scalars, const char *const *scalars)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	struct tn_error_info error;
	optimizer->steps = tn_mem_zeroed(module->n_listing, sizeof(*optimizer->steps));
	if (!optimizer->steps)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, optimizer->name,
				       "no memory for the optimizer");
	optimizer->program = parse(text, optimizer->n_states, states, n_scalars, scalars, &error);
	if (!optimizer->program)
		return tn_runtime_keep(rt, &error);
	tn_status status = tn_scope_begin(module->context);
	if (status)
		return status;
	for (size_t i = 0; i < optimizer->n_states && !status; i++) {
		tn_array *state = tn_zeros(module->context, TN_F32, 1, &module->arena.size);
		status = state ? TN_OK : rt->error.status;
		if (state)
			optimizer->states[i] = tn_array_hold(state);
	}
	tn_scope_end(module->context, NULL);
	return status;
}

tn_optimizer *tn_optimizer_create(tn_module *module, const char *name, size_t n_states,
				  const char *const *states, const char *text, uint32_t n_scalars,
				  const char *const *scalars)
{
	struct tn_runtime *rt = module->runtime;
	if (tn_runtime_ready(rt))
		return NULL;
	if (!module->arena.values) {
		tn_runtime_fail(rt, TN_STATE, name,
				"the module has not been built, or is a member of another");
		return NULL;
	}
	tn_optimizer *optimizer = tn_mem_zeroed(1, sizeof(*optimizer));
	if (!optimizer) {
		tn_runtime_fail(rt, TN_OUT_OF_MEMORY, name, "no memory for the optimizer");
		return NULL;
	}
	optimizer->module = module;
	optimizer->name = name;
	optimizer->n_states = n_states;
	if (!make(optimizer, states, text, n_scalars, scalars))
		return optimizer;
	tn_optimizer_destroy(optimizer);
	return NULL;
}

void tn_optimizer_destroy(tn_optimizer *optimizer)
{
	if (!optimizer)
		return;
	for (size_t i = 0; i < optimizer->n_states; i++)
		tn_array_unhold(optimizer->states[i]);
	tn_program_destroy(optimizer->program);
	tn_mem_free(optimizer->steps);
	tn_mem_free(optimizer);
}

tn_status tn_optimizer_run(tn_optimizer *optimizer, tn_array *w, tn_array *dw,
			   tn_array *const *states, const double *scalars)
{
	const tn_array *inputs[2 + TN_OPTIMIZER_MAX_STATES] = {w, dw};
	tn_array *outputs[1 + TN_OPTIMIZER_MAX_STATES] = {w};
	struct tn_scalar values[TN_PROGRAM_MAX_SCALARS];
	for (size_t i = 0; i < optimizer->n_states; i++)
		inputs[2 + i] = outputs[1 + i] = states[i];
	for (uint32_t i = 0; i < optimizer->program->n_scalars; i++)
		values[i] = tn_scalar_of(TN_F32, scalars[i]);
	struct tn_runtime *rt = optimizer->module->runtime;
	const struct tn_map_run map = {.operation = tn_operation_named(rt, optimizer->name),
				       .program = optimizer->program,
				       .inputs = inputs,
				       .outputs = outputs,
				       .scalars = values};
	return tn_end_into(rt, tn_map_run(rt, &map));
}

static tn_array *part(const tn_array *arena, const struct tn_run *run)
{
	return tn_slice(arena, 0, run->begin, run->end, 1);
}

static tn_status step(tn_optimizer *optimizer)
{
	const tn_module *module = optimizer->module;
	struct tn_run run;
	size_t next = 0, first = 0;
	while (tn_optimizer_next_run(module, optimizer->steps, &next, &run)) {
		tn_array *states[TN_OPTIMIZER_MAX_STATES] = {NULL};
		for (size_t i = 0; i < optimizer->n_states; i++)
			states[i] = part(optimizer->states[i], &run);
		tn_array *w = part(module->arena.values, &run),
			 *dw = part(module->arena.gradients, &run);
		tn_status status = module->runtime->error.status;
		if (!status)
			status = optimizer->step_run(optimizer, &run, w, dw, states);
		if (status)
			return status;
		for (; first < next; first++) {
			const struct tn_weight *weight = module->listing[first].weight;
			optimizer->steps[first] +=
				weight->offset >= run.begin && weight->offset < run.end;
		}
	}
	return TN_OK;
}

tn_status tn_optimizer_step(tn_optimizer *optimizer)
{
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = optimizer->module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (rt->recorder)
		return tn_runtime_fail(rt, TN_STATE, optimizer->name,
				       "a tape records: end it, or run backward, before the step");
	status = tn_scope_begin(optimizer->module->context);
	if (status)
		return status;
	status = step(optimizer);
	tn_scope_end(optimizer->module->context, NULL);
	return status;
}

void tn_optimizer_set_lr(tn_optimizer *optimizer, double lr)
{
	if (optimizer)
		optimizer->lr = lr;
}

double tn_optimizer_lr(const tn_optimizer *optimizer)
{
	return optimizer ? optimizer->lr : 0.0;
}
