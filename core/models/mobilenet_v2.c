/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * M. Sandler, A. Howard, M. Zhu, A. Zhmoginov and L.-C. Chen, "MobileNetV2: Inverted Residuals and
 * Linear Bottlenecks", CVPR 2018: Conv 1x1 to six times the channels, depthwise Conv 3x3, Conv 1x1
 * without activation, + x where the shape stays.
 *
 *     published  torchvision's mobilenet_v2, with its names
 *     small      for 32x32 pictures: the stem and the second stage have stride 1
 */
#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"

static const struct stage {
	int64_t expand, out, n_blocks, stride;
} stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
	      {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

enum { N_STAGES = sizeof(stages) / sizeof(stages[0]), STEM = 32, LAST = 1280 };

static tn_module *make_block(tn_context *context, int64_t in, int64_t out, int64_t expand,
			     int64_t stride)
{
	const int64_t hidden = in * expand;
	tn_module *block = stride == 1 && in == out
				   ? tn_module_residual(context, TN_ACTIVATION_NONE)
				   : tn_module_sequential(context);
	tn_module *conv = tn_module_sequential(context);
	tn_status status = TN_OK;
	if (expand != 1)
		tn_model_add(conv, NULL,
			     tn_model_conv_norm(context, in, hidden, 1, 1, 1, TN_ACTIVATION_RELU6),
			     &status);
	tn_model_add(
		conv, NULL,
		tn_model_conv_norm(context, hidden, hidden, 3, stride, hidden, TN_ACTIVATION_RELU6),
		&status);
	tn_model_add(conv, NULL, tn_model_conv(context, hidden, out, 1, 1, 1), &status);
	tn_model_add(conv, NULL, tn_module_batch_norm2d(context, out, NULL), &status);
	tn_model_add(block, "conv", conv, &status);
	return tn_model_end(block, status);
}

/* torchvision's. */
static const struct tn_initial initial[] = {
	{"*", 4, TN_INITIAL_HE_OUT, 0},
	{"*", 2, TN_INITIAL_NORMAL, 0.01},
	{"*.bias", 1, TN_INITIAL_ZERO, 0},
	{0},
};

tn_module *tn_model_mobilenet_v2(tn_context *context, const struct tn_model_request *request)
{
	const int is_small = request->form == TN_FORM_SMALL;
	const int64_t width = request->width ? request->width : STEM;
	const int64_t last = LAST * width / STEM;
	tn_module *net = tn_module_sequential(context), *features = tn_module_sequential(context);
	tn_module *classifier = tn_module_sequential(context);
	tn_status status = TN_OK;
	int64_t in = width;
	tn_model_add(features, NULL,
		     tn_model_conv_norm(context, request->shape.channels, in, 3, is_small ? 1 : 2,
					1, TN_ACTIVATION_RELU6),
		     &status);
	for (int i = 0; i < N_STAGES; i++) {
		const int64_t stride = is_small && i == 1 ? 1 : stages[i].stride;
		for (int64_t k = 0; k < stages[i].n_blocks; k++) {
			const int64_t out = stages[i].out * width / STEM;
			tn_model_add(features, NULL,
				     make_block(context, in, out, stages[i].expand, k ? 1 : stride),
				     &status);
			in = out;
		}
	}
	tn_model_add(features, NULL,
		     tn_model_conv_norm(context, in, last, 1, 1, 1, TN_ACTIVATION_RELU6), &status);
	tn_model_add(classifier, NULL, tn_module_dropout(context, 0.2), &status);
	tn_model_add(classifier, NULL,
		     tn_module_linear(context, last, request->shape.n_classes, NULL), &status);
	tn_model_add(net, "features", features, &status);
	tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "classifier", classifier, &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}
