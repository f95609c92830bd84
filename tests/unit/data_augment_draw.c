/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers and draws of augmentations.
 */
#include "data/augment_draw.h"

#include "check.h"
#include "data/augment_number.h"
#include "program/random.h"

static void sine_and_cosine_are_as_exact_as_the_c_library(void **state)
{
	(void)state;
	for (int i = 1; i <= 20000; i++) {
		double x = i / 20000.0;
		for (int sign = -1; sign <= 1; sign += 2) {
			double degrees = sign * 360 * x, sine, cosine;
			tn_number_sincos(degrees, &sine, &cosine);
			/* The angle in radians, up to 2 pi, is rounded three times. */
			assert_close(sine, sin(degrees * acos(-1) / 180), 2e-15);
			assert_close(cosine, cos(degrees * acos(-1) / 180), 2e-15);
		}
	}
}

static void multiples_of_a_quarter_turn_are_exact(void **state)
{
	static const double sines[4] = {0, 1, 0, -1};
	(void)state;
	for (int quarter = -4; quarter <= 4; quarter++) {
		double sine, cosine;
		tn_number_sincos(90.0 * quarter, &sine, &cosine);
		assert_true(sine == sines[quarter & 3]);
		assert_true(cosine == sines[(quarter + 1) & 3]);
	}
}

/* Recorded once: it must never change, or a seed would give other pictures. */
static void the_words_of_a_seed_are_fixed_for_ever(void **state)
{
	struct tn_draws draws = tn_draws_of(TN_DRAW_ROTATE, 1, 2, 3);
	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(tn_draw_word(&draws), tn_random(1, ((uint64_t)0x6103 << 48) + 2,
								 ((uint64_t)3 << 32) + i));
	uint32_t block[3];
	tn_draw_block(&draws, block, 3); /* skips words 5 to 7 */
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(block[i], tn_random(1, ((uint64_t)0x6103 << 48) + 2,
						     ((uint64_t)3 << 32) + 8 + i));
	draws = tn_draws_of(TN_DRAW_MIXUP, 7, 0, 0);
	assert_close(tn_draw_beta(&draws, 1), 0.49074378421859366, 1e-15);
}

static void certain_and_impossible_chances_are_so_for_every_word(void **state)
{
	(void)state;
	assert_true(tn_chance(0, 1) && tn_chance(UINT32_MAX, 1));
	assert_false(tn_chance(0, 0) || tn_chance(UINT32_MAX, 0));
	assert_true(tn_chance(0x80000000, 0.5));
	assert_false(tn_chance(0x7fffffff, 0.5));
}

/* Mean 1/2 and variance 1 / (4 (2 alpha + 1)); x and 1 - x have the same distribution.  The
 * standard deviation of the mean is sqrt(variance / n); that of the variance of n numbers is below
 * variance * sqrt(2 / n), because the tails are lighter than the normal distribution's. */
static void beta_has_its_mean_and_variance(void **state)
{
	static const double alphas[] = {0x1p-1074, 1e-3, 0.1, 0.2, 0.5, 1, 1.5, 4, 32, 1000};
	enum { N = 20000 };
	(void)state;
	for (size_t a = 0; a < sizeof(alphas) / sizeof(alphas[0]); a++) {
		double sum = 0, squares = 0, variance = 1 / (4 * (2 * alphas[a] + 1));
		for (uint64_t i = 0; i < N; i++) {
			struct tn_draws draws = tn_draws_of(TN_DRAW_CUTMIX, 5, 0, i);
			double x = tn_draw_beta(&draws, alphas[a]);
			assert_true(x >= 0 && x <= 1);
			sum += x - 0.5;
			squares += (x - 0.5) * (x - 0.5);
		}
		assert_close(sum / N, 0, 5 * sqrt(variance / N));
		assert_close(squares / N, variance, 5 * variance * sqrt(2.0 / N));
	}
}

/* P(x < 1/4) of Beta(1/2, 1/2) is 1/3, of Beta(2, 2) 5/32. */
static void beta_has_its_shape(void **state)
{
	enum { N = 20000 };
	static const double alphas[2] = {0.5, 2}, parts[2] = {1.0 / 3, 5.0 / 32};
	(void)state;
	for (int a = 0; a < 2; a++) {
		int below = 0;
		for (uint64_t i = 0; i < N; i++) {
			struct tn_draws draws = tn_draws_of(TN_DRAW_MIXUP, 6, 1, i);
			below += tn_draw_beta(&draws, alphas[a]) < 0.25;
		}
		assert_close(below, N * parts[a], 5 * sqrt(N * parts[a] * (1 - parts[a])));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sine_and_cosine_are_as_exact_as_the_c_library),
		cmocka_unit_test(multiples_of_a_quarter_turn_are_exact),
		cmocka_unit_test(the_words_of_a_seed_are_fixed_for_ever),
		cmocka_unit_test(certain_and_impossible_chances_are_so_for_every_word),
		cmocka_unit_test(beta_has_its_mean_and_variance),
		cmocka_unit_test(beta_has_its_shape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
