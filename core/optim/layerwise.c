/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The step of LARS and LAMB: sums of squares by rows and weights, a ratio for each weight, and the
 * update of all runs.
 */
#include "optim/layerwise.h"

#include "array/array.h"
#include "array/make.h"
#include "base/memory.h"
#include "dispatch/ledger.h"
#include "ops/map.h"
#include "ops/reduce_run.h"
#include "ops/take.h"
#include "optim/masters.h"

enum { ROW = TN_ARENA_ALIGNMENT };

static int64_t count_rows(const tn_optimizer *optimizer)
{
	return optimizer->module->arena.size / ROW;
}

/* In the innermost scope, on the current device. */
static tn_status make_arrays(tn_optimizer *optimizer, const int32_t *places, int64_t *n_rows)
{
	const tn_module *module = optimizer->module;
	const int64_t n = count_rows(optimizer);
	tn_array *segments = tn_from_host(module->context, TN_I32, 1, &n, places);
	if (!segments)
		return module->runtime->error.status;
	optimizer->segments = tn_array_hold(segments);
	return tn_row_sums_open(&optimizer->row_sums, module->context, tn_arena_dtype(module),
				module->n_listing, n_rows);
}

tn_status tn_layerwise_open(tn_optimizer *optimizer)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	struct tn_device *current = rt->device;
	const int64_t n = count_rows(optimizer);
	int32_t *places = tn_mem_zeroed((size_t)n, sizeof(*places));
	int64_t *n_rows = tn_mem_zeroed(module->n_listing, sizeof(*n_rows));
	tn_status status = TN_OK;
	if (!places || !n_rows)
		status = tn_runtime_fail(rt, TN_OUT_OF_MEMORY, optimizer->rule->name,
					 "no host memory for %lld rows", (long long)n);
	for (size_t place = 0; place < module->n_listing && !status; place++) {
		const struct tn_weight *weight = module->listing[module->arena.order[place]].weight;
		for (int64_t i = 0; i < weight->size; i += ROW, n_rows[place]++)
			places[(weight->offset + i) / ROW] = (int32_t)place;
	}
	if (!status)
		status = tn_scope_begin(module->context);
	if (!status) {
		rt->device = tn_array_home(module->arena.values);
		status = make_arrays(optimizer, places, n_rows);
		rt->device = current;
		tn_scope_end(module->context, NULL);
	}
	tn_mem_free(places);
	tn_mem_free(n_rows);
	return status;
}

/* The rows of a run: the gaps after its last weight belong to it. */
static tn_array *rows_of(const tn_array *arena, const struct tn_run *run)
{
	const int64_t n = (run->end - run->begin + ROW - 1) / ROW;
	tn_array *flat = tn_slice(arena, 0, run->begin, run->begin + n * ROW, 1);
	return tn_reshape(flat, 2, (const int64_t[]){n, ROW});
}

tn_status tn_layerwise_begin(const tn_optimizer *optimizer, struct tn_layerwise_step *step)
{
	const tn_module *module = optimizer->module;
	*step = (struct tn_layerwise_step){.updates = module->arena.gradients};
	if (optimizer->prepare)
		step->updates =
			tn_empty(module->context, tn_arena_dtype(module), 1, &module->arena.size);
	return step->updates ? TN_OK : module->runtime->error.status;
}

tn_status tn_layerwise_prepare(const tn_optimizer *optimizer, const struct tn_layerwise_step *step,
			       const struct tn_run *run, const struct tn_scalar *scalars)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	const size_t n = optimizer->n_states;
	const tn_array *inputs[TN_OPTIMIZER_MAX_INPUTS];
	tn_array *outputs[TN_OPTIMIZER_MAX_OUTPUTS];
	if (!optimizer->prepare)
		return TN_OK;
	inputs[0] = rows_of(tn_weights_to_step(optimizer), run);
	inputs[1] = rows_of(module->arena.gradients, run);
	for (size_t i = 0; i < n; i++)
		inputs[2 + i] = outputs[i] = rows_of(optimizer->states[i], run);
	outputs[n] = rows_of(step->updates, run);
	if (rt->error.status)
		return rt->error.status;
	const struct tn_map_run map = {.operation = tn_operation_named(rt, optimizer->rule->name),
				       .program = optimizer->prepare,
				       .inputs = inputs,
				       .outputs = outputs,
				       .scalars = scalars};
	return tn_end_into(rt, tn_map_run(rt, &map));
}

/* The sums of squares along the rows of the arena. */
static tn_status sum_along_rows(const tn_optimizer *optimizer, const tn_array *updates,
				uint32_t operation)
{
	static const struct tn_formula squares = {.text = "w_squares = w * w; d_squares = d * d",
						  .inputs = "w d",
						  .outputs = "w_squares d_squares"};
	struct tn_runtime *rt = optimizer->module->runtime;
	const int64_t n = count_rows(optimizer), rows[] = {n, ROW};
	const tn_array *sums = tn_row_sums_input(&optimizer->row_sums);
	const tn_array *inputs[] = {tn_reshape(tn_weights_to_step(optimizer), 2, rows),
				    tn_reshape(updates, 2, rows)};
	tn_array *outputs[2];
	for (int i = 0; i < 2; i++)
		outputs[i] = tn_reshape(tn_slice(sums, 0, i, i + 1, 1), 1, &n);
	if (rt->error.status)
		return rt->error.status;
	const struct tn_formula_reduction reduction = {.prologue = &squares,
						       .inputs = inputs,
						       .outputs = outputs,
						       .axes = 1u << 1,
						       .combiners = {TN_REDUCE_SUM, TN_REDUCE_SUM}};
	return tn_end_into(rt, tn_formula_reduce(rt, operation, &reduction));
}

tn_status tn_layerwise_sums(const tn_optimizer *optimizer, struct tn_layerwise_step *step)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	const int64_t n = (int64_t)module->n_listing, rows = count_rows(optimizer);
	const uint32_t operation = tn_operation_named(rt, optimizer->rule->name);
	const tn_dtype dtype = tn_arena_dtype(module);
	step->squares = tn_row_sums_result(&optimizer->row_sums);
	step->ratios = tn_empty(module->context, dtype, 1, &n);
	step->spread = tn_empty(module->context, dtype, 1, &rows);
	if (!step->squares || !step->ratios || !step->spread)
		return rt->error.status;
	tn_status status = sum_along_rows(optimizer, step->updates, operation);
	return status ? status : tn_row_sums_run(&optimizer->row_sums, operation);
}

tn_status tn_layerwise_ratio(const tn_optimizer *optimizer, const struct tn_layerwise_step *step,
			     const struct tn_run *run, const struct tn_scalar *scalars)
{
	struct tn_runtime *rt = optimizer->module->runtime;
	const int64_t first = (int64_t)run->first, last = (int64_t)run->last;
	const int64_t n = last - first;
	const tn_array *squares = tn_slice(step->squares, 1, first, last, 1);
	const tn_array *inputs[2];
	tn_array *ratios = tn_slice(step->ratios, 0, first, last, 1);
	for (int i = 0; i < 2; i++)
		inputs[i] = tn_reshape(tn_slice(squares, 0, i, i + 1, 1), 1, &n);
	if (rt->error.status)
		return rt->error.status;
	const struct tn_map_run map = {.operation = tn_operation_named(rt, optimizer->rule->name),
				       .program = optimizer->ratio,
				       .inputs = inputs,
				       .outputs = &ratios,
				       .scalars = scalars};
	return tn_end_into(rt, tn_map_run(rt, &map));
}

tn_status tn_layerwise_spread(const tn_optimizer *optimizer, struct tn_layerwise_step *step)
{
	struct tn_runtime *rt = optimizer->module->runtime;
	return tn_end_into(rt, tn_gather_run(rt, TN_DO_TAKE, TN_SLOT_GATHER, step->ratios,
					     optimizer->segments, step->spread, 0));
}

tn_status tn_layerwise_update(const tn_optimizer *optimizer, const struct tn_layerwise_step *step,
			      const struct tn_run *run, const struct tn_scalar *scalars)
{
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	const tn_array *inputs[TN_OPTIMIZER_MAX_INPUTS];
	tn_array *outputs[TN_OPTIMIZER_MAX_OUTPUTS];
	const int64_t first = run->begin / ROW, n = (run->end - run->begin + ROW - 1) / ROW;
	uint32_t n_inputs = 2, n_outputs = 1;
	inputs[0] = outputs[0] = rows_of(tn_weights_to_step(optimizer), run);
	inputs[1] = rows_of(step->updates, run);
	for (size_t i = 0; i < optimizer->n_states && !optimizer->prepare; i++)
		inputs[n_inputs++] = outputs[n_outputs++] = rows_of(optimizer->states[i], run);
	if (optimizer->masters)
		outputs[n_outputs++] = rows_of(module->arena.values, run);
	inputs[n_inputs] = tn_reshape(tn_slice(step->spread, 0, first, first + n, 1), 2,
				      (const int64_t[]){n, 1});
	if (rt->error.status)
		return rt->error.status;
	const struct tn_map_run map = {.operation = tn_operation_named(rt, optimizer->rule->name),
				       .program = optimizer->program,
				       .inputs = inputs,
				       .outputs = outputs,
				       .scalars = scalars};
	return tn_end_into(rt, tn_map_run(rt, &map));
}
