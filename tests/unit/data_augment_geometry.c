/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Moves of pixels: by hand, and how often and how far they are drawn.  Rotation, padding and
 * resized crops with given parameters are held against torchvision in tests/parity/augment.c.
 */
#include "data/augment_geometry.h"

#include "augment_fixture.h"
#include "data/shuffle.h"
#include "program/random.h"

enum { H = 5, W = 7, MANY = 4000 };

static struct tn_augment_plan plan_of(uint32_t height, uint32_t width)
{
	const struct tn_augment_images images = {.channels = 1, .height = height, .width = width};
	struct tn_augment_plan plan;
	assert_ok(tn_augment_plan_take(&plan, NULL, &images, NULL));
	plan.fill[0] = 9;
	return plan;
}

static void check_line(const struct tn_line_move *move, const float expected[4])
{
	struct tn_augment_plan across = plan_of(1, 4), down = plan_of(4, 1);
	const struct tn_line_move still = {0};
	float *scratch = malloc(tn_augment_scratch(&across) * sizeof(*scratch));
	assert_non_null(scratch);
	for (int vertical = 0; vertical < 2; vertical++) {
		float line[4] = {1, 2, 3, 4};
		struct tn_canvas canvas = tn_canvas_of(vertical ? &down : &across, line, scratch);
		tn_canvas_move(&canvas, vertical ? move : &still, vertical ? &still : move);
		assert_memory_equal(canvas.picture, expected, 4 * sizeof(float));
	}
	free(scratch);
}

static void a_line_is_mirrored_cropped_shifted_and_rolled_in_this_order(void **state)
{
	(void)state;
	check_line(&(struct tn_line_move){.mirrored = 1}, (float[]){4, 3, 2, 1});
	check_line(&(struct tn_line_move){.roll = 1}, (float[]){4, 1, 2, 3});
	check_line(&(struct tn_line_move){.roll = -3}, (float[]){4, 1, 2, 3});
	check_line(&(struct tn_line_move){.shift = 1}, (float[]){9, 1, 2, 3});
	check_line(&(struct tn_line_move){.shift = -2}, (float[]){3, 4, 9, 9});
	check_line(&(struct tn_line_move){.crop = 3, .crop_mode = TN_PADDING_REFLECT},
		   (float[]){4, 3, 2, 1});
	check_line(&(struct tn_line_move){.crop = -3, .crop_mode = TN_PADDING_SYMMETRIC},
		   (float[]){4, 4, 3, 2});
	check_line(&(struct tn_line_move){.crop = 2, .crop_mode = TN_PADDING_EDGE},
		   (float[]){1, 1, 1, 2});
	/* 4 3 2 1, 4 4 3 2, 9 4 4 3, 3 9 4 4 */
	check_line(&(struct tn_line_move){.mirrored = 1,
					  .crop = 1,
					  .crop_mode = TN_PADDING_EDGE,
					  .shift = 1,
					  .roll = 1},
		   (float[]){3, 9, 4, 4});
}

static void quarter_turns_move_every_pixel_exactly(void **state)
{
	struct tn_augment_plan plan = plan_of(3, 3);
	static const float expected[9] = {3, 6, 9, 2, 5, 8, 1, 4, 7}; /* counter-clockwise */
	(void)state;
	float *scratch = malloc(tn_augment_scratch(&plan) * sizeof(*scratch));
	assert_non_null(scratch);
	for (int bilinear = 0; bilinear < 2; bilinear++) {
		float picture[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
		struct tn_canvas canvas = tn_canvas_of(&plan, picture, scratch);
		tn_canvas_rotate(&canvas, 90, bilinear, TN_PADDING_CONSTANT);
		assert_memory_equal(canvas.picture, expected, sizeof(expected));
		tn_canvas_rotate(&canvas, -90, bilinear, TN_PADDING_CONSTANT);
		for (int i = 0; i < 9; i++)
			assert_true(canvas.picture[i] == (float)i + 1);
	}
	free(scratch);
}

/* Of 4 x 5 pixels each comes from between four: from that of even indices. */
static void a_turn_that_falls_between_pixels_takes_even_ones(void **state)
{
	struct tn_augment_plan plan = plan_of(4, 5);
	static const float expected[2][4 * 5] = {
		{5, 5, 15, 15, 9, 3, 3, 13, 13, 9, 3, 3, 13, 13, 9, 1, 1, 11, 11, 9},
		{9, 11, 11, 1, 1, 9, 13, 13, 3, 3, 9, 13, 13, 3, 3, 9, 15, 15, 5, 5},
	};
	(void)state;
	float *scratch = malloc(tn_augment_scratch(&plan) * sizeof(*scratch));
	assert_non_null(scratch);
	for (int turn = 0; turn < 2; turn++) {
		float picture[4 * 5];
		for (int i = 0; i < 4 * 5; i++)
			picture[i] = (float)i + 1;
		struct tn_canvas canvas = tn_canvas_of(&plan, picture, scratch);
		tn_canvas_rotate(&canvas, turn ? -90 : 90, 0, TN_PADDING_CONSTANT);
		assert_memory_equal(canvas.picture, expected[turn], sizeof(expected[turn]));
	}
	free(scratch);
}

/* A rotated constant picture is constant with every padding but black. */
static void a_rotation_is_filled_from_outside_as_asked(void **state)
{
	struct tn_augment_plan plan = plan_of(H, W);
	(void)state;
	float *scratch = malloc(tn_augment_scratch(&plan) * sizeof(*scratch));
	assert_non_null(scratch);
	for (uint32_t mode = 0; mode <= TN_PADDING_SYMMETRIC; mode++) {
		for (int bilinear = 0; bilinear < 2; bilinear++) {
			float picture[H * W];
			for (int i = 0; i < H * W; i++)
				picture[i] = 2;
			struct tn_canvas canvas = tn_canvas_of(&plan, picture, scratch);
			tn_canvas_rotate(&canvas, 45, bilinear, mode);
			int changed = 0;
			for (int i = 0; i < H * W; i++)
				changed += canvas.picture[i] != 2;
			assert_true(mode ? changed == 0 : changed > 4);
			assert_true(mode || canvas.picture[0] == 9);
		}
	}
	free(scratch);
}

/* Recorded streams: words 4 k, 4 k + 1, 4 k + 2 and 4 k + 3 of a picture k. */
static void shift_and_mirroring_keep_their_words(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.max_shift = 2;
	options.hflip_prob = 0.5;
	options.vflip_prob = 0.5;
	float from[H * W], to[H * W];
	(void)state;
	for (int i = 0; i < H * W; i++)
		from[i] = (float)i + 1;
	for (uint64_t number = 0; number < 500; number++) {
		uint64_t stream = (uint64_t)0x4155 << 48;
		int down = (int)tn_lot(tn_random(11, stream, 4 * number), 5) - 2;
		int right = (int)tn_lot(tn_random(11, stream, 4 * number + 1), 5) - 2;
		int mirrored = (int)(tn_random(11, stream, 4 * number + 2) >> 31);
		int upside_down = (int)(tn_random(11, stream, 4 * number + 3) >> 31);
		augment_one(&options, 1, H, W, number, from, to);
		for (int y = 0; y < H; y++) {
			for (int x = 0; x < W; x++) {
				int row = y - down, column = x - right;
				int inside = row >= 0 && row < H && column >= 0 && column < W;
				row = upside_down ? H - 1 - row : row;
				column = mirrored ? W - 1 - column : column;
				assert_true(to[y * W + x] == (inside ? from[row * W + column] : 0));
			}
		}
	}
}

/* Each of the 9 moves by up to one pixel, in pictures 1 2 3 / 4 5 6 / 7 8 9. */
static void every_move_is_equally_likely(void **state)
{
	static const float from[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		int count[10] = {0};
		struct tn_augmentation options = tn_augmentation_defaults();
		options.max_shift = kind == 0;
		options.roll = kind == 1;
		options.crop_padding = kind == 2;
		options.crop_mode = TN_PADDING_EDGE;
		for (uint64_t number = 0; number < MANY; number++) {
			float to[9];
			augment_one(&options, 1, 3, 3, number, from, to);
			count[(int)to[4]]++; /* what moved to the centre */
		}
		for (int i = 1; i < 10; i++)
			assert_hits(count[i], MANY, 1 / 9.0);
	}
}

static void mirroring_has_its_probability(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.hflip_prob = 0.3;
	options.vflip_prob = 0.9;
	static const float from[4] = {1, 2, 3, 4};
	int across = 0, down = 0;
	(void)state;
	for (uint64_t number = 0; number < MANY; number++) {
		float to[4];
		augment_one(&options, 1, 2, 2, number, from, to);
		int corner = (int)to[0] - 1;
		across += corner & 1;
		down += corner >> 1;
		assert_int_equal((int)to[3] - 1, corner ^ 3);
	}
	assert_hits(across, MANY, 0.3);
	assert_hits(down, MANY, 0.9);
}

/* The slope of a rotated plane x shows the angle. */
static void angles_are_uniform_and_rotation_has_its_probability(void **state)
{
	enum { SIDE = 9, CENTRE = 4 * 9 + 4 };
	struct tn_augmentation options = tn_augmentation_defaults();
	options.rotate_deg = 40;
	options.rotate_bilinear = 1;
	options.rotate_mode = TN_PADDING_EDGE;
	float from[SIDE * SIDE], to[SIDE * SIDE];
	(void)state;
	for (int i = 0; i < SIDE * SIDE; i++)
		from[i] = (float)(i % SIDE);
	for (int given = 0; given < 2; given++) {
		int rotated = 0;
		double sum = 0, squares = 0;
		options.rotate_prob = given ? 0.8 : 0.5;
		for (uint64_t number = 0; number < MANY; number++) {
			augment_one(&options, 1, SIDE, SIDE, number, from, to);
			if (!memcmp(to, from, sizeof(to)))
				continue;
			double degrees = atan2((double)to[CENTRE] - (double)to[CENTRE + SIDE],
					       (double)to[CENTRE + 1] - (double)to[CENTRE]) *
					 180 / acos(-1);
			assert_true(fabs(degrees) < 40.001);
			rotated++;
			sum += degrees;
			squares += degrees * degrees;
		}
		assert_hits(rotated, MANY, given ? 0.8 : 0.5);
		assert_uniform_mean(sum / rotated, rotated, -40, 40);
		/* Of a uniform square on 0 to 1600: mean 1/3 and variance 4/45. */
		assert_close(squares / rotated, 1600 / 3.0, 5 * 1600 * sqrt(4 / 45.0 / rotated));
	}
}

/* The values of a channel x and a channel y after the crop show its place and size. */
static void crops_have_areas_and_shapes_in_their_ranges(void **state)
{
	enum { SIDE = 64, N = 2000 };
	struct tn_augmentation options = tn_augmentation_defaults();
	options.resized_crop = 1;
	options.resized_crop_scale[0] = 0.2;
	options.resized_crop_scale[1] = 0.6;
	options.resized_crop_ratio[0] = 0.8;
	options.resized_crop_ratio[1] = 2;
	static float from[2 * SIDE * SIDE], to[2 * SIDE * SIDE];
	double areas = 0, shapes = 0, places = 0;
	(void)state;
	for (int i = 0; i < SIDE * SIDE; i++) {
		from[i] = (float)(i % SIDE);
		from[SIDE * SIDE + i] = (float)(i / SIDE);
	}
	for (uint64_t number = 0; number < N; number++) {
		augment_one(&options, 2, SIDE, SIDE, number, from, to);
		const float *x = to, *y = to + SIDE * SIDE;
		double width = (double)(x[40] - x[20]) / 20 * SIDE;
		double height = (double)(y[40 * SIDE] - y[20 * SIDE]) / 20 * SIDE;
		double left = (double)(x[31] + x[32]) / 2 - (width - 1) / 2;
		double top = (double)(y[31 * SIDE] + y[32 * SIDE]) / 2 - (height - 1) / 2;
		assert_close(width, round(width), 1e-3);
		assert_close(height, round(height), 1e-3);
		assert_close(left, round(left), 1e-3);
		assert_true(left > -1e-3 && left + width < SIDE + 1e-3);
		assert_true(top > -1e-3 && top + height < SIDE + 1e-3);
		double area = width * height / (SIDE * SIDE), shape = width / height;
		/* Sides are rounded: each of at least 20 pixels by a half. */
		assert_true(area > 0.2 * 0.95 && area < 0.6 * 1.05);
		assert_true(shape > 0.8 * 0.95 && shape < 2 * 1.05);
		areas += area;
		shapes += log(shape);
		places += width < SIDE - 0.5 ? left / (SIDE - width) : 0.5;
	}
	/* Large areas of wide shapes do not fit, which is rare here; 0.02 for them. */
	assert_close(areas / N, 0.4, 5 * 0.4 / sqrt(12.0 * N) + 0.02);
	assert_close(shapes / N, log(0.8 * 2) / 2, 5 * log(2 / 0.8) / sqrt(12.0 * N) + 0.02);
	assert_close(places / N, 0.5, 5 / sqrt(12.0 * N));
}

/* The largest area in the middle: of 64 x 16 pixels with width / height at most 2, 32 x 16. */
static void a_shape_that_never_fits_is_taken_from_the_middle(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.resized_crop = 1;
	options.resized_crop_scale[0] = options.resized_crop_scale[1] = 0.9;
	options.resized_crop_ratio[0] = 1;
	options.resized_crop_ratio[1] = 2;
	float from[16 * 64], to[16 * 64];
	(void)state;
	for (int i = 0; i < 16 * 64; i++)
		from[i] = (float)(i % 64);
	augment_one(&options, 1, 16, 64, 5, from, to);
	for (int i = 0; i < 16 * 64; i++) {
		double x = (i % 64 + 0.5) / 2 - 0.5;
		assert_close(to[i], 16 + (x < 0 ? 0 : x > 31 ? 31 : x), 1e-5);
	}
	/* Of 16 x 64, 16 x 16: its ratio is at least 1. */
	for (int i = 0; i < 16 * 64; i++)
		from[i] = (float)(i / 16);
	augment_one(&options, 1, 64, 16, 5, from, to);
	for (int i = 0; i < 16 * 64; i++) {
		double y = (i / 16 + 0.5) / 4 - 0.5;
		assert_close(to[i], 24 + (y < 0 ? 0 : y > 15 ? 15 : y), 1e-5);
	}
}

/* All of the picture, in its own shape: every weight is 0 or 1. */
static void a_crop_of_everything_changes_nothing(void **state)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.resized_crop = 1;
	options.resized_crop_scale[0] = options.resized_crop_scale[1] = 1;
	options.resized_crop_ratio[0] = options.resized_crop_ratio[1] = 1;
	float from[49], to[49];
	(void)state;
	for (int i = 0; i < 49; i++)
		from[i] = (float)sin(i);
	augment_one(&options, 1, 7, 7, 5, from, to);
	assert_memory_equal(to, from, sizeof(to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_mirrored_cropped_shifted_and_rolled_in_this_order),
		cmocka_unit_test(quarter_turns_move_every_pixel_exactly),
		cmocka_unit_test(a_turn_that_falls_between_pixels_takes_even_ones),
		cmocka_unit_test(a_rotation_is_filled_from_outside_as_asked),
		cmocka_unit_test(shift_and_mirroring_keep_their_words),
		cmocka_unit_test(every_move_is_equally_likely),
		cmocka_unit_test(mirroring_has_its_probability),
		cmocka_unit_test(angles_are_uniform_and_rotation_has_its_probability),
		cmocka_unit_test(crops_have_areas_and_shapes_in_their_ranges),
		cmocka_unit_test(a_shape_that_never_fits_is_taken_from_the_middle),
		cmocka_unit_test(a_crop_of_everything_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
