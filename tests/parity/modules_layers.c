/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes the layers of the recorded cases: planes, norms, activations and residual blocks.
 */
#include "modules.h"

#include <string.h>

static tn_module *linear(tn_context *context, const struct record *r)
{
	const int64_t *a = modules_ints(r, "args");
	struct tn_module_linear_options options = tn_module_linear_defaults();
	options.no_bias = !modules_ints(r, "bias")[0];
	return tn_module_linear(context, a[0], a[1], &options);
}

static tn_module *conv2d(tn_context *context, const struct record *r)
{
	const int64_t *channels = modules_ints(r, "channels"), *kernel = modules_ints(r, "kernel");
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.groups = modules_ints(r, "groups")[0];
	modules_pair(window.stride, r, "stride");
	modules_pair(window.padding, r, "padding");
	modules_pair(window.dilation, r, "dilation");
	struct tn_module_conv2d_options o = tn_module_conv2d_defaults();
	o.window = &window;
	o.no_bias = !modules_ints(r, "bias")[0];
	return tn_module_conv2d(context, channels[0], channels[1], kernel[0], kernel[1], &o);
}

static tn_module *pool2d(tn_context *context, const struct record *r)
{
	struct tn_pool2d_options o = {.struct_size = sizeof(o),
				      .exclude_padding = (int)modules_ints(r, "exclude")[0]};
	modules_pair(o.kernel, r, "kernel");
	modules_pair(o.stride, r, "stride");
	modules_pair(o.padding, r, "padding");
	return strcmp(r->layer, "max_pool2d") ? tn_module_avg_pool2d(context, &o)
					      : tn_module_max_pool2d(context, &o);
}

static tn_module *adaptive_avg_pool2d(tn_context *context, const struct record *r)
{
	const int64_t *size = modules_ints(r, "size");
	return tn_module_adaptive_avg_pool2d(context, size[0], size[1]);
}

static struct tn_module_norm_options norm_options(const struct record *r)
{
	struct tn_module_norm_options o = tn_module_norm_defaults();
	o.no_affine = !modules_ints(r, "affine")[0];
	o.epsilon = modules_number(r, "epsilon", o.epsilon);
	o.momentum = modules_number(r, "momentum", o.momentum);
	o.cumulative = record_ints(r, "cumulative") != NULL;
	return o;
}

static tn_module *batch_norm2d(tn_context *context, const struct record *r)
{
	const struct tn_module_norm_options o = norm_options(r);
	return tn_module_batch_norm2d(context, modules_ints(r, "channels")[0], &o);
}

static tn_module *layer_norm(tn_context *context, const struct record *r)
{
	const struct tn_module_norm_options o = norm_options(r);
	return tn_module_layer_norm(context, (int)modules_ints(r, "axes")[0],
				    modules_ints(r, "shape"), &o);
}

static tn_module *layer_norm2d(tn_context *context, const struct record *r)
{
	struct tn_module_norm_options o = tn_module_norm_defaults();
	o.epsilon = modules_number(r, "epsilon", o.epsilon);
	return tn_module_layer_norm2d(context, modules_ints(r, "channels")[0], &o);
}

static tn_module *group_norm(tn_context *context, const struct record *r)
{
	const struct tn_module_norm_options o = norm_options(r);
	const int64_t *a = modules_ints(r, "args");
	return tn_module_group_norm(context, a[0], a[1], &o);
}

static tn_module *prelu(tn_context *context, const struct record *r)
{
	return tn_module_prelu(context, modules_ints(r, "parameters")[0], 0.25);
}

static tn_module *squeeze_excitation(tn_context *context, const struct record *r)
{
	const int64_t *a = modules_ints(r, "args");
	return tn_module_squeeze_excitation(context, a[0], a[1], TN_ACTIVATION_SILU);
}

static tn_module *conv(tn_context *context, int64_t in, int64_t out, int64_t kernel, int64_t stride)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.stride[0] = window.stride[1] = stride;
	window.padding[0] = kernel / 2;
	window.padding[1] = kernel / 2;
	struct tn_module_conv2d_options options = tn_module_conv2d_defaults();
	options.window = &window;
	options.no_bias = 1;
	return tn_module_conv2d(context, in, out, kernel, kernel, &options);
}

/* The BasicBlock of record_modules.py. */
static tn_module *residual(tn_context *context, const struct record *r)
{
	(void)r;
	tn_module *block = tn_module_residual(context, TN_ACTIVATION_RELU);
	tn_module *projection = tn_module_sequential(context);
	tn_module_sequential_add(block, "conv1", conv(context, 2, 3, 3, 2));
	tn_module_sequential_add(block, "bn1", tn_module_batch_norm2d(context, 3, NULL));
	tn_module_sequential_add(block, "relu", tn_module_relu(context));
	tn_module_sequential_add(block, "conv2", conv(context, 3, 3, 3, 1));
	tn_module_sequential_add(block, "bn2", tn_module_batch_norm2d(context, 3, NULL));
	tn_module_sequential_add(projection, NULL, conv(context, 2, 3, 1, 2));
	tn_module_sequential_add(projection, NULL, tn_module_batch_norm2d(context, 3, NULL));
	tn_module_residual_shortcut(block, "downsample", projection);
	return block;
}

/* ---- Activations, and layers without settings ------------------------------------------------*/

static tn_module *gelu(tn_context *context)
{
	return tn_module_gelu(context, 0);
}

static tn_module *gelu_tanh(tn_context *context)
{
	return tn_module_gelu(context, 1);
}

static tn_module *leaky_relu(tn_context *context)
{
	return tn_module_leaky_relu(context, 0.125);
}

static tn_module *elu(tn_context *context)
{
	return tn_module_elu(context, 0.75);
}

static tn_module *celu(tn_context *context)
{
	return tn_module_celu(context, 0.5);
}

static tn_module *softplus(tn_context *context)
{
	return tn_module_softplus(context, 2, 3);
}

static tn_module *hardtanh(tn_context *context)
{
	return tn_module_hardtanh(context, -0.5, 2);
}

static tn_module *softmax(tn_context *context)
{
	return tn_module_softmax(context, 1);
}

static tn_module *log_softmax(tn_context *context)
{
	return tn_module_log_softmax(context, -1);
}

static tn_module *make_plain(tn_context *context, const char *name)
{
	static const struct {
		const char *name;
		tn_module *(*make)(tn_context *context);
	} kinds[] = {
		{"celu", celu},
		{"elu", elu},
		{"flatten", tn_module_flatten},
		{"gelu", gelu},
		{"gelu_tanh", gelu_tanh},
		{"global_avg_pool", tn_module_global_avg_pool},
		{"global_max_pool", tn_module_global_max_pool},
		{"hardsigmoid", tn_module_hardsigmoid},
		{"hardswish", tn_module_hardswish},
		{"hardtanh", hardtanh},
		{"identity", tn_module_identity},
		{"leaky_relu", leaky_relu},
		{"log_sigmoid", tn_module_log_sigmoid},
		{"log_softmax", log_softmax},
		{"mish", tn_module_mish},
		{"relu", tn_module_relu},
		{"relu6", tn_module_relu6},
		{"selu", tn_module_selu},
		{"sigmoid", tn_module_sigmoid},
		{"silu", tn_module_silu},
		{"softmax", softmax},
		{"softplus", softplus},
		{"softsign", tn_module_softsign},
		{"tanh", tn_module_tanh},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, name))
			return kinds[i].make(context);
	}
	return NULL;
}

tn_module *modules_make_layer(tn_context *context, const struct record *record)
{
	static const struct {
		const char *name;
		tn_module *(*make)(tn_context *context, const struct record *record);
	} kinds[] = {
		{"adaptive_avg_pool2d", adaptive_avg_pool2d},
		{"avg_pool2d", pool2d},
		{"batch_norm2d", batch_norm2d},
		{"conv2d", conv2d},
		{"group_norm", group_norm},
		{"layer_norm", layer_norm},
		{"layer_norm2d", layer_norm2d},
		{"linear", linear},
		{"max_pool2d", pool2d},
		{"prelu", prelu},
		{"residual", residual},
		{"squeeze_excitation", squeeze_excitation},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, record->layer))
			return kinds[i].make(context, record);
	}
	return make_plain(context, record->layer);
}
