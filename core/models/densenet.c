/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * G. Huang, Z. Liu, L. van der Maaten and K. Q. Weinberger, "Densely Connected Convolutional
 * Networks", CVPR 2017: a layer adds 32 channels to all that came before it, and between the four
 * blocks of 6, 12, 24 and 16 layers a transition halves channels and sides.
 *
 *     layer       x, and BN -> ReLU -> Conv 1x1, 128 -> BN -> ReLU -> Conv 3x3, 32
 *     transition  BN -> ReLU -> Conv 1x1 -> AvgPool 2
 *
 *     published   torchvision's densenet121, with its names
 *     small       for 32x32 pictures: the stem is Conv 3x3 of stride 1 and no max pool
 */
#include <stdio.h>

#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"
#include "nn/module.h"

enum { N_BLOCKS = 4, STEM = 64, GROWTH = 32, BOTTLENECK = 4 };

/* ---- A layer ---------------------------------------------------------------------------------*/

static tn_array *layer_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	tn_array *y = tn_module_forward(module->members[0].module, x);
	for (size_t i = 1; i < module->n_members; i++) {
		tn_array *next = tn_module_forward(module->members[i].module, y);
		tn_array_destroy(y);
		y = next;
	}
	tn_array *both = tn_concatenate(2, (const tn_array *[]){x, y}, 1);
	tn_array_destroy(y);
	return both;
}

static tn_module *make_layer(tn_context *context, int64_t in, int64_t growth)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "DenseLayer",
						      .forward = layer_forward,
						      .is_repeatable = 1};
	const int64_t hidden = BOTTLENECK * growth;
	tn_module *layer = tn_module_custom(context, &class_, NULL);
	tn_status status = layer ? TN_OK : TN_OUT_OF_MEMORY;
	tn_model_add_member(layer, "norm1", tn_module_batch_norm2d(context, in, NULL), &status);
	tn_model_add_member(layer, "relu1", tn_module_relu(context), &status);
	tn_model_add_member(layer, "conv1", tn_model_conv(context, in, hidden, 1, 1, 1), &status);
	tn_model_add_member(layer, "norm2", tn_module_batch_norm2d(context, hidden, NULL), &status);
	tn_model_add_member(layer, "relu2", tn_module_relu(context), &status);
	tn_model_add_member(layer, "conv2", tn_model_conv(context, hidden, growth, 3, 1, 1),
			    &status);
	return tn_model_end(layer, status);
}

/* ---- The network -----------------------------------------------------------------------------*/

static tn_module *make_block(tn_context *context, int n_layers, int64_t *channels, int64_t growth)
{
	tn_module *block = tn_module_sequential(context);
	tn_status status = TN_OK;
	for (int i = 0; i < n_layers; i++) {
		char name[32];
		snprintf(name, sizeof(name), "denselayer%d", i + 1);
		tn_model_add(block, name, make_layer(context, *channels, growth), &status);
		*channels += growth;
	}
	return tn_model_end(block, status);
}

static tn_module *make_transition(tn_context *context, int64_t *channels)
{
	tn_module *transition = tn_module_sequential(context);
	struct tn_pool2d_options pool = tn_pool2d_defaults();
	pool.kernel[0] = pool.kernel[1] = 2;
	tn_status status = TN_OK;
	tn_model_add(transition, "norm", tn_module_batch_norm2d(context, *channels, NULL), &status);
	tn_model_add(transition, "relu", tn_module_relu(context), &status);
	tn_model_add(transition, "conv", tn_model_conv(context, *channels, *channels / 2, 1, 1, 1),
		     &status);
	tn_model_add(transition, "pool", tn_module_avg_pool2d(context, &pool), &status);
	*channels /= 2;
	return tn_model_end(transition, status);
}

static void add_stem(tn_context *context, tn_module *features,
		     const struct tn_model_request *request, int64_t channels, tn_status *status)
{
	const int is_large = request->form == TN_FORM_PUBLISHED;
	tn_model_add(features, "conv0",
		     tn_model_conv(context, request->shape.channels, channels, is_large ? 7 : 3,
				   is_large ? 2 : 1, 1),
		     status);
	tn_model_add(features, "norm0", tn_module_batch_norm2d(context, channels, NULL), status);
	tn_model_add(features, "relu0", tn_module_relu(context), status);
	if (is_large)
		tn_model_add(features, "pool0", tn_model_max_pool(context, 3, 2, 1), status);
}

/* torchvision's. */
static const struct tn_initial initial[] = {
	{"*", 4, TN_INITIAL_HE_IN, 0},
	{"classifier.bias", 1, TN_INITIAL_ZERO, 0},
	{0},
};

tn_module *tn_model_densenet(tn_context *context, const struct tn_model_request *request)
{
	static const int n_layers[N_BLOCKS] = {6, 12, 24, 16};
	int64_t channels = request->width ? request->width : STEM;
	const int64_t growth = GROWTH * channels / STEM;
	tn_module *net = tn_module_sequential(context), *features = tn_module_sequential(context);
	tn_status status = TN_OK;
	add_stem(context, features, request, channels, &status);
	for (int i = 0; i < N_BLOCKS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "denseblock%d", i + 1);
		tn_model_add(features, name, make_block(context, n_layers[i], &channels, growth),
			     &status);
		snprintf(name, sizeof(name), "transition%d", i + 1);
		if (i < N_BLOCKS - 1)
			tn_model_add(features, name, make_transition(context, &channels), &status);
	}
	tn_model_add(features, "norm5", tn_module_batch_norm2d(context, channels, NULL), &status);
	tn_model_add(net, "features", features, &status);
	tn_model_add(net, "relu", tn_module_relu(context), &status);
	tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "classifier",
		     tn_module_linear(context, channels, request->shape.n_classes, NULL), &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}
