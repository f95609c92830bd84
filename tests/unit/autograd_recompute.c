/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Computing again in backward: the same bits, less memory.  And anomaly mode.
 */
#include "mock_fixture.h"

#include "capture_step.h"

static tn_context *open_backend(const char *backend)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	tn_context *context;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

/* ---- Modules ---------------------------------------------------------------------------------*/

enum { BLOCKS = 12, CHANNELS = 8, PIXELS = 24, BATCH = 4, MOST = 8192 };

struct outcome {
	float loss;
	size_t n;
	float numbers[MOST]; /* gradients and buffers */
	uint64_t peak, stream;
};

/* conv, batch norm, activation, dropout */
static tn_module *make_block(tn_context *context)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.padding[0] = window.padding[1] = 1;
	struct tn_module_conv2d_options conv = tn_module_conv2d_defaults();
	conv.window = &window;
	tn_module *block = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(
		block, "conv", tn_module_conv2d(context, CHANNELS, CHANNELS, 3, 3, &conv)));
	assert_ok(tn_module_sequential_add(block, "bn",
					   tn_module_batch_norm2d(context, CHANNELS, NULL)));
	assert_ok(tn_module_sequential_add(block, "act", tn_module_gelu(context, 0)));
	assert_ok(tn_module_sequential_add(block, "dropout", tn_module_dropout(context, 0.2)));
	return block;
}

static void add_numbers(struct outcome *outcome, const tn_array *array)
{
	size_t n = (size_t)tn_array_size(array);
	assert_true(outcome->n + n <= MOST);
	assert_ok(tn_to_host(tn_astype(array, TN_F32), outcome->numbers + outcome->n,
			     n * sizeof(float)));
	outcome->n += n;
}

/* One step of the network; recomputed: 0 nothing, 1 each block, 2 the whole and each block. */
static void run_network(tn_context *context, int recomputed, struct outcome *outcome)
{
	char name[16];
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	memset(outcome, 0, sizeof(*outcome));
	tn_random_set_state(context, (struct tn_random_state){3, 1});
	assert_ok(tn_scope_begin(context));
	tn_module *net = tn_module_sequential(context);
	for (int i = 0; i < BLOCKS; i++) {
		tn_module *block = make_block(context);
		tn_module_set_recompute(block, recomputed > 0);
		snprintf(name, sizeof(name), "b%d", i);
		assert_ok(tn_module_sequential_add(net, name, block));
	}
	tn_module_set_recompute(net, recomputed > 1);
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	tn_array *x =
		tn_random_normal(context, 4, (int64_t[]){BATCH, CHANNELS, PIXELS, PIXELS}, 0, 1);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_module_forward(net, x);
	tn_array *loss = tn_mean(tn_square(y), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	add_numbers(outcome, tn_sum(tn_tape_gradient(tape, x), 3, (int[]){0, 1, 2}, 0));
	tn_tape_end(tape);
	for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(net, i, &view));
		assert_non_null(view.gradient);
		add_numbers(outcome, view.gradient);
	}
	for (size_t i = 0; i < tn_module_buffer_count(net); i++) {
		struct tn_buffer_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_buffer_at(net, i, &view));
		add_numbers(outcome, view.value);
	}
	assert_ok(tn_to_host(loss, &outcome->loss, sizeof(outcome->loss)));
	tn_device_get_memory_use(tn_device_current(context), &use);
	outcome->peak = use.peak;
	outcome->stream = tn_random_get_state(context).stream;
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
}

static void check_network(tn_context *(*open)(const char *), const char *backend)
{
	static struct outcome outcomes[3];
	for (int recomputed = 0; recomputed < 3; recomputed++) {
		tn_context *context = open(backend);
		run_network(context, recomputed, &outcomes[recomputed]);
		tn_context_close(context);
	}
	for (int i = 1; i < 3; i++) {
		assert_true(outcomes[i].loss == outcomes[0].loss);
		assert_int_equal(outcomes[i].n, outcomes[0].n);
		assert_memory_equal(outcomes[i].numbers, outcomes[0].numbers,
				    outcomes[0].n * sizeof(float));
		assert_int_equal(outcomes[i].stream, outcomes[0].stream);
	}
	/* A block saves what its convolution, its norm and its activation read; a block that is
	 * computed again what its convolution reads.  Three blocks' worth are for temporaries. */
	const uint64_t picture = sizeof(float) * BATCH * CHANNELS * PIXELS * PIXELS;
	assert_true(outcomes[1].peak + (BLOCKS - 3) * 2 * picture <= outcomes[0].peak);
	print_message("%s: peak %llu, recomputed %llu\n", backend,
		      (unsigned long long)outcomes[0].peak, (unsigned long long)outcomes[1].peak);
}

static void blocks_that_are_computed_again_give_the_same_bits_in_less_memory(void **state)
{
	(void)state;
	check_network(open_backend, "reference!");
	check_network(open_backend, "auto");
}

static tn_context *open_mock_of(const char *faults)
{
	return open_mock(faults);
}

static void the_mock_gives_the_same_bits_too(void **state)
{
	(void)state;
	check_network(open_mock_of, "");
}

/* Captured steps draw a new mask with each replay, in forward and again in backward. */
static void a_captured_step_computes_again_too(void **state)
{
	enum { STEPS = 5 };
	float losses[3][STEPS], weights[3][STEP_MOST_WEIGHTS];
	size_t n = 0;
	(void)state;
	tn_context *context = open_mock("");
	for (int way = 0; way < 3; way++) {
		struct training t = make_training(context, 1);
		tn_graph *graph = NULL;
		tn_module_set_recompute(t.module, way > 0);
		for (int i = 0; i < STEPS; i++) {
			set_batch(&t, i);
			if (way == 2 && i == 1) {
				assert_ok(tn_capture_begin(context));
				assert_ok(step(&t));
				assert_ok(tn_capture_end(context, &graph));
			}
			assert_ok(graph ? tn_graph_replay(graph) : step(&t));
			losses[way][i] = loss_of(&t);
		}
		n = weights_of(&t, weights[way]);
		end_training(&t);
		tn_graph_destroy(graph);
	}
	for (int way = 1; way < 3; way++) {
		assert_memory_equal(losses[way], losses[0], sizeof(losses[0]));
		assert_memory_equal(weights[way], weights[0], n * sizeof(float));
	}
	tn_context_close(context);
}

/* ---- Functions -------------------------------------------------------------------------------*/

struct user {
	tn_array *w;
	int calls, changes;
};

static tn_array *times_w(void *user, tn_array *const *inputs)
{
	struct user *u = user;
	tn_array *y = tn_multiply(tn_exp(inputs[0]), u->w);
	if (u->calls++ && u->changes)
		y = u->changes == 1 ? tn_sum(y, TN_ALL_AXES, NULL, 0)
				    : tn_multiply(y, tn_random_uniform(tn_array_context(y), 1,
								       (int64_t[]){2}, 0, 1));
	return inputs[1] ? tn_add(y, inputs[1]) : y;
}

static void a_function_gives_gradients_to_all_that_it_reads(void **state)
{
	(void)state;
	tn_context *context = open_backend("auto");
	float found[2];
	tn_array *x = tn_full(context, TN_F32, 1, (int64_t[]){2}, 2);
	struct user user = {.w = tn_full(context, TN_F32, 1, (int64_t[]){2}, 3)};
	tn_array *b = tn_zeros(context, TN_F32, 1, (int64_t[]){2}), *g[2];
	for (int chosen = 0; chosen < 2; chosen++) {
		tn_tape *tape = tn_tape_begin(context);
		/* x has no gradient: w alone does. */
		assert_ok(tn_tape_watch(tape, user.w));
		assert_ok(tn_tape_watch(tape, b));
		tn_array *y = tn_recompute(times_w, &user, 2, (tn_array *[]){x, b});
		tn_array *loss = tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0);
		if (chosen) {
			struct tn_gradients_options options = tn_gradients_defaults();
			options.retain_graph = 1;
			assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 2,
						    (tn_array *[]){user.w, b}, g, &options));
			/* Twice from one tape. */
			assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 2,
						    (tn_array *[]){user.w, b}, g, NULL));
		} else {
			assert_ok(tn_tape_backward(tape, loss, NULL));
			g[0] = tn_tape_gradient(tape, user.w);
			g[1] = tn_tape_gradient(tape, b);
		}
		tn_tape_end(tape);
		double y_value = 3 * exp(2.0);
		assert_ok(tn_to_host(g[0], found, sizeof(found)));
		assert_close(found[1], 2 * y_value * exp(2.0), 1e-2);
		assert_ok(tn_to_host(g[1], found, sizeof(found)));
		assert_close(found[0], 2 * y_value, 1e-4);
	}
	assert_int_equal(user.calls, 5);
	/* Without a tape it is called once. */
	assert_non_null(tn_recompute(times_w, &user, 2, (tn_array *[]){x, b}));
	assert_int_equal(user.calls, 6);
	tn_context_close(context);
}

static tn_array *scaled(void *user, tn_array *const *inputs)
{
	tn_context *context = user;
	tn_no_grad_begin(context);
	tn_array *scale = tn_square(inputs[0]); /* a constant */
	tn_no_grad_end(context);
	return tn_multiply(inputs[0], scale);
}

/* Backward in a scope without gradients runs what has such scopes itself, and leaves the outer one
 * as it was. */
static void scopes_without_gradients_nest_with_backward(void **state)
{
	(void)state;
	tn_context *context = open_backend("auto");
	tn_array *x = tn_full(context, TN_F32, 0, NULL, 3), *g;
	double value;
	for (int keeps = 0; keeps < 2; keeps++) {
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		tn_array *y = tn_recompute(scaled, context, 1, &x);
		assert_ok(tn_no_grad_begin(context));
		struct tn_gradients_options options = tn_gradients_defaults();
		options.retain_graph = keeps;
		assert_ok(tn_tape_gradients(tape, 1, &y, NULL, 1, &x, &g, &options));
		assert_ok(tn_item(g, &value));
		assert_close(value, 9, 1e-5);
		tn_array *constant = tn_square(x);
		assert_ok(tn_no_grad_end(context));
		tn_array *after = tn_multiply(x, constant);
		/* The tape goes on recording only where it was kept. */
		assert_status(tn_tape_backward(tape, after, NULL), keeps ? TN_OK : TN_STATE);
		tn_error_clear(context);
		tn_tape_end(tape);
	}
	assert_status(tn_no_grad_end(context), TN_STATE);
	tn_context_close(context);
}

static void what_cannot_be_computed_again_is_an_error(void **state)
{
	static const char *const parts[] = {NULL, "another shape", "random"};
	(void)state;
	tn_context *context = open_backend("auto");
	for (int changes = 1; changes < 3; changes++) {
		struct user user = {.w = tn_full(context, TN_F32, 1, (int64_t[]){2}, 3),
				    .changes = changes};
		tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){2});
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		tn_array *b = tn_zeros(context, TN_F32, 0, NULL);
		tn_array *y = tn_recompute(times_w, &user, 2, (tn_array *[]){x, b});
		tn_array *loss = tn_sum(y, TN_ALL_AXES, NULL, 0);
		assert_status(tn_tape_backward(tape, loss, NULL), TN_STATE);
		assert_kept(context, TN_STATE, parts[changes]);
		tn_tape_end(tape);
	}
	struct user user = {.w = tn_ones(context, TN_F32, 1, (int64_t[]){2})};
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){2}), *many[TN_NODE_LIMIT + 1];
	for (int i = 0; i <= TN_NODE_LIMIT; i++)
		many[i] = x;
	assert_null(tn_recompute(times_w, &user, TN_NODE_LIMIT + 1, many));
	assert_kept(context, TN_LIMIT, "17 inputs");
	assert_null(tn_recompute(times_w, &user, 0, many));
	assert_null(tn_recompute(NULL, &user, 1, many));
	assert_kept(context, TN_INVALID_ARGUMENT, "f is NULL");
	many[0] = NULL;
	assert_null(tn_recompute(times_w, &user, 1, many));
	/* What is changed in place before backward is found. */
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, user.w));
	tn_array *y = tn_recompute(times_w, &user, 2, (tn_array *[]){x, x});
	tn_array *loss = tn_sum(y, TN_ALL_AXES, NULL, 0);
	assert_ok(tn_fill(x, 7));
	assert_status(tn_tape_backward(tape, loss, NULL), TN_MODIFIED);
	assert_kept(context, TN_MODIFIED, "recompute");
	tn_tape_end(tape);
	tn_context_close(context);
}

/* ---- Anomaly mode ----------------------------------------------------------------------------*/

static void anomalies_are_named(tn_context *context)
{
	tn_array *x = tn_zeros(context, TN_F32, 1, (int64_t[]){3});
	for (int on = 0; on < 2; on++) {
		assert_ok(tn_anomaly_mode(context, on));
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		/* Forward: log 0. */
		tn_array *y = tn_log(tn_exp(x));
		assert_non_null(y);
		y = tn_log(x);
		if (on) {
			assert_null(y);
			assert_string_equal(tn_error(context)->operation, "log");
			assert_kept(context, TN_NOT_FINITE, "forward, step 1: output 0");
		}
		tn_tape_end(tape);
		/* Backward: sqrt at 0, whose value is 0. */
		tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		y = tn_sum(tn_exp(tn_sqrt(x)), TN_ALL_AXES, NULL, 0);
		assert_status(tn_tape_backward(tape, y, NULL), on ? TN_NOT_FINITE : TN_OK);
		if (on) {
			assert_string_equal(tn_error(context)->operation, "sqrt");
			assert_kept(context, TN_NOT_FINITE,
				    "backward, step 2: the gradient of input 0");
		}
		tn_tape_end(tape);
	}
	/* What is finite passes, complex and half too. */
	tn_array *z = tn_complex(tn_ones(context, TN_F32, 1, (int64_t[]){3}), x);
	tn_array *h = tn_full(context, TN_F16, 1, (int64_t[]){3}, 200);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, z));
	assert_ok(tn_tape_watch(tape, h));
	assert_non_null(tn_multiply(z, z));
	assert_non_null(tn_multiply(h, h));
	assert_null(tn_log(tn_imag(z)));
	assert_kept(context, TN_NOT_FINITE, "forward");
	tn_array *imaginary = tn_complex(x, tn_full(context, TN_F32, 1, (int64_t[]){3}, 3e38));
	assert_null(tn_add(imaginary, tn_add(imaginary, z)));
	assert_kept(context, TN_NOT_FINITE, "forward");
	assert_null(tn_multiply(tn_multiply(h, h), h)); /* above 65504 */
	assert_kept(context, TN_NOT_FINITE, "forward");
	tn_tape_end(tape);
	assert_ok(tn_anomaly_mode(context, 0));
}

static void the_first_number_that_is_not_finite_is_named(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference!");
	anomalies_are_named(context);
	tn_context_close(context);
	context = open_backend("auto");
	anomalies_are_named(context);
	tn_context_close(context);
	assert_status(tn_anomaly_mode(NULL, 1), TN_INVALID_ARGUMENT);
}

static void the_mock_names_it_too(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	anomalies_are_named(context);
	tn_context_close(context);
}

/* The weights of one layer are NaN, or so large that a gradient overflows. */
static void a_module_is_named_by_its_path(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_context *context = open_backend("auto");
	for (int recomputed = 0; recomputed < 2; recomputed++) {
		tn_module *net = tn_module_sequential(context),
			  *block = tn_module_sequential(context);
		assert_ok(tn_module_sequential_add(net, "first",
						   tn_module_linear(context, 3, 3, NULL)));
		assert_ok(tn_module_sequential_add(block, "fc",
						   tn_module_linear(context, 3, 3, NULL)));
		assert_ok(tn_module_sequential_add(block, "act", tn_module_tanh(context)));
		tn_module_set_recompute(block, recomputed);
		assert_ok(tn_module_sequential_add(net, "block", block));
		assert_ok(tn_module_build(net));
		assert_ok(tn_anomaly_mode(context, 1));
		tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){2, 3});
		assert_ok(tn_module_parameter(net, "block.fc.bias", &view));
		assert_ok(tn_fill(view.value, NAN));
		tn_tape *tape = tn_tape_begin(context);
		assert_null(tn_module_forward(net, x));
		assert_kept(context, TN_NOT_FINITE, "forward in block.fc, step 1: output");
		tn_tape_end(tape);
		assert_ok(tn_fill(view.value, 0));
		assert_ok(tn_module_parameter(net, "block.fc.weight", &view));
		assert_ok(tn_fill(view.value, 1e-3));
		tape = tn_tape_begin(context);
		tn_array *y = tn_module_forward(net, x);
		assert_non_null(y);
		assert_status(
			tn_tape_backward(tape, y,
					 tn_full(context, TN_F32, 2, (int64_t[]){2, 3}, 3e38)),
			TN_NOT_FINITE);
		assert_kept(context, TN_NOT_FINITE, "backward in block.fc, step 2: the gradient");
		tn_tape_end(tape);
		assert_ok(tn_anomaly_mode(context, 0));
		tn_module_destroy(net);
	}
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_that_are_computed_again_give_the_same_bits_in_less_memory),
		cmocka_unit_test(a_function_gives_gradients_to_all_that_it_reads),
		cmocka_unit_test(scopes_without_gradients_nest_with_backward),
		cmocka_unit_test(what_cannot_be_computed_again_is_an_error),
		cmocka_unit_test(the_first_number_that_is_not_finite_is_named),
		cmocka_unit_test(a_module_is_named_by_its_path),
		/* Last: these change the environment. */
		cmocka_unit_test(the_mock_gives_the_same_bits_too),
		cmocka_unit_test(a_captured_step_computes_again_too),
		cmocka_unit_test(the_mock_names_it_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
