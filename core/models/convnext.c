/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Z. Liu, H. Mao, C.-Y. Wu, C. Feichtenhofer, T. Darrell and S. Xie, "A ConvNet for the 2020s",
 * CVPR 2022: four stages of 3, 3, 9 and 3 blocks, with a norm and a convolution 2x2 of stride 2
 * between them.
 *
 *     published  torchvision's convnext_tiny, with its names
 *     small      for 32x32 pictures: the stem is a convolution 2x2 of stride 2
 *     nnott      3, 3, 6 and 3 blocks, 64 to 512 channels wide, without layer scale and stochastic
 *                depth; a stem 4x4 of stride 2; norms follow the convolutions between the stages
 */
#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"

enum { N_STAGES = 4, N_BLOCKS = 18, WIDTH = 96, NNOTT_WIDTH = 64 };

static tn_module *norm(tn_context *context, int64_t channels)
{
	struct tn_module_norm_options options = tn_module_norm_defaults();
	options.epsilon = 1e-6;
	return tn_module_layer_norm2d(context, channels, &options);
}

/* ---- nnott's form ----------------------------------------------------------------------------*/

static tn_module *nnott_block(tn_context *context, int64_t channels)
{
	tn_module *block = tn_module_residual(context, TN_ACTIVATION_NONE);
	tn_status status = TN_OK;
	tn_model_add(block, "depthwise", tn_model_conv(context, channels, channels, 7, 1, channels),
		     &status);
	tn_model_add(block, "norm", tn_module_layer_norm2d(context, channels, NULL), &status);
	tn_model_add(block, "expand",
		     tn_model_conv_biased(context, channels, 4 * channels, 1, 1, 0), &status);
	tn_model_add(block, "act", tn_module_gelu(context, 1), &status);
	tn_model_add(block, "project",
		     tn_model_conv_biased(context, 4 * channels, channels, 1, 1, 0), &status);
	return tn_model_end(block, status);
}

/* torchvision's, whose normal numbers are cut at +-2, a hundred deviations away. */
static const struct tn_initial initial[] = {
	{"*", 4, TN_INITIAL_NORMAL, 0.02},
	{"*", 2, TN_INITIAL_NORMAL, 0.02},
	{"*.bias", 1, TN_INITIAL_ZERO, 0},
	{0},
};

static tn_module *nnott(tn_context *context, const struct tn_model_request *request)
{
	static const int n_blocks[N_STAGES] = {3, 3, 6, 3};
	const int64_t width = request->width ? request->width : NNOTT_WIDTH;
	tn_module *net = tn_module_sequential(context), *features = tn_module_sequential(context);
	tn_status status = TN_OK;
	int64_t in = request->shape.channels;
	for (int i = 0; i < N_STAGES; i++) {
		const int64_t out = width << i;
		tn_module *stage = tn_module_sequential(context);
		tn_model_add(features, NULL,
			     i ? tn_model_conv_biased(context, in, out, 2, 2, 0)
			       : tn_model_conv_biased(context, in, out, 4, 2, 1),
			     &status);
		tn_model_add(features, NULL, tn_module_layer_norm2d(context, out, NULL), &status);
		for (int k = 0; k < n_blocks[i]; k++)
			tn_model_add(stage, NULL, nnott_block(context, out), &status);
		tn_model_add(features, NULL, stage, &status);
		in = out;
	}
	tn_model_add(net, "features", features, &status);
	tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "classifier",
		     tn_module_linear(context, in, request->shape.n_classes, NULL), &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}

/* ---- The published and the small form --------------------------------------------------------*/

static tn_module *make_features(tn_context *context, const struct tn_model_request *request,
				int64_t channels)
{
	static const int n_blocks[N_STAGES] = {3, 3, 9, 3};
	const int64_t patch = request->form == TN_FORM_PUBLISHED ? 4 : 2;
	const double dropped = request->width ? 0 : 0.1; /* in the last block */
	tn_module *features = tn_module_sequential(context), *stem = tn_module_sequential(context);
	struct tn_module_convnext_options options = tn_module_convnext_defaults();
	tn_status status = TN_OK;
	int n = 0;
	tn_model_add(
		stem, NULL,
		tn_model_conv_biased(context, request->shape.channels, channels, patch, patch, 0),
		&status);
	tn_model_add(stem, NULL, norm(context, channels), &status);
	tn_model_add(features, NULL, stem, &status);
	for (int i = 0; i < N_STAGES; i++) {
		tn_module *stage = tn_module_sequential(context);
		if (i) {
			tn_module *downsample = tn_module_sequential(context);
			tn_model_add(downsample, NULL, norm(context, channels), &status);
			tn_model_add(downsample, NULL,
				     tn_model_conv_biased(context, channels, 2 * channels, 2, 2, 0),
				     &status);
			tn_model_add(features, NULL, downsample, &status);
			channels *= 2;
		}
		for (int k = 0; k < n_blocks[i]; k++, n++) {
			options.stochastic_depth = dropped * n / (N_BLOCKS - 1);
			tn_model_add(stage, NULL,
				     tn_module_convnext_block(context, channels, &options),
				     &status);
		}
		tn_model_add(features, NULL, stage, &status);
	}
	return tn_model_end(features, status);
}

tn_module *tn_model_convnext(tn_context *context, const struct tn_model_request *request)
{
	if (request->form == TN_FORM_NNOTT)
		return nnott(context, request);
	const int64_t width = request->width ? request->width : WIDTH;
	const int64_t channels = width << (N_STAGES - 1);
	tn_module *net = tn_module_sequential(context), *classifier = tn_module_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(net, "features", make_features(context, request, width), &status);
	tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(classifier, NULL, norm(context, channels), &status);
	tn_model_add(classifier, NULL, tn_module_flatten(context), &status);
	tn_model_add(classifier, NULL,
		     tn_module_linear(context, channels, request->shape.n_classes, NULL), &status);
	tn_model_add(net, "classifier", classifier, &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}
