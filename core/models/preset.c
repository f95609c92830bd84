/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How pictures are prepared for weights that others publish: torchvision's IMAGENET1K_V1 and, of
 * efficientnet_lite0 (ra_in1k) and vit_tiny (augreg_in21k_ft_in1k), timm's.
 */
#include <string.h>

#include <tenon/models.h>

#include "base/error.h"
#include "base/name.h"
#include "data/format.h"

static const struct preset {
	const char *name;
	uint32_t resize; /* of which the middle is 224 x 224 */
	uint32_t interpolation;
	int is_half; /* mean and deviation are 0.5, not those of ImageNet */
} presets[] = {
	{.name = "alexnet", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "vgg11", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "vgg11_bn", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "vgg13", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "vgg13_bn", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "vgg16", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "vgg16_bn", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "vgg19", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "vgg19_bn", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "resnet18", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "resnet34", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "resnet50", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "mobilenet_v2", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "efficientnet_lite0", .resize = 256, .interpolation = TN_RESIZE_BICUBIC},
	{.name = "efficientnet_b0", .resize = 256, .interpolation = TN_RESIZE_BICUBIC},
	{.name = "convnext_tiny", .resize = 236, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "densenet121", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "squeezenet1_1", .resize = 256, .interpolation = TN_RESIZE_BILINEAR},
	{.name = "vit_tiny", .resize = 248, .interpolation = TN_RESIZE_BICUBIC, .is_half = 1},
};

/* Of a name that a form may follow; NULL: there is none. */
static const struct preset *find(const char *name)
{
	const size_t length = strcspn(name, ":");
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		if (strlen(presets[i].name) == length && !strncmp(presets[i].name, name, length))
			return &presets[i];
	}
	return NULL;
}

tn_status tn_model_input_format(const char *name, struct tn_input_format *format,
				struct tn_error_info *error)
{
	const struct preset *preset = name ? find(name) : NULL;
	if (!name || !format)
		return tn_fail(error, TN_INVALID_ARGUMENT, "model_input_format",
			       "expected a name and a format, found NULL for %s",
			       name ? "format" : "name");
	if (!preset) {
		const char *like = tn_name_nearest_member(name, &presets->name,
							  sizeof(presets) / sizeof(presets[0]),
							  sizeof(presets[0]));
		return tn_fail(error, TN_NOT_FOUND, "model_input_format",
			       "no published weights of '%.60s' are known%s%s%s", name,
			       like ? "; did you mean '" : "", like ? like : "", like ? "'?" : "");
	}
	struct tn_input_format published = {.struct_size = sizeof(published)};
	tn_status status = tn_input_format_imagenet(&published, error);
	published.resize = preset->resize;
	published.interpolation = preset->interpolation;
	for (int c = 0; c < 3 && preset->is_half; c++)
		published.mean[c] = published.deviation[c] = 0.5f;
	if (!status)
		status = tn_input_format_copy(format, &published, error);
	return status;
}
