/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * JPEG images, made here by the library that reads them. */
#include "config.h"

#include <tenon/io.h>

#include "io_spoil.h"

static void refused(const char *path, tn_status expected, const char *part)
{
	spoil_refused(spoil_read_image, path, expected, part);
}

#ifdef HAVE_LIBJPEG

#include "io/image_colour.h"
#include "io/image_file.h"
#include "jpeg_make.h"

enum { WIDTH = 19, HEIGHT = 13 };

/* A smooth picture: red grows to the right, green downwards, blue is their difference. */
static void paint(uint8_t *pixels)
{
	for (int y = 0; y < HEIGHT; y++) {
		for (int x = 0; x < WIDTH; x++) {
			uint8_t *pixel = pixels + 3 * (y * WIDTH + x);
			pixel[0] = (uint8_t)(10 * x);
			pixel[1] = (uint8_t)(15 * y);
			pixel[2] = (uint8_t)(128 + 5 * x - 5 * y);
		}
	}
}

/* Writes FOLDER/name; the bytes are given in *bytes (free) if not NULL. */
static const char *write_jpeg(const char *name, const struct jpeg_kind *kind, const uint8_t *pixels,
			      unsigned char **bytes, size_t *size)
{
	const char *path = files_path(folder, name);
	size_t n = 0;
	unsigned char *data = jpeg_make(kind, pixels, &n);
	files_write(path, data, n);
	if (!bytes) {
		free(data);
		return path;
	}
	*bytes = data;
	*size = n;
	return path;
}

static void read_jpeg(const char *path, struct tn_image *image, struct tn_image_warnings *warnings)
{
	struct tn_error_info error;
	memset(warnings, 0, sizeof(*warnings));
	int is_grey = -1;
	if (tn_image_read_warned(path, image, warnings, &error))
		fail_msg("%s", error.text);
	assert_ok(tn_image_is_grey(path, &is_grey, NULL));
	assert_int_equal(is_grey, image->channels == 1);
}

/* Quality 100 rounds each of the three transformed channels: at most 4 in a colour. */
static void assert_like(const struct tn_image *image, const uint8_t *pixels)
{
	assert_int_equal(image->width, WIDTH);
	assert_int_equal(image->height, HEIGHT);
	for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * image->channels; i++)
		assert_close(image->data[i], pixels[i], 4);
}

static void colour_and_grey_baseline_and_progressive_are_read(void **state)
{
	(void)state;
	uint8_t pixels[3 * WIDTH * HEIGHT], grey[WIDTH * HEIGHT];
	struct tn_image_warnings warnings;
	struct tn_image image;
	paint(pixels);
	for (int i = 0; i < WIDTH * HEIGHT; i++)
		grey[i] = (uint8_t)(i % WIDTH * 13);
	for (int progressive = 0; progressive < 2; progressive++) {
		struct jpeg_kind kind = {.width = WIDTH,
					 .height = HEIGHT,
					 .given = JCS_RGB,
					 .sampling = {{1, 1}, {1, 1}, {1, 1}},
					 .progressive = progressive};
		const char *path = write_jpeg("colour.jpg", &kind, pixels, NULL, NULL);
		read_jpeg(path, &image, &warnings);
		assert_int_equal(image.channels, 3);
		assert_like(&image, pixels);
		tn_image_release(&image);
		kind.given = JCS_GRAYSCALE;
		path = write_jpeg("grey", &kind, grey, NULL, NULL);
		read_jpeg(path, &image, &warnings);
		assert_int_equal(image.channels, 1);
		assert_like(&image, grey);
		tn_image_release(&image);
	}
}

static const struct jpeg_kind whole = {.width = WIDTH, .height = HEIGHT, .given = JCS_RGB};

/* But for the marker of the end, of two bytes, which a complete picture may lack. */
static void every_truncation_of_a_jpeg_is_refused(void **state)
{
	(void)state;
	static const struct jpeg_kind kinds[] = {
		{.given = JCS_RGB},
		{.given = JCS_RGB, .progressive = 1},
		{.given = JCS_CMYK},
		{.given = JCS_CMYK, .stored = JCS_YCCK, .progressive = 1},
	};
	uint8_t pixels[4 * WIDTH * HEIGHT] = {0};
	paint(pixels);
	for (int i = 0; i < 4; i++) {
		unsigned char *bytes;
		size_t size;
		struct jpeg_kind kind = kinds[i];
		kind.width = WIDTH;
		kind.height = HEIGHT;
		const char *path = write_jpeg("whole.jpg", &kind, pixels, &bytes, &size);
		spoil_truncations(spoil_read_image, "cut.jpg", bytes, 2, size - 2,
				  "expected more of a JPEG image, found the end of the file");
		char words[64];
		snprintf(words, sizeof(words), "whole.jpg: offset %zu: ", size - 9);
		files_write(path, bytes, size - 9);
		refused(path, TN_FORMAT, words);
		free(bytes);
	}
}

/* Any byte may be wrong: an error, or a picture. */
static void a_damaged_jpeg_is_an_error_or_a_picture(void **state)
{
	(void)state;
	uint8_t pixels[3 * WIDTH * HEIGHT];
	unsigned char *bytes;
	size_t size;
	setenv("TENON_LOG", "off", 1);
	paint(pixels);
	write_jpeg("whole.jpg", &whole, pixels, &bytes, &size);
	assert_true(spoil_bytes(spoil_read_image, "damaged.jpg", bytes, 2, size, 0x55) > size / 20);
	unsetenv("TENON_LOG");
	free(bytes);
}

static unsigned char *find_marker(unsigned char *bytes, size_t size, int marker)
{
	for (size_t i = 0; i + 18 < size; i++) {
		if (bytes[i] == 0xff && bytes[i + 1] == marker)
			return bytes + i;
	}
	fail_msg("no marker %02x", (unsigned)marker);
	return NULL;
}

/* A header of 65000 x 65000 pixels. */
static void a_jpeg_above_the_limits_is_refused_before_memory_is_taken(void **state)
{
	(void)state;
	uint8_t pixels[3 * WIDTH * HEIGHT] = {0};
	unsigned char *bytes;
	size_t size;
	const char *path = write_jpeg("huge.jpg", &whole, pixels, &bytes, &size);
	memcpy(find_marker(bytes, size, 0xc0) + 5, "\xfd\xe8\xfd\xe8", 4);
	files_write(path, bytes, size);
	refused(path, TN_LIMIT, "found 65000 x 65000");
	free(bytes);
}

/* ---- Inks and sampling -----------------------------------------------------------------------*/

/* Blocks of one colour each, which quality 100 keeps: 3 x 2 of 8 x 8 pixels. */
enum { BLOCKS_X = 3, BLOCKS_Y = 2 };

static void paint_blocks(const uint8_t (*colours)[4], int channels, uint8_t *pixels)
{
	for (int y = 0; y < 8 * BLOCKS_Y; y++) {
		for (int x = 0; x < 8 * BLOCKS_X; x++, pixels += channels)
			memcpy(pixels, colours[y / 8 * BLOCKS_X + x / 8], (size_t)channels);
	}
}

/* Adobe's programs store 255 - ink; libjpeg stores what it is given.  The colours are Pillow's:
 * Image.frombytes("CMYK", (6, 1), bytes(255 - i for i in inks)).convert("RGB"). */
static void inks_become_rgb(void **state)
{
	(void)state;
	static const uint8_t inks[6][4] = {{255, 255, 255, 255}, {0, 255, 255, 255},
					   {10, 20, 30, 40},     {200, 100, 50, 250},
					   {128, 127, 1, 128},   {77, 255, 200, 0}};
	static const uint8_t rgb[6][3] = {{255, 255, 255}, {0, 255, 255}, {2, 3, 5},
					  {196, 98, 49},   {64, 64, 1},   {0, 0, 0}};
	static const struct {
		J_COLOR_SPACE stored;
		int without_adobe;
		int tolerance; /* YCCK rounds three colours twice */
	} rows[] = {{JCS_CMYK, 0, 0}, {JCS_CMYK, 1, 0}, {JCS_YCCK, 0, 2}};
	uint8_t pixels[4 * 64 * BLOCKS_X * BLOCKS_Y];
	struct tn_image_warnings warnings;
	struct tn_image image;
	paint_blocks(inks, 4, pixels);
	for (int i = 0; i < 6; i++) {
		struct jpeg_kind kind = {.width = 8 * BLOCKS_X,
					 .height = 8 * BLOCKS_Y,
					 .given = JCS_CMYK,
					 .stored = rows[i / 2].stored,
					 .without_adobe = rows[i / 2].without_adobe,
					 .progressive = i % 2,
					 .sampling = {{1, 1}, {1, 1}, {1, 1}, {1, 1}}};
		const char *path = write_jpeg("inks.jpg", &kind, pixels, NULL, NULL);
		read_jpeg(path, &image, &warnings);
		assert_int_equal(image.channels, 3);
		assert_int_equal(warnings.n, 0);
		for (int k = 0; k < 64 * BLOCKS_X * BLOCKS_Y; k++) {
			int x = k % (8 * BLOCKS_X), y = k / (8 * BLOCKS_X);
			for (int c = 0; c < 3; c++)
				assert_close(image.data[3 * k + c],
					     rgb[y / 8 * BLOCKS_X + x / 8][c],
					     rows[i / 2].tolerance);
		}
		tn_image_release(&image);
	}
}

/* Of sides that no block divides, and of one colour, which no sampling changes. */
static void check_sampling(const struct jpeg_kind *kind, const uint8_t *colour)
{
	int n = jpeg_components(kind->given);
	size_t n_pixels = (size_t)(kind->width * kind->height);
	uint8_t pixels[4 * 40 * 40];
	struct tn_image_warnings warnings;
	struct tn_image image;
	for (size_t i = 0; i < n_pixels; i++)
		memcpy(pixels + (size_t)n * i, colour, (size_t)n);
	read_jpeg(write_jpeg("sampled.jpg", kind, pixels, NULL, NULL), &image, &warnings);
	assert_int_equal(warnings.n, 0);
	assert_int_equal(image.width, kind->width);
	assert_int_equal(image.channels, 3);
	/* White paper for the inks: 255 stored in all of them. */
	for (size_t i = 0; i < 3 * n_pixels; i++)
		assert_close(image.data[i], colour[i % 3], 1);
	tn_image_release(&image);
}

/* All factors of 1, 2 and 4 of three or four components, of which libjpeg takes ten blocks. */
static void every_sampling_is_read(void **state)
{
	(void)state;
	static const int factors[9][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 4},
					  {4, 1}, {2, 4}, {4, 2}, {4, 4}};
	int n_read = 0;
	for (int k = 0; k < 9 * 9 * 9 * 2; k++) {
		struct jpeg_kind kind = {.width = 1 + k % 37,
					 .height = 1 + k % 31,
					 .given = k % 2 ? JCS_CMYK : JCS_RGB,
					 .stored = k % 4 == 1 ? JCS_YCCK : JCS_UNKNOWN};
		int blocks = k % 2;
		for (int i = 0, digits = k / 2; i < 3; i++, digits /= 9) {
			memcpy(kind.sampling[i], factors[digits % 9], sizeof(factors[0]));
			blocks += kind.sampling[i][0] * kind.sampling[i][1];
		}
		kind.sampling[3][0] = kind.sampling[3][1] = 1;
		if (blocks > 10)
			continue;
		check_sampling(&kind, k % 2 ? (const uint8_t *)"\xff\xff\xff\xff"
					    : (const uint8_t *)"\x28\xc8\x64");
		n_read++;
	}
	assert_true(n_read > 300);
}

/* Chroma of half the width: between two blocks, a quarter of the neighbour's. */
static void upsampling_is_smooth(void **state)
{
	(void)state;
	enum { W = 32, H = 8 };
	uint8_t pixels[3 * W * H];
	struct tn_image_warnings warnings;
	struct tn_image image;
	for (int i = 0; i < W * H; i++)
		memcpy(pixels + 3 * i, i % W < W / 2 ? "\x80\x80\x70" : "\x80\x80\x90", 3);
	struct jpeg_kind kind = {
		.width = W, .height = H, .given = JCS_YCbCr, .sampling = {{2, 1}, {1, 1}, {1, 1}}};
	read_jpeg(write_jpeg("smooth.jpg", &kind, pixels, NULL, NULL), &image, &warnings);
	for (int i = 0; i < W * H; i++) {
		int x = i % W, cr = x < 15 ? 0x70 : x == 15 ? 0x78 : x == 16 ? 0x88 : 0x90;
		assert_close(image.data[3 * i], 128 + 1.402 * (cr - 128), 0.51);
	}
	tn_image_release(&image);
}

/* ---- What libjpeg warns of -------------------------------------------------------------------*/

/* The file is read; libjpeg warned, of that first. */
static void read_in_spite(const unsigned char *bytes, size_t size, const char *text)
{
	const char *path = files_path(folder, "odd.jpg");
	struct tn_image_warnings warnings;
	struct tn_image image;
	files_write(path, bytes, size);
	read_jpeg(path, &image, &warnings);
	assert_int_equal(image.width, WIDTH);
	assert_true(warnings.n > 0);
	assert_contains(warnings.first, text);
	tn_image_release(&image);
}

static void what_libjpeg_warns_of_is_read(void **state)
{
	(void)state;
	uint8_t pixels[3 * WIDTH * HEIGHT];
	unsigned char *bytes, longer[8192];
	size_t size;
	paint(pixels);
	write_jpeg("whole.jpg", &whole, pixels, &bytes, &size);
	assert_true(size + 40 < sizeof(longer));
	/* Bytes before the marker of the end, or in its place. */
	memcpy(longer, bytes, size - 2);
	memset(longer + size - 2, 0x11, 20);
	read_in_spite(longer, size + 18, "no marker of the end");
	memcpy(longer + size + 18, "\xff\xd9", 2);
	read_in_spite(longer, size + 20, "extraneous bytes before marker 0xd9");
	/* The end in the middle of the picture. */
	memcpy(longer + size - 60, "\xff\xd9", 2);
	read_in_spite(longer, size - 58, "premature end of data segment");
	free(bytes);
	/* A transform that Adobe has not defined: YCbCr. */
	struct jpeg_kind kind = whole;
	kind.stored = JCS_RGB;
	write_jpeg("whole.jpg", &kind, pixels, &bytes, &size);
	find_marker(bytes, size, 0xee)[15] = 7;
	read_in_spite(bytes, size, "Unknown Adobe color transform code 7");
	free(bytes);
}

/* tn_image_read itself writes one line, of all of the file's. */
static void warnings_are_reported_once(void **state)
{
	(void)state;
	uint8_t pixels[3 * WIDTH * HEIGHT];
	unsigned char *bytes;
	size_t size;
	struct tn_image image;
	paint(pixels);
	const char *path = write_jpeg("odd.jpg", &whole, pixels, &bytes, &size);
	memcpy(bytes + size - 60, "\xff\xd9", 2);
	files_write(path, bytes, size - 58);
	free(bytes);
	int kept = files_listen(folder);
	tn_status status = tn_image_read(path, &image, NULL);
	char *told = files_told(folder, kept);
	assert_ok(status);
	tn_image_release(&image);
	assert_contains(told, "tenon: image: ");
	assert_contains(told, "odd.jpg: read in spite of");
	assert_string_equal(strchr(told, '\n'), "\n");
	free(told);
}

#else

static void without_libjpeg_a_jpeg_is_unsupported_and_says_so(void **state)
{
	(void)state;
	const char *path = files_path(folder, "no.jpg");
	files_write(path, "\xff\xd8\xff\xe0", 4);
	refused(path, TN_UNSUPPORTED, "no libjpeg");
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAVE_LIBJPEG
		cmocka_unit_test(colour_and_grey_baseline_and_progressive_are_read),
		cmocka_unit_test(every_truncation_of_a_jpeg_is_refused),
		cmocka_unit_test(a_damaged_jpeg_is_an_error_or_a_picture),
		cmocka_unit_test(a_jpeg_above_the_limits_is_refused_before_memory_is_taken),
		cmocka_unit_test(inks_become_rgb),
		cmocka_unit_test(every_sampling_is_read),
		cmocka_unit_test(upsampling_is_smooth),
		cmocka_unit_test(what_libjpeg_warns_of_is_read),
		cmocka_unit_test(warnings_are_reported_once),
#else
		cmocka_unit_test(without_libjpeg_a_jpeg_is_unsupported_and_says_so),
#endif
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
