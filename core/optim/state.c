/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The state of an optimizer, for checkpoints: views of the parts of its arenas.
 */
#include "array/array.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "optim/optimizer.h"

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
	if (!optimizer || !view)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_index(optimizer, "optimizer_parameter_at", index,
				       optimizer->module->n_listing);
	if (status)
		return status;
	const struct tn_weight_setting *setting = &optimizer->settings[index];
	*view = (struct tn_optimizer_parameter_view){
		.name = optimizer->module->listing[index].name,
		.steps = setting->steps,
		.lr = optimizer->lr * setting->lr_factor,
		.weight_decay = setting->weight_decay,
	};
	return TN_OK;
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

size_t tn_optimizer_state_count(const tn_optimizer *optimizer)
{
	return optimizer ? optimizer->n_states * optimizer->module->n_listing : 0;
}

/* The weight's part of an arena, in its shape, kept; NULL with the error kept by the context. */
static tn_array *view_of(tn_context *context, const tn_array *arena, const struct tn_weight *weight)
{
	if (tn_scope_begin(context))
		return NULL;
	tn_array *part = tn_slice(arena, 0, weight->offset, weight->offset + weight->size, 1);
	tn_array *view = tn_reshape(part, weight->rank, weight->shape);
	if (view)
		view = tn_array_hold(view);
	tn_scope_end(context, NULL);
	return view;
}

tn_status tn_optimizer_state_at(tn_optimizer *optimizer, size_t index,
				struct tn_optimizer_state_view *view)
{
	static const char operation[] = "optimizer_state_at";
	if (!optimizer || !view)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = optimizer->module->runtime;
	const size_t n = tn_optimizer_state_count(optimizer);
	tn_status status = tn_runtime_ready(rt);
	if (!status)
		status = check_index(optimizer, operation, index, n);
	if (status)
		return status;
	if (!optimizer->views)
		optimizer->views = tn_mem_zeroed(n, sizeof(*optimizer->views));
	if (!optimizer->views)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, operation, "no memory for %zu views",
				       n);
	size_t number = index / optimizer->n_states, state = index % optimizer->n_states;
	const struct tn_named_weight *named = &optimizer->module->listing[number];
	if (!optimizer->views[index])
		optimizer->views[index] = view_of(optimizer->module->context,
						  optimizer->states[state], named->weight);
	if (!optimizer->views[index])
		return rt->error.status;
	*view = (struct tn_optimizer_state_view){.parameter = named->name,
						 .state = optimizer->rule->states[state],
						 .value = optimizer->views[index]};
	return TN_OK;
}
