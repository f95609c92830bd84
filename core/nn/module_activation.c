/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Activations: separate, and at the end of another layer.
 */
#include "nn/module_activation.h"

#include "array/array.h"
#include "base/memory.h"
#include "nn/forward.h"
#include "nn/lookup.h"
#include "nn/module.h"
#include "ops/activation.h"

/* One of the functions, by its number of values. */
struct kind {
	const char *name;
	tn_array *(*f)(const tn_array *x);
	tn_array *(*f1)(const tn_array *x, double a);
	tn_array *(*f2)(const tn_array *x, double a, double b);
	uint32_t activation; /* TN_ACTIVATION_NONE: layers have no such epilogue */
	uint32_t operation;  /* whose values are checked; 0: none */
};

enum {
	CELU,
	ELU,
	GELU,
	GELU_TANH,
	HARDSIGMOID,
	HARDSWISH,
	HARDTANH,
	LEAKY_RELU,
	LOG_SIGMOID,
	MISH,
	RELU,
	RELU6,
	SELU,
	SIGMOID,
	SILU,
	SOFTPLUS,
	SOFTSIGN,
	TANH,
	N_KINDS
};

static const struct kind kinds[N_KINDS] = {
	[CELU] = {"CELU", .f1 = tn_celu, .operation = TN_DO_CELU},
	[ELU] = {"ELU", .f1 = tn_elu},
	[GELU] = {"GELU", .f = tn_gelu, .activation = TN_ACTIVATION_GELU},
	[GELU_TANH] = {"GELU", .f = tn_gelu_tanh},
	[HARDSIGMOID] = {"Hardsigmoid", .f = tn_hardsigmoid},
	[HARDSWISH] = {"Hardswish", .f = tn_hardswish},
	[HARDTANH] = {"Hardtanh", .f2 = tn_hardtanh, .operation = TN_DO_HARDTANH},
	[LEAKY_RELU] = {"LeakyReLU", .f1 = tn_leaky_relu},
	[LOG_SIGMOID] = {"LogSigmoid", .f = tn_log_sigmoid},
	[MISH] = {"Mish", .f = tn_mish},
	[RELU] = {"ReLU", .f = tn_relu, .activation = TN_ACTIVATION_RELU},
	[RELU6] = {"ReLU6", .f = tn_relu6, .activation = TN_ACTIVATION_RELU6},
	[SELU] = {"SELU", .f = tn_selu},
	[SIGMOID] = {"Sigmoid", .f = tn_sigmoid, .activation = TN_ACTIVATION_SIGMOID},
	[SILU] = {"SiLU", .f = tn_silu, .activation = TN_ACTIVATION_SILU},
	[SOFTPLUS] = {"Softplus", .f2 = tn_softplus, .operation = TN_DO_SOFTPLUS},
	[SOFTSIGN] = {"Softsign", .f = tn_softsign},
	[TANH] = {"Tanh", .f = tn_tanh, .activation = TN_ACTIVATION_TANH},
};

struct activation_state {
	size_t kind;
	double values[2];
};

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	const struct activation_state *own = state;
	const struct kind *kind = &kinds[own->kind];
	(void)module;
	if (kind->f1)
		return kind->f1(x, own->values[0]);
	return kind->f2 ? kind->f2(x, own->values[0], own->values[1]) : kind->f(x);
}

static tn_module *create_with(tn_context *context, size_t kind, double a, double b)
{
	const struct activation_state state = {kind, {a, b}};
	const struct tn_module_class class_ = {.struct_size = sizeof(class_),
					       .name = kinds[kind].name,
					       .forward = forward,
					       .destroy = tn_mem_free};
	if (!context ||
	    (kinds[kind].operation &&
	     tn_activation_values(tn_runtime_of(context), kinds[kind].operation, state.values)))
		return NULL;
	tn_module *module = tn_module_of_class(context, &class_, &state, sizeof(state));
	if (module)
		module->activation = kinds[kind].activation;
	return module;
}

static tn_module *create_activation(tn_context *context, size_t kind)
{
	return create_with(context, kind, 0, 0);
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

tn_module *tn_module_leaky_relu(tn_context *context, double negative_slope)
{
	return create_with(context, LEAKY_RELU, negative_slope, 0);
}

tn_module *tn_module_elu(tn_context *context, double alpha)
{
	return create_with(context, ELU, alpha, 0);
}

tn_module *tn_module_celu(tn_context *context, double alpha)
{
	return create_with(context, CELU, alpha, 0);
}

tn_module *tn_module_selu(tn_context *context)
{
	return create_activation(context, SELU);
}

tn_module *tn_module_softplus(tn_context *context, double beta, double threshold)
{
	return create_with(context, SOFTPLUS, beta, threshold);
}

tn_module *tn_module_mish(tn_context *context)
{
	return create_activation(context, MISH);
}

tn_module *tn_module_softsign(tn_context *context)
{
	return create_activation(context, SOFTSIGN);
}

tn_module *tn_module_log_sigmoid(tn_context *context)
{
	return create_activation(context, LOG_SIGMOID);
}

tn_module *tn_module_hardsigmoid(tn_context *context)
{
	return create_activation(context, HARDSIGMOID);
}

tn_module *tn_module_hardtanh(tn_context *context, double low, double high)
{
	return create_with(context, HARDTANH, low, high);
}

/* ---- With a parameter, or along an axis ------------------------------------------------------*/

static tn_array *prelu_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	return tn_prelu(x, tn_module_find_parameter(module, "weight"));
}

tn_module *tn_module_prelu(tn_context *context, int64_t parameters, double initial)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "PReLU", .forward = prelu_forward};
	tn_module *module = tn_module_make(context, &class_, NULL);
	if (!module || !tn_module_add_parameter(module, "weight", 1, &parameters, 0.0, initial))
		return module;
	tn_module_destroy(module);
	return NULL;
}

static tn_array *softmax_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	return tn_softmax(x, *(const int *)state);
}

tn_module *tn_module_softmax(tn_context *context, int axis)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Softmax",
						      .forward = softmax_forward,
						      .destroy = tn_mem_free};
	return tn_module_of_class(context, &class_, &axis, sizeof(axis));
}

static tn_array *log_softmax_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	return tn_log_softmax(x, *(const int *)state);
}

tn_module *tn_module_log_softmax(tn_context *context, int axis)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "LogSoftmax",
						      .forward = log_softmax_forward,
						      .destroy = tn_mem_free};
	return tn_module_of_class(context, &class_, &axis, sizeof(axis));
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
	struct tn_module_visit visit;
	if (!module->forward_then || module->is_recomputed || tn_module_has_hook(module))
		return tn_then_finish(tn_module_forward(module, x), then);
	tn_module_enter(module, &visit);
	tn_array *y = module->forward_then(module, x, then);
	tn_module_leave(module, &visit, y);
	return y;
}
