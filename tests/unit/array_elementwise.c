/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elementwise operations, by NumPy's rules.
 */
#include "array_fixture.h"

static void shapes_broadcast_from_the_right(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *row = counted(f, 10, SHAPE(3));
	tn_array *column = counted(f, 100, SHAPE(2, 1));
	assert_elements(tn_add(a, row), 10, 12, 14, 13, 15, 17);
	assert_elements(tn_add(row, a), 10, 12, 14, 13, 15, 17);
	assert_elements(tn_add(a, column), 100, 101, 102, 104, 105, 106);
	tn_array *outer = tn_add(row, column);
	assert_shape(outer, 2, 3);
	assert_elements(outer, 110, 111, 112, 111, 112, 113);
}

static void shapes_that_do_not_fit_are_an_error_that_names_both(void **state)
{
	struct fixture *f = *state;
	assert_null(tn_add(counted(f, 0, SHAPE(2, 3)), counted(f, 0, SHAPE(2, 4))));
	assert_string_equal(tn_error(context_of(f))->operation, "add");
	assert_kept(f, TN_SHAPE, "(2, 3) and (2, 4)");
}

static void a_single_element_broadcasts_to_anything(void **state)
{
	struct fixture *f = *state;
	tn_array *one = tn_scalar_f32(context_of(f), 5);
	assert_int_equal(tn_array_rank(one), 0);
	assert_elements(tn_multiply(one, counted(f, 1, SHAPE(2, 1, 2))), 5, 10, 15, 20);
	tn_array *both = tn_multiply(one, one);
	assert_int_equal(tn_array_rank(both), 0);
	assert_elements(both, 25);
}

static void an_empty_array_gives_an_empty_array(void **state)
{
	struct fixture *f = *state;
	tn_array *none = tn_add(counted(f, 0, SHAPE(0, 3)), counted(f, 0, SHAPE(3)));
	assert_shape(none, 0, 3);
	assert_int_equal(tn_array_size(none), 0);
	assert_shape(tn_add(counted(f, 0, SHAPE(0, 1)), counted(f, 0, SHAPE(1, 4))), 0, 4);
	assert_null(tn_error(context_of(f)));
}

static void views_of_every_kind_are_operands(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(3, 4));
	tn_array *transposed = tn_transpose(a, NULL);
	tn_array *backwards = tn_slice(a, 0, INT64_MIN, INT64_MIN, -1);
	assert_elements(tn_add(transposed, transposed), 0, 8, 16, 2, 10, 18, 4, 12, 20, 6, 14, 22);
	assert_elements(tn_subtract(backwards, a), 8, 8, 8, 8, 0, 0, 0, 0, -8, -8, -8, -8);
	tn_array *every_other = tn_slice(a, 1, 0, INT64_MIN, 2);
	assert_elements(tn_negative(every_other), -0.0, -2, -4, -6, -8, -10);
}

static void integers_divide_to_f64(void **state)
{
	struct fixture *f = *state;
	tn_array *a = tn_arange(context_of(f), TN_I32, 1, 5, 1);
	tn_array *two = tn_full(context_of(f), TN_I32, SHAPE(1), 2);
	tn_array *half = tn_divide(a, two);
	assert_int_equal(tn_array_dtype(half), TN_F64);
	assert_elements(half, 0.5, 1, 1.5, 2);
	assert_int_equal(tn_array_dtype(tn_add(a, two)), TN_I32);
	assert_int_equal(tn_array_dtype(tn_less(a, two)), TN_BOOL);
}

static void where_chooses_by_element(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, -2, SHAPE(4));
	tn_array *zero = tn_scalar_f32(context_of(f), 0);
	assert_elements(tn_where(tn_greater(a, zero), a, zero), 0, 0, 0, 1);
	assert_elements(tn_where(a, zero, a), 0, 0, 0, 0);
}

static void unary_functions_are_their_formulas(void **state)
{
	struct fixture *f = *state;
	static const struct {
		tn_array *(*function)(const tn_array *);
		double expected[3]; /* of -0.75, 0.5, 2 */
	} cases[] = {
		{tn_negative, {0.75, -0.5, -2}},
		{tn_abs, {0.75, 0.5, 2}},
		{tn_sign, {-1, 1, 1}},
		{tn_square, {0.5625, 0.25, 4}},
		{tn_sqrt, {NAN, 0.70710678, 1.41421356}},
		{tn_exp, {0.47236655, 1.64872127, 7.3890561}},
		{tn_log, {NAN, -0.69314718, 0.69314718}},
		{tn_sin, {-0.68163876, 0.47942554, 0.90929743}},
		{tn_cos, {0.73168887, 0.87758256, -0.41614684}},
		{tn_tanh, {-0.63514895, 0.46211716, 0.96402758}},
		{tn_erf, {-0.71115563, 0.52049988, 0.99532227}},
		{tn_sigmoid, {0.32082130, 0.62245933, 0.88079708}},
		{tn_relu, {0, 0.5, 2}},
		{tn_floor, {-1, 0, 2}},
		{tn_ceil, {-0.0, 1, 2}},
		{tn_round, {-1, 0, 2}},
	};
	static const float x[] = {-0.75f, 0.5f, 2};
	tn_array *a = tn_from_host(context_of(f), TN_F32, SHAPE(3), x);
	/* One rounding of a function that the reference rounds correctly: half an ulp of 8. */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_elements(cases[i].function(a), 3, cases[i].expected, 5e-7, __FILE__,
			       __LINE__);
	assert_elements(tn_affine(a, 2, 1), -0.5, 2, 5);
}

static void into_writes_to_a_view(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *b = counted(f, 10, SHAPE(2));
	tn_array *middle = tn_squeeze(tn_slice(a, 1, 1, 2, 1), 1);
	assert_ok(tn_add_into(middle, middle, b));
	assert_elements(a, 0, 11, 2, 3, 15, 5);
}

static void into_refuses_other_shapes_and_elements_that_share_memory(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(3)), *one = counted(f, 0, SHAPE(1));
	assert_status(tn_add_into(one, a, a), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "(3,) does not broadcast to (1,)");
	tn_array *spread = tn_broadcast_to(one, SHAPE(3));
	assert_status(tn_add_into(spread, a, a), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "share memory");
}

/* NumPy's can_cast(from, to, "same_kind"), for a result of `from`. */
static void into_refuses_outputs_of_a_lower_kind(void **state)
{
	static const tn_dtype dtypes[] = {TN_BOOL, TN_U8,  TN_U16, TN_U32,  TN_U64, TN_I8, TN_I16,
					  TN_I32,  TN_I64, TN_F16, TN_BF16, TN_F32, TN_F64};
	static const int kind[] = {0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
	struct fixture *f = *state;
	for (size_t from = 0; from < sizeof(dtypes) / sizeof(dtypes[0]); from++) {
		for (size_t to = 0; to < sizeof(dtypes) / sizeof(dtypes[0]); to++) {
			tn_array *a = tn_ones(context_of(f), dtypes[from], SHAPE(2));
			tn_array *out = tn_zeros(context_of(f), dtypes[to], SHAPE(2));
			if (kind[from] <= kind[to]) {
				assert_ok(tn_multiply_into(out, a, a));
				assert_elements(tn_astype(out, TN_F32), 1, 1);
				continue;
			}
			assert_status(tn_multiply_into(out, a, a), TN_DTYPE);
			assert_kept(f, TN_DTYPE, "a lower kind needs tn_astype");
			assert_elements(tn_astype(out, TN_F32), 0, 0);
		}
	}
	tn_array *x = tn_full(context_of(f), TN_F32, SHAPE(2), 1.7), *i = tn_astype(x, TN_I32);
	assert_status(tn_add_into(i, i, x), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "the result is f64, the output i32");
	assert_ok(tn_assign(i, tn_add(i, x)));
	assert_elements(tn_astype(i, TN_F32), 2, 2);
}

static void an_output_may_overlap_its_input_in_any_way(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(6));
	tn_array *front = tn_slice(a, 0, 0, 5, 1), *back = tn_slice(a, 0, 1, 6, 1);
	assert_ok(tn_add_into(back, front, back));
	assert_elements(a, 0, 1, 3, 5, 7, 9);
	tn_array *b = counted(f, 0, SHAPE(4));
	assert_ok(tn_subtract_into(b, b, tn_slice(b, 0, INT64_MIN, INT64_MIN, -1)));
	assert_elements(b, -3, -1, 1, 3);
	/* Longer than what a backend reads before it writes: out[i] = old[i] + old[i - 1]. */
	tn_array *c = tn_ones(context_of(f), TN_F32, SHAPE(10000));
	front = tn_slice(c, 0, 0, 9999, 1);
	back = tn_slice(c, 0, 1, 10000, 1);
	assert_ok(tn_add_into(back, front, back));
	assert_elements(tn_max(c, TN_ALL_AXES, NULL, 0), 2);
}

static void a_users_program_takes_inputs_and_scalars(void **state)
{
	struct fixture *f = *state;
	const tn_array *inputs[] = {counted(f, 1, SHAPE(2)), counted(f, 10, SHAPE(2, 1))};
	tn_array *z = tn_map("z = a*x + y", 2, (const char *[]){"x", "y"}, inputs, 1,
			     (const char *[]){"a"}, (double[]){2});
	assert_shape(z, 2, 2);
	assert_elements(z, 12, 14, 13, 15);
	tn_array *place =
		tn_map("z = x * 0 + index(1)", 1, (const char *[]){"x"},
		       (const tn_array *[]){tn_transpose(counted(f, 0, SHAPE(3, 2)), NULL)}, 0,
		       NULL, NULL);
	assert_elements(place, 0, 1, 2, 0, 1, 2);
	tn_array *number =
		tn_map("z = x * 0 + element()", 1, (const char *[]){"x"},
		       (const tn_array *[]){tn_transpose(counted(f, 0, SHAPE(3, 2)), NULL)}, 0,
		       NULL, NULL);
	assert_elements(number, 0, 1, 2, 3, 4, 5);
}

static void a_text_that_is_no_program_says_where(void **state)
{
	struct fixture *f = *state;
	const tn_array *x = counted(f, 0, SHAPE(2));
	assert_null(tn_map("z = x +", 1, (const char *[]){"x"}, &x, 0, NULL, NULL));
	assert_kept(f, TN_FORMAT, "column");
	assert_null(tn_map("z = x + index(1)", 1, (const char *[]){"x"}, &x, 0, NULL, NULL));
	assert_kept(f, TN_SHAPE, "axis 1");
}

static void programs_are_parsed_once_and_the_cache_has_a_bound(void **state)
{
	struct fixture *f = *state;
	const tn_array *x = counted(f, 1, SHAPE(1));
	char text[64];
	double value;
	for (int i = 0; i < TN_PROGRAMS_OF_USERS + 50; i++) {
		snprintf(text, sizeof(text), "z = x + %d", i);
		tn_array *z = tn_map(text, 1, (const char *[]){"x"}, &x, 0, NULL, NULL);
		assert_ok(tn_item(z, &value));
		assert_close(value, i + 1, 0);
		tn_array_destroy(z);
	}
	assert_int_equal(f->context.runtime.programs->n_users, TN_PROGRAMS_OF_USERS);
}

static void random_numbers_follow_the_contexts_state(void **state)
{
	struct fixture *f = *state;
	float first[100], again[100], next[100];
	f->context.runtime.random = (struct tn_random_state){.seed = 7, .stream = 3};
	assert_ok(tn_to_host(tn_random_uniform(context_of(f), SHAPE(100), -2, 3), first, 400));
	assert_ok(tn_to_host(tn_random_uniform(context_of(f), SHAPE(100), -2, 3), next, 400));
	f->context.runtime.random = (struct tn_random_state){.seed = 7, .stream = 3};
	assert_ok(tn_to_host(tn_random_uniform(context_of(f), SHAPE(4, 25), -2, 3), again, 400));
	assert_memory_equal(first, again, sizeof(first));
	assert_memory_not_equal(first, next, sizeof(first));
	for (int i = 0; i < 100; i++)
		assert_true(first[i] >= -2 && first[i] < 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(shapes_broadcast_from_the_right),
		TEST(shapes_that_do_not_fit_are_an_error_that_names_both),
		TEST(a_single_element_broadcasts_to_anything),
		TEST(an_empty_array_gives_an_empty_array),
		TEST(views_of_every_kind_are_operands),
		TEST(integers_divide_to_f64),
		TEST(where_chooses_by_element),
		TEST(unary_functions_are_their_formulas),
		TEST(into_writes_to_a_view),
		TEST(into_refuses_other_shapes_and_elements_that_share_memory),
		TEST(into_refuses_outputs_of_a_lower_kind),
		TEST(an_output_may_overlap_its_input_in_any_way),
		TEST(a_users_program_takes_inputs_and_scalars),
		TEST(a_text_that_is_no_program_says_where),
		TEST(programs_are_parsed_once_and_the_cache_has_a_bound),
		TEST(random_numbers_follow_the_contexts_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
