/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, "Gradient-Based Learning Applied to Document
 * Recognition", Proceedings of the IEEE 86, 1998, with modern activations and pools:
 *
 *     Conv 5x5, 6, padded -> ReLU -> MaxPool 2 -> Conv 5x5, 16 -> ReLU -> MaxPool 2
 *         -> Linear 120 -> ReLU -> Linear 84 -> ReLU -> Linear classes
 *
 * 28 x 28 pictures are padded by 2 so that the first convolution sees the paper's 32 x 32.  In
 * nnott's form batch norms follow the first two convolutions, and the third layer is a convolution
 * of 5 x 5 again, which for 28 x 28 pictures is the same as the Linear.
 */
#include "models/chain.h"
#include "models/models.h"

static tn_module *original(tn_context *context, const struct tn_model_shape *shape)
{
	/* The length of a side after both convolutions and pools. */
	const int64_t h = (shape->height / 2 - 4) / 2, w = (shape->width / 2 - 4) / 2;
	tn_module *net = tn_module_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(net, "conv1", tn_model_conv_biased(context, shape->channels, 6, 5, 1, 2),
		     &status);
	tn_model_add(net, "relu1", tn_module_relu(context), &status);
	tn_model_add(net, "pool1", tn_model_max_pool(context, 2, 2, 0), &status);
	tn_model_add(net, "conv2", tn_model_conv_biased(context, 6, 16, 5, 1, 0), &status);
	tn_model_add(net, "relu2", tn_module_relu(context), &status);
	tn_model_add(net, "pool2", tn_model_max_pool(context, 2, 2, 0), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "fc1", tn_module_linear(context, 16 * h * w, 120, NULL), &status);
	tn_model_add(net, "relu3", tn_module_relu(context), &status);
	tn_model_add(net, "fc2", tn_module_linear(context, 120, 84, NULL), &status);
	tn_model_add(net, "relu4", tn_module_relu(context), &status);
	tn_model_add(net, "fc3", tn_module_linear(context, 84, shape->n_classes, NULL), &status);
	return tn_model_end(net, status);
}

static tn_module *nnott(tn_context *context, const struct tn_model_shape *shape)
{
	/* The length of a side after all three convolutions. */
	const int64_t h = (shape->height / 2 - 4) / 2 - 4, w = (shape->width / 2 - 4) / 2 - 4;
	tn_module *net = tn_module_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(net, "conv1", tn_model_conv_biased(context, shape->channels, 6, 5, 1, 2),
		     &status);
	tn_model_add(net, "bn1", tn_module_batch_norm2d(context, 6, NULL), &status);
	tn_model_add(net, "relu1", tn_module_relu(context), &status);
	tn_model_add(net, "pool1", tn_model_max_pool(context, 2, 2, 0), &status);
	tn_model_add(net, "conv2", tn_model_conv_biased(context, 6, 16, 5, 1, 0), &status);
	tn_model_add(net, "bn2", tn_module_batch_norm2d(context, 16, NULL), &status);
	tn_model_add(net, "relu2", tn_module_relu(context), &status);
	tn_model_add(net, "pool2", tn_model_max_pool(context, 2, 2, 0), &status);
	tn_model_add(net, "conv3", tn_model_conv_biased(context, 16, 120, 5, 1, 0), &status);
	tn_model_add(net, "relu3", tn_module_relu(context), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "fc1", tn_module_linear(context, 120 * h * w, 84, NULL), &status);
	tn_model_add(net, "relu4", tn_module_relu(context), &status);
	tn_model_add(net, "fc2", tn_module_linear(context, 84, shape->n_classes, NULL), &status);
	return tn_model_end(net, status);
}

tn_module *tn_model_lenet(tn_context *context, const struct tn_model_request *request)
{
	return request->form == TN_FORM_NNOTT ? nnott(context, &request->shape)
					      : original(context, &request->shape);
}
