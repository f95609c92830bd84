/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The module of a convolution of images, and its frozen form with packed weights and epilogue.
 */
#include "nn/lookup.h"
#include "nn/module_conv2d.h"

#include <math.h>
#include "base/memory.h"
#include "layers/conv2d.h"
#include "layers/conv2d_layer.h"
#include "layers/prepack.h"
#include "layers/window.h"
#include "nn/frozen_pack.h"
#include "nn/module.h"

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	static const struct tn_then nothing = {0};
	if (module->forward_then) /* while frozen */
		return module->forward_then(module, x, &nothing);
	return tn_conv2d(x, tn_module_find_parameter(module, "weight"),
			 tn_module_find_parameter(module, "bias"), state);
}

int tn_is_conv2d(const tn_module *module)
{
	return module->class_.forward == forward;
}

struct weights {
	const tn_array *x, *w, *bias;
	const struct tn_window *window;
	const struct tn_conv2d_finish *finish;
};

static tn_status prepack(const void *weights, tn_array **packed)
{
	const struct weights *of = weights;
	return tn_conv2d_prepack(of->x, of->w, of->bias, of->window, of->finish, packed);
}

tn_array *tn_conv2d_frozen(tn_module *module, const tn_array *x, const struct tn_then *then)
{
	const struct tn_fold *fold = then->is_folded ? module->fold : NULL;
	const tn_array *w = fold ? fold->w : tn_module_find_parameter(module, "weight");
	const tn_array *bias = fold ? fold->b : tn_module_find_parameter(module, "bias");
	const struct tn_window window = tn_conv2d_window(module->state);
	struct tn_conv2d_finish finish = {
		.residual = then->residual, .activation = then->activation, .has_constants = 1};
	if (tn_runtime_ready(module->runtime))
		return NULL;
	const struct weights weights = {x, w, bias, &window, &finish};
	finish.packed = tn_frozen_pack(module, prepack, &weights);
	return tn_conv2d_forward_finished(x, w, bias, &window, &finish);
}

tn_module *tn_module_conv2d(tn_context *context, int64_t in_channels, int64_t out_channels,
			    int64_t kernel_h, int64_t kernel_w,
			    const struct tn_module_conv2d_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Conv2d",
						      .forward = forward,
						      .destroy = tn_mem_free};
	struct tn_module_conv2d_options o = tn_module_conv2d_defaults();
	struct tn_conv2d_options window = tn_conv2d_defaults();
	struct tn_runtime *rt = tn_runtime_of(context);
	if (tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_module_conv2d_options",
			    class_.name) ||
	    tn_runtime_take(rt, &window, sizeof(window), o.window, "struct tn_conv2d_options",
			    class_.name) ||
	    tn_conv_check(rt, class_.name, &window) ||
	    tn_conv_check_channels(rt, class_.name, &window, in_channels, out_channels))
		return NULL;
	tn_module *module = tn_module_of_class(context, &class_, &window, sizeof(window));
	if (!module)
		return NULL;
	const int64_t shape[] = {out_channels, in_channels / window.groups, kernel_h, kernel_w};
	double bound = 1.0 / sqrt((double)(shape[1] * shape[2] * shape[3]));
	if (tn_module_add_parameter(module, "weight", 4, shape, bound, 0.0) ||
	    (!o.no_bias && tn_module_add_parameter(module, "bias", 1, &out_channels, bound, 0.0))) {
		tn_module_destroy(module);
		return NULL;
	}
	return module;
}
