/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The formats of inputs, and their line of JSON in a saved network.  Guarantees: parsing the
 * printed text gives the same bits.
 */
#include "data/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/backend.h>

#include "base/answer.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/dataset.h"

#define OPERATION "input format"

static const char type[] = "struct tn_input_format";

tn_status tn_input_format_take(struct tn_input_format *own, const struct tn_input_format *given,
			       struct tn_error_info *error)
{
	*own = tn_input_format_defaults();
	return tn_options_take(own, sizeof(*own), given, type, OPERATION, error);
}

tn_status tn_input_format_check_interpolation(uint32_t interpolation, struct tn_error_info *error)
{
	if (interpolation <= TN_RESIZE_BICUBIC)
		return TN_OK;
	return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
		       "interpolation: expected TN_RESIZE_BILINEAR or TN_RESIZE_BICUBIC, found %u",
		       interpolation);
}

tn_status tn_input_format_copy(struct tn_input_format *out, const struct tn_input_format *format,
			       struct tn_error_info *error)
{
	return tn_answer(out, format, sizeof(*format), type, OPERATION, error);
}

tn_status tn_input_format_imagenet(struct tn_input_format *out, struct tn_error_info *error)
{
	const struct tn_input_format format = {
		.struct_size = sizeof(format),
		.channels = 3,
		.height = 224,
		.width = 224,
		.source_height = 224,
		.source_width = 224,
		.zoom = 1,
		.scale = 255,
		.mean = {0.485f, 0.456f, 0.406f},
		.deviation = {0.229f, 0.224f, 0.225f},
		.n_classes = 1000,
		.resize = 256,
	};
	return tn_input_format_copy(out, &format, error);
}

/* ---- As text -------------------------------------------------------------------------------- */

/* The whole numbers of the struct, by key. */
static const struct {
	const char *key;
	size_t offset;
	uint32_t least;
	uint32_t most;
} numbers[] = {
	{.key = "channels",
	 .offset = offsetof(struct tn_input_format, channels),
	 .least = 1,
	 .most = TN_MAX_CHANNELS},
	{.key = "height",
	 .offset = offsetof(struct tn_input_format, height),
	 .least = 1,
	 .most = TN_IMAGE_MAX_SIDE},
	{.key = "width",
	 .offset = offsetof(struct tn_input_format, width),
	 .least = 1,
	 .most = TN_IMAGE_MAX_SIDE},
	{.key = "source_height",
	 .offset = offsetof(struct tn_input_format, source_height),
	 .least = 1,
	 .most = TN_IMAGE_MAX_SIDE},
	{.key = "source_width",
	 .offset = offsetof(struct tn_input_format, source_width),
	 .least = 1,
	 .most = TN_IMAGE_MAX_SIDE},
	{.key = "zoom",
	 .offset = offsetof(struct tn_input_format, zoom),
	 .least = 1,
	 .most = TN_IMAGE_MAX_SIDE},
	{.key = "border",
	 .offset = offsetof(struct tn_input_format, border),
	 .most = TN_IMAGE_MAX_SIDE},
	{.key = "n_classes",
	 .offset = offsetof(struct tn_input_format, n_classes),
	 .least = 1,
	 .most = INT32_MAX},
	/* Last, and left out where 0, as in the texts of networks saved before they were. */
	{.key = "resize",
	 .offset = offsetof(struct tn_input_format, resize),
	 .most = TN_IMAGE_MAX_SIDE},
	{.key = "interpolation",
	 .offset = offsetof(struct tn_input_format, interpolation),
	 .most = TN_RESIZE_BICUBIC},
};
#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* The places in `numbers`, and those of the other keys after them. */
enum { RESIZE = N_NUMBERS - 2, SCALE = N_NUMBERS, MEAN, DEVIATION };

/* Nine digits, enough to distinguish every f32, with a fraction or an exponent, and no leading
 * zeros in the exponent. */
static void add_float(struct tn_json_writer *json, const char *key, float value)
{
	char digits[TN_JSON_NUMBER_SIZE], text[TN_JSON_NUMBER_SIZE + 2];
	if (!isfinite(value)) {
		json->text.failed = 1;
		return;
	}
	tn_json_number_text(digits, (double)value, 9);
	size_t length = strcspn(digits, "e");
	const char *exponent = digits + length;
	if (*exponent)
		snprintf(text, sizeof(text), "%.*se%s%s", (int)length, digits,
			 exponent[1] == '-' ? "-" : "", exponent + 2 + strspn(exponent + 2, "0"));
	else
		snprintf(text, sizeof(text), "%s%s", digits, strchr(digits, '.') ? "" : ".0");
	tn_json_add_raw(json, key, text);
}

static void add_floats(struct tn_json_writer *json, const char *key, const float *values,
		       uint32_t n)
{
	tn_json_begin_array(json, key);
	for (uint32_t i = 0; i < n; i++)
		add_float(json, NULL, values[i]);
	tn_json_end(json);
}

char *tn_input_format_text(const struct tn_input_format *given)
{
	struct tn_input_format own, *format = &own;
	struct tn_json_writer json;
	if (tn_input_format_take(&own, given, NULL))
		return NULL;
	tn_json_writer_init(&json, TN_JSON_PACKED);
	tn_json_begin_object(&json, NULL);
	for (size_t i = 0; i < N_NUMBERS; i++) {
		uint32_t value;
		memcpy(&value, (const char *)format + numbers[i].offset, sizeof(value));
		if (i < RESIZE || value != 0)
			tn_json_add_unsigned(&json, numbers[i].key, value);
	}
	add_float(&json, "scale", format->scale);
	add_floats(&json, "mean", format->mean, format->channels);
	add_floats(&json, "deviation", format->deviation, format->channels);
	tn_json_end(&json);
	return tn_json_writer_take(&json);
}

/* The state of parsing a text. */
struct reading {
	struct tn_json_reader reader;
	struct tn_input_format format;
	unsigned seen;      /* bit i: numbers[i]; then the bits of SCALE, MEAN and DEVIATION */
	uint32_t counts[2]; /* lengths of mean and deviation */
};

/* A finite number, positive if requested. */
static tn_status take_float(struct reading *reading, const char *key, int positive, float *value,
			    struct tn_error_info *error)
{
	double number = NAN;
	char byte = tn_json_peek(&reading->reader);
	tn_status status = TN_OK;
	if (byte == '-' || (byte >= '0' && byte <= '9'))
		status = tn_json_number(&reading->reader, &number, error);
	if (status)
		return status;
	*value = (float)number;
	if (!isfinite(*value) || (positive && !(*value > 0)))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "key \"%s\": expected a %sfinite number, found another value", key,
			       positive ? "positive " : "");
	return TN_OK;
}

/* An array of any length up to the maximum; the length is checked at the end. */
static tn_status take_floats(struct reading *reading, const char *key, int positive, float *values,
			     uint32_t *count, struct tn_error_info *error)
{
	int more = 1;
	if (tn_json_peek(&reading->reader) != '[')
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "key \"%s\": expected an array of numbers, found another value",
			       key);
	reading->reader.at++;
	for (uint32_t n = 0;; n++) {
		float value = 0;
		tn_status status = tn_json_more(&reading->reader, ']', n, &more, error);
		*count = n;
		if (!status && !more)
			return TN_OK;
		if (!status && n == TN_MAX_CHANNELS)
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "key \"%s\": expected at most %d numbers, found more", key,
				       TN_MAX_CHANNELS);
		if (!status)
			status = take_float(reading, key, positive, &value, error);
		if (status)
			return status;
		values[n] = value;
	}
}

/* The number of a key; -1: unknown. */
static int key_number(const char *key)
{
	static const char *const others[] = {"scale", "mean", "deviation"};
	for (size_t i = 0; i < N_NUMBERS; i++) {
		if (!strcmp(key, numbers[i].key))
			return (int)i;
	}
	for (size_t i = 0; i < 3; i++) {
		if (!strcmp(key, others[i]))
			return (int)(SCALE + i);
	}
	return -1;
}

/* One key and its value; an unknown key is skipped. */
static tn_status take_item(struct reading *reading, struct tn_error_info *error)
{
	char *key;
	struct tn_input_format *format = &reading->format;
	tn_status status = tn_json_key(&reading->reader, &key, error);
	if (status)
		return status;
	int number = key_number(key);
	if (number < 0)
		return tn_json_skip(&reading->reader, error);
	if (reading->seen >> number & 1)
		return tn_fail(error, TN_FORMAT, OPERATION, "key \"%s\" occurs twice", key);
	reading->seen |= 1u << number;
	switch (number) {
	case SCALE:
		return take_float(reading, key, 1, &format->scale, error);
	case MEAN:
		return take_floats(reading, key, 0, format->mean, &reading->counts[0], error);
	case DEVIATION:
		return take_floats(reading, key, 1, format->deviation, &reading->counts[1], error);
	}
	double value = -1;
	char byte = tn_json_peek(&reading->reader);
	if (byte == '-' || (byte >= '0' && byte <= '9'))
		status = tn_json_number(&reading->reader, &value, error);
	if (status)
		return status;
	uint32_t least = numbers[number].least, most = numbers[number].most;
	if (!(value >= least && value <= most) || value != floor(value))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "key \"%s\": expected a number from %u to %u, found another value",
			       key, least, most);
	uint32_t whole = (uint32_t)value;
	memcpy((char *)format + numbers[number].offset, &whole, sizeof(whole));
	return TN_OK;
}

/* Checks that every key but "resize" and "interpolation" is present, that mean and deviation have a
 * number for each channel, and that the sizes agree. */
static tn_status check_format(const struct reading *reading, struct tn_error_info *error)
{
	static const char *const lists[] = {"mean", "deviation"};
	const struct tn_input_format *format = &reading->format;
	for (size_t i = 0; i < N_NUMBERS; i++) {
		if (i < RESIZE && !(reading->seen >> i & 1))
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "key \"%s\": expected a number from %u to %u, found none",
				       numbers[i].key, numbers[i].least, numbers[i].most);
	}
	if (!(reading->seen >> SCALE & 1))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "key \"scale\": expected a positive finite number, found none");
	for (int i = 0; i < 2; i++) {
		if (reading->counts[i] != format->channels)
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "key \"%s\": expected an array of %u numbers, found %u",
				       lists[i], format->channels, reading->counts[i]);
	}
	if (format->resize && (format->resize < format->height || format->resize < format->width))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "key \"resize\": expected at least height x width, %u x %u, found "
			       "%u",
			       format->height, format->width, format->resize);
	if (format->resize && (format->zoom != 1 || format->border != 0))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "key \"resize\": expected zoom 1 and border 0 with it, found %u and "
			       "%u",
			       format->zoom, format->border);
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

tn_status tn_input_format_parse(const char *text, struct tn_input_format *out,
				struct tn_error_info *error)
{
	struct reading reading = {.format = {.struct_size = sizeof(reading.format)}};
	tn_status status = tn_answer_check(out, sizeof(*out), type, OPERATION, error);
	if (status)
		return status;
	if (!text)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "text is NULL");
	/* The reader modifies the text. */
	char *copy = tn_mem_copy_string(text);
	if (!copy)
		return tn_no_memory(error, OPERATION, NULL, "the text");
	reading.reader = (struct tn_json_reader){
		.text = copy, .size = strlen(copy), .operation = OPERATION, .where = "text"};
	int more = 1;
	status = tn_json_take(&reading.reader, '{', "'{'", error);
	for (size_t n = 0; !status && more; n++) {
		status = tn_json_more(&reading.reader, '}', n, &more, error);
		if (!status && more)
			status = take_item(&reading, error);
	}
	if (!status)
		status = tn_json_finish(&reading.reader, error);
	if (!status)
		status = check_format(&reading, error);
	tn_mem_free(copy);
	return status ? status : tn_input_format_copy(out, &reading.format, error);
}
