/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every recorded operation's gradient against central differences in double, on the built-in
 * backend and on the preferred one in f32.
 */
#include "gradient_rows.h"

static tn_context *context;

static void open_context(const char *backend)
{
	struct tn_error_info error;
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	assert_ok(tn_context_open(&options, &context, &error));
}

/* Differences with step h err by h^2 f''' / 6, and by eps |f| / h from rounding:
 * 1e-12 + 1e-10 here. */
static void every_gradient_is_right_in_double(void **state)
{
	(void)state;
	open_context("reference!");
	for (int i = 0; i < GRADIENT_ROWS; i++)
		check_gradient(context, &gradient_rows[i], TN_F64, 1e-6, 1e-7);
	tn_context_close(context);
}

/* In f32 with step 1e-2: h^2 = 1e-4, eps |f| / h = 1e-7 * 10 / 1e-2 = 1e-4. */
static void every_gradient_is_right_in_f32_on_the_preferred_backend(void **state)
{
	(void)state;
	open_context("auto");
	for (int i = 0; i < GRADIENT_ROWS; i++)
		check_gradient(context, &gradient_rows[i], TN_F32, 1e-2, 2e-2);
	tn_context_close(context);
}

/* The gradient of a product at a zero is the product of the others. */
static void zeros_in_a_running_product_have_their_gradients(void **state)
{
	static const double numbers[] = {0.5, 0, -1.2, 0.7, 0, 2, 0, 1.5, 1.1, 3, -0.4, 0.9};
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	(void)state;
	open_context("reference!");
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_from_host(context, TN_F64, 3, (int64_t[]){2, 6, 1}, numbers);
	assert_ok(tn_gradient_check(context, f_cumprod, NULL, 1, &x, 1e-6, 1e-7, 0, &report));
	tn_scope_end(context, NULL);
	tn_context_close(context);
}

/* Zeros are counted in i64, which promotes narrow types to f32. */
static void a_running_product_of_a_narrow_type_has_a_gradient(void **state)
{
	float found[3];
	(void)state;
	open_context("reference!");
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_arange(context, TN_F32, 2, 5, 1);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *narrow = tn_astype(x, TN_F16);
	assert_ok(
		tn_tape_backward(tape, tn_sum(tn_cumprod(narrow, 0), TN_ALL_AXES, NULL, 0), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, sizeof(found)));
	/* 2 + 2 3 + 2 3 4 by each */
	assert_true(found[0] == 16 && found[1] == 10 && found[2] == 6);
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
	tn_context_close(context);
}

/* The gradient of f for the n given numbers x, with the upstream gradient 1, 10, 100, ... */
static void gradient_of(tn_array *(*f)(const tn_array *x), int64_t n, const float *numbers,
			float *found)
{
	static const float weights[] = {1, 10, 100, 1000, 10000};
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_from_host(context, TN_F32, 1, &n, numbers);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = f(x);
	tn_array *dy = tn_from_host(context, TN_F32, 1, tn_array_shape(y), weights);
	assert_ok(tn_tape_backward(tape, y, dy));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, (size_t)n * sizeof(*found)));
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
}

static tn_array *cummax(const tn_array *x)
{
	return tn_cummax(x, 0);
}
static tn_array *cummin(const tn_array *x)
{
	return tn_cummin(x, 0);
}
static tn_array *descending(const tn_array *x)
{
	return tn_sort(x, 0, 1);
}
static tn_array *largest_two(const tn_array *x)
{
	return tn_topk(x, 2, 0, 1, NULL);
}

static tn_array *largest(const tn_array *x)
{
	return tn_max(x, TN_ALL_AXES, NULL, 1);
}
static tn_array *product(const tn_array *x)
{
	return tn_prod(x, TN_ALL_AXES, NULL, 1);
}

/* Equal extremes share the gradient; for running extremes the last of equal elements gets the
 * gradient, and the last NaN; sorting is stable. */
static void equals_zeros_and_nans_have_their_gradients(void **state)
{
	static const struct {
		tn_array *(*f)(const tn_array *x);
		float x[5], expected[5];
	} cases[] = {
		{cummax, {1, 1, 0, 1, 2}, {1, 110, 0, 1000, 10000}},
		{cummax, {1, NAN, 3, NAN, 2}, {1, 110, 0, 11000, 0}},
		{cummin, {1, 1, 2, 1, 0}, {1, 110, 0, 1000, 10000}},
		{cummin, {1, NAN, 0, NAN, 2}, {1, 110, 0, 11000, 0}},
		{descending, {1, 2, 1, 2, NAN}, {1000, 10, 10000, 100, 1}},
		{largest, {1, 3, 0, 3, 2}, {0, 0.5f, 0, 0.5f, 0}},
		{largest, {2, 2, 2, 2, 1}, {0.25f, 0.25f, 0.25f, 0.25f, 0}},
		{product, {2, 5, 3, 1, 1}, {15, 6, 10, 30, 30}},
		{product, {2, 0, 3, 1, 1}, {0, 6, 0, 0, 0}},
		{product, {2, 0, 3, 0, 1}, {0, 0, 0, 0, 0}},
		{largest_two, {1, 2, 2, 2, 0}, {0, 1, 10, 0, 0}},
	};
	float found[5];
	(void)state;
	open_context("auto");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gradient_of(cases[i].f, 5, cases[i].x, found);
		for (int k = 0; k < 5; k++)
			assert_float_equal(found[k], cases[i].expected[k], 0);
	}
	tn_context_close(context);
}

/* The sum of the inputs' products with 1, 2, 3, ... in one program of ten inputs, of which `wanted`
 * are watched. */
static void check_ten(const int *wanted, int n_wanted)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
	const tn_array *inputs[10];
	tn_array *x[10];
	float found;
	assert_ok(tn_scope_begin(context));
	for (int k = 0; k < 10; k++)
		inputs[k] = x[k] = tn_full(context, TN_F32, 1, (int64_t[]){1}, k + 1);
	tn_tape *tape = tn_tape_begin(context);
	for (int k = 0; k < n_wanted; k++)
		assert_ok(tn_tape_watch(tape, x[wanted[k]]));
	tn_array *y = tn_map("y = a*b + 2*c + 3*d + 4*e + 5*f + 6*g + 7*h + 8*i + 9*j", 10, names,
			     inputs, 0, NULL, NULL);
	assert_ok(tn_tape_backward(tape, y, NULL));
	for (int k = 0; k < n_wanted; k++) {
		const int i = wanted[k];
		assert_ok(tn_to_host(tn_tape_gradient(tape, x[i]), &found, sizeof(found)));
		assert_true(found == (i == 0 ? 2 : i == 1 ? 1 : (float)i));
	}
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
}

/* A derivative is kept for each choice of inputs, and serves no other. */
static void each_choice_of_inputs_has_its_own_derivative(void **state)
{
	static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	(void)state;
	open_context("auto");
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10; i++) {
			check_ten(&all[i], 1);
			check_ten((const int[]){i, (i + 8) % 10}, 2);
			check_ten((const int[]){i, (i + 1) % 10}, 2);
		}
		check_ten(all, 10);
	}
	tn_context_close(context);
}

/* A concatenation of two types has the wider one; each part's gradient has its own. */
static void parts_of_a_concatenation_have_gradients_of_their_types(void **state)
{
	float found[2];
	(void)state;
	open_context("auto");
	tn_array *narrow = tn_full(context, TN_F16, 1, (int64_t[]){2}, 2);
	tn_array *wide = tn_full(context, TN_F32, 1, (int64_t[]){2}, 3);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, narrow));
	assert_ok(tn_tape_watch(tape, wide));
	tn_array *both = tn_concatenate(2, (const tn_array *[]){narrow, wide}, 0);
	assert_int_equal(tn_array_dtype(both), TN_F32);
	assert_ok(tn_tape_backward(tape, tn_sum(tn_square(both), TN_ALL_AXES, NULL, 0), NULL));
	tn_array *g = tn_tape_gradient(tape, narrow);
	assert_int_equal(tn_array_dtype(g), TN_F16);
	assert_ok(tn_to_host(tn_astype(g, TN_F32), found, sizeof(found)));
	assert_true(found[0] == 4 && found[1] == 4);
	tn_tape_end(tape);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_gradient_is_right_in_double),
		cmocka_unit_test(every_gradient_is_right_in_f32_on_the_preferred_backend),
		cmocka_unit_test(equals_zeros_and_nans_have_their_gradients),
		cmocka_unit_test(zeros_in_a_running_product_have_their_gradients),
		cmocka_unit_test(a_running_product_of_a_narrow_type_has_a_gradient),
		cmocka_unit_test(each_choice_of_inputs_has_its_own_derivative),
		cmocka_unit_test(parts_of_a_concatenation_have_gradients_of_their_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
