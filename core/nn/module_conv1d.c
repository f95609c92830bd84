/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The module of a convolution along one axis: weight and bias with PyTorch's initial values.
 */
#include <math.h>

#include "base/memory.h"
#include "nn/lookup.h"
#include "nn/module.h"

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	return tn_conv1d(x, tn_module_find_parameter(module, "weight"),
			 tn_module_find_parameter(module, "bias"), state);
}

tn_module *tn_module_conv1d(tn_context *context, int64_t in_channels, int64_t out_channels,
			    int64_t kernel, const struct tn_module_conv1d_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Conv1d",
						      .forward = forward,
						      .destroy = tn_mem_free};
	struct tn_module_conv1d_options o = {0};
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_module_conv1d_options", class_.name))
		return NULL;
	o.window.struct_size = sizeof(o.window);
	int64_t groups = o.window.groups ? o.window.groups : 1;
	tn_module *module = tn_module_of_class(context, &class_, &o.window, sizeof(o.window));
	if (!module)
		return NULL;
	if (groups < 1 || in_channels % groups || out_channels % groups) {
		tn_runtime_fail(
			module->runtime, TN_INVALID_ARGUMENT, class_.name,
			"expected channels divisible by %lld groups, found %lld in and %lld out",
			(long long)groups, (long long)in_channels, (long long)out_channels);
		tn_module_destroy(module);
		return NULL;
	}
	const int64_t shape[] = {out_channels, in_channels / groups, kernel};
	double bound = 1.0 / sqrt((double)(shape[1] * shape[2]));
	if (!tn_module_add_parameter(module, "weight", 3, shape, bound, 0.0) &&
	    (o.no_bias || !tn_module_add_parameter(module, "bias", 1, &out_channels, bound, 0.0)))
		return module;
	tn_module_destroy(module);
	return NULL;
}
