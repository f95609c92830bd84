/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * PBM, PGM and PPM, plain and raw (Netpbm's pages pbm(5), pgm(5) and ppm(5)): P1 and P4 black and
 * white, P2 and P5 grey, P3 and P6 colour.  Guarantees: the file has one image and nothing after
 * it; every sample is at most the stated largest value and is scaled to
 * round(sample * 255 / largest).
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

/* The digits 0, white, and 1, black, with or without space between them. */
static tn_status read_plain_bits(struct text *text, uint8_t *to, size_t n,
				 struct tn_error_info *error)
{
	for (size_t i = 0; i < n; i++) {
		skip_space(text);
		if (text->at >= text->size || text->data[text->at] < '0' ||
		    text->data[text->at] > '1')
			return refuse(text, "a bit", error);
		to[i] = text->data[text->at++] == '1' ? 0 : 255;
	}
	skip_space(text);
	return TN_OK;
}

/* Rows of whole bytes, the first pixel in the highest bit. */
static void read_raw_bits(struct text *text, const struct tn_image *image)
{
	uint8_t *to = image->data;
	for (uint32_t y = 0; y < image->height; y++) {
		const unsigned char *row = text->data + text->at;
		for (uint32_t x = 0; x < image->width; x++)
			*to++ = row[x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
		text->at += (image->width + 7) / 8;
	}
}

/* The fewest bytes that the samples of n pixels take.  A plain sample takes at least one digit and,
 * except for the last and for bits, a space. */
static uint64_t least_bytes(unsigned char kind, uint32_t width, uint32_t height, uint32_t channels,
			    uint32_t largest)
{
	uint64_t n = (uint64_t)width * height * channels;
	if (kind == '1')
		return n;
	if (kind == '4')
		return ((uint64_t)width + 7) / 8 * height;
	return kind >= '5' ? n * (largest > 255 ? 2 : 1) : 2 * n - 1;
}

/* "P5", width, height, largest value (not of bits), one white space. */
static tn_status read_header(struct text *text, uint32_t *largest, struct tn_image *image,
			     struct tn_error_info *error)
{
	uint32_t width, height;
	unsigned char kind = text->data[1];
	int has_bits = kind == '1' || kind == '4';
	text->at = 1;
	if (kind < '1' || kind > '6')
		return refuse(text, "P1 to P6", error);
	text->at = 2;
	if (text->size < 3 || (!is_space(text->data[2]) && text->data[2] != '#'))
		return refuse(text, "white space", error);
	tn_status status = read_number(text, "a width", 99999999, &width, error);
	if (!status)
		status = read_number(text, "a height", 99999999, &height, error);
	*largest = 1;
	if (!status && !has_bits)
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
	uint32_t channels = kind == '3' || kind == '6' ? 3 : 1;
	uint64_t needed = least_bytes(kind, width, height, channels, *largest);
	uint64_t found = text->size - text->at;
	if (width && height && found < needed)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %zu: expected %s%llu bytes of samples, found %llu",
			       tn_file_label(text->path), text->at, kind >= '4' ? "" : "at least ",
			       (unsigned long long)needed, (unsigned long long)found);
	return tn_image_allocate(image, width, height, channels, tn_file_label(text->path), error);
}

static tn_status read_samples(struct text *text, uint32_t largest, const struct tn_image *image,
			      struct tn_error_info *error)
{
	size_t n = (size_t)image->width * image->height * image->channels;
	switch (text->data[1]) {
	case '1':
		return read_plain_bits(text, image->data, n, error);
	case '4':
		read_raw_bits(text, image);
		return TN_OK;
	case '2':
	case '3':
		return read_plain(text, largest, image->data, n, error);
	}
	return read_raw(text, largest, image->data, n, error);
}

tn_status tn_pnm_read(const struct tn_file *file, struct tn_image *out, struct tn_error_info *error)
{
	unsigned char *data = NULL;
	tn_status status = tn_file_read_whole(file, MAX_FILE, &data, error);
	if (status)
		return status;
	struct text text = {.path = file->path, .data = data, .size = (size_t)file->size};
	uint32_t largest = 0;
	status = read_header(&text, &largest, out, error);
	if (!status)
		status = read_samples(&text, largest, out, error);
	if (!status && text.at != text.size)
		status = refuse(&text, "the end of the file", error);
	tn_mem_free(data);
	if (status)
		tn_image_release(out);
	return status;
}
