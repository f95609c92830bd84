/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Functions by exactly rounded operations alone.
 */
#include "program/exact.h"

#include "check.h"

static double relative_error(double found, double expected)
{
	return fabs(found - expected) / fabs(expected);
}

static void functions_are_as_exact_as_the_c_library(void **state)
{
	(void)state;
	for (int i = 1; i <= 20000; i++) {
		double x = i / 20000.0;
		assert_true(relative_error(tn_exact_exp(100 * x), exp(100 * x)) < 4e-16);
		assert_true(relative_error(tn_exact_exp(-100 * x), exp(-100 * x)) < 4e-16);
		if (i < 20000) {
			assert_true(relative_error(tn_exact_log(x), log(x)) < 4e-16);
			assert_true(relative_error(tn_exact_log(1 / x), log(1 / x)) < 4e-16);
		}
	}
	assert_true(tn_exact_log(1) == 0);
	assert_true(tn_exact_exp(0) == 1);
	assert_true(tn_exact_exp(-1e9) == 0);
	assert_true(tn_exact_exp(1e9) == INFINITY);
	assert_true(relative_error(tn_exact_exp(709), exp(709)) < 4e-16);
	assert_true(relative_error(tn_exact_log(0x1p-52), -52 * log(2)) < 4e-16);
	assert_true(relative_error(tn_exact_log(0x1p-1074), -1074 * log(2)) < 4e-16);
}

static void differences_from_1_keep_their_digits(void **state)
{
	(void)state;
	for (int i = 1; i <= 2000; i++) {
		double x = i / 1000.0, small = x * 1e-9;
		assert_true(relative_error(tn_exact_expm1(x), expm1(x)) < 1e-15);
		assert_true(relative_error(tn_exact_expm1(-x), expm1(-x)) < 1e-15);
		assert_true(relative_error(tn_exact_expm1(small), expm1(small)) < 1e-15);
		assert_true(relative_error(tn_exact_log1p(x), log1p(x)) < 1e-15);
		assert_true(relative_error(tn_exact_log1p(-x / 2.001), log1p(-x / 2.001)) < 1e-15);
		assert_true(relative_error(tn_exact_log1p(-small), log1p(-small)) < 1e-15);
	}
	assert_true(tn_exact_log1p(1e-300) == 1e-300);
}

static void arc_cosines_are_those_of_the_c_library(void **state)
{
	(void)state;
	for (int i = -1000; i <= 1000; i++)
		assert_close(tn_exact_arccos(i / 1000.0), acos(i / 1000.0), 1e-15);
	assert_close(tn_exact_arccos(1 - 0x1p-53), acos(1 - 0x1p-53), 1e-20);
}

/* Recorded from mpmath with 40 digits. */
static void the_normal_quantile_is_that_of_mpmath(void **state)
{
	static const double recorded[][2] = {
		{0x1p-53, -8.2095361516013868556}, {1e-15, -7.9413453261709967713},
		{1e-12, -7.0344838253011319326},   {1e-09, -5.9978070150076868614},
		{1e-07, -5.19933758219281694},     {1e-05, -4.2648907939228246102},
		{0.001, -3.0902323061678135354},   {0.01, -2.3263478740408410931},
		{0.05, -1.644853626951472688},     {0.07, -1.4757910281791706856},
		{0.076, -1.4325027208258116188},   {0.1, -1.2815515655446004353},
		{0.2, -0.84162123357291416552},    {0.3, -0.52440051270804081597},
		{0.4, -0.25334710313579974132},    {0.45, -0.12566134685507400616},
		{0.49, -0.025068908258711058033},  {0.4999, -0.00025066283008800749239},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		assert_true(relative_error(tn_exact_normal(recorded[i][0]), recorded[i][1]) <
			    1e-15);
	for (int i = 1; i < 1000; i++)
		assert_true(tn_exact_normal(i / 1024.0) == -tn_exact_normal(1 - i / 1024.0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_as_exact_as_the_c_library),
		cmocka_unit_test(differences_from_1_keep_their_digits),
		cmocka_unit_test(arc_cosines_are_those_of_the_c_library),
		cmocka_unit_test(the_normal_quantile_is_that_of_mpmath),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
