/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Second derivatives: in double against central differences of first gradients, and in f32 on other
 * backends against these.
 */
#include "mock_fixture.h"
#include "second_checks.h"

static tn_context *open_backend(const char *backend)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	tn_context *context;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

/* Differences with step h err by h^2 f''' / 6, and by eps |f| / h from rounding:
 * 1e-12 + 1e-9 here. */
static void second_derivatives_are_right_in_double(void **state)
{
	const double h = 1e-6;
	(void)state;
	tn_context *context = open_backend("reference!");
	for (int r = 0; r < GRADIENT_ROWS; r++) {
		static struct gradient_trial t;
		if (gradient_rows[r].order == 1)
			continue;
		gradient_begin(&t, &gradient_rows[r], context, TN_F64);
		second_run(&t, 1);
		for (int i = 0; i < t.n; i++) {
			for (int64_t k = 0; k < t.size[i]; k++) {
				double x = t.x[i][k];
				t.x[i][k] = x + h;
				double above = second_run(&t, 0);
				t.x[i][k] = x - h;
				double difference = (above - second_run(&t, 0)) / (2 * h);
				t.x[i][k] = x;
				if (fabs(t.h[i][k] - difference) <= 1e-6 * (1 + fabs(difference)))
					continue;
				fail_msg("%s: input %d, element %d: differences give %.9g, the "
					 "tape %.9g",
					 t.row->name, i, (int)k, difference, t.h[i][k]);
			}
		}
	}
	tn_context_close(context);
}

static void other_backends_agree(void **state)
{
	static const char *const backends[] = {"reference!", "auto"};
	(void)state;
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		tn_context *context = open_backend(backends[i]);
		check_all_second(context);
		tn_context_close(context);
	}
}

static void the_mock_agrees(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	check_all_second(context);
	tn_context_close(context);
}

/* d^4/dx^4 of x^5 is 120 x. */
static void gradients_of_gradients_go_on(void **state)
{
	const struct tn_gradients_options o = {.struct_size = sizeof(o), .create_graph = 1};
	const double expected[] = {5 * 16, 20 * 8, 60 * 4, 120 * 2};
	(void)state;
	tn_context *context = open_backend("reference!");
	tn_array *x = tn_full(context, TN_F64, 0, NULL, 2), *y;
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	y = tn_multiply(tn_square(tn_square(x)), x);
	for (int i = 0; i < 4; i++) {
		double value;
		tn_array *g;
		assert_ok(tn_tape_gradients(tape, 1, &y, NULL, 1, &x, &g, &o));
		assert_ok(tn_item(g, &value));
		assert_close(value, expected[i], 1e-9);
		y = g;
	}
	tn_tape_end(tape);
	tn_context_close(context);
}

static void what_has_no_second_derivative_is_named(void **state)
{
	const struct tn_gradients_options o = {.struct_size = sizeof(o), .create_graph = 1};
	(void)state;
	tn_context *context = open_backend("auto");
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){4}), *g;
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_sum(tn_cumprod(x, 0), TN_ALL_AXES, NULL, 0);
	assert_status(tn_tape_gradients(tape, 1, &y, NULL, 1, &x, &g, &o), TN_UNSUPPORTED);
	assert_null(g);
	assert_contains(tn_error(context)->operation, "cumprod");
	tn_error_clear(context);
	/* The tape is as before: the first derivative exists. */
	assert_ok(tn_tape_gradients(tape, 1, &y, NULL, 1, &x, &g, NULL));
	assert_non_null(g);
	tn_tape_end(tape);
	tn_context_close(context);
}

/* A penalty on the gradient by x has gradients of the weights, in targets as always. */
static void a_penalty_trains_a_module(void **state)
{
	const struct tn_gradients_options o = {.struct_size = sizeof(o), .create_graph = 1};
	float penalties[2];
	(void)state;
	tn_context *context = open_backend("auto");
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, "a", tn_module_linear(context, 3, 8, NULL)));
	assert_ok(tn_module_sequential_add(net, "t", tn_module_tanh(context)));
	assert_ok(tn_module_sequential_add(net, "b", tn_module_linear(context, 8, 1, NULL)));
	assert_ok(tn_module_build(net));
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.1;
	tn_optimizer *sgd = tn_sgd(net, &options);
	tn_array *x = tn_random_normal(context, 2, (int64_t[]){16, 3}, 0, 1), *g;
	for (int round = 0; round < 30; round++) {
		assert_ok(tn_scope_begin(context));
		tn_module_zero_gradients(net);
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		tn_array *score = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
		assert_ok(tn_tape_gradients(tape, 1, &score, NULL, 1, &x, &g, &o));
		tn_array *norms = tn_sqrt(tn_sum(tn_square(g), 1, (int[]){1}, 0));
		tn_array *penalty =
			tn_mean(tn_square(tn_affine(norms, 1, -1)), TN_ALL_AXES, NULL, 0);
		assert_ok(tn_tape_backward(tape, penalty, NULL));
		tn_tape_end(tape);
		assert_ok(tn_to_host(penalty, &penalties[round > 0], sizeof(float)));
		assert_ok(tn_optimizer_step(sgd));
		tn_scope_end(context, NULL);
	}
	assert_true(penalties[1] < penalties[0] / 4);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
	tn_context_close(context);
}

static tn_array *exp_there(void *user, tn_array *const *x)
{
	return tn_to(tn_exp(x[0]), user);
}

/* exp(x) on one device, its cube on another; computed again or not.  The second derivative is
 * 9 exp(3x), and both derivatives are on the first device. */
static void second_derivatives_pass_between_devices(void **state)
{
	const struct tn_gradients_options o = {.struct_size = sizeof(o), .create_graph = 1};
	(void)state;
	tn_context *context = open_mock("");
	tn_device *home = tn_device_current(context), *other = NULL;
	for (size_t i = 0; !other || other == home; i++) {
		other = tn_context_device(context, i);
		assert_non_null(other);
	}
	double value;
	tn_array *x = tn_full(context, TN_F32, 1, (int64_t[]){1}, 0.5), *g, *h;
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *e = exp_there(other, &x), *y = tn_multiply(tn_square(e), e);
	assert_ptr_equal(tn_array_device(y), other);
	assert_ok(tn_tape_gradients(tape, 1, &y, NULL, 1, &x, &g, &o));
	assert_ptr_equal(tn_array_device(g), home);
	assert_ok(tn_tape_gradients(tape, 1, &g, NULL, 1, &x, &h, NULL));
	assert_ptr_equal(tn_array_device(h), home);
	tn_tape_end(tape);
	assert_ok(tn_item(h, &value));
	assert_close(value, 9 * exp(1.5), 1e-4);
	tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	e = tn_recompute(exp_there, other, 1, &x);
	assert_ok(tn_tape_backward(tape, tn_multiply(tn_square(e), e), NULL));
	g = tn_tape_gradient(tape, x);
	tn_tape_end(tape);
	assert_ptr_equal(tn_array_device(g), home);
	assert_ok(tn_item(g, &value));
	assert_close(value, 3 * exp(1.5), 1e-4);
	assert_ptr_equal(tn_device_current(context), home);
	tn_context_close(context);
}

/* A step with a penalty, replayed, gives the same bits as without a capture. */
static void a_captured_penalty_gives_the_same_bits(void **state)
{
	enum { STEPS = 4 };
	const struct tn_gradients_options o = {.struct_size = sizeof(o), .create_graph = 1};
	float losses[2][STEPS];
	(void)state;
	tn_context *context = open_mock("");
	for (int captures = 0; captures < 2; captures++) {
		tn_graph *graph = NULL;
		tn_random_set_state(context, (struct tn_random_state){4, 1});
		tn_module *net = tn_module_sequential(context);
		assert_ok(
			tn_module_sequential_add(net, "a", tn_module_linear(context, 3, 8, NULL)));
		assert_ok(tn_module_sequential_add(net, "t", tn_module_gelu(context, 0)));
		assert_ok(
			tn_module_sequential_add(net, "b", tn_module_linear(context, 8, 1, NULL)));
		assert_ok(tn_module_build(net));
		struct tn_sgd_options options = tn_sgd_defaults();
		options.lr = 0.1;
		tn_optimizer *sgd = tn_sgd(net, &options);
		tn_array *x = tn_random_normal(context, 2, (int64_t[]){16, 3}, 0, 1), *g;
		tn_array *result = tn_zeros(context, TN_F32, 0, NULL);
		for (int i = 0; i < STEPS; i++) {
			int begins = captures && i == 1;
			if (begins)
				assert_ok(tn_capture_begin(context));
			if (!graph) {
				assert_ok(tn_scope_begin(context));
				tn_module_zero_gradients(net);
				tn_tape *tape = tn_tape_begin(context);
				assert_ok(tn_tape_watch(tape, x));
				tn_array *y = tn_module_forward(net, x);
				tn_array *score = tn_sum(y, TN_ALL_AXES, NULL, 0);
				assert_ok(tn_tape_gradients(tape, 1, &score, NULL, 1, &x, &g, &o));
				tn_array *loss = tn_mean(tn_square(g), TN_ALL_AXES, NULL, 0);
				assert_ok(tn_tape_backward(tape, loss, NULL));
				tn_tape_end(tape);
				assert_ok(tn_assign(result, loss));
				assert_ok(tn_optimizer_step(sgd));
				tn_scope_end(context, NULL);
			}
			if (begins)
				assert_ok(tn_capture_end(context, &graph));
			if (graph)
				assert_ok(tn_graph_replay(graph));
			assert_ok(tn_to_host(result, &losses[captures][i], sizeof(float)));
		}
		assert_true(losses[captures][STEPS - 1] < losses[captures][0]);
		tn_graph_destroy(graph);
		tn_optimizer_destroy(sgd);
		tn_module_destroy(net);
	}
	assert_memory_equal(losses[0], losses[1], sizeof(losses[0]));
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(second_derivatives_are_right_in_double),
		cmocka_unit_test(other_backends_agree),
		cmocka_unit_test(gradients_of_gradients_go_on),
		cmocka_unit_test(what_has_no_second_derivative_is_named),
		cmocka_unit_test(a_penalty_trains_a_module),
		/* Last: these change the environment. */
		cmocka_unit_test(the_mock_agrees),
		cmocka_unit_test(a_captured_penalty_gives_the_same_bits),
		cmocka_unit_test(second_derivatives_pass_between_devices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
