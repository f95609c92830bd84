/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 *     flatten -> Linear 256 -> ReLU -> Linear 128 -> ReLU -> Linear classes
 */
#include "models/chain.h"
#include "models/models.h"

tn_module *tn_model_mlp(tn_context *context, const struct tn_model_request *request)
{
	const struct tn_model_shape *shape = &request->shape;
	int64_t inputs = shape->channels * shape->height * shape->width;
	tn_module *net = tn_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "fc1", tn_module_linear(context, inputs, 256, NULL), &status);
	tn_model_add(net, "relu1", tn_module_relu(context), &status);
	tn_model_add(net, "fc2", tn_module_linear(context, 256, 128, NULL), &status);
	tn_model_add(net, "relu2", tn_module_relu(context), &status);
	tn_model_add(net, "fc3", tn_module_linear(context, 128, shape->n_classes, NULL), &status);
	return tn_model_end(net, status);
}
