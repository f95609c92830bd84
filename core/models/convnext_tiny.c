/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Z. Liu, H. Mao, C.-Y. Wu, C. Feichtenhofer, T. Darrell and S. Xie, "A ConvNet for the 2020s",
 * CVPR 2022: four stages of 3, 3, 9 and 3 blocks, with a norm and a convolution 2x2 of stride 2
 * between them.
 *
 *     block: x + layer_scale Linear(GELU(Linear(LayerNorm(depthwise Conv 7x7 of x)))),
 *            channels last from the norm to the second linear layer
 *
 * Layers and names are those of torchvision's convnext_tiny.
 */
#include "base/memory.h"
#include "models/chain.h"
#include "models/models.h"
#include "nn/module.h"

enum { N_STAGES = 4 };

static const struct tn_module_norm_options norm = {.struct_size = sizeof(norm), .epsilon = 1e-6};

/* ---- The block -------------------------------------------------------------------------------*/

static const int to_channels_last[] = {0, 2, 3, 1}, to_channels_first[] = {0, 3, 1, 2};

static tn_array *permute_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	return tn_transpose(x, state);
}

static tn_module *permute(tn_context *context, const int axes[4])
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Permute",
						      .forward = permute_forward,
						      .destroy = tn_mem_free};
	return tn_module_of_class(context, &class_, axes, 4 * sizeof(*axes));
}

static tn_array *block_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	tn_array *y = tn_module_forward(module->members[0].module, x);
	tn_array *scaled = tn_multiply(tn_module_own_parameter(module, "layer_scale"), y);
	tn_array_destroy(y);
	tn_array *sum = tn_add(x, scaled);
	tn_array_destroy(scaled);
	return sum;
}

static tn_module *make_block(tn_context *context, int64_t width)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "CNBlock", .forward = block_forward};
	const struct tn_module_conv2d_options depthwise = {
		.struct_size = sizeof(depthwise),
		.window = {.struct_size = sizeof(depthwise.window),
			   .padding = {3, 3},
			   .groups = width}};
	tn_module *block = tn_module_make(context, &class_, NULL), *branch = tn_sequential(context);
	tn_status status = tn_module_add_parameter(block, "layer_scale", 3,
						   (const int64_t[]){width, 1, 1}, 0.0, 1e-6);
	tn_model_add(branch, NULL, tn_module_conv2d(context, width, width, 7, 7, &depthwise),
		     &status);
	tn_model_add(branch, NULL, permute(context, to_channels_last), &status);
	tn_model_add(branch, NULL, tn_module_layer_norm(context, 1, &width, &norm), &status);
	tn_model_add(branch, NULL, tn_module_linear(context, width, 4 * width, NULL), &status);
	tn_model_add(branch, NULL, tn_module_gelu(context, 0), &status);
	tn_model_add(branch, NULL, tn_module_linear(context, 4 * width, width, NULL), &status);
	tn_model_add(branch, NULL, permute(context, to_channels_first), &status);
	branch = tn_model_end(branch, status);
	if (!status)
		status = tn_module_add(block, "block", branch);
	return tn_model_end(block, status);
}

/* ---- The network -----------------------------------------------------------------------------*/

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
			tn_model_add(stage, NULL, make_block(context, channels), &status);
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
