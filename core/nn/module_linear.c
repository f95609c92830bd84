/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The module of a linear layer, y = x W^T + b, and its frozen form with bias and activation.
 */
#include "nn/lookup.h"
#include "nn/module_linear.h"

#include <math.h>
#include "base/memory.h"
#include "layers/linear.h"
#include "nn/frozen_pack.h"
#include "nn/module.h"
#include "nn/module_activation.h"

/* PyTorch's reset_parameters: kaiming_uniform with a = sqrt(5) is uniform in +-1 / sqrt(fan in). */

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	static const struct tn_then nothing = {0};
	if (module->forward_then) /* while frozen */
		return module->forward_then(module, x, &nothing);
	return tn_linear(x, tn_module_find_parameter(module, "weight"),
			 tn_module_find_parameter(module, "bias"));
}

int tn_is_linear(const tn_module *module)
{
	return module->class_.forward == forward;
}

struct weights {
	const tn_array *x, *w;
};

static tn_status prepack(const void *weights, tn_array **packed)
{
	const struct weights *of = weights;
	return tn_linear_prepack(of->x, of->w, packed);
}

/* The product with bias and activation in one call, if there is no residual in between. */
tn_array *tn_linear_frozen(tn_module *module, const tn_array *x, const struct tn_then *then)
{
	const struct tn_then residual = {.residual = then->residual,
					 .activation = then->activation};
	uint32_t activation = then->residual ? TN_ACTIVATION_NONE : then->activation;
	const struct weights weights = {x, tn_module_find_parameter(module, "weight")};
	if (tn_runtime_ready(module->runtime))
		return NULL;
	tn_array *packed = tn_frozen_pack(module, prepack, &weights);
	tn_array *y = tn_linear_activated(x, weights.w, tn_module_find_parameter(module, "bias"),
					  activation, packed);
	return then->residual ? tn_then_finish(y, &residual) : y;
}

tn_module *tn_module_linear(tn_context *context, int64_t in_features, int64_t out_features,
			    const struct tn_module_linear_options *options)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Linear", .forward = forward};
	struct tn_module_linear_options o = tn_module_linear_defaults();
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_module_linear_options", class_.name))
		return NULL;
	tn_module *module = tn_module_make(context, &class_, NULL);
	if (!module)
		return NULL;
	double bound = 1.0 / sqrt((double)in_features);
	if (tn_module_add_parameter(module, "weight", 2,
				    (const int64_t[]){out_features, in_features}, bound, 0.0) ||
	    (!o.no_bias && tn_module_add_parameter(module, "bias", 1, &out_features, bound, 0.0))) {
		tn_module_destroy(module);
		return NULL;
	}
	return module;
}
