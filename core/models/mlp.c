/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A perceptron of fully connected layers:
 *
 *     flatten -> Linear 256 -> ReLU -> Linear 128 -> ReLU -> Linear classes
 *
 * Settings give other sizes, and each hidden layer
 *
 *     Linear -> batch norm -> activation -> dropout
 */
#include <stdio.h>

#include "models/chain.h"
#include "models/models.h"
#include "models/settings.h"

static tn_module *activation_of(tn_context *context, const struct tn_mlp_settings *s, size_t i)
{
	switch (s->activations[i]) {
	case TN_MLP_LEAKY_RELU:
		return tn_module_leaky_relu(context, s->negative_slope);
	case TN_MLP_TANH:
		return tn_module_tanh(context);
	case TN_MLP_SIGMOID:
		return tn_module_sigmoid(context);
	case TN_MLP_GELU:
		return tn_module_gelu(context, 0);
	case TN_MLP_GELU_TANH:
		return tn_module_gelu(context, 1);
	case TN_MLP_SILU:
		return tn_module_silu(context);
	default:
		return tn_module_relu(context);
	}
}

/* Adds `member` as "fc1". */
static void add(tn_module *net, const char *name, size_t number, tn_module *member,
		tn_status *status)
{
	char numbered[32];
	snprintf(numbered, sizeof(numbered), "%s%zu", name, number);
	tn_model_add(net, numbered, member, status);
}

static void add_hidden(tn_module *net, const struct tn_mlp_settings *s, size_t i, int64_t inputs,
		       tn_context *context, tn_status *status)
{
	struct tn_module_norm_options norm = tn_module_norm_defaults();
	if (s->momentum > 0)
		norm.momentum = s->momentum;
	const char *name = tn_mlp_activations[s->activations[i]];
	add(net, "fc", i + 1, tn_module_linear(context, inputs, s->sizes[i], NULL), status);
	if (s->batch_norm)
		add(net, "bn", i + 1, tn_module_batch_norm1d(context, s->sizes[i], &norm), status);
	add(net, name, i + 1, activation_of(context, s, i), status);
	if (s->dropout[i] > 0)
		add(net, "dropout", i + 1, tn_module_dropout(context, s->dropout[i]), status);
}

tn_module *tn_model_mlp(tn_context *context, const struct tn_model_request *request)
{
	const struct tn_model_shape *shape = &request->shape;
	int64_t inputs = shape->channels * shape->height * shape->width;
	struct tn_mlp_settings settings;
	tn_status status = tn_mlp_settings_read(context, request->settings, &settings);
	if (status)
		return NULL;
	tn_module *net = tn_module_sequential(context);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	for (size_t i = 0; i < settings.n; i++) {
		add_hidden(net, &settings, i, inputs, context, &status);
		inputs = settings.sizes[i];
	}
	add(net, "fc", settings.n + 1, tn_module_linear(context, inputs, shape->n_classes, NULL),
	    &status);
	return tn_model_end(net, status);
}
