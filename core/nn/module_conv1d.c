/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The module of a convolution along one axis: weight and bias with PyTorch's initial values.
 */
#include <math.h>

#include "base/memory.h"
#include "layers/conv2d_layer.h"
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
	struct tn_module_conv1d_options o = tn_module_conv1d_defaults();
	struct tn_conv1d_options window = tn_conv1d_defaults();
	struct tn_runtime *rt = tn_runtime_of(context);
	if (tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_module_conv1d_options",
			    class_.name) ||
	    tn_runtime_take(rt, &window, sizeof(window), o.window, "struct tn_conv1d_options",
			    class_.name))
		return NULL;
	const struct tn_conv2d_options plane = tn_conv1d_plane(&window);
	if (tn_conv_check(rt, class_.name, &plane) ||
	    tn_conv_check_channels(rt, class_.name, &plane, in_channels, out_channels))
		return NULL;
	tn_module *module = tn_module_of_class(context, &class_, &window, sizeof(window));
	if (!module)
		return NULL;
	const int64_t shape[] = {out_channels, in_channels / window.groups, kernel};
	double bound = 1.0 / sqrt((double)(shape[1] * shape[2]));
	if (!tn_module_add_parameter(module, "weight", 3, shape, bound, 0.0) &&
	    (o.no_bias || !tn_module_add_parameter(module, "bias", 1, &out_channels, bound, 0.0)))
		return module;
	tn_module_destroy(module);
	return NULL;
}
