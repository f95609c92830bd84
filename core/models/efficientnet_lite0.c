/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * M. Tan and Q. V. Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks",
 * ICML 2019, in the Lite0 variant: inverted residuals with ReLU6 and without
 * squeeze-and-excitation.
 *
 * The first stage does not expand: its block begins with the depthwise convolution.  Torchvision
 * has no Lite0; the names are those of timm's efficientnet_lite0, where a batch norm includes the
 * activation, which is a separate member here ("act1" after "bn1").
 */
#include "models/chain.h"
#include "models/models.h"

struct stage {
	int64_t expand, out, n_blocks, stride, kernel;
};

static const struct stage stages[] = {{1, 16, 1, 1, 3}, {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5},
				      {6, 80, 3, 2, 3}, {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5},
				      {6, 320, 1, 1, 3}};

/* The channels above and of the head are those for a stem of 32. */
enum { N_STAGES = sizeof(stages) / sizeof(stages[0]), STEM = 32, HEAD = 1280 };

static tn_module *make_block(tn_context *context, int64_t in, int64_t out,
			     const struct stage *stage, int64_t stride)
{
	const struct tn_module_mbconv_options options = {.struct_size = sizeof(options),
							 .activation = TN_ACTIVATION_RELU6,
							 .kernel = stage->kernel,
							 .stride = stride};
	return tn_module_mbconv(context, in, out, stage->expand, &options);
}

tn_module *tn_model_efficientnet_lite0(tn_context *context, int64_t width, int64_t n_classes)
{
	tn_module *net = tn_sequential(context), *blocks = tn_sequential(context);
	tn_status status = TN_OK;
	int64_t in = width, head = HEAD * width / STEM;
	for (const struct stage *stage = stages; stage < stages + N_STAGES; stage++) {
		int64_t out = stage->out * width / STEM;
		tn_module *chain = tn_sequential(context);
		for (int64_t i = 0; i < stage->n_blocks; i++) {
			tn_model_add(chain, NULL,
				     make_block(context, in, out, stage, i ? 1 : stage->stride),
				     &status);
			in = out;
		}
		tn_model_add(blocks, NULL, chain, &status);
	}
	tn_model_add(net, "conv_stem", tn_model_conv(context, 3, width, 3, 2, 1), &status);
	tn_model_add(net, "bn1", tn_module_batch_norm2d(context, width, NULL), &status);
	tn_model_add(net, "act1", tn_module_relu6(context), &status);
	tn_model_add(net, "blocks", blocks, &status);
	tn_model_add(net, "conv_head", tn_model_conv(context, in, head, 1, 1, 1), &status);
	tn_model_add(net, "bn2", tn_module_batch_norm2d(context, head, NULL), &status);
	tn_model_add(net, "act2", tn_module_relu6(context), &status);
	tn_model_add(net, "global_pool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "classifier", tn_module_linear(context, head, n_classes, NULL), &status);
	return tn_model_end(net, status);
}
