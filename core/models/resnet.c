/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * K. He, X. Zhang, S. Ren and J. Sun, "Deep Residual Learning for Image Recognition", CVPR 2016:
 * four stages of blocks, of two convolutions (18 and 34 layers) or of three (50).
 *
 *     basic       Conv 3x3 (stride) -> BN -> ReLU -> Conv 3x3 -> BN, + shortcut -> ReLU
 *     bottleneck  Conv 1x1 -> BN -> ReLU -> Conv 3x3 (stride) -> BN -> ReLU -> Conv 1x1, four times
 *                 as wide -> BN, + shortcut -> ReLU
 *     shortcut    x, or Conv 1x1 (stride) -> BN where the shape changes
 *
 *     published  torchvision's resnet18, resnet34 and resnet50, with its names (the stride is that
 *                of the 3x3 convolution)
 *     small      for 32x32 pictures: the stem is Conv 3x3 of stride 1 and no max pool
 *     nnott      resnet18 in that form, with biases in the convolutions, and a head of two layers
 *                in place of the mean
 */
#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"

enum { N_STAGES = 4 };

struct plan {
	tn_context *context;
	int n_blocks[N_STAGES];
	int is_bottleneck;
	int has_bias; /* in the convolutions */
};

static struct plan plan_of(tn_context *context, const struct tn_model_request *request)
{
	struct plan plan = {.context = context,
			    .n_blocks = {3, 4, 6, 3},
			    .is_bottleneck = request->layers == 50,
			    .has_bias = request->form == TN_FORM_NNOTT};
	for (int i = 0; i < N_STAGES && request->layers == 18; i++)
		plan.n_blocks[i] = 2;
	return plan;
}

static tn_module *conv(const struct plan *plan, int64_t in, int64_t out, int64_t kernel,
		       int64_t stride)
{
	return plan->has_bias
		       ? tn_model_conv_biased(plan->context, in, out, kernel, stride, kernel / 2)
		       : tn_model_conv(plan->context, in, out, kernel, stride, 1);
}

static void add_norm(const struct plan *plan, tn_module *chain, const char *name, int64_t channels,
		     tn_status *status)
{
	tn_model_add(chain, name, tn_module_batch_norm2d(plan->context, channels, NULL), status);
}

static tn_module *downsample(const struct plan *plan, int64_t in, int64_t out, int64_t stride)
{
	tn_module *chain = tn_module_sequential(plan->context);
	tn_status status = TN_OK;
	tn_model_add(chain, NULL, conv(plan, in, out, 1, stride), &status);
	add_norm(plan, chain, NULL, out, &status);
	return tn_model_end(chain, status);
}

/* `width`: channels of the 3x3 convolutions. */
static tn_module *make_block(const struct plan *plan, int64_t in, int64_t width, int64_t stride)
{
	const int64_t out = plan->is_bottleneck ? 4 * width : width;
	tn_module *block = tn_module_residual(plan->context, TN_ACTIVATION_RELU);
	tn_status status = TN_OK;
	if (plan->is_bottleneck) {
		tn_model_add(block, "conv1", conv(plan, in, width, 1, 1), &status);
		add_norm(plan, block, "bn1", width, &status);
		tn_model_add(block, "relu1", tn_module_relu(plan->context), &status);
		tn_model_add(block, "conv2", conv(plan, width, width, 3, stride), &status);
		add_norm(plan, block, "bn2", width, &status);
		tn_model_add(block, "relu2", tn_module_relu(plan->context), &status);
		tn_model_add(block, "conv3", conv(plan, width, out, 1, 1), &status);
		add_norm(plan, block, "bn3", out, &status);
	} else {
		tn_model_add(block, "conv1", conv(plan, in, width, 3, stride), &status);
		add_norm(plan, block, "bn1", width, &status);
		tn_model_add(block, "relu", tn_module_relu(plan->context), &status);
		tn_model_add(block, "conv2", conv(plan, width, width, 3, 1), &status);
		add_norm(plan, block, "bn2", width, &status);
	}
	if (!status && (stride != 1 || in != out))
		status = tn_module_residual_shortcut(block, "downsample",
						     downsample(plan, in, out, stride));
	return tn_model_end(block, status);
}

static void add_head(const struct plan *plan, tn_module *net, int64_t channels,
		     const struct tn_model_request *request, tn_status *status)
{
	tn_context *context = plan->context;
	const int64_t n_classes = request->shape.n_classes;
	if (request->form != TN_FORM_NNOTT) {
		tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 1, 1), status);
		tn_model_add(net, "flatten", tn_module_flatten(context), status);
		tn_model_add(net, "fc", tn_module_linear(context, channels, n_classes, NULL),
			     status);
		return;
	}
	/* Three strides of 2, rounded up. */
	const int64_t h = (request->shape.height + 7) / 8, w = (request->shape.width + 7) / 8;
	tn_model_add(net, "flatten", tn_module_flatten(context), status);
	tn_model_add(net, "fc1", tn_module_linear(context, channels * h * w, 512, NULL), status);
	tn_model_add(net, "relu_fc", tn_module_relu(context), status);
	tn_model_add(net, "dropout", tn_module_dropout(context, 0.5), status);
	tn_model_add(net, "fc2", tn_module_linear(context, 512, n_classes, NULL), status);
}

/* torchvision's. */
static const struct tn_initial initial[] = {
	{"*", 4, TN_INITIAL_HE_OUT, 0},
	{0},
};

tn_module *tn_model_resnet(tn_context *context, const struct tn_model_request *request)
{
	static const char *const names[N_STAGES] = {"layer1", "layer2", "layer3", "layer4"};
	const struct plan plan = plan_of(context, request);
	const int is_large = request->form == TN_FORM_PUBLISHED;
	const int64_t width = request->width ? request->width : 64;
	tn_module *net = tn_module_sequential(context);
	tn_status status = TN_OK;
	int64_t in = width;
	tn_model_add(
		net, "conv1",
		conv(&plan, request->shape.channels, width, is_large ? 7 : 3, is_large ? 2 : 1),
		&status);
	add_norm(&plan, net, "bn1", width, &status);
	tn_model_add(net, "relu", tn_module_relu(context), &status);
	if (is_large)
		tn_model_add(net, "maxpool", tn_model_max_pool(context, 3, 2, 1), &status);
	for (int stage = 0; stage < N_STAGES; stage++) {
		tn_module *layer = tn_module_sequential(context);
		for (int i = 0; i < plan.n_blocks[stage]; i++) {
			tn_model_add(layer, NULL,
				     make_block(&plan, in, width << stage, stage && !i ? 2 : 1),
				     &status);
			in = (width << stage) * (plan.is_bottleneck ? 4 : 1);
		}
		tn_model_add(net, names[stage], layer, &status);
	}
	add_head(&plan, net, in, request, &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}
