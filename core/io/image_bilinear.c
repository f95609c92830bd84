/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Bilinear resizing with antialiasing, first along rows, then along columns, each time rounded to
 * bytes.  Guarantees: the same bytes as Pillow's Image.resize(BILINEAR), which torchvision's
 * transforms call; hence its way of weighing: a triangle as wide as two old pixels, or two new ones
 * where those are larger, cut at the edges, its weights in units of 2^-22.
 */
#include "io/image_bilinear.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/image.h"

#define OPERATION TN_IMAGE_OPERATION
#define WEIGHT_BITS 22

/* The old pixels that a new one is made of, and where their weights are. */
struct window {
	uint32_t begin;
	uint32_t n;
};

struct windows {
	uint32_t n;
	uint32_t width; /* the room for the weights of one of them */
	struct window *windows;
	int32_t *weights;
};

static void release(struct windows *windows)
{
	tn_mem_free(windows->windows);
	tn_mem_free(windows->weights);
}

/* The triangle over old pixel `at`, of a new pixel whose middle is `middle`. */
static double triangle(uint32_t at, double middle, double half)
{
	double distance = fabs((at - middle + 0.5) * (1.0 / half));
	return distance < 1 ? 1 - distance : 0;
}

static void weigh(struct windows *windows, uint32_t i, uint32_t old)
{
	double scale = (double)old / windows->n, half = scale < 1 ? 1 : scale;
	double middle = (i + 0.5) * scale, sum = 0;
	int64_t begin = (int64_t)(middle - half + 0.5), end = (int64_t)(middle + half + 0.5);
	begin = begin < 0 ? 0 : begin;
	end = end > old ? old : end;
	struct window *window = &windows->windows[i];
	*window = (struct window){(uint32_t)begin, (uint32_t)(end - begin)};
	for (uint32_t k = 0; k < window->n; k++)
		sum += triangle(window->begin + k, middle, half);
	int32_t *weights = windows->weights + (size_t)i * windows->width;
	for (uint32_t k = 0; k < window->n; k++) {
		double weight = triangle(window->begin + k, middle, half);
		weights[k] =
			(int32_t)(0.5 + (sum > 0 ? weight / sum : weight) * (1 << WEIGHT_BITS));
	}
}

/* 0: out of memory. */
static int make_windows(struct windows *windows, uint32_t old, uint32_t n)
{
	double scale = (double)old / n;
	windows->n = n;
	windows->width = 2 * (uint32_t)ceil(scale < 1 ? 1 : scale) + 1;
	windows->windows = tn_mem_zeroed(n, sizeof(*windows->windows));
	windows->weights = tn_mem_zeroed((size_t)n * windows->width, sizeof(*windows->weights));
	if (!windows->windows || !windows->weights)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		weigh(windows, i, old);
	return 1;
}

/* to (n_outer, windows->n, n_inner) := from (n_outer, old, n_inner), resized along the middle. */
static void resample(const struct windows *windows, const uint8_t *from, size_t n_outer,
		     uint32_t old, size_t n_inner, uint8_t *to)
{
	for (size_t outer = 0; outer < n_outer; outer++) {
		const uint8_t *line = from + outer * old * n_inner;
		for (uint32_t i = 0; i < windows->n; i++) {
			const struct window *window = &windows->windows[i];
			const int32_t *weights = windows->weights + (size_t)i * windows->width;
			const uint8_t *first = line + window->begin * n_inner;
			for (size_t inner = 0; inner < n_inner; inner++) {
				int64_t sum = 1 << (WEIGHT_BITS - 1);
				for (uint32_t k = 0; k < window->n; k++)
					sum += (int64_t)first[k * n_inner + inner] * weights[k];
				sum >>= WEIGHT_BITS;
				*to++ = sum > 255 ? 255 : (uint8_t)sum;
			}
		}
	}
}

tn_status tn_image_resize_bilinear(const struct tn_image *image, uint32_t width, uint32_t height,
				   struct tn_image *out, struct tn_error_info *error)
{
	struct windows columns = {0}, rows = {0};
	struct tn_image narrow = {0}, result = {0};
	uint32_t channels = image->channels;
	tn_status status =
		tn_image_allocate(&narrow, width, image->height, channels, "resize", error);
	if (status == TN_OK)
		status = tn_image_allocate(&result, width, height, channels, "resize", error);
	if (status == TN_OK && (!make_windows(&columns, image->width, width) ||
				!make_windows(&rows, image->height, height)))
		status = tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "resize: no memory");
	if (status == TN_OK) {
		resample(&columns, image->data, image->height, image->width, channels, narrow.data);
		resample(&rows, narrow.data, 1, image->height, (size_t)width * channels,
			 result.data);
		*out = result;
	} else {
		tn_image_release(&result);
	}
	tn_image_release(&narrow);
	release(&columns);
	release(&rows);
	return status;
}

tn_status tn_image_resize_shorter(const struct tn_image *image, uint32_t length,
				  struct tn_image *out, struct tn_error_info *error)
{
	uint64_t width = image->width, height = image->height;
	uint64_t shorter = width < height ? width : height;
	width = width * length / shorter;
	height = height * length / shorter;
	if (width > TN_IMAGE_MAX_SIDE || height > TN_IMAGE_MAX_SIDE)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "resize: expected sides of at most %u, found %llu x %llu",
			       TN_IMAGE_MAX_SIDE, (unsigned long long)width,
			       (unsigned long long)height);
	return tn_image_resize_bilinear(image, (uint32_t)width, (uint32_t)height, out, error);
}

/* The begin of a crop: half of what is left over, to even if that ends in 1/2, as Python's
 * round. */
static uint32_t margin(uint32_t length, uint32_t cropped)
{
	uint32_t over = length - cropped, half = over / 2;
	return half + (over & half & 1);
}

tn_status tn_image_crop_centre(const struct tn_image *image, uint32_t width, uint32_t height,
			       struct tn_image *out, struct tn_error_info *error)
{
	struct tn_image result = {0};
	if (width > image->width || height > image->height)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "crop: expected at most %u x %u, found %u x %u", image->width,
			       image->height, width, height);
	tn_status status =
		tn_image_allocate(&result, width, height, image->channels, "crop", error);
	if (status != TN_OK)
		return status;
	size_t left = margin(image->width, width), top = margin(image->height, height);
	size_t line = (size_t)width * image->channels;
	for (size_t y = 0; y < height; y++)
		memcpy(result.data + y * line,
		       image->data + ((top + y) * image->width + left) * image->channels, line);
	*out = result;
	return TN_OK;
}
