/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, "Gradient-Based Learning Applied to Document
 * Recognition", Proceedings of the IEEE 86, 1998, with modern activations and pools:
 *
 *     Conv 5x5, 6, padded -> ReLU -> MaxPool 2 -> Conv 5x5, 16 -> ReLU -> MaxPool 2
 *         -> Linear 120 -> ReLU -> Linear 84 -> ReLU -> Linear classes
 *
 * 28 x 28 pictures are padded by 2 so that the first convolution sees the paper's 32 x 32.
 */
#include "array/runtime.h"
#include "models/chain.h"
#include "models/models.h"

static tn_module *pool(tn_context *context)
{
	return tn_module_max_pool2d(context,
				    TN_OPTIONS(struct tn_pool2d_options, .kernel = {2, 2}));
}

tn_module *tn_model_lenet(tn_context *context, const struct tn_model_shape *shape)
{
	const struct tn_module_conv2d_options padded = {
		.struct_size = sizeof(padded),
		.window = {sizeof(padded.window), .padding = {2, 2}}};
	/* The length of a side after both convolutions and pools. */
	int64_t h = (shape->height / 2 - 4) / 2, w = (shape->width / 2 - 4) / 2;
	if (shape->height < 12 || shape->width < 12) {
		tn_runtime_fail(tn_runtime_of(context), TN_SHAPE, "lenet",
				"expected pictures of at least 12 x 12, found %lld x %lld",
				(long long)shape->height, (long long)shape->width);
		return NULL;
	}
	tn_module *net = tn_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(net, "conv1", tn_module_conv2d(context, shape->channels, 6, 5, 5, &padded),
		     &status);
	tn_model_add(net, "relu1", tn_module_relu(context), &status);
	tn_model_add(net, "pool1", pool(context), &status);
	tn_model_add(net, "conv2", tn_module_conv2d(context, 6, 16, 5, 5, NULL), &status);
	tn_model_add(net, "relu2", tn_module_relu(context), &status);
	tn_model_add(net, "pool2", pool(context), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "fc1", tn_module_linear(context, 16 * h * w, 120, NULL), &status);
	tn_model_add(net, "relu3", tn_module_relu(context), &status);
	tn_model_add(net, "fc2", tn_module_linear(context, 120, 84, NULL), &status);
	tn_model_add(net, "relu4", tn_module_relu(context), &status);
	tn_model_add(net, "fc3", tn_module_linear(context, 84, shape->n_classes, NULL), &status);
	return tn_model_end(net, status);
}
