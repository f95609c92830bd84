/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * M. Tan and Q. V. Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", ICML
 * 2019, in the Lite0 variant: inverted residuals with ReLU6 and without squeeze-and-excitation.
 *
 *     block: Conv 1x1 (expand) -> BatchNorm -> ReLU6 -> depthwise Conv (stride) -> BatchNorm -> ReLU6
 *            -> Conv 1x1 -> BatchNorm, + x where the shape stays
 */
#include "networks.h"

static const struct {
	int64_t expand, out, n_blocks, stride, kernel;
} stages[] = {{1, 16, 1, 1, 3},  {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5}, {6, 80, 3, 2, 3},
	      {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3}};

enum { N_STAGES = sizeof(stages) / sizeof(stages[0]), STEM = 32, HEAD = 1280 };

static void add_layer(tn_module *chain, tn_context *context, tn_module *conv, int64_t out,
		      int is_activated, tn_status *status)
{
	network_add(chain, NULL, conv, status);
	network_add(chain, NULL, tn_module_batch_norm2d(context, out, NULL), status);
	if (is_activated)
		network_add(chain, NULL, tn_module_relu6(context), status);
}

static tn_module *layers(tn_context *context, int64_t in, int64_t out, size_t stage, int64_t stride)
{
	tn_module *chain = tn_sequential(context);
	tn_status status = TN_OK;
	int64_t hidden = in * stages[stage].expand, kernel = stages[stage].kernel;
	if (hidden != in)
		add_layer(chain, context, network_conv(context, in, hidden, 1, 1, 1), hidden, 1,
			  &status);
	add_layer(chain, context, network_conv(context, hidden, hidden, kernel, stride, hidden),
		  hidden, 1, &status);
	add_layer(chain, context, network_conv(context, hidden, out, 1, 1, 1), out, 0, &status);
	return network_end(chain, status);
}

static tn_module *block(tn_context *context, int64_t in, int64_t out, size_t stage, int64_t stride)
{
	int keeps_shape = stride == 1 && in == out;
	tn_module *block = keeps_shape ? tn_module_residual(context, TN_ACTIVATION_NONE)
				       : tn_sequential(context);
	tn_status status = TN_OK;
	network_add(block, "m", layers(context, in, out, stage, stride), &status);
	return network_end(block, status);
}

static tn_module *body(tn_context *context, int64_t width)
{
	tn_module *chain = tn_sequential(context);
	tn_status status = TN_OK;
	int64_t in = width, head = HEAD * width / STEM;
	add_layer(chain, context, network_conv(context, 3, width, 3, 2, 1), width, 1, &status);
	for (size_t stage = 0; stage < N_STAGES; stage++) {
		int64_t out = stages[stage].out * width / STEM;
		for (int64_t i = 0; i < stages[stage].n_blocks; i++) {
			network_add(chain, NULL,
				    block(context, in, out, stage, i ? 1 : stages[stage].stride),
				    &status);
			in = out;
		}
	}
	add_layer(chain, context, network_conv(context, in, head, 1, 1, 1), head, 1, &status);
	return network_end(chain, status);
}

tn_module *network_effnet(tn_context *context, int64_t width, int64_t n_classes)
{
	tn_module *net = tn_sequential(context);
	tn_status status = TN_OK;
	network_add(net, "m", body(context, width), &status);
	network_add(net, "pool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	network_add(net, "flatten", tn_module_flatten(context), &status);
	network_add(net, "f", tn_module_linear(context, HEAD * width / STEM, n_classes, NULL),
		    &status);
	return network_end(net, status);
}
