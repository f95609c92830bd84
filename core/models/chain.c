/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "models/chain.h"

void tn_model_add(tn_module *chain, const char *name, tn_module *member, tn_status *status)
{
	if (*status)
		tn_module_destroy(member);
	else
		*status = tn_sequential_add(chain, name, member);
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
	const struct tn_module_conv2d_options options = {
		.struct_size = sizeof(options),
		.window = {.struct_size = sizeof(options.window),
			   .stride = {stride, stride},
			   .padding = {kernel / 2, kernel / 2},
			   .groups = groups},
		.no_bias = 1};
	return tn_module_conv2d(context, in, out, kernel, kernel, &options);
}
