/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Images in memory.  Guarantees: every image returned is within the limits of <tenon/io.h>, so no
 * product of its sides and channels overflows.
 */
#include "io/image.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define OPERATION TN_IMAGE_OPERATION

void tn_image_release(struct tn_image *image)
{
	if (!image)
		return;
	tn_mem_free(image->data);
	memset(image, 0, sizeof(*image));
}

void tn_image_warn(struct tn_image_warnings *warnings, const char *text)
{
	if (!warnings->n++)
		snprintf(warnings->first, sizeof(warnings->first), "%s", text);
}

tn_status tn_image_allocate(struct tn_image *out, uint64_t width, uint64_t height,
			    uint32_t channels, const char *where, struct tn_error_info *error)
{
	memset(out, 0, sizeof(*out));
	if (width == 0 || height == 0)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected sides of at least 1, found %llu x %llu", where,
			       (unsigned long long)width, (unsigned long long)height);
	if (width > TN_IMAGE_MAX_SIDE || height > TN_IMAGE_MAX_SIDE ||
	    width * height > TN_IMAGE_MAX_PIXELS)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected sides of at most %u and at most %u pixels, found "
			       "%llu x %llu",
			       where, TN_IMAGE_MAX_SIDE, TN_IMAGE_MAX_PIXELS,
			       (unsigned long long)width, (unsigned long long)height);
	out->data = tn_mem_alloc((size_t)(width * height * channels));
	if (!out->data)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
			       "%s: no memory for %llu x %llu pixels", where,
			       (unsigned long long)width, (unsigned long long)height);
	out->width = (uint32_t)width;
	out->height = (uint32_t)height;
	out->channels = channels;
	return TN_OK;
}

tn_status tn_image_convert(const struct tn_image *image, uint32_t channels, uint8_t background,
			   struct tn_image *out, struct tn_error_info *error)
{
	struct tn_image result;
	if ((channels != 1 && channels != 3) || !image->data || image->channels < 1 ||
	    image->channels > 4)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "convert: expected 1 to 4 channels to 1 or 3, found %u to %u",
			       image->channels, channels);
	tn_status status =
		tn_image_allocate(&result, image->width, image->height, channels, "convert", error);
	if (status)
		return status;
	int is_grey = image->channels <= 2;
	size_t n = (size_t)image->width * image->height;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *from = image->data + i * image->channels;
		unsigned alpha = image->channels == 2   ? from[1]
				 : image->channels == 4 ? from[3]
							: 255;
		uint8_t rgb[3];
		/* Over the background, rounded; alpha 255 is opaque. */
		for (int c = 0; c < 3; c++) {
			unsigned value = from[is_grey ? 0 : c];
			rgb[c] =
				(uint8_t)((value * alpha + background * (255 - alpha) + 127) / 255);
		}
		if (channels == 3)
			memcpy(result.data + 3 * i, rgb, 3);
		else if (is_grey)
			result.data[i] = rgb[0];
		else
			result.data[i] =
				(uint8_t)((299u * rgb[0] + 587u * rgb[1] + 114u * rgb[2] + 500u) /
					  1000u);
	}
	*out = result;
	return TN_OK;
}

/* New pixel i of n covers the old pixels [begin, end) of `old`, at least one. */
static void span(uint32_t i, uint32_t n, uint32_t old, uint32_t *begin, uint32_t *end)
{
	*begin = (uint32_t)((uint64_t)i * old / n);
	*end = (uint32_t)(((uint64_t)i + 1) * old / n);
	if (*end <= *begin)
		*end = *begin + 1;
}

/* The mean of channel c over rows [y0, y1) and columns [x0, x1), rounded. */
static uint8_t mean_of(const struct tn_image *image, uint32_t c, const uint32_t y[2],
		       const uint32_t x[2])
{
	uint64_t sum = 0;
	uint64_t count = (uint64_t)(y[1] - y[0]) * (x[1] - x[0]);
	for (uint32_t row = y[0]; row < y[1]; row++) {
		const uint8_t *pixels = image->data + (size_t)row * image->width * image->channels;
		for (uint32_t column = x[0]; column < x[1]; column++)
			sum += pixels[(size_t)column * image->channels + c];
	}
	return (uint8_t)((sum + count / 2) / count);
}

tn_status tn_image_resize(const struct tn_image *image, uint32_t width, uint32_t height,
			  struct tn_image *out, struct tn_error_info *error)
{
	struct tn_image result;
	if (!image->data || width == 0 || height == 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "resize: expected an image and sides of at least 1, found %u x %u",
			       width, height);
	tn_status status =
		tn_image_allocate(&result, width, height, image->channels, "resize", error);
	if (status)
		return status;
	uint8_t *to = result.data;
	for (uint32_t row = 0; row < height; row++) {
		uint32_t x[2], y[2];
		span(row, height, image->height, &y[0], &y[1]);
		for (uint32_t column = 0; column < width; column++) {
			span(column, width, image->width, &x[0], &x[1]);
			for (uint32_t c = 0; c < image->channels; c++)
				*to++ = mean_of(image, c, y, x);
		}
	}
	*out = result;
	return TN_OK;
}
