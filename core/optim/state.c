/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The state of an optimizer, for checkpoints: views of the parts of its arenas.
 */
#include "optim/state.h"

#include "array/array.h"
#include "base/memory.h"
#include "capture/capture.h"

static tn_status check_index(const tn_optimizer *optimizer, const char *operation, size_t index,
			     size_t n)
{
	if (index < n)
		return TN_OK;
	return tn_runtime_fail(optimizer->module->runtime, TN_INVALID_ARGUMENT, operation,
			       "expected an index below %zu, found %zu", n, index);
}

tn_status tn_optimizer_parameter_at(const tn_optimizer *optimizer, size_t index,
				    struct tn_optimizer_parameter_view *view)
{
	static const char operation[] = "optimizer_parameter_at";
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_index(optimizer, operation, index, optimizer->module->n_listing);
	if (status)
		return status;
	const struct tn_weight_setting *setting = &optimizer->settings[index];
	const struct tn_optimizer_parameter_view own = {
		.struct_size = sizeof(own),
		.name = optimizer->module->listing[index].name,
		.steps = setting->steps,
		.lr = optimizer->lr * setting->lr_factor,
		.weight_decay = setting->weight_decay,
	};
	return tn_runtime_answer(optimizer->module->runtime, view, &own, sizeof(own),
				 "struct tn_optimizer_parameter_view", operation);
}

tn_status tn_optimizer_set_steps(tn_optimizer *optimizer, size_t index, uint64_t steps)
{
	static const char operation[] = "optimizer_set_steps";
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_index(optimizer, operation, index, optimizer->module->n_listing);
	if (!status)
		status = tn_capture_refuse(optimizer->module->runtime, operation,
					   "numbers of steps");
	if (!status)
		optimizer->settings[index].steps = steps;
	return status;
}

size_t tn_states_each(const tn_optimizer *optimizer)
{
	return optimizer->n_states + (optimizer->masters != NULL) +
	       (optimizer->lookahead.slow != NULL);
}

tn_array *tn_state_arena(const tn_optimizer *optimizer, size_t state, const char **name)
{
	if (state < optimizer->n_states) {
		*name = optimizer->rule->states[state];
		return optimizer->states[state];
	}
	const int is_master = optimizer->masters && state == optimizer->n_states;
	*name = is_master ? "master" : "slow";
	return is_master ? optimizer->masters : optimizer->lookahead.slow;
}

void tn_state_forget_views(tn_optimizer *optimizer)
{
	for (size_t i = 0; optimizer->views && i < optimizer->module->n_listing; i++) {
		for (size_t k = 0; k < TN_STATE_VIEWS; k++)
			tn_array_unhold(optimizer->views[i].states[k]);
	}
	tn_mem_free(optimizer->views);
	optimizer->views = NULL;
}

size_t tn_optimizer_state_count(const tn_optimizer *optimizer)
{
	return optimizer && !tn_module_user_check(optimizer->module, "optimizer_state_count")
		       ? tn_states_each(optimizer) * optimizer->module->n_listing
		       : 0;
}

tn_status tn_optimizer_state_at(tn_optimizer *optimizer, size_t index,
				struct tn_optimizer_state_view *view)
{
	static const char operation[] = "optimizer_state_at";
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = optimizer->module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (!status)
		status = check_index(optimizer, operation, index,
				     tn_optimizer_state_count(optimizer));
	if (status)
		return status;
	const tn_module *module = optimizer->module;
	if (optimizer->n_shards && !optimizer->is_gathered)
		return tn_runtime_fail(rt, TN_STATE, operation,
				       "the state is sharded over %u ranks: call "
				       "tn_optimizer_gather_state on all of them first",
				       optimizer->n_shards);
	const size_t each = tn_states_each(optimizer), number = index / each, state = index % each;
	const char *name;
	const tn_array *arena = tn_state_arena(optimizer, state, &name);
	if (optimizer->is_gathered)
		arena = optimizer->gathered[state];
	const struct tn_named_weight *named = &module->listing[number];
	if (!optimizer->views)
		optimizer->views = tn_mem_zeroed(module->n_listing, sizeof(*optimizer->views));
	if (!optimizer->views)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, operation,
				       "no host memory for the views of %zu parameters",
				       module->n_listing);
	tn_array **value = &optimizer->views[number].states[state];
	if (!*value)
		*value = tn_view_weight(module, arena, named->weight);
	if (!*value)
		return rt->error.status;
	const struct tn_optimizer_state_view own = {
		.struct_size = sizeof(own),
		.parameter = named->name,
		.state = name,
		.value = *value,
	};
	return tn_runtime_answer(rt, view, &own, sizeof(own), "struct tn_optimizer_state_view",
				 operation);
}
