/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The handwritten digits: read, split, shown, and refused when malformed.
 */
#include "config.h"
#include "base/error.h"
#include "data/open.h"
#include "test_folder.h"

static const char *source_folder(void)
{
	const char *source = getenv("TENON_SOURCE");
	return source ? source : ".";
}

static tn_dataset *open_digits(uint32_t as_stored, double validation_fraction)
{
	struct tn_dataset_options options = tn_dataset_defaults();
	options.digits_as_stored = as_stored;
	options.validation_fraction = validation_fraction;
	struct tn_error_info error;
	tn_dataset *dataset;
	tn_error_reset(&error);
	if (tn_dataset_load("digits", &options, source_folder(), &dataset, &error) != TN_OK)
		fail_msg("%s", error.text);
	return dataset;
}

/* The first line of the file: a zero. */
static const uint8_t nought[64] = {0, 0, 5,  13, 9,  1,  0, 0, 0, 0, 13, 15, 10, 15, 5, 0,
				   0, 3, 15, 2,  0,  11, 8, 0, 0, 4, 12, 0,  0,  8,  8, 0,
				   0, 5, 8,  0,  0,  9,  8, 0, 0, 4, 11, 0,  1,  12, 7, 0,
				   0, 2, 14, 5,  10, 12, 0, 0, 0, 0, 6,  13, 10, 0,  0, 0};

static void the_digits_are_read_as_stored(void **state)
{
	(void)state;
	int32_t label = -1;
	tn_dataset *dataset = open_digits(1, 0);
	const struct tn_input_format *format = tn_dataset_format(dataset);
	assert_int_equal(format->height, 8);
	assert_int_equal(format->width, 8);
	assert_int_equal(format->channels, 1);
	assert_int_equal(format->n_classes, 10);
	assert_true(format->scale == 16);
	assert_memory_equal(tn_dataset_image(dataset, TN_PART_TRAIN, 0, &label), nought, 64);
	assert_int_equal(label, 0);
	/* Of all 1,797: 0.3053 and 0.3760; four fifths may differ in the third digit. */
	assert_close(format->mean[0], 0.3053, 0.002);
	assert_close(format->deviation[0], 0.3760, 0.002);
	assert_string_equal(tn_dataset_name(dataset), "digits");
	assert_contains(tn_dataset_path(dataset), "/data/digits");
	assert_contains(tn_dataset_origin(dataset), "Alpaydin");
	assert_string_equal(tn_dataset_class_name(dataset, 7), "7");
	assert_null(tn_dataset_class_name(dataset, 10));
	assert_null(tn_dataset_class_name(dataset, -1));
	tn_dataset_destroy(dataset);
}

static void the_digits_are_shown_enlarged_and_bordered(void **state)
{
	(void)state;
	tn_dataset *dataset = open_digits(0, 0);
	const struct tn_input_format *format = tn_dataset_format(dataset);
	const uint8_t *image = tn_dataset_image(dataset, TN_PART_TRAIN, 0, NULL);
	assert_int_equal(format->height, 28);
	assert_int_equal(format->source_height, 8);
	assert_int_equal(format->zoom, 3);
	assert_int_equal(format->border, 2);
	for (int y = 0; y < 28; y++) {
		for (int x = 0; x < 28; x++) {
			int outside = y < 2 || y >= 26 || x < 2 || x >= 26;
			int expected = outside ? 0 : nought[(y - 2) / 3 * 8 + (x - 2) / 3];
			assert_int_equal(image[y * 28 + x], expected);
		}
	}
	tn_dataset_destroy(dataset);
}

static void a_fifth_of_each_class_is_held_out(void **state)
{
	(void)state;
	tn_dataset *dataset = open_digits(1, 0);
	uint64_t count[3][10] = {{0}};
	for (int part = 0; part < TN_N_PARTS; part++) {
		for (uint64_t i = 0; i < tn_dataset_count(dataset, part); i++) {
			int32_t label;
			assert_non_null(tn_dataset_image(dataset, part, i, &label));
			count[part][label]++;
		}
		assert_null(tn_dataset_image(dataset, part, tn_dataset_count(dataset, part), NULL));
	}
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN) +
				 tn_dataset_count(dataset, TN_PART_TEST),
			 1797);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_VALIDATION), 0);
	/* Rounded to the nearest for each of ten classes. */
	assert_close(tn_dataset_count(dataset, TN_PART_TEST), 1797 / 5.0, 5);
	for (int c = 0; c < 10; c++)
		assert_close(count[TN_PART_TEST][c],
			     (double)(count[0][c] + count[1][c] + count[2][c]) / 5, 0.5);
	tn_dataset_destroy(dataset);
}

static void validation_is_taken_from_training_alone(void **state)
{
	(void)state;
	tn_dataset *without = open_digits(1, 0);
	tn_dataset *with = open_digits(1, 0.1);
	uint64_t n_test = tn_dataset_count(without, TN_PART_TEST);
	assert_int_equal(tn_dataset_count(with, TN_PART_TEST), n_test);
	for (uint64_t i = 0; i < n_test; i++)
		assert_memory_equal(tn_dataset_image(with, TN_PART_TEST, i, NULL),
				    tn_dataset_image(without, TN_PART_TEST, i, NULL), 64);
	uint64_t n_train = tn_dataset_count(without, TN_PART_TRAIN);
	assert_close(tn_dataset_count(with, TN_PART_VALIDATION), (double)n_train / 10, 5);
	assert_int_equal(tn_dataset_count(with, TN_PART_VALIDATION) +
				 tn_dataset_count(with, TN_PART_TRAIN),
			 n_train);
	tn_dataset_destroy(without);
	tn_dataset_destroy(with);
}

static void a_picture_has_the_full_range(void **state)
{
	(void)state;
	struct tn_image picture;
	tn_dataset *dataset = open_digits(1, 0);
	assert_ok(tn_dataset_picture(dataset, TN_PART_TRAIN, 0, &picture, NULL));
	assert_int_equal(picture.width, 8);
	assert_int_equal(picture.channels, 1);
	for (int i = 0; i < 64; i++)
		assert_int_equal(picture.data[i], (nought[i] * 255 + 8) / 16);
	tn_image_release(&picture);
	assert_status(tn_dataset_picture(dataset, TN_PART_TRAIN, 2000, &picture, NULL),
		      TN_INVALID_ARGUMENT);
	tn_dataset_destroy(dataset);
}

static void the_variable_says_where_the_digits_are(void **state)
{
	(void)state;
	tn_dataset *dataset;
	setenv("TENON_DATA_DIR", source_folder(), 1);
	assert_ok(tn_dataset_open("digits", NULL, &dataset, NULL));
	assert_int_equal(tn_dataset_format(dataset)->height, 28);
	tn_dataset_destroy(dataset);
}

/* A line of 65 values: `first`, then zeros, then `label`, and `end`. */
static void line(char *text, const char *first, const char *label, const char *end)
{
	strcpy(text, first);
	for (int i = 1; i < 64; i++)
		strcat(text, ",0");
	strcat(text, ",");
	strcat(text, label);
	strcat(text, end);
}

static void malformed_tables_are_refused_with_their_line(void **state)
{
	(void)state;
	static const struct {
		const char *first;
		const char *label;
		const char *end;
		const char *part;
	} cases[] = {
		{"17", "3", "\n", "row 2, value 1: expected a pixel from 0 to 16, found 17"},
		{"-1", "3", "\n", "row 2, value 1: expected a pixel from 0 to 16, found -1"},
		{"0", "10", "\n", "row 2, value 65: expected a label from 0 to 9, found 10"},
		{"0", "", "\n", "line 2, column 129: field 65: expected an integer, found nothing"},
		{"", "1", "\n", "line 2, column 1: field 1: expected an integer, found nothing"},
		{"1.5", "1", "\n", "line 2, column 1: field 1: expected an integer, found '1.5'"},
		{"0", "1,2", "\n", "line 2: expected 65 fields, as in line 1, found 66"},
		{"0", "1", "\rx", "line 3: expected 65 fields, as in line 1, found 1"},
		{"99999999999", "1", "\n",
		 "row 2, value 1: expected a pixel from 0 to 16, found 99999999999"},
		{"--1", "1", "\n", "line 2, column 1: field 1: expected an integer, found '--1'"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct tn_error_info error;
		tn_dataset *dataset;
		tn_error_reset(&error);
		line(text, "16", "9", "\r\n");
		line(text + strlen(text), cases[i].first, cases[i].label, cases[i].end);
		files_write(files_path(folder, "digits.csv"), text, strlen(text));
		assert_status(tn_dataset_load(folder, NULL, NULL, &dataset, &error), TN_FORMAT);
		assert_contains(error.text, "digits.csv");
		assert_contains(error.text, cases[i].part);
	}
}

static void tables_of_another_width_or_none_are_refused(void **state)
{
	(void)state;
	struct tn_error_info error;
	tn_dataset *dataset;
	files_write(files_path(folder, "digits.csv"), "1,2\n", 4);
	assert_status(tn_dataset_load(folder, NULL, NULL, &dataset, &error), TN_FORMAT);
	assert_contains(error.text, "line 1: expected 65 values, found 2");
	files_write(files_path(folder, "digits.csv"), "", 0);
	assert_status(tn_dataset_load(folder, NULL, NULL, &dataset, &error), TN_FORMAT);
	assert_contains(error.text, "line 1, column 1: expected a row, found the end");
}

static void a_last_line_without_line_feed_is_read(void **state)
{
	(void)state;
	char text[1024];
	tn_dataset *dataset;
	line(text, "16", "9", "");
	files_write(files_path(folder, "digits.csv"), text, strlen(text));
	assert_ok(tn_dataset_load(folder, NULL, NULL, &dataset, NULL));
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 1);
	tn_dataset_destroy(dataset);
}

static void without_zlib_the_digits_are_unsupported_and_say_so(void **state)
{
	(void)state;
	struct tn_error_info error;
	tn_dataset *dataset;
	assert_status(tn_dataset_load("digits", NULL, source_folder(), &dataset, &error),
		      TN_UNSUPPORTED);
	assert_contains(error.text, "digits.csv.gz: gzipped, and this build of Tenon has no zlib");
}

#ifdef HAVE_ZLIB
static const int has_zlib = 1;
#else
static const int has_zlib = 0;
#endif

int main(void)
{
	const struct CMUnitTest tables[] = {
		cmocka_unit_test(malformed_tables_are_refused_with_their_line),
		cmocka_unit_test(tables_of_another_width_or_none_are_refused),
		cmocka_unit_test(a_last_line_without_line_feed_is_read),
	};
	const struct CMUnitTest carried[] = {
		cmocka_unit_test(the_digits_are_read_as_stored),
		cmocka_unit_test(the_digits_are_shown_enlarged_and_bordered),
		cmocka_unit_test(a_fifth_of_each_class_is_held_out),
		cmocka_unit_test(validation_is_taken_from_training_alone),
		cmocka_unit_test(a_picture_has_the_full_range),
		cmocka_unit_test(the_variable_says_where_the_digits_are),
	};
	const struct CMUnitTest no_zlib[] = {
		cmocka_unit_test(without_zlib_the_digits_are_unsupported_and_say_so),
	};
	int failed = cmocka_run_group_tests(tables, make_folder, remove_folder);
	return failed + (has_zlib ? cmocka_run_group_tests(carried, NULL, NULL)
				  : cmocka_run_group_tests(no_zlib, NULL, NULL));
}
