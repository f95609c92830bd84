/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Activations: separate, and at the end of another layer.
 */
#include "nn/module_activation.h"

#include "array/array.h"
#include "base/memory.h"
#include "nn/module.h"
#include "nn/path.h"

typedef tn_array *(*function)(const tn_array *x);

static const struct {
	const char *name;
	function f;
	uint32_t activation; /* TN_ACTIVATION_NONE: layers have no such epilogue */
} kinds[] = {
	{"GELU", tn_gelu, TN_ACTIVATION_GELU},           {"GELU", tn_gelu_tanh, TN_ACTIVATION_NONE},
	{"Hardswish", tn_hardswish, TN_ACTIVATION_NONE}, {"ReLU", tn_relu, TN_ACTIVATION_RELU},
	{"ReLU6", tn_relu6, TN_ACTIVATION_RELU6},        {"SiLU", tn_silu, TN_ACTIVATION_SILU},
	{"Sigmoid", tn_sigmoid, TN_ACTIVATION_SIGMOID},  {"Tanh", tn_tanh, TN_ACTIVATION_TANH},
};

enum { GELU, GELU_TANH, HARDSWISH, RELU, RELU6, SILU, SIGMOID, TANH, N_KINDS };

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == N_KINDS, "one row a kind");

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	const size_t *kind = state;
	(void)module;
	return kinds[*kind].f(x);
}

static tn_module *create_activation(tn_context *context, size_t kind)
{
	const struct tn_module_class class_ = {.struct_size = sizeof(class_),
					       .name = kinds[kind].name,
					       .forward = forward,
					       .destroy = tn_mem_free};
	tn_module *module = tn_module_of_class(context, &class_, &kind, sizeof(kind));
	if (module)
		module->activation = kinds[kind].activation;
	return module;
}

tn_module *tn_module_relu(tn_context *context)
{
	return create_activation(context, RELU);
}

tn_module *tn_module_relu6(tn_context *context)
{
	return create_activation(context, RELU6);
}

tn_module *tn_module_tanh(tn_context *context)
{
	return create_activation(context, TANH);
}

tn_module *tn_module_sigmoid(tn_context *context)
{
	return create_activation(context, SIGMOID);
}

tn_module *tn_module_silu(tn_context *context)
{
	return create_activation(context, SILU);
}

tn_module *tn_module_hardswish(tn_context *context)
{
	return create_activation(context, HARDSWISH);
}

tn_module *tn_module_gelu(tn_context *context, int tanh_form)
{
	return create_activation(context, tanh_form ? GELU_TANH : GELU);
}

/* ---- At the end of a layer -------------------------------------------------------------------*/

tn_array *tn_then_finish(tn_array *y, const struct tn_then *then)
{
	if (y && then->residual) {
		tn_array *sum = tn_add(y, then->residual);
		tn_array_destroy(y);
		y = sum;
	}
	if (!y || !then->activation)
		return y;
	size_t i = 0;
	while (i < N_KINDS && kinds[i].activation != then->activation)
		i++;
	tn_array *z = i < N_KINDS ? kinds[i].f(y) : NULL;
	tn_array_destroy(y);
	return z;
}

tn_array *tn_module_forward_then(tn_module *module, const tn_array *x, const struct tn_then *then)
{
	struct tn_runtime *rt = module->runtime;
	const char *outer = rt->place;
	char path[TN_MODULE_PATH];
	if (!module->forward_then || module->is_recomputed)
		return tn_then_finish(tn_module_forward(module, x), then);
	if (rt->anomaly)
		rt->place = tn_module_write_path(module, path);
	tn_array *y = module->forward_then(module, x, then);
	rt->place = outer;
	return y;
}
