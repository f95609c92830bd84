/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The networks for CIFAR-10 of K. He, X. Zhang, S. Ren and J. Sun, "Deep Residual Learning for
 * Image Recognition", CVPR 2016, section 4.2: 6n + 2 layers, three stages of n blocks, 16, 32 and
 * 64 channels wide.
 *
 *     published   option A: where the shape changes, the shortcut takes every second pixel of x and
 *                 adds channels of 0, half of them before and half after
 *     projection  option B: Conv 1x1 of stride 2 -> BN
 */
#include "base/memory.h"
#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"
#include "nn/module.h"

#include <tenon/manipulate.h>

enum { N_STAGES = 3, WIDTH = 16 };

/* ---- Option A --------------------------------------------------------------------------------*/

static tn_array *widen_forward(tn_module *module, void *state, const tn_array *x)
{
	const int64_t added = *(const int64_t *)state / 2;
	const int64_t *shape = tn_array_shape(x);
	(void)module;
	tn_array *rows = tn_slice(x, 2, 0, shape[2], 2);
	tn_array *pixels = tn_slice(rows, 3, 0, shape[3], 2);
	tn_array *wide = tn_pad(pixels, (const int64_t[]){0, 0, added, added, 0, 0, 0, 0},
				TN_PAD_CONSTANT, NULL);
	tn_array_destroy(pixels);
	tn_array_destroy(rows);
	return wide;
}

/* Every second pixel, with `added` channels of 0. */
static tn_module *widen(tn_context *context, int64_t added)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Widen",
						      .forward = widen_forward,
						      .destroy = tn_mem_free,
						      .is_repeatable = 1};
	return tn_module_of_class(context, &class_, &added, sizeof(added));
}

/* ---- The network -----------------------------------------------------------------------------*/

static tn_module *make_block(tn_context *context, int64_t in, int64_t out, int has_projection)
{
	const int64_t stride = in == out ? 1 : 2;
	tn_module *block = tn_module_residual(context, TN_ACTIVATION_RELU);
	tn_status status = TN_OK;
	tn_model_add(block, "conv1", tn_model_conv(context, in, out, 3, stride, 1), &status);
	tn_model_add(block, "bn1", tn_module_batch_norm2d(context, out, NULL), &status);
	tn_model_add(block, "relu", tn_module_relu(context), &status);
	tn_model_add(block, "conv2", tn_model_conv(context, out, out, 3, 1, 1), &status);
	tn_model_add(block, "bn2", tn_module_batch_norm2d(context, out, NULL), &status);
	if (!status && stride != 1)
		status = tn_module_residual_shortcut(
			block, "downsample",
			has_projection ? tn_model_conv_norm(context, in, out, 1, stride, 1,
							    TN_ACTIVATION_NONE)
				       : widen(context, out - in));
	return tn_model_end(block, status);
}

/* K. He and others, "Delving Deep into Rectifiers", ICCV 2015, which section 3.4 refers to. */
static const struct tn_initial initial[] = {
	{"*", 4, TN_INITIAL_HE_IN, 0},
	{0},
};

tn_module *tn_model_resnet_cifar(tn_context *context, const struct tn_model_request *request)
{
	static const char *const names[N_STAGES] = {"layer1", "layer2", "layer3"};
	const int n_blocks = (request->layers - 2) / 6;
	const int64_t width = request->width ? request->width : WIDTH;
	tn_module *net = tn_module_sequential(context);
	tn_status status = TN_OK;
	int64_t in = width;
	tn_model_add(net, "conv1", tn_model_conv(context, request->shape.channels, in, 3, 1, 1),
		     &status);
	tn_model_add(net, "bn1", tn_module_batch_norm2d(context, in, NULL), &status);
	tn_model_add(net, "relu", tn_module_relu(context), &status);
	for (int stage = 0; stage < N_STAGES; stage++) {
		tn_module *layer = tn_module_sequential(context);
		for (int i = 0; i < n_blocks; i++) {
			tn_model_add(layer, NULL,
				     make_block(context, in, width << stage,
						request->form == TN_FORM_PROJECTION),
				     &status);
			in = width << stage;
		}
		tn_model_add(net, names[stage], layer, &status);
	}
	tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "fc", tn_module_linear(context, in, request->shape.n_classes, NULL),
		     &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}
