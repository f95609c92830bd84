/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The preparation of pictures: the same for the files of a data set and for a picture to predict.
 */
#include "data/prepare.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/format.h"
#include "io/image_resample.h"

#define OPERATION "input format"

void tn_enlarge_plane(const struct tn_input_format *format, const uint8_t *from, uint8_t *to)
{
	memset(to, 0, (size_t)format->height * format->width);
	for (uint32_t y = 0; y < format->source_height * format->zoom; y++) {
		uint8_t *row = to + (size_t)(y + format->border) * format->width + format->border;
		const uint8_t *source = from + (size_t)(y / format->zoom) * format->source_width;
		for (uint32_t x = 0; x < format->source_width * format->zoom; x++)
			row[x] = source[x / format->zoom];
	}
}

static void replace(struct tn_image *picture, struct tn_image *changed)
{
	tn_image_release(picture);
	*picture = *changed;
}

/* Its channels, and dark for light if asked. */
static tn_status convert(const struct tn_input_format *format, const struct tn_image *image,
			 int invert, struct tn_image *out, struct tn_error_info *error)
{
	tn_status status = tn_image_convert(image, format->channels, invert ? 255 : 0, out, error);
	if (status || !invert)
		return status;
	size_t n = (size_t)out->width * out->height * out->channels;
	for (size_t i = 0; i < n; i++)
		out->data[i] = (uint8_t)(255 - out->data[i]);
	return TN_OK;
}

/* Its size: the middle of the resized picture, or the whole. */
static tn_status fit(const struct tn_input_format *format, struct tn_image *picture,
		     struct tn_error_info *error)
{
	struct tn_image changed = {0};
	if (!format->resize) {
		tn_status status =
			tn_image_resize(picture, format->width, format->height, &changed, error);
		if (!status)
			replace(picture, &changed);
		return status;
	}
	tn_status status = tn_image_resize_shorter(picture, format->resize, format->interpolation,
						   &changed, error);
	if (status)
		return status;
	replace(picture, &changed);
	status = tn_image_crop_centre(picture, format->width, format->height, &changed, error);
	if (!status)
		replace(picture, &changed);
	return status;
}

/* plane := channel c. */
static void take_plane(const struct tn_image *picture, uint32_t c, uint8_t *plane)
{
	size_t n = (size_t)picture->width * picture->height;
	for (size_t i = 0; i < n; i++)
		plane[i] = picture->data[i * picture->channels + c];
}

/* A picture of the source size, zoomed and bordered. */
static tn_status enlarge(const struct tn_input_format *format, const struct tn_image *picture,
			 uint8_t *planes, struct tn_error_info *error)
{
	size_t size = (size_t)format->height * format->width;
	uint8_t *plane = tn_mem_alloc((size_t)picture->width * picture->height);
	if (!plane)
		return tn_no_memory(error, OPERATION, NULL, "a picture");
	for (uint32_t c = 0; c < format->channels; c++) {
		take_plane(picture, c, plane);
		tn_enlarge_plane(format, plane, planes + c * size);
	}
	tn_mem_free(plane);
	return TN_OK;
}

tn_status tn_prepare_picture(const struct tn_input_format *format, const struct tn_image *image,
			     int invert, uint8_t *planes, struct tn_error_info *error)
{
	struct tn_image picture = {0};
	size_t size = (size_t)format->height * format->width;
	tn_status status = convert(format, image, invert, &picture, error);
	if (status)
		return status;
	int is_source = !format->resize && picture.width == format->source_width &&
			picture.height == format->source_height;
	int is_fed = !format->resize && picture.width == format->width &&
		     picture.height == format->height;
	if (is_source) {
		status = enlarge(format, &picture, planes, error);
		tn_image_release(&picture);
		return status;
	}
	if (!is_fed)
		status = fit(format, &picture, error);
	for (uint32_t c = 0; c < format->channels && !status; c++)
		take_plane(&picture, c, planes + c * size);
	tn_image_release(&picture);
	return status;
}

static tn_status check(const struct tn_input_format *format, struct tn_error_info *error)
{
	if (format->channels != 1 && format->channels != 3)
		return tn_fail(error, TN_UNSUPPORTED, OPERATION,
			       "expected a network of 1 or 3 channels, found %u", format->channels);
	if (format->resize && (format->resize < format->height || format->resize < format->width))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a resize of at least height x width, %u x %u, found %u",
			       format->height, format->width, format->resize);
	return tn_input_format_check_interpolation(format->interpolation, error);
}

tn_status tn_input_format_apply(const struct tn_input_format *given, const struct tn_image *image,
				int invert, float *out, struct tn_error_info *error)
{
	struct tn_input_format format;
	tn_status status = tn_input_format_take(&format, given, error);
	if (!status)
		status = check(&format, error);
	if (status)
		return status;
	size_t n = (size_t)format.height * format.width;
	uint8_t *planes = tn_mem_alloc(n * format.channels);
	if (!planes)
		return tn_no_memory(error, OPERATION, NULL, "a picture");
	status = tn_prepare_picture(&format, image, invert, planes, error);
	for (uint32_t c = 0; c < format.channels && !status; c++) {
		for (size_t i = 0; i < n; i++)
			out[c * n + i] = ((float)planes[c * n + i] / 255.0f - format.mean[c]) /
					 format.deviation[c];
	}
	tn_mem_free(planes);
	return status;
}
