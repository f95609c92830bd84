/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The life cycle of a tape: watched arrays, refused calls, freed memory.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

static tn_array *vector(float a, float b)
{
	return tn_from_host(context, TN_F32, 1, (int64_t[]){2}, (float[]){a, b});
}

static void writing_into_an_array_with_a_gradient_is_refused(void **state)
{
	float data[2] = {7, 7};
	(void)state;
	tn_array *x = vector(1, 2), *c = vector(3, 4);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_square(x);
	assert_status(tn_fill(y, 0), TN_STATE);
	tn_error_clear(context);
	assert_status(tn_assign(y, c), TN_STATE);
	tn_error_clear(context);
	assert_status(tn_add_into(y, c, c), TN_STATE);
	tn_error_clear(context);
	assert_status(tn_assign_host(y, data, sizeof(data)), TN_STATE);
	tn_error_clear(context);
	tn_tape_end(tape);
	assert_ok(tn_fill(y, 0));
}

static void a_second_tape_waits_for_the_end_of_the_first(void **state)
{
	(void)state;
	tn_array *x = vector(1, 2);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_ok(tn_tape_backward(tape, tn_sum(tn_square(x), TN_ALL_AXES, NULL, 0), NULL));
	assert_null(tn_tape_begin(context)); /* backward has run, but the tape has not ended */
	tn_error_clear(context);
	tn_tape_end(tape);
}

static void the_gradient_of_a_square_is_twice_the_value(void **state)
{
	float g[2];
	(void)state;
	tn_array *x = vector(3, -4);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_ok(tn_tape_backward(tape, tn_sum(tn_square(x), TN_ALL_AXES, NULL, 0), NULL));
	tn_array *gradient = tn_tape_gradient(tape, x);
	tn_tape_end(tape);
	assert_ok(tn_to_host(gradient, g, sizeof(g)));
	assert_close(g[0], 6, 0);
	assert_close(g[1], -8, 0);
}

static void only_one_tape_records_at_a_time(void **state)
{
	(void)state;
	tn_tape *tape = tn_tape_begin(context);
	assert_null(tn_tape_begin(context));
	expect_kept(TN_STATE, "already has a tape");
	tn_tape_end(tape);
	tape = tn_tape_begin(context);
	assert_non_null(tape);
	tn_tape_end(tape);
	tn_tape_end(NULL);
}

static void what_nobody_watches_has_no_gradient(void **state)
{
	(void)state;
	tn_array *x = vector(1, 2), *y = vector(3, 4);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *unrelated = tn_sum(y, TN_ALL_AXES, NULL, 0);
	assert_status(tn_tape_backward(tape, unrelated, NULL), TN_STATE);
	expect_kept(TN_STATE, "watched");
	assert_ok(tn_tape_watch(tape, y));
	assert_ok(tn_tape_backward(tape, tn_sum(tn_exp(x), TN_ALL_AXES, NULL, 0), NULL));
	assert_null(tn_tape_gradient(tape, y)); /* watched, but the output does not depend on it */
	assert_null(tn_error(context));
	tn_tape_end(tape);
}

static void a_change_in_place_of_what_was_saved_is_refused(void **state)
{
	(void)state;
	tn_array *x = vector(1, 2), *y = vector(3, 4);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *loss = tn_sum(tn_multiply(x, y), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_fill(y, 0.0));
	assert_status(tn_tape_backward(tape, loss, NULL), TN_MODIFIED);
	expect_kept(TN_MODIFIED, "multiply");
	tn_tape_end(tape);
}

static void a_change_of_what_is_not_read_again_is_allowed(void **state)
{
	float g[2];
	(void)state;
	tn_array *x = vector(1, 2), *y = vector(3, 4);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *loss = tn_sum(tn_add(x, y), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_fill(y, 0.0));
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_array *gradient = tn_tape_gradient(tape, x);
	tn_tape_end(tape);
	assert_ok(tn_to_host(gradient, g, sizeof(g)));
	assert_close(g[0] + g[1], 2, 0);
}

static void an_output_of_many_elements_needs_a_gradient_to_start_from(void **state)
{
	float g[2];
	(void)state;
	tn_array *x = vector(1, 2);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_affine(x, 3, 0);
	assert_status(tn_tape_backward(tape, y, NULL), TN_SHAPE);
	assert_contains(tn_error(context)->text, "an output of shape (2,)");
	tn_error_clear(context);
	tn_tape_end(tape);
	tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	y = tn_affine(x, 3, 0);
	assert_status(tn_tape_backward(tape, y, tn_reshape(vector(1, 10), 2, (int64_t[]){1, 2})),
		      TN_SHAPE);
	assert_contains(tn_error(context)->text, "expected the output's shape (2,), found (1, 2)");
	tn_error_clear(context);
	tn_tape_end(tape);
	tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	y = tn_affine(x, 3, 0);
	assert_ok(tn_tape_backward(tape, y, vector(1, 10)));
	tn_array *gradient = tn_tape_gradient(tape, x);
	tn_tape_end(tape);
	assert_ok(tn_to_host(gradient, g, sizeof(g)));
	assert_close(g[0], 3, 0);
	assert_close(g[1], 30, 0);
}

static void backward_runs_once(void **state)
{
	(void)state;
	tn_array *x = vector(1, 2);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *loss = tn_sum(tn_square(x), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	assert_status(tn_tape_backward(tape, loss, NULL), TN_STATE);
	expect_kept(TN_STATE, "has run");
	tn_tape_end(tape);
}

static void integers_have_no_gradient(void **state)
{
	(void)state;
	tn_array *x = tn_arange(context, TN_I32, 0, 3, 1);
	tn_tape *tape = tn_tape_begin(context);
	assert_status(tn_tape_watch(tape, x), TN_DTYPE);
	expect_kept(TN_DTYPE, "i32");
	tn_tape_end(tape);
}

static void gradients_go_where_they_are_wanted_and_add_up(void **state)
{
	float g[2];
	int filled = 0;
	(void)state;
	tn_array *x = vector(1, 2), *place = vector(99, 99);
	for (int round = 0; round < 2; round++) {
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch_into(tape, x, place, &filled));
		assert_ok(tn_tape_backward(tape, tn_sum(tn_square(x), TN_ALL_AXES, NULL, 0), NULL));
		tn_tape_end(tape);
		assert_int_equal(filled, 1);
	}
	assert_ok(tn_to_host(place, g, sizeof(g)));
	assert_close(g[0], 4, 0);
	assert_close(g[1], 8, 0);
}

static void a_tape_may_end_without_backward_and_arrays_go_on(void **state)
{
	(void)state;
	struct tn_memory_use before = {.struct_size = sizeof(before)},
			     after = {.struct_size = sizeof(after)};
	tn_array *x = vector(1, 2);
	tn_device_get_memory_use(tn_device_current(context), &before);
	for (int i = 0; i < 10; i++) {
		assert_ok(tn_scope_begin(context));
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		assert_non_null(tn_exp(tn_square(x)));
		tn_tape_end(tape);
		assert_non_null(tn_exp(x)); /* x is not tracked by the ended tape */
		tn_scope_end(context, NULL);
	}
	tn_device_get_memory_use(tn_device_current(context), &after);
	assert_int_equal(before.used, after.used);
}

static void intermediate_arrays_may_be_destroyed_before_backward(void **state)
{
	float g[2];
	(void)state;
	tn_array *x = vector(0.5f, 1);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *a = tn_exp(x), *b = tn_square(a), *loss = tn_sum(b, TN_ALL_AXES, NULL, 0);
	tn_array_destroy(a);
	tn_array_destroy(b);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_array *gradient = tn_tape_gradient(tape, x);
	tn_tape_end(tape);
	assert_ok(tn_to_host(gradient, g, sizeof(g)));
	assert_close(g[0], 2 * exp(1.0), 1e-5);
}

static tn_array *wrong(void *user, tn_array *const *x)
{
	(void)user;
	/* The tape records a constant instead: an intentionally wrong gradient. */
	double value;
	if (tn_item(tn_sum(x[0], TN_ALL_AXES, NULL, 0), &value))
		return NULL;
	return tn_sum(tn_affine(x[0], value, 0), TN_ALL_AXES, NULL, 0);
}

static void the_gradient_check_finds_a_wrong_gradient(void **state)
{
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	(void)state;
	tn_array *x = vector(1, 2);
	assert_status(tn_gradient_check(context, wrong, NULL, 1, &x, 0, 1e-2, 0, &report),
		      TN_INTERNAL);
	assert_close(report.tape, 3, 1e-5);
	assert_close(report.difference, 6, 1e-1);
	tn_error_clear(context);
}

static tn_status give_nan(void *state, const struct tn_node_call *call)
{
	(void)state;
	call->input_gradients[0] = tn_full(call->context, TN_F32, 1, (int64_t[]){2}, NAN);
	return TN_OK;
}

/* The sum, with a gradient of NaN. */
static tn_array *without_a_number(void *user, tn_array *const *x)
{
	(void)user;
	tn_no_grad_begin(context);
	tn_array *y = tn_sum(x[0], TN_ALL_AXES, NULL, 0);
	tn_no_grad_end(context);
	struct tn_node_options node = tn_node_defaults();
	node.name = "nan";
	node.n_inputs = 1;
	node.inputs = x;
	node.n_outputs = 1;
	node.outputs = &y;
	node.backward = give_nan;
	return tn_node_record(context, &node) ? NULL : y;
}

static void the_gradient_check_takes_no_nan_and_no_half(void **state)
{
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	(void)state;
	tn_array *x = vector(1, 2), *narrow = tn_astype(x, TN_F16);
	assert_status(
		tn_gradient_check(context, without_a_number, NULL, 1, &x, 0, 1e-2, 0, &report),
		TN_INTERNAL);
	assert_true(isnan(report.tape) && report.worst == INFINITY);
	tn_error_clear(context);
	assert_status(tn_gradient_check(context, wrong, NULL, 1, &narrow, 0, 1e-2, 0, &report),
		      TN_DTYPE);
	assert_contains(tn_error(context)->text, "input 0: expected an f32 or f64 array, found");
	tn_error_clear(context);
}

#define BIG INT64_C(65536) /* floats: a size that pools do not round */
#define BIG_BYTES (UINT64_C(4) * 65536)

static struct tn_memory_use memory(void)
{
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	tn_device_get_memory_use(tn_device_current(context), &use);
	return use;
}

static void a_sum_keeps_none_of_its_terms(void **state)
{
	(void)state;
	tn_array *x = tn_ones(context, TN_F32, 1, &(int64_t){BIG});
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *a = tn_exp(x), *b = tn_sqrt(x), *c = tn_subtract(a, b);
	uint64_t before = memory().used;
	tn_array_destroy(a); /* the nodes of exp and sqrt keep only x */
	tn_array_destroy(b);
	assert_int_equal(before - memory().used, 2 * BIG_BYTES);
	assert_ok(tn_tape_backward(tape, tn_sum(c, TN_ALL_AXES, NULL, 0), NULL));
	tn_array *gradient = tn_tape_gradient(tape, x);
	tn_tape_end(tape);
	double total;
	assert_ok(tn_item(tn_sum(gradient, TN_ALL_AXES, NULL, 0), &total));
	assert_close(total / (double)BIG, exp(1.0) - 0.5, 1e-5);
	tn_array_destroy(gradient);
	tn_array_destroy(c);
	tn_array_destroy(x);
}

static void a_product_keeps_what_its_gradients_read(void **state)
{
	(void)state;
	tn_array *x = tn_ones(context, TN_F32, 1, &(int64_t){BIG});
	tn_array *y = tn_ones(context, TN_F32, 1, &(int64_t){BIG});
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *a = tn_exp(x), *c = tn_multiply(a, y); /* y has no gradient: a is not read */
	uint64_t before = memory().used;
	tn_array_destroy(y);
	assert_int_equal(memory().used, before);
	tn_array_destroy(a);
	assert_int_equal(before - memory().used, BIG_BYTES);
	tn_tape_end(tape);
	assert_int_equal(before - memory().used, 2 * BIG_BYTES);
	tn_array_destroy(c);
	tn_array_destroy(x);
}

/* The output's sign determines the gradient, like the input's. */
static void a_relu_keeps_its_output(void **state)
{
	static tn_array *(*const functions[])(const tn_array *) = {tn_relu, tn_relu6};
	const float edges[6] = {-1, 0, 0.5f, 6, 7, 5};
	const float expected[2][6] = {{0, 0, 1, 1, 1, 1}, {0, 0, 1, 0, 0, 1}};
	(void)state;
	for (int f = 0; f < 2; f++) {
		float found[6];
		tn_array *x = tn_zeros(context, TN_F32, 1, &(int64_t){BIG});
		tn_array *head = tn_slice(x, 0, 0, 6, 1);
		assert_ok(tn_assign_host(head, edges, sizeof(edges)));
		tn_array_destroy(head);
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		tn_array *opposite = tn_negative(x), *a = tn_negative(opposite);
		tn_array_destroy(opposite);
		tn_array *y = functions[f](a);
		uint64_t before = memory().used;
		tn_array_destroy(a);
		assert_int_equal(before - memory().used, BIG_BYTES);
		assert_ok(tn_tape_backward(tape, tn_sum(y, TN_ALL_AXES, NULL, 0), NULL));
		tn_array *gradient = tn_tape_gradient(tape, x);
		tn_tape_end(tape);
		head = tn_copy(tn_slice(gradient, 0, 0, 6, 1));
		assert_ok(tn_to_host(head, found, sizeof(found)));
		assert_memory_equal(found, expected[f], sizeof(found));
		tn_array_destroy(gradient);
		tn_array_destroy(y);
		tn_array_destroy(x);
	}
}

/* x is freed before its gradient is allocated in its memory.  A separate context, to measure the
 * peak. */
static void a_convolution_lets_go_of_its_input_first(void **state)
{
	const int64_t x_shape[4] = {1, 4, 128, 128}, w_shape[4] = {1, 4, 1, 1};
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	tn_context *shared = context;
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_array *x = tn_ones(context, TN_F32, 4, x_shape);
	tn_array *w = tn_ones(context, TN_F32, 4, w_shape);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_ok(tn_tape_watch(tape, w));
	tn_array *a = tn_negative(x), *y = tn_conv2d(a, w, NULL, NULL);
	tn_array_destroy(a);
	tn_array *loss = tn_sum(y, TN_ALL_AXES, NULL, 0);
	tn_array_destroy(y);
	uint64_t before = memory().used;
	assert_ok(tn_tape_backward(tape, loss, NULL));
	/* a is freed and dx exists. */
	assert_in_range(memory().used, before - 4096, before + 4096);
	assert_in_range(memory().peak, before, before + BIG_BYTES / 2);
	tn_tape_end(tape);
	context_teardown(state);
	context = shared;
}

/* Ten steps keep what each reads; backward frees one after the other and needs only one gradient
 * and one step's temporaries at a time. */
static void backward_gives_memory_back_as_it_goes(void **state)
{
	enum { STEPS = 10 };
	(void)state;
	tn_array *x = tn_ones(context, TN_F32, 1, &(int64_t){BIG});
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	uint64_t before = memory().used;
	tn_array *y = tn_tanh(x);
	for (int i = 1; i < STEPS; i++) {
		tn_array *next = tn_tanh(y);
		tn_array_destroy(y);
		y = next;
	}
	tn_array *loss = tn_sum(y, TN_ALL_AXES, NULL, 0);
	tn_array_destroy(y);
	uint64_t kept = memory().used, peak = memory().peak;
	assert_in_range(kept - before, (STEPS - 1) * BIG_BYTES, STEPS * BIG_BYTES);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	/* The loss's gradient is a number; the chain's is updated in place from the second on. */
	assert_in_range(memory().peak, peak, kept + BIG_BYTES + 4096);
	assert_in_range(memory().used - before, BIG_BYTES, BIG_BYTES + 4096); /* that of x */
	tn_tape_end(tape);
	tn_array_destroy(loss);
	assert_int_equal(memory().used, before);
	tn_array_destroy(x);
}

static void what_got_no_gradient_is_let_go_too(void **state)
{
	(void)state;
	tn_array *x = tn_ones(context, TN_F32, 1, &(int64_t){BIG});
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *aside = tn_exp(x), *more = tn_exp(aside), *loss = tn_sum(x, TN_ALL_AXES, NULL, 0);
	tn_array_destroy(more);
	tn_array_destroy(aside);
	uint64_t before = memory().used;
	assert_ok(tn_tape_backward(tape, loss, NULL));
	/* The gradient of x, one number for all its elements, was allocated; `aside` was freed. */
	assert_in_range(before - memory().used, BIG_BYTES - 4096, BIG_BYTES);
	tn_tape_end(tape);
	tn_array_destroy(loss);
	tn_array_destroy(x);
}

/* y = x + x and z = y + x: the gradients of all are one array until something adds to them. */
static void gradients_that_share_memory_are_not_written_over(void **state)
{
	float g[2];
	(void)state;
	tn_array *x = vector(3, 5), *weight = vector(1, 10);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_add(x, x), *z = tn_add(y, tn_square(x));
	tn_array *w = tn_add(tn_multiply(z, weight), tn_multiply(x, weight));
	assert_ok(tn_tape_backward(tape, tn_sum(w, TN_ALL_AXES, NULL, 0), NULL));
	tn_array *gradient = tn_tape_gradient(tape, x);
	tn_tape_end(tape);
	assert_ok(tn_to_host(gradient, g, sizeof(g)));
	assert_close(g[0], 1 * (2 + 2 * 3 + 1), 0);
	assert_close(g[1], 10 * (2 + 2 * 5 + 1), 0);
}

/* y = (a + b) + a: the gradient of b is the same array that a's starts with. */
static void a_sum_of_gradients_does_not_change_its_terms(void **state)
{
	float ga[2], gb[2];
	(void)state;
	tn_array *a = vector(3, 5), *b = vector(7, 9), *weight = vector(1, 10);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, a));
	assert_ok(tn_tape_watch(tape, b));
	tn_array *y = tn_multiply(tn_add(tn_add(a, b), a), weight);
	assert_ok(tn_tape_backward(tape, tn_sum(y, TN_ALL_AXES, NULL, 0), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, a), ga, sizeof(ga)));
	assert_ok(tn_to_host(tn_tape_gradient(tape, b), gb, sizeof(gb)));
	tn_tape_end(tape);
	assert_true(ga[0] == 2 && ga[1] == 20);
	assert_true(gb[0] == 1 && gb[1] == 10);
}

static void a_gradient_that_the_caller_gave_is_not_written_over(void **state)
{
	float g[2];
	(void)state;
	tn_array *x = vector(3, 5), *given = vector(1, 10);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_ok(tn_tape_backward(tape, tn_square(tn_square(x)), given));
	tn_tape_end(tape);
	assert_ok(tn_to_host(given, g, sizeof(g)));
	assert_close(g[0], 1, 0);
	assert_close(g[1], 10, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_into_an_array_with_a_gradient_is_refused),
		cmocka_unit_test(a_second_tape_waits_for_the_end_of_the_first),
		cmocka_unit_test(the_gradient_of_a_square_is_twice_the_value),
		cmocka_unit_test(only_one_tape_records_at_a_time),
		cmocka_unit_test(what_nobody_watches_has_no_gradient),
		cmocka_unit_test(a_change_in_place_of_what_was_saved_is_refused),
		cmocka_unit_test(a_change_of_what_is_not_read_again_is_allowed),
		cmocka_unit_test(an_output_of_many_elements_needs_a_gradient_to_start_from),
		cmocka_unit_test(backward_runs_once),
		cmocka_unit_test(integers_have_no_gradient),
		cmocka_unit_test(gradients_go_where_they_are_wanted_and_add_up),
		cmocka_unit_test(a_tape_may_end_without_backward_and_arrays_go_on),
		cmocka_unit_test(intermediate_arrays_may_be_destroyed_before_backward),
		cmocka_unit_test(the_gradient_check_finds_a_wrong_gradient),
		cmocka_unit_test(the_gradient_check_takes_no_nan_and_no_half),
		cmocka_unit_test(a_sum_keeps_none_of_its_terms),
		cmocka_unit_test(a_product_keeps_what_its_gradients_read),
		cmocka_unit_test(a_relu_keeps_its_output),
		cmocka_unit_test(a_convolution_lets_go_of_its_input_first),
		cmocka_unit_test(backward_gives_memory_back_as_it_goes),
		cmocka_unit_test(what_got_no_gradient_is_let_go_too),
		cmocka_unit_test(gradients_that_share_memory_are_not_written_over),
		cmocka_unit_test(a_sum_of_gradients_does_not_change_its_terms),
		cmocka_unit_test(a_gradient_that_the_caller_gave_is_not_written_over),
	};
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
