/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * F. N. Iandola, S. Han, M. W. Moskewicz, K. Ashraf, W. J. Dally and K. Keutzer,
 * "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and < 0.5MB model size", 2016, in
 * its authors' version 1.1.
 *
 *     fire        Conv 1x1 (squeeze) -> ReLU -> Conv 1x1 and Conv 3x3, each with ReLU, joined
 *
 *     published   torchvision's squeezenet1_1, with its names; its max pools round up, which for
 *                 224x224 pictures is the same
 *     small       for 32x32 pictures: the stem has stride 1, and padding
 */
#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"
#include "nn/module.h"

enum { SQUEEZE, SQUEEZE_ACTIVATION, EXPAND1, EXPAND1_ACTIVATION, EXPAND3, EXPAND3_ACTIVATION };

static tn_array *run(const tn_module *module, size_t conv, const tn_array *x)
{
	tn_array *y = tn_module_forward(module->members[conv].module, x);
	tn_array *z = tn_module_forward(module->members[conv + 1].module, y);
	tn_array_destroy(y);
	return z;
}

static tn_array *fire_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	tn_array *squeezed = run(module, SQUEEZE, x);
	tn_array *one = run(module, EXPAND1, squeezed), *three = run(module, EXPAND3, squeezed);
	tn_array *both = tn_concatenate(2, (const tn_array *[]){one, three}, 1);
	tn_array_destroy(squeezed);
	tn_array_destroy(one);
	tn_array_destroy(three);
	return both;
}

static tn_module *fire(tn_context *context, int64_t in, int64_t squeezed, int64_t expanded)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Fire",
						      .forward = fire_forward,
						      .is_repeatable = 1};
	static const char *const names[] = {"squeeze",   "squeeze_activation",
					    "expand1x1", "expand1x1_activation",
					    "expand3x3", "expand3x3_activation"};
	tn_module *members[] = {tn_model_conv_biased(context, in, squeezed, 1, 1, 0),
				tn_module_relu(context),
				tn_model_conv_biased(context, squeezed, expanded, 1, 1, 0),
				tn_module_relu(context),
				tn_model_conv_biased(context, squeezed, expanded, 3, 1, 1),
				tn_module_relu(context)};
	tn_module *module = tn_module_custom(context, &class_, NULL);
	tn_status status = module ? TN_OK : TN_OUT_OF_MEMORY;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		tn_model_add_member(module, names[i], members[i], &status);
	return tn_model_end(module, status);
}

static tn_module *make_features(tn_context *context, const struct tn_model_request *request,
				int64_t width)
{
	/* Squeezed and expanded channels, in units of a quarter of the stem's; 0: a max pool. */
	static const int64_t fires[][2] = {{0, 0}, {1, 4},  {1, 4},  {0, 0},  {2, 8}, {2, 8},
					   {0, 0}, {3, 12}, {3, 12}, {4, 16}, {4, 16}};
	const int is_small = request->form == TN_FORM_SMALL;
	const int64_t unit = width / 4;
	tn_module *features = tn_module_sequential(context);
	tn_status status = TN_OK;
	int64_t in = width;
	tn_model_add(features, NULL,
		     tn_model_conv_biased(context, request->shape.channels, width, 3,
					  is_small ? 1 : 2, is_small ? 1 : 0),
		     &status);
	tn_model_add(features, NULL, tn_module_relu(context), &status);
	for (size_t i = 0; i < sizeof(fires) / sizeof(fires[0]); i++) {
		const int64_t squeezed = fires[i][0] * unit, expanded = fires[i][1] * unit;
		if (!squeezed) {
			tn_model_add(features, NULL, tn_model_max_pool(context, 3, 2, 0), &status);
			continue;
		}
		tn_model_add(features, NULL, fire(context, in, squeezed, expanded), &status);
		in = 2 * expanded;
	}
	return tn_model_end(features, status);
}

/* torchvision's. */
static const struct tn_initial initial[] = {
	{"*", 4, TN_INITIAL_HE_UNIFORM, 0},
	{"classifier.1.weight", 4, TN_INITIAL_NORMAL, 0.01},
	{"*.bias", 1, TN_INITIAL_ZERO, 0},
	{0},
};

tn_module *tn_model_squeezenet(tn_context *context, const struct tn_model_request *request)
{
	const int64_t width = request->width ? request->width : 64;
	tn_module *net = tn_module_sequential(context), *classifier = tn_module_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(classifier, NULL, tn_module_dropout(context, 0.5), &status);
	tn_model_add(classifier, NULL,
		     tn_model_conv_biased(context, 8 * width, request->shape.n_classes, 1, 1, 0),
		     &status);
	tn_model_add(classifier, NULL, tn_module_relu(context), &status);
	tn_model_add(classifier, NULL, tn_module_adaptive_avg_pool2d(context, 1, 1), &status);
	tn_model_add(net, "features", make_features(context, request, width), &status);
	tn_model_add(net, "classifier", classifier, &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}
