/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Z. Liu, H. Mao, C.-Y. Wu, C. Feichtenhofer, T. Darrell and S. Xie, "A ConvNet for the 2020s", CVPR
 * 2022: four stages of 3, 3, 9 and 3 blocks, with a norm and a convolution 2x2 of stride 2 between them.
 *
 *     block: x + g Linear(GELU(Linear(LayerNorm(depthwise Conv 7x7 of x)))), channels last in between
 */
#include "networks.h"

#include <stdlib.h>

static const struct tn_module_norm_options norm = {.struct_size = sizeof(norm), .epsilon = 1e-6};

/* ---- The block, a layer of its own -----------------------------------------------------------*/

struct block {
	tn_module *dw, *n, *p1, *p2; /* members */
};

/* y = module(x); x is given back. */
static tn_array *pass(tn_module *module, tn_array *x)
{
	tn_array *y = tn_module_forward(module, x);
	tn_array_destroy(x);
	return y;
}

static tn_array *turn(tn_array *x, const int *axes)
{
	tn_array *y = tn_transpose(x, axes);
	tn_array_destroy(x);
	return y;
}

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	const struct block *b = state;
	tn_array *y = turn(tn_module_forward(b->dw, x), (const int[]){0, 2, 3, 1});
	y = pass(b->p1, pass(b->n, y));
	tn_array *active = tn_gelu(y);
	tn_array_destroy(y);
	y = pass(b->p2, active);
	tn_array *scaled = tn_multiply(tn_module_own_parameter(module, "g"), y);
	tn_array_destroy(y);
	scaled = turn(scaled, (const int[]){0, 3, 1, 2});
	tn_array *sum = tn_add(x, scaled);
	tn_array_destroy(scaled);
	return sum;
}

static void free_block(void *state)
{
	free(state);
}

static tn_status add_members(tn_module *module, const struct block *b)
{
	tn_status status = tn_module_add(module, "dw", b->dw);
	if (!status)
		status = tn_module_add(module, "n", b->n);
	if (!status)
		status = tn_module_add(module, "p1", b->p1);
	return status ? status : tn_module_add(module, "p2", b->p2);
}

static tn_module *block(tn_context *context, int64_t width)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "ConvNeXtBlock",
						      .forward = forward,
						      .destroy = free_block,
						      .is_repeatable = 1};
	const struct tn_module_conv2d_options depthwise = {
		.struct_size = sizeof(depthwise),
		.window = {.struct_size = sizeof(depthwise.window),
			   .padding = {3, 3},
			   .groups = width}};
	struct block *b = malloc(sizeof(*b));
	tn_module *module = b ? tn_module_create(context, &class_, b) : NULL;
	if (!module)
		return NULL;
	b->dw = tn_module_conv2d(context, width, width, 7, 7, &depthwise);
	b->n = tn_module_layer_norm(context, 1, &width, &norm);
	b->p1 = tn_module_linear(context, width, 4 * width, NULL);
	b->p2 = tn_module_linear(context, 4 * width, width, NULL);
	if (!tn_module_add_parameter(module, "g", 1, &width, 0.0, 1e-6) && !add_members(module, b))
		return module;
	tn_module_destroy(module);
	return NULL;
}

/* ---- The network -----------------------------------------------------------------------------*/

static tn_module *patches(tn_context *context, int64_t in, int64_t out, int64_t size)
{
	const struct tn_module_conv2d_options options = {
		.struct_size = sizeof(options),
		.window = {.struct_size = sizeof(options.window), .stride = {size, size}}};
	return tn_module_conv2d(context, in, out, size, size, &options);
}

static tn_module *body(tn_context *context, int64_t width)
{
	static const int n_blocks[] = {3, 3, 9, 3};
	tn_module *chain = tn_sequential(context);
	tn_status status = TN_OK;
	network_add(chain, NULL, patches(context, 3, width, 4), &status);
	network_add(chain, NULL, tn_module_layer_norm2d(context, width, &norm), &status);
	for (int stage = 0; stage < 4; stage++) {
		int64_t channels = width << stage;
		if (stage) {
			network_add(chain, NULL,
				    tn_module_layer_norm2d(context, channels / 2, &norm), &status);
			network_add(chain, NULL, patches(context, channels / 2, channels, 2),
				    &status);
		}
		for (int i = 0; i < n_blocks[stage]; i++)
			network_add(chain, NULL, block(context, channels), &status);
	}
	return network_end(chain, status);
}

tn_module *network_convnext(tn_context *context, int64_t width, int64_t n_classes)
{
	tn_module *net = tn_sequential(context);
	tn_status status = TN_OK;
	int64_t last = 8 * width;
	network_add(net, "m", body(context, width), &status);
	network_add(net, "pool", tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	network_add(net, "flatten", tn_module_flatten(context), &status);
	network_add(net, "n", tn_module_layer_norm(context, 1, &last, &norm), &status);
	network_add(net, "f", tn_module_linear(context, last, n_classes, NULL), &status);
	return network_end(net, status);
}
