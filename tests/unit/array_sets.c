/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sets: gradients, what is refused, who owns second results, and what waits for the device.
 * Results: tests/parity/sets.
 */
#include "unit/formula_checks.h"

static tn_context *context;

static tn_array *line(tn_dtype dtype, int64_t n)
{
	return tn_arange(context, dtype, 0, (double)n, 1);
}

/* ---- Gradients -------------------------------------------------------------------------------*/

static tn_array *f_unique(const tn_array *x)
{
	return tn_unique(x, TN_AXIS_NONE, 1, NULL, NULL, NULL);
}
static tn_array *f_unique_rows(const tn_array *x)
{
	tn_array *index;
	return tn_unique(x, 1, 1, &index, NULL, NULL);
}
static tn_array *f_union1d(const tn_array *x)
{
	return tn_union1d(x, tn_square(x));
}
static tn_array *f_intersect1d(const tn_array *x)
{
	return tn_intersect1d(x, tn_slice(x, 0, 1, 3, 1), 0, NULL, NULL);
}
static tn_array *f_setdiff1d(const tn_array *x)
{
	return tn_setdiff1d(x, tn_slice(x, 0, 1, 3, 1), 0);
}
static tn_array *f_setxor1d(const tn_array *x)
{
	return tn_setxor1d(x, tn_square(x), 0);
}

static const struct formula_row rows[] = {
	{"unique", f_unique},       {"unique along an axis", f_unique_rows},
	{"union1d", f_union1d},     {"intersect1d", f_intersect1d},
	{"setdiff1d", f_setdiff1d}, {"setxor1d", f_setxor1d},
};

static void gradients_are_those_of_central_differences(void **state)
{
	(void)state;
	formula_expect_gradients(context, sizeof(rows) / sizeof(rows[0]), rows);
}

/* Of 2, 2 and 5 the first 2 has the gradient. */
static void a_gradient_flows_to_the_first_of_equals(void **state)
{
	const double values[] = {2, 2, 5}, expected[] = {1, 0, 1};
	double found[3];
	(void)state;
	tn_array *x = tn_from_host(context, TN_F64, 1, (int64_t[]){3}, values);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *distinct = tn_unique(x, TN_AXIS_NONE, 1, NULL, NULL, NULL);
	assert_ok(tn_tape_backward(tape, tn_sum(distinct, TN_ALL_AXES, NULL, 0), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, sizeof(found)));
	tn_tape_end(tape);
	assert_memory_equal(found, expected, sizeof(expected));
}

/* ---- Results ---------------------------------------------------------------------------------*/

static void second_results_live_in_the_callers_scope(void **state)
{
	tn_array *x = tn_remainder(line(TN_F32, 7), tn_scalar_f32(context, 3));
	tn_array *index = x, *inverse = x, *counts = x;
	double value;
	(void)state;
	assert_non_null(tn_unique(x, 0, 1, &index, &inverse, &counts));
	assert_ok(tn_item(tn_sum(index, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 3, 0);
	assert_ok(tn_item(tn_sum(inverse, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 6, 0);
	assert_ok(tn_item(tn_sum(counts, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 7, 0);
	assert_null(tn_unique(x, 1, 1, &index, &inverse, &counts));
	assert_null(index);
	assert_null(inverse);
	assert_null(counts);
	tn_error_clear(context);
	index = inverse = x;
	assert_null(tn_intersect1d(x, NULL, 0, &index, &inverse));
	assert_null(index);
	assert_null(inverse);
}

static void errors_name_what_is_refused(void **state)
{
	tn_array *x = line(TN_F32, 4);
	(void)state;
	formula_expect_error(context, tn_unique(x, 1, 1, NULL, NULL, NULL), TN_INVALID_ARGUMENT,
			     "unique",
			     "axis: expected an axis of shape (4,), from -1 to 0, found 1");
	assert_null(tn_isin(x, NULL, 0));
	assert_null(tn_unique(NULL, 0, 1, NULL, NULL, NULL));
	assert_null(tn_error(context));
}

static int open_context(void **state)
{
	(void)state;
	assert_ok(tn_context_open(NULL, &context, NULL));
	return 0;
}

static int close_context(void **state)
{
	(void)state;
	tn_context_close(context);
	return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
	const struct CMUnitTest tests[] = {
		TEST(gradients_are_those_of_central_differences),
		TEST(a_gradient_flows_to_the_first_of_equals),
		TEST(second_results_live_in_the_callers_scope),
		TEST(errors_name_what_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
