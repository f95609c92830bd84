/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches of a loader that augments are those that tn_augment makes of plain ones, also with
 * threads.
 */
#include <tenon/tenon.h>

#include "check.h"

enum { N = 22, BATCH = 8, CLASSES = 5, H = 6, W = 7, SIZE = 3 * H * W };

static tn_dataset *make_dataset(void)
{
	static uint8_t images[N * SIZE];
	static int32_t labels[N];
	for (int i = 0; i < N * SIZE; i++)
		images[i] = (uint8_t)(i * 31 % 251);
	for (int i = 0; i < N; i++)
		labels[i] = i % CLASSES;
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 3;
	source.height = H;
	source.width = W;
	source.images = images;
	source.labels = labels;
	source.n_images = N;
	source.n_classes = CLASSES;
	tn_dataset *dataset;
	assert_ok(tn_dataset_create(&source, &dataset, NULL));
	return dataset;
}

static tn_data_loader *make_loader(const tn_dataset *dataset,
				   const struct tn_augmentation *augmentation, tn_context *context)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = BATCH;
	options.seed = 4;
	options.shuffle = 1;
	options.augmentation = augmentation;
	options.context = context;
	tn_data_loader *loader;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	return loader;
}

/* Three epochs of batches, the last one of each short, loaded ahead by threads if there are any. */
static void check_with(const struct tn_augmentation *augmentation, int soft, uint32_t n_threads)
{
	struct tn_context_options threads = tn_context_defaults();
	threads.backend = "reference";
	threads.n_threads = n_threads;
	tn_context *context = NULL;
	if (n_threads)
		assert_ok(tn_context_open(&threads, &context, NULL));
	tn_dataset *dataset = make_dataset();
	const struct tn_input_format *format = tn_dataset_format(dataset);
	tn_data_loader *plain = make_loader(dataset, NULL, NULL);
	tn_data_loader *loader = make_loader(dataset, augmentation, context);
	struct tn_field target;
	assert_ok(tn_data_loader_field_at(loader, 1, &target));
	assert_int_equal(target.dtype, soft ? TN_F32 : TN_I32);
	assert_int_equal(target.rank, soft ? 1 : 0);
	assert_true(!soft || target.shape[0] == CLASSES);
	for (int epochs = 0; epochs < 3;) {
		static float images[BATCH * SIZE];
		float targets[BATCH * CLASSES] = {0};
		struct tn_batch a = {.struct_size = sizeof(a)}, b = a;
		assert_ok(tn_data_loader_next(plain, &a, NULL));
		assert_ok(tn_data_loader_next(loader, &b, NULL));
		assert_int_equal(a.n, b.n);
		epochs += a.n == 0;
		if (a.n == 0)
			continue;
		assert_memory_equal(a.samples, b.samples, a.n * sizeof(*a.samples));
		memcpy(images, a.data[0], a.n * SIZE * sizeof(float));
		const int32_t *labels = a.data[1];
		for (uint32_t i = 0; i < a.n; i++)
			targets[i * CLASSES + (uint32_t)labels[i]] = 1;
		struct tn_augment_batch batch = {.struct_size = sizeof(batch),
						 .n = a.n,
						 .channels = 3,
						 .height = H,
						 .width = W,
						 .n_classes = CLASSES,
						 .mean = format->mean,
						 .deviation = format->deviation,
						 .seed = 4,
						 .epoch = a.epoch,
						 .index = a.index,
						 .numbers = a.samples,
						 .images = images,
						 .targets = targets};
		assert_ok(tn_augment(augmentation, &batch, NULL));
		assert_memory_equal(b.data[0], images, a.n * SIZE * sizeof(float));
		if (soft)
			assert_memory_equal(b.data[1], targets, a.n * CLASSES * sizeof(float));
		else
			assert_memory_equal(b.data[1], a.data[1], a.n * sizeof(int32_t));
	}
	tn_data_loader_destroy(plain);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
	if (context)
		tn_context_close(context);
}

static void check_batches(const struct tn_augmentation *augmentation, int soft)
{
	for (uint32_t n_threads = 0; n_threads < 4; n_threads++)
		check_with(augmentation, soft, n_threads);
}

static void pictures_are_those_of_tn_augment(void **state)
{
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	augmentation.max_shift = 1;
	augmentation.crop_padding = 2;
	augmentation.resized_crop = 1;
	augmentation.hflip_prob = 0.5;
	augmentation.rotate_deg = 20;
	augmentation.hue = 0.2;
	augmentation.noise_std = 0.1;
	augmentation.cutout_prob = 0.5;
	augmentation.randaugment_layers = 1;
	augmentation.randaugment_magnitude = 0.5;
	(void)state;
	check_batches(&augmentation, 0);
}

static void mixed_batches_have_soft_targets(void **state)
{
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	augmentation.cutmix_prob = 0.5;
	augmentation.mixup_prob = 1;
	(void)state;
	check_batches(&augmentation, 1);
	augmentation.crop_padding = 2;
	augmentation.mixup_prob = 0;
	check_batches(&augmentation, 1);
}

static tn_status set_to_one(void *user, struct tn_sample *sample, struct tn_error_info *error)
{
	float *x = sample->data[0];
	const float *y = sample->data[1];
	float sum = 0;
	(void)user;
	(void)error;
	for (int c = 0; c < CLASSES; c++)
		sum += y[c] * y[c];
	for (int i = 0; i < SIZE; i++)
		x[i] = sum; /* 1: a target of one class, not mixed yet */
	return sample->fields[1].shape[0] == CLASSES ? TN_OK : TN_SHAPE;
}

static void a_transform_sees_samples_before_they_are_mixed(void **state)
{
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	augmentation.noise_std = 1;
	augmentation.mixup_prob = 1;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = BATCH;
	options.augmentation = &augmentation;
	options.transform = set_to_one;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	tn_dataset *dataset = make_dataset();
	tn_data_loader *loader;
	(void)state;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	const float *x = batch.data[0];
	for (int i = 0; i < BATCH * SIZE; i++)
		assert_close(x[i], 1, 0x1p-23);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void a_loader_set_to_a_position_mixes_as_one_that_came_there(void **state)
{
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	augmentation.cutmix_prob = 1;
	augmentation.hflip_prob = 0.5;
	tn_dataset *dataset = make_dataset();
	tn_data_loader *first = make_loader(dataset, &augmentation, NULL);
	tn_data_loader *second = make_loader(dataset, &augmentation, NULL);
	struct tn_batch a = {.struct_size = sizeof(a)}, b = a;
	(void)state;
	for (int i = 0; i < 6; i++)
		assert_ok(tn_data_loader_next(first, &a, NULL));
	assert_ok(tn_data_loader_seek(second, (struct tn_data_position){a.epoch, a.index}, NULL));
	assert_ok(tn_data_loader_next(second, &b, NULL));
	assert_int_equal(a.n, BATCH);
	assert_int_equal(a.epoch, 1);
	assert_memory_equal(a.data[0], b.data[0], BATCH * SIZE * sizeof(float));
	assert_memory_equal(a.data[1], b.data[1], BATCH * CLASSES * sizeof(float));
	tn_data_loader_destroy(first);
	tn_data_loader_destroy(second);
	tn_dataset_destroy(dataset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pictures_are_those_of_tn_augment),
		cmocka_unit_test(mixed_batches_have_soft_targets),
		cmocka_unit_test(a_transform_sees_samples_before_they_are_mixed),
		cmocka_unit_test(a_loader_set_to_a_position_mixes_as_one_that_came_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
