/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Blocks of known networks, made of layers: MBConv under timm's names, ConvNeXt's under
 * torchvision's.
 */
#include "array/array.h"
#include "base/memory.h"
#include "nn/lookup.h"
#include "nn/module.h"

/* Adds `member`, or, after an error, frees it. */
static void add(tn_module *block, const char *name, tn_module *member, tn_status *status)
{
	if (*status)
		tn_module_destroy(member);
	else
		*status = tn_module_sequential_add(block, name, member);
}

/* The block, or, after an error, NULL. */
static tn_module *end(tn_module *block, tn_status status)
{
	if (!status)
		return block;
	tn_module_destroy(block);
	return NULL;
}

/* ---- MBConv ----------------------------------------------------------------------------------*/

/* A convolution without bias that keeps height and width where the stride is 1. */
static tn_module *conv(tn_context *context, int64_t in, int64_t out, int64_t kernel, int64_t stride,
		       int64_t groups)
{
	const struct tn_conv2d_options window = {.struct_size = sizeof(window),
						 .stride = {stride, stride},
						 .padding = {kernel / 2, kernel / 2},
						 .dilation = {1, 1},
						 .groups = groups};
	const struct tn_module_conv2d_options options = {
		.struct_size = sizeof(options), .window = &window, .no_bias = 1};
	return tn_module_conv2d(context, in, out, kernel, kernel, &options);
}

static tn_module *activate(tn_context *context, uint32_t activation)
{
	return activation == TN_ACTIVATION_RELU    ? tn_module_relu(context)
	       : activation == TN_ACTIVATION_RELU6 ? tn_module_relu6(context)
						   : tn_module_silu(context);
}

static int is_mbconv_activation(uint32_t activation)
{
	return activation == TN_ACTIVATION_RELU || activation == TN_ACTIVATION_RELU6 ||
	       activation == TN_ACTIVATION_SILU;
}

static tn_status check_mbconv(tn_context *context, int64_t expand,
			      const struct tn_module_mbconv_options *o)
{
	const struct {
		const char *name;
		const char *expected;
		int64_t found;
		int is_right;
	} members[] = {
		{.name = "expand",
		 .expected = "at least 1",
		 .found = expand,
		 .is_right = expand >= 1},
		{.name = "kernel",
		 .expected = "an odd number of at least 1",
		 .found = o->kernel,
		 .is_right = o->kernel >= 1 && o->kernel % 2},
		{.name = "stride",
		 .expected = "at least 1",
		 .found = o->stride,
		 .is_right = o->stride >= 1},
		{.name = "squeezed",
		 .expected = "at least 0",
		 .found = o->squeezed,
		 .is_right = o->squeezed >= 0},
		{.name = "activation",
		 .expected = "TN_ACTIVATION_RELU, RELU6 or SILU",
		 .found = o->activation,
		 .is_right = is_mbconv_activation(o->activation)},
	};
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (!members[i].is_right)
			return tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT,
					       "MBConv", "%s: expected %s, found %lld",
					       members[i].name, members[i].expected,
					       (long long)members[i].found);
	}
	return TN_OK;
}

tn_module *tn_module_mbconv(tn_context *context, int64_t in_channels, int64_t out_channels,
			    int64_t expand, const struct tn_module_mbconv_options *options)
{
	struct tn_module_mbconv_options o = tn_module_mbconv_defaults();
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_module_mbconv_options", "MBConv"))
		return NULL;
	if (check_mbconv(context, expand, &o))
		return NULL;
	int is_residual = o.stride == 1 && in_channels == out_channels;
	int64_t hidden = in_channels * expand;
	tn_module *block = is_residual ? tn_module_residual(context, TN_ACTIVATION_NONE)
				       : tn_module_sequential(context);
	tn_status status = block ? TN_OK : TN_OUT_OF_MEMORY;
	if (expand > 1) {
		add(block, "conv_pw", conv(context, in_channels, hidden, 1, 1, 1), &status);
		add(block, "bn1", tn_module_batch_norm2d(context, hidden, NULL), &status);
		add(block, "act1", activate(context, o.activation), &status);
	}
	add(block, "conv_dw", conv(context, hidden, hidden, o.kernel, o.stride, hidden), &status);
	add(block, expand > 1 ? "bn2" : "bn1", tn_module_batch_norm2d(context, hidden, NULL),
	    &status);
	add(block, expand > 1 ? "act2" : "act1", activate(context, o.activation), &status);
	if (o.squeezed)
		add(block, "se",
		    tn_module_squeeze_excitation(context, hidden, o.squeezed,
						 o.activation == TN_ACTIVATION_SILU
							 ? TN_ACTIVATION_SILU
							 : TN_ACTIVATION_RELU),
		    &status);
	add(block, expand > 1 ? "conv_pwl" : "conv_pw",
	    conv(context, hidden, out_channels, 1, 1, 1), &status);
	add(block, expand > 1 ? "bn3" : "bn2", tn_module_batch_norm2d(context, out_channels, NULL),
	    &status);
	if (is_residual && o.stochastic_depth != 0)
		add(block, "drop_path", tn_module_stochastic_depth(context, o.stochastic_depth),
		    &status);
	return end(block, status);
}

/* ---- ConvNeXt's block ------------------------------------------------------------------------*/

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

static tn_array *convnext_forward(tn_module *module, void *state, const tn_array *x)
{
	const double *stochastic_depth = state;
	tn_array *y = tn_module_forward(module->members[0].module, x);
	tn_array *branch = tn_multiply(tn_module_find_parameter(module, "layer_scale"), y);
	tn_array_destroy(y);
	if (module->training && *stochastic_depth != 0) {
		tn_array *kept = tn_stochastic_depth(branch, *stochastic_depth);
		tn_array_destroy(branch);
		branch = kept;
	}
	tn_array *sum = tn_add(x, branch);
	tn_array_destroy(branch);
	return sum;
}

tn_module *tn_module_convnext_block(tn_context *context, int64_t channels,
				    const struct tn_module_convnext_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "CNBlock",
						      .forward = convnext_forward,
						      .destroy = tn_mem_free};
	struct tn_module_convnext_options o = tn_module_convnext_defaults();
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_module_convnext_options", class_.name))
		return NULL;
	if (!(o.stochastic_depth >= 0.0 && o.stochastic_depth <= 1.0)) {
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_.name,
				"stochastic_depth: expected a probability in [0, 1], found %g",
				o.stochastic_depth);
		return NULL;
	}
	struct tn_module_norm_options norm = tn_module_norm_defaults();
	norm.epsilon = 1e-6;
	const struct tn_conv2d_options window = {.struct_size = sizeof(window),
						 .stride = {1, 1},
						 .padding = {3, 3},
						 .dilation = {1, 1},
						 .groups = channels};
	const struct tn_module_conv2d_options depthwise = {.struct_size = sizeof(depthwise),
							   .window = &window};
	tn_module *block = tn_module_of_class(context, &class_, &o.stochastic_depth,
					      sizeof(o.stochastic_depth));
	tn_module *branch = tn_module_sequential(context);
	tn_status status = block && branch ? TN_OK : TN_OUT_OF_MEMORY;
	if (!status)
		status = tn_module_add_parameter(block, "layer_scale", 3,
						 (const int64_t[]){channels, 1, 1}, 0.0,
						 o.layer_scale);
	add(branch, NULL, tn_module_conv2d(context, channels, channels, 7, 7, &depthwise), &status);
	add(branch, NULL, permute(context, to_channels_last), &status);
	add(branch, NULL, tn_module_layer_norm(context, 1, &channels, &norm), &status);
	add(branch, NULL, tn_module_linear(context, channels, 4 * channels, NULL), &status);
	add(branch, NULL, tn_module_gelu(context, 0), &status);
	add(branch, NULL, tn_module_linear(context, 4 * channels, channels, NULL), &status);
	add(branch, NULL, permute(context, to_channels_first), &status);
	branch = end(branch, status);
	if (!status)
		status = tn_module_add(block, "block", branch);
	return end(block, status);
}
