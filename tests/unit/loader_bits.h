/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every kind of augmentation through a loader, for tests on several backends: batches have the same
 * bits without a context, and with one of any backend and number of threads, on the device too.
 */
#ifndef TN_TESTS_LOADER_BITS_H
#define TN_TESTS_LOADER_BITS_H

#include <tenon/tenon.h>

#include "check.h"
#include "program/hash.h"

enum {
	BITS_N = 22,
	BITS_BATCH = 8, /* the last batch of an epoch has 6 */
	BITS_CLASSES = 5,
	BITS_HEIGHT = 12,
	BITS_WIDTH = 13,
	BITS_SIZE = 3 * BITS_HEIGHT * BITS_WIDTH,
	BITS_EPOCHS = 2,
	BITS_MOST = BITS_EPOCHS * BITS_N * (BITS_SIZE + BITS_CLASSES) * 4,
};

/* What an epoch or two of a loader hold, field after field of each batch. */
struct bits {
	size_t n;
	unsigned char bytes[BITS_MOST];
};

/* A transform that depends on its sample's random numbers. */
static inline tn_status bits_transform(void *user, struct tn_sample *sample,
				       struct tn_error_info *error)
{
	float *x = sample->data[0];
	(void)user, (void)error;
	for (uint32_t i = 0; i < BITS_SIZE; i++)
		x[i] += (float)(tn_sample_random(sample, i) >> 8) * 0x1p-24f;
	return TN_OK;
}

static inline void bits_crops(struct tn_augmentation *augmentation)
{
	augmentation->resized_crop = 1;
	augmentation->hflip_prob = augmentation->vflip_prob = 0.5;
	augmentation->crop_padding = 3;
	augmentation->crop_mode = TN_PADDING_REFLECT;
	augmentation->max_shift = augmentation->roll = 2;
}

static inline void bits_rotations(struct tn_augmentation *augmentation)
{
	augmentation->rotate_deg = 40;
	augmentation->rotate_prob = 1;
	augmentation->rotate_bilinear = 1;
	augmentation->rotate_mode = TN_PADDING_SYMMETRIC;
}

static inline void bits_colours(struct tn_augmentation *augmentation)
{
	augmentation->brightness = augmentation->contrast = augmentation->saturation = 0.4;
	augmentation->hue = 0.2;
}

/* nnott's defaults, with the rest of its list. */
static inline void bits_nnott(struct tn_augmentation *augmentation)
{
	augmentation->roll = 2;
	augmentation->rotate_deg = 10;
	augmentation->rotate_mode = TN_PADDING_EDGE;
	augmentation->hflip_prob = 0.5;
	augmentation->noise_std = 0.02;
	augmentation->noise_clip = 3;
	augmentation->cutout_prob = augmentation->cutmix_prob = 0.5;
	augmentation->randaugment_layers = 2;
	augmentation->randaugment_magnitude = 0.7;
}

static inline void bits_mixed(struct tn_augmentation *augmentation)
{
	augmentation->crop_padding = 2;
	augmentation->hflip_prob = 0.5;
	augmentation->mixup_prob = 1;
	augmentation->mixup_alpha = 0.2;
}

/* The hashes were recorded once.  They must never change: a training that continues from a
 * checkpoint, on this machine or another one, would see other pictures. */
static const struct bits_case {
	void (*augment)(struct tn_augmentation *augmentation);
	int transforms; /* and draws by weight */
	uint64_t hash;
} bits_cases[] = {
	{NULL, 0, 0xef73a316629855a9},           {bits_crops, 0, 0xca85e43c93af12ee},
	{bits_rotations, 0, 0x3775702e07a862b0}, {bits_colours, 0, 0x3c9f7cab6bac0db9},
	{bits_nnott, 0, 0x206c6fab48b9b7b2},     {bits_mixed, 0, 0x071c0d1cdb335f32},
	{NULL, 1, 0xcca761f1a0c8cb12},
};
enum { BITS_CASES = sizeof(bits_cases) / sizeof(bits_cases[0]) };

static inline tn_dataset *bits_dataset(void)
{
	static uint8_t images[BITS_N * BITS_SIZE];
	static int32_t labels[BITS_N];
	for (int i = 0; i < BITS_N * BITS_SIZE; i++)
		images[i] = (uint8_t)(i * 31 % 251);
	for (int i = 0; i < BITS_N; i++)
		labels[i] = i % BITS_CLASSES;
	tn_dataset *dataset = NULL;
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 3;
	source.height = BITS_HEIGHT;
	source.width = BITS_WIDTH;
	source.images = images;
	source.labels = labels;
	source.n_images = BITS_N;
	source.n_classes = BITS_CLASSES;
	assert_ok(tn_dataset_create(&source, &dataset, NULL));
	return dataset;
}

/* Appends a field of a batch, by way of the context's device if there is one. */
static inline void bits_take(struct bits *bits, tn_context *context, const struct tn_field *field,
			     uint32_t n, const void *data)
{
	int64_t shape[TN_MAX_RANK] = {n}, size = n;
	for (int i = 0; i < field->rank; i++) {
		shape[i + 1] = field->shape[i];
		size *= field->shape[i];
	}
	unsigned char *to = bits->bytes + bits->n;
	bits->n += (size_t)size * 4; /* f32 or i32 */
	assert_true(bits->n <= BITS_MOST);
	if (!context) {
		memcpy(to, data, (size_t)size * 4);
		return;
	}
	tn_array *array = tn_from_host(context, field->dtype, field->rank + 1, shape, data);
	assert_ok(tn_to_host(array, to, (size_t)size * 4));
	tn_array_destroy(array);
}

static inline void bits_load(const tn_dataset *dataset, const struct bits_case *c,
			     tn_context *context, struct bits *bits)
{
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	double weights[BITS_N];
	if (c->augment)
		c->augment(&augmentation);
	for (int i = 0; i < BITS_N; i++)
		weights[i] = 1 + i % 3;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = BITS_BATCH;
	options.seed = 4;
	options.shuffle = 1;
	options.weights = c->transforms ? weights : NULL;
	options.augmentation = &augmentation;
	options.transform = c->transforms ? bits_transform : NULL;
	options.context = context;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	tn_data_loader *loader = NULL;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	bits->n = 0;
	for (int epochs = 0; epochs < BITS_EPOCHS; epochs += batch.n == 0) {
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		for (uint32_t i = 0; i < batch.n_fields && batch.n; i++)
			bits_take(bits, context, &batch.fields[i], batch.n, batch.data[i]);
	}
	tn_data_loader_destroy(loader);
}

/* `open` gives contexts of a backend, with as many threads as TENON_THREADS says. */
static inline void check_loader_bits(tn_context *(*open)(void))
{
	static const char *const threads[] = {"1", "2", "5"};
	static struct bits plain, loaded;
	tn_dataset *dataset = bits_dataset();
	for (int t = 0; t < 3; t++) {
		setenv("TENON_THREADS", threads[t], 1);
		tn_context *context = open();
		for (int i = 0; i < BITS_CASES; i++) {
			uint64_t hash[2];
			bits_load(dataset, &bits_cases[i], NULL, &plain);
			tn_hash_bytes(plain.bytes, plain.n, hash);
			if (hash[0] != bits_cases[i].hash)
				fail_msg("case %d: 0x%016llx", i, (unsigned long long)hash[0]);
			bits_load(dataset, &bits_cases[i], context, &loaded);
			assert_int_equal(loaded.n, plain.n);
			assert_memory_equal(loaded.bytes, plain.bytes, plain.n);
		}
		tn_context_close(context);
	}
	tn_dataset_destroy(dataset);
	unsetenv("TENON_THREADS");
}

#endif
