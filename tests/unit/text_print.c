/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Texts of arrays: what NumPy has no texts of, digits of extreme numbers, and errors.
 */
#include <float.h>
#include <locale.h>
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

static tn_array *numbers(tn_dtype dtype, int64_t n, const double *values)
{
	return tn_astype(tn_from_host(context, TN_F64, 1, &n, values), dtype);
}

static void expect(char *text, const char *expected)
{
	if (!text)
		fail_msg("%s: %s", tn_error(context)->operation, tn_error(context)->text);
	assert_string_equal(text, expected);
	tn_string_free(text);
}

static void bf16_has_two_decimal_digits(void **state)
{
	static const double values[] = {1, -0.1, 3.140625, 0};
	static const double large[] = {99.5, 100}, far[] = {0.001, 1.5};
	(void)state;
	expect(tn_array_repr(numbers(TN_BF16, 4, values), NULL),
	       "array([ 1.  , -0.1 ,  3.14,  0.  ], dtype=bfloat16)");
	expect(tn_array_str(numbers(TN_BF16, 2, large), NULL), "[9.95e+01 1.00e+02]");
	expect(tn_array_str(numbers(TN_BF16, 2, far), NULL), "[1.0e-03 1.5e+00]");
	expect(tn_array_str(tn_full(context, TN_BF16, 0, NULL, 0.1), NULL), "0.1");
	expect(tn_array_str(tn_full(context, TN_BF16, 0, NULL, 128), NULL), "1.28e+02");
}

/* As many digits as there are, beside numbers that need few. */
static void digits_of_extreme_numbers_are_exact(void **state)
{
	static const double far[] = {5e-324, DBL_MAX, 0.5};
	(void)state;
	struct tn_print_options options = tn_print_defaults();
	options.precision = 1000;
	options.floatmode = TN_FLOATMODE_FIXED;
	options.suppress = 1;
	char *text = tn_array_str(numbers(TN_F64, 3, far), &options);
	assert_non_null(text);
	assert_contains(text, "4.9406564584124654417656879286822137236505980261432476442558568250");
	assert_contains(text, "1.7976931348623157081452742373170435679807056752584499659891747680");
	tn_string_free(text);
	static const double near[] = {5e-324, 12345678.25};
	options.floatmode = TN_FLOATMODE_MAXPREC_EQUAL;
	text = tn_array_str(numbers(TN_F64, 2, near), &options);
	assert_non_null(text);
	assert_contains(text, "0000005");
	assert_contains(text, "12345678.25000");
	tn_string_free(text);
}

static void the_locale_of_the_program_does_not_count(void **state)
{
	static const double values[] = {1.5, 1e-7};
	(void)state;
	const char *found = setlocale(LC_ALL, "de_DE.UTF-8");
	expect(tn_array_str(numbers(TN_F64, 2, values), NULL), "[1.5e+00 1.0e-07]");
	if (!found)
		print_message("(without a locale of another decimal point)\n");
	setlocale(LC_ALL, "C");
}

static void only_the_corners_of_a_large_array_are_read(void **state)
{
	const int64_t one[] = {1}, many[] = {1000000000, 1000000};
	(void)state;
	const tn_array *a = tn_broadcast_to(tn_ones(context, TN_F32, 1, one), 2, many);
	struct tn_print_options options = tn_print_defaults();
	options.edgeitems = 1;
	expect(tn_array_repr(a, &options),
	       "array([[1., ..., 1.],\n"
	       "       ...,\n"
	       "       [1., ..., 1.]], shape=(1000000000, 1000000), dtype=float32)");
}

/* To the last column, as NumPy does. */
static void a_dtype_is_on_the_line_where_it_has_room(void **state)
{
	static const double values[] = {1, 2};
	(void)state;
	struct tn_print_options options = tn_print_defaults();
	options.linewidth = 30;
	expect(tn_array_repr(numbers(TN_F32, 2, values), &options),
	       "array([1., 2.], dtype=float32)");
	options.linewidth = 29;
	expect(tn_array_repr(numbers(TN_F32, 2, values), &options),
	       "array([1., 2.],\n      dtype=float32)");
}

/* Refuses the options, and resets them. */
static void refuse(struct tn_print_options *options, const char *part)
{
	assert_null(tn_array2string(tn_scalar_f32(context, 1), options));
	assert_status(tn_error(context)->status, TN_INVALID_ARGUMENT);
	assert_string_equal(tn_error(context)->operation, "array2string");
	assert_contains(tn_error(context)->text, part);
	tn_error_clear(context);
	*options = tn_print_defaults();
}

static void options_out_of_range_are_refused(void **state)
{
	char many[TN_PRINT_MAX_STRING + 2] = "";
	struct tn_print_options options = tn_print_defaults();
	(void)state;
	memset(many, 'x', sizeof(many) - 1);
	options.precision = -1;
	refuse(&options, "precision: expected 0 to 1000");
	options.precision = 1001;
	refuse(&options, "found 1001");
	options.threshold = -1;
	refuse(&options, "threshold: expected 0");
	options.edgeitems = -1;
	refuse(&options, "edgeitems: expected 0");
	options.linewidth = 0;
	refuse(&options, "linewidth: expected 1");
	options.floatmode = 4;
	refuse(&options, "floatmode: expected 0 to 3, found 4");
	options.suppress = 2;
	refuse(&options, "suppress: expected 0 to 1");
	options.sign = '*';
	refuse(&options, "sign: expected '-', '+' or ' ', found 42");
	options.nanstr = "\n";
	refuse(&options, "nanstr: expected printable ASCII");
	options.separator = NULL;
	refuse(&options, "separator: expected a string, found NULL");
	options.infstr = many;
	refuse(&options, "infstr: expected at most 64 bytes");
}

static void nothing_is_printed_of_no_array_or_after_an_error(void **state)
{
	(void)state;
	assert_null(tn_array_str(NULL, NULL));
	assert_null(tn_array_repr(NULL, NULL));
	tn_array *a = tn_scalar_f32(context, 1);
	tn_reshape(a, 1, (const int64_t[]){2});
	assert_null(tn_array_repr(a, NULL));
	assert_status(tn_error(context)->status, TN_SHAPE);
	tn_error_clear(context);
	tn_string_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bf16_has_two_decimal_digits),
		cmocka_unit_test(digits_of_extreme_numbers_are_exact),
		cmocka_unit_test(the_locale_of_the_program_does_not_count),
		cmocka_unit_test(only_the_corners_of_a_large_array_are_read),
		cmocka_unit_test(a_dtype_is_on_the_line_where_it_has_room),
		cmocka_unit_test(options_out_of_range_are_refused),
		cmocka_unit_test(nothing_is_printed_of_no_array_or_after_an_error),
	};
	return cmocka_run_group_tests(tests, open_context, context_teardown);
}
