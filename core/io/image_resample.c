/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Resizing with antialiasing, first along rows, then along columns, each time rounded to bytes.
 * Guarantees: the same bytes as Pillow's Image.resize(BILINEAR) and (BICUBIC), which torchvision's
 * transforms call; hence its way of weighing: a triangle as wide as two old pixels, or the cubic of
 * R. Keys with a = -1/2, as wide as four, or as so many new ones where those are larger, cut at the
 * edges, its weights in units of 2^-22.
 */
#include "io/image_resample.h"

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

static double triangle(double x)
{
	return x < 1 ? 1 - x : 0;
}

static double cubic(double x)
{
	const double a = -0.5;
	if (x < 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* By TN_RESIZE_...: the weight at a distance, which is 0 from `half` on. */
static const struct filter {
	double half;
	double (*weight)(double distance);
} filters[] = {
	[TN_RESIZE_BILINEAR] = {1, triangle},
	[TN_RESIZE_BICUBIC] = {2, cubic},
};

/* Of old pixel `at`, in a new pixel whose middle is `middle`. */
static double weight_of(const struct filter *filter, uint32_t at, double middle, double scale)
{
	return filter->weight(fabs((at - middle + 0.5) * (1.0 / scale)));
}

static int32_t in_units(double weight)
{
	return (int32_t)((weight < 0 ? -0.5 : 0.5) + weight * (1 << WEIGHT_BITS));
}

static void weigh(struct windows *windows, const struct filter *filter, uint32_t i, uint32_t old)
{
	double scale = (double)old / windows->n, wide = scale < 1 ? 1 : scale;
	double middle = (i + 0.5) * scale, half = filter->half * wide, sum = 0;
	int64_t begin = (int64_t)(middle - half + 0.5), end = (int64_t)(middle + half + 0.5);
	begin = begin < 0 ? 0 : begin;
	end = end > old ? old : end;
	struct window *window = &windows->windows[i];
	*window = (struct window){(uint32_t)begin, (uint32_t)(end - begin)};
	for (uint32_t k = 0; k < window->n; k++)
		sum += weight_of(filter, window->begin + k, middle, wide);
	int32_t *weights = windows->weights + (size_t)i * windows->width;
	for (uint32_t k = 0; k < window->n; k++) {
		double weight = weight_of(filter, window->begin + k, middle, wide);
		weights[k] = in_units(sum != 0 ? weight / sum : weight);
	}
}

/* 0: out of memory. */
static int make_windows(struct windows *windows, const struct filter *filter, uint32_t old,
			uint32_t n)
{
	double scale = (double)old / n;
	windows->n = n;
	windows->width = 2 * (uint32_t)ceil(filter->half * (scale < 1 ? 1 : scale)) + 1;
	windows->windows = tn_mem_zeroed(n, sizeof(*windows->windows));
	windows->weights = tn_mem_zeroed((size_t)n * windows->width, sizeof(*windows->weights));
	if (!windows->windows || !windows->weights)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		weigh(windows, filter, i, old);
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
				*to++ = sum < 0 ? 0 : sum > 255 ? 255 : (uint8_t)sum;
			}
		}
	}
}

tn_status tn_image_resample(const struct tn_image *image, uint32_t width, uint32_t height,
			    uint32_t interpolation, struct tn_image *out,
			    struct tn_error_info *error)
{
	const struct filter *filter = &filters[interpolation];
	struct windows columns = {0}, rows = {0};
	struct tn_image narrow = {0}, result = {0};
	uint32_t channels = image->channels;
	tn_status status =
		tn_image_allocate(&narrow, width, image->height, channels, "resize", error);
	if (!status)
		status = tn_image_allocate(&result, width, height, channels, "resize", error);
	if (!status && (!make_windows(&columns, filter, image->width, width) ||
			!make_windows(&rows, filter, image->height, height)))
		status = tn_no_memory(error, OPERATION, "resize", NULL);
	if (!status) {
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
				  uint32_t interpolation, struct tn_image *out,
				  struct tn_error_info *error)
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
	return tn_image_resample(image, (uint32_t)width, (uint32_t)height, interpolation, out,
				 error);
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
	if (status)
		return status;
	size_t left = margin(image->width, width), top = margin(image->height, height);
	size_t line = (size_t)width * image->channels;
	for (size_t y = 0; y < height; y++)
		memcpy(result.data + y * line,
		       image->data + ((top + y) * image->width + left) * image->channels, line);
	*out = result;
	return TN_OK;
}
