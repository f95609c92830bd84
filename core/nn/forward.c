/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Running a network.  The outermost forward watches the trainable weights when a tape is recording.
 */
#include "nn/forward.h"

#include "array/array.h"
#include "autograd/tape.h"
#include "capture/capture.h"
#include "nn/module.h"
#include "nn/tree.h"

static tn_status check_built(tn_module *module)
{
	tn_status status = tn_runtime_ready(module->runtime);
	if (status || tn_module_is_built(module))
		return status;
	return tn_runtime_fail(module->runtime, TN_STATE, module->class_name,
			       "the module has not been built");
}

static tn_status watch_weights(tn_module *module)
{
	const struct tn_recorder *recorder = module->parent ? NULL : module->runtime->recorder;
	for (size_t i = 0; recorder && i < module->n_listing; i++) {
		struct tn_weight *weight = module->listing[i].weight;
		tn_status status = weight->trainable
					   ? tn_tape_watch_weight(recorder->user, weight->value,
								  weight->gradient, &weight->filled)
					   : TN_OK;
		if (status)
			return status;
	}
	return TN_OK;
}

static tn_array *run(void *user, tn_array *const *x)
{
	tn_module *module = user;
	struct tn_runtime *rt = module->runtime;
	const char *outer = rt->place;
	char path[TN_MODULE_PATH];
	if (rt->anomaly)
		rt->place = tn_module_write_path(module, path);
	tn_array *y = module->class_.forward(module, module->state, *x);
	rt->place = outer;
	return y;
}

tn_array *tn_module_forward(tn_module *module, const tn_array *x)
{
	if (!module || !x || check_built(module))
		return NULL;
	if (module->when_frozen)
		return module->when_frozen->forward(module, x);
	if (watch_weights(module))
		return NULL;
	tn_array *input = (tn_array *)(uintptr_t)x;
	if (module->is_recomputed && module->runtime->recorder)
		return tn_recompute(run, module, 1, &input);
	return run(module, &input);
}

void tn_module_set_recompute(tn_module *module, int on)
{
	if (module)
		module->is_recomputed = on != 0;
}

tn_status tn_module_begin_forward(tn_module *module, size_t n_inputs, const tn_array *const *inputs)
{
	tn_status status = check_built(module);
	if (status || !module->when_frozen)
		return status ? status : watch_weights(module);
	int is_tracked = 0;
	for (size_t i = 0; i < n_inputs; i++)
		is_tracked |= module->runtime->recorder && inputs[i] && inputs[i]->tracked;
	if (!module->training && !is_tracked)
		return TN_OK;
	return tn_runtime_fail(module->runtime, TN_STATE, module->class_name,
			       "the network is frozen: unfreeze it to train, or for gradients");
}

void tn_module_set_training(tn_module *module, int training)
{
	if (!module)
		return;
	module->training = training != 0;
	for (size_t i = 0; i < module->n_members; i++)
		tn_module_set_training(module->members[i].module, training);
}

int tn_module_is_training(const tn_module *module)
{
	return module ? module->training : 0;
}

void tn_module_zero_gradients(tn_module *module)
{
	for (size_t i = 0; i < tn_module_parameter_count(module); i++) {
		struct tn_weight *weight = module->listing[i].weight;
		tn_capture_flag(module->runtime, &weight->filled);
		weight->filled = 0;
	}
}
