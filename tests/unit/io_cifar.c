/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * CIFAR's binary files: both kinds are read, all malformed ones refused.
 */
#include <tenon/io.h>

#include "io_spoil.h"

#define PIXELS 3072

static int pixel(int record, int at)
{
	return (record * 7 + at * 13 + at / 1024 * 50) & 255;
}

/* A file of `n` records with `n_labels` labels each: record i has the labels i % 10 and i % 20 + 60
 * (CIFAR-100: i % 20 before). */
static unsigned char *make(int n, int n_labels, size_t *size)
{
	unsigned char *bytes = malloc((size_t)n * (PIXELS + 2) + 1), *to = bytes;
	assert_non_null(bytes);
	for (int i = 0; i < n; i++) {
		*to++ = (unsigned char)(n_labels == 1 ? i % 10 : i % 20);
		if (n_labels == 2)
			*to++ = (unsigned char)(i % 20 + 60);
		for (int at = 0; at < PIXELS; at++)
			*to++ = (unsigned char)pixel(i, at);
	}
	*size = (size_t)(to - bytes);
	return bytes;
}

static void check_images(const struct tn_host_array *images, int n)
{
	assert_int_equal(images->dtype, TN_U8);
	assert_int_equal(images->rank, 4);
	assert_memory_equal(images->shape, ((int64_t[]){n, 3, 32, 32}), 32);
	assert_int_equal(images->size_bytes, n * PIXELS);
	for (int i = 0; i < n * PIXELS; i++)
		assert_int_equal(((uint8_t *)images->data)[i], pixel(i / PIXELS, i % PIXELS));
}

static void check_labels(const struct tn_host_array *labels, int n, int modulo, int offset)
{
	assert_int_equal(labels->dtype, TN_I32);
	assert_int_equal(labels->rank, 1);
	assert_int_equal(labels->shape[0], n);
	assert_int_equal(labels->size_bytes, n * 4);
	for (int i = 0; i < n; i++)
		assert_int_equal(((int32_t *)labels->data)[i], i % modulo + offset);
}

/* 150 records are more than are read at once. */
static void images_and_labels_of_both_kinds_are_read(void **state)
{
	(void)state;
	static const int counts[] = {1, 64, 150};
	const char *path = files_path(folder, "data_batch_1.bin");
	for (int c = 0; c < 3; c++) {
		int n = counts[c];
		struct tn_host_array images, labels, coarse;
		size_t size;
		unsigned char *bytes = make(n, 1, &size);
		files_write(path, bytes, size);
		free(bytes);
		assert_ok(tn_cifar10_read(path, &images, &labels, NULL));
		check_images(&images, n);
		check_labels(&labels, n, 10, 0);
		tn_host_array_release(&images);
		tn_host_array_release(&labels);
		bytes = make(n, 2, &size);
		files_write(path, bytes, size);
		free(bytes);
		assert_ok(tn_cifar100_read(path, &images, &coarse, &labels, NULL));
		check_images(&images, n);
		check_labels(&coarse, n, 20, 0);
		check_labels(&labels, n, 20, 60);
		tn_host_array_release(&images);
		tn_host_array_release(&coarse);
		tn_host_array_release(&labels);
		assert_ok(tn_cifar100_read(path, &images, NULL, &labels, NULL));
		check_labels(&labels, n, 20, 60);
		tn_host_array_release(&images);
		tn_host_array_release(&labels);
	}
}

/* The readers of records with one label and with two. */
static tn_status read_cifar10(const char *path, struct tn_error_info *error)
{
	struct tn_host_array images = {.rank = 77}, labels = {.rank = 77};
	tn_status status = tn_cifar10_read(path, &images, &labels, error);
	if (status) {
		assert_true(images.rank == 77 && labels.rank == 77);
	} else {
		tn_host_array_release(&images);
		tn_host_array_release(&labels);
	}
	return status;
}

static tn_status read_cifar100(const char *path, struct tn_error_info *error)
{
	struct tn_host_array images = {.rank = 77}, coarse = {.rank = 77}, labels = {.rank = 77};
	tn_status status = tn_cifar100_read(path, &images, &coarse, &labels, error);
	if (status) {
		assert_true(images.rank == 77 && coarse.rank == 77 && labels.rank == 77);
	} else {
		tn_host_array_release(&images);
		tn_host_array_release(&coarse);
		tn_host_array_release(&labels);
	}
	return status;
}

static void refused(const char *path, int n_labels, tn_status expected, const char *part)
{
	spoil_refused(n_labels == 1 ? read_cifar10 : read_cifar100, path, expected, part);
}

static void files_of_the_other_kind_are_refused_by_name(void **state)
{
	(void)state;
	const char *path = files_path(folder, "test.bin");
	size_t size;
	unsigned char *bytes = make(3, 2, &size);
	files_write(path, bytes, size);
	free(bytes);
	refused(path, 1, TN_FORMAT,
		"expected records of 3073 bytes, found 9222 bytes, 3 more than 3 records (a file "
		"of "
		"CIFAR-100?)");
	bytes = make(3, 1, &size);
	files_write(path, bytes, size);
	free(bytes);
	refused(path, 2, TN_FORMAT,
		"expected records of 3074 bytes, found 9219 bytes, 3071 more than 2 records (a "
		"file "
		"of CIFAR-10?)");
	refused(files_path(folder, "none"), 1, TN_NOT_FOUND, "No such file");
	refused(files_path(folder, "."), 1, TN_IO, "found a folder");
}

static void every_label_out_of_range_is_refused_with_its_place(void **state)
{
	(void)state;
	const char *path = files_path(folder, "labels.bin");
	size_t size;
	unsigned char *bytes = make(70, 1, &size);
	bytes[66 * (PIXELS + 1)] = 10;
	files_write(path, bytes, size);
	free(bytes);
	refused(path, 1, TN_FORMAT,
		"offset 202818: record 66: expected a label from 0 to 9, found 10");
	bytes = make(2, 2, &size);
	bytes[0] = 20;
	files_write(path, bytes, size);
	refused(path, 2, TN_FORMAT,
		"offset 0: record 0: expected a coarse label from 0 to 19, found 20");
	bytes[0] = 19;
	bytes[PIXELS + 3] = 100;
	files_write(path, bytes, size);
	free(bytes);
	refused(path, 2, TN_FORMAT,
		"offset 3075: record 1: expected a fine label from 0 to 99, found 100");
}

static void every_truncation_is_refused(void **state)
{
	static spoil_reader *const readers[] = {read_cifar10, read_cifar100};
	(void)state;
	for (int n_labels = 1; n_labels <= 2; n_labels++) {
		spoil_reader *read = readers[n_labels - 1];
		size_t size;
		unsigned char *bytes = make(2, n_labels, &size);
		const size_t each = size / 2;
		spoil_truncations(read, "cut.bin", bytes, 0, each, "expected records of 307");
		spoil_truncations(read, "longer.bin", bytes, each + 1, each + 2,
				  "expected records of 307");
		free(bytes);
	}
}

/* Labels alone may be wrong. */
static void every_damaged_label_is_refused(void **state)
{
	(void)state;
	size_t size;
	unsigned char *bytes = make(1, 1, &size);
	assert_int_equal(spoil_bytes(read_cifar10, "damaged.bin", bytes, 0, size, 0x80), 1);
	free(bytes);
	bytes = make(1, 2, &size);
	assert_int_equal(spoil_bytes(read_cifar100, "damaged.bin", bytes, 0, size, 0x80), 2);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_and_labels_of_both_kinds_are_read),
		cmocka_unit_test(files_of_the_other_kind_are_refused_by_name),
		cmocka_unit_test(every_label_out_of_range_is_refused_with_its_place),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(every_damaged_label_is_refused),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
