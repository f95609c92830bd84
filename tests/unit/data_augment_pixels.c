/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Noise, cutout, RandAugment and the draws of colours.
 */
#include "augment_fixture.h"
#include "data/augment_colour.h"

enum { H = 8, W = 10, SIZE = 3 * H * W, MANY = 3000 };

static void noise_has_its_probability_deviation_and_limit(void **state)
{
	static float from[SIZE], to[SIZE];
	(void)state;
	for (int given = 0; given < 2; given++) {
		int noisy = 0, beyond = 0;
		double sum = 0, squares = 0;
		struct tn_augmentation options = tn_augmentation_defaults();
		options.noise_std = 0.5;
		if (given)
			options.noise_prob = options.noise_clip = 0.75;
		for (uint64_t number = 0; number < MANY; number++) {
			augment_one(&options, 3, H, W, number, from, to);
			if (!memcmp(to, from, sizeof(to)))
				continue;
			noisy++;
			for (int i = 0; i < SIZE; i++) {
				sum += (double)to[i];
				squares += (double)to[i] * (double)to[i];
				beyond += fabsf(to[i]) >= 0.75f;
				assert_true(!given || fabsf(to[i]) <= 0.75f);
			}
		}
		double n = (double)noisy * SIZE;
		assert_hits(noisy, MANY, given ? 0.75 : 0.3);
		assert_close(sum / n, 0, 5 * 0.5 / sqrt(n));
		/* P(|x| >= 1.5 standard deviations) */
		assert_hits(beyond, (int)n, 0.13361440253771614);
		if (!given)
			assert_close(squares / n, 0.25, 5 * 0.25 * sqrt(2 / n));
	}
}

/* nnott clips every picture. */
static void pictures_without_noise_are_not_clipped(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.noise_clip = 1;
	options.noise_prob = 0.5;
	static const float from[2] = {5, -5};
	int clipped = 0;
	(void)state;
	for (int noisy = 0; noisy < 2; noisy++) {
		options.noise_std = noisy ? 0.1 : 0;
		for (uint64_t number = 0; number < MANY; number++) {
			float to[2];
			augment_one(&options, 1, 1, 2, number, from, to);
			assert_true(to[0] == 5 || (noisy && to[0] == 1));
			assert_true(to[1] == -to[0]);
			clipped += to[0] == 1;
		}
	}
	assert_hits(clipped, MANY, 0.5);
}

/* The centre of an even square of 4 is the pixel right and below; of an odd one of 3, its middle.
 * At borders the square is cut. */
static void cutout_sets_a_square_around_a_uniform_centre_to_zero(void **state)
{
	static const uint32_t sizes[2] = {4, 3};
	float from[SIZE], to[SIZE];
	(void)state;
	for (int i = 0; i < SIZE; i++)
		from[i] = 1;
	for (int s = 0; s < 2; s++) {
		struct tn_augmentation options = tn_augmentation_defaults();
		options.cutout_prob = 0.6;
		options.cutout_size = sizes[s];
		int size = (int)sizes[s], cut = 0, corner = 0, whole = 0;
		for (uint64_t number = 0; number < MANY; number++) {
			augment_one(&options, 3, H, W, number, from, to);
			int left = W, right = -1, top = H, bottom = -1, zeros = 0;
			for (int i = 0; i < SIZE; i++) {
				int y = i / W % H, x = i % W;
				if (to[i] != 0)
					continue;
				zeros++;
				left = x < left ? x : left;
				right = x > right ? x : right;
				top = y < top ? y : top;
				bottom = y > bottom ? y : bottom;
			}
			cut += zeros > 0;
			if (!zeros)
				continue;
			int width = right - left + 1, height = bottom - top + 1;
			assert_int_equal(zeros, 3 * width * height);
			assert_true(width <= size && height <= size);
			assert_true(width == size || left == 0 || right == W - 1);
			assert_true(height == size || top == 0 || bottom == H - 1);
			whole += width == size && height == size;
			corner += to[0] == 0;
		}
		/* A square that is not cut has its centre in the middle (8 - 3) x (10 - 3) of 4,
		 * or (8 - 2) x (10 - 2) of 3; a square over the corner has it in the first half +
		 * 1 pixels (even) or half + 1 (odd) of each line. */
		double reach = size / 2 + 1;
		assert_hits(cut, MANY, 0.6);
		assert_hits(whole, MANY, 0.6 * (H - size + 1) * (W - size + 1) / (H * W));
		assert_hits(corner, MANY, 0.6 * reach * reach / (H * W));
	}
}

/* ---- RandAugment -----------------------------------------------------------------------------*/

/* Is `to` `from` mirrored, or rolled by (down, right)? */
static int is_moved(const float *from, const float *to, int mirror_x, int mirror_y, int down,
		    int right)
{
	for (int y = 0; y < H; y++) {
		for (int x = 0; x < W; x++) {
			int row = (y - down + H) % H, column = (x - right + W) % W;
			row = mirror_y ? H - 1 - row : row;
			column = mirror_x ? W - 1 - column : column;
			if (to[y * W + x] != from[row * W + column])
				return 0;
		}
	}
	return 1;
}

static void randaugment_draws_each_operation_equally_often(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.randaugment_layers = 1;
	options.randaugment_magnitude = 1;
	enum { LEFT, RIGHT, UP, DOWN, FLIP_LR, FLIP_UD, NOISE, CUTOUT, ROTATE, N };
	float from[H * W], to[H * W];
	int count[N] = {0};
	(void)state;
	for (int i = 0; i < H * W; i++)
		from[i] = (float)i + 1;
	for (uint64_t number = 0; number < MANY; number++) {
		int zeros = 0, near = 0;
		augment_one(&options, 1, H, W, number, from, to);
		for (int i = 0; i < H * W; i++) {
			zeros += to[i] == 0;
			near += to[i] != from[i] && fabsf(to[i] - from[i]) < 0.2f;
		}
		if (is_moved(from, to, 0, 0, 0, -2))
			count[LEFT]++;
		else if (is_moved(from, to, 0, 0, 0, 2))
			count[RIGHT]++;
		else if (is_moved(from, to, 0, 0, -2, 0))
			count[UP]++;
		else if (is_moved(from, to, 0, 0, 2, 0))
			count[DOWN]++;
		else if (is_moved(from, to, 1, 0, 0, 0))
			count[FLIP_LR]++;
		else if (is_moved(from, to, 0, 1, 0, 0))
			count[FLIP_UD]++;
		else if (near > H * W / 2)
			count[NOISE]++;
		else if (zeros >= 4 && memcmp(&to[H * W / 2], &from[H * W / 2], sizeof(*to)) == 0)
			count[CUTOUT]++;
		else
			count[ROTATE]++;
	}
	for (int i = 0; i < CUTOUT; i++)
		assert_hits(count[i], MANY, i < FLIP_LR ? 1 / 14.0 : 1 / 7.0);
	/* A rotation brings zeros in, too, and a square may cover the pixel looked at. */
	assert_hits(count[CUTOUT] + count[ROTATE], MANY, 2 / 7.0);
}

static void randaugment_of_no_magnitude_or_no_layers_changes_nothing(void **state)
{
	struct tn_augmentation none[2] = {tn_augmentation_defaults(), tn_augmentation_defaults()};
	none[0].randaugment_layers = 3;
	none[1].randaugment_magnitude = 0.5;
	float from[H * W], to[H * W];
	(void)state;
	for (int i = 0; i < H * W; i++)
		from[i] = (float)i;
	for (int k = 0; k < 2; k++) {
		for (uint64_t number = 0; number < 50; number++) {
			augment_one(&none[k], 1, H, W, number, from, to);
			assert_memory_equal(to, from, sizeof(to));
		}
	}
}

/* Of at least one. */
static void randaugment_shifts_by_whole_pixels(void **state)
{
	static const struct {
		double magnitude;
		int pixels;
	} cases[] = {{0.01, 1}, {0.2, 1}, {0.7, 1}, {0.8, 2}, {1, 2}};
	float from[H * W], to[H * W];
	(void)state;
	for (int i = 0; i < H * W; i++)
		from[i] = (float)i + 1;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct tn_augmentation options = tn_augmentation_defaults();
		const int n = cases[k].pixels;
		int left = 0, right = 0, up = 0, down = 0;
		options.randaugment_layers = 1;
		options.randaugment_magnitude = cases[k].magnitude;
		for (uint64_t number = 0; number < MANY; number++) {
			augment_one(&options, 1, H, W, number, from, to);
			left += is_moved(from, to, 0, 0, 0, -n);
			right += is_moved(from, to, 0, 0, 0, n);
			up += is_moved(from, to, 0, 0, -n, 0);
			down += is_moved(from, to, 0, 0, n, 0);
		}
		assert_hits(left, MANY, 1 / 14.0);
		assert_hits(right, MANY, 1 / 14.0);
		assert_hits(up, MANY, 1 / 14.0);
		assert_hits(down, MANY, 1 / 14.0);
	}
}

/* Layers are in turn: two leave fewer pictures of a single operation. */
static void randaugment_applies_as_many_operations_as_layers(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.randaugment_layers = 2;
	options.randaugment_magnitude = 1;
	float from[H * W], to[H * W];
	int both = 0;
	(void)state;
	for (int i = 0; i < H * W; i++)
		from[i] = (float)i + 1;
	for (uint64_t number = 0; number < MANY; number++) {
		augment_one(&options, 1, H, W, number, from, to);
		both += is_moved(from, to, 1, 1, 0, 0);
	}
	assert_hits(both, MANY, 2 / 49.0);
}

/* ---- Colours ---------------------------------------------------------------------------------*/

static void brightness_is_a_uniform_factor(void **state)
{
	static const float from[2] = {0.25f, 0.5f};
	static const double strengths[2] = {0.4, 1.5};
	(void)state;
	for (int s = 0; s < 2; s++) {
		struct tn_augmentation options = tn_augmentation_defaults();
		options.brightness = strengths[s];
		double low = fmax(0, 1 - strengths[s]), high = 1 + strengths[s], sum = 0;
		for (uint64_t number = 0; number < MANY; number++) {
			float to[2];
			augment_one(&options, 1, 1, 2, number, from, to);
			double factor = 4 * (double)to[0];
			assert_true(factor >= low && factor <= high);
			assert_close(to[1], fmin(1, factor / 2), 1e-6);
			sum += factor;
		}
		assert_uniform_mean(sum / MANY, MANY, low, high);
	}
}

/* Normalised values are changed as 0 to 1 ones, and normalised again. */
static void colours_change_in_values_from_0_to_1(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.brightness = 0.5;
	options.contrast = 0.5;
	options.saturation = 0.5;
	options.hue = 0.2;
	static const float mean[3] = {0.5f, 0.4f, 0.3f}, deviation[3] = {0.25f, 0.2f, 0.3f};
	float plain[SIZE], normal[SIZE];
	(void)state;
	for (uint64_t epoch = 0; epoch < 50; epoch++) {
		struct tn_augment_batch batch = {.struct_size = sizeof(batch),
						 .n = 1,
						 .channels = 3,
						 .height = H,
						 .width = W,
						 .epoch = epoch,
						 .images = plain};
		for (int i = 0; i < SIZE; i++) {
			int c = i / (H * W);
			plain[i] = (float)((i * 37) % 101) / 100;
			normal[i] = (plain[i] - mean[c]) / deviation[c];
		}
		assert_ok(tn_augment(&options, &batch, NULL));
		batch.mean = mean;
		batch.deviation = deviation;
		batch.images = normal;
		assert_ok(tn_augment(&options, &batch, NULL));
		for (int i = 0; i < SIZE; i++) {
			int c = i / (H * W);
			assert_close(normal[i] * deviation[c] + mean[c], plain[i], 2e-5);
		}
	}
}

typedef void adjustment(float *image, uint32_t channels, size_t n, float number);

/* Each picture is that of one of the 24 orders, with factors that are drawn after the order. */
static void colours_change_in_every_order_equally_often(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.brightness = 0.6;
	options.contrast = 0.6;
	options.saturation = 0.6;
	options.hue = 0.3;
	static adjustment *const adjust[4] = {tn_adjust_brightness, tn_adjust_contrast,
					      tn_adjust_saturation, tn_adjust_hue};
	float from[SIZE], to[SIZE];
	int first[4] = {0};
	(void)state;
	for (int i = 0; i < SIZE; i++)
		from[i] = (float)((i * 53) % 97) / 96;
	for (uint64_t number = 0; number < 600; number++) {
		struct tn_draws draws = tn_draws_of(TN_DRAW_COLOUR, 11, 0, number);
		float numbers[4];
		int matches = 0, matched = 0;
		for (int i = 0; i < 3; i++)
			tn_draw_word(&draws);
		for (int i = 0; i < 3; i++)
			numbers[i] = (float)tn_draw_between(&draws, 0.4, 1.6);
		numbers[3] = (float)tn_draw_between(&draws, -0.3, 0.3);
		augment_one(&options, 3, H, W, number, from, to);
		for (int order = 0; order < 256; order++) {
			int step[4] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6};
			float image[SIZE];
			if ((1 << step[0] | 1 << step[1] | 1 << step[2] | 1 << step[3]) != 15)
				continue;
			memcpy(image, from, sizeof(image));
			for (int i = 0; i < 4; i++)
				adjust[step[i]](image, 3, H * W, numbers[step[i]]);
			if (!memcmp(image, to, sizeof(image))) {
				matches++;
				matched = step[0];
			}
		}
		assert_true(matches >= 1);
		first[matched] += matches == 1;
	}
	for (int i = 0; i < 4; i++)
		assert_hits(first[i], 600, 0.25);
}

/* As the pictures of a program may have it. */
static void a_nan_has_no_hue_and_stays(void **state)
{
	(void)state;
	for (int c = 0; c < 3; c++) {
		float image[] = {0.25f, 0.5f, 0.75f};
		image[c] = NAN;
		tn_adjust_hue(image, 3, 1, 0.3f);
		for (int i = 0; i < 3; i++)
			assert_true(i == c ? isnan(image[i]) : image[i] == 0.25f * (float)(i + 1));
	}
}

static void grey_pictures_have_neither_saturation_nor_hue(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.saturation = 1;
	options.hue = 0.5;
	float from[H * W], to[H * W];
	(void)state;
	for (int i = 0; i < H * W; i++)
		from[i] = (float)i / (H * W);
	augment_one(&options, 1, H, W, 0, from, to);
	assert_memory_equal(to, from, sizeof(to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_has_its_probability_deviation_and_limit),
		cmocka_unit_test(pictures_without_noise_are_not_clipped),
		cmocka_unit_test(cutout_sets_a_square_around_a_uniform_centre_to_zero),
		cmocka_unit_test(randaugment_draws_each_operation_equally_often),
		cmocka_unit_test(randaugment_of_no_magnitude_or_no_layers_changes_nothing),
		cmocka_unit_test(randaugment_shifts_by_whole_pixels),
		cmocka_unit_test(randaugment_applies_as_many_operations_as_layers),
		cmocka_unit_test(brightness_is_a_uniform_factor),
		cmocka_unit_test(colours_change_in_values_from_0_to_1),
		cmocka_unit_test(colours_change_in_every_order_equally_often),
		cmocka_unit_test(a_nan_has_no_hue_and_stays),
		cmocka_unit_test(grey_pictures_have_neither_saturation_nor_hue),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
