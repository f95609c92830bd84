/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's Winograd convolutions against loops over the definition in double: every pass,
 * layouts, levels of the processor, epilogues, packed weights, sentinels around outputs.
 */
#include <float.h>
#include <math.h>

#include "cpu_conv_walk.h"

#define THREE_BY_THREE(top, left, bottom, right)                                                   \
	3, 3, 1, {1, 1}, {1, 1},                                                                   \
	{                                                                                          \
		top, left, bottom, right                                                           \
	}

static const struct conv_shape shapes[] = {
	{"one pixel", 1, 1, 1, 1, 1, THREE_BY_THREE(1, 1, 1, 1)},
	{"one pixel, many channels", 1, 70, 1, 1, 130, THREE_BY_THREE(1, 1, 1, 1)},
	{"one pixel of a window", 2, 16, 3, 3, 20, THREE_BY_THREE(0, 0, 0, 0)},
	{"whole tiles", 2, 32, 8, 12, 64, THREE_BY_THREE(1, 1, 1, 1)},
	{"odd in all", 3, 37, 7, 9, 45, THREE_BY_THREE(1, 1, 1, 1)},
	{"no padding", 2, 20, 9, 6, 33, THREE_BY_THREE(0, 0, 0, 0)},
	{"padded by 2", 2, 17, 5, 6, 18, THREE_BY_THREE(2, 2, 2, 2)},
	{"padded by more than the window", 1, 5, 4, 5, 6, THREE_BY_THREE(4, 3, 5, 4)},
	{"padded on one side", 1, 9, 6, 7, 10, THREE_BY_THREE(0, 2, 1, 0)},
	{"more tiles than a block", 3, 33, 14, 13, 32, THREE_BY_THREE(1, 1, 1, 1)},
	{"deep, few tiles", 2, 170, 4, 4, 150, THREE_BY_THREE(1, 1, 1, 1)},
	{"deep, more tiles than a block", 130, 150, 1, 1, 133, THREE_BY_THREE(1, 1, 1, 1)},
	{"more channels than a chunk", 1, 1040, 3, 2, 20, THREE_BY_THREE(1, 1, 1, 1)},
};
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))
/* Those after them have so many channels that their weights are transformed in each call. */
#define N_PACKED 10
#define DEEP (&shapes[11])

/* Transforms amplify the rounding of a product: at most 63 times for a pixel, 51 times for a
 * weight's gradient (kernels/winograd_points.h).  Of n terms of either sign, each no more than
 * `largest`, roundings add as a random walk, sqrt(n) times one; twice that for the worst of
 * thousands.  The last sum and additions to it round separately. */
static double bound(const struct conv_case *c, double sum)
{
	const struct conv_shape *s = c->shape;
	double largest = c->fractions ? 9.0 / 49 : 9, unit = FLT_EPSILON / 2;
	int64_t tiles = s->n * ((conv_windows(s, 0) + 3) / 4) * ((conv_windows(s, 1) + 3) / 4);
	double terms = c->pass == 0   ? 9.0 * (double)s->c
		       : c->pass == 1 ? 9.0 * (double)s->o
				      : 16.0 * (double)tiles;
	double amplification = c->pass == 2 ? 51 : 63;
	return 2 * amplification * unit * sqrt(terms) * largest + 2 * unit * (fabs(sum) + 1);
}

static double check_element(const struct conv_case *c, float found, double sum, double slack)
{
	double error = fabs(found - sum);
	if (!(error <= slack * bound(c, sum)))
		fail_msg("%s, pass %d, layout %d: found %.9g, expected %.9g, bound %.3g",
			 c->shape->name, c->pass, c->layout, (double)found, sum, bound(c, sum));
	return error;
}

/* Runs the case and compares; activations that are functions have a larger tolerance.  Returns the
 * largest error. */
static double check(struct fixture *f, const struct conv_case *c, double slack)
{
	struct conv_set set = conv_make(c);
	double largest = 0;
	conv_expect(&set, c);
	conv_run(f, c, &set);
	struct conv_array *out = conv_written(&set, c->pass);
	const int64_t *shape = out->operand.shape;
	for (int64_t i = 0; i < shape[0]; i++)
		for (int64_t j = 0; j < shape[1]; j++)
			for (int64_t k = 0; k < shape[2]; k++)
				for (int64_t l = 0; l < shape[3]; l++) {
					double sum = set.sums[conv_place(out, i, j, k, l)];
					double error = check_element(c, *conv_at(out, i, j, k, l),
								     sum, slack);
					largest = error > largest ? error : largest;
				}
	conv_compare(c, &set, 1); /* for the sentinels */
	conv_release(&set);
	return largest;
}

static void check_within_bound(struct fixture *f, const struct conv_case *c)
{
	struct conv_case fractions = *c;
	fractions.fractions = 1;
	check(f, &fractions, 1);
}

static void every_pass_gives_the_definition(void **state)
{
	(void)state;
	conv_walk(&(struct conv_walk){"winograd", shapes, N_SHAPES, N_PACKED, check_within_bound});
}

static void every_activation_is_applied(void **state)
{
	(void)state;
	struct fixture f = {.convolution = "winograd"};
	fixture_open(&f, 2);
	for (uint32_t a = 0; a <= TN_ACTIVATION_GELU; a++) {
		struct conv_case c = {
			.shape = &shapes[4], .layout = 1, .has_bias = 1, .activation = a};
		c.fractions = 1;
		check(&f, &c, 2);
		if (!fixture_takes(conv_work(DEEP)))
			continue;
		c.shape = DEEP;
		c.has_residual = 1;
		check(&f, &c, 2);
	}
	fixture_close(&f);
}

static void the_number_of_threads_does_not_change_a_bit(void **state)
{
	(void)state;
	static const struct conv_shape wide = {
		"wide", 2, 64, 20, 30, 48, THREE_BY_THREE(1, 1, 1, 1)};
	conv_walk_threads(&wide);
	conv_walk_threads(DEEP);
}

/* Sums of small whole numbers are exact in f32 except with Winograd's transforms, which shows which
 * algorithm ran. */
static int is_exact(const char *convolution, const struct conv_shape *shape, int pass)
{
	struct fixture f = {.convolution = convolution};
	struct conv_case c = {.shape = shape, .pass = pass, .layout = 1};
	fixture_open(&f, 2);
	double error = check(&f, &c, 1);
	fixture_close(&f);
	return error == 0;
}

static void it_is_chosen_where_it_pays(void **state)
{
	static const struct conv_shape large = {
		"large", 4, 64, 16, 16, 64, THREE_BY_THREE(1, 1, 1, 1)};
	static const struct conv_shape small = {
		"small", 1, 256, 2, 2, 256, THREE_BY_THREE(1, 1, 1, 1)};
	(void)state;
	if (!fixture_takes(conv_work(&large)))
		skip();
	for (int pass = 0; pass < 3; pass++) {
		assert_false(is_exact("auto", &large, pass));
		assert_true(is_exact("implicit", &large, pass));
		assert_true(is_exact("auto", &small, pass));
		assert_false(is_exact("winograd", &small, pass));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pass_gives_the_definition),
		cmocka_unit_test(every_activation_is_applied),
		cmocka_unit_test(the_number_of_threads_does_not_change_a_bit),
		cmocka_unit_test(it_is_chosen_where_it_pays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
