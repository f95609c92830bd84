/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pictures in PNG and the PNM formats: read, written, scaled, and refused when malformed.
 */
#include "config.h"

#include <tenon/io.h>

#include "io_spoil.h"

static void refused(const char *path, tn_status expected, const char *part)
{
	spoil_refused(spoil_read_image, path, expected, part);
}

static void read_as(const char *bytes, size_t size, uint32_t width, uint32_t height,
		    uint32_t channels, const char *pixels)
{
	struct tn_image image;
	const char *path = files_path(folder, "image.pnm");
	files_write(path, bytes, size);
	assert_ok(tn_image_read(path, &image, NULL));
	assert_int_equal(image.width, width);
	assert_int_equal(image.height, height);
	assert_int_equal(image.channels, channels);
	assert_memory_equal(image.data, pixels, (size_t)width * height * channels);
	tn_image_release(&image);
	assert_null(image.data);
}

#define READ(text, width, height, channels, pixels)                                                \
	read_as(text, sizeof(text) - 1, width, height, channels, pixels)

static void grey_and_colour_plain_and_raw_are_read(void **state)
{
	(void)state;
	READ("P5\n2 1\n255\n\x01\xff", 2, 1, 1, "\x01\xff");
	READ("P6 1 2 255\nabcdef", 1, 2, 3, "abcdef");
	READ("P2 2 2 255 0 1 2 255\n", 2, 2, 1, "\0\1\2\xff");
	READ("P3\n# a comment\n1 1 # and another\n255\n7 8 9", 1, 1, 3, "\7\x08\x09");
	READ("P5 2 1 15\n\0\x0f", 2, 1, 1, "\0\xff");
	READ("P5 3 1 65535\n\0\0\x80\0\xff\xff", 3, 1, 1, "\0\x80\xff");
	READ("P2 3 1 16 0 8 16", 3, 1, 1, "\0\x80\xff");
	READ("P1 3 2 1 0 1\n011", 3, 2, 1, "\0\xff\0\xff\0\0");
	READ("P1\r# a comment\r2 1\r01\r", 2, 1, 1, "\xff\0");
	READ("P4 9 2\n\x7f\x80\xff\x7f", 9, 2, 1, "\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff");
}

static void malformed_pnm_is_refused_by_name(void **state)
{
	(void)state;
	static const struct spoil_case cases[] = {
		{"", 0, TN_FORMAT, "offset 0: expected 2 more bytes"},
		{"GIF", 3, TN_FORMAT,
		 "offset 0: expected a PNG, JPEG, PBM, PGM or PPM image, found the bytes "
		 "47 49"},
		{"P7 ", 3, TN_FORMAT, "offset 1: expected P1 to P6, found byte 37"},
		{"P5", 2, TN_FORMAT, "offset 2: expected white space"},
		{"P55 1 1", 7, TN_FORMAT, "offset 2: expected white space, found byte 35"},
		{"P5 ", 3, TN_FORMAT, "offset 3: expected a width, found the end of the file"},
		{"P5 x", 4, TN_FORMAT, "offset 3: expected a width, found byte 78"},
		{"P5 1 -1 255\nx", 13, TN_FORMAT, "offset 5: expected a height, found byte 2d"},
		{"P5 1 1 65536\nx", 14, TN_FORMAT, "a largest value of at most 65535"},
		{"P5 1 1 0\nx", 10, TN_FORMAT, "from 1 to 65535, found 0"},
		{"P5 1 1 255", 10, TN_FORMAT, "offset 10: expected white space"},
		{"P1 2 1\n0", 8, TN_FORMAT, "expected at least 2 bytes of samples, found 1"},
		{"P1 2 1\n0 ", 9, TN_FORMAT, "offset 9: expected a bit, found the end"},
		{"P1 2 1\n02", 9, TN_FORMAT, "offset 8: expected a bit, found byte 32"},
		{"P1 1 1\n0 1", 10, TN_FORMAT, "offset 9: expected the end of the file"},
		{"P4 9 1\n\0", 8, TN_FORMAT, "expected 2 bytes of samples, found 1"},
		{"P4 1 1\n\0\0", 9, TN_FORMAT, "offset 8: expected the end of the file"},
		{"P5 0 1 255\n", 11, TN_FORMAT, "expected sides of at least 1, found 0 x 1"},
		{"P5 2 1 255\nx", 12, TN_FORMAT, "offset 11: expected 2 bytes of samples, found 1"},
		{"P5 2 1 65535\n\0\1", 15, TN_FORMAT,
		 "offset 13: expected 4 bytes of samples, found 2"},
		{"P5 2 1 65535\n\0\1\0", 16, TN_FORMAT,
		 "offset 13: expected 4 bytes of samples, found 3"},
		{"P6 1 1 256\nabc", 14, TN_FORMAT,
		 "offset 11: expected 6 bytes of samples, found 3"},
		{"P5 1 1 255\nxy", 13, TN_FORMAT, "offset 12: expected the end of the file"},
		{"P5 1 1 7\n\x08", 10, TN_FORMAT, "expected a sample of at most 7, found 8"},
		{"P2 1 1 7 8", 10, TN_FORMAT, "offset 9: expected a sample of at most 7"},
		{"P2 2 1 7 1 ", 11, TN_FORMAT, "expected at least 3 bytes of samples, found 2"},
		{"P2 1 1 7 1 1", 12, TN_FORMAT, "offset 11: expected the end of the file"},
		{"P5 99999999 99999999 255\n", 25, TN_FORMAT, "bytes of samples, found 0"},
		{"P5 999999999 1 255\n", 19, TN_FORMAT, "a width of at most 99999999"},
	};
	spoil_malformed(spoil_read_image, "bad.pnm", cases, sizeof(cases) / sizeof(cases[0]));
}

static void every_truncation_of_a_pnm_is_refused(void **state)
{
	(void)state;
	spoil_truncations(spoil_read_image, "cut.pgm", "P5\n2 2\n255\nabcd", 0, 15, "expected ");
	/* Without the last digit the sample is 1. */
	spoil_truncations(spoil_read_image, "cut.ppm", "P3 1 1 255 7 8 12", 0, 16, "expected ");
}

static void an_image_above_the_limits_is_refused(void **state)
{
	(void)state;
	size_t size = 32769 + 17;
	char *bytes = calloc(size, 1);
	const char *path = files_path(folder, "wide.pnm");
	memcpy(bytes, "P5 32769 1 255\n", 15);
	files_write(path, bytes, 15 + 32769);
	free(bytes);
	refused(path, TN_LIMIT, "found 32769 x 1");
}

#ifdef HAVE_LIBPNG

static void every_kind_of_image_is_written_and_read_back(void **state)
{
	(void)state;
	uint8_t pixels[3 * 2 * 4];
	const char *path = files_path(folder, "written.png");
	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (uint8_t)(i * 37 + 11);
	for (uint32_t channels = 1; channels <= 4; channels++) {
		struct tn_image back,
			image = {.width = 3, .height = 2, .channels = channels, .data = pixels};
		assert_ok(tn_image_write(path, &image, NULL));
		assert_ok(tn_image_read(path, &back, NULL));
		assert_int_equal(back.width, 3);
		assert_int_equal(back.height, 2);
		assert_int_equal(back.channels, channels);
		assert_memory_equal(back.data, pixels, 6 * channels);
		tn_image_release(&back);
	}
	struct tn_image none = {.width = 0};
	assert_status(tn_image_write(path, &none, NULL), TN_INVALID_ARGUMENT);
}

static const char *write_png(size_t *size, unsigned char **bytes)
{
	uint8_t pixels[64] = {1, 2, 3};
	struct tn_image image = {.width = 8, .height = 8, .channels = 1, .data = pixels};
	const char *path = files_path(folder, "whole.png");
	assert_ok(tn_image_write(path, &image, NULL));
	*bytes = files_read(path, size);
	return path;
}

static void every_truncation_of_a_png_is_refused(void **state)
{
	(void)state;
	size_t size;
	unsigned char *bytes;
	const char *path = write_png(&size, &bytes);
	/* The last chunk, IEND, is 12 bytes: libpng reads the picture without it. */
	spoil_truncations(spoil_read_image, "cut.png", bytes, 2, size - 12,
			  "expected a PNG image, found: ");
	files_write(path, bytes, 50);
	refused(path, TN_FORMAT, "(in a file of 50 bytes)");
	free(bytes);
}

static void damage_in_a_png_is_refused(void **state)
{
	(void)state;
	size_t size;
	unsigned char *bytes;
	const char *path = write_png(&size, &bytes);
	bytes[18] ^= 1; /* the width */
	files_write(path, bytes, size);
	refused(path, TN_FORMAT, "CRC error");
	free(bytes);
}

/* Appends a chunk of `n` bytes with a wrong CRC, about which libpng would warn. */
static size_t put_chunk(unsigned char *to, const char *type, const void *data, size_t n)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(n >> (24 - 8 * i));
	memcpy(to + 4, type, 4);
	memcpy(to + 8, data, n);
	memcpy(to + 8 + n, "\1\2\3\4", 4);
	return n + 12;
}

static void chunks_that_do_not_change_the_picture_are_passed_over(void **state)
{
	(void)state;
	size_t size;
	unsigned char *bytes;
	const char *path = write_png(&size, &bytes);
	unsigned char *longer = malloc(size + 1000);
	struct tn_image image;
	/* After the signature and the header. */
	memcpy(longer, bytes, 33);
	size_t to = 33;
	for (int i = 0; i < 10; i++) {
		to += put_chunk(longer + to, "zTXt", "Comment\0\0junk", 13);
		to += put_chunk(longer + to, "abCd", "", 0);
	}
	memcpy(longer + to, bytes + 33, size - 33);
	files_write(path, longer, to + size - 33);
	assert_ok(tn_image_read(path, &image, NULL));
	assert_memory_equal(image.data, "\1\2\3\0", 4);
	tn_image_release(&image);
	/* An unknown critical chunk makes the picture invalid. */
	to = 33 + put_chunk(longer + 33, "ABCD", "", 0);
	memcpy(longer + to, bytes + 33, size - 33);
	files_write(path, longer, to + size - 33);
	refused(path, TN_FORMAT, "expected a PNG image, found: ");
	free(longer);
	free(bytes);
}

static void put_u32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Appends a chunk of `n` bytes with its right CRC. */
static size_t put_good_chunk(unsigned char *to, const char *type, const void *data, size_t n)
{
	uint32_t crc = 0xffffffffu;
	put_u32(to, (uint32_t)n);
	memcpy(to + 4, type, 4);
	memcpy(to + 8, data, n);
	for (size_t i = 4; i < n + 8; i++) {
		crc ^= to[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	put_u32(to + 8 + n, ~crc);
	return n + 12;
}

/* Signature and header. */
static size_t put_head(unsigned char *to, uint32_t width, uint32_t height, const char *kind)
{
	unsigned char header[13];
	put_u32(header, width);
	put_u32(header + 4, height);
	memcpy(header + 8, kind, 5);
	memcpy(to, "\x89PNG\r\n\x1a\n", 8);
	return 8 + put_good_chunk(to + 8, "IHDR", header, 13);
}

static void a_png_above_the_limits_is_refused_before_memory_is_taken(void **state)
{
	(void)state;
	unsigned char file[64];
	size_t n = put_head(file, 65535, 65535, "\x08\6\0\0");
	n += put_good_chunk(file + n, "IDAT", "", 0);
	const char *path = files_path(folder, "huge.png");
	files_write(path, file, n);
	refused(path, TN_LIMIT, "found 65535 x 65535");
}

/* One line of grey samples, stored without compression. */
static void check_stored(const char *kind, const char *chunk, const char *samples, size_t n,
			 const char *pixels)
{
	unsigned char file[256], data[64] = {0x78, 1, 1};
	uint32_t a = 1, b = 0;
	data[3] = (unsigned char)(n + 1);
	data[5] = (unsigned char)~data[3];
	data[6] = 0xff;
	memcpy(data + 8, samples, n); /* after the filter of the line, 0 */
	for (size_t i = 7; i < n + 8; i++) {
		a += data[i];
		b += a;
	}
	put_u32(data + n + 8, b << 16 | a); /* Adler-32: sums below 65521 */
	size_t size = put_head(file, 4, 1, kind);
	size += put_good_chunk(file + size, chunk, "\0\1\x86\xa0", 4);
	size += put_good_chunk(file + size, "IDAT", data, n + 12);
	size += put_good_chunk(file + size, "IEND", "", 0);
	const char *path = files_path(folder, "stored.png");
	struct tn_error_info error;
	struct tn_image image;
	files_write(path, file, size);
	if (tn_image_read(path, &image, &error))
		fail_msg("%s", error.text);
	assert_int_equal(image.width, 4);
	assert_int_equal(image.channels, 1);
	assert_memory_equal(image.data, pixels, 4);
	tn_image_release(&image);
}

/* libpng would take 16 bits for linear light, and change values by gAMA (here 1). */
static void values_of_a_png_are_those_stored(void **state)
{
	(void)state;
	check_stored("\x08\0\0\0", "gAMA", "\0\x10\x80\xff", 4, "\0\x10\x80\xff");
	check_stored("\x10\0\0\0", "teSt", "\0\x64\x20\x00\x80\x80\xff\xff", 8, "\0\x20\x80\xff");
	check_stored("\x10\0\0\0", "gAMA", "\0\x64\x20\x00\x80\x80\xff\xff", 8, "\0\x20\x80\xff");
}

#endif

static void channels_are_converted(void **state)
{
	(void)state;
	struct tn_image out;
	uint8_t rgba[8] = {255, 0, 0, 255, 10, 20, 30, 0};
	struct tn_image image = {.width = 2, .height = 1, .channels = 4, .data = rgba};
	assert_ok(tn_image_convert(&image, 1, 200, &out, NULL));
	assert_int_equal(out.data[0], 76);
	assert_int_equal(out.data[1], 200);
	tn_image_release(&out);
	assert_ok(tn_image_convert(&image, 3, 0, &out, NULL));
	assert_memory_equal(out.data, "\xff\0\0\0\0\0", 6);
	tn_image_release(&out);
	uint8_t grey[2] = {9, 250};
	struct tn_image plain = {.width = 2, .height = 1, .channels = 1, .data = grey};
	assert_ok(tn_image_convert(&plain, 3, 0, &out, NULL));
	assert_memory_equal(out.data, "\x09\x09\x09\xfa\xfa\xfa", 6);
	tn_image_release(&out);
	assert_status(tn_image_convert(&plain, 2, 0, &out, NULL), TN_INVALID_ARGUMENT);
}

static void sizes_are_changed_by_areas(void **state)
{
	(void)state;
	struct tn_image out;
	uint8_t pixels[12] = {0, 4, 8, 12, 2, 6, 10, 14, 100, 100, 100, 101};
	struct tn_image image = {.width = 4, .height = 3, .channels = 1, .data = pixels};
	assert_ok(tn_image_resize(&image, 2, 1, &out, NULL));
	/* (0 + 4 + 2 + 6 + 100 + 100) / 6 = 35.33, (8 + 12 + 10 + 14 + 100 + 101) / 6 = 40.83 */
	assert_int_equal(out.data[0], 35);
	assert_int_equal(out.data[1], 41);
	tn_image_release(&out);
	assert_ok(tn_image_resize(&image, 8, 6, &out, NULL));
	for (int y = 0; y < 6; y++) {
		for (int x = 0; x < 8; x++)
			assert_int_equal(out.data[y * 8 + x], pixels[y / 2 * 4 + x / 2]);
	}
	tn_image_release(&out);
	assert_status(tn_image_resize(&image, 0, 1, &out, NULL), TN_INVALID_ARGUMENT);
	assert_status(tn_image_resize(&image, 100000, 1, &out, NULL), TN_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grey_and_colour_plain_and_raw_are_read),
		cmocka_unit_test(malformed_pnm_is_refused_by_name),
		cmocka_unit_test(every_truncation_of_a_pnm_is_refused),
		cmocka_unit_test(an_image_above_the_limits_is_refused),
#ifdef HAVE_LIBPNG
		cmocka_unit_test(every_kind_of_image_is_written_and_read_back),
		cmocka_unit_test(every_truncation_of_a_png_is_refused),
		cmocka_unit_test(damage_in_a_png_is_refused),
		cmocka_unit_test(chunks_that_do_not_change_the_picture_are_passed_over),
		cmocka_unit_test(a_png_above_the_limits_is_refused_before_memory_is_taken),
		cmocka_unit_test(values_of_a_png_are_those_stored),
#endif
		cmocka_unit_test(channels_are_converted),
		cmocka_unit_test(sizes_are_changed_by_areas),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
