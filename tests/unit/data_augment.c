/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches through tn_augment: what they depend on, what is refused; and the choice for a data set.
 */
#include <tenon/augment.h>

#include "check.h"

enum { N = 12, H = 9, W = 11, SIZE = 3 * H * W };

static const struct tn_augmentation everything = {
	.struct_size = sizeof(everything),
	.max_shift = 2,
	.roll = 1,
	.crop_padding = 2,
	.crop_mode = TN_PADDING_REFLECT,
	.cutout_size = 4,
	.resized_crop = 1,
	.rotate_bilinear = 1,
	.randaugment_layers = 2,
	.randaugment_magnitude = 0.7,
	.resized_crop_scale = {0.08, 1},
	.resized_crop_ratio = {3.0 / 4, 4.0 / 3},
	.hflip_prob = 0.5,
	.vflip_prob = 0.5,
	.rotate_deg = 30,
	.rotate_prob = 0.5,
	.brightness = 0.3,
	.contrast = 0.3,
	.saturation = 0.3,
	.hue = 0.1,
	.noise_std = 0.1,
	.noise_prob = 0.3,
	.noise_clip = 2,
	.cutout_prob = 0.5,
	.cutmix_alpha = 1,
	.mixup_alpha = 1,
};

static void paint(float images[N][SIZE])
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < SIZE; j++)
			images[i][j] = (float)((i * 71 + j * 29) % 64) / 63;
	}
}

static struct tn_augment_batch batch_of(float images[N][SIZE])
{
	return (struct tn_augment_batch){.struct_size = sizeof(struct tn_augment_batch),
					 .n = N,
					 .channels = 3,
					 .height = H,
					 .width = W,
					 .seed = 1,
					 .epoch = 2,
					 .index = 100,
					 .images = images[0]};
}

static void a_picture_depends_on_its_number_and_on_no_other_picture(void **state)
{
	static float together[N][SIZE], alone[N][SIZE];
	uint64_t numbers[N];
	(void)state;
	for (int i = 0; i < N; i++)
		numbers[i] = (uint64_t)(i * 5 % N) + (i == 3 ? UINT32_MAX - N : 0);
	paint(together);
	paint(alone);
	struct tn_augment_batch batch = batch_of(together);
	batch.numbers = numbers;
	assert_ok(tn_augment(&everything, &batch, NULL));
	for (int i = N - 1; i >= 0; i--) {
		struct tn_augment_batch one = batch_of(alone);
		one.n = 1;
		one.images = alone[i];
		one.numbers = &numbers[i];
		one.index = 7;
		assert_ok(tn_augment(&everything, &one, NULL));
		assert_memory_equal(alone[i], together[i], sizeof(alone[i]));
	}
}

static void pictures_without_numbers_have_that_of_their_position(void **state)
{
	static float by_number[N][SIZE], by_position[N][SIZE];
	uint64_t numbers[N];
	(void)state;
	for (int i = 0; i < N; i++)
		numbers[i] = 100 + (uint64_t)i;
	paint(by_number);
	paint(by_position);
	struct tn_augment_batch batch = batch_of(by_number);
	batch.numbers = numbers;
	assert_ok(tn_augment(&everything, &batch, NULL));
	batch = batch_of(by_position);
	assert_ok(tn_augment(&everything, &batch, NULL));
	assert_memory_equal(by_number, by_position, sizeof(by_number));
}

static void seed_epoch_and_number_each_give_other_pictures(void **state)
{
	static float images[4][N][SIZE];
	(void)state;
	for (int i = 0; i < 4; i++) {
		paint(images[i]);
		struct tn_augment_batch batch = batch_of(images[i]);
		batch.seed += i == 1;
		batch.epoch += i == 2;
		batch.index += i == 3;
		assert_ok(tn_augment(&everything, &batch, NULL));
		for (int j = 0; j < i; j++)
			assert_memory_not_equal(images[i], images[j], sizeof(images[i]));
	}
}

/* With all streams apart, noise of another option leaves the squares of cutout where they were. */
static void an_option_does_not_change_what_others_draw(void **state)
{
	static float plain[N][SIZE], more[N][SIZE];
	struct tn_augmentation options = tn_augmentation_defaults();
	options.cutout_prob = 0.7;
	int zeros = 0;
	(void)state;
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < SIZE; j++)
			plain[i][j] = more[i][j] = 1;
	}
	struct tn_augment_batch batch = batch_of(plain);
	assert_ok(tn_augment(&options, &batch, NULL));
	options.noise_std = 0.01;
	options.noise_prob = 1;
	options.roll = 3;
	options.hflip_prob = 0.5;
	options.rotate_deg = 20;
	options.rotate_mode = TN_PADDING_EDGE;
	options.resized_crop = 1;
	options.brightness = 0.1;
	batch = batch_of(more);
	assert_ok(tn_augment(&options, &batch, NULL));
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < SIZE; j++) {
			assert_int_equal(plain[i][j] == 0, more[i][j] == 0);
			zeros += plain[i][j] == 0;
		}
	}
	assert_true(zeros > 0);
}

/* Also of values that are not numbers. */
static void no_options_change_no_bit(void **state)
{
	struct tn_augmentation none = tn_augmentation_defaults();
	const struct tn_augmentation *const nothing[2] = {NULL, &none};
	static float images[N][SIZE], before[N][SIZE];
	(void)state;
	for (int k = 0; k < 2; k++) {
		paint(images);
		images[0][0] = NAN;
		images[0][1] = -0.0f;
		images[0][2] = INFINITY;
		memcpy(before, images, sizeof(before));
		struct tn_augment_batch batch = batch_of(images);
		assert_ok(tn_augment(nothing[k], &batch, NULL));
		assert_memory_equal(images, before, sizeof(images));
	}
	struct tn_augment_batch empty = batch_of(images);
	empty.n = 0;
	empty.images = NULL;
	assert_ok(tn_augment(&everything, &empty, NULL));
}

/* ---- Refusals --------------------------------------------------------------------------------*/

/* Refuses the options, and resets them. */
static void refuse(struct tn_augmentation *options, const char *name)
{
	static float images[N][SIZE];
	struct tn_augment_batch batch = batch_of(images);
	struct tn_error_info error;
	assert_status(tn_augment(options, &batch, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, name);
	assert_contains(error.text, "expected");
	assert_contains(error.text, "found");
	*options = tn_augmentation_defaults();
}

static void options_out_of_range_are_refused_by_name(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	(void)state;
	options.max_shift = H;
	refuse(&options, "max_shift");
	options.roll = W;
	refuse(&options, "roll");
	options.crop_padding = 10;
	refuse(&options, "crop_padding");
	options.crop_padding = 1;
	options.crop_mode = 4;
	refuse(&options, "crop_mode");
	options.rotate_deg = 1;
	options.rotate_mode = 4;
	refuse(&options, "rotate_mode");
	options.resized_crop = 2;
	refuse(&options, "resized_crop");
	options.rotate_bilinear = 2;
	refuse(&options, "rotate_bilinear");
	options.cutout_prob = 0.5;
	options.cutout_size = W + 1;
	refuse(&options, "cutout_size");
	options.cutout_size = 0;
	refuse(&options, "cutout_size");
	options.randaugment_layers = 101;
	refuse(&options, "randaugment_layers");
	options.randaugment_magnitude = 1.01;
	refuse(&options, "randaugment_magnitude");
	options.resized_crop_scale[0] = 0;
	options.resized_crop_scale[1] = 1;
	refuse(&options, "resized_crop_scale");
	options.resized_crop_scale[0] = 0.5;
	options.resized_crop_scale[1] = 1.01;
	refuse(&options, "resized_crop_scale");
	options.resized_crop_ratio[0] = 2;
	options.resized_crop_ratio[1] = 1;
	refuse(&options, "resized_crop_ratio");
	options.resized_crop_ratio[0] = 1;
	options.resized_crop_ratio[1] = NAN;
	refuse(&options, "resized_crop_ratio");
	options.hflip_prob = -0.1;
	refuse(&options, "hflip_prob");
	options.vflip_prob = NAN;
	refuse(&options, "vflip_prob");
	options.rotate_deg = 181;
	refuse(&options, "rotate_deg");
	options.rotate_prob = 2;
	refuse(&options, "rotate_prob");
	options.brightness = -1;
	refuse(&options, "brightness");
	options.contrast = INFINITY;
	refuse(&options, "contrast");
	options.saturation = -1;
	refuse(&options, "saturation");
	options.hue = 0.51;
	refuse(&options, "hue");
	options.noise_std = -1;
	refuse(&options, "noise_std");
	options.noise_prob = 1.5;
	refuse(&options, "noise_prob");
	options.noise_clip = -3;
	refuse(&options, "noise_clip");
	options.cutout_prob = 1.5;
	refuse(&options, "cutout_prob");
	options.cutmix_prob = 1.5;
	refuse(&options, "cutmix_prob");
	options.cutmix_alpha = 1001;
	refuse(&options, "cutmix_alpha");
	options.mixup_prob = -1.5;
	refuse(&options, "mixup_prob");
	options.mixup_alpha = -1;
	refuse(&options, "mixup_alpha");
	/* Without targets. */
	options.cutmix_prob = 0.5;
	refuse(&options, "cutmix_prob");
	options.mixup_prob = 0.5;
	refuse(&options, "mixup_prob");
}

static void pictures_that_cannot_be_are_refused(void **state)
{
	static float images[N][SIZE], before[N][SIZE];
	static const float no_number[3] = {0, NAN, 0}, zero[3] = {1, 0, 1};
	struct tn_augmentation contrast = tn_augmentation_defaults();
	contrast.contrast = 0.5;
	const uint64_t number = (uint64_t)1 << 32;
	(void)state;
	paint(images);
	memcpy(before, images, sizeof(before));
	struct tn_augment_batch bad[8];
	for (int i = 0; i < 8; i++)
		bad[i] = batch_of(images);
	bad[0].channels = 0;
	bad[1].channels = TN_MAX_CHANNELS + 1;
	bad[2].height = 0;
	bad[3].mean = no_number;
	bad[4].deviation = zero;
	bad[5].images = NULL;
	bad[6].numbers = &number;
	bad[6].n = 1;
	bad[7].channels = 2;
	for (int i = 0; i < 8; i++)
		assert_status(tn_augment(i < 7 ? &everything : &contrast, &bad[i], NULL),
			      TN_INVALID_ARGUMENT);
	bad[0] = batch_of(images);
	bad[0].height = bad[0].width = 1 << 20;
	assert_status(tn_augment(&everything, &bad[0], NULL), TN_LIMIT);
	assert_memory_equal(images, before, sizeof(images));
}

/* ---- Choices ---------------------------------------------------------------------------------*/

static const struct tn_augmentation *choice(const char *name, uint32_t channels, uint32_t side)
{
	uint8_t *image = calloc(channels, (size_t)side * side);
	int32_t label = 0;
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = channels;
	source.height = side;
	source.width = side;
	source.name = name;
	source.images = image;
	source.labels = &label;
	source.n_images = 1;
	source.n_classes = 1;
	tn_dataset *dataset;
	assert_non_null(image);
	assert_ok(tn_dataset_create(&source, &dataset, NULL));
	const struct tn_augmentation *chosen = tn_dataset_augmentation(dataset);
	tn_dataset_destroy(dataset);
	free(image);
	struct tn_augment_batch none = {
		.struct_size = sizeof(none), .channels = channels, .height = side, .width = side};
	assert_ok(tn_augment(chosen, &none, NULL));
	return chosen;
}

static void characters_are_not_mirrored_and_other_pictures_are(void **state)
{
	(void)state;
	assert_int_equal(choice("digits", 1, 28)->max_shift, 2);
	assert_true(choice("digits", 1, 28)->hflip_prob == 0);
	assert_int_equal(choice("digits", 1, 8)->max_shift, 1);
	assert_true(choice("/data/svhn/", 3, 32)->hflip_prob == 0);
	assert_true(choice("/data/Fashion-MNIST//", 1, 28)->hflip_prob == 0.5);
	assert_true(choice("fashion/mnist", 1, 28)->hflip_prob == 0);
	assert_int_equal(choice("cifar-10", 3, 32)->crop_padding, 4);
	assert_true(choice("cifar-10", 3, 32)->hflip_prob == 0.5);
	assert_int_equal(choice("flowers", 3, 64)->resized_crop, 1);
	assert_true(choice("flowers", 3, 64)->hflip_prob == 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_picture_depends_on_its_number_and_on_no_other_picture),
		cmocka_unit_test(pictures_without_numbers_have_that_of_their_position),
		cmocka_unit_test(seed_epoch_and_number_each_give_other_pictures),
		cmocka_unit_test(an_option_does_not_change_what_others_draw),
		cmocka_unit_test(no_options_change_no_bit),
		cmocka_unit_test(options_out_of_range_are_refused_by_name),
		cmocka_unit_test(pictures_that_cannot_be_are_refused),
		cmocka_unit_test(characters_are_not_mirrored_and_other_pictures_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
