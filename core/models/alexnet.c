/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A. Krizhevsky, I. Sutskever and G. E. Hinton, "ImageNet Classification with Deep Convolutional
 * Neural Networks", NeurIPS 2012, as A. Krizhevsky, "One weird trick for parallelizing
 * convolutional neural networks", 2014, has it: torchvision's alexnet, with its names.
 *
 *     published  Conv 11x11/4, 64 - pool - Conv 5x5, 192 - pool - 384 - 256 - 256 (3x3) - pool,
 *                6x6 planes, Linear 4096 - 4096 - classes
 *     small      all kernels 3x3 and pools 2x2, for 32x32 pictures; Linear 512 - 512 - classes
 *     nnott      the same with batch norms; Linear 1024 - 512 - classes
 */
#include "models/chain.h"
#include "models/models.h"

static void add_conv(tn_context *context, tn_module *features, int64_t in, int64_t out,
		     int batch_norm, tn_status *status)
{
	tn_model_add(features, NULL, tn_model_conv_biased(context, in, out, 3, 1, 1), status);
	if (batch_norm)
		tn_model_add(features, NULL, tn_module_batch_norm2d(context, out, NULL), status);
	tn_model_add(features, NULL, tn_module_relu(context), status);
}

/* The features of the published form. */
static tn_module *large_features(tn_context *context, int64_t channels, tn_status *status)
{
	tn_module *features = tn_module_sequential(context);
	tn_model_add(features, NULL, tn_model_conv_biased(context, channels, 64, 11, 4, 2), status);
	tn_model_add(features, NULL, tn_module_relu(context), status);
	tn_model_add(features, NULL, tn_model_max_pool(context, 3, 2, 0), status);
	tn_model_add(features, NULL, tn_model_conv_biased(context, 64, 192, 5, 1, 2), status);
	tn_model_add(features, NULL, tn_module_relu(context), status);
	tn_model_add(features, NULL, tn_model_max_pool(context, 3, 2, 0), status);
	add_conv(context, features, 192, 384, 0, status);
	add_conv(context, features, 384, 256, 0, status);
	add_conv(context, features, 256, 256, 0, status);
	tn_model_add(features, NULL, tn_model_max_pool(context, 3, 2, 0), status);
	return features;
}

static tn_module *small_features(tn_context *context, int64_t channels, int batch_norm,
				 tn_status *status)
{
	tn_module *features = tn_module_sequential(context);
	add_conv(context, features, channels, 64, batch_norm, status);
	tn_model_add(features, NULL, tn_model_max_pool(context, 2, 2, 0), status);
	add_conv(context, features, 64, 192, batch_norm, status);
	tn_model_add(features, NULL, tn_model_max_pool(context, 2, 2, 0), status);
	add_conv(context, features, 192, 384, batch_norm, status);
	add_conv(context, features, 384, 256, batch_norm, status);
	add_conv(context, features, 256, 256, batch_norm, status);
	tn_model_add(features, NULL, tn_model_max_pool(context, 2, 2, 0), status);
	return features;
}

/* A dropout before each of the first two layers, as torchvision has it, or after them. */
static tn_module *classifier(tn_context *context, int64_t inputs, const int64_t hidden[2],
			     int64_t n_classes, int dropout_first, tn_status *status)
{
	tn_module *chain = tn_module_sequential(context);
	for (int i = 0; i < 2; i++) {
		if (dropout_first)
			tn_model_add(chain, NULL, tn_module_dropout(context, 0.5), status);
		tn_model_add(chain, NULL, tn_module_linear(context, inputs, hidden[i], NULL),
			     status);
		tn_model_add(chain, NULL, tn_module_relu(context), status);
		if (!dropout_first)
			tn_model_add(chain, NULL, tn_module_dropout(context, 0.5), status);
		inputs = hidden[i];
	}
	tn_model_add(chain, NULL, tn_module_linear(context, inputs, n_classes, NULL), status);
	return chain;
}

tn_module *tn_model_alexnet(tn_context *context, const struct tn_model_request *request)
{
	const struct tn_model_shape *shape = &request->shape;
	const int is_large = request->form == TN_FORM_PUBLISHED;
	const int is_nnott = request->form == TN_FORM_NNOTT;
	const int64_t planes = is_large ? 36 : (shape->height / 8) * (shape->width / 8);
	const int64_t hidden[2] = {is_large ? 4096 : is_nnott ? 1024 : 512, is_large ? 4096 : 512};
	tn_module *net = tn_module_sequential(context);
	tn_status status = TN_OK;
	tn_module *features = is_large
				      ? large_features(context, shape->channels, &status)
				      : small_features(context, shape->channels, is_nnott, &status);
	tn_module *head =
		classifier(context, 256 * planes, hidden, shape->n_classes, !is_nnott, &status);
	tn_model_add(net, "features", features, &status);
	if (is_large)
		tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 6, 6), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "classifier", head, &status);
	return tn_model_end(net, status);
}
