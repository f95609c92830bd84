/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Squeeze-and-excitation, with torchvision's names for its members.
 */
#include "array/array.h"
#include "nn/module.h"

enum { AVGPOOL, FC1, FC2, ACTIVATION, SCALE_ACTIVATION };

static tn_array *run_member(const tn_module *module, size_t member, tn_array *x)
{
	tn_array *y = tn_module_forward(module->members[member].module, x);
	tn_array_destroy(x);
	return y;
}

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	tn_array *scale = tn_module_forward(module->members[AVGPOOL].module, x);
	scale = run_member(module, FC1, scale);
	scale = run_member(module, ACTIVATION, scale);
	scale = run_member(module, FC2, scale);
	scale = run_member(module, SCALE_ACTIVATION, scale);
	tn_array *y = tn_multiply(x, scale);
	tn_array_destroy(scale);
	return y;
}

tn_module *tn_module_squeeze_excitation(tn_context *context, int64_t channels, int64_t squeezed,
					uint32_t activation)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "SqueezeExcitation", .forward = forward};
	tn_module *module = tn_module_make(context, &class_, NULL);
	if (module && activation != TN_ACTIVATION_RELU && activation != TN_ACTIVATION_SILU) {
		tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, class_.name,
				"expected the activation RELU or SILU, found %u", activation);
	} else if (module &&
		   !tn_module_add(module, "avgpool",
				  tn_module_adaptive_avg_pool2d(context, 1, 1)) &&
		   !tn_module_add(module, "fc1",
				  tn_module_conv2d(context, channels, squeezed, 1, 1, NULL)) &&
		   !tn_module_add(module, "fc2",
				  tn_module_conv2d(context, squeezed, channels, 1, 1, NULL)) &&
		   !tn_module_add(module, "activation",
				  activation == TN_ACTIVATION_RELU ? tn_module_relu(context)
								   : tn_module_silu(context)) &&
		   !tn_module_add(module, "scale_activation", tn_module_sigmoid(context))) {
		return module;
	}
	tn_module_destroy(module);
	return NULL;
}
