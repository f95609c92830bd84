/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The rows of --normalise, --resize and --crop, their checks, and the format they give.
 */
#include "picture_options.h"

#include <string.h>

static const char *const normalise_names[] = {[NORMALISE_OWN] = "own",
					      [NORMALISE_IMAGENET] = "imagenet",
					      [NORMALISE_PUBLISHED] = "published",
					      NULL};

struct option_row normalise_row(struct picture_options *options)
{
	return (struct option_row){
		"normalise", "NAME",
		"mean and deviation: own (of the training part),\nimagenet (for folders with "
		"--resize 256 --crop 224)\nor published (all as for the network's weights)",
		.choice = &options->normalise, .choices = normalise_names};
}

/* "256", "256:bilinear" or "256:bicubic". */
static int take_resize(void *values, const char *argument)
{
	struct picture_options *options = values;
	const char *colon = strchr(argument, ':');
	char number[8];
	const size_t length = colon ? (size_t)(colon - argument) : strlen(argument);
	const int is_bicubic = colon && !strcmp(colon, ":bicubic");
	if (length >= sizeof(number) || (colon && !is_bicubic && strcmp(colon, ":bilinear") != 0))
		return 0;
	memcpy(number, argument, length);
	number[length] = '\0';
	options->interpolation = is_bicubic ? TN_RESIZE_BICUBIC : TN_RESIZE_BILINEAR;
	return parse_count(number, 1, TN_IMAGE_MAX_SIDE, &options->resize);
}

struct option_row resize_row(struct picture_options *options)
{
	return (struct option_row){
		"resize",
		"N[:MODE]",
		"resize the shorter side of pictures by class\n"
		"(as --crop); MODE: bilinear (default) or bicubic",
		.take = take_resize,
		.values = options,
		.expected = "a number from 1 to 32768, alone or with :bilinear or :bicubic"};
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
		return usage_error(command, "--model: expected --normalise own, imagenet or "
					    "published too, found none");
	return picture_options_check(options, command);
}

int picture_options_format(const struct picture_options *options, const char *model,
			   struct tn_input_format *format)
{
	struct tn_error_info error;
	*format = tn_input_format_defaults();
	const tn_status status = options->normalise == NORMALISE_PUBLISHED
					 ? tn_model_input_format(model, format, &error)
					 : tn_input_format_imagenet(format, &error);
	if (status)
		return report_error(&error);
	if (!options->resize)
		return EXIT_DONE;
	format->resize = (uint32_t)options->resize;
	format->interpolation = options->interpolation;
	format->height = format->source_height = (uint32_t)options->crop;
	format->width = format->source_width = (uint32_t)options->crop;
	return EXIT_DONE;
}

int picture_options_apply(const struct picture_options *options, const char *model,
			  struct tn_input_format *as, struct tn_dataset_options *to)
{
	to->image_resize = (uint32_t)options->resize;
	to->image_interpolation = options->interpolation;
	to->image_height = to->image_width = (uint32_t)options->crop;
	if (options->normalise != NORMALISE_IMAGENET && options->normalise != NORMALISE_PUBLISHED)
		return EXIT_DONE;
	to->normalise_as = as;
	return picture_options_format(options, model, as);
}
