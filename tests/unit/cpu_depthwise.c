/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's depthwise convolutions against loops over the definition: every pass, layouts,
 * levels of the processor, epilogues, packed weights.  Numbers are small integers, whose f32 sums
 * are exact in any order: results are compared for equality.
 */
#include "cpu_conv_walk.h"

/* Channels below, at and beyond a vector and more of every level; rows of every remainder of a
 * block. */
static const struct conv_shape shapes[] = {
	{"3x3, few channels", 2, 3, 6, 7, 3, 3, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"3x3", 2, 32, 6, 16, 32, 3, 3, 32, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"3x3, odd channels", 2, 37, 7, 13, 37, 3, 3, 37, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"3x3 stride 2", 2, 24, 9, 12, 24, 3, 3, 24, {2, 2}, {1, 1}, {1, 1, 1, 1}},
	{"3x3 stride 2, padded after", 1, 48, 8, 8, 48, 3, 3, 48, {2, 2}, {1, 1}, {0, 0, 1, 1}},
	{"3x3, 2x2 plane", 3, 144, 2, 2, 144, 3, 3, 144, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"3x3, no padding", 1, 17, 5, 11, 17, 3, 3, 17, {1, 1}, {1, 1}, {0}},
	{"5x5", 2, 20, 8, 8, 20, 5, 5, 20, {1, 1}, {1, 1}, {2, 2, 2, 2}},
	{"5x5 stride 2", 2, 40, 8, 11, 40, 5, 5, 40, {2, 2}, {1, 1}, {2, 2, 2, 2}},
	{"5x5 stride 2, uneven padding", 1, 16, 7, 9, 16, 5, 5, 16, {2, 2}, {1, 1}, {1, 1, 2, 2}},
	{"7x7", 2, 48, 16, 16, 48, 7, 7, 48, {1, 1}, {1, 1}, {3, 3, 3, 3}},
	{"7x7, 4x4 plane", 5, 80, 4, 4, 80, 7, 7, 80, {1, 1}, {1, 1}, {3, 3, 3, 3}},
	{"7x7, 2x2 plane", 4, 192, 2, 2, 192, 7, 7, 192, {1, 1}, {1, 1}, {3, 3, 3, 3}},
	{"7x7 stride 2", 1, 18, 9, 9, 18, 7, 7, 18, {2, 2}, {1, 1}, {3, 3, 3, 3}},
	{"one column out", 2, 33, 9, 3, 33, 3, 3, 33, {1, 1}, {1, 1}, {1, 0, 1, 0}},
	{"stride 3", 1, 19, 10, 11, 19, 3, 3, 19, {3, 3}, {1, 1}, {1, 1, 1, 1}},
	{"unequal strides", 1, 21, 10, 9, 21, 3, 5, 21, {3, 2}, {1, 1}, {1, 2, 1, 2}},
	{"dilated", 1, 23, 12, 13, 23, 3, 3, 23, {1, 1}, {2, 3}, {2, 3, 2, 3}},
	{"dilated down alone, stride 2", 1, 23, 13, 9, 23, 3, 3, 23, {2, 1}, {3, 1}, {3, 1, 3, 1}},
	{"4x2", 1, 18, 7, 8, 18, 4, 2, 18, {1, 1}, {1, 1}, {2, 1, 1, 0}},
	{"window larger than the plane", 1, 17, 2, 3, 17, 7, 7, 17, {1, 1}, {1, 1}, {4, 4, 4, 4}},
	{"much padding", 1, 16, 3, 3, 16, 3, 3, 16, {1, 1}, {1, 1}, {6, 6, 6, 6}},
	{"many pixels", 3, 35, 33, 34, 35, 3, 3, 35, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"one image, many boxes", 1, 32, 40, 30, 32, 7, 7, 32, {1, 1}, {1, 1}, {3, 3, 3, 3}},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(*shapes) };

static void check_exactly(struct fixture *f, const struct conv_case *c)
{
	conv_check(f, c, 0);
}

static void every_pass_gives_the_definition(void **state)
{
	(void)state;
	conv_walk(&(struct conv_walk){"depthwise", shapes, N_SHAPES, N_SHAPES, check_exactly});
}

static void every_activation_is_applied(void **state)
{
	(void)state;
	struct fixture f = {.convolution = "depthwise"};
	fixture_open(&f, 2);
	for (uint32_t a = 0; a <= TN_ACTIVATION_GELU; a++) {
		struct conv_case c = {.shape = &shapes[2],
				      .layout = (int)a % 2 + 1,
				      .has_bias = 1,
				      .has_residual = 1,
				      .activation = a};
		/* Sums up to some tens; the kernels' functions err by 4 ulp. */
		conv_check(&f, &c, 4e-6);
	}
	fixture_close(&f);
}

/* y in place of the residual. */
static void a_residual_may_be_written_over(void **state)
{
	(void)state;
	struct fixture f = {.convolution = "depthwise"};
	fixture_open(&f, 2);
	for (int i = 0; i < N_SHAPES; i++) {
		struct conv_case c = {.shape = &shapes[i], .layout = 1, .has_residual = 1};
		struct conv_set set = conv_make(&c);
		struct conv_array own = set.residual;
		set.residual = set.y;
		conv_expect(&set, &c);
		conv_run(&f, &c, &set);
		conv_compare(&c, &set, 0);
		set.residual = own;
		conv_release(&set);
	}
	fixture_close(&f);
}

/* Padding is left out, not multiplied by 0. */
static void infinity_stays_where_it_is(void **state)
{
	(void)state;
	struct fixture f = {.convolution = "depthwise"};
	struct conv_case c = {.shape = &shapes[10], .layout = 1};
	struct conv_set set = conv_make(&c);
	fixture_open(&f, 2);
	*conv_at(&set.x, 0, 0, 0, 0) = INFINITY;
	for (int r = 0; r < 7; r++)
		for (int s = 0; s < 7; s++)
			*conv_at(&set.w, 0, 0, r, s) = 1;
	conv_run(&f, &c, &set);
	for (int p = 0; p < 16; p++)
		for (int q = 0; q < 16; q++)
			assert_int_equal(isinf(*conv_at(&set.y, 0, 0, p, q)) != 0,
					 p <= 3 && q <= 3);
	fixture_close(&f);
	conv_release(&set);
}

static void the_number_of_threads_does_not_change_a_bit(void **state)
{
	(void)state;
	conv_walk_threads(&shapes[N_SHAPES - 2]);
	conv_walk_threads(&shapes[N_SHAPES - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pass_gives_the_definition),
		cmocka_unit_test(every_activation_is_applied),
		cmocka_unit_test(a_residual_may_be_written_over),
		cmocka_unit_test(infinity_stays_where_it_is),
		cmocka_unit_test(the_number_of_threads_does_not_change_a_bit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
