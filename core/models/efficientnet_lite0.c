/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * M. Tan and Q. V. Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks",
 * ICML 2019, in the Lite0 variant: inverted residuals with ReLU6 and without
 * squeeze-and-excitation.  The first stage does not expand: its block begins with the depthwise
 * convolution.
 *
 *     published  timm's efficientnet_lite0, with its names; but a batch norm there includes the
 *                activation, which is a separate member here ("act1" after "bn1")
 *     small      for 32x32 pictures: the stem and the second stage have stride 1
 *     nnott      with SiLU, squeeze-and-excitation to a quarter of the hidden channels, biases in
 *                the convolutions that are not depthwise, three blocks in the sixth stage, and a
 *                stem of stride 1
 */
#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"

static const struct stage {
	int64_t expand, out, n_blocks, stride, kernel;
} stages[] = {{1, 16, 1, 1, 3},  {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5}, {6, 80, 3, 2, 3},
	      {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3}};

/* The channels above and of the head are those for a stem of 32. */
enum { N_STAGES = sizeof(stages) / sizeof(stages[0]), STEM = 32, HEAD = 1280 };

static tn_module *mbconv(tn_context *context, int64_t in, int64_t out, const struct stage *stage,
			 int64_t stride)
{
	struct tn_module_mbconv_options options = tn_module_mbconv_defaults();
	options.activation = TN_ACTIVATION_RELU6;
	options.kernel = stage->kernel;
	options.stride = stride;
	return tn_module_mbconv(context, in, out, stage->expand, &options);
}

/* The same with what nnott adds. */
static tn_module *nnott_block(tn_context *context, int64_t in, int64_t out,
			      const struct stage *stage, int64_t stride)
{
	const int64_t hidden = in * stage->expand;
	tn_module *block = stride == 1 && in == out
				   ? tn_module_residual(context, TN_ACTIVATION_NONE)
				   : tn_module_sequential(context);
	tn_status status = TN_OK;
	if (stage->expand > 1) {
		tn_model_add(block, "expand", tn_model_conv_biased(context, in, hidden, 1, 1, 0),
			     &status);
		tn_model_add(block, "bn1", tn_module_batch_norm2d(context, hidden, NULL), &status);
		tn_model_add(block, "act1", tn_module_silu(context), &status);
	}
	tn_model_add(block, "depthwise",
		     tn_model_conv(context, hidden, hidden, stage->kernel, stride, hidden),
		     &status);
	tn_model_add(block, "bn2", tn_module_batch_norm2d(context, hidden, NULL), &status);
	tn_model_add(block, "act2", tn_module_silu(context), &status);
	tn_model_add(block, "se",
		     tn_module_squeeze_excitation(context, hidden, hidden / 4, TN_ACTIVATION_SILU),
		     &status);
	tn_model_add(block, "project", tn_model_conv_biased(context, hidden, out, 1, 1, 0),
		     &status);
	tn_model_add(block, "bn3", tn_module_batch_norm2d(context, out, NULL), &status);
	return tn_model_end(block, status);
}

static tn_module *make_blocks(tn_context *context, const struct tn_model_request *request,
			      int64_t width, int64_t *channels)
{
	const int is_nnott = request->form == TN_FORM_NNOTT;
	tn_module *blocks = tn_module_sequential(context);
	tn_status status = TN_OK;
	for (int s = 0; s < N_STAGES; s++) {
		const struct stage *stage = &stages[s];
		const int64_t out = stage->out * width / STEM;
		const int64_t first = request->form == TN_FORM_SMALL && s == 1 ? 1 : stage->stride;
		const int64_t n_blocks = stage->n_blocks - (is_nnott && s == 5);
		tn_module *chain = tn_module_sequential(context);
		for (int64_t i = 0; i < n_blocks; i++) {
			tn_model_add(
				chain, NULL,
				is_nnott
					? nnott_block(context, *channels, out, stage, i ? 1 : first)
					: mbconv(context, *channels, out, stage, i ? 1 : first),
				&status);
			*channels = out;
		}
		tn_model_add(blocks, NULL, chain, &status);
	}
	return tn_model_end(blocks, status);
}

static tn_module *conv(tn_context *context, const struct tn_model_request *request, int64_t in,
		       int64_t out, int64_t kernel, int64_t stride)
{
	return request->form == TN_FORM_NNOTT
		       ? tn_model_conv_biased(context, in, out, kernel, stride, kernel / 2)
		       : tn_model_conv(context, in, out, kernel, stride, 1);
}

static tn_module *activation(tn_context *context, const struct tn_model_request *request)
{
	return request->form == TN_FORM_NNOTT ? tn_module_silu(context) : tn_module_relu6(context);
}

/* timm's, which are TensorFlow's: the fan out of a depthwise convolution is that of a channel. */
static const struct tn_initial initial[] = {
	{"*", 4, TN_INITIAL_HE_OUT, 0},
	{"*.conv_dw.weight", 4, TN_INITIAL_HE_IN, 0},
	{"*.depthwise.weight", 4, TN_INITIAL_HE_IN, 0},
	{"*", 2, TN_INITIAL_UNIFORM_ROWS, 0},
	{"*.bias", 1, TN_INITIAL_ZERO, 0},
	{0},
};

tn_module *tn_model_efficientnet_lite0(tn_context *context, const struct tn_model_request *request)
{
	const int64_t stride = request->form == TN_FORM_PUBLISHED ? 2 : 1;
	const int64_t width = request->width ? request->width : STEM;
	const int64_t head = HEAD * width / STEM;
	int64_t in = width;
	tn_module *net = tn_module_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(net, "conv_stem",
		     conv(context, request, request->shape.channels, width, 3, stride), &status);
	tn_model_add(net, "bn1", tn_module_batch_norm2d(context, width, NULL), &status);
	tn_model_add(net, "act1", activation(context, request), &status);
	tn_model_add(net, "blocks", make_blocks(context, request, width, &in), &status);
	tn_model_add(net, "conv_head", conv(context, request, in, head, 1, 1), &status);
	tn_model_add(net, "bn2", tn_module_batch_norm2d(context, head, NULL), &status);
	tn_model_add(net, "act2", activation(context, request), &status);
	tn_model_add(net, "global_pool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "classifier",
		     tn_module_linear(context, head, request->shape.n_classes, NULL), &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}
