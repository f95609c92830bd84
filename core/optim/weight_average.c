/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Averages of weights: exponential moving averages, and P. Izmailov et al., "Averaging Weights
 * Leads to Wider Optima and Better Generalization", UAI 2018.
 *
 * Those of f16 and bf16 weights are f32.  An exchange would round them: the averages then stay
 * where they are, and a copy keeps the weights.
 */
#include "optim/weight_average.h"

#include "array/array.h"
#include "array/make.h"
#include "array/handle.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "base/options.h"
#include "capture/capture.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "optim/captured.h"
#include "nn/tree.h"
#include "ops/map.h"
#include "optim/runs.h"

struct tn_weight_average {
	tn_module *module;
	double decay; /* NAN: the mean */
	uint64_t updates;
	int is_swapped;
	tn_array *values;  /* arena of tn_arena_dtype, kept */
	tn_array *weights; /* arena, kept: narrow weights while swapped out; NULL: none yet */
	tn_array **views;  /* of each parameter's part, kept; NULL: not asked for yet */
	struct tn_captured_list captured;
};

struct captured_update {
	struct tn_captured captured;
	tn_weight_average *average;
};

/* ---- Updates ---------------------------------------------------------------------------------*/

/* The weight of the next update's values. */
static struct tn_scalar next_rate(const tn_weight_average *average)
{
	double rate = 1.0 / ((double)average->updates + 1.0);
	if (average->updates && !isnan(average->decay))
		rate = 1.0 - average->decay;
	return tn_scalar_of(average->values->dtype, rate);
}

static tn_status captured_next(struct tn_runtime *rt, void *state, struct tn_scalar *scalars)
{
	const struct captured_update *update = state;
	tn_status status = tn_captured_check(rt, &update->captured, "the average");
	if (status)
		return status;
	if (update->average->is_swapped)
		return tn_fail(&rt->report, TN_STATE, "graph_replay",
			       "weight_average_update: the averages are swapped in");
	scalars[0] = next_rate(update->average);
	update->average->updates++;
	return TN_OK;
}

static void captured_take_back(void *state)
{
	const struct captured_update *update = state;
	if (update->captured.list)
		update->average->updates--;
}

static const struct tn_stepped_source captured_update = {
	.size = sizeof(struct captured_update),
	.next = captured_next,
	.take_back = captured_take_back,
	.release = tn_captured_release,
};

/* Runs a formula over the averages and the weights; its outputs are the first of these. */
static tn_status run_formula(const tn_weight_average *average, const char *operation,
			     const struct tn_formula *formula, const struct tn_scalar *scalars)
{
	struct tn_runtime *rt = average->module->runtime;
	tn_array *const all[] = {average->values, average->module->arena.values};
	const tn_dtype dtypes[] = {all[0]->dtype, all[1]->dtype};
	struct tn_map_run map = {.operation = tn_operation_named(rt, operation),
				 .inputs = (const tn_array *const[]){all[0], all[1]},
				 .outputs = all,
				 .scalars = scalars};
	tn_status status =
		tn_formula_program_typed(rt, operation, formula, dtypes, dtypes, &map.program);
	return tn_end_into(rt, status ? status : tn_map_run(rt, &map));
}

tn_status tn_weight_average_update(tn_weight_average *average)
{
	static const struct tn_formula averaged = {
		.text = "average = rate < 1 ? average + rate * (w - average) : w",
		.inputs = "average w",
		.scalars = "rate",
		.outputs = "average"};
	if (!average)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = average->module->runtime;
	struct tn_scalar rate = next_rate(average);
	void *state;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (average->is_swapped)
		return tn_runtime_fail(rt, TN_STATE, "weight_average_update",
				       "the averages are swapped in: swap them back first");
	if (tn_stepped_add(rt, tn_array_home(average->values), &captured_update, 1, &rate, &state))
		return tn_runtime_keep(rt, &rt->report);
	if (state) {
		struct captured_update *update = state;
		update->average = average;
		tn_captured_add(&average->captured, &update->captured);
		average->updates++;
	}
	status = run_formula(average, "weight_average_update", &averaged, &rate);
	if (!status && !state)
		average->updates++;
	return status;
}

/* The averages, rounded, take the place of the weights; then these come back. */
static tn_status swap_narrow(tn_weight_average *average)
{
	const tn_module *module = average->module;
	if (average->is_swapped)
		return tn_assign(module->arena.values, average->weights);
	tn_status status = average->weights ? TN_OK : tn_scope_begin(module->context);
	if (status)
		return status;
	if (average->weights) {
		status = tn_assign(average->weights, module->arena.values);
	} else {
		tn_array *weights = tn_copy(module->arena.values);
		status = weights ? TN_OK : module->runtime->error.status;
		if (weights)
			average->weights = tn_array_hold(weights);
		tn_scope_end(module->context, NULL);
	}
	return status ? status : tn_assign(module->arena.values, average->values);
}

tn_status tn_weight_average_swap(tn_weight_average *average)
{
	static const char operation[] = "weight_average_swap";
	static const struct tn_formula exchange = {
		.text = "before = average; average = w; w = before",
		.inputs = "average w",
		.outputs = "average w"};
	if (!average)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = average->module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (!status)
		status = tn_capture_refuse(rt, operation, "which weights are swapped in");
	if (status)
		return status;
	if (!average->updates)
		return tn_runtime_fail(rt, TN_STATE, operation,
				       "expected at least one update, found none");
	status = tn_is_narrow(average->module->arena.values->dtype)
			 ? swap_narrow(average)
			 : run_formula(average, operation, &exchange, NULL);
	if (!status)
		average->is_swapped = !average->is_swapped;
	return status;
}

int tn_weight_average_is_swapped(const tn_weight_average *average)
{
	return average && !tn_module_user_check(average->module, "weight_average_is_swapped")
		       ? average->is_swapped
		       : 0;
}

/* ---- Life ------------------------------------------------------------------------------------*/

/* Makes the arena on the module's device, regardless of the current one. */
static tn_status make_values(tn_weight_average *average)
{
	const tn_module *module = average->module;
	struct tn_runtime *rt = module->runtime;
	struct tn_device *current = rt->device;
	tn_status status = tn_scope_begin(module->context);
	if (status)
		return status;
	rt->device = tn_array_home(module->arena.values);
	tn_array *values =
		tn_zeros(module->context, tn_arena_dtype(module), 1, &module->arena.size);
	if (values)
		average->values = tn_array_hold(values);
	status = values ? TN_OK : rt->error.status;
	rt->device = current;
	tn_scope_end(module->context, NULL);
	return status;
}

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_weight_average_options, decay), TN_MOST, .most = 1},
	{0},
};

tn_weight_average *tn_weight_average_create(tn_module *module,
					    const struct tn_weight_average_options *options)
{
	static const char operation[] = "weight_average_create";
	struct tn_weight_average_options o = tn_weight_average_defaults();
	if (!module)
		return NULL;
	struct tn_runtime *rt = module->runtime;
	if (tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_weight_average_options",
			    operation) ||
	    tn_runtime_ready(rt))
		return NULL;
	if ((!isnan(o.decay) && tn_runtime_check(rt, &o, members, operation)) ||
	    tn_module_check_network(module, operation))
		return NULL;
	tn_weight_average *average = tn_mem_zeroed(1, sizeof(*average));
	if (!average) {
		tn_runtime_no_memory(rt, operation, "the averages");
		return NULL;
	}
	average->module = module;
	average->decay = o.decay;
	module->n_users++;
	if (!make_values(average))
		return average;
	tn_weight_average_destroy(average);
	return NULL;
}

void tn_weight_average_destroy(tn_weight_average *average)
{
	if (!average ||
	    tn_handle_has_ended(average->module->runtime, average, "weight_average_destroy"))
		return;
	average->module->n_users--;
	tn_captured_abandon(&average->captured);
	for (size_t i = 0; average->views && i < average->module->n_listing; i++)
		tn_array_unhold(average->views[i]);
	tn_mem_free(average->views);
	tn_array_unhold(average->values);
	tn_array_unhold(average->weights);
	tn_module_user_end(&average->module, average, "the weight average");
}

const tn_module *tn_weight_average_module(const tn_weight_average *average)
{
	return average->module;
}

double tn_weight_average_decay(const tn_weight_average *average)
{
	return average->decay;
}

/* ---- State -----------------------------------------------------------------------------------*/

tn_status tn_weight_average_at(tn_weight_average *average, size_t index,
			       struct tn_weight_average_view *view)
{
	static const char operation[] = "weight_average_at";
	if (!average)
		return TN_INVALID_ARGUMENT;
	const tn_module *module = average->module;
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (index >= module->n_listing)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "expected an index below %zu, found %zu", module->n_listing,
				       index);
	if (!average->views)
		average->views = tn_mem_zeroed(module->n_listing, sizeof(*average->views));
	if (!average->views)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, operation,
				       "no host memory for %zu views", module->n_listing);
	const struct tn_named_weight *named = &module->listing[index];
	if (!average->views[index])
		average->views[index] = tn_view_weight(module, average->values, named->weight);
	if (!average->views[index])
		return rt->error.status;
	const struct tn_weight_average_view own = {
		.struct_size = sizeof(own), .name = named->name, .value = average->views[index]};
	return tn_runtime_answer(rt, view, &own, sizeof(own), "struct tn_weight_average_view",
				 operation);
}

uint64_t tn_weight_average_updates(const tn_weight_average *average)
{
	return average && !tn_module_user_check(average->module, "weight_average_updates")
		       ? average->updates
		       : 0;
}

tn_status tn_weight_average_set_updates(tn_weight_average *average, uint64_t updates)
{
	static const char operation[] = "weight_average_set_updates";
	if (!average)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = average->module->runtime;
	tn_status status = tn_handle_check(rt, operation);
	if (!status)
		status = tn_capture_refuse(rt, operation, "the number of updates");
	if (status)
		return status;
	if (average->is_swapped)
		return tn_runtime_fail(rt, TN_STATE, operation,
				       "the averages are swapped in: swap them back first");
	average->updates = updates;
	return TN_OK;
}
