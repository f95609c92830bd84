/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Forwards of several inputs: computed again in backward, hooks, and the places of anomalies.
 */
#include "nn_backends.h"

enum { N = 2, LENGTH = 3, WIDTH = 4, MOST = 1024 };

/* What a step gave: results, and the gradients of inputs and parameters. */
struct outcome {
	size_t n, n_nodes;
	float numbers[MOST];
};

static void add(struct outcome *outcome, const tn_array *array)
{
	size_t n = (size_t)tn_array_size(array);
	assert_non_null(array);
	assert_true(outcome->n + n <= MOST);
	assert_ok(tn_to_host(array, outcome->numbers + outcome->n, n * sizeof(float)));
	outcome->n += n;
}

static void add_gradients(struct outcome *outcome, const tn_module *module)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	for (size_t i = 0; !tn_module_parameter_at(module, i, &view); i++)
		add(outcome, view.gradient);
}

static tn_array *random_array(tn_context *context, int64_t a, int64_t b, int64_t c)
{
	return tn_random_normal(context, 3, (const int64_t[]){a, b, c}, 0, 1);
}

static void count_call(void *user, tn_module *module, const tn_array *x, const tn_array *y)
{
	(void)module;
	(void)x;
	(void)y;
	++*(int *)user;
}

static void count_gradient(void *user, tn_module *module, const tn_array *dy)
{
	(void)module;
	(void)dy;
	++*(int *)user;
}

struct hooks {
	int forwards, backwards;
};

static void set_hooks(tn_module *module, struct hooks *hooks)
{
	*hooks = (struct hooks){0};
	assert_ok(tn_module_set_forward_hook(module, count_call, &hooks->forwards));
	assert_ok(tn_module_set_backward_hook(module, count_gradient, &hooks->backwards));
}

/* inputs: 1 self-attention, 2 of a pair, 3 of three arrays, with dropout. */
static void attend(tn_context *context, int inputs, int recomputed, struct outcome *outcome)
{
	struct hooks hooks;
	*outcome = (struct outcome){0};
	tn_random_set_state(context, (struct tn_random_state){5, 1});
	assert_ok(tn_scope_begin(context));
	struct tn_module_attention_options attention = tn_module_attention_defaults();
	attention.dropout = 0.3;
	tn_module *module = tn_module_multihead_attention(context, WIDTH, 2, &attention);
	assert_ok(tn_module_build(module));
	tn_module_set_training(module, 1);
	tn_module_set_recompute(module, recomputed);
	set_hooks(module, &hooks);
	tn_array *q = random_array(context, N, LENGTH, WIDTH);
	tn_array *k = inputs > 1 ? random_array(context, N, LENGTH, WIDTH) : q;
	tn_array *v = inputs > 2 ? random_array(context, N, LENGTH, WIDTH) : k;
	tn_array *mask = random_array(context, 1, LENGTH, LENGTH);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *all[] = {q, k, v, mask};
	for (int i = 0; i < 4; i++)
		assert_ok(tn_tape_watch(tape, all[i]));
	tn_array *y = tn_module_attention_forward(module, q, k, v, mask);
	assert_non_null(y);
	assert_ok(tn_tape_backward(tape, tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
	add(outcome, y);
	for (int i = 0; i < 4; i++)
		add(outcome, tn_tape_gradient(tape, all[i]));
	add_gradients(outcome, module);
	tn_tape_end(tape);
	assert_int_equal(hooks.forwards, 1);
	assert_int_equal(hooks.backwards, 1);
	tn_module_destroy(module);
	tn_scope_end(context, NULL);
}

static void attention_is_computed_again_with_the_same_bits(void **state)
{
	static const char *const backends[] = {"reference!", "auto", "mock"};
	(void)state;
	for (int b = 0; b < 3; b++) {
		tn_context *context = open_backend(backends[b]);
		for (int inputs = 1; inputs <= 3; inputs++) {
			struct outcome plain, again;
			attend(context, inputs, 0, &plain);
			attend(context, inputs, 1, &again);
			assert_int_equal(again.n, plain.n);
			assert_memory_equal(again.numbers, plain.numbers, plain.n * sizeof(float));
		}
		assert_null(tn_error(context));
		tn_context_close(context);
	}
}

/* states: 0 none, 1 h_n, 2 both. */
static void run_lstm(tn_context *context, int states, int recomputed, struct outcome *outcome)
{
	struct hooks hooks;
	*outcome = (struct outcome){0};
	tn_random_set_state(context, (struct tn_random_state){6, 1});
	assert_ok(tn_scope_begin(context));
	struct tn_module_recurrent_options recurrent = tn_module_recurrent_defaults();
	recurrent.n_layers = 2;
	recurrent.bidirectional = 1;
	recurrent.dropout = 0.2;
	tn_module *module = tn_module_lstm(context, WIDTH, 3, &recurrent);
	assert_ok(tn_module_build(module));
	tn_module_set_training(module, 1);
	tn_module_set_recompute(module, recomputed);
	set_hooks(module, &hooks);
	tn_array *x = random_array(context, N, LENGTH, WIDTH), *h_n = NULL, *c_n = NULL;
	tn_array *h0 = random_array(context, 4, N, 3), *c0 = random_array(context, 4, N, 3);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *all[] = {x, h0, c0};
	for (int i = 0; i < 3; i++)
		assert_ok(tn_tape_watch(tape, all[i]));
	tn_array *y = tn_module_recurrent_forward(module, x, h0, c0, states > 0 ? &h_n : NULL,
						  states > 1 ? &c_n : NULL);
	assert_non_null(y);
	tn_array *loss = tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0);
	if (h_n)
		loss = tn_add(loss, tn_sum(tn_exp(h_n), TN_ALL_AXES, NULL, 0));
	if (c_n)
		loss = tn_add(loss, tn_sum(tn_exp(c_n), TN_ALL_AXES, NULL, 0));
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_array *const results[] = {y, h_n, c_n};
	for (int i = 0; i <= states; i++) {
		assert_int_equal(tn_array_rank(results[i]), 3);
		add(outcome, results[i]);
	}
	for (int i = 0; i < 3; i++)
		add(outcome, tn_tape_gradient(tape, all[i]));
	add_gradients(outcome, module);
	tn_tape_end(tape);
	assert_int_equal(hooks.forwards, 1);
	assert_int_equal(hooks.backwards, 1);
	tn_module_destroy(module);
	tn_scope_end(context, NULL);
}

static void recurrent_modules_are_computed_again_with_their_states(void **state)
{
	static const char *const backends[] = {"reference!", "auto", "mock"};
	(void)state;
	for (int b = 0; b < 3; b++) {
		tn_context *context = open_backend(backends[b]);
		for (int states = 0; states <= 2; states++) {
			struct outcome plain, again;
			run_lstm(context, states, 0, &plain);
			run_lstm(context, states, 1, &again);
			assert_int_equal(again.n, plain.n);
			assert_memory_equal(again.numbers, plain.numbers, plain.n * sizeof(float));
		}
		assert_null(tn_error(context));
		tn_context_close(context);
	}
}

static void their_operations_have_their_place_in_anomaly_mode(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_context *context = open_backend("auto");
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, "mha",
					   tn_module_multihead_attention(context, WIDTH, 2, NULL)));
	assert_ok(tn_module_sequential_add(net, "lstm", tn_module_lstm(context, WIDTH, 3, NULL)));
	assert_ok(tn_module_build(net));
	tn_module *mha = tn_module_child(net, "mha"), *lstm = tn_module_child(net, "lstm");
	tn_array *x = tn_ones(context, TN_F32, 3, (const int64_t[]){N, LENGTH, WIDTH}), *h_n;
	assert_ok(tn_anomaly_mode(context, 1));
	for (int recomputed = 0; recomputed < 2; recomputed++) {
		tn_module_set_recompute(mha, recomputed);
		tn_module_set_recompute(lstm, recomputed);
		assert_ok(tn_module_parameter(net, "mha.in_proj_bias", &view));
		assert_ok(tn_fill(view.value, NAN));
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		assert_null(tn_module_attention_forward(mha, x, x, x, NULL));
		assert_kept(context, TN_NOT_FINITE, "forward in mha");
		assert_ok(tn_module_parameter(net, "lstm.bias_ih_l0", &view));
		assert_ok(tn_no_grad_begin(context));
		assert_ok(tn_fill(view.value, NAN));
		assert_ok(tn_no_grad_end(context));
		assert_null(tn_module_recurrent_forward(lstm, x, NULL, NULL, NULL, NULL));
		assert_kept(context, TN_NOT_FINITE, "forward in lstm");
		assert_null(tn_module_recurrent_forward(lstm, x, NULL, NULL, &h_n, NULL));
		assert_null(h_n);
		assert_kept(context, TN_NOT_FINITE, "forward in lstm");
		tn_tape_end(tape);
	}
	tn_module_destroy(net);
	tn_context_close(context);
}

static uint64_t runs_of(const tn_context *context, const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++) {
		if (!strcmp(row.operation, operation))
			return row.native + row.lent + row.composed + row.host;
	}
	return 0;
}

/* The gradients of query, key and value are parts of one array: nothing is filled with zeros, and
 * nothing added up. */
static void the_three_gradients_of_attention_are_one_array(void **state)
{
	(void)state;
	tn_context *context = open_backend("auto");
	struct tn_module_attention_options attention = tn_module_attention_defaults();
	attention.no_bias = 1;
	tn_module *module = tn_module_multihead_attention(context, WIDTH, 2, &attention);
	assert_ok(tn_module_build(module));
	tn_array *x = random_array(context, N, LENGTH, WIDTH);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_module_forward(module, x);
	tn_ledger_reset(context);
	assert_ok(tn_tape_backward(tape, y, y));
	assert_int_equal(runs_of(context, "fill"), 0);
	assert_int_equal(runs_of(context, "add"), 0);
	assert_true(runs_of(context, "copy") <= 3 + 1);
	tn_tape_end(tape);
	tn_module_destroy(module);
	tn_context_close(context);
}

/* sum of exp(y)^2 with a gradient penalty. */
static tn_array *penalty(void *user, tn_array *const *inputs)
{
	tn_module *module = user;
	tn_array *y = tn_module_attention_forward(module, inputs[0], inputs[1], inputs[1], NULL);
	return tn_sum(tn_multiply(tn_exp(y), y), TN_ALL_AXES, NULL, 0);
}

static void attention_passes_second_derivatives(void **state)
{
	(void)state;
	tn_context *context = open_backend("auto");
	tn_module *module = tn_module_multihead_attention(context, WIDTH, 2, NULL);
	assert_ok(tn_module_build(module));
	tn_array *inputs[] = {random_array(context, 1, LENGTH, WIDTH),
			      random_array(context, 1, 2, WIDTH)},
		 *g[2], *h, *moved[2];
	/* The gradient's change along a direction, by differences and by the tape. */
	double steps[2], exact = 0;
	for (int way = 0; way < 3; way++) {
		double shift = way == 0 ? 1e-2 : way == 1 ? -1e-2 : 0;
		tn_array *x = tn_affine(inputs[0], 1.0, shift);
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		assert_ok(tn_tape_watch(tape, inputs[1]));
		tn_array *f = penalty(module, (tn_array *[]){x, inputs[1]});
		struct tn_gradients_options options = tn_gradients_defaults();
		options.create_graph = 1;
		assert_ok(tn_tape_gradients(tape, 1, &f, NULL, 2, (tn_array *[]){x, inputs[1]}, g,
					    &options));
		moved[0] = tn_sum(tn_square(g[1]), TN_ALL_AXES, NULL, 0);
		if (way < 2) {
			assert_ok(tn_item(moved[0], &steps[way]));
		} else {
			assert_ok(tn_tape_gradients(tape, 1, moved, NULL, 1, &x, &h, NULL));
			assert_ok(tn_item(tn_sum(h, TN_ALL_AXES, NULL, 0), &exact));
		}
		tn_tape_end(tape);
	}
	assert_close((steps[0] - steps[1]) / 2e-2, exact, 0.02 * (1 + fabs(exact)));
	tn_module_destroy(module);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attention_is_computed_again_with_the_same_bits),
		cmocka_unit_test(recurrent_modules_are_computed_again_with_their_states),
		cmocka_unit_test(their_operations_have_their_place_in_anomaly_mode),
		cmocka_unit_test(the_three_gradients_of_attention_are_one_array),
		cmocka_unit_test(attention_passes_second_derivatives),
	};
	keep_plugin_path();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(nn_plugin_path);
	return failed;
}
