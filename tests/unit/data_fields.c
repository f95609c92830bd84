/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Data sets of any tensors. */
#include <tenon/augment.h>

#include "base/error.h"
#include "check.h"

#define N 20

/* 20 samples: x (2) = {i, -i}, y () = i mod 4 as i64, mask (1, 3) of bool = {i & 1, 1, 0}. */
static float x[N][2];
static int64_t y[N];
static uint8_t mask[N][3];
static const struct tn_field fields[] = {
	{.dtype = TN_F32, .rank = 1, .shape = {2}},
	{.dtype = TN_I64},
	{.name = "mask", .dtype = TN_BOOL, .rank = 2, .shape = {1, 3}},
};
static const void *const data[] = {x, y, mask};

static int fill(void **state)
{
	(void)state;
	for (int i = 0; i < N; i++) {
		x[i][0] = (float)i;
		x[i][1] = (float)-i;
		y[i] = i % 4;
		mask[i][0] = i & 1;
		mask[i][1] = 1;
	}
	return 0;
}

static struct tn_dataset_fields three_fields(void)
{
	return (struct tn_dataset_fields){.struct_size = sizeof(struct tn_dataset_fields),
					  .n_fields = 3,
					  .fields = fields,
					  .n = N,
					  .data = data};
}

static tn_dataset *make(const struct tn_dataset_fields *source)
{
	struct tn_error_info error = {0};
	tn_dataset *dataset = NULL;
	tn_status status = tn_dataset_from_fields(source, &dataset, &error);
	if (status != TN_OK)
		fail_msg("%s", error.text);
	return dataset;
}

static tn_data_loader *load(const tn_dataset *dataset, int part, uint32_t batch_size)
{
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options loading = tn_data_loader_defaults();
	loading.batch_size = batch_size;
	assert_ok(tn_data_loader_create(dataset, part, &loading, &loader, NULL));
	return loader;
}

static void fields_reach_batches_as_they_are(void **state)
{
	(void)state;
	const struct tn_dataset_fields source = three_fields();
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct tn_field field;
	tn_dataset *dataset = make(&source);
	assert_int_equal(tn_dataset_field_count(dataset), 3);
	assert_ok(tn_dataset_field_at(dataset, 2, &field));
	assert_string_equal(field.name, "mask");
	assert_int_equal(field.dtype, TN_BOOL);
	assert_int_equal(field.rank, 2);
	assert_int_equal(field.shape[1], 3);
	assert_ok(tn_dataset_field_at(dataset, 1, &field));
	assert_string_equal(field.name, "y");
	assert_int_equal(field.rank, 0);
	assert_status(tn_dataset_field_at(dataset, 3, &field), TN_INVALID_ARGUMENT);
	assert_null(tn_dataset_format(dataset));
	assert_int_equal(tn_dataset_class_count(dataset), 0);
	assert_null(tn_dataset_class_name(dataset, 0));
	assert_null(tn_dataset_image(dataset, TN_PART_TRAIN, 0, NULL));
	assert_string_equal(tn_dataset_name(dataset), "");
	tn_data_loader *loader = load(dataset, TN_PART_TRAIN, 8);
	assert_ok(tn_data_loader_field_at(loader, 0, &field));
	assert_string_equal(field.name, "x");
	assert_status(tn_data_loader_field_at(loader, 3, &field), TN_INVALID_ARGUMENT);
	for (uint64_t at = 0; at < N; at += 8) {
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		assert_int_equal(batch.n, at + 8 < N ? 8 : N - at);
		assert_int_equal(batch.n_fields, 3);
		assert_string_equal(batch.fields[2].name, "mask");
		assert_memory_equal(batch.data[0], x[at], batch.n * sizeof(x[0]));
		assert_memory_equal(batch.data[1], &y[at], batch.n * sizeof(y[0]));
		assert_memory_equal(batch.data[2], mask[at], batch.n * sizeof(mask[0]));
	}
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

/* Reads the same samples; sample 7 fails if `fails` is 1, without a text if 2. */
struct reader {
	int fails;
	int asked[3]; /* how often each field was asked for */
};

static tn_status read_sample(void *user, uint64_t sample, void *const *to,
			     struct tn_error_info *error)
{
	struct reader *reader = user;
	if (reader->fails && sample == 7)
		return reader->fails == 2
			       ? TN_IO
			       : tn_fail(error, TN_IO, "reader", "sample 7 is on another disk");
	const size_t sizes[] = {sizeof(x[0]), sizeof(y[0]), sizeof(mask[0])};
	for (size_t i = 0; i < 3; i++) {
		if (!to[i])
			continue;
		reader->asked[i]++;
		memcpy(to[i], (const char *)data[i] + sample * sizes[i], sizes[i]);
	}
	return TN_OK;
}

static void a_function_may_read_them(void **state)
{
	(void)state;
	struct reader reader = {0};
	struct tn_dataset_fields source = three_fields();
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	source.data = NULL;
	source.read = read_sample;
	source.user = &reader;
	source.stratify = 2;
	source.test_fraction = 0.25;
	tn_dataset *dataset = make(&source);
	assert_int_equal(reader.asked[0], 0);
	assert_int_equal(reader.asked[1], N);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 4);
	tn_data_loader *loader = load(dataset, TN_PART_TRAIN, N);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_int_equal(batch.n, 16);
	const float *values = batch.data[0];
	const int64_t *labels = batch.data[1];
	for (uint32_t i = 0; i < batch.n; i++) {
		assert_true(values[2 * i] == -values[2 * i + 1]);
		assert_int_equal(labels[i], (int)values[2 * i] % 4);
	}
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void a_sample_that_cannot_be_read_can_be_tried_again(void **state)
{
	(void)state;
	struct reader reader = {0};
	struct tn_dataset_fields source = three_fields();
	struct tn_batch batch = {.struct_size = sizeof(batch), .n = 99};
	struct tn_error_info error;
	source.data = NULL;
	source.read = read_sample;
	source.user = &reader;
	tn_dataset *dataset = make(&source);
	tn_data_loader *loader = load(dataset, TN_PART_TRAIN, 5);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	reader.fails = 1;
	assert_status(tn_data_loader_next(loader, &batch, &error), TN_IO);
	assert_string_equal(error.text, "sample 7 is on another disk");
	assert_int_equal(batch.n, 5);
	assert_int_equal(batch.index, 0);
	assert_int_equal(tn_data_loader_position(loader).index, 5);
	reader.fails = 2;
	assert_status(tn_data_loader_next(loader, &batch, &error), TN_IO);
	assert_contains(error.text, "sample 7: reading it failed");
	assert_status(tn_data_loader_next(loader, &batch, NULL), TN_IO);
	reader.fails = 0;
	assert_ok(tn_data_loader_next(loader, &batch, &error));
	assert_int_equal(batch.index, 5);
	assert_memory_equal(batch.data[1], &y[5], 5 * sizeof(y[0]));
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

/* Counts the samples of a part by class. */
static void count_classes(const tn_dataset *dataset, int part, int count[4])
{
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	tn_data_loader *loader = load(dataset, part, N);
	memset(count, 0, 4 * sizeof(count[0]));
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	for (uint32_t i = 0; i < batch.n; i++)
		count[((const int64_t *)batch.data[1])[i]]++;
	tn_data_loader_destroy(loader);
}

static void parts_are_split_evenly_by_a_field_or_by_order_or_as_told(void **state)
{
	(void)state;
	uint8_t parts[N];
	int count[4];
	struct tn_dataset_fields source = three_fields();
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	source.validation_fraction = 0.2;
	source.stratify = 2;
	tn_dataset *dataset = make(&source);
	count_classes(dataset, TN_PART_VALIDATION, count);
	for (int i = 0; i < 4; i++)
		assert_int_equal(count[i], 1);
	tn_dataset_destroy(dataset);
	/* Of all: floor((k + 1) / 5 + 1/2) > floor(k / 5 + 1/2) for k = 2, 7, 12, 17. */
	source.stratify = 0;
	dataset = make(&source);
	tn_data_loader *loader = load(dataset, TN_PART_VALIDATION, N);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_int_equal(batch.n, 4);
	for (int i = 0; i < 4; i++)
		assert_true(((const float *)batch.data[0])[2 * i] == (float)(5 * i + 2));
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
	for (int i = 0; i < N; i++)
		parts[i] = i % 4 == 3 ? TN_PART_TEST : TN_PART_TRAIN;
	source.parts = parts;
	source.validation_fraction = 0;
	dataset = make(&source);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_VALIDATION), 0);
	count_classes(dataset, TN_PART_TEST, count);
	assert_int_equal(count[3], 5);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 5);
	tn_dataset_destroy(dataset);
	/* What the parts lack can be split off, and no other. */
	source.validation_fraction = 1 / 3.0;
	dataset = make(&source);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 10);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_VALIDATION), 5);
	count_classes(dataset, TN_PART_TEST, count);
	assert_int_equal(count[3], 5);
	tn_dataset_destroy(dataset);
	source.test_fraction = 0.5;
	struct tn_error_info error;
	assert_status(tn_dataset_from_fields(&source, &dataset, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "expected no test_fraction, because the data set has a test "
				    "part of its own, found 0.5");
}

static void classes_have_names(void **state)
{
	(void)state;
	static const char *const names[] = {"a", "b", "c", "d"};
	struct tn_dataset_fields source = three_fields();
	source.n_classes = 4;
	tn_dataset *dataset = make(&source);
	assert_int_equal(tn_dataset_class_count(dataset), 4);
	assert_string_equal(tn_dataset_class_name(dataset, 3), "3");
	assert_null(tn_dataset_class_name(dataset, 4));
	tn_dataset_destroy(dataset);
	source.class_names = names;
	dataset = make(&source);
	assert_string_equal(tn_dataset_class_name(dataset, 2), "c");
	tn_dataset_destroy(dataset);
}

/* Sets x to {first random word of the sample, number of the sample} / 2^32. */
static tn_status transform(void *user, struct tn_sample *sample, struct tn_error_info *error)
{
	float *values = sample->data[0];
	if (user && sample->number == *(const uint64_t *)user)
		return tn_fail(error, TN_FORMAT, "transform", "not this one");
	assert_int_equal(sample->n_fields, 3);
	assert_int_equal(sample->fields[1].dtype, TN_I64);
	assert_true((float)sample->number == values[0]);
	values[0] = ldexpf((float)tn_sample_random(sample, 0), -32);
	values[1] = (float)sample->epoch;
	return TN_OK;
}

static void a_transform_changes_samples_the_same_way_each_time(void **state)
{
	(void)state;
	const struct tn_dataset_fields source = three_fields();
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 6;
	options.seed = 3;
	options.shuffle = 1;
	options.transform = transform;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct tn_error_info error;
	float of_sample[2][N] = {{0}};
	double sum = 0;
	uint64_t refused = 4;
	tn_dataset *dataset = make(&source);
	tn_data_loader *loader;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	for (int epoch = 0; epoch < 2;) {
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		const float *values = batch.data[0];
		for (uint32_t i = 0; i < batch.n; i++) {
			of_sample[epoch][batch.samples[i]] = values[2 * i];
			assert_true(values[2 * i + 1] == (float)epoch);
			sum += (double)values[2 * i];
		}
		epoch += batch.n == 0;
	}
	assert_memory_not_equal(of_sample[0], of_sample[1], sizeof(of_sample[0]));
	/* 40 uniform numbers: the mean has a standard deviation of 0.046; four of them. */
	assert_close(sum / (2 * N), 0.5, 0.18);
	/* The same numbers at another batch size. */
	tn_data_loader_destroy(loader);
	options.batch_size = N;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	for (uint32_t i = 0; i < N; i++)
		assert_true(((const float *)batch.data[0])[2 * i] ==
			    of_sample[0][batch.samples[i]]);
	tn_data_loader_destroy(loader);
	options.user = &refused;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	assert_status(tn_data_loader_next(loader, &batch, &error), TN_FORMAT);
	assert_string_equal(error.text, "not this one");
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void impossible_sources_are_refused(void **state)
{
	(void)state;
	static const uint8_t parts[N] = {[5] = 3};
	static const struct tn_field bad_fields[][2] = {
		{{.dtype = 99}, {.dtype = TN_F32}},
		{{.dtype = TN_F32}, {.dtype = TN_F32, .rank = TN_MAX_RANK}},
		{{.dtype = TN_F32}, {.dtype = TN_F32, .rank = 2, .shape = {3, 0}}},
		{{.dtype = TN_F32},
		 {.dtype = TN_F32, .rank = 2, .shape = {INT64_MAX / 2, INT64_MAX / 2}}},
		{{.dtype = TN_F32, .rank = 1, .shape = {1 << 30}}, {.dtype = TN_F32}},
	};
	static const void *const only_one[] = {x, NULL, mask};
	static const struct {
		tn_status status;
		const char *part;
	} expected[] = {
		{TN_INVALID_ARGUMENT, "expected 1 to 4294967295 samples, found 0"},
		{TN_INVALID_ARGUMENT, "expected 1 to 8 fields, found 0"},
		{TN_INVALID_ARGUMENT, "expected 1 to 8 fields, found 9"},
		{TN_INVALID_ARGUMENT, "expected data or a read function, found neither"},
		{TN_INVALID_ARGUMENT, "stratify: expected 0, or 1 + a field below 3, found 4"},
		{TN_INVALID_ARGUMENT, "sample 5: expected a part from 0 to 2, found 3"},
		{TN_INVALID_ARGUMENT, "expected fractions from 0 to 1"},
		{TN_INVALID_ARGUMENT, "field 1: expected data, found NULL"},
		{TN_INVALID_ARGUMENT, "expected n_classes with class_names, found 0"},
		{TN_DTYPE, "field 0: expected an element type, found 99"},
		{TN_INVALID_ARGUMENT, "field 1: expected a rank from 0 to 15, found 16"},
		{TN_INVALID_ARGUMENT, "field 1, axis 1: expected a length of at least 1, found 0"},
		{TN_LIMIT, "field 1: expected a sample of at most"},
		{TN_LIMIT, "field 0: expected at most 68719476736 bytes, found 20 samples"},
	};
	enum { N_BAD = sizeof(expected) / sizeof(expected[0]) };
	struct tn_dataset_fields bad[N_BAD];
	for (size_t i = 0; i < N_BAD; i++)
		bad[i] = three_fields();
	bad[0].n = 0;
	bad[1].fields = NULL;
	bad[2].n_fields = 9;
	bad[3].data = NULL;
	bad[4].stratify = 4;
	bad[5].parts = parts;
	bad[6].test_fraction = -0.5;
	bad[7].data = only_one;
	bad[8].class_names = (const char *const *)only_one;
	for (size_t i = 9; i < N_BAD; i++) {
		bad[i].n_fields = 2;
		bad[i].fields = bad_fields[i - 9];
	}
	for (size_t i = 0; i < N_BAD; i++) {
		struct tn_error_info error;
		tn_dataset *dataset = NULL;
		assert_status(tn_dataset_from_fields(&bad[i], &dataset, &error),
			      expected[i].status);
		assert_contains(error.text, expected[i].part);
		assert_null(dataset);
	}
}

static void labels_outside_the_classes_are_refused(void **state)
{
	(void)state;
	static const int32_t labels[2] = {0, 2};
	static const float two[2] = {0, 1};
	static const struct tn_field of_labels[] = {{.dtype = TN_F32}, {.dtype = TN_I32}};
	static const void *const both[] = {two, labels};
	struct tn_error_info error;
	tn_dataset *dataset;
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	source.n_fields = 2;
	source.fields = of_labels;
	source.n = 2;
	source.data = both;
	source.n_classes = 2;
	assert_status(tn_dataset_from_fields(&source, &dataset, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "sample 1: expected a label from 0 to 1, found 2");
}

static void what_is_of_images_alone_is_refused_for_others(void **state)
{
	(void)state;
	const struct tn_dataset_fields source = three_fields();
	struct tn_augmentation flips = tn_augmentation_defaults();
	flips.hflip_prob = 1;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 1;
	options.augmentation = &flips;
	tn_data_loader *loader;
	struct tn_image picture;
	struct tn_error_info error;
	tn_dataset *dataset = make(&source);
	assert_status(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error),
		      TN_INVALID_ARGUMENT);
	assert_contains(error.text, "augmentation: expected a data set of images");
	assert_status(tn_dataset_picture(dataset, TN_PART_TRAIN, 0, &picture, &error),
		      TN_INVALID_ARGUMENT);
	assert_contains(error.text, "expected an image below 0");
	tn_dataset_destroy(dataset);
}

static void a_batch_without_its_size_is_refused(void **state)
{
	(void)state;
	const struct tn_dataset_fields source = three_fields();
	struct tn_batch batch = {0};
	struct tn_error_info error;
	tn_dataset *dataset = make(&source);
	tn_data_loader *loader = load(dataset, TN_PART_TRAIN, 5);
	assert_status(tn_data_loader_next(loader, &batch, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "struct tn_batch: expected struct_size");
	assert_int_equal(tn_data_loader_position(loader).index, 0);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_reach_batches_as_they_are),
		cmocka_unit_test(a_function_may_read_them),
		cmocka_unit_test(a_sample_that_cannot_be_read_can_be_tried_again),
		cmocka_unit_test(parts_are_split_evenly_by_a_field_or_by_order_or_as_told),
		cmocka_unit_test(classes_have_names),
		cmocka_unit_test(a_transform_changes_samples_the_same_way_each_time),
		cmocka_unit_test(impossible_sources_are_refused),
		cmocka_unit_test(labels_outside_the_classes_are_refused),
		cmocka_unit_test(what_is_of_images_alone_is_refused_for_others),
		cmocka_unit_test(a_batch_without_its_size_is_refused),
	};
	return cmocka_run_group_tests(tests, fill, NULL);
}
