/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * CutMix and mixup.  Picture i of a batch is i + 1 everywhere, and its target is class i.
 */
#include <tenon/augment.h>

#include "check.h"

enum { MOST = 60, H = 6, W = 9, SIZE = 2 * H * W };

struct mixed {
	float images[MOST][SIZE];
	float targets[MOST][MOST];
};

static struct mixed *mix(const struct tn_augmentation *options, uint32_t n, uint64_t epoch,
			 uint64_t index)
{
	struct mixed *mixed = calloc(1, sizeof(*mixed));
	assert_non_null(mixed);
	for (uint32_t i = 0; i < n; i++) {
		for (int j = 0; j < SIZE; j++)
			mixed->images[i][j] = (float)i + 1;
		mixed->targets[i][i] = 1;
	}
	struct tn_augment_batch batch = {.struct_size = sizeof(batch),
					 .n = n,
					 .channels = 2,
					 .height = H,
					 .width = W,
					 .n_classes = MOST,
					 .seed = 3,
					 .epoch = epoch,
					 .index = index,
					 .images = mixed->images[0],
					 .targets = mixed->targets[0]};
	assert_ok(tn_augment(options, &batch, NULL));
	return mixed;
}

/* The partner of picture i, by its target; -1: none.  *kept is the picture's own part. */
static int partner_of(const struct mixed *mixed, uint32_t i, double *kept)
{
	int partner = -1;
	double sum = 0;
	*kept = (double)mixed->targets[i][i];
	for (int j = 0; j < MOST; j++) {
		double part = (double)mixed->targets[i][j];
		assert_true(part >= 0);
		sum += part;
		if (part > 0 && j != (int)i) {
			assert_int_equal(partner, -1);
			partner = j;
		}
	}
	assert_close(sum, 1, 0x1p-23);
	return partner;
}

/* The pixels of the partner are a rectangle, the same in all channels, and their share is that of
 * the target. */
static void cutmix_pastes_a_rectangle_of_the_share_in_the_target(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.cutmix_prob = 1;
	int n_mixed = 0;
	(void)state;
	for (uint64_t epoch = 0; epoch < 20; epoch++) {
		struct mixed *mixed = mix(&options, MOST, epoch, 120);
		for (uint32_t i = 0; i < MOST; i++) {
			double kept;
			int partner = partner_of(mixed, i, &kept), pasted = 0;
			int left = W, right = -1, top = H, bottom = -1;
			for (int j = 0; j < SIZE; j++) {
				float value = mixed->images[i][j];
				int y = j / W % H, x = j % W;
				if (value == (float)i + 1)
					continue;
				assert_true(value == (float)partner + 1);
				pasted++;
				left = x < left ? x : left;
				right = x > right ? x : right;
				top = y < top ? y : top;
				bottom = y > bottom ? y : bottom;
			}
			if (pasted)
				assert_int_equal(pasted,
						 2 * (right - left + 1) * (bottom - top + 1));
			assert_close(kept, 1 - pasted / (double)SIZE, 0x1p-23);
			n_mixed += pasted > 0;
		}
		free(mixed);
	}
	/* A rectangle may be empty, where its sides are less than 2 pixels: about one in ten. */
	assert_in_range(n_mixed, 20 * MOST * 3 / 4, 20 * MOST);
}

static void mixup_averages_picture_and_target_with_one_factor(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.mixup_prob = 1;
	double sum = 0, squares = 0;
	(void)state;
	for (uint64_t epoch = 0; epoch < 50; epoch++) {
		struct mixed *mixed = mix(&options, MOST, epoch, 0);
		for (uint32_t i = 0; i < MOST; i++) {
			double kept;
			int partner = partner_of(mixed, i, &kept);
			assert_true(partner >= 0);
			for (int j = 0; j < SIZE; j++)
				assert_close(mixed->images[i][j],
					     kept * (i + 1) + (1 - kept) * (partner + 1),
					     MOST * 0x1p-22);
			sum += kept - 0.5;
			squares += (kept - 0.5) * (kept - 0.5);
		}
		free(mixed);
	}
	/* Uniform: variance 1/12, fourth moment 1/80; within 5 standard deviations of n draws. */
	int n = 50 * MOST;
	assert_close(sum / n, 0, 5 * sqrt(1 / 12.0 / n));
	assert_close(squares / n, 1 / 12.0, 5 * sqrt((1 / 80.0 - 1 / 144.0) / n));
}

/* Every batch has one step from picture to partner, in every size of batch, and all occur. */
static void partners_are_others_and_each_is_one_once(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.mixup_prob = 1;
	options.mixup_alpha = 8;
	(void)state;
	for (uint32_t n = 2; n < 10; n++) {
		int steps[10] = {0};
		for (uint64_t epoch = 0; epoch < 100; epoch++) {
			struct mixed *mixed = mix(&options, n, epoch, 0);
			int step = -1;
			for (uint32_t i = 0; i < n; i++) {
				double kept;
				int partner = partner_of(mixed, i, &kept);
				assert_in_range(partner, 0, n - 1);
				int found = (partner - (int)i + (int)n) % (int)n;
				assert_int_not_equal(found, 0);
				assert_true(step < 0 || step == found);
				step = found;
			}
			steps[step]++;
			free(mixed);
		}
		for (uint32_t step = 1; step < n; step++)
			assert_true(steps[step] > 0);
	}
}

static void one_picture_alone_stays_as_it_is(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.cutmix_prob = 1;
	options.mixup_prob = 1;
	(void)state;
	struct mixed *mixed = mix(&options, 1, 0, 0);
	double kept;
	assert_int_equal(partner_of(mixed, 0, &kept), -1);
	for (int j = 0; j < SIZE; j++)
		assert_true(mixed->images[0][j] == 1);
	free(mixed);
}

/* CutMix with 1/2, mixup of half of the rest: within 5 standard deviations. */
static void mixup_takes_pictures_that_cutmix_left(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.cutmix_prob = 0.5;
	options.mixup_prob = 0.5;
	int averaged = 0, n = 50 * MOST;
	(void)state;
	for (uint64_t epoch = 0; epoch < 50; epoch++) {
		struct mixed *mixed = mix(&options, MOST, epoch, 0);
		for (uint32_t i = 0; i < MOST; i++) {
			double kept;
			int partner = partner_of(mixed, i, &kept), others = 0;
			for (int j = 0; j < SIZE; j++)
				others += mixed->images[i][j] != (float)i + 1 &&
					  mixed->images[i][j] != (float)partner + 1;
			assert_true(others == 0 || others == SIZE);
			averaged += others != 0;
		}
		free(mixed);
	}
	assert_close(averaged, n / 4.0, 5 * sqrt(n * 3 / 16.0));
}

/* What is mixed depends on positions in the epoch: the batch from 60 on is another one. */
static void mixing_is_a_function_of_epoch_and_position(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.cutmix_prob = 0.5;
	options.mixup_prob = 0.5;
	(void)state;
	struct mixed *first = mix(&options, MOST, 4, 0), *again = mix(&options, MOST, 4, 0);
	struct mixed *epoch = mix(&options, MOST, 5, 0), *place = mix(&options, MOST, 4, MOST);
	assert_memory_equal(first, again, sizeof(*first));
	assert_memory_not_equal(first, epoch, sizeof(*first));
	assert_memory_not_equal(first, place, sizeof(*first));
	free(first);
	free(again);
	free(epoch);
	free(place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cutmix_pastes_a_rectangle_of_the_share_in_the_target),
		cmocka_unit_test(mixup_averages_picture_and_target_with_one_factor),
		cmocka_unit_test(partners_are_others_and_each_is_one_once),
		cmocka_unit_test(one_picture_alone_stays_as_it_is),
		cmocka_unit_test(mixup_takes_pictures_that_cutmix_left),
		cmocka_unit_test(mixing_is_a_function_of_epoch_and_position),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
