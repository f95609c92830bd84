/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * M. Tan and Q. V. Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks",
 * ICML 2019: inverted residuals with squeeze-and-excitation, SiLU and stochastic depth.
 *
 *     published  torchvision's efficientnet_b0, with its names
 *     small      for 32x32 pictures: the stem and the second stage have stride 1
 */
#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"

static const struct stage {
	int64_t expand, out, n_blocks, stride, kernel;
} stages[] = {{1, 16, 1, 1, 3},  {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5}, {6, 80, 3, 2, 3},
	      {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3}};

enum { N_STAGES = sizeof(stages) / sizeof(stages[0]), N_BLOCKS = 16, STEM = 32, LAST = 1280 };

/* `dropped`: the probability of skipping the branch. */
static tn_module *make_block(tn_context *context, int64_t in, int64_t out,
			     const struct stage *stage, int64_t stride, double dropped)
{
	const int64_t hidden = in * stage->expand, squeezed = in > 4 ? in / 4 : 1;
	const int is_residual = stride == 1 && in == out;
	tn_module *block = is_residual ? tn_module_residual(context, TN_ACTIVATION_NONE)
				       : tn_module_sequential(context);
	tn_module *chain = tn_module_sequential(context);
	tn_status status = TN_OK;
	if (stage->expand != 1)
		tn_model_add(chain, NULL,
			     tn_model_conv_norm(context, in, hidden, 1, 1, 1, TN_ACTIVATION_SILU),
			     &status);
	tn_model_add(chain, NULL,
		     tn_model_conv_norm(context, hidden, hidden, stage->kernel, stride, hidden,
					TN_ACTIVATION_SILU),
		     &status);
	tn_model_add(chain, NULL,
		     tn_module_squeeze_excitation(context, hidden, squeezed, TN_ACTIVATION_SILU),
		     &status);
	tn_model_add(chain, NULL,
		     tn_model_conv_norm(context, hidden, out, 1, 1, 1, TN_ACTIVATION_NONE),
		     &status);
	tn_model_add(block, "block", chain, &status);
	if (is_residual && dropped > 0)
		tn_model_add(block, "stochastic_depth",
			     tn_module_stochastic_depth(context, dropped), &status);
	return tn_model_end(block, status);
}

/* torchvision's. */
static const struct tn_initial initial[] = {
	{"*", 4, TN_INITIAL_HE_OUT, 0},
	{"*", 2, TN_INITIAL_UNIFORM_ROWS, 0},
	{"*.bias", 1, TN_INITIAL_ZERO, 0},
	{0},
};

tn_module *tn_model_efficientnet_b0(tn_context *context, const struct tn_model_request *request)
{
	const int is_small = request->form == TN_FORM_SMALL;
	const int64_t width = request->width ? request->width : STEM;
	const int64_t last = LAST * width / STEM;
	tn_module *net = tn_module_sequential(context), *features = tn_module_sequential(context);
	tn_module *classifier = tn_module_sequential(context);
	tn_status status = TN_OK;
	int64_t in = width;
	const double dropped = request->width ? 0 : 0.2; /* after the last block */
	int n = 0;
	tn_model_add(features, NULL,
		     tn_model_conv_norm(context, request->shape.channels, in, 3, is_small ? 1 : 2,
					1, TN_ACTIVATION_SILU),
		     &status);
	for (int i = 0; i < N_STAGES; i++) {
		const int64_t out = stages[i].out * width / STEM;
		const int64_t stride = is_small && i == 1 ? 1 : stages[i].stride;
		tn_module *stage = tn_module_sequential(context);
		for (int64_t k = 0; k < stages[i].n_blocks; k++) {
			tn_model_add(stage, NULL,
				     make_block(context, in, out, &stages[i], k ? 1 : stride,
						dropped * n++ / N_BLOCKS),
				     &status);
			in = out;
		}
		tn_model_add(features, NULL, stage, &status);
	}
	tn_model_add(features, NULL,
		     tn_model_conv_norm(context, in, last, 1, 1, 1, TN_ACTIVATION_SILU), &status);
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
