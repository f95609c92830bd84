/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which values `tenon doctor` treats as equal, and its report of differences.
 */
#include "check.h"

#include <math.h>
#include <string.h>

#include "../../tools/doctor.h"

static struct doctor_values values(tn_dtype dtype, size_t n, void *data, enum doctor_bound bound,
				   double roundings)
{
	return (struct doctor_values){.what = "it",
				      .dtype = dtype,
				      .rank = 1,
				      .shape = {(int64_t)n},
				      .count = n,
				      .data = data,
				      .bound = bound,
				      .roundings = roundings};
}

static struct doctor_result compare(tn_dtype dtype, size_t n, void *found, void *expected,
				    enum doctor_bound bound, double roundings, uint8_t accuracy)
{
	struct doctor_result result = {.state = DOCTOR_PASSED};
	const struct doctor_values a = values(dtype, n, found, bound, roundings);
	const struct doctor_values b = values(dtype, n, expected, bound, roundings);
	doctor_compare(&result, &a, &b, NULL, accuracy);
	return result;
}

static void one_nan_is_like_another_and_zeros_have_signs(void **state)
{
	uint32_t nans[2] = {0x7fc00000, 0xffc00001};
	float zeros[2] = {0.0f, -0.0f};
	(void)state;
	assert_int_equal(compare(TN_F32, 1, &nans[0], &nans[1], DOCTOR_EXACT, 0, 0).state,
			 DOCTOR_PASSED);
	assert_int_equal(compare(TN_F32, 1, &zeros[0], &zeros[1], DOCTOR_EXACT, 0, 0).state,
			 DOCTOR_FAILED);
	assert_int_equal(compare(TN_F32, 1, &nans[0], &zeros[0], DOCTOR_OF_VALUE, 9, 0).state,
			 DOCTOR_FAILED);
}

static void integers_differ_in_their_lowest_bit(void **state)
{
	int64_t found[] = {1, (INT64_C(1) << 60) + 1}, expected[] = {1, INT64_C(1) << 60};
	(void)state;
	struct doctor_result result = compare(TN_I64, 2, found, expected, DOCTOR_EXACT, 0, 0);
	assert_int_equal(result.state, DOCTOR_FAILED);
	assert_non_null(strstr(result.reason,
			       "it: result (2) of i64: element (1): expected "
			       "1152921504606846976, found 1152921504606846977; 1 of 2"));
}

static void a_bound_is_kept_to_the_rounding(void **state)
{
	float expected = 1.0f, found = 1.0f + 0x1p-22f;
	(void)state;
	/* 4 half units and a 64th of them. */
	struct doctor_result result = compare(TN_F32, 1, &found, &expected, DOCTOR_OF_VALUE, 4, 0);
	assert_int_equal(result.state, DOCTOR_PASSED);
	assert_true(result.worst > 0.98 && result.worst < 1);
	assert_int_equal(compare(TN_F32, 1, &found, &expected, DOCTOR_OF_VALUE, 3, 0).state,
			 DOCTOR_FAILED);
	/* A device that declares reduced accuracy, or another type, has a larger tolerance. */
	assert_int_equal(
		compare(TN_F32, 1, &found, &expected, DOCTOR_OF_VALUE, 3, TN_ACCURACY_REDUCED)
			.state,
		DOCTOR_PASSED);
	assert_int_equal(
		compare(TN_F32, 1, &found, &expected, DOCTOR_OF_VALUE, 3, TN_ACCURACY_BF16).state,
		DOCTOR_PASSED);
}

static void narrow_numbers_are_read(void **state)
{
	uint16_t half[] = {0x3c00, 0xc000, 0x0001, 0x7c00},
		 more[] = {0x3c00, 0xc000, 0x0001, 0xfc00};
	uint16_t brain[] = {0x3f80}, other[] = {0x4000};
	(void)state;
	assert_int_equal(compare(TN_F16, 4, half, half, DOCTOR_OF_VALUE, 1, 0).state,
			 DOCTOR_PASSED);
	struct doctor_result result = compare(TN_F16, 4, more, half, DOCTOR_OF_VALUE, 1, 0);
	assert_non_null(strstr(result.reason, "element (3): expected inf within inf, found -inf"));
	result = compare(TN_BF16, 1, brain, other, DOCTOR_EXACT, 0, 0);
	assert_non_null(strstr(result.reason, "expected 2, found 1"));
}

static void a_magnitude_widens_what_cancels(void **state)
{
	float expected[] = {0.0f}, found[] = {1e-5f}, magnitude[] = {1000.0f};
	struct doctor_result result = {.state = DOCTOR_PASSED};
	const struct doctor_values a = values(TN_F32, 1, found, DOCTOR_OF_MAGNITUDE, 2);
	const struct doctor_values b = values(TN_F32, 1, expected, DOCTOR_OF_MAGNITUDE, 2);
	const struct doctor_values c = values(TN_F32, 1, magnitude, DOCTOR_OF_MAGNITUDE, 2);
	(void)state;
	doctor_compare(&result, &a, &b, &c, 0);
	assert_int_equal(result.state, DOCTOR_PASSED);
	doctor_compare(&result, &a, &b, NULL, 0);
	assert_int_equal(result.state, DOCTOR_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_nan_is_like_another_and_zeros_have_signs),
		cmocka_unit_test(integers_differ_in_their_lowest_bit),
		cmocka_unit_test(a_bound_is_kept_to_the_rounding),
		cmocka_unit_test(narrow_numbers_are_read),
		cmocka_unit_test(a_magnitude_widens_what_cancels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
