/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Z. Liu, H. Mao, C.-Y. Wu, C. Feichtenhofer, T. Darrell and S. Xie, "A ConvNet for the 2020s",
 * CVPR 2022: four stages of 3, 3, 9 and 3 blocks, with a norm and a convolution 2x2 of stride 2
 * between them.
 *
 * Layers and names are those of torchvision's convnext_tiny.
 */
#include "models/chain.h"
#include "models/models.h"

enum { N_STAGES = 4 };

static const struct tn_module_norm_options norm = {.struct_size = sizeof(norm), .epsilon = 1e-6};

/* A convolution of non-overlapping squares of pixels. */
static tn_module *patches(tn_context *context, int64_t in, int64_t out, int64_t size)
{
	const struct tn_module_conv2d_options options = {
		.struct_size = sizeof(options),
		.window = {.struct_size = sizeof(options.window), .stride = {size, size}}};
	return tn_module_conv2d(context, in, out, size, size, &options);
}

tn_module *tn_model_convnext_tiny(tn_context *context, int64_t width, int64_t n_classes)
{
	static const int n_blocks[N_STAGES] = {3, 3, 9, 3};
	tn_module *net = tn_sequential(context), *features = tn_sequential(context);
	tn_module *stem = tn_sequential(context), *classifier = tn_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(stem, NULL, patches(context, 3, width, 4), &status);
	tn_model_add(stem, NULL, tn_module_layer_norm2d(context, width, &norm), &status);
	tn_model_add(features, NULL, stem, &status);
	int64_t channels = width;
	for (int i = 0; i < N_STAGES; i++) {
		tn_module *stage = tn_sequential(context);
		if (i) {
			tn_module *downsample = tn_sequential(context);
			tn_model_add(downsample, NULL,
				     tn_module_layer_norm2d(context, channels, &norm), &status);
			tn_model_add(downsample, NULL, patches(context, channels, 2 * channels, 2),
				     &status);
			tn_model_add(features, NULL, downsample, &status);
			channels *= 2;
		}
		for (int k = 0; k < n_blocks[i]; k++)
			tn_model_add(stage, NULL, tn_module_convnext_block(context, channels, NULL),
				     &status);
		tn_model_add(features, NULL, stage, &status);
	}
	tn_model_add(net, "features", features, &status);
	tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(classifier, NULL, tn_module_layer_norm2d(context, channels, &norm), &status);
	tn_model_add(classifier, NULL, tn_module_flatten(context), &status);
	tn_model_add(classifier, NULL, tn_module_linear(context, channels, n_classes, NULL),
		     &status);
	tn_model_add(net, "classifier", classifier, &status);
	return tn_model_end(net, status);
}
