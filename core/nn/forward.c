/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Running a network.  When a tape is recording, the forward that begins watches the network's
 * trainable weights: that of the outermost module, or of a member that the program calls itself.
 * A backward hook is a node of its own, after those of the module.
 */
#include "nn/forward.h"

#include "array/array.h"
#include "array/handle.h"
#include "array/watch.h"
#include "autograd/node.h"
#include "autograd/recompute.h"
#include "autograd/tape.h"
#include "base/dtype.h"
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

/* Of an outermost module of the library. */
static tn_status check_inputs(tn_module *module, size_t n, const tn_array *const *inputs)
{
	if (module->parent || module->is_foreign || !module->dtype || module->dtype == TN_F32)
		return TN_OK;
	for (size_t i = 0; i < n; i++) {
		if (inputs[i] && inputs[i]->dtype != module->dtype &&
		    tn_is_floating(inputs[i]->dtype))
			return tn_runtime_fail(module->runtime, TN_DTYPE, module->class_name,
					       "expected an input of %s, like the network's "
					       "parameters, found %s: use tn_astype",
					       tn_dtype_name(module->dtype),
					       tn_dtype_name(inputs[i]->dtype));
	}
	return TN_OK;
}

static tn_status watch_weights(const tn_module *module)
{
	const struct tn_recorder *recorder = module->runtime->recorder;
	const tn_module *root = tn_module_root(module);
	/* A member is rarely the one that begins. */
	if (!recorder || root->frozen ||
	    (!tn_tape_is_new_network(recorder->user, root) && module->parent))
		return TN_OK;
	for (size_t i = 0; i < root->n_listing; i++) {
		struct tn_weight *weight = root->listing[i].weight;
		tn_status status = weight->trainable
					   ? tn_tape_watch_weight(recorder->user, weight->value,
								  weight->gradient, &weight->filled,
								  root->gradient_hook)
					   : TN_OK;
		if (status)
			return status;
	}
	return TN_OK;
}

/* ---- Hooks -----------------------------------------------------------------------------------*/

struct hook_state {
	tn_backward_hook hook;
	void *user;
	tn_module *module;
};

static tn_status hook_backward(struct tn_node *node, tn_array *dy)
{
	const struct hook_state *state = node->state;
	state->hook(state->user, state->module, dy);
	tn_status status = tn_runtime_status(tn_node_runtime(node));
	return status ? status : tn_node_give(node, 0, dy);
}

/* A view of y whose gradient is shown to the hook; y is released. */
static tn_array *record_hook(tn_module *module, tn_array *y)
{
	const struct hook_state state = {module->backward_hook, module->backward_hook_user, module};
	struct tn_suspension suspension = tn_tape_suspend(y);
	tn_array *view = tn_reshape(y, y->rank, y->shape);
	view = tn_tape_resume(suspension, view,
			      &(struct tn_node_request){.operation = "backward_hook",
							.backward = hook_backward,
							.is_twice = 1,
							.n_inputs = 1,
							.inputs = {y},
							.state = &state,
							.state_size = sizeof(state)});
	tn_array_destroy(y);
	return view;
}

tn_array *tn_module_end_forward(tn_module *module, const tn_array *x, tn_array *y)
{
	if (!y || !tn_module_has_hook(module))
		return y;
	if (module->forward_hook)
		module->forward_hook(module->forward_hook_user, module, x, y);
	if (tn_runtime_ready(module->runtime)) {
		tn_array_destroy(y);
		return NULL;
	}
	return module->backward_hook && module->runtime->recorder ? record_hook(module, y) : y;
}

static tn_status check_not_frozen(tn_module *module)
{
	tn_status status = tn_runtime_ready(module->runtime);
	if (status || !tn_module_root(module)->frozen)
		return status;
	return tn_runtime_fail(module->runtime, TN_STATE, module->class_name,
			       "the network is frozen: unfreeze it to set a hook");
}

tn_status tn_module_set_forward_hook(tn_module *module, tn_forward_hook hook, void *user)
{
	tn_status status = module ? check_not_frozen(module) : TN_INVALID_ARGUMENT;
	if (status)
		return status;
	module->forward_hook = hook;
	module->forward_hook_user = user;
	return TN_OK;
}

tn_status tn_module_set_backward_hook(tn_module *module, tn_backward_hook hook, void *user)
{
	tn_status status = module ? check_not_frozen(module) : TN_INVALID_ARGUMENT;
	if (status)
		return status;
	module->backward_hook = hook;
	module->backward_hook_user = user;
	return TN_OK;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

void tn_module_enter(const tn_module *module, struct tn_module_visit *visit)
{
	struct tn_runtime *rt = module->runtime;
	visit->place = rt->place;
	visit->watch = module->watch_row ? rt->watch : NULL;
	if (rt->anomaly)
		rt->place = tn_module_write_path(module, visit->path);
	if (visit->watch)
		tn_watch_begin(visit->watch, TN_WATCH_FORWARD, module->watch_row, NULL);
}

/* A forward of the program may give NULL without an error. */
static void name_module(const tn_module *module)
{
	struct tn_runtime *rt = module->runtime;
	char path[TN_MODULE_PATH];
	if (!rt->error.status)
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, module->class_name,
				"forward gave NULL, and no error");
	tn_runtime_place_error(rt, tn_module_write_path(module, path));
}

void tn_module_leave(const tn_module *module, const struct tn_module_visit *visit,
		     const tn_array *y)
{
	module->runtime->place = visit->place;
	if (!y)
		name_module(module);
	if (visit->watch)
		tn_watch_end(visit->watch, y);
}

static tn_array *run(void *user, tn_array *const *x)
{
	tn_module *module = user;
	struct tn_module_visit visit;
	tn_module_enter(module, &visit);
	tn_array *y = module->class_.forward(module, module->state, *x);
	tn_module_leave(module, &visit, y);
	return y;
}

struct tn_runtime *tn_module_any_runtime(const tn_module *module, size_t n,
					 const tn_array *const *inputs)
{
	for (size_t i = 0; i < n && !module; i++) {
		if (inputs[i])
			return inputs[i]->runtime;
	}
	return module ? module->runtime : NULL;
}

tn_array *tn_module_forward(tn_module *module, const tn_array *x)
{
	if (!module || !x) {
		tn_runtime_null(tn_module_any_runtime(module, 1, &x), "module_forward",
				module ? "x" : "module");
		return NULL;
	}
	if (check_built(module) || check_inputs(module, 1, &x))
		return NULL;
	if (module->when_frozen)
		return module->when_frozen->forward(module, x);
	if (watch_weights(module))
		return NULL;
	tn_array *input = tn_array_const_cast(x);
	tn_array *y = module->is_recomputed && module->runtime->recorder
			      ? tn_recompute(run, module, 1, &input)
			      : run(module, &input);
	return tn_module_end_forward(module, x, y);
}

void tn_module_set_recompute(tn_module *module, int on)
{
	if (module && !tn_handle_check(module->runtime, "module_set_recompute"))
		module->is_recomputed = on != 0;
}

/* A call of tn_module_run, kept until backward has run.  Equal inputs are one input of the
 * computation that is repeated, so that they are equal there too. */
struct inputs_call {
	tn_module *module;
	tn_module_function *f;
	uint32_t flags;
	uint8_t places[TN_FORWARD_INPUTS]; /* 1 + the number of the input; 0: NULL */
};

static tn_array *run_call(void *user, tn_array *const *distinct)
{
	const struct inputs_call *call = user;
	tn_array *inputs[TN_FORWARD_INPUTS];
	struct tn_module_visit visit;
	for (size_t i = 0; i < TN_FORWARD_INPUTS; i++)
		inputs[i] = call->places[i] ? distinct[call->places[i] - 1] : NULL;
	tn_module_enter(call->module, &visit);
	tn_array *y = call->f(call->module, call->flags, inputs);
	tn_module_leave(call->module, &visit, y);
	return y;
}

tn_array *tn_module_run(tn_module *module, tn_module_function *f, uint32_t flags, size_t n_inputs,
			const tn_array *const *inputs)
{
	struct inputs_call call = {.module = module, .f = f, .flags = flags};
	tn_array *distinct[TN_FORWARD_INPUTS] = {NULL};
	size_t n = 0;
	for (size_t i = 0; i < n_inputs; i++) {
		size_t k = 0;
		if (!inputs[i])
			continue;
		while (k < n && distinct[k] != inputs[i])
			k++;
		if (k == n)
			distinct[n++] = tn_array_const_cast(inputs[i]);
		call.places[i] = (uint8_t)(k + 1);
	}
	return module->is_recomputed && module->runtime->recorder
		       ? tn_recompute_copied(run_call, &call, sizeof(call), n, distinct)
		       : run_call(&call, distinct);
}

tn_status tn_module_begin_forward(tn_module *module, size_t n_inputs, const tn_array *const *inputs)
{
	tn_status status = check_built(module);
	if (!status)
		status = check_inputs(module, n_inputs, inputs);
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
	if (!module || tn_handle_check(module->runtime, "module_set_training"))
		return;
	module->training = training != 0;
	for (size_t i = 0; i < module->n_members; i++)
		tn_module_set_training(module->members[i].module, training);
}

int tn_module_is_training(const tn_module *module)
{
	return module && !tn_handle_check(module->runtime, "module_is_training") ? module->training
										 : 0;
}

void tn_module_zero_gradients(tn_module *module)
{
	if (module && tn_handle_check(module->runtime, "module_zero_gradients"))
		return;
	for (size_t i = 0; i < tn_module_parameter_count(module); i++) {
		struct tn_weight *weight = module->listing[i].weight;
		tn_capture_flag(module->runtime, &weight->filled);
		weight->filled = 0;
	}
}
