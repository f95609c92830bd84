/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * PNG of every colour type and depth, written by libpng from known samples: what is read is
 * computed here from the samples. */
#include "config.h"

#include <tenon/io.h>

#include "io_spoil.h"

#ifdef HAVE_LIBPNG

#include <png.h>

#include "io/image_colour.h"

/* The samples of a picture, in the order of the file. */
struct picture {
	int colour;
	int depth;
	int width;
	int height;
	int interlaced;
	int has_transparency; /* a chunk tRNS */
	int n_samples;        /* of a pixel */
	uint16_t samples[9][9][4];
	png_color palette[256];
	png_byte alpha[3]; /* of the first colours of the palette */
	png_color_16 key;  /* the transparent grey or colour */
};

static unsigned draw(uint32_t *noise)
{
	*noise = *noise * 1664525u + 1013904223u;
	return *noise >> 16;
}

/* Every other pixel or so is that of the key, or of one sample alike. */
static void paint(struct picture *picture, uint32_t *noise)
{
	unsigned most = (1u << picture->depth) - 1;
	uint16_t key[3];
	for (int c = 0; c < 3; c++)
		key[c] = (uint16_t)(draw(noise) & most);
	picture->key =
		(png_color_16){.red = key[0], .green = key[1], .blue = key[2], .gray = key[0]};
	for (int i = 0; i < 256; i++)
		picture->palette[i] = (png_color){(png_byte)draw(noise), (png_byte)draw(noise),
						  (png_byte)draw(noise)};
	for (int i = 0; i < 3; i++)
		picture->alpha[i] = (png_byte)draw(noise);
	for (int i = 0; i < picture->width * picture->height; i++) {
		uint16_t *samples = picture->samples[i / picture->width][i % picture->width];
		unsigned alike = draw(noise) & 7;
		for (int c = 0; c < picture->n_samples; c++)
			samples[c] = (uint16_t)(c < 3 && (alike == 7 || alike == (unsigned)c)
							? key[c]
							: draw(noise) & most);
	}
}

static void pack_row(const struct picture *picture, int y, png_byte *row)
{
	int bit = 0;
	memset(row, 0, 80);
	for (int i = 0; i < picture->width * picture->n_samples; i++, bit += picture->depth) {
		unsigned sample =
			picture->samples[y][i / picture->n_samples][i % picture->n_samples];
		if (picture->depth == 16)
			row[bit / 8] = (png_byte)(sample >> 8);
		if (picture->depth == 16)
			row[bit / 8 + 1] = (png_byte)sample;
		else
			row[bit / 8] |= (png_byte)(sample << (8 - picture->depth - bit % 8));
	}
}

/* libpng's own handlers end the test on an error.  gAMA and sRGB change no value that is read. */
static void write_picture(const char *path, const struct picture *picture)
{
	png_byte rows[9][80], *at[9];
	FILE *file = fopen(path, "wb");
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	assert_non_null(file);
	if (setjmp(png_jmpbuf(png)))
		fail_msg("libpng could not write %s", path);
	png_init_io(png, file);
	png_set_IHDR(png, info, (png_uint_32)picture->width, (png_uint_32)picture->height,
		     picture->depth, picture->colour,
		     picture->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	if (picture->colour == PNG_COLOR_TYPE_PALETTE)
		png_set_PLTE(png, info, picture->palette, 1 << picture->depth);
	if (picture->has_transparency)
		png_set_tRNS(png, info, picture->alpha, picture->depth == 1 ? 2 : 3, &picture->key);
	if (picture->width % 2)
		png_set_gAMA_fixed(png, info, 100000);
	else
		png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
	for (int y = 0; y < picture->height; y++) {
		pack_row(picture, y, rows[y]);
		at[y] = rows[y];
	}
	png_set_rows(png, info, at);
	png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
	png_destroy_write_struct(&png, &info);
	assert_int_equal(fclose(file), 0);
}

/* Writes the pixel's bytes; returns how many. */
static int expected_pixel(const struct picture *picture, const uint16_t *samples, uint8_t *pixel)
{
	const png_color_16 *key = &picture->key;
	unsigned most = (1u << picture->depth) - 1;
	int n = picture->n_samples;
	if (picture->colour == PNG_COLOR_TYPE_PALETTE) {
		unsigned index = samples[0];
		memcpy(pixel, &picture->palette[index], 3);
		pixel[3] = index < 3 ? picture->alpha[index] : 255;
		return picture->has_transparency ? 4 : 3;
	}
	for (int c = 0; c < n; c++)
		pixel[c] = (uint8_t)((samples[c] * 255u + most / 2) / most);
	if (!picture->has_transparency)
		return n;
	int is_key = n == 1 ? samples[0] == key->gray
			    : samples[0] == key->red && samples[1] == key->green &&
				      samples[2] == key->blue;
	pixel[n] = is_key ? 0 : 255;
	return n + 1;
}

static void assert_read(const char *path, const struct picture *picture)
{
	struct tn_error_info error;
	struct tn_image image;
	if (tn_image_read(path, &image, &error))
		fail_msg("%s", error.text);
	int is_grey = -1;
	assert_ok(tn_image_is_grey(path, &is_grey, NULL));
	assert_int_equal(is_grey, image.channels <= 2);
	assert_int_equal(image.width, picture->width);
	assert_int_equal(image.height, picture->height);
	for (int i = 0; i < picture->width * picture->height; i++) {
		int y = i / picture->width, x = i % picture->width;
		uint8_t pixel[4];
		int n = expected_pixel(picture, picture->samples[y][x], pixel);
		assert_int_equal(image.channels, n);
		if (memcmp(image.data + i * n, pixel, (size_t)n))
			fail_msg("colour type %d, depth %d, interlaced %d, tRNS %d, %d x %d: pixel "
				 "%d, %d",
				 picture->colour, picture->depth, picture->interlaced,
				 picture->has_transparency, picture->width, picture->height, x, y);
	}
	tn_image_release(&image);
}

/* Interlaced or not, with and without tRNS, in three heights for each width from 1 to 9. */
static void check_kind(int colour, int depth, int n_samples)
{
	static struct picture picture;
	uint32_t noise = (uint32_t)(colour * 100 + depth);
	struct spoil s;
	spoil_begin(&s, "kind.png", "", 0);
	int may_have_key = !(colour & PNG_COLOR_MASK_ALPHA);
	for (int k = 0; k < 9 * 3 * 4; k++) {
		if (k & 2 && !may_have_key)
			continue;
		picture = (struct picture){.colour = colour,
					   .depth = depth,
					   .width = 1 + k / 4 % 9,
					   .height = 1 + (k / 4 * 4 + k / 36) % 9,
					   .interlaced = k & 1,
					   .has_transparency = k & 2,
					   .n_samples = n_samples};
		paint(&picture, &noise);
		write_picture(s.path, &picture);
		assert_read(s.path, &picture);
	}
	spoil_end(&s);
}

static void every_kind_of_png_has_the_values_stored(void **state)
{
	(void)state;
	for (int depth = 1; depth <= 16; depth *= 2) {
		check_kind(PNG_COLOR_TYPE_GRAY, depth, 1);
		if (depth <= 8)
			check_kind(PNG_COLOR_TYPE_PALETTE, depth, 1);
		if (depth < 8)
			continue;
		check_kind(PNG_COLOR_TYPE_GRAY_ALPHA, depth, 2);
		check_kind(PNG_COLOR_TYPE_RGB, depth, 3);
		check_kind(PNG_COLOR_TYPE_RGB_ALPHA, depth, 4);
	}
}

#else

static void without_libpng_a_png_is_unsupported_and_says_so(void **state)
{
	(void)state;
	const char *path = files_path(folder, "no.png");
	files_write(path, "\x89PNG\r\n\x1a\n", 8);
	spoil_refused(spoil_read_image, path, TN_UNSUPPORTED, "no libpng");
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAVE_LIBPNG
		cmocka_unit_test(every_kind_of_png_has_the_values_stored),
#else
		cmocka_unit_test(without_libpng_a_png_is_unsupported_and_says_so),
#endif
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
