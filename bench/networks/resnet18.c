/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * K. He, X. Zhang, S. Ren and J. Sun, "Deep Residual Learning for Image Recognition", CVPR 2016: four
 * stages of two basic blocks, the first stage at full size:
 *
 *     block: Conv 3x3 (stride) -> BatchNorm -> ReLU -> Conv 3x3 -> BatchNorm, + shortcut -> ReLU
 *     shortcut: x, or Conv 1x1 (stride) -> BatchNorm where the shape changes
 */
#include "networks.h"

static tn_module *shortcut(tn_context *context, int64_t in, int64_t out, int64_t stride)
{
	tn_module *chain = tn_sequential(context);
	tn_status status = TN_OK;
	network_add(chain, NULL, network_conv(context, in, out, 1, stride, 1), &status);
	network_add(chain, NULL, tn_module_batch_norm2d(context, out, NULL), &status);
	return network_end(chain, status);
}

static tn_module *block(tn_context *context, int64_t in, int64_t out, int64_t stride)
{
	tn_module *block = tn_module_residual(context, TN_ACTIVATION_RELU);
	tn_status status = TN_OK;
	network_add(block, "c1", network_conv(context, in, out, 3, stride, 1), &status);
	network_add(block, "b1", tn_module_batch_norm2d(context, out, NULL), &status);
	network_add(block, "relu", tn_module_relu(context), &status);
	network_add(block, "c2", network_conv(context, out, out, 3, 1, 1), &status);
	network_add(block, "b2", tn_module_batch_norm2d(context, out, NULL), &status);
	if (!status && (stride != 1 || in != out))
		status = tn_module_residual_shortcut(block, "sc",
						     shortcut(context, in, out, stride));
	return network_end(block, status);
}

static tn_module *stages(tn_context *context, int64_t width)
{
	tn_module *chain = tn_sequential(context);
	tn_status status = TN_OK;
	int64_t in = width;
	for (int i = 0; i < 8; i++) {
		int64_t out = width << (i / 2);
		network_add(chain, NULL, block(context, in, out, i % 2 == 0 && i ? 2 : 1), &status);
		in = out;
	}
	return network_end(chain, status);
}

tn_module *network_resnet18(tn_context *context, int64_t width, int64_t n_classes)
{
	tn_module *net = tn_sequential(context);
	tn_status status = TN_OK;
	network_add(net, "c", network_conv(context, 3, width, 3, 1, 1), &status);
	network_add(net, "b", tn_module_batch_norm2d(context, width, NULL), &status);
	network_add(net, "relu", tn_module_relu(context), &status);
	network_add(net, "l", stages(context, width), &status);
	network_add(net, "pool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	network_add(net, "flatten", tn_module_flatten(context), &status);
	network_add(net, "f", tn_module_linear(context, 8 * width, n_classes, NULL), &status);
	return network_end(net, status);
}
