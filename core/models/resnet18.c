/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * K. He, X. Zhang, S. Ren and J. Sun, "Deep Residual Learning for Image Recognition", CVPR 2016:
 * four stages of two basic blocks.
 *
 *     block: Conv 3x3 (stride) -> BatchNorm -> ReLU -> Conv 3x3 -> BatchNorm, + shortcut -> ReLU
 *     shortcut: x, or Conv 1x1 (stride) -> BatchNorm where the shape changes
 *
 * The stem is that of the paper's CIFAR networks, for small pictures: Conv 3x3 of stride 1 and no
 * max pool in place of Conv 7x7 of stride 2 and a max pool.  All other layers are those of
 * torchvision's resnet18, and all have its names.
 */
#include "models/chain.h"
#include "models/models.h"

enum { N_STAGES = 4, N_BLOCKS = 2 };

static tn_module *downsample(tn_context *context, int64_t in, int64_t out, int64_t stride)
{
	tn_module *chain = tn_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(chain, NULL, tn_model_conv(context, in, out, 1, stride, 1), &status);
	tn_model_add(chain, NULL, tn_module_batch_norm2d(context, out, NULL), &status);
	return tn_model_end(chain, status);
}

static tn_module *basic_block(tn_context *context, int64_t in, int64_t out, int64_t stride)
{
	tn_module *block = tn_module_residual(context, TN_ACTIVATION_RELU);
	tn_status status = TN_OK;
	tn_model_add(block, "conv1", tn_model_conv(context, in, out, 3, stride, 1), &status);
	tn_model_add(block, "bn1", tn_module_batch_norm2d(context, out, NULL), &status);
	tn_model_add(block, "relu", tn_module_relu(context), &status);
	tn_model_add(block, "conv2", tn_model_conv(context, out, out, 3, 1, 1), &status);
	tn_model_add(block, "bn2", tn_module_batch_norm2d(context, out, NULL), &status);
	if (!status && (stride != 1 || in != out))
		status = tn_module_residual_shortcut(block, "downsample",
						     downsample(context, in, out, stride));
	return tn_model_end(block, status);
}

tn_module *tn_model_resnet18(tn_context *context, int64_t width, int64_t n_classes)
{
	static const char *const names[N_STAGES] = {"layer1", "layer2", "layer3", "layer4"};
	tn_module *net = tn_sequential(context);
	tn_status status = TN_OK;
	int64_t in = width;
	tn_model_add(net, "conv1", tn_model_conv(context, 3, width, 3, 1, 1), &status);
	tn_model_add(net, "bn1", tn_module_batch_norm2d(context, width, NULL), &status);
	tn_model_add(net, "relu", tn_module_relu(context), &status);
	for (int stage = 0; stage < N_STAGES; stage++) {
		int64_t out = width << stage;
		tn_module *layer = tn_sequential(context);
		for (int i = 0; i < N_BLOCKS; i++) {
			int64_t stride = stage && i == 0 ? 2 : 1;
			tn_model_add(layer, NULL, basic_block(context, in, out, stride), &status);
			in = out;
		}
		tn_model_add(net, names[stage], layer, &status);
	}
	tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "fc", tn_module_linear(context, in, n_classes, NULL), &status);
	return tn_model_end(net, status);
}
