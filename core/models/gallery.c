/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of networks: names, forms and pictures they are for; and making one by name, form and
 * settings.
 */
#include <stdio.h>
#include <string.h>

#include "array/runtime.h"
#include "base/name.h"
#include "models/models.h"

/* A picture of at most this side gets the small form, where there is one and none is named. */
enum { SMALL_SIDE = 64, N_FORMS = TN_FORM_PROJECTION + 1 };

static const char *const form_names[N_FORMS] = {"published", "small", "nnott", "projection"};

enum {
	PUBLISHED = 1 << TN_FORM_PUBLISHED,
	SMALL = 1 << TN_FORM_SMALL,
	NNOTT = 1 << TN_FORM_NNOTT,
	PROJECTION = 1 << TN_FORM_PROJECTION,
};

/* Of a shape. */
enum { MOST_LENGTH = 65536, MOST_CLASSES = 1 << 20 };

enum { INFO_SIZE = sizeof(struct tn_model_info) };

/* What the published forms are for. */
#define DIGITS 1, 28, 28, 10
#define CIFAR 3, 32, 32, 10
#define IMAGENET 3, 224, 224, 1000

static const struct row {
	struct tn_model_info info;
	tn_model_maker *make;
	int layers;
	int batch_norm;
	int has_settings;
	int64_t shortest[N_FORMS]; /* the least side of a picture, by form */
} gallery[] = {
	{.info = {INFO_SIZE,
		  "mlp",
		  "linear layers of 256, 128 and classes, with ReLU",
		  "",
		  PUBLISHED,
		  {DIGITS}},
	 .make = tn_model_mlp,
	 .has_settings = 1},
	{.info = {INFO_SIZE,
		  "baseline",
		  "three convolutions and two linear layers",
		  "nnott",
		  NNOTT,
		  {0}},
	 .make = tn_model_baseline,
	 .shortest = {[TN_FORM_NNOTT] = 4}},
	{.info = {INFO_SIZE,
		  "lenet",
		  "LeNet-5 with ReLU and max pooling",
		  "LeCun et al. 1998",
		  PUBLISHED | NNOTT,
		  {DIGITS}},
	 .make = tn_model_lenet,
	 .shortest = {[TN_FORM_PUBLISHED] = 12, [TN_FORM_NNOTT] = 28}},
	{.info = {INFO_SIZE,
		  "alexnet",
		  "AlexNet, in one tower",
		  "Krizhevsky et al. 2012, 2014",
		  PUBLISHED | SMALL | NNOTT,
		  {IMAGENET}},
	 .make = tn_model_alexnet,
	 .shortest = {[TN_FORM_PUBLISHED] = 63, [TN_FORM_SMALL] = 8, [TN_FORM_NNOTT] = 8}},
	{.info = {INFO_SIZE,
		  "vgg11",
		  "VGG of 11 layers",
		  "Simonyan and Zisserman 2015",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_vgg,
	 .layers = 11,
	 .shortest = {[TN_FORM_PUBLISHED] = 32, [TN_FORM_SMALL] = 32}},
	{.info = {INFO_SIZE,
		  "vgg11_bn",
		  "VGG of 11 layers, with batch norms",
		  "Simonyan and Zisserman 2015",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_vgg,
	 .layers = 11,
	 .batch_norm = 1,
	 .shortest = {[TN_FORM_PUBLISHED] = 32, [TN_FORM_SMALL] = 32}},
	{.info = {INFO_SIZE,
		  "vgg13",
		  "VGG of 13 layers",
		  "Simonyan and Zisserman 2015",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_vgg,
	 .layers = 13,
	 .shortest = {[TN_FORM_PUBLISHED] = 32, [TN_FORM_SMALL] = 32}},
	{.info = {INFO_SIZE,
		  "vgg13_bn",
		  "VGG of 13 layers, with batch norms",
		  "Simonyan and Zisserman 2015",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_vgg,
	 .layers = 13,
	 .batch_norm = 1,
	 .shortest = {[TN_FORM_PUBLISHED] = 32, [TN_FORM_SMALL] = 32}},
	{.info = {INFO_SIZE,
		  "vgg16",
		  "VGG of 16 layers",
		  "Simonyan and Zisserman 2015",
		  PUBLISHED | SMALL | NNOTT,
		  {IMAGENET}},
	 .make = tn_model_vgg,
	 .layers = 16,
	 .shortest = {[TN_FORM_PUBLISHED] = 32, [TN_FORM_SMALL] = 32, [TN_FORM_NNOTT] = 24}},
	{.info = {INFO_SIZE,
		  "vgg16_bn",
		  "VGG of 16 layers, with batch norms",
		  "Simonyan and Zisserman 2015",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_vgg,
	 .layers = 16,
	 .batch_norm = 1,
	 .shortest = {[TN_FORM_PUBLISHED] = 32, [TN_FORM_SMALL] = 32}},
	{.info = {INFO_SIZE,
		  "vgg19",
		  "VGG of 19 layers",
		  "Simonyan and Zisserman 2015",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_vgg,
	 .layers = 19,
	 .shortest = {[TN_FORM_PUBLISHED] = 32, [TN_FORM_SMALL] = 32}},
	{.info = {INFO_SIZE,
		  "vgg19_bn",
		  "VGG of 19 layers, with batch norms",
		  "Simonyan and Zisserman 2015",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_vgg,
	 .layers = 19,
	 .batch_norm = 1,
	 .shortest = {[TN_FORM_PUBLISHED] = 32, [TN_FORM_SMALL] = 32}},
	{.info = {INFO_SIZE,
		  "resnet18",
		  "ResNet of 18 layers",
		  "He et al. 2016",
		  PUBLISHED | SMALL | NNOTT,
		  {IMAGENET}},
	 .make = tn_model_resnet,
	 .layers = 18},
	{.info = {INFO_SIZE,
		  "resnet34",
		  "ResNet of 34 layers",
		  "He et al. 2016",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_resnet,
	 .layers = 34},
	{.info = {INFO_SIZE,
		  "resnet50",
		  "ResNet of 50 layers",
		  "He et al. 2016",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_resnet,
	 .layers = 50},
	{.info = {INFO_SIZE,
		  "resnet20",
		  "ResNet of 20 layers for CIFAR",
		  "He et al. 2016",
		  PUBLISHED | PROJECTION,
		  {CIFAR}},
	 .make = tn_model_resnet_cifar,
	 .layers = 20},
	{.info = {INFO_SIZE,
		  "resnet32",
		  "ResNet of 32 layers for CIFAR",
		  "He et al. 2016",
		  PUBLISHED | PROJECTION,
		  {CIFAR}},
	 .make = tn_model_resnet_cifar,
	 .layers = 32},
	{.info = {INFO_SIZE,
		  "resnet44",
		  "ResNet of 44 layers for CIFAR",
		  "He et al. 2016",
		  PUBLISHED | PROJECTION,
		  {CIFAR}},
	 .make = tn_model_resnet_cifar,
	 .layers = 44},
	{.info = {INFO_SIZE,
		  "resnet56",
		  "ResNet of 56 layers for CIFAR",
		  "He et al. 2016",
		  PUBLISHED | PROJECTION,
		  {CIFAR}},
	 .make = tn_model_resnet_cifar,
	 .layers = 56},
	{.info = {INFO_SIZE,
		  "mobilenet_v2",
		  "MobileNetV2",
		  "Sandler et al. 2018",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_mobilenet_v2},
	{.info = {INFO_SIZE,
		  "efficientnet_lite0",
		  "EfficientNet-Lite0",
		  "Tan and Le 2019",
		  PUBLISHED | SMALL | NNOTT,
		  {IMAGENET}},
	 .make = tn_model_efficientnet_lite0},
	{.info = {INFO_SIZE,
		  "efficientnet_b0",
		  "EfficientNet-B0",
		  "Tan and Le 2019",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_efficientnet_b0},
	{.info = {INFO_SIZE,
		  "convnext_tiny",
		  "ConvNeXt, tiny",
		  "Liu et al. 2022",
		  PUBLISHED | SMALL | NNOTT,
		  {IMAGENET}},
	 .make = tn_model_convnext,
	 .shortest = {[TN_FORM_PUBLISHED] = 32, [TN_FORM_SMALL] = 16, [TN_FORM_NNOTT] = 16}},
	{.info = {INFO_SIZE,
		  "densenet121",
		  "DenseNet of 121 layers",
		  "Huang et al. 2017",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_densenet,
	 .layers = 121,
	 .shortest = {[TN_FORM_PUBLISHED] = 29, [TN_FORM_SMALL] = 8}},
	{.info = {INFO_SIZE,
		  "squeezenet1_1",
		  "SqueezeNet 1.1",
		  "Iandola et al. 2016",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_squeezenet,
	 .shortest = {[TN_FORM_PUBLISHED] = 31, [TN_FORM_SMALL] = 15}},
	{.info = {INFO_SIZE,
		  "vit_tiny",
		  "Vision Transformer, tiny",
		  "Dosovitskiy et al. 2021; Touvron et al. 2021",
		  PUBLISHED | SMALL,
		  {IMAGENET}},
	 .make = tn_model_vit,
	 .shortest = {[TN_FORM_PUBLISHED] = 16, [TN_FORM_SMALL] = 4}},
};

#define N_MODELS (sizeof(gallery) / sizeof(gallery[0]))

const struct tn_model_info *tn_model_at(size_t index)
{
	return index < N_MODELS ? &gallery[index].info : NULL;
}

const char *tn_model_form_name(uint32_t form)
{
	return form < N_FORMS ? form_names[form] : NULL;
}

/* ---- Names -----------------------------------------------------------------------------------*/

static int is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncmp(text, word, length);
}

/* The row whose name is the first `length` bytes of `name`, or NULL with the error kept. */
static const struct row *find_row(struct tn_runtime *rt, const char *name, size_t length)
{
	const char *known[N_MODELS];
	char word[64];
	for (size_t i = 0; i < N_MODELS; i++) {
		known[i] = gallery[i].info.name;
		if (is_word(name, length, known[i]))
			return &gallery[i];
	}
	snprintf(word, sizeof(word), "%.*s", (int)(length < 60 ? length : 60), name);
	const char *like = tn_name_nearest(word, known, N_MODELS);
	tn_runtime_fail(rt, TN_NOT_FOUND, "model_create",
			"no model '%s'%s%s%s; tn_model_at lists all", word,
			like ? "; did you mean '" : "", like ? like : "", like ? "'?" : "");
	return NULL;
}

/* Writes the form after the colon, or that which fits the picture if no form is there, and where
 * the settings begin.  TN_NOT_FOUND, kept. */
static tn_status choose_form(struct tn_runtime *rt, const struct row *row, const char *colon,
			     const struct tn_model_shape *shape, uint32_t *form,
			     const char **settings)
{
	const char *text = colon + (*colon == ':');
	const uint32_t forms = row->info.forms;
	const int is_small = shape->height <= SMALL_SIDE && shape->width <= SMALL_SIDE;
	const size_t length = strcspn(text, ":");
	char has[64] = "";
	*settings = text;
	if (!*colon || memchr(text, '=', length)) {
		*form = is_small && forms & SMALL ? TN_FORM_SMALL
			: forms & PUBLISHED       ? TN_FORM_PUBLISHED
						  : TN_FORM_NNOTT;
		return TN_OK;
	}
	*settings = text + length + (text[length] == ':');
	for (*form = 0; *form < N_FORMS; ++*form) {
		if (!(forms >> *form & 1))
			continue;
		if (is_word(text, length, form_names[*form]))
			return TN_OK;
		snprintf(has + strlen(has), sizeof(has) - strlen(has), "%s%s", *has ? ", " : "",
			 form_names[*form]);
	}
	return tn_runtime_fail(rt, TN_NOT_FOUND, "model_create",
			       "%s has no form '%.*s'; its forms are %s", row->info.name,
			       (int)(length < 40 ? length : 40), text, has);
}

static tn_status check_settings(struct tn_runtime *rt, const struct row *row, const char *settings)
{
	if (row->has_settings || !*settings)
		return TN_OK;
	return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "model_create",
			       "%s: expected no settings, found '%.60s': only mlp has some",
			       row->info.name, settings);
}

/* ---- Making ----------------------------------------------------------------------------------*/

/* The limits keep the products of lengths and channels that networks form within int64_t. */
static tn_status check_arguments(struct tn_runtime *rt, const char *name,
				 const struct tn_model_shape *shape)
{
	static const char *const words[] = {"channels", "height", "width", "n_classes"};
	if (!name || !shape)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "model_create",
				       "expected a name and a shape, found NULL for %s",
				       name ? "shape" : "name");
	const int64_t found[] = {shape->channels, shape->height, shape->width, shape->n_classes};
	for (int i = 0; i < 4; i++) {
		const int most = i < 3 ? MOST_LENGTH : MOST_CLASSES;
		if (found[i] < 1 || found[i] > most)
			return tn_runtime_fail(rt, TN_SHAPE, "model_create",
					       "%s: expected from 1 to %d, found %lld", words[i],
					       most, (long long)found[i]);
	}
	return TN_OK;
}

tn_module *tn_model_create_width(tn_context *context, const char *name,
				 const struct tn_model_shape *shape, int64_t width)
{
	if (!context)
		return NULL;
	struct tn_runtime *rt = tn_runtime_of(context);
	if (tn_runtime_ready(rt) || check_arguments(rt, name, shape))
		return NULL;
	const size_t length = strcspn(name, ":");
	const struct row *row = find_row(rt, name, length);
	if (!row)
		return NULL;
	struct tn_model_request request = {.shape = *shape,
					   .layers = row->layers,
					   .batch_norm = row->batch_norm,
					   .width = width};
	if (choose_form(rt, row, name + length, shape, &request.form, &request.settings) ||
	    check_settings(rt, row, request.settings))
		return NULL;
	const int64_t shortest = row->shortest[request.form];
	if (shape->height < shortest || shape->width < shortest) {
		tn_runtime_fail(rt, TN_SHAPE, row->info.name,
				"expected pictures of at least %lld x %lld in the form %s, found "
				"%lld x %lld",
				(long long)shortest, (long long)shortest, form_names[request.form],
				(long long)shape->height, (long long)shape->width);
		return NULL;
	}
	return (*row->make)(context, &request);
}

tn_module *tn_model_create(tn_context *context, const char *name,
			   const struct tn_model_shape *shape)
{
	return tn_model_create_width(context, name, shape, 0);
}
