/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What is not recorded, nodes of the application, and gradients of several outputs and of chosen
 * arrays; on the built-in backend, the preferred one and the mock.
 */
#include "mock_fixture.h"
#include "test_context.h"

static int open_backend(const char *backend)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	return tn_context_open(&options, &context, NULL);
}

static int setup_reference(void **state)
{
	(void)state;
	return open_backend("reference!");
}

static int setup_preferred(void **state)
{
	(void)state;
	return open_backend("auto");
}

static int setup_mock(void **state)
{
	(void)state;
	context = open_mock("");
	return 0;
}

static tn_array *vector(float a, float b)
{
	return tn_from_host(context, TN_F32, 1, (int64_t[]){2}, (float[]){a, b});
}

static tn_array *sum(const tn_array *a)
{
	return tn_sum(a, TN_ALL_AXES, NULL, 0);
}

static void expect(const tn_array *a, float first, float second)
{
	float found[2];
	assert_ok(tn_to_host(a, found, sizeof(found)));
	assert_close(found[0], first, 1e-5);
	assert_close(found[1], second, 1e-5);
}

static tn_tape *watch(tn_array *x)
{
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	return tape;
}

/* ---- What is not recorded --------------------------------------------------------------------*/

static void without_gradients_results_are_constants(void **state)
{
	(void)state;
	tn_array *x = vector(3, 5);
	tn_tape *tape = watch(x);
	assert_ok(tn_no_grad_begin(context));
	tn_array *scale = tn_square(x);
	assert_ok(tn_no_grad_begin(context));
	assert_ok(tn_no_grad_end(context));
	tn_array *more = tn_square(scale); /* the outer scope is still open */
	assert_ok(tn_no_grad_end(context));
	assert_status(tn_tape_backward(tape, sum(more), NULL), TN_STATE);
	assert_kept(context, TN_STATE, "watched");
	assert_ok(tn_tape_backward(tape, sum(tn_multiply(x, scale)), NULL));
	expect(tn_tape_gradient(tape, x), 9, 25);
	tn_tape_end(tape);
}

static void a_scope_without_gradients_ends_once(void **state)
{
	(void)state;
	assert_status(tn_no_grad_end(context), TN_STATE);
	assert_kept(context, TN_STATE, "begun");
	assert_status(tn_no_grad_begin(NULL), TN_INVALID_ARGUMENT);
	assert_status(tn_no_grad_end(NULL), TN_INVALID_ARGUMENT);
	/* While an error is kept, scopes stay balanced. */
	assert_null(tn_reshape(vector(1, 2), 1, (int64_t[]){3}));
	assert_ok(tn_no_grad_begin(context));
	assert_ok(tn_no_grad_end(context));
	tn_error_clear(context);
}

static void a_tape_may_begin_and_end_in_a_scope_without_gradients(void **state)
{
	(void)state;
	tn_array *x = vector(3, 5);
	assert_ok(tn_no_grad_begin(context));
	tn_tape *tape = watch(x);
	tn_array *constant = tn_square(x);
	assert_ok(tn_no_grad_end(context));
	assert_ok(tn_tape_backward(tape, sum(tn_multiply(x, constant)), NULL));
	expect(tn_tape_gradient(tape, x), 9, 25);
	tn_tape_end(tape);
	tape = watch(x);
	assert_ok(tn_no_grad_begin(context));
	tn_tape_end(tape);
	assert_ok(tn_no_grad_end(context));
	assert_non_null(tn_square(x));
	/* Both; nothing records afterwards, which a step would refuse. */
	tn_module *net = tn_module_linear(context, 2, 1, NULL);
	assert_ok(tn_module_build(net));
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 1;
	tn_optimizer *sgd = tn_sgd(net, &options);
	assert_ok(tn_no_grad_begin(context));
	tn_tape_end(watch(x));
	assert_ok(tn_no_grad_end(context));
	assert_ok(tn_optimizer_step(sgd));
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
	tape = watch(x);
	assert_ok(tn_tape_watch(tape, x)); /* twice is once */
	tn_array *square = tn_square(x);
	assert_ok(tn_tape_watch(tape, x));
	assert_ok(tn_tape_backward(tape, sum(square), NULL));
	expect(tn_tape_gradient(tape, x), 6, 10);
	tn_tape_end(tape);
}

static void arrays_with_a_gradient_may_be_written_where_nothing_is_recorded(void **state)
{
	(void)state;
	tn_array *x = vector(3, 5);
	tn_tape *tape = watch(x);
	tn_array *y = tn_square(x), *loss = sum(y);
	assert_ok(tn_no_grad_begin(context));
	assert_ok(tn_fill(y, 0)); /* nothing reads y in backward */
	assert_ok(tn_no_grad_end(context));
	struct tn_gradients_options options = tn_gradients_defaults();
	options.retain_graph = 1;
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &x, &y, &options));
	expect(y, 6, 10);
	assert_ok(tn_no_grad_begin(context));
	assert_ok(tn_fill(x, 0));
	assert_ok(tn_no_grad_end(context));
	assert_status(tn_tape_backward(tape, loss, NULL), TN_MODIFIED);
	assert_kept(context, TN_MODIFIED, "square");
	tn_tape_end(tape);
}

static void parameters_are_not_watched_in_a_scope_without_gradients(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = tn_module_linear(context, 2, 1, NULL);
	assert_ok(tn_module_build(net));
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){1, 2});
	tn_tape *tape = watch(x);
	assert_ok(tn_no_grad_begin(context));
	tn_array *y = tn_module_forward(net, x);
	assert_ok(tn_no_grad_end(context));
	assert_ok(tn_tape_backward(tape, sum(tn_multiply(x, y)), NULL));
	tn_tape_end(tape);
	assert_ok(tn_module_parameter(net, "weight", &view));
	assert_null(view.gradient);
	tn_module_destroy(net);
}

static void a_detached_array_is_the_same_memory_without_a_gradient(void **state)
{
	(void)state;
	tn_array *x = vector(3, 5);
	tn_tape *tape = watch(x);
	tn_array *y = tn_square(x), *same = tn_detach(y), *loss = sum(tn_multiply(y, same));
	struct tn_gradients_options options = tn_gradients_defaults();
	options.retain_graph = 1;
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &x, &y, &options));
	expect(y, 9 * 6, 25 * 10);
	assert_ok(tn_fill(same, 1)); /* it has no gradient, so writing is allowed, and detected */
	assert_status(tn_tape_backward(tape, loss, NULL), TN_MODIFIED);
	assert_kept(context, TN_MODIFIED, "multiply");
	tn_tape_end(tape);
	assert_null(tn_detach(NULL));
}

/* ---- Nodes -----------------------------------------------------------------------------------*/

/* outputs a * b and a + b, computed on the host; the state counts. */
struct counts {
	int backward, destroyed, had_gradient[2];
};

static tn_status both_backward(void *state, const struct tn_node_call *call)
{
	struct counts *counts = state;
	const tn_array *d_product = call->output_gradients[0], *d_sum = call->output_gradients[1];
	counts->backward++;
	assert_int_equal(call->n_saved, 2);
	assert_ptr_equal(call->context, context);
	for (int i = 0; i < 2; i++) {
		tn_array *g = NULL;
		counts->had_gradient[i] = call->output_gradients[i] != NULL;
		if (!call->needs[i])
			continue;
		if (d_product)
			g = tn_multiply(d_product, call->saved[1 - i]);
		if (d_sum)
			g = g ? tn_add(g, d_sum) : (tn_array *)(uintptr_t)d_sum;
		call->input_gradients[i] = g;
	}
	return TN_OK;
}

static void count_destroyed(void *state)
{
	((struct counts *)state)->destroyed++;
}

static tn_status both(tn_array *const x[2], tn_array *y[2], struct counts *counts)
{
	float a[2], b[2];
	assert_ok(tn_to_host(x[0], a, sizeof(a)));
	assert_ok(tn_to_host(x[1], b, sizeof(b)));
	y[0] = vector(a[0] * b[0], a[1] * b[1]);
	y[1] = vector(a[0] + b[0], a[1] + b[1]);
	struct tn_node_options node = tn_node_defaults();
	node.name = "both";
	node.n_inputs = 2;
	node.inputs = x;
	node.n_outputs = 2;
	node.outputs = y;
	node.n_saved = 2;
	node.saved = x;
	node.backward = both_backward;
	node.state = counts;
	node.destroy = count_destroyed;
	return tn_node_record(context, &node);
}

static void a_node_of_ones_own_has_its_own_backward(void **state)
{
	/* Which outputs the loss reads: the first, the second, both. */
	static const float expected[3][4] = {{7, 11, 3, 5}, {1, 1, 1, 1}, {8, 12, 4, 6}};
	(void)state;
	for (int used = 1; used <= 3; used++) {
		struct counts counts = {0};
		tn_array *x[2] = {vector(3, 5), vector(7, 11)}, *y[2];
		tn_tape *tape = watch(x[0]);
		assert_ok(tn_tape_watch(tape, x[1]));
		assert_ok(both(x, y, &counts));
		tn_array *loss = used == 1   ? sum(y[0])
				 : used == 2 ? sum(y[1])
					     : tn_add(sum(y[0]), sum(y[1]));
		assert_ok(tn_tape_backward(tape, loss, NULL));
		assert_int_equal(counts.backward, 1);
		assert_int_equal(counts.had_gradient[0], used & 1);
		assert_int_equal(counts.had_gradient[1], used >> 1);
		const float *e = expected[used - 1];
		expect(tn_tape_gradient(tape, x[0]), e[0], e[1]);
		expect(tn_tape_gradient(tape, x[1]), e[2], e[3]);
		tn_tape_end(tape);
		assert_int_equal(counts.destroyed, 1);
	}
}

static void a_node_is_not_asked_for_what_nobody_needs(void **state)
{
	struct counts counts = {0};
	(void)state;
	tn_array *x[2] = {vector(3, 5), vector(7, 11)}, *y[2];
	tn_tape *tape = watch(x[0]);
	assert_ok(both(x, y, &counts));
	assert_ok(tn_tape_backward(tape, sum(y[0]), NULL));
	expect(tn_tape_gradient(tape, x[0]), 7, 11);
	tn_tape_end(tape);
	assert_int_equal(counts.destroyed, 1);
}

static void a_node_that_does_not_say_so_has_no_second_derivative(void **state)
{
	struct counts counts = {0};
	(void)state;
	tn_array *x[2] = {vector(3, 5), vector(7, 11)}, *y[2], *g;
	tn_tape *tape = watch(x[0]);
	assert_ok(both(x, y, &counts));
	tn_array *loss = sum(y[0]);
	struct tn_gradients_options options = tn_gradients_defaults();
	options.create_graph = 1;
	assert_status(tn_tape_gradients(tape, 1, &loss, NULL, 1, x, &g, &options), TN_UNSUPPORTED);
	assert_kept(context, TN_UNSUPPORTED, "both has no second derivative");
	assert_int_equal(counts.backward, 0);
	tn_tape_end(tape);
	assert_int_equal(counts.destroyed, 1);
}

static void a_state_is_destroyed_at_once_where_nothing_is_recorded(void **state)
{
	struct counts counts = {0};
	(void)state;
	tn_array *x[2] = {vector(3, 5), vector(7, 11)}, *y[2];
	assert_ok(both(x, y, &counts));
	assert_int_equal(counts.destroyed, 1); /* no tape */
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(both(x, y, &counts));
	assert_int_equal(counts.destroyed, 2); /* nothing is watched */
	assert_ok(tn_tape_watch(tape, x[0]));
	assert_ok(tn_no_grad_begin(context));
	assert_ok(both(x, y, &counts));
	assert_ok(tn_no_grad_end(context));
	assert_int_equal(counts.destroyed, 3);
	assert_ok(both(x, y, &counts));
	assert_int_equal(counts.destroyed, 3);
	tn_tape_end(tape); /* without a backward */
	assert_int_equal(counts.destroyed, 4);
	assert_int_equal(counts.backward, 0);
}

static void what_a_node_saved_must_not_change(void **state)
{
	struct counts counts = {0};
	(void)state;
	tn_array *x[2] = {vector(3, 5), vector(7, 11)}, *y[2];
	tn_tape *tape = watch(x[0]);
	assert_ok(both(x, y, &counts));
	assert_ok(tn_fill(x[1], 0));
	assert_status(tn_tape_backward(tape, sum(y[0]), NULL), TN_MODIFIED);
	assert_kept(context, TN_MODIFIED, "both");
	tn_tape_end(tape);
	assert_int_equal(counts.destroyed, 1);
}

static tn_array *returned;
static tn_status returned_status;

static tn_status return_it(void *state, const struct tn_node_call *call)
{
	(void)state;
	call->input_gradients[0] = returned;
	return returned_status;
}

static tn_status backward_that_returns(tn_array *g, tn_status status)
{
	tn_array *x = vector(3, 5), *y = vector(1, 2);
	tn_tape *tape = watch(x);
	returned = g;
	returned_status = status;
	struct tn_node_options node = tn_node_defaults();
	node.name = "mine";
	node.n_inputs = 1;
	node.inputs = &x;
	node.n_outputs = 1;
	node.outputs = &y;
	node.backward = return_it;
	assert_ok(tn_node_record(context, &node));
	status = tn_tape_backward(tape, sum(y), NULL);
	tn_tape_end(tape);
	if (status) {
		assert_non_null(tn_error(context));
		assert_string_equal(tn_error(context)->operation, "mine");
	}
	return status;
}

static void a_gradient_that_does_not_fit_is_named(void **state)
{
	(void)state;
	assert_ok(backward_that_returns(vector(1, 1), TN_OK));
	assert_ok(backward_that_returns(NULL, TN_OK));
	tn_array *shape = tn_ones(context, TN_F32, 1, (int64_t[]){3});
	assert_status(backward_that_returns(shape, TN_OK), TN_SHAPE);
	assert_kept(context, TN_SHAPE, "input 0");
	tn_array *dtype = tn_ones(context, TN_F64, 1, (int64_t[]){2});
	assert_status(backward_that_returns(dtype, TN_OK), TN_DTYPE);
	assert_kept(context, TN_DTYPE, "f64");
	assert_status(backward_that_returns(NULL, TN_CANCELLED), TN_CANCELLED);
	assert_kept(context, TN_CANCELLED, "backward returned");
}

static void a_node_that_cannot_be_is_refused_and_its_state_destroyed(void **state)
{
	struct counts counts = {0};
	(void)state;
	tn_array *x = vector(3, 5), *y = vector(1, 2);
	tn_array *integers = tn_zeros(context, TN_I32, 1, (int64_t[]){2});
	tn_array *twice[] = {y, y}, *none[] = {NULL};
	tn_tape *tape = watch(x);
	tn_array *tracked = tn_square(x);
	struct tn_node_options good = {.struct_size = sizeof(good),
				       .name = "mine",
				       .n_inputs = 1,
				       .inputs = &x,
				       .n_outputs = 1,
				       .outputs = &y,
				       .backward = both_backward,
				       .state = &counts,
				       .destroy = count_destroyed};
	struct tn_node_options bad[7];
	static const tn_status expected[7] = {TN_INVALID_ARGUMENT,
					      TN_INVALID_ARGUMENT,
					      TN_DTYPE,
					      TN_INVALID_ARGUMENT,
					      TN_INVALID_ARGUMENT,
					      TN_STATE,
					      TN_LIMIT};
	for (int i = 0; i < 7; i++)
		bad[i] = good;
	bad[0].backward = NULL;
	bad[1].name = NULL;
	bad[2].outputs = &integers;
	bad[3].n_outputs = 2;
	bad[3].outputs = twice;
	bad[4].inputs = none;
	bad[5].outputs = &tracked;
	bad[6].n_inputs = TN_NODE_LIMIT + 1;
	for (int i = 0; i < 7; i++) {
		assert_status(tn_node_record(context, &bad[i]), expected[i]);
		tn_error_clear(context);
		assert_int_equal(counts.destroyed, i + 1);
	}
	assert_status(tn_node_record(context, NULL), TN_INVALID_ARGUMENT);
	assert_contains(tn_error_text(context), "options");
	tn_error_clear(context);
	assert_status(tn_node_record(NULL, &good), TN_INVALID_ARGUMENT);
	tn_tape_end(tape);
}

/* ---- Several outputs, chosen inputs ----------------------------------------------------------*/

static void backward_starts_from_several_outputs(void **state)
{
	(void)state;
	tn_array *x = vector(3, 5), *weights = vector(10, 100);
	tn_tape *tape = watch(x);
	tn_array *outputs[] = {sum(tn_square(x)), tn_affine(x, 2, 0), x};
	const tn_array *gradients[] = {NULL, weights, weights};
	assert_ok(tn_tape_backward_all(tape, 3, outputs, gradients));
	expect(tn_tape_gradient(tape, x), 6 + 20 + 10, 10 + 200 + 100);
	assert_status(tn_tape_backward_all(tape, 3, outputs, gradients), TN_STATE);
	tn_error_clear(context);
	tn_tape_end(tape);
	tape = watch(x);
	tn_array *same[] = {sum(x), NULL};
	same[1] = same[0];
	assert_ok(tn_tape_backward_all(tape, 2, same, NULL));
	expect(tn_tape_gradient(tape, x), 2, 2);
	tn_tape_end(tape);
	tape = watch(x);
	same[0] = sum(x);
	same[1] = NULL;
	assert_status(tn_tape_backward_all(tape, 2, same, NULL), TN_INVALID_ARGUMENT);
	assert_kept(context, TN_INVALID_ARGUMENT, "output 1");
	assert_status(tn_tape_backward_all(tape, 0, same, NULL), TN_INVALID_ARGUMENT);
	tn_tape_end(tape);
}

static void chosen_arrays_get_gradients_and_others_none(void **state)
{
	(void)state;
	int filled = 0;
	tn_array *x = vector(3, 5), *w = vector(2, 4), *place = vector(9, 9), *g[3];
	tn_tape *tape = watch(x);
	assert_ok(tn_tape_watch_into(tape, w, place, &filled));
	tn_array *aside = vector(1, 1);
	assert_ok(tn_tape_watch(tape, aside));
	tn_array *h = tn_multiply(x, w), *loss = sum(tn_square(h));
	tn_array *inputs[] = {x, h, aside};
	const struct tn_gradients_options keep = {.struct_size = sizeof(keep), .retain_graph = 1};
	for (int round = 0; round < 2; round++) {
		assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 3, inputs, g, &keep));
		expect(g[0], 2 * 3 * 4, 2 * 5 * 16);
		expect(g[1], 2 * 6, 2 * 20);
		assert_null(g[2]);
		assert_int_equal(filled, 0);
	}
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &w, g, &keep));
	expect(g[0], 2 * 9 * 2, 2 * 25 * 4);
	assert_int_equal(filled, 0);
	/* The plain backward is the last. */
	assert_ok(tn_tape_backward(tape, loss, NULL));
	assert_int_equal(filled, 1);
	expect(place, 2 * 9 * 2, 2 * 25 * 4);
	expect(tn_tape_gradient(tape, x), 2 * 3 * 4, 2 * 5 * 16);
	assert_status(tn_tape_gradients(tape, 1, &loss, NULL, 1, &w, g, &keep), TN_STATE);
	assert_kept(context, TN_STATE, "has run");
	tn_tape_end(tape);
}

static void what_chosen_arrays_do_not_need_does_not_run(void **state)
{
	struct counts counts = {0};
	(void)state;
	tn_array *x[2] = {vector(3, 5), vector(7, 11)}, *y[2], *other = vector(1, 2), *g;
	const struct tn_gradients_options keep = {.struct_size = sizeof(keep), .retain_graph = 1};
	tn_tape *tape = watch(x[0]);
	assert_ok(tn_tape_watch(tape, other));
	assert_ok(both(x, y, &counts));
	tn_array *loss = sum(tn_multiply(y[0], other));
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &other, &g, &keep));
	expect(g, 21, 55);
	assert_int_equal(counts.backward, 0);
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &y[0], &g, &keep));
	expect(g, 1, 2);
	assert_int_equal(counts.backward, 0);
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, x, &g, &keep));
	expect(g, 7, 22);
	assert_int_equal(counts.backward, 1);
	/* What was chosen before is not any more. */
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &other, &g, &keep));
	assert_int_equal(counts.backward, 1);
	tn_tape_end(tape);
}

/* The gradient of a convolution's input needs memory that its weights' gradient no longer reads:
 * only the last pass may take it. */
static void a_tape_that_is_retained_keeps_all_that_it_saved(void **state)
{
	const struct tn_gradients_options keep = {.struct_size = sizeof(keep), .retain_graph = 1};
	float found[3][4];
	(void)state;
	tn_array *x = tn_ones(context, TN_F32, 4, (int64_t[]){1, 1, 3, 3}), *g;
	tn_array *w = tn_full(context, TN_F32, 4, (int64_t[]){1, 1, 2, 2}, 2);
	tn_tape *tape = watch(w);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_conv2d(tn_exp(x), w, NULL, NULL), *loss = sum(tn_square(y));
	for (int i = 0; i < 3; i++) {
		assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &w, &g, i < 2 ? &keep : NULL));
		assert_ok(tn_to_host(g, found[i], sizeof(found[i])));
		assert_close(found[i][0], 2 * 4 * 8 * exp(2.0), 1e-2);
	}
	tn_tape_end(tape);
}

static void parameters_of_a_module_are_chosen_like_other_arrays(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	float weight[2];
	(void)state;
	tn_module *net = tn_module_linear(context, 2, 1, NULL);
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_parameter(net, "weight", &view));
	tn_array *x = tn_from_host(context, TN_F32, 2, (int64_t[]){1, 2}, (float[]){3, 5}), *g;
	tn_tape *tape = tn_tape_begin(context);
	tn_array *loss = sum(tn_module_forward(net, x));
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &view.value, &g, NULL));
	tn_tape_end(tape);
	assert_ok(tn_to_host(g, weight, sizeof(weight)));
	assert_true(weight[0] == 3 && weight[1] == 5);
	assert_ok(tn_module_parameter(net, "weight", &view));
	assert_null(view.gradient); /* not written */
	tn_module_destroy(net);
}

static void gradients_of_strangers_are_refused(void **state)
{
	(void)state;
	tn_array *x = vector(3, 5), *stranger = vector(1, 1), *g = x;
	tn_tape *tape = watch(x);
	tn_array *loss = sum(x);
	assert_status(tn_tape_gradients(tape, 1, &loss, NULL, 1, &stranger, &g, NULL), TN_STATE);
	assert_kept(context, TN_STATE, "input 0");
	assert_null(g);
	assert_status(tn_tape_gradients(tape, 1, &loss, NULL, 0, &x, &g, NULL),
		      TN_INVALID_ARGUMENT);
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &x, &g, NULL));
	expect(g, 1, 1);
	tn_tape_end(tape);
	expect(g, 1, 1); /* it outlives the tape */
}

/* ---- Leaves ----------------------------------------------------------------------------------*/

/* The sum of |x|^2 has the gradient 2 x, in complex numbers too. */
static tn_array *sum_of_squares(const tn_array *x)
{
	return sum(tn_real(tn_multiply(x, tn_conj(x))));
}

static void leaves_of_every_inexact_type_have_gradients(void **state)
{
	static const tn_dtype dtypes[] = {TN_F16, TN_BF16, TN_F32, TN_F64, TN_C64, TN_C128};
	(void)state;
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		int is_complex = dtypes[i] == TN_C64 || dtypes[i] == TN_C128, filled = 0;
		tn_array *numbers = tn_complex(vector(3, 5), vector(4, -6)), *g;
		tn_array *x = tn_astype(is_complex ? numbers : tn_real(numbers), dtypes[i]);
		tn_array *place = tn_zeros(context, dtypes[i], 1, (int64_t[]){2});
		for (int round = 1; round <= 2; round++) {
			tn_tape *tape = tn_tape_begin(context);
			assert_ok(tn_tape_watch_into(tape, x, place, &filled));
			tn_array *loss = sum_of_squares(x);
			struct tn_gradients_options options = tn_gradients_defaults();
			options.create_graph = 1;
			assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &x, &g, &options));
			assert_int_equal(tn_array_dtype(g), dtypes[i]);
			expect(tn_astype(tn_real(g), TN_F32), 6, 10);
			if (is_complex)
				expect(tn_astype(tn_imag(g), TN_F32), 8, -12);
			assert_ok(tn_tape_backward(tape, loss, NULL));
			tn_tape_end(tape);
			expect(tn_astype(tn_real(place), TN_F32), (float)round * 6,
			       (float)round * 10);
			if (is_complex)
				expect(tn_astype(tn_imag(place), TN_F32), (float)round * 8,
				       (float)round * -12);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_gradients_results_are_constants),
		cmocka_unit_test(a_scope_without_gradients_ends_once),
		cmocka_unit_test(a_tape_may_begin_and_end_in_a_scope_without_gradients),
		cmocka_unit_test(arrays_with_a_gradient_may_be_written_where_nothing_is_recorded),
		cmocka_unit_test(parameters_are_not_watched_in_a_scope_without_gradients),
		cmocka_unit_test(a_detached_array_is_the_same_memory_without_a_gradient),
		cmocka_unit_test(a_node_of_ones_own_has_its_own_backward),
		cmocka_unit_test(a_node_is_not_asked_for_what_nobody_needs),
		cmocka_unit_test(a_node_that_does_not_say_so_has_no_second_derivative),
		cmocka_unit_test(a_state_is_destroyed_at_once_where_nothing_is_recorded),
		cmocka_unit_test(what_a_node_saved_must_not_change),
		cmocka_unit_test(a_gradient_that_does_not_fit_is_named),
		cmocka_unit_test(a_node_that_cannot_be_is_refused_and_its_state_destroyed),
		cmocka_unit_test(backward_starts_from_several_outputs),
		cmocka_unit_test(chosen_arrays_get_gradients_and_others_none),
		cmocka_unit_test(what_chosen_arrays_do_not_need_does_not_run),
		cmocka_unit_test(a_tape_that_is_retained_keeps_all_that_it_saved),
		cmocka_unit_test(parameters_of_a_module_are_chosen_like_other_arrays),
		cmocka_unit_test(gradients_of_strangers_are_refused),
		cmocka_unit_test(leaves_of_every_inexact_type_have_gradients),
	};
	int failed =
		cmocka_run_group_tests_name("reference", tests, setup_reference, context_teardown);
	failed +=
		cmocka_run_group_tests_name("preferred", tests, setup_preferred, context_teardown);
	return failed + cmocka_run_group_tests_name("mock", tests, setup_mock, context_teardown);
}
