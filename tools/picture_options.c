/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "picture_options.h"

static const char *const normalise_names[] = {
	[NORMALISE_OWN] = "own", [NORMALISE_IMAGENET] = "imagenet", NULL};

struct option_row normalise_row(struct picture_options *options)
{
	return (struct option_row){
		"normalise", "NAME",
		"mean and deviation: own (of the training part) or\nimagenet (for folders with "
		"--resize 256 --crop 224)",
		.choice = &options->normalise, .choices = normalise_names};
}

struct option_row resize_row(struct picture_options *options)
{
	return (struct option_row){"resize",
				   "N",
				   "resize the shorter side of pictures by class (as --crop)",
				   .count = &options->resize,
				   .lowest = 1,
				   .highest = TN_IMAGE_MAX_SIDE};
}

struct option_row crop_row(struct picture_options *options)
{
	return (struct option_row){"crop",
				   "N",
				   "then keep the middle, N x N (as --resize)",
				   .count = &options->crop,
				   .lowest = 1,
				   .highest = TN_IMAGE_MAX_SIDE};
}

int picture_options_check(struct picture_options *options, const char *command)
{
	if (!options->resize)
		options->resize = options->crop;
	if (!options->crop)
		options->crop = options->resize;
	if (options->crop <= options->resize)
		return OPTIONS_READ;
	return usage_error(command, "--crop: expected at most --resize, %llu, found %llu",
			   (unsigned long long)options->resize, (unsigned long long)options->crop);
}

int picture_options_check_model(struct picture_options *options, const char *command,
				const char *model)
{
	const char *lonely = options->normalise != NORMALISE_UNSTATED ? "--normalise"
			     : options->resize                        ? "--resize"
			     : options->crop                          ? "--crop"
								      : NULL;
	if (!model && lonely)
		return usage_error(command,
				   "%s: expected --model too, found none: pictures are prepared as "
				   "the file says",
				   lonely);
	if (model && options->normalise == NORMALISE_UNSTATED)
		return usage_error(command, "--model: expected --normalise own or imagenet too, "
					    "found none");
	return picture_options_check(options, command);
}

void picture_options_format(const struct picture_options *options, struct tn_input_format *format)
{
	*format = (struct tn_input_format){.struct_size = sizeof(*format)};
	/* It fails only without a struct_size. */
	if (tn_input_format_imagenet(format, NULL) || !options->resize)
		return;
	format->resize = (uint32_t)options->resize;
	format->height = format->source_height = (uint32_t)options->crop;
	format->width = format->source_width = (uint32_t)options->crop;
}

void picture_options_apply(const struct picture_options *options, struct tn_input_format *as,
			   struct tn_dataset_options *to)
{
	to->image_resize = (uint32_t)options->resize;
	to->image_height = to->image_width = (uint32_t)options->crop;
	if (options->normalise != NORMALISE_IMAGENET)
		return;
	picture_options_format(options, as);
	to->normalise_as = as;
}
