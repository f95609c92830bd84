/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The baseline of nnott (P. Fattah, https://github.com/polla-fattah/nnott): three convolutions.
 *
 *     Conv 32 -> BN -> ReLU -> Conv 64 -> BN -> ReLU -> MaxPool 2 -> Dropout .15
 *         -> Conv 128 -> BN -> LeakyReLU .1 -> MaxPool 2 -> Dropout .25
 *         -> Linear 256 -> ReLU -> Dropout .5 -> Linear classes
 */
#include "models/chain.h"
#include "models/models.h"

tn_module *tn_model_baseline(tn_context *context, const struct tn_model_request *request)
{
	const struct tn_model_shape *shape = &request->shape;
	const int64_t features = 128 * (shape->height / 4) * (shape->width / 4);
	tn_module *net = tn_module_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(net, "conv1", tn_model_conv_biased(context, shape->channels, 32, 3, 1, 1),
		     &status);
	tn_model_add(net, "bn1", tn_module_batch_norm2d(context, 32, NULL), &status);
	tn_model_add(net, "relu1", tn_module_relu(context), &status);
	tn_model_add(net, "conv2", tn_model_conv_biased(context, 32, 64, 3, 1, 1), &status);
	tn_model_add(net, "bn2", tn_module_batch_norm2d(context, 64, NULL), &status);
	tn_model_add(net, "relu2", tn_module_relu(context), &status);
	tn_model_add(net, "pool1", tn_model_max_pool(context, 2, 2, 0), &status);
	tn_model_add(net, "dropout1", tn_module_dropout(context, 0.15), &status);
	tn_model_add(net, "conv3", tn_model_conv_biased(context, 64, 128, 3, 1, 1), &status);
	tn_model_add(net, "bn3", tn_module_batch_norm2d(context, 128, NULL), &status);
	tn_model_add(net, "leaky_relu", tn_module_leaky_relu(context, 0.1), &status);
	tn_model_add(net, "pool2", tn_model_max_pool(context, 2, 2, 0), &status);
	tn_model_add(net, "dropout2", tn_module_dropout(context, 0.25), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "fc1", tn_module_linear(context, features, 256, NULL), &status);
	tn_model_add(net, "relu3", tn_module_relu(context), &status);
	tn_model_add(net, "dropout3", tn_module_dropout(context, 0.5), &status);
	tn_model_add(net, "fc2", tn_module_linear(context, 256, shape->n_classes, NULL), &status);
	return tn_model_end(net, status);
}
