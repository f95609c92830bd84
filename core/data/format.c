/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How pictures become inputs, in training and in prediction; and the line of JSON that a saved
 * network carries.  Guarantees: what is parsed back equals what was printed to the bit.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "io/json_limits.h"

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

/* ---- Applying it ---------------------------------------------------------------------------- */

/* The picture with the format's channels, inverted if asked, rows of interleaved channels. */
static tn_status bring_channels(const struct tn_input_format *format, const struct tn_image *image,
				int invert, struct tn_image *out, struct tn_error_info *error)
{
	if (format->channels != 1 && format->channels != 3)
		return tn_fail(error, TN_UNSUPPORTED, OPERATION,
			       "expected a network of 1 or 3 channels, found %u", format->channels);
	tn_status status = tn_image_convert(image, format->channels, invert ? 255 : 0, out, error);
	if (status != TN_OK || !invert)
		return status;
	size_t n = (size_t)out->width * out->height * out->channels;
	for (size_t i = 0; i < n; i++)
		out->data[i] = (uint8_t)(255 - out->data[i]);
	return TN_OK;
}

/* Source size, exactly: zoom and border; any other: resize to the fed size.  Replaces *image. */
static tn_status bring_size(const struct tn_input_format *format, struct tn_image *image,
			    int *enlarge, struct tn_error_info *error)
{
	struct tn_image resized;
	*enlarge = image->width == format->source_width && image->height == format->source_height;
	if (*enlarge || (image->width == format->width && image->height == format->height))
		return TN_OK;
	tn_status status = tn_image_resize(image, format->width, format->height, &resized, error);
	if (status != TN_OK)
		return status;
	tn_image_release(image);
	*image = resized;
	return TN_OK;
}

/* Channel c of the picture as a plane of fed size. */
static void take_plane(const struct tn_input_format *format, const struct tn_image *image,
		       int enlarge, uint32_t c, uint8_t *plane, uint8_t *fed)
{
	size_t n = (size_t)image->width * image->height;
	uint8_t *to = enlarge ? plane : fed;
	for (size_t i = 0; i < n; i++)
		to[i] = image->data[i * image->channels + c];
	if (enlarge)
		tn_enlarge_plane(format, plane, fed);
}

static tn_status normalise(const struct tn_input_format *format, const struct tn_image *image,
			   int enlarge, float *out, struct tn_error_info *error)
{
	size_t n = (size_t)format->height * format->width;
	uint8_t *plane = tn_mem_alloc((size_t)image->width * image->height);
	uint8_t *fed = tn_mem_alloc(n);
	if (plane && fed) {
		for (uint32_t c = 0; c < format->channels; c++) {
			take_plane(format, image, enlarge, c, plane, fed);
			for (size_t i = 0; i < n; i++)
				out[c * n + i] = ((float)fed[i] / 255.0f - format->mean[c]) /
						 format->deviation[c];
		}
	}
	int failed = !plane || !fed;
	tn_mem_free(plane);
	tn_mem_free(fed);
	return failed ? tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no memory for a picture")
		      : TN_OK;
}

tn_status tn_input_format_apply(const struct tn_input_format *format, const struct tn_image *image,
				int invert, float *out, struct tn_error_info *error)
{
	struct tn_image picture = {0};
	int enlarge = 0;
	tn_status status = bring_channels(format, image, invert, &picture, error);
	if (status == TN_OK)
		status = bring_size(format, &picture, &enlarge, error);
	if (status == TN_OK)
		status = normalise(format, &picture, enlarge, out, error);
	tn_image_release(&picture);
	return status;
}

/* ---- As text -------------------------------------------------------------------------------- */

/* The whole numbers of the struct, by key. */
static const struct {
	const char *key;
	size_t offset;
	uint32_t least;
	uint32_t most;
} numbers[] = {
	{"channels", offsetof(struct tn_input_format, channels), 1, TN_MAX_CHANNELS},
	{"height", offsetof(struct tn_input_format, height), 1, TN_IMAGE_MAX_SIDE},
	{"width", offsetof(struct tn_input_format, width), 1, TN_IMAGE_MAX_SIDE},
	{"source_height", offsetof(struct tn_input_format, source_height), 1, TN_IMAGE_MAX_SIDE},
	{"source_width", offsetof(struct tn_input_format, source_width), 1, TN_IMAGE_MAX_SIDE},
	{"zoom", offsetof(struct tn_input_format, zoom), 1, TN_IMAGE_MAX_SIDE},
	{"border", offsetof(struct tn_input_format, border), 0, TN_IMAGE_MAX_SIDE},
	{"n_classes", offsetof(struct tn_input_format, n_classes), 1, INT32_MAX},
};
#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static json_t *floats_to_json(const float *values, uint32_t n)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < n; i++) {
		if (json_array_append_new(array, json_real(values[i]))) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *to_json(const struct tn_input_format *format)
{
	json_t *object = json_object();
	int failed = 0;
	for (size_t i = 0; i < N_NUMBERS; i++) {
		uint32_t value;
		memcpy(&value, (const char *)format + numbers[i].offset, sizeof(value));
		failed |= json_object_set_new(object, numbers[i].key, json_integer(value));
	}
	failed |= json_object_set_new(object, "scale", json_real(format->scale));
	failed |=
		json_object_set_new(object, "mean", floats_to_json(format->mean, format->channels));
	failed |= json_object_set_new(object, "deviation",
				      floats_to_json(format->deviation, format->channels));
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

char *tn_input_format_text(const struct tn_input_format *format)
{
	/* Nine digits tell every f32 from its neighbours. */
	size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(9);
	json_t *object = to_json(format);
	if (!object)
		return NULL;
	size_t size = json_dumpb(object, NULL, 0, flags);
	char *text = tn_mem_alloc(size + 1);
	if (text) {
		json_dumpb(object, text, size, flags);
		text[size] = '\0';
	}
	json_decref(object);
	return text;
}

void tn_data_text_free(char *text)
{
	tn_mem_free(text);
}

static tn_status get_numbers(const json_t *object, struct tn_input_format *format,
			     struct tn_error_info *error)
{
	for (size_t i = 0; i < N_NUMBERS; i++) {
		const json_t *item = json_object_get(object, numbers[i].key);
		json_int_t value = json_integer_value(item);
		if (!json_is_integer(item) || value < numbers[i].least || value > numbers[i].most)
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "key \"%s\": expected a number from %u to %u, found %s",
				       numbers[i].key, numbers[i].least, numbers[i].most,
				       !item ? "none" : "something else");
		uint32_t number = (uint32_t)value;
		memcpy((char *)format + numbers[i].offset, &number, sizeof(number));
	}
	return TN_OK;
}

/* Finite, and positive when asked. */
static tn_status get_float(const json_t *item, const char *key, int positive, float *value,
			   struct tn_error_info *error)
{
	*value = (float)json_number_value(item);
	if (!json_is_number(item) || !isfinite(*value) || (positive && !(*value > 0)))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "key \"%s\": expected a %sfinite number, found something else", key,
			       positive ? "positive " : "");
	return TN_OK;
}

static tn_status get_floats(const json_t *object, const char *key, uint32_t n, int positive,
			    float *values, struct tn_error_info *error)
{
	const json_t *array = json_object_get(object, key);
	if (!json_is_array(array) || json_array_size(array) != n)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "key \"%s\": expected an array of %u numbers, found something else",
			       key, n);
	for (uint32_t i = 0; i < n; i++) {
		tn_status status =
			get_float(json_array_get(array, i), key, positive, &values[i], error);
		if (status != TN_OK)
			return status;
	}
	return TN_OK;
}

static tn_status check_sides(const struct tn_input_format *format, struct tn_error_info *error)
{
	uint64_t height = (uint64_t)format->source_height * format->zoom + 2ull * format->border;
	uint64_t width = (uint64_t)format->source_width * format->zoom + 2ull * format->border;
	if (height == format->height && width == format->width)
		return TN_OK;
	return tn_fail(
		error, TN_FORMAT, OPERATION,
		"expected source size x zoom + 2 border = %llu x %llu, found height x width = "
		"%u x %u",
		(unsigned long long)height, (unsigned long long)width, format->height,
		format->width);
}

static tn_status from_json(const json_t *object, struct tn_input_format *format,
			   struct tn_error_info *error)
{
	tn_status status = get_numbers(object, format, error);
	if (status == TN_OK)
		status = check_sides(format, error);
	if (status == TN_OK)
		status = get_float(json_object_get(object, "scale"), "scale", 1, &format->scale,
				   error);
	if (status == TN_OK)
		status = get_floats(object, "mean", format->channels, 0, format->mean, error);
	if (status == TN_OK)
		status = get_floats(object, "deviation", format->channels, 1, format->deviation,
				    error);
	return status;
}

tn_status tn_input_format_parse(const char *text, struct tn_input_format *out,
				struct tn_error_info *error)
{
	static const struct tn_json_limits limits = {
		.depth = 2, .commas = {0, 64, 64}, .innermost = 64};
	struct tn_input_format format = {.struct_size = sizeof(format)};
	json_error_t wrong;
	size_t size = strlen(text);
	tn_status status = tn_json_check(text, size, &limits, OPERATION, "text", 0, error);
	if (status != TN_OK)
		return status;
	json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &wrong);
	if (!object)
		return tn_fail(error, TN_FORMAT, OPERATION, "offset %d: expected JSON, found: %s",
			       wrong.position, wrong.text);
	status = from_json(object, &format, error);
	json_decref(object);
	if (status == TN_OK)
		*out = format;
	return status;
}
