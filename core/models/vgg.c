/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * K. Simonyan and A. Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
 * Recognition", ICLR 2015: five groups of convolutions of 3x3, a max pool after each; with batch
 * norms after all convolutions in vgg11_bn and so on.
 *
 *     published  torchvision's vgg11 to vgg19_bn, with its names: Linear 4096 - 4096 - classes
 *     small      for 32x32 pictures: Linear 512 - 512 - classes
 *     nnott      vgg16 with batch norms, whose last two pools have stride 1; the published head
 */
#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"

enum { N_GROUPS = 5 };

static const int64_t channels[N_GROUPS] = {64, 128, 256, 512, 512};

/* The convolutions of each group. */
static const int *convolutions(int layers)
{
	static const int vgg11[] = {1, 1, 2, 2, 2}, vgg13[] = {2, 2, 2, 2, 2},
			 vgg16[] = {2, 2, 3, 3, 3}, vgg19[] = {2, 2, 4, 4, 4};
	return layers == 11 ? vgg11 : layers == 13 ? vgg13 : layers == 16 ? vgg16 : vgg19;
}

static tn_module *make_features(tn_context *context, const struct tn_model_request *request,
				tn_status *status)
{
	const int is_nnott = request->form == TN_FORM_NNOTT;
	const int *n = convolutions(request->layers);
	tn_module *features = tn_module_sequential(context);
	int64_t in = request->shape.channels;
	for (int group = 0; group < N_GROUPS; group++) {
		for (int i = 0; i < n[group]; i++) {
			const int64_t out = channels[group];
			tn_model_add(features, NULL,
				     tn_model_conv_biased(context, in, out, 3, 1, 1), status);
			if (request->batch_norm || is_nnott)
				tn_model_add(features, NULL,
					     tn_module_batch_norm2d(context, out, NULL), status);
			tn_model_add(features, NULL, tn_module_relu(context), status);
			in = out;
		}
		tn_model_add(features, NULL,
			     tn_model_max_pool(context, 2, is_nnott && group > 2 ? 1 : 2, 0),
			     status);
	}
	return features;
}

/* The length of a side after all pools. */
static int64_t pooled(int64_t length, int is_nnott)
{
	for (int group = 0; group < N_GROUPS; group++)
		length = is_nnott && group > 2 ? length - 1 : length / 2;
	return length;
}

/* torchvision's. */
static const struct tn_initial initial[] = {
	{"*", 4, TN_INITIAL_HE_OUT, 0},
	{"*", 2, TN_INITIAL_NORMAL, 0.01},
	{"*.bias", 1, TN_INITIAL_ZERO, 0},
	{0},
};

tn_module *tn_model_vgg(tn_context *context, const struct tn_model_request *request)
{
	const struct tn_model_shape *shape = &request->shape;
	const int is_large = request->form == TN_FORM_PUBLISHED;
	const int is_nnott = request->form == TN_FORM_NNOTT;
	const int64_t planes =
		is_large ? 49 : pooled(shape->height, is_nnott) * pooled(shape->width, is_nnott);
	const int64_t hidden = request->form == TN_FORM_SMALL ? 512 : 4096;
	tn_module *net = tn_module_sequential(context), *head = tn_module_sequential(context);
	tn_status status = TN_OK;
	tn_model_add(head, NULL, tn_module_linear(context, 512 * planes, hidden, NULL), &status);
	tn_model_add(head, NULL, tn_module_relu(context), &status);
	tn_model_add(head, NULL, tn_module_dropout(context, 0.5), &status);
	tn_model_add(head, NULL, tn_module_linear(context, hidden, hidden, NULL), &status);
	tn_model_add(head, NULL, tn_module_relu(context), &status);
	tn_model_add(head, NULL, tn_module_dropout(context, 0.5), &status);
	tn_model_add(head, NULL, tn_module_linear(context, hidden, shape->n_classes, NULL),
		     &status);
	tn_model_add(net, "features", make_features(context, request, &status), &status);
	if (is_large)
		tn_model_add(net, "avgpool", tn_module_adaptive_avg_pool2d(context, 7, 7), &status);
	tn_model_add(net, "flatten", tn_module_flatten(context), &status);
	tn_model_add(net, "classifier", head, &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}
