/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Assertions: tolerances by dtype, options, and what is an error rather than a difference.
 */
#include <math.h>
#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

static int open_context(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	(void)state;
	assert_ok(tn_context_open(&options, &context, NULL));
	return 0;
}

static tn_array *one(tn_dtype dtype, double value)
{
	return tn_full(context, dtype, 1, (const int64_t[]){1}, value);
}

/* Is 1 as near to 1 + difference as the dtypes ask? */
static int is_near(tn_dtype a, tn_dtype b, double difference)
{
	char *text;
	const tn_status status =
		tn_assert_allclose(one(a, 1 + difference), one(b, 1), TN_DTYPE_TOLERANCE,
				   TN_DTYPE_TOLERANCE, NULL, &text);
	assert_int_equal(status == TN_OK, text == NULL);
	assert_true(status == TN_OK || status == TN_NOT_EQUAL);
	assert_null(tn_error(context));
	tn_string_free(text);
	return status == TN_OK;
}

static void tolerances_depend_on_the_dtypes(void **state)
{
	(void)state;
	assert_true(is_near(TN_F64, TN_F64, 1.9e-7));
	assert_false(is_near(TN_F64, TN_F64, 2.1e-7));
	assert_true(is_near(TN_F32, TN_F32, 1.1e-5));
	assert_false(is_near(TN_F32, TN_F32, 1.2e-5));
	assert_true(is_near(TN_F16, TN_F16, 0.0009765625));
	assert_false(is_near(TN_F16, TN_F16, 0.001953125));
	assert_true(is_near(TN_BF16, TN_BF16, 0.015625));
	assert_false(is_near(TN_BF16, TN_BF16, 0.0234375));
	assert_true(is_near(TN_C64, TN_C64, 1.1e-5));
	assert_false(is_near(TN_C128, TN_C128, 2.1e-7));
	assert_true(is_near(TN_F64, TN_F32, 1.1e-5));
	assert_true(is_near(TN_I32, TN_I32, 0));
	assert_false(is_near(TN_I32, TN_I32, 1));
}

static void two_nan_are_distinct_on_request(void **state)
{
	struct tn_assert_options options = tn_assert_defaults();
	options.distinct_nan = 1;
	char *text;
	(void)state;
	tn_array *a = one(TN_F64, NAN);
	assert_ok(tn_assert_array_equal(a, a, NULL, &text));
	assert_null(text);
	assert_status(tn_assert_array_equal(a, a, &options, &text), TN_NOT_EQUAL);
	assert_contains(text, "Mismatched elements: 1 / 1 (100%)");
	assert_contains(text, "[0]: nan (ACTUAL), nan (DESIRED)");
	tn_string_free(text);
}

static void precision_and_message_are_the_callers(void **state)
{
	struct tn_assert_options options = tn_assert_defaults();
	options.precision = 2;
	options.err_msg = "a message";
	char *text;
	(void)state;
	assert_status(
		tn_assert_allclose(one(TN_F64, 1.2345), one(TN_F64, 2), 0.5e-3, 0, &options, &text),
		TN_NOT_EQUAL);
	assert_string_equal(text, "Not equal to tolerance rtol=0.0005, atol=0\n"
				  "a message\n"
				  "Mismatched elements: 1 / 1 (100%)\n"
				  "Mismatch at index:\n"
				  " [0]: 1.2345 (ACTUAL), 2.0 (DESIRED)\n"
				  "Max absolute difference among violations: 0.7655\n"
				  "Max relative difference among violations: 0.38275\n"
				  " ACTUAL: array([1.23])\n"
				  " DESIRED: array([2.])");
	tn_string_free(text);
}

/* The call failed with that error, and left no text. */
static void refused(tn_status status, tn_status expected, char *const *text, const char *part)
{
	assert_status(status, expected);
	if (text)
		assert_null(*text);
	assert_status(tn_error(context)->status, expected);
	assert_contains(tn_error(context)->text, part);
	tn_error_clear(context);
}

static void an_error_is_no_difference(void **state)
{
	char mark = 0, *text = &mark;
	const tn_array *a = one(TN_F64, 1), *z = one(TN_C64, 1);
	(void)state;
	refused(tn_assert_allclose(a, a, -2, 0, NULL, &text), TN_INVALID_ARGUMENT, &text, "rtol");
	refused(tn_assert_allclose(a, a, 0, NAN, NULL, &text), TN_INVALID_ARGUMENT, &text, "atol");
	struct tn_assert_options options = tn_assert_defaults();
	options.strict = 2;
	refused(tn_assert_array_equal(a, a, &options, &text), TN_INVALID_ARGUMENT, &text,
		"strict: expected 0 or 1, found 2");
	options = tn_assert_defaults();
	options.precision = 1001;
	refused(tn_assert_array_equal(a, a, &options, &text), TN_INVALID_ARGUMENT, &text,
		"precision: expected at most 1000, found 1001");
	refused(tn_assert_array_equal(a, a, NULL, NULL), TN_INVALID_ARGUMENT, NULL, "text is NULL");
	refused(tn_assert_array_less(z, z, NULL, &text), TN_DTYPE, &text, "");
	text = &mark;
	assert_status(tn_assert_array_less(NULL, a, NULL, &text), TN_INVALID_ARGUMENT);
	assert_null(text);
	tn_error_clear(context);
}

static void comparisons_name_what_is_wrong(void **state)
{
	const tn_array *a = tn_ones(context, TN_F32, 1, (const int64_t[]){2});
	const tn_array *b = tn_ones(context, TN_F32, 1, (const int64_t[]){3});
	(void)state;
	assert_null(tn_isclose(a, b, 0, 0, 0));
	refused(tn_error(context)->status, TN_SHAPE, NULL, "shapes (2,) and (3,) do not broadcast");
	assert_null(tn_allclose(a, a, -1, 0, 0));
	refused(tn_error(context)->status, TN_INVALID_ARGUMENT, NULL, "rtol");
	assert_null(tn_array_equal(a, a, 2));
	refused(tn_error(context)->status, TN_INVALID_ARGUMENT, NULL, "equal_nan");
	assert_null(tn_array_equiv(NULL, a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tolerances_depend_on_the_dtypes),
		cmocka_unit_test(two_nan_are_distinct_on_request),
		cmocka_unit_test(precision_and_message_are_the_callers),
		cmocka_unit_test(an_error_is_no_difference),
		cmocka_unit_test(comparisons_name_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, open_context, context_teardown);
}
