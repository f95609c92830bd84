/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches of a data loader: order, position, normalisation, and options that are refused.
 */
#include <tenon/augment.h>

#include "check.h"
#include "data/shuffle.h"

#define N 23
#define H 3
#define W 4

/* 23 images of 3 x 4; all pixels of image i are i + 1, its label is i mod 5. */
static tn_dataset *make_dataset(void)
{
	static uint8_t images[N * H * W];
	static int32_t labels[N];
	for (int i = 0; i < N; i++) {
		memset(images + i * H * W, i + 1, H * W);
		labels[i] = i % 5;
	}
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = H;
	source.width = W;
	source.name = "numbered";
	source.images = images;
	source.labels = labels;
	source.n_images = N;
	source.n_classes = 5;
	source.scale = 1;
	tn_dataset *dataset;
	assert_ok(tn_dataset_create(&source, &dataset, NULL));
	return dataset;
}

static tn_data_loader *make_loader(const tn_dataset *dataset, uint32_t batch, uint64_t seed,
				   uint32_t drop_last)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = batch;
	options.seed = seed;
	options.shuffle = 1;
	options.drop_last = drop_last;
	tn_data_loader *loader;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	return loader;
}

/* The number of the image that a normalised pixel belongs to. */
static int number_of(const tn_dataset *dataset, float pixel)
{
	const struct tn_input_format *format = tn_dataset_format(dataset);
	return (int)lroundf(pixel * format->deviation[0] + format->mean[0]) - 1;
}

static void an_epoch_gives_every_image_once_and_a_short_last_batch(void **state)
{
	(void)state;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	int seen[N] = {0};
	tn_dataset *dataset = make_dataset();
	tn_data_loader *loader = make_loader(dataset, 5, 1, 0);
	assert_int_equal(tn_data_loader_batches(loader), 5);
	for (uint32_t b = 0; b < 5; b++) {
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		assert_int_equal(batch.n, b < 4 ? 5 : 3);
		assert_int_equal(batch.n_fields, 2);
		assert_int_equal(batch.epoch, 0);
		assert_int_equal(batch.index, 5 * b);
		const float *images = batch.data[0];
		const int32_t *labels = batch.data[1];
		for (uint32_t i = 0; i < batch.n; i++) {
			int number = number_of(dataset, images[i * H * W]);
			assert_in_range(number, 0, N - 1);
			assert_int_equal(number, batch.samples[i]);
			assert_int_equal(number, tn_data_loader_image(loader, 5 * b + i));
			assert_int_equal(labels[i], number % 5);
			seen[number]++;
		}
	}
	for (int i = 0; i < N; i++)
		assert_int_equal(seen[i], 1);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_int_equal(batch.n, 0);
	assert_int_equal(tn_data_loader_position(loader).epoch, 1);
	assert_int_equal(tn_data_loader_position(loader).index, 0);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void a_short_last_batch_is_dropped_when_asked(void **state)
{
	(void)state;
	struct tn_batch batch = {.struct_size = sizeof(batch), .n = 1};
	int batches = 0;
	tn_dataset *dataset = make_dataset();
	tn_data_loader *loader = make_loader(dataset, 5, 1, 1);
	assert_int_equal(tn_data_loader_batches(loader), 4);
	while (batch.n) {
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		assert_true(batch.n == 5 || batch.n == 0);
		batches += batch.n != 0;
	}
	assert_int_equal(batches, 4);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void images_are_normalised(void **state)
{
	(void)state;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	double sum = 0, squares = 0;
	tn_dataset *dataset = make_dataset();
	tn_data_loader *loader = make_loader(dataset, N, 1, 0);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	const float *images = batch.data[0];
	for (int i = 0; i < N * H * W; i++) {
		sum += (double)images[i];
		squares += (double)images[i] * (double)images[i];
	}
	/* f32 values of size 1: the mean of n errors of 2^-24 each,
	 * and as many of mean and deviation. */
	assert_close(sum / (N * H * W), 0, 1e-6);
	assert_close(squares / (N * H * W), 1, 1e-6);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void orders_differ_by_epoch_and_seed_and_by_nothing_else(void **state)
{
	(void)state;
	uint32_t a[100], b[100];
	tn_shuffle(7, 3, a, 100);
	tn_shuffle(7, 3, b, 100);
	assert_memory_equal(a, b, sizeof(a));
	tn_shuffle(7, 4, b, 100);
	assert_memory_not_equal(a, b, sizeof(a));
	tn_shuffle(8, 3, b, 100);
	assert_memory_not_equal(a, b, sizeof(a));
}

/* Recorded once: it must never change, or saved positions would select other batches. */
static void the_order_of_a_seed_is_fixed_for_ever(void **state)
{
	(void)state;
	static const uint32_t expected[10] = {0, 5, 7, 2, 9, 3, 8, 6, 1, 4};
	uint32_t order[10];
	tn_shuffle(1, 0, order, 10);
	assert_memory_equal(order, expected, sizeof(order));
}

/* All 6 orders of 3: 1000 times each of 6000, standard deviation sqrt(6000 * 1/6 * 5/6) = 29; five
 * of them are 145. */
static void all_orders_are_equally_likely(void **state)
{
	(void)state;
	int count[27] = {0};
	for (uint64_t seed = 0; seed < 6000; seed++) {
		uint32_t order[3];
		tn_shuffle(seed, 0, order, 3);
		count[order[0] * 9 + order[1] * 3 + order[2]]++;
	}
	int orders = 0;
	for (int i = 0; i < 27; i++) {
		if (count[i] == 0)
			continue;
		orders++;
		assert_close(count[i], 1000, 145);
	}
	assert_int_equal(orders, 6);
}

static void a_loader_set_to_a_position_goes_on_from_it(void **state)
{
	(void)state;
	struct tn_batch a = {.struct_size = sizeof(a)}, b = {.struct_size = sizeof(b)};
	tn_dataset *dataset = make_dataset();
	for (int stop = 0; stop < 14; stop++) {
		tn_data_loader *first = make_loader(dataset, 5, 9, 0);
		tn_data_loader *second = make_loader(dataset, 5, 9, 0);
		for (int i = 0; i < stop; i++)
			assert_ok(tn_data_loader_next(first, &a, NULL));
		assert_ok(tn_data_loader_seek(second, tn_data_loader_position(first), NULL));
		for (int i = 0; i < 8; i++) {
			assert_ok(tn_data_loader_next(first, &a, NULL));
			assert_ok(tn_data_loader_next(second, &b, NULL));
			assert_int_equal(a.n, b.n);
			assert_memory_equal(a.data[0], b.data[0], a.n * H * W * sizeof(float));
			assert_memory_equal(a.data[1], b.data[1], a.n * sizeof(int32_t));
			assert_memory_equal(a.samples, b.samples, a.n * sizeof(uint64_t));
		}
		tn_data_loader_destroy(first);
		tn_data_loader_destroy(second);
	}
	tn_dataset_destroy(dataset);
}

static void a_position_beyond_the_part_is_refused(void **state)
{
	(void)state;
	tn_dataset *dataset = make_dataset();
	tn_data_loader *loader = make_loader(dataset, 5, 9, 0);
	struct tn_data_position position = {.epoch = 0, .index = N};
	assert_ok(tn_data_loader_seek(loader, position, NULL));
	position.index++;
	assert_status(tn_data_loader_seek(loader, position, NULL), TN_INVALID_ARGUMENT);
	assert_int_equal(tn_data_loader_image(loader, N), UINT64_MAX);
	position = (struct tn_data_position){.epoch = UINT64_MAX};
	assert_status(tn_data_loader_seek(loader, position, NULL), TN_INVALID_ARGUMENT);
	position.epoch = UINT64_MAX >> 2;
	assert_ok(tn_data_loader_seek(loader, position, NULL));
	assert_int_not_equal(tn_data_loader_image(loader, 0), tn_data_loader_image(loader, 1));
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

/* 2^32 samples of 48 bytes would need 192 GiB. */
static void a_batch_takes_memory_for_the_samples_there_are(void **state)
{
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	(void)state;
	tn_dataset *dataset = make_dataset();
	tn_data_loader *loader = make_loader(dataset, UINT32_MAX, 9, 0);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_int_equal(batch.n, N);
	tn_data_loader_destroy(loader);
	loader = make_loader(dataset, UINT32_MAX, 9, 1);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_int_equal(batch.n, 0);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void without_shuffling_images_come_in_file_order(void **state)
{
	(void)state;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 1;
	tn_dataset *dataset = make_dataset();
	tn_data_loader *loader;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	for (uint64_t i = 0; i < N; i++)
		assert_int_equal(tn_data_loader_image(loader, i), i);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void an_empty_part_gives_no_batch(void **state)
{
	(void)state;
	struct tn_batch batch = {.struct_size = sizeof(batch), .n = 1};
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 1;
	tn_dataset *dataset = make_dataset();
	tn_data_loader *loader;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TEST, &options, &loader, NULL));
	assert_int_equal(tn_data_loader_batches(loader), 0);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_int_equal(batch.n, 0);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void impossible_options_are_refused(void **state)
{
	(void)state;
	tn_dataset *dataset = make_dataset();
	tn_data_loader *loader;
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	struct tn_data_loader_options options = tn_data_loader_defaults();
	assert_status(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL),
		      TN_INVALID_ARGUMENT);
	options.batch_size = 1;
	assert_status(tn_data_loader_create(dataset, TN_N_PARTS, &options, &loader, NULL),
		      TN_INVALID_ARGUMENT);
	options.augmentation = &augmentation;
	augmentation.max_shift = H;
	assert_status(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL),
		      TN_INVALID_ARGUMENT);
	tn_dataset_destroy(dataset);
}

static void impossible_sources_are_refused(void **state)
{
	(void)state;
	uint8_t image[4] = {0};
	int32_t label = 0;
	tn_dataset *dataset;
	struct tn_dataset_source good = tn_dataset_source_defaults();
	good.channels = 1;
	good.height = 2;
	good.width = 2;
	good.images = image;
	good.labels = &label;
	good.n_images = 1;
	good.n_classes = 1;
	struct tn_dataset_source bad[7] = {good, good, good, good, good, good, good};
	bad[0].channels = 5;
	bad[1].height = 0;
	bad[2].n_images = 0;
	bad[3].labels = NULL;
	bad[4].n_classes = 0;
	bad[5].test_fraction = 1.001;
	bad[6].width = UINT32_MAX;
	for (int i = 0; i < 7; i++)
		assert_status(tn_dataset_create(&bad[i], &dataset, NULL),
			      i < 6 ? TN_INVALID_ARGUMENT : TN_LIMIT);
	label = 1;
	assert_status(tn_dataset_create(&good, &dataset, NULL), TN_INVALID_ARGUMENT);
	label = 0;
	assert_ok(tn_dataset_create(&good, &dataset, NULL));
	tn_dataset_destroy(dataset);
}

/* A given test part, and a given mean and deviation. */
static void images_from_memory_may_have_parts_and_a_normalisation(void **state)
{
	(void)state;
	static const uint8_t images[4] = {10, 20, 30, 40}, parts[4] = {2, 0, 1, 2};
	static const int32_t labels[4] = {0, 1, 0, 1};
	static const uint8_t expected[3][2] = {{20}, {30}, {10, 40}};
	struct tn_input_format as = tn_input_format_defaults();
	as.channels = 1;
	as.mean[0] = 0.5f;
	as.deviation[0] = 0.25f;
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = 1;
	source.width = 1;
	source.images = images;
	source.labels = labels;
	source.n_images = 4;
	source.n_classes = 2;
	source.parts = parts;
	source.normalise_as = &as;
	struct tn_error_info error;
	tn_dataset *dataset;
	assert_ok(tn_dataset_create(&source, &dataset, NULL));
	for (int part = 0; part < TN_N_PARTS; part++) {
		uint64_t n = part == TN_PART_TEST ? 2 : 1;
		assert_int_equal(tn_dataset_count(dataset, part), n);
		for (uint64_t i = 0; i < n; i++)
			assert_int_equal(*tn_dataset_image(dataset, part, i, NULL),
					 expected[part][i]);
	}
	tn_data_loader *loader = make_loader(dataset, 1, 0, 0);
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_close(*(const float *)batch.data[0], (20 / 255.0 - 0.5) / 0.25, 1e-6);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
	source.validation_fraction = 0.5;
	assert_status(tn_dataset_create(&source, &dataset, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "expected no validation_fraction");
	source.validation_fraction = 0;
	source.parts = (const uint8_t[]){0, 1, 3, 0};
	assert_status(tn_dataset_create(&source, &dataset, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "sample 2: expected a part from 0 to 2, found 3");
	source.parts = NULL;
	struct tn_input_format wrong = as;
	wrong.channels = 3;
	source.normalise_as = &wrong;
	assert_status(tn_dataset_create(&source, &dataset, &error), TN_SHAPE);
	wrong.channels = 1;
	wrong.deviation[0] = 0;
	assert_status(tn_dataset_create(&source, &dataset, &error), TN_INVALID_ARGUMENT);
	wrong.struct_size = 0;
	assert_status(tn_dataset_create(&source, &dataset, &error), TN_INVALID_ARGUMENT);
}

/* One image of 3 x 4 with pixels 1 .. 12, moved in every epoch. */
static void a_moved_image_is_the_image_shifted_and_mirrored(void **state)
{
	(void)state;
	uint8_t image[H * W];
	int32_t label = 0;
	int shifts[9] = {0}, mirrored[2] = {0};
	for (int i = 0; i < H * W; i++)
		image[i] = (uint8_t)(i + 1);
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = H;
	source.width = W;
	source.images = image;
	source.labels = &label;
	source.n_images = 1;
	source.n_classes = 1;
	source.scale = 1;
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	augmentation.max_shift = 1;
	augmentation.hflip_prob = 0.5;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 1;
	options.augmentation = &augmentation;
	tn_dataset *dataset;
	tn_data_loader *loader;
	assert_ok(tn_dataset_create(&source, &dataset, NULL));
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	const struct tn_input_format *format = tn_dataset_format(dataset);
	for (uint64_t epoch = 0; epoch < 200; epoch++) {
		struct tn_batch batch = {.struct_size = sizeof(batch)};
		int matches = 0;
		assert_ok(tn_data_loader_seek(loader, (struct tn_data_position){epoch, 0}, NULL));
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		const float *out = batch.data[0];
		for (int move = 0; move < 18; move++) {
			int dy = move % 3 - 1, dx = move / 3 % 3 - 1, mirror = move / 9, equal = 1;
			for (int y = 0; y < H; y++) {
				for (int x = 0; x < W; x++) {
					int inside = y - dy >= 0 && y - dy < H && x - dx >= 0 &&
						     x - dx < W;
					int from = mirror ? W - 1 - (x - dx) : x - dx;
					float value = inside ? image[(y - dy) * W + from] : 0;
					equal &= out[y * W + x] ==
						 (value - format->mean[0]) / format->deviation[0];
				}
			}
			matches += equal;
			shifts[move % 9] += equal;
			mirrored[mirror] += equal;
		}
		assert_int_equal(matches, 1);
	}
	for (int i = 0; i < 9; i++)
		assert_true(shifts[i] > 0);
	/* 100 of 200, standard deviation 7.1. */
	assert_close(mirrored[0], 100, 36);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_epoch_gives_every_image_once_and_a_short_last_batch),
		cmocka_unit_test(a_short_last_batch_is_dropped_when_asked),
		cmocka_unit_test(images_are_normalised),
		cmocka_unit_test(orders_differ_by_epoch_and_seed_and_by_nothing_else),
		cmocka_unit_test(the_order_of_a_seed_is_fixed_for_ever),
		cmocka_unit_test(all_orders_are_equally_likely),
		cmocka_unit_test(a_loader_set_to_a_position_goes_on_from_it),
		cmocka_unit_test(a_position_beyond_the_part_is_refused),
		cmocka_unit_test(a_batch_takes_memory_for_the_samples_there_are),
		cmocka_unit_test(without_shuffling_images_come_in_file_order),
		cmocka_unit_test(an_empty_part_gives_no_batch),
		cmocka_unit_test(impossible_options_are_refused),
		cmocka_unit_test(impossible_sources_are_refused),
		cmocka_unit_test(images_from_memory_may_have_parts_and_a_normalisation),
		cmocka_unit_test(a_moved_image_is_the_image_shifted_and_mirrored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
