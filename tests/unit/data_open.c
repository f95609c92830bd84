/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening CIFAR folders, NPY and NPZ files, and CSV files as data sets. */
#include <tenon/data.h>

#include "base/error.h"
#include "test_folder.h"

static void clear(void)
{
	DIR *entries = opendir(folder);
	for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
		if (entry->d_name[0] != '.')
			unlink(files_path(folder, entry->d_name));
	}
	closedir(entries);
}

static tn_dataset *open_set(const char *name, const struct tn_dataset_options *options)
{
	struct tn_error_info error;
	tn_dataset *dataset = NULL;
	if (tn_dataset_open(name, options, &dataset, &error))
		fail_msg("%s", error.text);
	return dataset;
}

static void refused(const char *name, const struct tn_dataset_options *options, tn_status expected,
		    const char *part)
{
	struct tn_error_info error;
	tn_dataset *dataset = NULL;
	tn_error_reset(&error);
	assert_status(tn_dataset_open(name, options, &dataset, &error), expected);
	assert_contains(error.text, part);
	assert_null(dataset);
}

/* The first batch of a part, in order; the loader is destroyed by the next call. */
static struct tn_batch batch_of(const tn_dataset *dataset, int part)
{
	static tn_data_loader *loader;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	tn_data_loader_destroy(loader);
	loader = NULL;
	if (!dataset)
		return batch;
	struct tn_data_loader_options loading = tn_data_loader_defaults();
	loading.batch_size = 64;
	assert_ok(tn_data_loader_create(dataset, part, &loading, &loader, NULL));
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	return batch;
}

static void finish(tn_dataset *dataset)
{
	(void)batch_of(NULL, 0);
	tn_dataset_destroy(dataset);
}

/* ---- CIFAR -----------------------------------------------------------------------------------*/

/* n records: the label of record i is (first + i) % classes, its pixels are label * 2. */
static void write_cifar(const char *name, int n, int first, int n_labels, int classes)
{
	unsigned char *bytes = calloc((size_t)n, 3072 + (size_t)n_labels);
	assert_non_null(bytes);
	for (int i = 0; i < n; i++) {
		unsigned char *record = bytes + i * (3072 + n_labels);
		int label = (first + i) % classes;
		record[n_labels - 1] = (unsigned char)label;
		memset(record + n_labels, 2 * label, 3072);
	}
	files_write(files_path(folder, name), bytes, (size_t)n * (3072 + (size_t)n_labels));
	free(bytes);
}

static void a_folder_of_cifar_10_has_fifty_thousand_images_or_fewer(void **state)
{
	(void)state;
	clear();
	for (int i = 0; i < 5; i++) {
		char name[32];
		snprintf(name, sizeof(name), "data_batch_%d.bin", i + 1);
		write_cifar(name, 4, 4 * i, 1, 10);
	}
	refused(folder, NULL, TN_NOT_FOUND, "test_batch.bin");
	write_cifar("test_batch.bin", 3, 7, 1, 10);
	tn_dataset *dataset = open_set(folder, NULL);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 20);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 3);
	assert_string_equal(tn_dataset_class_name(dataset, 8), "ship");
	assert_contains(tn_dataset_origin(dataset), "CIFAR-10");
	const struct tn_input_format *format = tn_dataset_format(dataset);
	assert_int_equal(format->channels, 3);
	assert_int_equal(format->height, 32);
	assert_int_equal(format->n_classes, 10);
	assert_close(format->mean[2], 9.0 / 255, 1e-7);
	for (uint64_t i = 0; i < 20; i++) {
		int32_t label;
		const uint8_t *pixels = tn_dataset_image(dataset, TN_PART_TRAIN, i, &label);
		assert_int_equal(label, i % 10);
		assert_int_equal(pixels[3071], 2 * label);
	}
	tn_dataset_destroy(dataset);
	struct tn_dataset_options options = tn_dataset_defaults();
	options.test_fraction = 0.5;
	refused(folder, &options, TN_INVALID_ARGUMENT,
		"expected no test_fraction, because the data set has a test part of its own");
	options = tn_dataset_defaults();
	options.image_height = 8;
	options.image_width = 8;
	refused(folder, &options, TN_INVALID_ARGUMENT,
		"none of the options of folders of pictures by class");
}

static void a_folder_of_cifar_100_has_the_fine_labels(void **state)
{
	(void)state;
	clear();
	write_cifar("train.bin", 100, 0, 2, 100);
	write_cifar("test.bin", 2, 98, 2, 100);
	struct tn_dataset_options options = tn_dataset_defaults();
	options.validation_fraction = 0;
	tn_dataset *dataset = open_set(folder, &options);
	assert_int_equal(tn_dataset_class_count(dataset), 100);
	int32_t label;
	assert_non_null(tn_dataset_image(dataset, TN_PART_TEST, 1, &label));
	assert_int_equal(label, 99);
	assert_string_equal(tn_dataset_class_name(dataset, 0), "apple");
	assert_string_equal(tn_dataset_class_name(dataset, 58), "pickup_truck");
	assert_string_equal(tn_dataset_class_name(dataset, 99), "worm");
	tn_dataset_destroy(dataset);
	files_write(files_path(folder, "test.bin"), "abc", 3);
	refused(folder, NULL, TN_FORMAT, "test.bin: expected records of 3074 bytes");
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

static void write_npy(const char *name, tn_dtype dtype, uint32_t rank, const int64_t *shape,
		      const void *data)
{
	assert_ok(tn_npy_write(files_path(folder, name), dtype, rank, shape, data, NULL));
}

static const double features[4][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}};
static const int64_t of_features[] = {4, 3}, four[] = {4}, two[] = {2};

static void two_npy_files_are_features_and_classes(void **state)
{
	(void)state;
	static const int64_t labels[] = {2, 0, 1, 2};
	clear();
	write_npy("x.npy", TN_F64, 2, of_features, features);
	write_npy("y.npy", TN_I64, 1, four, labels);
	tn_dataset *dataset = open_set(folder, NULL);
	assert_null(tn_dataset_format(dataset));
	assert_int_equal(tn_dataset_class_count(dataset), 3);
	assert_string_equal(tn_dataset_class_name(dataset, 2), "2");
	const struct tn_batch batch = batch_of(dataset, TN_PART_TRAIN);
	assert_int_equal(batch.n, 4);
	assert_int_equal(batch.fields[0].dtype, TN_F64);
	assert_int_equal(batch.fields[0].shape[0], 3);
	assert_int_equal(batch.fields[1].dtype, TN_I32);
	assert_int_equal(batch.fields[1].rank, 0);
	assert_memory_equal(batch.data[0], features, sizeof(features));
	assert_int_equal(((const int32_t *)batch.data[1])[3], 2);
	finish(dataset);
	struct tn_input_format as = tn_input_format_defaults();
	as.channels = 1;
	struct tn_dataset_options options = tn_dataset_defaults();
	options.normalise_as = &as;
	refused(folder, &options, TN_INVALID_ARGUMENT,
		"normalise_as: expected a data set of images");
	/* A fraction takes evenly from each class. */
	options = tn_dataset_defaults();
	options.test_fraction = 0.5;
	dataset = open_set(folder, &options);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 3);
	finish(dataset);
}

static void other_targets_are_kept_as_they_are(void **state)
{
	(void)state;
	static const float prices[] = {1.5f, -2, 3, 4};
	static const uint8_t applies[4][2] = {{0, 1}, {1, 1}, {0, 0}, {1, 0}};
	static const int64_t of_applies[] = {4, 2};
	clear();
	write_npy("x.npy", TN_F64, 2, of_features, features);
	write_npy("y.npy", TN_F32, 1, four, prices);
	tn_dataset *dataset = open_set(folder, NULL);
	struct tn_batch batch = batch_of(dataset, TN_PART_TRAIN);
	assert_int_equal(tn_dataset_class_count(dataset), 0);
	assert_int_equal(batch.fields[1].dtype, TN_F32);
	assert_memory_equal(batch.data[1], prices, sizeof(prices));
	finish(dataset);
	write_npy("y.npy", TN_U8, 2, of_applies, applies);
	dataset = open_set(folder, NULL);
	batch = batch_of(dataset, TN_PART_TRAIN);
	assert_int_equal(batch.fields[1].rank, 1);
	assert_memory_equal(batch.data[1], applies, sizeof(applies));
	finish(dataset);
	unlink(files_path(folder, "y.npy"));
	dataset = open_set(folder, NULL);
	assert_int_equal(tn_dataset_field_count(dataset), 1);
	tn_dataset_destroy(dataset);
}

static void an_npz_file_may_have_three_parts(void **state)
{
	(void)state;
	static const uint16_t labels[] = {2, 0, 1, 2};
	const struct tn_npz_array arrays[] = {
		{"y_train", TN_U16, 1, four, labels},
		{"x_train", TN_F64, 2, of_features, features},
		{"x_test", TN_F64, 2, (const int64_t[]){1, 3}, features[2]},
		{"y_test", TN_U16, 1, (const int64_t[]){1}, labels},
		{"x_val", TN_F64, 2, (const int64_t[]){2, 3}, features[1]},
		{"y_val", TN_U16, 1, two, labels + 1},
		{"other", TN_U16, 1, two, labels},
	};
	clear();
	const char *path = files_path(folder, "data.npz");
	assert_ok(tn_npz_write(path, arrays, 7, NULL));
	tn_dataset *dataset = open_set(path, NULL);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 4);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_VALIDATION), 2);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 1);
	struct tn_batch batch = batch_of(dataset, TN_PART_VALIDATION);
	assert_memory_equal(batch.data[0], features[1], 2 * sizeof(features[1]));
	assert_int_equal(((const int32_t *)batch.data[1])[1], 1);
	batch = batch_of(dataset, TN_PART_TEST);
	assert_memory_equal(batch.data[0], features[2], sizeof(features[2]));
	finish(dataset);
	struct tn_dataset_options options = tn_dataset_defaults();
	options.validation_fraction = 0.5;
	refused(path, &options, TN_INVALID_ARGUMENT, "expected no validation_fraction");
	options.test_fraction = 0.5;
	options.keep_own_parts = 1;
	dataset = open_set(path, &options);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 4);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_VALIDATION), 2);
	tn_dataset_destroy(dataset);
	options = tn_dataset_defaults();
	options.regression = 1;
	refused(path, &options, TN_INVALID_ARGUMENT, "none of the options of CSV files");
}

/* As in Keras's mnist.npz. */
static void a_part_that_is_missing_can_be_split_off(void **state)
{
	(void)state;
	static const uint8_t labels[] = {0, 0, 1, 1};
	const struct tn_npz_array arrays[] = {
		{"x_train", TN_F64, 2, of_features, features},
		{"y_train", TN_U8, 1, four, labels},
		{"x_test", TN_F64, 2, (const int64_t[]){1, 3}, features[2]},
		{"y_test", TN_U8, 1, (const int64_t[]){1}, labels},
	};
	clear();
	const char *path = files_path(folder, "data.npz");
	assert_ok(tn_npz_write(path, arrays, 4, NULL));
	struct tn_dataset_options options = tn_dataset_defaults();
	options.validation_fraction = 0.5;
	tn_dataset *dataset = open_set(path, &options);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 2);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 1);
	/* One of each class. */
	const struct tn_batch batch = batch_of(dataset, TN_PART_VALIDATION);
	assert_int_equal(batch.n, 2);
	assert_memory_equal(batch.data[1], ((const int32_t[]){0, 1}), 2 * sizeof(int32_t));
	finish(dataset);
}

static void bytes_with_classes_are_pictures(void **state)
{
	(void)state;
	/* Two pictures of 2 x 5: the same as planes and interleaved. */
	uint8_t planes[2][3][2][5], interleaved[2][2][5][3];
	static const uint8_t labels[] = {1, 0};
	for (int i = 0; i < 2 * 3 * 10; i++) {
		int n = i / 30, c = i / 10 % 3, y = i / 5 % 2, x = i % 5;
		planes[n][c][y][x] = interleaved[n][y][x][c] = (uint8_t)(3 * i);
	}
	static const int64_t shapes[3][4] = {{2, 3, 2, 5}, {2, 2, 5, 3}, {2, 6, 5}};
	for (int i = 0; i < 3; i++) {
		clear();
		write_npy("y_train.npy", TN_U8, 1, two, labels);
		if (i == 1) {
			/* A height of 2 would pass for channels. */
			static const int64_t tall[] = {2, 10, 1, 3};
			write_npy("x_train.npy", TN_U8, 4, tall, interleaved);
		} else {
			write_npy("x_train.npy", TN_U8, i == 2 ? 3 : 4, shapes[i], planes);
		}
		tn_dataset *dataset = open_set(folder, NULL);
		const struct tn_input_format *format = tn_dataset_format(dataset);
		assert_non_null(format);
		assert_int_equal(format->channels, i == 2 ? 1 : 3);
		assert_int_equal(format->n_classes, 2);
		int32_t label;
		assert_memory_equal(tn_dataset_image(dataset, TN_PART_TRAIN, 1, &label), planes[1],
				    30);
		assert_int_equal(label, 0);
		tn_dataset_destroy(dataset);
	}
}

static void arrays_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	static const int64_t labels[] = {2, 0, 1, 65536}, few[] = {1, 0, 1, 0};
	static const int64_t none[] = {0, 3}, six[] = {2, 6};
	clear();
	write_npy("x.npy", TN_F64, 2, of_features, features);
	write_npy("y.npy", TN_I64, 1, four, labels);
	refused(folder, NULL, TN_FORMAT,
		"y, number 3: expected a label from 0 to 65535 (other targets are floating), found "
		"65536");
	write_npy("y.npy", TN_U64, 1, four, (const uint64_t[]){0, 1, UINT64_MAX, 0});
	refused(folder, NULL, TN_FORMAT, "y, number 2: expected a label from 0 to 65535");
	write_npy("y.npy", TN_I64, 1, two, labels);
	refused(folder, NULL, TN_SHAPE, "expected as many in x as in y, found 4 and 2");
	write_npy("y.npy", TN_I64, 0, NULL, labels);
	refused(folder, NULL, TN_SHAPE, "y: expected samples along the first axis, found shape ()");
	unlink(files_path(folder, "y.npy"));
	write_npy("x_test.npy", TN_F32, 2, of_features, features);
	refused(folder, NULL, TN_SHAPE, "expected samples like the first part's, of f64 in (4, 3)");
	write_npy("x_test.npy", TN_F64, 2, six, features);
	refused(folder, NULL, TN_SHAPE, "found f64 in (2, 6)");
	write_npy("x_test.npy", TN_F64, 2, of_features, features);
	write_npy("y_test.npy", TN_I64, 1, four, labels);
	refused(folder, NULL, TN_FORMAT, "expected x and y, or no y of any part, found x alone");
	write_npy("y.npy", TN_I64, 1, four, few);
	refused(folder, NULL, TN_FORMAT,
		"y_test, number 0: expected a label from 0 to 1, as in the training part, found 2");
	unlink(files_path(folder, "y.npy"));
	unlink(files_path(folder, "y_test.npy"));
	write_npy("x.npy", TN_F64, 2, none, features);
	refused(folder, NULL, TN_SHAPE, "found shape (0, 3)");
	files_write(files_path(folder, "x.npy"), "no array", 8);
	refused(folder, NULL, TN_FORMAT, "x.npy");
	write_npy("x.npy", TN_F64, 2, of_features, features);
	write_npy("x_train.npy", TN_F64, 2, of_features, features);
	refused(folder, NULL, TN_FORMAT,
		"expected x or x_train, which are the same part, found both");
	const struct tn_npz_array other = {"z", TN_F64, 2, of_features, features};
	const char *path = files_path(folder, "other.npz");
	assert_ok(tn_npz_write(path, &other, 1, NULL));
	refused(path, NULL, TN_FORMAT, "expected an array x or x_train, found none");
}

/* ---- Tables ----------------------------------------------------------------------------------*/

static const char *write_text(const char *name, const char *text)
{
	const char *path = files_path(folder, name);
	files_write(path, text, strlen(text));
	return path;
}

/* The first sample of a file without names must not be lost. */
static void names_of_a_csv_file_that_are_numbers_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int regression;
		uint64_t n; /* samples with the first row; 0: it is taken for names */
	} rows[] = {
		{"6,148,72,1\n1,85,66,0\n8,183,64,1\n", 0, 3},
		{"5.1,-.5,1e3,setosa\n4.9,3.0,1.4,setosa\n", 0, 2},
		{"5.1,3.5\n4.9,3.0\n", 1, 2},
		{"1,2\n3,4\n", 0, 2},
		{"3,x\n4,y\n", 0, 2},
		{"0,1,2,3\n5,6,7,8\n", 0, 0},
		{"1,2,3,4\n5,6,7,8\n", 1, 0},
		{"a,2,3,4\n5,6,7,8\n", 0, 0},
		{"5.1,b,setosa\n4.9,3.0,setosa\n", 0, 0},
		{"2001,2002,label\n5,6,7\n", 0, 0},
		{"2001,2002,label\n5,6,x\n", 0, 2},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tn_dataset_options options = tn_dataset_defaults();
		const char *path = write_text("rows.csv", rows[i].text);
		options.regression = rows[i].regression;
		if (rows[i].n) {
			refused(path, &options, TN_FORMAT, "line 1: expected the names");
			refused(path, &options, TN_FORMAT, "set no_header");
			options.no_header = 1;
		}
		tn_dataset *dataset = open_set(path, &options);
		assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), rows[i].n + !rows[i].n);
		tn_dataset_destroy(dataset);
	}
	/* A column of texts is refused with and without names. */
	refused(write_text("texts.csv", "Ann,34,1\nBob,27,0\n"), NULL, TN_FORMAT, "set no_header");
	refused(write_text("texts.csv", "name,age,1\nBob,27,0\n"), NULL, TN_FORMAT,
		"line 2, column 1: field 1 ('name'): expected a number, found 'Bob'");
	struct tn_dataset_options options = tn_dataset_defaults();
	options.target = "1990";
	tn_dataset *dataset = open_set(write_text("years.csv", "1990,1991\n5,6\n7,8\n"), &options);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 2);
	tn_dataset_destroy(dataset);
}

static void a_csv_file_has_classes_in_its_last_column(void **state)
{
	(void)state;
	static const float expected[] = {5.1f, 3.5f, 4.9f, 3, 6.2f, 2.8f};
	clear();
	const char *path = write_text("iris.csv", "length,width,species\n5.1,3.5,setosa\n"
						  "4.9,3,virginica\n6.2,2.8,setosa\n");
	tn_dataset *dataset = open_set(path, NULL);
	assert_string_equal(tn_dataset_path(dataset), path);
	assert_int_equal(tn_dataset_class_count(dataset), 2);
	assert_string_equal(tn_dataset_class_name(dataset, 1), "virginica");
	const struct tn_batch batch = batch_of(dataset, TN_PART_TRAIN);
	assert_int_equal(batch.n, 3);
	assert_int_equal(batch.fields[0].dtype, TN_F32);
	assert_int_equal(batch.fields[0].shape[0], 2);
	assert_memory_equal(batch.data[0], expected, sizeof(expected));
	assert_memory_equal(batch.data[1], ((const int32_t[]){0, 1, 0}), 3 * sizeof(int32_t));
	finish(dataset);
}

static void the_target_may_be_another_column_or_a_number(void **state)
{
	(void)state;
	static const float without[] = {1, 3, 4, 6}, prices[] = {2, 5};
	clear();
	const char *path = write_text("a.csv", "a;price;b\n1;2;3\n4;5;6\n");
	struct tn_dataset_options options = tn_dataset_defaults();
	options.separator = ';';
	options.target = "price";
	tn_dataset *dataset = open_set(path, &options);
	assert_int_equal(tn_dataset_class_count(dataset), 2);
	assert_string_equal(tn_dataset_class_name(dataset, 1), "5");
	finish(dataset);
	options.regression = 1;
	dataset = open_set(path, &options);
	assert_int_equal(tn_dataset_class_count(dataset), 0);
	const struct tn_batch batch = batch_of(dataset, TN_PART_TRAIN);
	assert_int_equal(batch.fields[1].dtype, TN_F32);
	assert_int_equal(batch.fields[1].rank, 1);
	assert_memory_equal(batch.data[0], without, sizeof(without));
	assert_memory_equal(batch.data[1], prices, sizeof(prices));
	finish(dataset);
	options = tn_dataset_defaults();
	options.separator = ';';
	options.target = "price";
	options.n_classes = 3;
	dataset = open_set(path, &options);
	assert_int_equal(tn_dataset_class_count(dataset), 3);
	assert_string_equal(tn_dataset_class_name(dataset, 1), "5");
	assert_string_equal(tn_dataset_class_name(dataset, 2), "2");
	finish(dataset);
	options = tn_dataset_defaults();
	options.separator = ';';
	options.regression = 1;
	options.n_classes = 3;
	refused(path, &options, TN_INVALID_ARGUMENT, "n_classes: expected a data set of classes");
	path = write_text("b.csv", "1,2,3\n4,5,6\n");
	options = tn_dataset_defaults();
	options.no_header = 1;
	options.regression = 1;
	dataset = open_set(path, &options);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 2);
	finish(dataset);
	options = tn_dataset_defaults();
	options.no_header = 1;
	options.target = "a";
	refused(path, &options, TN_INVALID_ARGUMENT,
		"expected a header with the name of the target");
	path = write_text("a.csv", "price,b\n1,2\n");
	options = tn_dataset_defaults();
	options.target = "prise";
	options.regression = 1;
	refused(path, &options, TN_INVALID_ARGUMENT,
		"expected one column 'prise', the target, found 0; did you mean 'price'?");
	path = write_text("a.csv", "price,b,price\n1,2,3\n");
	options.target = "price";
	refused(path, &options, TN_INVALID_ARGUMENT,
		"expected one column 'price', the target, found 2");
}

static void numbers_of_a_table_are_finite(void **state)
{
	(void)state;
	clear();
	const char *path = write_text("a.csv", "a,b\n1,2\n3,NaN\n");
	struct tn_dataset_options options = tn_dataset_defaults();
	options.regression = 1;
	refused(path, &options, TN_FORMAT,
		"a.csv: line 3, column 3: field 2 ('b'): expected a finite number, found 'NaN'");
	path = write_text("a.csv", "a,b\n1,nan\n-inf,x\n");
	refused(path, NULL, TN_FORMAT,
		"a.csv: line 3, column 1: field 1 ('a'): expected a finite number, found '-inf'");
}

static void a_file_is_found_beside_the_program(void **state)
{
	(void)state;
	char former[4096];
	clear();
	write_text("here.csv", "a,b\n1,x\n2,y\n");
	assert_non_null(getcwd(former, sizeof(former)));
	assert_int_equal(chdir(folder), 0);
	tn_dataset *dataset = open_set("here.csv", NULL);
	assert_string_equal(tn_dataset_path(dataset), "./here.csv");
	tn_dataset_destroy(dataset);
	refused("there.csv", NULL, TN_NOT_FOUND, "there.csv: not found; searched ");
	assert_int_equal(chdir(former), 0);
}

static void tables_that_are_none_are_refused(void **state)
{
	(void)state;
	clear();
	refused(write_text("a.csv", "a,b\n1,x\n2\n"), NULL, TN_FORMAT, "a.csv: line 3");
	refused(write_text("a.csv", "a,b\n"), NULL, TN_FORMAT, "found 0 rows of 1 features");
	refused(write_text("a.csv", "b\nx\n"), NULL, TN_FORMAT, "found 1 rows of 0 features");
	refused(write_text("a.csv", ""), NULL, TN_FORMAT, "a.csv");
	const char *path = write_text("a.csv", "a,b\n1,x\n2,y\n");
	struct tn_dataset_options options = tn_dataset_defaults();
	options.digits_as_stored = 1;
	refused(path, &options, TN_INVALID_ARGUMENT, "none of the options of the digits");
	const char *pipe = files_path(folder, "pipe");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	refused(pipe, NULL, TN_IO, "expected a regular file, found a pipe");
}

static void known_data_sets_are_listed_and_located(void **state)
{
	(void)state;
	struct tn_error_info error;
	char *path = NULL;
	size_t n = 0;
	for (; tn_dataset_at(n); n++) {
		const struct tn_dataset_info *info = tn_dataset_at(n);
		assert_true(*info->name && *info->origin && info->package);
	}
	assert_string_equal(tn_dataset_at(0)->name, "digits");
	assert_null(tn_dataset_at(n + 1));
	assert_ok(tn_dataset_locate(folder, &path, &error));
	assert_string_equal(path, folder);
	tn_string_free(path);
	path = NULL;
	assert_status(tn_dataset_locate("", &path, &error), TN_INVALID_ARGUMENT);
	assert_status(tn_dataset_locate("fashion-mmist", &path, &error), TN_NOT_FOUND);
	assert_contains(error.text, "did you mean 'fashion-mnist'?");
	assert_null(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_of_cifar_10_has_fifty_thousand_images_or_fewer),
		cmocka_unit_test(a_folder_of_cifar_100_has_the_fine_labels),
		cmocka_unit_test(two_npy_files_are_features_and_classes),
		cmocka_unit_test(other_targets_are_kept_as_they_are),
		cmocka_unit_test(an_npz_file_may_have_three_parts),
		cmocka_unit_test(a_part_that_is_missing_can_be_split_off),
		cmocka_unit_test(bytes_with_classes_are_pictures),
		cmocka_unit_test(arrays_that_do_not_fit_are_refused),
		cmocka_unit_test(names_of_a_csv_file_that_are_numbers_are_refused),
		cmocka_unit_test(a_csv_file_has_classes_in_its_last_column),
		cmocka_unit_test(the_target_may_be_another_column_or_a_number),
		cmocka_unit_test(numbers_of_a_table_are_finite),
		cmocka_unit_test(a_file_is_found_beside_the_program),
		cmocka_unit_test(tables_that_are_none_are_refused),
		cmocka_unit_test(known_data_sets_are_listed_and_located),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
