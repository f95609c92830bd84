/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Folders of IDX files as data sets, and how a data set is found by name.
 */
#include "config.h"

#include "base/error.h"
#include "data/search.h"
#include "test_folder.h"

static const char *const names[4] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
				     "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

/* Four images of 1 x 2 to train, two to test. */
static const struct {
	const char *bytes;
	size_t size;
} contents[4] = {
	{"\0\0\x08\3\0\0\0\4\0\0\0\1\0\0\0\2\0\1\2\3\4\5\6\7", 24},
	{"\0\0\x08\1\0\0\0\4\0\1\2\1", 12},
	{"\0\0\x08\3\0\0\0\2\0\0\0\1\0\0\0\2\x0a\x0b\x0c\x0d", 20},
	{"\0\0\x08\1\0\0\0\2\2\0", 10},
};

static void clear(void)
{
	for (int i = 0; i < 4; i++) {
		char name[64];
		unlink(files_path(folder, names[i]));
		snprintf(name, sizeof(name), "%s.gz", names[i]);
		unlink(files_path(folder, name));
	}
}

static void write_all(void)
{
	clear();
	for (int i = 0; i < 4; i++)
		files_write(files_path(folder, names[i]), contents[i].bytes, contents[i].size);
}

static void check_small(const tn_dataset *dataset)
{
	int32_t label;
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 4);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 2);
	assert_int_equal(tn_dataset_format(dataset)->n_classes, 3);
	assert_int_equal(tn_dataset_format(dataset)->height, 1);
	assert_int_equal(tn_dataset_format(dataset)->width, 2);
	assert_memory_equal(tn_dataset_image(dataset, TN_PART_TRAIN, 2, &label), "\4\5", 2);
	assert_int_equal(label, 2);
	assert_memory_equal(tn_dataset_image(dataset, TN_PART_TEST, 1, &label), "\x0c\x0d", 2);
	assert_int_equal(label, 0);
	assert_string_equal(tn_dataset_class_name(dataset, 2), "2");
	/* 0 .. 7: mean 3.5, variance 5.25. */
	assert_close(tn_dataset_format(dataset)->mean[0], 3.5 / 255, 1e-8);
	assert_close(tn_dataset_format(dataset)->deviation[0], sqrt(5.25) / 255, 1e-8);
}

static void four_idx_files_are_a_data_set(void **state)
{
	(void)state;
	tn_dataset *dataset;
	write_all();
	assert_ok(tn_dataset_open(folder, NULL, &dataset, NULL));
	check_small(dataset);
	tn_dataset_destroy(dataset);
}

static void each_file_may_be_gzipped_or_spelt_with_a_dot(void **state)
{
	(void)state;
	tn_dataset *dataset;
	write_all();
	unlink(files_path(folder, names[1]));
	files_write(files_path(folder, "train-labels.idx1-ubyte"), contents[1].bytes,
		    contents[1].size);
#ifdef HAVE_ZLIB
	unlink(files_path(folder, names[2]));
	files_write_gzipped(files_path(folder, "t10k-images-idx3-ubyte.gz"), contents[2].bytes,
			    contents[2].size);
#endif
	assert_ok(tn_dataset_open(folder, NULL, &dataset, NULL));
	check_small(dataset);
	tn_dataset_destroy(dataset);
	unlink(files_path(folder, "train-labels.idx1-ubyte"));
}

static void files_that_do_not_fit_each_other_are_refused(void **state)
{
	(void)state;
	static const struct {
		int file;
		const char *bytes;
		size_t size;
		tn_status status;
		const char *part;
	} cases[] = {
		{1, "\0\0\x08\1\0\0\0\3\0\1\2", 11, TN_SHAPE,
		 "train: expected as many labels as "
		 "images, found 3 labels and 4 images"},
		{1, "\0\0\x08\1\0\0\0\5\0\1\2\1\0", 13, TN_SHAPE,
		 "train: expected as many labels as images, found 5 labels and 4 images"},
		{3, "\0\0\x08\1\0\0\0\3\2\0\1", 11, TN_SHAPE,
		 "t10k: expected as many labels as images, found 3 labels and 2 images"},
		{2, "\0\0\x08\3\0\0\0\2\0\0\0\2\0\0\0\1abcd", 20, TN_SHAPE,
		 "expected t10k images of 1 x 2, as train, found 2 x 1"},
		{0, "\0\0\x08\1\0\0\0\4abcd", 12, TN_SHAPE, "expected 3 axes of u8, found 1 of u8"},
		{1, "\0\0\x09\1\0\0\0\4\0\0\0\0", 12, TN_SHAPE,
		 "expected 1 axes of u8, found 1 of i8"},
		{0, "\0\0\x08\3\0\0\0\4\0\0\0\0\0\0\0\2", 16, TN_SHAPE, "expected images, found"},
		{3, "\0\0\x08\1\0\0\0\2\2", 9, TN_FORMAT, "t10k-labels-idx1-ubyte: offset 8"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_error_info error;
		tn_dataset *dataset;
		write_all();
		tn_error_reset(&error);
		files_write(files_path(folder, names[cases[i].file]), cases[i].bytes,
			    cases[i].size);
		assert_status(tn_dataset_open(folder, NULL, &dataset, &error), cases[i].status);
		assert_contains(error.text, cases[i].part);
	}
}

static void a_label_outside_the_classes_of_the_training_part_is_named(void **state)
{
	(void)state;
	static const struct {
		int file;
		const char *bytes;
		size_t size;
		const char *part;
	} cases[] = {
		{1, "\0\0\x08\1\0\0\0\4\0\1\xff\1", 12,
		 "train-labels-idx1-ubyte: label 2: expected a class from 0 to 1, as the training "
		 "labels number them without a gap, found 255"},
		{1, "\0\0\x08\1\0\0\0\4\3\1\0\4", 12,
		 "train-labels-idx1-ubyte: label 0: "
		 "expected a class from 0 to 1"},
		{1, "\0\0\x08\1\0\0\0\4\2\2\2\2", 12,
		 "train-labels-idx1-ubyte: expected labels that count from 0 or 1, found neither"},
		{3, "\0\0\x08\1\0\0\0\2\2\3", 10,
		 "t10k-labels-idx1-ubyte: label 1: expected a class from 0 to 2, as the training "
		 "labels number them without a gap, found 3"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_error_info error;
		tn_dataset *dataset;
		write_all();
		tn_error_reset(&error);
		files_write(files_path(folder, names[cases[i].file]), cases[i].bytes,
			    cases[i].size);
		assert_status(tn_dataset_open(folder, NULL, &dataset, &error), TN_FORMAT);
		assert_contains(error.text, cases[i].part);
	}
}

static void labels_may_count_from_one(void **state)
{
	(void)state;
	struct tn_error_info error;
	tn_dataset *dataset;
	write_all();
	files_write(files_path(folder, names[1]), "\0\0\x08\1\0\0\0\4\1\2\2\1", 12);
	files_write(files_path(folder, names[3]), "\0\0\x08\1\0\0\0\2\2\1", 10);
	assert_ok(tn_dataset_open(folder, NULL, &dataset, NULL));
	assert_int_equal(tn_dataset_format(dataset)->n_classes, 3);
	tn_dataset_destroy(dataset);
	files_write(files_path(folder, names[3]), "\0\0\x08\1\0\0\0\2\2\0", 10);
	assert_status(tn_dataset_open(folder, NULL, &dataset, &error), TN_FORMAT);
	assert_contains(error.text, "label 1: expected a class from 1 to 2");
}

static void what_is_missing_is_named(void **state)
{
	(void)state;
	struct tn_error_info error;
	tn_dataset *dataset;
	for (int i = 0; i < 4; i++) {
		write_all();
		unlink(files_path(folder, names[i]));
		assert_status(tn_dataset_open(folder, NULL, &dataset, &error), TN_NOT_FOUND);
		assert_contains(error.text, names[i]);
	}
	clear();
	assert_status(tn_dataset_open(folder, NULL, &dataset, &error), TN_NOT_FOUND);
	assert_contains(error.text, "expected digits.csv.gz, or train-images-idx3-ubyte");
	assert_status(tn_dataset_open("/no/such/folder", NULL, &dataset, &error), TN_NOT_FOUND);
	assert_status(tn_dataset_open("", NULL, &dataset, &error), TN_INVALID_ARGUMENT);
}

static void an_unknown_name_lists_the_places_and_the_package(void **state)
{
	(void)state;
	struct tn_error_info error;
	char *found = NULL;
	int is_folder = 0;
	assert_status(tn_dataset_find("no-such-set", "/some/where", &found, &is_folder, &error),
		      TN_NOT_FOUND);
	assert_contains(error.text, "no-such-set: not found");
	assert_contains(error.text, "/some/where/data/no-such-set, "
				    "/usr/share/datasets/no-such-set, ./no-such-set");
	assert_null(strstr(error.text, "package"));
	if (access("/usr/share/datasets/fashion-mnist", F_OK) != 0) {
		assert_status(
			tn_dataset_find("fashion-mnist", "/some/where", &found, &is_folder, &error),
			TN_NOT_FOUND);
		assert_contains(error.text, "Debian package dataset-fashion-mnist");
	}
}

static void a_name_is_looked_for_in_the_data_folder_first(void **state)
{
	(void)state;
	char *found = NULL;
	int is_folder = 0;
	char data[128], set[256];
	snprintf(data, sizeof(data), "%.100s/data", folder);
	snprintf(set, sizeof(set), "%s/fashion-mnist", data);
	assert_int_equal(mkdir(data, 0700), 0);
	assert_int_equal(mkdir(set, 0700), 0);
	tn_status status = tn_dataset_find("fashion-mnist", folder, &found, &is_folder, NULL);
	rmdir(set);
	rmdir(data);
	assert_ok(status);
	assert_string_equal(found, set);
	free(found);
}

static void options_of_a_later_version_are_refused_when_set(void **state)
{
	(void)state;
	struct {
		struct tn_dataset_options known;
		uint32_t later;
	} options = {.known = tn_dataset_defaults()};
	options.known.struct_size = sizeof(options);
	struct tn_error_info error;
	tn_dataset *dataset;
	write_all();
	assert_ok(tn_dataset_open(folder, &options.known, &dataset, NULL));
	tn_dataset_destroy(dataset);
	options.later = 1;
	assert_status(tn_dataset_open(folder, &options.known, &dataset, &error), TN_UNSUPPORTED);
}

static void pictures_are_fed_with_the_mean_and_deviation_of_another_format(void **state)
{
	(void)state;
	struct tn_input_format trained = tn_input_format_defaults();
	trained.channels = 1;
	trained.mean[0] = 0.25f;
	trained.deviation[0] = 0.5f;
	struct tn_dataset_options options = tn_dataset_defaults();
	options.normalise_as = &trained;
	struct tn_data_loader_options one = tn_data_loader_defaults();
	one.batch_size = 1;
	struct tn_error_info error;
	tn_dataset *dataset;
	tn_data_loader *loader;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	write_all();
	assert_ok(tn_dataset_open(folder, &options, &dataset, NULL));
	assert_true(tn_dataset_format(dataset)->mean[0] == 0.25f);
	assert_true(tn_dataset_format(dataset)->deviation[0] == 0.5f);
	assert_true(tn_dataset_format(dataset)->scale == 255);
	assert_ok(tn_data_loader_create(dataset, TN_PART_TEST, &one, &loader, NULL));
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_close(((const float *)batch.data[0])[0], (10 / 255.0 - 0.25) / 0.5, 1e-6);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
	trained.channels = 3;
	assert_status(tn_dataset_open(folder, &options, &dataset, &error), TN_SHAPE);
	assert_contains(error.text,
			"expected pictures of 3 channels, as normalise_as has, found 1");
	trained.channels = 1;
	trained.deviation[0] = 0;
	assert_status(tn_dataset_open(folder, &options, &dataset, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "expected a finite mean and a positive deviation");
}

static void a_fraction_is_from_0_to_1(void **state)
{
	(void)state;
	static const double wrong[] = {-0.1, 1.001, 100, NAN};
	struct tn_dataset_options options = tn_dataset_defaults();
	struct tn_error_info error;
	tn_dataset *dataset;
	write_all();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		options.validation_fraction = wrong[i];
		assert_status(tn_dataset_open(folder, &options, &dataset, &error),
			      TN_INVALID_ARGUMENT);
		assert_contains(error.text, "expected fractions from 0 to 1");
	}
	options.validation_fraction = 1;
	assert_ok(tn_dataset_open(folder, &options, &dataset, NULL));
	assert_int_equal(tn_dataset_count(dataset, TN_PART_VALIDATION), 4);
	tn_dataset_destroy(dataset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_idx_files_are_a_data_set),
		cmocka_unit_test(each_file_may_be_gzipped_or_spelt_with_a_dot),
		cmocka_unit_test(files_that_do_not_fit_each_other_are_refused),
		cmocka_unit_test(a_label_outside_the_classes_of_the_training_part_is_named),
		cmocka_unit_test(labels_may_count_from_one),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(an_unknown_name_lists_the_places_and_the_package),
		cmocka_unit_test(a_name_is_looked_for_in_the_data_folder_first),
		cmocka_unit_test(options_of_a_later_version_are_refused_when_set),
		cmocka_unit_test(pictures_are_fed_with_the_mean_and_deviation_of_another_format),
		cmocka_unit_test(a_fraction_is_from_0_to_1),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
