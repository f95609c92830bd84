/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What is drawn: integers are uniform, orders are permutations, choices keep to their weights,
 * numbers to their limits; and what is refused, by its text.  Distributions: tests/parity/random.
 * Seeds are fixed, so that nothing here depends on luck.
 */
#include "mock_fixture.h"
#include "program/random.h"
#include "random_calls.h"

enum { MOST = 20000 };

static tn_context *context;
static tn_generator *g;

static const int64_t many[] = {MOST};

static const int64_t *integers_of(const tn_array *a)
{
	static int64_t numbers[MOST];
	assert_non_null(a);
	assert_true(tn_array_size(a) <= MOST);
	assert_ok(tn_to_host(tn_astype(a, TN_I64), numbers,
			     (size_t)tn_array_size(a) * sizeof(*numbers)));
	return numbers;
}

static const double *numbers_of(const tn_array *a)
{
	static double numbers[MOST];
	assert_non_null(a);
	assert_true(tn_array_size(a) <= MOST);
	assert_ok(tn_to_host(tn_astype(a, TN_F64), numbers,
			     (size_t)tn_array_size(a) * sizeof(*numbers)));
	return numbers;
}

/* Pearson's sum over n cells with those expectations is below the quantile of 0.999, by Wilson and
 * Hilferty's formula. */
static void assert_chi_square(const int64_t *counts, const double *expected, int n)
{
	double sum = 0, free = n - 1, v = 2 / (9 * free);
	for (int i = 0; i < n; i++) {
		if (expected[i] == 0)
			assert_int_equal(counts[i], 0);
		else
			sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
	}
	const double limit = free * pow(1 - v + 3.09 * sqrt(v), 3);
	if (!(sum < limit))
		fail_msg("chi square with %d cells: %g, at most %g", n, sum, limit);
}

/* ---- Integers --------------------------------------------------------------------------------*/

static void check_uniform(tn_dtype dtype, int64_t low, int64_t n)
{
	int64_t counts[300] = {0};
	double expected[300];
	const int64_t *x =
		integers_of(tn_generator_integers(g, dtype, 1, many, low, low + n - 1, 1));
	for (int i = 0; i < MOST; i++) {
		assert_true(x[i] >= low && x[i] < low + n);
		counts[x[i] - low]++;
	}
	for (int i = 0; i < n; i++)
		expected[i] = (double)MOST / (double)n;
	assert_chi_square(counts, expected, (int)n);
}

static void integers_are_uniform(void **state)
{
	(void)state;
	check_uniform(TN_U8, 0, 256);
	check_uniform(TN_I8, -128, 256);
	check_uniform(TN_I8, -3, 7);
	check_uniform(TN_I16, 32760, 8);
	check_uniform(TN_U16, 65530, 6);
	check_uniform(TN_I32, INT32_MIN, 100);
	check_uniform(TN_U32, UINT32_MAX - 9, 10);
	check_uniform(TN_I64, INT64_MIN, 17);
	check_uniform(TN_I64, INT64_MAX - 16, 16);
}

/* Thirds of a range of more than 32 bits, whose end is in the middle of a word. */
static void wide_ranges_are_uniform_too(void **state)
{
	static const struct {
		int64_t low, high;
	} ranges[] = {{0, INT64_C(3) << 40}, {-(INT64_C(3) << 61), INT64_C(3) << 61}};
	(void)state;
	for (int k = 0; k < 2; k++) {
		int64_t counts[3] = {0};
		const double third = ((double)ranges[k].high - (double)ranges[k].low) / 3;
		const int64_t *x = integers_of(tn_generator_integers(
			g, TN_I64, 1, many, ranges[k].low, ranges[k].high, 0));
		for (int i = 0; i < MOST; i++) {
			assert_true(x[i] >= ranges[k].low && x[i] < ranges[k].high);
			counts[(int)(((double)x[i] - (double)ranges[k].low) / third)]++;
		}
		assert_chi_square(counts, (double[]){MOST / 3.0, MOST / 3.0, MOST / 3.0}, 3);
	}
}

/* floor(n w / 2^96) and floor(n w / 2^128), by other arithmetic. */
static void integers_are_products_of_their_words(void **state)
{
	const struct tn_random_state from = tn_generator_get_state(g);
	const uint64_t plane = (uint64_t)1 << 60, n = 0xfedcba9876543211;
	(void)state;
	const int64_t *x = integers_of(tn_generator_integers(g, TN_U32, 1, many, 0, 1000003, 0));
	for (uint64_t i = 0; i < 100; i++) {
		unsigned __int128 w = 0;
		for (uint64_t k = 0; k < 3; k++)
			w = w << 32 | tn_random(from.seed, from.stream, i + k * plane);
		assert_int_equal(x[i], (int64_t)(w * 1000003 >> 96));
	}
	x = integers_of(tn_generator_integers_number(g, TN_U64, 1, many, tn_number_u64(3),
						     tn_number_u64(n + 3), 0));
	for (uint64_t i = 0; i < 100; i++) {
		unsigned __int128 high, low = 0;
		uint64_t words[4];
		for (uint64_t k = 0; k < 4; k++)
			words[k] = tn_random(from.seed, from.stream + 1, i + k * plane);
		low = (unsigned __int128)(words[2] << 32 | words[3]) * n;
		high = (unsigned __int128)(words[0] << 32 | words[1]) * n + (low >> 64);
		assert_int_equal((uint64_t)x[i], (uint64_t)(high >> 64) + 3);
	}
}

/* ---- Limits ----------------------------------------------------------------------------------*/

static void uniform_numbers_stay_below_high(void **state)
{
	static const tn_dtype dtypes[] = {TN_F16, TN_BF16, TN_F32, TN_F64};
	(void)state;
	for (int k = 0; k < 4; k++) {
		/* So few numbers between the two that a good part is rounded up to high. */
		double low = 1, high = k < 2 ? 1.015625 : k == 2 ? 1 + 0x1p-21 : 1 + 0x1p-50;
		const double *x =
			numbers_of(tn_generator_uniform(g, dtypes[k], 1, many, low, high));
		int n_low = 0;
		for (int i = 0; i < MOST; i++) {
			assert_true(x[i] >= low && x[i] < high);
			n_low += x[i] == low;
		}
		assert_true(n_low > 0);
		x = numbers_of(tn_generator_uniform(g, dtypes[k], 1, many, -2, -2));
		assert_true(x[0] == -2 && x[MOST - 1] == -2);
		x = numbers_of(tn_generator_uniform(g, dtypes[k], 1, many, -1, 0));
		for (int i = 0; i < MOST; i++)
			assert_true(x[i] >= -1 && x[i] < 0);
	}
}

static void certain_and_impossible_outcomes_are_so(void **state)
{
	static const double limits[] = {0, 1, NAN, -1, 2};
	(void)state;
	const tn_array *p = tn_reshape(tn_from_host(context, TN_F64, 1, (int64_t[]){5}, limits), 2,
				       (int64_t[]){5, 1});
	const int64_t *x = integers_of(
		tn_generator_bernoulli_array(g, tn_broadcast_to(p, 2, (int64_t[]){5, 1000})));
	for (int i = 0; i < 5000; i++)
		assert_int_equal(x[i], limits[i / 1000] >= 1);
	for (int p_is_1 = 0; p_is_1 < 2; p_is_1++) {
		x = integers_of(tn_generator_bernoulli(g, 1, many, p_is_1));
		for (int i = 0; i < MOST; i++)
			assert_int_equal(x[i], p_is_1);
	}
	x = integers_of(tn_generator_binomial(g, 1, many, 30, 1));
	assert_int_equal(x[5], 30);
	x = integers_of(tn_generator_binomial(g, 1, many, 0, 0.5));
	assert_int_equal(x[5], 0);
	x = integers_of(tn_generator_poisson(g, 1, many, 0));
	assert_int_equal(x[5], 0);
	x = integers_of(tn_generator_geometric(g, 1, many, 1));
	assert_int_equal(x[5], 1);
	x = integers_of(tn_generator_geometric(g, 1, many, 1e-300));
	assert_int_equal(x[5], INT64_MAX);
	x = integers_of(tn_generator_negative_binomial(g, 1, many, 3, 1e-300));
	assert_int_equal(x[5], INT64_MAX);
	assert_true(numbers_of(tn_generator_gamma(g, TN_F64, 1, many, 0, 2))[5] == 0);
	assert_true(numbers_of(tn_generator_exponential(g, TN_F64, 1, many, 0))[5] == 0);
	assert_true(numbers_of(tn_generator_normal(g, TN_F64, 1, many, 3, 0))[5] == 3);
}

static void extreme_parameters_give_numbers(void **state)
{
	static const struct {
		const char *name;
		double p[4];
		double low, high;
	} rows[] = {
		{"beta", {1e-3, 1e-3}, 0, 1},
		{"beta", {1e12, 1e12}, 0.4999, 0.5001},
		{"gamma", {1e-5, 1}, 0, 100},
		{"f", {1e-2, 1e2}, 0, INFINITY},
		{"truncated_normal", {0, 1, 50, 51}, 50, 51},
		{"truncated_normal", {0, 1e-300, 1, 2}, 1, 1},
		{"truncated_normal", {0, 1e-300, -2, -1}, -1, -1},
		{"truncated_normal", {0, 1, 1e20, INFINITY}, 1e20, 1e20},
		{"truncated_normal", {5, 3, -INFINITY, INFINITY}, -30, 40},
		{"truncated_normal", {0, 1, 40, 40.0001}, 40, 40.0001},
		{"wald", {1e-3, 1e6}, 0.9e-3, 1.1e-3},
		{"wald", {1e6, 1e-3}, 0, INFINITY},
		{"pareto", {1e9}, 0, 1e-7},
		{"binomial", {0x1p53, 0.5}, 0x1.fffp51, 0x1.001p52},
		{"binomial", {0x1p53, 1e-16}, 0, 20},
		{"poisson", {0x1p53}, 0x1.fffp52, 0x1.001p53},
		{"lognormal", {1000, 0}, INFINITY, INFINITY},
		{"noncentral_f", {1, 2, 0x1p53}, 0, INFINITY},
		{"vonmises", {1e5, 3}, -3.1415926535897932, 3.1415926535897932},
		{"vonmises", {0, 1e300}, -1e-100, 1e-100},
		{"hypergeometric", {0x1p52, 0x1p52, 0x1p52}, 0x1.fffp50, 0x1.001p51},
		{"hypergeometric", {5, 0, 5}, 5, 5},
		{"hypergeometric", {0, 0, 0}, 0, 0},
		{"logseries", {0}, 1, 1},
		{"logseries", {1 - 0x1p-53}, 1, INFINITY},
		{"zipf", {1 + 0x1p-52}, 1, 0x1p63},
		{"zipf", {1e300}, 1, 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const double *x = numbers_of(
			random_call(g, rows[i].name, TN_F64, 1, (int64_t[]){500}, rows[i].p));
		for (int k = 0; k < 500; k++) {
			if (!(x[k] >= rows[i].low && x[k] <= rows[i].high))
				fail_msg("%s(%g, %g): %g", rows[i].name, rows[i].p[0], rows[i].p[1],
					 x[k]);
		}
	}
}

/* ---- Orders and choices ----------------------------------------------------------------------*/

static void assert_permutation(const int64_t *x, int64_t n)
{
	unsigned char seen[MOST] = {0};
	for (int64_t i = 0; i < n; i++) {
		assert_true(x[i] >= 0 && x[i] < n && !seen[x[i]]);
		seen[x[i]] = 1;
	}
}

/* The 24 orders of 4 elements are equally frequent: of lines that are permuted apart. */
static void every_order_is_as_probable(void **state)
{
	int64_t counts[24] = {0};
	double expected[24];
	(void)state;
	tn_array *lines =
		tn_broadcast_to(tn_arange(context, TN_I32, 0, 4, 1), 2, (int64_t[]){MOST / 4, 4});
	const int64_t *x = integers_of(tn_generator_permuted(g, lines, 1));
	for (int i = 0; i < MOST; i += 4) {
		assert_permutation(x + i, 4);
		int place = 0;
		for (int a = 0; a < 4; a++) {
			int smaller = 0;
			for (int b = a + 1; b < 4; b++)
				smaller += x[i + b] < x[i + a];
			place = place * (4 - a) + smaller;
		}
		counts[place]++;
	}
	for (int i = 0; i < 24; i++)
		expected[i] = MOST / 4 / 24.0;
	assert_chi_square(counts, expected, 24);
	assert_permutation(integers_of(tn_generator_permutation(g, MOST)), MOST);
	assert_int_equal(tn_array_size(tn_generator_permutation(g, 0)), 0);
}

/* One line of all elements, or many; the result has the array's shape. */
static void permuted_arrays_keep_their_shape(void **state)
{
	static const struct {
		int64_t size;
		int rank;
		int64_t shape[3];
	} cases[] = {{60, 1, {60}},     {60, 2, {6, 10}},  {60, 3, {3, 4, 5}},
		     {0, 3, {0, 5, 2}}, {1, 3, {1, 1, 1}}, {1, 0, {0}}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const tn_array *line = tn_arange(context, TN_I32, 0, (double)cases[i].size, 1);
		const tn_array *a = tn_reshape(line, cases[i].rank, cases[i].shape);
		for (int axis = -1; axis < cases[i].rank; axis++) {
			tn_array *moved =
				tn_generator_permuted(g, a, axis < 0 ? TN_AXIS_NONE : axis);
			assert_int_equal(tn_array_rank(moved), cases[i].rank);
			for (int k = 0; k < cases[i].rank; k++)
				assert_int_equal(tn_array_shape(moved)[k], cases[i].shape[k]);
			assert_permutation(integers_of(moved), cases[i].size);
		}
	}
}

static void slices_move_whole(void **state)
{
	(void)state;
	tn_array *a = tn_reshape(tn_arange(context, TN_F32, 0, 60, 1), 2, (int64_t[]){6, 10});
	tn_array *column = tn_transpose(a, NULL);
	const double *x = numbers_of(tn_generator_permutation_of(g, a, 1));
	for (int i = 0; i < 60; i++)
		assert_true(x[i] == x[i % 10] + 10 * (i / 10));
	assert_ok(tn_generator_shuffle(g, column, -1)); /* the rows of a, through a view */
	x = numbers_of(a);
	int moved = 0;
	for (int i = 0; i < 60; i++) {
		assert_true(x[i] == x[i - i % 10] + i % 10);
		moved += x[i] != i;
	}
	assert_true(moved > 0);
}

static void choices_keep_to_their_weights(void **state)
{
	static const double weights[] = {0, 1, 0, 2, 5, 0.5, 0, 1.5, 0};
	int64_t counts[9] = {0};
	double expected[9];
	(void)state;
	const tn_array *w = tn_from_host(context, TN_F64, 1, (int64_t[]){9}, weights);
	const int64_t *x = integers_of(tn_generator_choice(g, 9, 1, many, 1, w));
	for (int i = 0; i < MOST; i++)
		counts[x[i]]++;
	for (int i = 0; i < 9; i++)
		expected[i] = MOST * weights[i] / 10;
	assert_chi_square(counts, expected, 9);
	/* Half of the products with so small a sum are rounded up to it. */
	w = tn_from_host(context, TN_F64, 1, (int64_t[]){2}, (double[]){0x1p-1074, 0});
	x = integers_of(tn_generator_choice(g, 2, 1, many, 1, w));
	for (int i = 0; i < MOST; i++)
		assert_int_equal(x[i], 0);
	x = integers_of(tn_generator_choice(g, 9, 1, many, 1, NULL));
	memset(counts, 0, sizeof(counts));
	for (int i = 0; i < MOST; i++)
		counts[x[i]]++;
	for (int i = 0; i < 9; i++)
		expected[i] = MOST / 9.0;
	assert_chi_square(counts, expected, 9);
}

/* The first of two by their weights, the second by the weights of the others. */
static void choices_without_replacement_have_no_duplicates(void **state)
{
	static const double weights[] = {1, 0, 3, 2};
	int64_t counts[16] = {0};
	double expected[16] = {0};
	const int rounds = 4000;
	(void)state;
	const tn_array *w = tn_from_host(context, TN_F64, 1, (int64_t[]){4}, weights);
	for (int i = 0; i < rounds; i++) {
		assert_ok(tn_scope_begin(context));
		const int64_t *x = integers_of(tn_generator_choice(g, 4, 1, (int64_t[]){2}, 0, w));
		counts[4 * x[0] + x[1]]++;
		tn_scope_end(context, NULL);
	}
	for (int a = 0; a < 4; a++) {
		for (int b = 0; b < 4; b++) {
			if (a != b)
				expected[4 * a + b] =
					rounds * weights[a] / 6 * weights[b] / (6 - weights[a]);
		}
	}
	assert_chi_square(counts, expected, 16);
	assert_permutation(
		integers_of(tn_generator_choice(g, 500, 2, (int64_t[]){50, 10}, 0, NULL)), 500);
	const int64_t *x =
		integers_of(tn_generator_choice(g, 100000, 1, (int64_t[]){300}, 0, NULL));
	for (int i = 0; i < 300; i++) {
		for (int k = 0; k < i; k++)
			assert_int_not_equal(x[i], x[k]);
	}
}

/* ---- Vectors ---------------------------------------------------------------------------------*/

static void multinomial_counts_add_up(void **state)
{
	static const float shares[] = {0.1f, 0.5f, 0, 0.4f};
	double sums[4] = {0};
	(void)state;
	const tn_array *p = tn_from_host(context, TN_F32, 1, (int64_t[]){4}, shares);
	const tn_array *a = tn_generator_multinomial(g, 2, (int64_t[]){25, 40}, 200, p);
	assert_int_equal(tn_array_rank(a), 3);
	assert_int_equal(tn_array_shape(a)[2], 4);
	const int64_t *x = integers_of(a);
	for (int i = 0; i < 4000; i += 4) {
		assert_int_equal(x[i] + x[i + 1] + x[i + 2] + x[i + 3], 200);
		assert_int_equal(x[i + 2], 0);
		for (int k = 0; k < 4; k++)
			sums[k] += (double)x[i + k];
	}
	for (int k = 0; k < 4; k++) /* 4 deviations */
		assert_close(sums[k], 200000.0 * shares[k], 4 * sqrt(200000 * 0.25));
}

static void dirichlet_numbers_add_up_to_1(void **state)
{
	static const double alpha[] = {0.001, 2, 0.5, 4};
	double sums[4] = {0}, squares[4] = {0};
	(void)state;
	const tn_array *line = tn_from_host(context, TN_F64, 1, (int64_t[]){4}, alpha);
	const double *x = numbers_of(tn_generator_dirichlet(g, TN_F64, 1, (int64_t[]){5000}, line));
	for (int i = 0; i < 20000; i += 4) {
		assert_close(x[i] + x[i + 1] + x[i + 2] + x[i + 3], 1, 1e-15);
		for (int k = 0; k < 4; k++) {
			sums[k] += x[i + k];
			squares[k] += x[i + k] * x[i + k];
		}
	}
	for (int k = 0; k < 4; k++) {
		const double mean = alpha[k] / 6.501, variance = mean * (1 - mean) / 7.501;
		assert_close(sums[k] / 5000, mean, 4 * sqrt(variance / 5000));
		assert_close(squares[k] / 5000 - mean * mean, variance, 0.2 * variance + 1e-5);
	}
	/* Numbers that would all be 0 still add up to 1. */
	const tn_array *tiny = tn_full(context, TN_F64, 1, (int64_t[]){3}, 1e-4);
	x = numbers_of(tn_generator_dirichlet(g, TN_F32, 1, (int64_t[]){1000}, tiny));
	for (int i = 0; i < 3000; i += 3)
		assert_close(x[i] + x[i + 1] + x[i + 2], 1, 1e-6);
}

/* ---- Parameters as arrays --------------------------------------------------------------------*/

static void parameters_broadcast(void **state)
{
	static const float means[] = {1, 100, 10000};
	(void)state;
	tn_array *column = tn_reshape(tn_from_host(context, TN_F32, 1, (int64_t[]){3}, means), 2,
				      (int64_t[]){3, 1});
	const tn_array *p[] = {column, tn_full(context, TN_I32, 1, (int64_t[]){50}, 2)};
	tn_array *a = tn_generator_sample(g, TN_DISTRIBUTION_GAMMA, TN_F32, TN_RANK_OF_PARAMETERS,
					  NULL, 2, p);
	assert_int_equal(tn_array_rank(a), 2);
	assert_int_equal(tn_array_shape(a)[0], 3);
	assert_int_equal(tn_array_shape(a)[1], 50);
	const double *x = numbers_of(a);
	for (int i = 0; i < 150; i++) /* 6 deviations, and what a gamma number of 1 can be */
		assert_close(x[i], 2 * means[i / 50], 12 * sqrt(means[i / 50]) + 12);
	/* A transposed parameter is read in the order of its axes. */
	const tn_array *turned = tn_transpose(column, NULL);
	a = tn_generator_sample(g, TN_DISTRIBUTION_POISSON, TN_I64, 2, (int64_t[]){40, 3}, 1,
				&turned);
	const int64_t *n = integers_of(a);
	for (int i = 0; i < 120; i++)
		assert_close(n[i], means[i % 3], 6 * sqrt(means[i % 3]) + 6);
}

/* ---- Refusals --------------------------------------------------------------------------------*/

static void ranges_are_named(void **state)
{
	static const struct {
		const char *name;
		tn_dtype dtype;
		double p[4];
		const char *words;
	} rows[] = {
		{"integers", TN_I32, {5, 5, 0}, "expected a low below high, found 5 and 5"},
		{"integers", TN_I32, {6, 5, 1}, "expected a low of at most high, found 6 and 5"},
		{"integers", TN_I8, {0, 129, 0}, "i8 does not hold all integers from 0 to 129 - 1"},
		{"integers", TN_U64, {-1, 1, 1}, "u64 does not hold all integers from -1 to 1"},
		{"uniform", TN_F32, {2, 1}, "expected a low of at most high"},
		{"uniform", TN_F16, {0, 1e6}, "finite in f16 with their difference, found 0 and"},
		{"uniform", TN_F64, {-1e308, 1e308}, "with their difference"},
		{"uniform", TN_F64, {NAN, 1}, "found nan and 1"},
		{"normal", TN_F32, {0, -1}, "a deviation of at least 0"},
		{"normal", TN_C64, {INFINITY, 1}, "finite in c64, found inf and 1"},
		{"normal", TN_F64, {0, NAN}, "found 0 and nan"},
		{"bernoulli", TN_BOOL, {1.5}, "p: expected a number in [0, 1], found 1.5"},
		{"bernoulli", TN_BOOL, {NAN}, "p: expected a number in [0, 1], found nan"},
		{"exponential", TN_F32, {-1}, "scale: expected a finite number of at least 0"},
		{"gamma",
		 TN_F32,
		 {-0.5, 1},
		 "a: expected a finite number of at least 0, found -0.5"},
		{"gamma", TN_F32, {1, INFINITY}, "scale: expected a finite number of at least 0"},
		{"beta", TN_F32, {0, 1}, "a: expected a finite number above 0, found 0"},
		{"beta", TN_F32, {1, NAN}, "b: expected a finite number above 0, found nan"},
		{"laplace", TN_F32, {INFINITY, 1}, "loc: expected a finite number, found inf"},
		{"triangular", TN_F32, {0, 3, 2}, "left <= mode <= right"},
		{"triangular", TN_F32, {1, 1, 1}, "left below right, found 1, 1 and 1"},
		{"truncated_normal", TN_F32, {0, 0, -1, 1}, "deviation: expected a finite number"},
		{"truncated_normal",
		 TN_F32,
		 {0, 1, 1, 1},
		 "expected low below high, found 1 and 1"},
		{"truncated_normal", TN_F32, {0, 1, NAN, 1}, "low: expected a number, found nan"},
		{"binomial", TN_I64, {-1, 0.5}, "n: expected a whole number from 0 to 2^53"},
		{"binomial", TN_I64, {0x1p60, 0.5}, "n: expected a whole number from 0 to 2^53"},
		{"binomial", TN_I64, {1, -0.1}, "p: expected a number in [0, 1], found -0.1"},
		{"poisson", TN_I64, {-1}, "lam: expected a number from 0 to 2^53, found -1"},
		{"geometric", TN_I64, {0}, "p: expected a number in (0, 1], found 0"},
		{"logseries", TN_I64, {1}, "p: expected a number in [0, 1), found 1"},
		{"zipf", TN_I64, {1}, "a: expected a finite number above 1, found 1"},
		{"vonmises", TN_F64, {0, -1}, "kappa: expected a finite number of at least 0"},
		{"hypergeometric", TN_I64, {3, 4, 8}, "nsample of at most ngood + nbad"},
		{"hypergeometric", TN_I64, {0x1p53, 1, 8}, "at most 2^53, found 8, "},
		{"negative_binomial", TN_I64, {0, 0.5}, "n: expected a finite number above 0"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_null(random_call(g, rows[i].name, rows[i].dtype, 0, NULL, rows[i].p));
		if (tn_error(context))
			assert_string_equal(tn_error(context)->operation, rows[i].name);
		assert_kept(context, TN_INVALID_ARGUMENT, rows[i].words);
	}
	assert_null(tn_generator_permutation(g, -1));
	assert_kept(context, TN_INVALID_ARGUMENT, "n: expected at least 0, found -1");
	assert_null(tn_generator_integers_number(g, TN_I8, 0, NULL, tn_number_f64(0),
						 tn_number_i64(4), 0));
	assert_kept(context, TN_INVALID_ARGUMENT, "low: expected a number of i64 or u64");
}

static void dtypes_are_named(void **state)
{
	static const double p[] = {1, 2, 3, 4};
	(void)state;
	assert_null(random_call(g, "gamma", TN_I32, 0, NULL, p));
	assert_kept(context, TN_DTYPE, "dtype: expected f16, bf16, f32 or f64, found i32");
	assert_null(random_call(g, "uniform", TN_C64, 0, NULL, p));
	assert_kept(context, TN_DTYPE, "found c64");
	assert_null(random_call(g, "normal", TN_BOOL, 0, NULL, p));
	assert_kept(context, TN_DTYPE, "expected a floating or complex one, found bool");
	assert_null(random_call(g, "integers", TN_F32, 0, NULL, p));
	assert_kept(context, TN_DTYPE, "expected an integer type, found f32");
	const tn_array *one = tn_ones(context, TN_F32, 0, NULL);
	const tn_array *complex = tn_ones(context, TN_C64, 0, NULL);
	assert_null(tn_generator_sample(g, TN_DISTRIBUTION_POISSON, TN_F32, 0, NULL, 1, &one));
	assert_kept(context, TN_DTYPE, "dtype: expected i64, found f32");
	assert_null(tn_generator_sample(g, TN_DISTRIBUTION_POISSON, TN_I64, 0, NULL, 1, &complex));
	assert_kept(context, TN_DTYPE, "lam: expected real numbers, found c64");
	assert_null(tn_generator_bernoulli_array(g, tn_ones(context, TN_I32, 0, NULL)));
	assert_kept(context, TN_DTYPE, "p: expected f16, bf16, f32 or f64, found i32");
	assert_null(tn_generator_dirichlet(g, TN_I64, 0, NULL, one));
	assert_kept(context, TN_DTYPE, "found i64");
}

static void arrays_that_do_not_fit_are_named(void **state)
{
	const int64_t three[] = {3}, four[] = {4};
	(void)state;
	const tn_array *p[] = {tn_ones(context, TN_F32, 1, three),
			       tn_ones(context, TN_F32, 1, four)};
	assert_null(tn_generator_sample(g, 0, TN_F32, 0, NULL, 1, p));
	assert_kept(context, TN_INVALID_ARGUMENT, "expected TN_DISTRIBUTION_..., found 0");
	assert_null(tn_generator_sample(g, 1000, TN_F32, 0, NULL, 1, p));
	assert_kept(context, TN_INVALID_ARGUMENT, "expected TN_DISTRIBUTION_..., found 1000");
	assert_null(tn_generator_sample(g, TN_DISTRIBUTION_GAMMA, TN_F32, 0, NULL, 1, p));
	assert_kept(context, TN_INVALID_ARGUMENT, "expected 2 parameters, found 1");
	assert_null(tn_generator_sample(g, TN_DISTRIBUTION_GAMMA, TN_F32, TN_RANK_OF_PARAMETERS,
					NULL, 2, (const tn_array *[]){p[0], NULL}));
	assert_kept(context, TN_INVALID_ARGUMENT, "scale is NULL");
	assert_null(tn_generator_sample(g, TN_DISTRIBUTION_GAMMA, TN_F32, TN_RANK_OF_PARAMETERS,
					NULL, 2, p));
	assert_kept(context, TN_SHAPE, "scale: shape (4,) does not broadcast");
	assert_null(tn_generator_sample(g, TN_DISTRIBUTION_POISSON, TN_I64, 1, four, 1, p));
	assert_kept(context, TN_SHAPE, "lam: shape (3,) does not broadcast to (4,)");
	assert_null(tn_generator_sample(g, TN_DISTRIBUTION_POISSON, TN_I64, 0, NULL, 1, p));
	assert_kept(context, TN_SHAPE, "lam: shape (3,) does not broadcast to ()");
	assert_null(tn_generator_gamma(g, TN_F32, 1, (int64_t[]){-1}, 1, 1));
	assert_kept(context, TN_INVALID_ARGUMENT, "");
	assert_null(tn_generator_choice(g, 4, 0, NULL, 1, p[0]));
	assert_kept(context, TN_SHAPE, "weights: expected shape (4,), found (3,)");
	assert_null(
		tn_generator_multinomial(g, 0, NULL, 1, tn_reshape(p[1], 2, (int64_t[]){2, 2})));
	assert_kept(context, TN_SHAPE, "pvals: expected a line of at least 1 number");
	tn_context *other;
	assert_ok(tn_context_open(NULL, &other, NULL));
	assert_null(tn_generator_permuted(g, tn_ones(other, TN_F32, 1, four), 0));
	assert_kept(context, TN_DEVICE, "in different contexts");
	const tn_array *foreign = tn_ones(other, TN_F32, 1, four);
	assert_null(tn_generator_sample(g, TN_DISTRIBUTION_POISSON, TN_I64, TN_RANK_OF_PARAMETERS,
					NULL, 1, &foreign));
	assert_kept(context, TN_DEVICE, "in different contexts");
	tn_context_close(other);
}

static void weights_that_make_no_sense_are_named(void **state)
{
	static const double with_nan[] = {1, NAN, 1}, negative[] = {1, 1, -0.5}, zeros[3] = {0};
	static const double few[] = {0, 1, 0}, too_much[] = {0.7, 0.6, 0}, share[] = {0, 1.5, 0};
	const int64_t n[] = {3}, two[] = {2};
	(void)state;
#define LINE(values) tn_from_host(context, TN_F64, 1, n, values)
	assert_null(tn_generator_choice(g, 3, 1, two, 1, LINE(with_nan)));
	assert_kept(context, TN_INVALID_ARGUMENT, "at least 0, found nan at 1");
	assert_null(tn_generator_choice(g, 3, 1, two, 0, LINE(negative)));
	assert_kept(context, TN_INVALID_ARGUMENT, "at least 0, found -0.5 at 2");
	assert_null(tn_generator_choice(g, 3, 1, two, 1, LINE(zeros)));
	assert_kept(context, TN_INVALID_ARGUMENT, "expected a finite sum above 0, found 0");
	assert_null(tn_generator_choice(g, 3, 1, two, 0, LINE(few)));
	assert_kept(context, TN_INVALID_ARGUMENT, "2 numbers of 1 whose weight is above 0");
	assert_null(tn_generator_choice(g, 1, 1, two, 0, NULL));
	assert_kept(context, TN_INVALID_ARGUMENT, "without replacement: 2 numbers of 1");
	assert_null(tn_generator_choice(g, 0, 1, two, 1, NULL));
	assert_kept(context, TN_INVALID_ARGUMENT, "n: expected at least 1, found 0");
	assert_null(tn_generator_multinomial(g, 0, NULL, 5, LINE(too_much)));
	assert_kept(context, TN_INVALID_ARGUMENT, "expected a sum of at most 1 before the last");
	assert_null(tn_generator_multinomial(g, 0, NULL, 5, LINE(share)));
	assert_kept(context, TN_INVALID_ARGUMENT, "expected numbers in [0, 1], found 1.5 at 1");
	assert_null(tn_generator_multinomial(g, 0, NULL, -1, LINE(few)));
	assert_kept(context, TN_INVALID_ARGUMENT, "n: expected a whole number from 0 to 2^53");
	assert_null(tn_generator_dirichlet(g, TN_F32, 0, NULL, LINE(few)));
	assert_kept(context, TN_INVALID_ARGUMENT, "alpha: expected finite numbers above 0");
#undef LINE
}

/* Weights are copied, lines moved, with their gradient; in place there would be none. */
static void orders_have_gradients(void **state)
{
	(void)state;
	tn_array *x = tn_arange(context, TN_F32, 0, 6, 1);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *moved = tn_generator_permuted(g, x, 0);
	tn_array *taken = tn_generator_permutation_of(g, x, 0);
	assert_int_equal(tn_generator_shuffle(g, x, 0), TN_STATE);
	tn_error_clear(context);
	tn_array *y = tn_sum(tn_multiply(moved, taken), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, y, NULL));
	const double *gradient = numbers_of(tn_tape_gradient(tape, x));
	double sum = 0;
	for (int i = 0; i < 6; i++)
		sum += gradient[i];
	assert_close(sum, 2 * 15, 0);
	tn_tape_end(tape);
}

static int open_context(void **state)
{
	(void)state;
	assert_ok(tn_context_open(NULL, &context, NULL));
	g = tn_generator_create(context, 20261126);
	return 0;
}

static int close_context(void **state)
{
	(void)state;
	tn_generator_destroy(g);
	tn_context_close(context);
	return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
	const struct CMUnitTest tests[] = {
		TEST(integers_are_uniform),
		TEST(wide_ranges_are_uniform_too),
		TEST(integers_are_products_of_their_words),
		TEST(uniform_numbers_stay_below_high),
		TEST(certain_and_impossible_outcomes_are_so),
		TEST(extreme_parameters_give_numbers),
		TEST(every_order_is_as_probable),
		TEST(permuted_arrays_keep_their_shape),
		TEST(slices_move_whole),
		TEST(choices_keep_to_their_weights),
		TEST(choices_without_replacement_have_no_duplicates),
		TEST(multinomial_counts_add_up),
		TEST(dirichlet_numbers_add_up_to_1),
		TEST(parameters_broadcast),
		TEST(ranges_are_named),
		TEST(dtypes_are_named),
		TEST(arrays_that_do_not_fit_are_named),
		TEST(weights_that_make_no_sense_are_named),
		TEST(orders_have_gradients),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
