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

#ifdef HAVE_LIBTURBOJPEG

#include <turbojpeg.h>

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

/* Writes FOLDER/name from pixels of `format`; the bytes are given in *bytes (free) if not NULL. */
static const char *write_jpeg(const char *name, const uint8_t *pixels, int format, int sampling,
			      int flags, unsigned char **bytes, size_t *size)
{
	const char *path = files_path(folder, name);
	unsigned char *data = NULL;
	unsigned long n = 0;
	tjhandle encoder = tjInitCompress();
	if (tjCompress2(encoder, pixels, WIDTH, 0, HEIGHT, format, &data, &n, sampling, 100, flags))
		fail_msg("%s", tjGetErrorStr2(encoder));
	files_write(path, data, n);
	tjFree(data);
	tjDestroy(encoder);
	if (bytes)
		*bytes = files_read(path, size);
	return path;
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
	struct tn_image image;
	paint(pixels);
	for (int i = 0; i < WIDTH * HEIGHT; i++)
		grey[i] = (uint8_t)(i % WIDTH * 13);
	static const int flags[] = {0, TJFLAG_PROGRESSIVE};
	for (int i = 0; i < 2; i++) {
		const char *path = write_jpeg("colour.jpg", pixels, TJPF_RGB, TJSAMP_444, flags[i],
					      NULL, NULL);
		assert_ok(tn_image_read(path, &image, NULL));
		assert_int_equal(image.channels, 3);
		assert_like(&image, pixels);
		tn_image_release(&image);
		path = write_jpeg("grey", grey, TJPF_GRAY, TJSAMP_GRAY, flags[i], NULL, NULL);
		assert_ok(tn_image_read(path, &image, NULL));
		assert_int_equal(image.channels, 1);
		assert_like(&image, grey);
		tn_image_release(&image);
	}
}

static void every_truncation_of_a_jpeg_is_refused(void **state)
{
	(void)state;
	uint8_t pixels[3 * WIDTH * HEIGHT];
	static const int flags[] = {0, TJFLAG_PROGRESSIVE};
	paint(pixels);
	for (int i = 0; i < 2; i++) {
		unsigned char *bytes;
		size_t size;
		const char *path = write_jpeg("whole.jpg", pixels, TJPF_RGB, TJSAMP_420, flags[i],
					      &bytes, &size);
		spoil_truncations(spoil_read_image, "cut.jpg", bytes, 2, size,
				  "expected a JPEG image, found: ");
		char words[64];
		snprintf(words, sizeof(words), " (in a file of %zu bytes)", size - 9);
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
	paint(pixels);
	write_jpeg("whole.jpg", pixels, TJPF_RGB, TJSAMP_420, 0, &bytes, &size);
	assert_true(spoil_bytes(spoil_read_image, "damaged.jpg", bytes, 2, size, 0x55) > size / 20);
	free(bytes);
}

/* A header of 65000 x 65000 pixels. */
static void a_jpeg_above_the_limits_is_refused_before_memory_is_taken(void **state)
{
	(void)state;
	uint8_t pixels[3 * WIDTH * HEIGHT] = {0};
	unsigned char *bytes, *at = NULL;
	size_t size;
	const char *path = write_jpeg("huge.jpg", pixels, TJPF_RGB, TJSAMP_444, 0, &bytes, &size);
	for (size_t i = 0; i + 9 < size && !at; i++) {
		if (bytes[i] == 0xff && bytes[i + 1] == 0xc0) /* start of frame */
			at = bytes + i + 5;
	}
	assert_non_null(at);
	memcpy(at, "\xfd\xe8\xfd\xe8", 4);
	files_write(path, bytes, size);
	refused(path, TN_LIMIT, "found 65000 x 65000");
	free(bytes);
}

static void inks_are_unsupported(void **state)
{
	(void)state;
	uint8_t pixels[4 * WIDTH * HEIGHT] = {0};
	const char *path = write_jpeg("inks.jpg", pixels, TJPF_CMYK, TJSAMP_444, 0, NULL, NULL);
	refused(path, TN_UNSUPPORTED, "expected a JPEG image of grey or RGB, found CMYK");
}

#else

static void without_libturbojpeg_a_jpeg_is_unsupported_and_says_so(void **state)
{
	(void)state;
	const char *path = files_path(folder, "no.jpg");
	files_write(path, "\xff\xd8\xff\xe0", 4);
	refused(path, TN_UNSUPPORTED, "no libturbojpeg");
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAVE_LIBTURBOJPEG
		cmocka_unit_test(colour_and_grey_baseline_and_progressive_are_read),
		cmocka_unit_test(every_truncation_of_a_jpeg_is_refused),
		cmocka_unit_test(a_damaged_jpeg_is_an_error_or_a_picture),
		cmocka_unit_test(a_jpeg_above_the_limits_is_refused_before_memory_is_taken),
		cmocka_unit_test(inks_are_unsupported),
#else
		cmocka_unit_test(without_libturbojpeg_a_jpeg_is_unsupported_and_says_so),
#endif
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
