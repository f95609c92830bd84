/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The real Fashion-MNIST, if Debian's dataset-fashion-mnist is installed. */
#include "config.h"

#include <tenon/data.h>
#include <unistd.h>

#include "check.h"

static void fashion_mnist_is_found_by_name(void **state)
{
	(void)state;
	tn_dataset *dataset;
	uint64_t count[10] = {0};
	struct tn_dataset_options options = tn_dataset_defaults();
	options.validation_fraction = 0.1;
	assert_ok(tn_dataset_open("fashion-mnist", &options, &dataset, NULL));
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 54000);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_VALIDATION), 6000);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 10000);
	/* The published figures are of all 60,000; a tenth is kept for validation. */
	assert_close(tn_dataset_format(dataset)->mean[0], 0.2860, 0.001);
	assert_close(tn_dataset_format(dataset)->deviation[0], 0.3530, 0.001);
	assert_string_equal(tn_dataset_class_name(dataset, 9), "ankle boot");
	assert_contains(tn_dataset_origin(dataset), "Zalando");
	for (uint64_t i = 0; i < 10000; i++) {
		int32_t label;
		tn_dataset_image(dataset, TN_PART_TEST, i, &label);
		count[label]++;
	}
	for (int c = 0; c < 10; c++)
		assert_int_equal(count[c], 1000);
	tn_dataset_destroy(dataset);
}

int main(void)
{
#ifdef HAVE_ZLIB
	int present = access("/usr/share/datasets/fashion-mnist", F_OK) == 0;
#else
	int present = 0;
#endif
	const struct CMUnitTest tests[] = {cmocka_unit_test(fashion_mnist_is_found_by_name)};
	return present ? cmocka_run_group_tests(tests, NULL, NULL) : TEST_SKIPPED;
}
