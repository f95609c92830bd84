/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * PGM and PPM, plain and raw (Netpbm's pages pgm(5) and ppm(5)): P2 and P5 grey, P3 and P6 colour.
 * Guarantees: the file has one image and nothing after it; every sample is at most the stated
 * largest value and is scaled to round(sample * 255 / largest).
 */
#include "io/pnm.h"

#include "io/image.h"

#include "base/error.h"
#include "base/memory.h"

#define OPERATION TN_IMAGE_OPERATION

/* The size of the largest allowed raw image of 16 bits and three channels, and its header. */
#define MAX_FILE (6 * (uint64_t)TN_IMAGE_MAX_PIXELS + 65536)

struct text {
	const char *path;
	const unsigned char *data;
	size_t size;
	size_t at;
};

static tn_status refuse(const struct text *text, const char *expected, struct tn_error_info *error)
{
	const char *path = tn_file_label(text->path);
	if (text->at >= text->size)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %zu: expected %s, found the end of the file", path,
			       text->at, expected);
	return tn_fail(error, TN_FORMAT, OPERATION, "%s: offset %zu: expected %s, found byte %02x",
		       path, text->at, expected, text->data[text->at]);
}

static int is_space(unsigned char byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Skips white space and comments (# to the end of the line, a line feed or carriage return). */
static void skip_space(struct text *text)
{
	while (text->at < text->size) {
		if (text->data[text->at] == '#') {
			while (text->at < text->size && text->data[text->at] != '\n' &&
			       text->data[text->at] != '\r')
				text->at++;
		} else if (is_space(text->data[text->at])) {
			text->at++;
		} else {
			return;
		}
	}
}

/* A decimal number from 0 to `most`. */
static tn_status read_number(struct text *text, const char *what, uint32_t most, uint32_t *number,
			     struct tn_error_info *error)
{
	uint32_t value = 0;
	skip_space(text);
	size_t begin = text->at;
	while (text->at < text->size && text->data[text->at] >= '0' &&
	       text->data[text->at] <= '9') {
		value = value * 10 + (text->data[text->at] - '0');
		if (value > most)
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: offset %zu: expected %s of at most %u, found more",
				       tn_file_label(text->path), begin, what, most);
		text->at++;
	}
	if (text->at == begin)
		return refuse(text, what, error);
	*number = value;
	return TN_OK;
}

static uint8_t scale(uint32_t sample, uint32_t largest)
{
	return (uint8_t)((sample * 255u + largest / 2) / largest);
}

static tn_status read_plain(struct text *text, uint32_t largest, uint8_t *to, size_t n,
			    struct tn_error_info *error)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t sample;
		tn_status status = read_number(text, "a sample", largest, &sample, error);
		if (status)
			return status;
		to[i] = scale(sample, largest);
	}
	skip_space(text);
	return TN_OK;
}

static tn_status read_raw(struct text *text, uint32_t largest, uint8_t *to, size_t n,
			  struct tn_error_info *error)
{
	size_t bytes = largest > 255 ? 2 : 1;
	for (size_t i = 0; i < n; i++, text->at += bytes) {
		uint32_t sample = text->data[text->at];
		if (bytes == 2)
			sample = sample << 8 | text->data[text->at + 1];
		if (sample > largest)
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: offset %zu: expected a sample of at most %u, found %u",
				       tn_file_label(text->path), text->at, largest, sample);
		to[i] = scale(sample, largest);
	}
	return TN_OK;
}

/* "P5", width, height, largest value, one white space. */
static tn_status read_header(struct text *text, int *raw, uint32_t *largest, struct tn_image *image,
			     struct tn_error_info *error)
{
	uint32_t width, height;
	unsigned char kind = text->data[1];
	text->at = 1;
	if (kind != '2' && kind != '3' && kind != '5' && kind != '6')
		return refuse(text, "P2, P3, P5 or P6", error);
	text->at = 2;
	if (text->size < 3 || (!is_space(text->data[2]) && text->data[2] != '#'))
		return refuse(text, "white space", error);
	tn_status status = read_number(text, "a width", 99999999, &width, error);
	if (!status)
		status = read_number(text, "a height", 99999999, &height, error);
	if (!status)
		status = read_number(text, "a largest value", 65535, largest, error);
	if (status)
		return status;
	if (*largest == 0)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %zu: expected a largest value from 1 to 65535, found 0",
			       tn_file_label(text->path), text->at - 1);
	if (text->at >= text->size || !is_space(text->data[text->at]))
		return refuse(text, "white space", error);
	text->at++;
	*raw = kind >= '5';
	uint32_t channels = kind == '3' || kind == '6' ? 3 : 1;
	/* A plain sample takes at least one digit and, except for the last, a space. */
	uint64_t n = (uint64_t)width * height * channels;
	uint64_t needed = *raw ? n * (*largest > 255 ? 2 : 1) : 2 * n - 1;
	uint64_t found = text->size - text->at;
	if (n != 0 && found < needed)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %zu: expected %s%llu bytes of samples, found %llu",
			       tn_file_label(text->path), text->at, *raw ? "" : "at least ",
			       (unsigned long long)needed, (unsigned long long)found);
	return tn_image_allocate(image, width, height, channels, tn_file_label(text->path), error);
}

tn_status tn_pnm_read(const struct tn_file *file, struct tn_image *out, struct tn_error_info *error)
{
	unsigned char *data = NULL;
	tn_status status = tn_file_read_whole(file, MAX_FILE, &data, error);
	if (status)
		return status;
	struct text text = {.path = file->path, .data = data, .size = (size_t)file->size};
	int raw = 0;
	uint32_t largest = 0;
	status = read_header(&text, &raw, &largest, out, error);
	size_t n = !status ? (size_t)out->width * out->height * out->channels : 0;
	if (!status)
		status = raw ? read_raw(&text, largest, out->data, n, error)
			     : read_plain(&text, largest, out->data, n, error);
	if (!status && text.at != text.size)
		status = refuse(&text, "the end of the file", error);
	tn_mem_free(data);
	if (status)
		tn_image_release(out);
	return status;
}
