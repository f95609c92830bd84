/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Weighted samples, and folds for cross-validation. */
#include <tenon/augment.h>
#include <tenon/data.h>

#include "base/error.h"
#include "check.h"
#include "data/shuffle.h"

#define N 47

/* 47 pictures of one pixel, i; of class 0 (30 of them), 1 (12) and 2 (5); 7 are for tests. */
static int class_of(int i)
{
	return i < 30 ? 0 : i < 42 ? 1 : 2;
}

static tn_dataset *make_pictures(double test_fraction)
{
	uint8_t images[N];
	int32_t labels[N];
	for (int i = 0; i < N; i++) {
		images[i] = (uint8_t)i;
		labels[i] = class_of(i);
	}
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = 1;
	source.width = 1;
	source.name = "numbers";
	source.images = images;
	source.labels = labels;
	source.n_images = N;
	source.n_classes = 3;
	source.test_fraction = test_fraction;
	tn_dataset *dataset = NULL;
	assert_ok(tn_dataset_create(&source, &dataset, NULL));
	return dataset;
}

/* ---- Weights ---------------------------------------------------------------------------------*/

static void samples_come_in_proportion_to_their_weights(void **state)
{
	(void)state;
	double weights[N] = {0};
	int seen[N] = {0}, epochs_differ = 0, n = 0;
	uint64_t first[N];
	weights[3] = 1;
	weights[17] = 2;
	weights[46] = 5;
	tn_dataset *dataset = make_pictures(0);
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 10;
	options.seed = 8;
	options.weights = weights;
	tn_data_loader *loader;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	weights[0] = 1e9; /* they were copied */
	assert_int_equal(tn_data_loader_batches(loader), 5);
	for (int epoch = 0; epoch < 100;) {
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		for (uint32_t i = 0; i < batch.n; i++, n++) {
			uint64_t number = batch.samples[i];
			assert_int_equal(number, tn_data_loader_image(loader, batch.index + i));
			assert_int_equal(((const int32_t *)batch.data[1])[i],
					 class_of((int)number));
			seen[number]++;
			if (epoch == 0)
				first[batch.index + i] = number;
			else if (epoch == 1)
				epochs_differ |= first[batch.index + i] != number;
		}
		epoch += batch.n == 0;
	}
	assert_int_equal(n, 100 * N);
	assert_true(epochs_differ);
	assert_int_equal(seen[3] + seen[17] + seen[46], 100 * N);
	/* 4700 draws; standard deviation sqrt(4700 p (1 - p)) = 23, 30, 33; four of them. */
	assert_close(seen[3], 4700 / 8.0, 92);
	assert_close(seen[17], 4700 / 4.0, 120);
	assert_close(seen[46], 4700 * 5 / 8.0, 132);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

/* Computed with Python from Philox4x32-10 as well.  It must never change, or saved positions would
 * select other batches. */
static void the_draws_of_a_seed_are_fixed_for_ever(void **state)
{
	(void)state;
	static const double until[10] = {0.5, 0.5, 2, 3, 3.25, 5, 6, 6, 7.5, 9};
	static const uint32_t expected[10] = {5, 3, 2, 5, 6, 0, 2, 8, 3, 9};
	uint32_t order[10];
	tn_draw_weighted(1, 0, until, order, 10);
	assert_memory_equal(order, expected, sizeof(order));
}

static void a_weighted_loader_continues_from_a_position(void **state)
{
	(void)state;
	double weights[N];
	struct tn_batch a = {.struct_size = sizeof(a)}, b = {.struct_size = sizeof(b)};
	for (int i = 0; i < N; i++)
		weights[i] = 1 + i % 3;
	tn_dataset *dataset = make_pictures(0);
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 10;
	options.weights = weights;
	tn_data_loader *first, *second;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &first, NULL));
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &second, NULL));
	for (int i = 0; i < 8; i++)
		assert_ok(tn_data_loader_next(first, &a, NULL));
	assert_ok(tn_data_loader_seek(second, tn_data_loader_position(first), NULL));
	for (int i = 0; i < 8; i++) {
		assert_ok(tn_data_loader_next(first, &a, NULL));
		assert_ok(tn_data_loader_next(second, &b, NULL));
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.samples, b.samples, a.n * sizeof(uint64_t));
		assert_memory_equal(a.data[0], b.data[0], a.n * sizeof(float));
	}
	tn_data_loader_destroy(first);
	tn_data_loader_destroy(second);
	tn_dataset_destroy(dataset);
}

static tn_status draw(void *user, struct tn_sample *sample, struct tn_error_info *error)
{
	(void)error;
	assert_int_equal(sample->number, *(const uint64_t *)user);
	*(float *)sample->data[0] = (float)(tn_sample_random(sample, 0) >> 8);
	return TN_OK;
}

/* The only sample that is drawn is transformed in another way each time. */
static void a_sample_drawn_twice_has_two_transforms(void **state)
{
	(void)state;
	uint64_t only = 5;
	double weights[N] = {[5] = 1};
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	tn_dataset *dataset = make_pictures(0);
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = N;
	options.weights = weights;
	options.transform = draw;
	options.user = &only;
	tn_data_loader *loader;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	for (uint32_t i = 1; i < batch.n; i++) {
		for (uint32_t k = 0; k < i; k++)
			assert_true(((const float *)batch.data[0])[i] !=
				    ((const float *)batch.data[0])[k]);
	}
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void impossible_weights_are_refused(void **state)
{
	(void)state;
	double weights[N] = {1};
	struct tn_error_info error;
	tn_dataset *dataset = make_pictures(0);
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 10;
	options.weights = weights;
	tn_data_loader *loader;
	static const double wrong[] = {-1e-9, NAN, INFINITY};
	for (int i = 0; i < 3; i++) {
		weights[7] = wrong[i];
		assert_status(
			tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error),
			TN_INVALID_ARGUMENT);
		assert_contains(error.text, "weights: sample 7: expected a finite number");
	}
	weights[0] = weights[7] = 0;
	assert_status(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error),
		      TN_INVALID_ARGUMENT);
	assert_contains(error.text, "weights: expected a positive, finite sum, found 0");
	weights[0] = weights[7] = 1.5e308;
	assert_status(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error),
		      TN_INVALID_ARGUMENT);
	tn_dataset_destroy(dataset);
}

/* ---- Folds -----------------------------------------------------------------------------------*/

/* Counts how often each picture is in a part. */
static void count(const tn_dataset *dataset, int part, int seen[N])
{
	for (uint64_t i = 0; i < tn_dataset_count(dataset, part); i++)
		seen[*tn_dataset_image(dataset, part, i, NULL)]++;
}

static tn_dataset *fold_of(const tn_dataset *dataset, uint32_t n, uint32_t fold, uint32_t stratify,
			   uint64_t seed)
{
	tn_dataset *out = NULL;
	struct tn_fold_options options = tn_fold_defaults();
	options.n_folds = n;
	options.fold = fold;
	options.stratify = stratify;
	options.seed = seed;
	assert_ok(tn_dataset_fold(dataset, &options, &out, NULL));
	return out;
}

static void each_sample_is_validated_once(void **state)
{
	(void)state;
	tn_dataset *dataset = make_pictures(0.15);
	uint64_t n = tn_dataset_count(dataset, TN_PART_TRAIN);
	int tests[N] = {0};
	count(dataset, TN_PART_TEST, tests);
	for (uint32_t k = 2; k <= n; k += 5) {
		int validated[N] = {0};
		for (uint32_t i = 0; i < k; i++) {
			int seen[N] = {0}, tested[N] = {0};
			tn_dataset *fold = fold_of(dataset, k, i, i % 3, 4);
			uint64_t size = tn_dataset_count(fold, TN_PART_VALIDATION);
			assert_in_range(size, n / k, n / k + (n % k != 0));
			count(fold, TN_PART_VALIDATION, seen);
			count(fold, TN_PART_TRAIN, seen);
			count(fold, TN_PART_TEST, tested);
			for (int p = 0; p < N; p++)
				assert_int_equal(seen[p] + tests[p], 1);
			assert_memory_equal(tested, tests, sizeof(tests));
			tn_dataset_destroy(fold);
			fold = fold_of(dataset, k, i, 2, 4);
			count(fold, TN_PART_VALIDATION, validated);
			tn_dataset_destroy(fold);
		}
		for (int p = 0; p < N; p++)
			assert_int_equal(validated[p] + tests[p], 1);
	}
	tn_dataset_destroy(dataset);
}

static void stratified_folds_have_the_same_share_of_each_class(void **state)
{
	(void)state;
	static const int sizes[3] = {30, 12, 5};
	int differs = 0;
	tn_dataset *dataset = make_pictures(0);
	for (uint32_t i = 0; i < 5; i++) {
		int seen[N] = {0}, other[N] = {0}, classes[3] = {0};
		tn_dataset *fold = fold_of(dataset, 5, i, 2, 1),
			   *again = fold_of(dataset, 5, i, 2, 1);
		count(fold, TN_PART_VALIDATION, seen);
		count(again, TN_PART_VALIDATION, other);
		assert_memory_equal(seen, other, sizeof(seen));
		for (int p = 0; p < N; p++)
			classes[class_of(p)] += seen[p];
		for (int c = 0; c < 3; c++)
			assert_in_range(classes[c], sizes[c] / 5, (sizes[c] + 4) / 5);
		tn_dataset_destroy(again);
		again = fold_of(dataset, 5, i, 2, 2);
		memset(other, 0, sizeof(other));
		count(again, TN_PART_VALIDATION, other);
		differs |= memcmp(seen, other, sizeof(seen)) != 0;
		tn_dataset_destroy(again);
		tn_dataset_destroy(fold);
	}
	assert_true(differs);
	tn_dataset_destroy(dataset);
}

static void a_fold_lives_without_its_origin_and_is_normalised_anew(void **state)
{
	(void)state;
	static const char *const names[] = {"one", "two", "three"};
	uint8_t images[6] = {0, 10, 20, 30, 40, 50};
	int32_t labels[6] = {0, 1, 2, 0, 1, 2};
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = 1;
	source.width = 1;
	source.name = "six";
	source.images = images;
	source.labels = labels;
	source.n_images = 6;
	source.n_classes = 3;
	source.class_names = names;
	tn_dataset *dataset = NULL;
	assert_ok(tn_dataset_create(&source, &dataset, NULL));
	assert_close(tn_dataset_format(dataset)->mean[0], 25.0 / 255, 1e-7);
	tn_dataset *fold = fold_of(dataset, 2, 0, 0, 0), *second = fold_of(fold, 3, 1, 0, 0);
	tn_dataset_destroy(dataset);
	double sum = 0;
	for (uint64_t i = 0; i < 3; i++)
		sum += *tn_dataset_image(fold, TN_PART_TRAIN, i, NULL);
	assert_close(tn_dataset_format(fold)->mean[0], sum / 3 / 255, 1e-7);
	assert_string_equal(tn_dataset_name(fold), "six");
	assert_string_equal(tn_dataset_class_name(fold, 2), "three");
	tn_dataset_destroy(fold);
	/* A fold of a fold is one of all its samples but those for tests. */
	assert_int_equal(tn_dataset_count(second, TN_PART_TRAIN), 4);
	assert_int_equal(tn_dataset_count(second, TN_PART_VALIDATION), 2);
	assert_non_null(tn_dataset_image(second, TN_PART_TRAIN, 3, NULL));
	tn_dataset_destroy(second);
}

static void other_samples_are_folded_too(void **state)
{
	(void)state;
	static const double values[9] = {1, 1, 1, 2, 2, 2, 3, 3, 3};
	static const struct tn_field fields[] = {{.dtype = TN_F64}, {.dtype = TN_F64}};
	static const void *const data[] = {values, values};
	tn_dataset *dataset = NULL;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	source.n_fields = 2;
	source.fields = fields;
	source.n = 9;
	source.data = data;
	assert_ok(tn_dataset_from_fields(&source, &dataset, NULL));
	for (uint32_t i = 0; i < 3; i++) {
		tn_dataset *fold = fold_of(dataset, 3, i, 2, 77);
		tn_data_loader *loader;
		struct tn_data_loader_options loading = tn_data_loader_defaults();
		loading.batch_size = 9;
		assert_ok(tn_data_loader_create(fold, TN_PART_VALIDATION, &loading, &loader, NULL));
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		assert_int_equal(batch.n, 3);
		assert_memory_equal(batch.data[1], ((const double[]){1, 2, 3}), 24);
		tn_data_loader_destroy(loader);
		tn_dataset_destroy(fold);
	}
	tn_dataset_destroy(dataset);
}

static void impossible_folds_are_refused(void **state)
{
	(void)state;
	static const struct {
		struct tn_fold_options options;
		const char *part;
	} cases[] = {
		{{.n_folds = 1}, "numbers: expected 2 to 47 folds, the number of samples, found 1"},
		{{.n_folds = 48}, "expected 2 to 47 folds"},
		{{.n_folds = 5, .fold = 5}, "expected a fold from 0 to 4, found 5"},
		{{.n_folds = 5, .stratify = 3}, "stratify: expected 0, or 1 + a field below 2"},
	};
	tn_dataset *dataset = make_pictures(0), *out = NULL;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_error_info error;
		struct tn_fold_options options = cases[i].options;
		options.struct_size = sizeof(options);
		assert_status(tn_dataset_fold(dataset, &options, &out, &error),
			      TN_INVALID_ARGUMENT);
		assert_contains(error.text, cases[i].part);
		assert_null(out);
	}
	tn_dataset_destroy(dataset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_come_in_proportion_to_their_weights),
		cmocka_unit_test(the_draws_of_a_seed_are_fixed_for_ever),
		cmocka_unit_test(a_weighted_loader_continues_from_a_position),
		cmocka_unit_test(a_sample_drawn_twice_has_two_transforms),
		cmocka_unit_test(impossible_weights_are_refused),
		cmocka_unit_test(each_sample_is_validated_once),
		cmocka_unit_test(stratified_folds_have_the_same_share_of_each_class),
		cmocka_unit_test(a_fold_lives_without_its_origin_and_is_normalised_anew),
		cmocka_unit_test(other_samples_are_folded_too),
		cmocka_unit_test(impossible_folds_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
