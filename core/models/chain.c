/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adds members and common layers to a network that is being made, and keeps the first failure.
 */
#include "models/chain.h"

void tn_model_add(tn_module *chain, const char *name, tn_module *member, tn_status *status)
{
	if (*status)
		tn_module_destroy(member);
	else
		*status = tn_module_sequential_add(chain, name, member);
}

void tn_model_add_member(tn_module *module, const char *name, tn_module *member, tn_status *status)
{
	if (*status)
		tn_module_destroy(member);
	else
		*status = tn_module_add(module, name, member);
}

tn_module *tn_model_end(tn_module *chain, tn_status status)
{
	if (!status)
		return chain;
	tn_module_destroy(chain);
	return NULL;
}

tn_module *tn_model_conv(tn_context *context, int64_t in, int64_t out, int64_t kernel,
			 int64_t stride, int64_t groups)
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

tn_module *tn_model_conv_biased(tn_context *context, int64_t in, int64_t out, int64_t kernel,
				int64_t stride, int64_t padding)
{
	const struct tn_conv2d_options window = {.struct_size = sizeof(window),
						 .stride = {stride, stride},
						 .padding = {padding, padding},
						 .dilation = {1, 1},
						 .groups = 1};
	const struct tn_module_conv2d_options options = {.struct_size = sizeof(options),
							 .window = &window};
	return tn_module_conv2d(context, in, out, kernel, kernel, &options);
}

tn_module *tn_model_max_pool(tn_context *context, int64_t kernel, int64_t stride, int64_t padding)
{
	const struct tn_pool2d_options options = {.struct_size = sizeof(options),
						  .kernel = {kernel, kernel},
						  .stride = {stride, stride},
						  .padding = {padding, padding}};
	return tn_module_max_pool2d(context, &options);
}

tn_module *tn_model_conv_norm(tn_context *context, int64_t in, int64_t out, int64_t kernel,
			      int64_t stride, int64_t groups, uint32_t activation)
{
	tn_module *chain = tn_module_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(chain, NULL, tn_model_conv(context, in, out, kernel, stride, groups), &status);
	tn_model_add(chain, NULL, tn_module_batch_norm2d(context, out, NULL), &status);
	if (activation != TN_ACTIVATION_NONE)
		tn_model_add(chain, NULL,
			     activation == TN_ACTIVATION_RELU    ? tn_module_relu(context)
			     : activation == TN_ACTIVATION_RELU6 ? tn_module_relu6(context)
								 : tn_module_silu(context),
			     &status);
	return tn_model_end(chain, status);
}
