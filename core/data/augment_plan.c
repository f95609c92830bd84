/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks of options.
 */
#include "data/augment_plan.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"

#define OPERATION "augmentation"
#define MAX_FACTOR 100 /* of brightness, contrast, saturation: far beyond any use */
#define MAX_NOISE 1e6  /* standard deviations: far beyond any use */
#define MAX_ALPHA 1000 /* beyond, draws from the distribution become slow */
#define MAX_LAYERS 100
#define MAX_VALUES INT32_MAX

static const struct tn_option numbers[] = {
	{TN_MEMBER(struct tn_augmentation, randaugment_magnitude), .most = 1},
	{TN_MEMBER(struct tn_augmentation, hflip_prob), .most = 1},
	{TN_MEMBER(struct tn_augmentation, vflip_prob), .most = 1},
	{TN_MEMBER(struct tn_augmentation, rotate_deg), .most = 180},
	{TN_MEMBER(struct tn_augmentation, rotate_prob), .most = 1},
	{TN_MEMBER(struct tn_augmentation, brightness), .most = MAX_FACTOR},
	{TN_MEMBER(struct tn_augmentation, contrast), .most = MAX_FACTOR},
	{TN_MEMBER(struct tn_augmentation, saturation), .most = MAX_FACTOR},
	{TN_MEMBER(struct tn_augmentation, hue), .most = 0.5},
	{TN_MEMBER(struct tn_augmentation, noise_std), .most = MAX_NOISE},
	{TN_MEMBER(struct tn_augmentation, noise_prob), .most = 1},
	{TN_MEMBER(struct tn_augmentation, noise_clip), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_augmentation, cutout_prob), .most = 1},
	{TN_MEMBER(struct tn_augmentation, cutmix_prob), .most = 1},
	{TN_MEMBER(struct tn_augmentation, cutmix_alpha), TN_LEAST, .most = MAX_ALPHA},
	{TN_MEMBER(struct tn_augmentation, mixup_prob), .most = 1},
	{TN_MEMBER(struct tn_augmentation, mixup_alpha), TN_LEAST, .most = MAX_ALPHA},
	{0},
};

static const struct tn_option choices[] = {
	{TN_MEMBER(struct tn_augmentation, crop_mode), .most = TN_PADDING_SYMMETRIC,
	 .is_choice = 1},
	{TN_MEMBER(struct tn_augmentation, rotate_mode), .most = TN_PADDING_SYMMETRIC,
	 .is_choice = 1},
	{TN_MEMBER(struct tn_augmentation, resized_crop), .most = 1, .is_choice = 1},
	{TN_MEMBER(struct tn_augmentation, rotate_bilinear), .most = 1, .is_choice = 1},
	{TN_MEMBER(struct tn_augmentation, randaugment_layers), .most = MAX_LAYERS, .is_choice = 1},
	{0},
};

/* A range of positive numbers. */
static tn_status check_range(const double range[2], const char *name, double most,
			     struct tn_error_info *error)
{
	if (!(range[0] > 0 && range[0] <= range[1] && range[1] <= most))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected two positive numbers up to %g, the smaller one first, "
			       "found %g and %g",
			       name, most, range[0], range[1]);
	return TN_OK;
}

static tn_status check_pixels(const struct tn_augmentation *options,
			      const struct tn_augment_images *images, struct tn_error_info *error)
{
	const struct {
		const char *name;
		uint32_t value;
	} distances[] = {{"max_shift", options->max_shift},
			 {"roll", options->roll},
			 {"crop_padding", options->crop_padding}};
	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		uint32_t value = distances[i].value;
		if (value && (value >= images->height || value >= images->width))
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: expected less than height and width, %u x %u, found %u",
				       distances[i].name, images->height, images->width, value);
	}
	int cuts_out = options->cutout_prob > 0 || options->randaugment_layers;
	if (!options->cutout_size || (cuts_out && options->cutout_size > images->height &&
				      options->cutout_size > images->width))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "cutout_size: expected 1 to the larger of height and width, %u x "
			       "%u, found %u",
			       images->height, images->width, options->cutout_size);
	return TN_OK;
}

static tn_status take_images(struct tn_augment_plan *plan, const struct tn_augment_images *images,
			     struct tn_error_info *error)
{
	if (images->channels < 1 || images->channels > TN_MAX_CHANNELS || images->height == 0 ||
	    images->width == 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected pictures of 1 to %d channels, found %u x %u x %u",
			       TN_MAX_CHANNELS, images->channels, images->height, images->width);
	if ((uint64_t)images->height * images->width > MAX_VALUES / images->channels)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "expected pictures of at most %d values, found %u x %u x %u",
			       MAX_VALUES, images->channels, images->height, images->width);
	plan->channels = images->channels;
	plan->height = images->height;
	plan->width = images->width;
	plan->n_classes = images->n_classes;
	for (uint32_t c = 0; c < images->channels; c++) {
		float mean = images->mean ? images->mean[c] : 0;
		float deviation = images->deviation ? images->deviation[c] : 1;
		if (!isfinite(mean) || !isfinite(deviation) || !(deviation > 0))
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "channel %u: expected a finite mean and a positive "
				       "deviation, found %g and %g",
				       c, (double)mean, (double)deviation);
		plan->mean[c] = mean;
		plan->deviation[c] = deviation;
		plan->fill[c] = (0 - mean) / deviation;
	}
	return TN_OK;
}

/* What needs colours, or targets. */
static tn_status check_needs(const struct tn_augment_plan *plan, struct tn_error_info *error)
{
	const struct tn_augmentation *options = &plan->options;
	const char *colour = options->contrast > 0     ? "contrast"
			     : options->saturation > 0 ? "saturation"
			     : options->hue > 0        ? "hue"
						       : NULL;
	if (colour && plan->channels != 1 && plan->channels != 3)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected pictures of 1 or 3 channels, found %u", colour,
			       plan->channels);
	if (plan->mixes && plan->n_classes == 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected targets of classes to mix, found none",
			       options->cutmix_prob > 0 ? "cutmix_prob" : "mixup_prob");
	return TN_OK;
}

tn_status tn_augment_plan_take(struct tn_augment_plan *out, const struct tn_augmentation *given,
			       const struct tn_augment_images *images, struct tn_error_info *error)
{
	struct tn_augment_plan plan = {.options = tn_augmentation_defaults()};
	struct tn_augmentation *options = &plan.options;
	tn_status status = tn_options_take(options, sizeof(*options), given,
					   "struct tn_augmentation", OPERATION, error);
	if (!status)
		status = take_images(&plan, images, error);
	if (!status)
		status = check_pixels(options, images, error);
	if (!status)
		status = tn_options_check(options, choices, OPERATION, error);
	if (!status)
		status = tn_options_check(options, numbers, OPERATION, error);
	if (!status)
		status = check_range(options->resized_crop_scale, "resized_crop_scale", 1, error);
	if (!status)
		status = check_range(options->resized_crop_ratio, "resized_crop_ratio", 1e6, error);
	if (status)
		return status;
	plan.moves = options->max_shift || options->roll || options->crop_padding ||
		     options->hflip_prob > 0 || options->vflip_prob > 0;
	plan.colours = options->brightness > 0 || options->contrast > 0 ||
		       options->saturation > 0 || options->hue > 0;
	plan.per_image = plan.moves || plan.colours || options->resized_crop ||
			 options->rotate_deg > 0 || options->noise_std > 0 ||
			 options->cutout_prob > 0 ||
			 (options->randaugment_layers && options->randaugment_magnitude > 0);
	plan.mixes = options->cutmix_prob > 0 || options->mixup_prob > 0;
	status = check_needs(&plan, error);
	if (!status)
		*out = plan;
	return status;
}

size_t tn_augment_plane(const struct tn_augment_plan *plan)
{
	return (size_t)plan->height * plan->width;
}

size_t tn_augment_image_size(const struct tn_augment_plan *plan)
{
	return plan->channels * tn_augment_plane(plan);
}

/* A picture, and the indices and weights of its lines or a row of targets. */
size_t tn_augment_scratch(const struct tn_augment_plan *plan)
{
	size_t lines = 2 * ((size_t)plan->height + plan->width);
	size_t more = lines > plan->n_classes ? lines : plan->n_classes;
	return tn_augment_image_size(plan) + more;
}
