/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The text of a data format, and pictures prepared by it as torchvision does.
 */
#include <tenon/data.h>

#include "base/error.h"
#include "check.h"
#include "torchvision_pictures.h"

static const struct tn_input_format digits = {.struct_size = sizeof(digits),
					      .channels = 1,
					      .height = 28,
					      .width = 28,
					      .source_height = 8,
					      .source_width = 8,
					      .zoom = 3,
					      .border = 2,
					      .scale = 16,
					      .mean = {0.22437f},
					      .deviation = {0.349183f},
					      .n_classes = 10};

static void a_format_is_read_back_to_the_bit(void **state)
{
	(void)state;
	struct tn_input_format format = digits, back = {.struct_size = sizeof(back)};
	for (int i = 0; i < 1000; i++) {
		/* All magnitudes of f32, including subnormal ones. */
		format.mean[0] = 1.0f / (float)(3 + i) * ldexpf(1, i % 275 - 148);
		format.deviation[0] = 0.1f * (float)(1 + i) / 7.0f;
		char *text = tn_input_format_text(&format);
		assert_non_null(text);
		assert_ok(tn_input_format_parse(text, &back, NULL));
		assert_memory_equal(&format, &back, sizeof(format));
		tn_string_free(text);
	}
}

#define NUMBERS(channels, height, zoom, border)                                                    \
	"{\"channels\":" channels ",\"height\":" height ",\"width\":28,\"source_height\":8,"       \
	"\"source_width\":8,\"zoom\":" zoom ",\"border\":" border ",\"n_classes\":10,"
#define GOOD NUMBERS("1", "28", "3", "2")

static void texts_that_are_not_a_format_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *part;
	} cases[] = {
		{"", "expected '{'"},
		{"[1]", "expected '{'"},
		{"{", "offset 1: expected a string, found the end"},
		{"{}", "key \"channels\": expected a number from 1 to 4, found none"},
		{NUMBERS("0", "28", "3", "2") "\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"channels\""},
		{NUMBERS("5", "28", "3", "2") "\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"channels\""},
		{NUMBERS("1", "28.5", "3", "2") "\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"height\""},
		{NUMBERS("1", "27", "3", "2") "\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "expected source size x zoom + 2 border = 28 x 28"},
		{NUMBERS("1", "28", "4294967296",
			 "2") "\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"zoom\""},
		{NUMBERS("1", "28", "3", "-2") "\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"border\""},
		{GOOD "\"scale\":0,\"mean\":[0],\"deviation\":[1]}", "key \"scale\": expected a "
								     "positive"},
		{GOOD "\"scale\":1e99,\"mean\":[0],\"deviation\":[1]}", "key \"scale\""},
		{GOOD "\"scale\":1,\"mean\":0,\"deviation\":[1]}",
		 "key \"mean\": expected an array "
		 "of numbers"},
		{GOOD "\"scale\":1,\"mean\":[0,0],\"deviation\":[1]}",
		 "key \"mean\": expected an array of 1 numbers, found 2"},
		{GOOD "\"scale\":1,\"mean\":[0,0,0,0,0],\"deviation\":[1]}",
		 "key \"mean\": expected at most 4 numbers"},
		{GOOD "\"scale\":1,\"deviation\":[1]}",
		 "key \"mean\": expected an array of 1 numbers, found 0"},
		{GOOD "\"mean\":[0],\"deviation\":[1]}",
		 "key \"scale\": expected a positive finite"},
		{GOOD "\"x\":[[[[[0]]]]]}", "fewer nested brackets"},
		{GOOD "\"x\":nul}", "expected a value"},
		{GOOD "\"scale\":1,\"mean\":[0],\"deviation\":[1]}}", "spaces after the closing"},
		{GOOD "\"scale\":1,\"mean\":[\"0\"],\"deviation\":[1]}", "key \"mean\""},
		{GOOD "\"scale\":1,\"mean\":[0],\"deviation\":[0]}",
		 "key \"deviation\": expected a "
		 "positive"},
		{GOOD "\"resize\":28,\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"resize\": expected zoom 1 and border 0 with it, found 3 and 2"},
		{GOOD "\"resize\":27,\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"resize\": expected at least height x width, 28 x 28, found 27"},
		{GOOD "\"resize\":32769,\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"resize\": expected a number from 0 to 32768"},
		{GOOD "\"interpolation\":2,\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"interpolation\": expected a number from 0 to 1"},
		{GOOD "\"scale\":1,\"scale\":1,\"mean\":[0],\"deviation\":[1]}",
		 "key \"scale\" occurs twice"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_error_info error;
		struct tn_input_format format = tn_input_format_defaults();
		format.zoom = 77;
		tn_error_reset(&error);
		assert_status(tn_input_format_parse(cases[i].text, &format, &error), TN_FORMAT);
		assert_contains(error.text, cases[i].part);
		assert_int_equal(format.zoom, 77);
	}
}

static void numbers_are_read_however_they_are_written(void **state)
{
	(void)state;
	struct tn_input_format format = tn_input_format_defaults();
	assert_ok(tn_input_format_parse(
		GOOD " \"later\" : {\"a\":[true,false,null,-1.5e3,\"\\n\"],\"b\":{}} ,\n"
		     "\"scale\":0.00000000000000000000000000025e28,\"mean\":[-1E-1],"
		     "\"deviation\":[123456789012345678901234567890e-29]}  ",
		&format, NULL));
	assert_true(format.scale == 2.5f);
	assert_true(format.mean[0] == -0.1f);
	assert_true(format.deviation[0] == 1.23456789f);
}

static void a_format_is_printed_in_one_way(void **state)
{
	(void)state;
	struct tn_input_format format = digits;
	format.deviation[0] = 1e-5f;
	format.mean[0] = -1e20f;
	char *text = tn_input_format_text(&format);
	assert_string_equal(
		text,
		GOOD "\"scale\":16.0,\"mean\":[-1.00000002e20],\"deviation\":[9.99999975e-6]}");
	tn_string_free(text);
}

static void numbers_that_are_not_finite_have_no_text(void **state)
{
	const float wrong[] = {INFINITY, -INFINITY, NAN};
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct tn_input_format format = digits;
		format.mean[0] = wrong[i];
		assert_null(tn_input_format_text(&format));
	}
}

static void a_picture_of_source_size_is_fed_as_in_training(void **state)
{
	(void)state;
	uint8_t pixels[64];
	float out[28 * 28];
	for (int i = 0; i < 64; i++)
		pixels[i] = (uint8_t)(4 * i);
	struct tn_image image = {.width = 8, .height = 8, .channels = 1, .data = pixels};
	assert_ok(tn_input_format_apply(&digits, &image, 0, out, NULL));
	for (int y = 0; y < 28; y++) {
		for (int x = 0; x < 28; x++) {
			int outside = y < 2 || y >= 26 || x < 2 || x >= 26;
			float v = outside ? 0 : pixels[(y - 2) / 3 * 8 + (x - 2) / 3];
			/* Two roundings of values below 3. */
			assert_close(out[y * 28 + x], (v / 255 - 0.22437f) / 0.349183f, 1e-6);
		}
	}
}

static void a_picture_of_another_size_is_resized_and_inverted_when_asked(void **state)
{
	(void)state;
	uint8_t pixels[56 * 56];
	float out[28 * 28];
	for (int i = 0; i < 56 * 56; i++)
		pixels[i] = i % 2 ? 100 : 200; /* the mean of every 2 x 2 is 150 */
	struct tn_image image = {.width = 56, .height = 56, .channels = 1, .data = pixels};
	assert_ok(tn_input_format_apply(&digits, &image, 1, out, NULL));
	for (int i = 0; i < 28 * 28; i++)
		assert_close(out[i], (105.0f / 255 - 0.22437f) / 0.349183f, 1e-6);
}

static void colour_and_alpha_become_grey(void **state)
{
	(void)state;
	uint8_t pixels[28 * 28 * 4];
	float out[28 * 28];
	for (int i = 0; i < 28 * 28; i++)
		memcpy(pixels + 4 * i, i % 2 ? "\xff\0\0\xff" : "\xff\xff\xff\0", 4);
	struct tn_image image = {.width = 28, .height = 28, .channels = 4, .data = pixels};
	/* Red is 76 of 255; transparent pixels become black, or white for dark on light. */
	assert_ok(tn_input_format_apply(&digits, &image, 0, out, NULL));
	assert_close(out[0], (0 - 0.22437f) / 0.349183f, 1e-6);
	assert_close(out[1], (76.0f / 255 - 0.22437f) / 0.349183f, 1e-6);
	assert_ok(tn_input_format_apply(&digits, &image, 1, out, NULL));
	assert_close(out[0], (0 - 0.22437f) / 0.349183f, 1e-6);
	assert_close(out[1], (179.0f / 255 - 0.22437f) / 0.349183f, 1e-6);
}

static void channels_become_planes(void **state)
{
	(void)state;
	uint8_t pixels[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	float out[12];
	struct tn_input_format format = tn_input_format_defaults();
	format.channels = 3;
	format.height = 2;
	format.width = 2;
	format.source_height = 2;
	format.source_width = 2;
	format.zoom = 1;
	format.scale = 255;
	format.mean[0] = format.mean[1] = format.mean[2] = 0;
	format.deviation[0] = format.deviation[1] = format.deviation[2] = 1;
	format.n_classes = 2;
	struct tn_image image = {.width = 2, .height = 2, .channels = 3, .data = pixels};
	assert_ok(tn_input_format_apply(&format, &image, 0, out, NULL));
	for (int c = 0; c < 3; c++) {
		for (int i = 0; i < 4; i++)
			assert_close(out[4 * c + i], pixels[3 * i + c] / 255.0, 1e-7);
	}
	format.channels = 2;
	assert_status(tn_input_format_apply(&format, &image, 0, out, NULL), TN_UNSUPPORTED);
}

static struct tn_input_format imagenet(uint32_t resize, uint32_t height, uint32_t width)
{
	struct tn_input_format format = tn_input_format_defaults();
	assert_ok(tn_input_format_imagenet(&format, NULL));
	format.resize = resize;
	format.height = format.source_height = height;
	format.width = format.source_width = width;
	return format;
}

static void a_resize_is_in_the_text_of_formats_that_have_one(void **state)
{
	(void)state;
	struct tn_input_format format = tn_input_format_defaults();
	struct tn_input_format back = format;
	assert_ok(tn_input_format_imagenet(&format, NULL));
	char *text = tn_input_format_text(&format);
	assert_string_equal(text, "{\"channels\":3,\"height\":224,\"width\":224,"
				  "\"source_height\":224,\"source_width\":224,\"zoom\":1,"
				  "\"border\":0,\"n_classes\":1000,\"resize\":256,\"scale\":255.0,"
				  "\"mean\":[0.485000014,0.456,0.405999988],"
				  "\"deviation\":[0.229000002,0.224000007,0.224999994]}");
	assert_ok(tn_input_format_parse(text, &back, NULL));
	assert_memory_equal(&format, &back, sizeof(format));
	tn_string_free(text);
	format.interpolation = TN_RESIZE_BICUBIC;
	text = tn_input_format_text(&format);
	assert_contains(text, "\"resize\":256,\"interpolation\":1,");
	assert_ok(tn_input_format_parse(text, &back, NULL));
	assert_memory_equal(&format, &back, sizeof(format));
	tn_string_free(text);
	/* Texts of networks saved without it. */
	assert_ok(tn_input_format_parse(GOOD "\"scale\":1,\"mean\":[0],\"deviation\":[1]}", &back,
					NULL));
	assert_int_equal(back.resize, 0);
	struct tn_input_format none = {0};
	struct tn_error_info error;
	assert_status(tn_input_format_imagenet(&none, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "expected struct_size");
}

/* The picture of torchvision_pictures.py. */
static void synthesise(struct tn_image *image, uint32_t width, uint32_t height)
{
	static uint8_t pixels[300 * 211 * 3];
	assert_true(width * height * 3 <= sizeof(pixels));
	*image = (struct tn_image){.width = width, .height = height, .channels = 3, .data = pixels};
	for (uint32_t i = 0; i < width * height * 3; i++) {
		uint32_t c = i % 3, x = i / 3 % width, y = i / 3 / width;
		pixels[i] = (uint8_t)(x * 7 + y * 13 + c * 50 + x * y * (c + 1));
	}
}

static int hex_byte(const char *text)
{
	const char byte[] = {text[0], text[1], '\0'};
	return (int)strtol(byte, NULL, 16);
}

static void a_resize_and_the_middle_are_those_of_torchvision(void **state)
{
	(void)state;
	static float out[3 * 24 * 24];
	for (size_t i = 0; i < sizeof(torchvision_pictures) / sizeof(*torchvision_pictures); i++) {
		const struct torchvision_picture *expected = &torchvision_pictures[i];
		uint32_t n = expected->crop_width * expected->crop_height;
		struct tn_image image;
		struct tn_input_format format =
			imagenet(expected->resize, expected->crop_height, expected->crop_width);
		format.interpolation = expected->interpolation;
		synthesise(&image, expected->width, expected->height);
		assert_true(3 * n <= sizeof(out) / sizeof(*out));
		assert_int_equal(strlen(expected->bytes), 6 * n);
		assert_ok(tn_input_format_apply(&format, &image, 0, out, NULL));
		assert_close(out[0], expected->first, 1e-6);
		assert_close(out[3 * n - 1], expected->last, 1e-6);
		for (uint32_t k = 0; k < 3 * n; k++) {
			uint32_t c = k % 3;
			float byte = (float)hex_byte(expected->bytes + 2 * k);
			assert_close(out[c * n + k / 3],
				     (byte / 255 - format.mean[c]) / format.deviation[c], 1e-6);
		}
	}
}

static void a_middle_larger_than_the_resize_is_refused(void **state)
{
	(void)state;
	static float out[3 * 24 * 24];
	struct tn_error_info error;
	struct tn_image image;
	struct tn_input_format format = imagenet(23, 24, 24);
	synthesise(&image, 9, 9);
	assert_status(tn_input_format_apply(&format, &image, 0, out, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "expected a resize of at least height x width, 24 x 24, found "
				    "23");
	format = imagenet(24, 24, 24);
	format.interpolation = 2;
	assert_status(tn_input_format_apply(&format, &image, 0, out, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "interpolation: expected TN_RESIZE_BILINEAR or "
				    "TN_RESIZE_BICUBIC, found 2");
	/* A line of pixels would become too long. */
	format = imagenet(24, 24, 24);
	synthesise(&image, 30000, 2);
	assert_status(tn_input_format_apply(&format, &image, 0, out, &error), TN_LIMIT);
	assert_contains(error.text, "found 360000 x 24");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_format_is_read_back_to_the_bit),
		cmocka_unit_test(texts_that_are_not_a_format_are_refused),
		cmocka_unit_test(numbers_are_read_however_they_are_written),
		cmocka_unit_test(a_format_is_printed_in_one_way),
		cmocka_unit_test(numbers_that_are_not_finite_have_no_text),
		cmocka_unit_test(a_picture_of_source_size_is_fed_as_in_training),
		cmocka_unit_test(a_picture_of_another_size_is_resized_and_inverted_when_asked),
		cmocka_unit_test(colour_and_alpha_become_grey),
		cmocka_unit_test(channels_become_planes),
		cmocka_unit_test(a_resize_is_in_the_text_of_formats_that_have_one),
		cmocka_unit_test(a_resize_and_the_middle_are_those_of_torchvision),
		cmocka_unit_test(a_middle_larger_than_the_resize_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
