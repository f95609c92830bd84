/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which parameters have gradients if backward is captured and the step is not: clipping, in
 * between, reads its norm on the host.
 */
#include "capture_step.h"
#include "mock_fixture.h"

enum { STEPS = 5 };

struct clipped {
	float losses[STEPS];
	double norms[STEPS];
	float weights[STEP_MOST_WEIGHTS];
	size_t n_weights;
};

static const tn_array *gradient_of(const struct training *t, const char *name)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(t->module, name, &view));
	return view.gradient;
}

static tn_graph *capture_gradients(struct training *t)
{
	tn_graph *graph = NULL;
	assert_ok(tn_capture_begin(t->context));
	assert_ok(give_gradients(t));
	assert_ok(tn_capture_end(t->context, &graph));
	return graph;
}

/* From step n_eager on forward and backward are replayed. */
static struct clipped run_clipped(tn_context *context, int n_eager)
{
	struct clipped run = {.n_weights = 0};
	struct training t = make_training(context, 1);
	tn_graph *graph = NULL;
	for (int i = 0; i < STEPS; i++) {
		set_batch(&t, i);
		tn_module_zero_gradients(t.module);
		if (i == n_eager)
			graph = capture_gradients(&t);
		assert_null(gradient_of(&t, "a.weight"));
		assert_ok(graph ? tn_graph_replay(graph) : give_gradients(&t));
		assert_ok(tn_clip_grad_norm(t.module, 0.3, &run.norms[i]));
		assert_ok(tn_optimizer_step(t.optimizer));
		run.losses[i] = loss_of(&t);
	}
	run.n_weights = weights_of(&t, run.weights);
	end_training(&t);
	tn_graph_destroy(graph);
	return run;
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void what_a_replay_gives_is_clipped_and_stepped(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	struct clipped eager = run_clipped(context, STEPS);
	for (int i = 0; i < STEPS; i++)
		assert_true(eager.norms[i] > 0);
	for (int n_eager = 0; n_eager < 3; n_eager += 2) {
		struct clipped replayed = run_clipped(context, n_eager);
		assert_memory_equal(replayed.norms, eager.norms, sizeof(eager.norms));
		assert_memory_equal(replayed.losses, eager.losses, sizeof(eager.losses));
		assert_int_equal(replayed.n_weights, eager.n_weights);
		assert_memory_equal(replayed.weights, eager.weights,
				    eager.n_weights * sizeof(eager.weights[0]));
	}
	tn_context_close(context);
}

/* Captured work has not run, and may never run. */
static void captured_gradients_are_none_yet(void **state)
{
	float before[STEP_MOST_WEIGHTS], after[STEP_MOST_WEIGHTS];
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	struct training t = make_training(context, 0);
	set_batch(&t, 0);
	assert_ok(step(&t));
	const size_t n = weights_of(&t, before);
	for (int is_spoiled = 0; is_spoiled < 2; is_spoiled++) {
		tn_module_zero_gradients(t.module);
		assert_ok(tn_capture_begin(context));
		assert_ok(give_gradients(&t));
		if (is_spoiled) {
			assert_int_equal(tn_synchronize(context), TN_NOT_CAPTURABLE);
			assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
			tn_error_clear(context);
		} else {
			assert_ok(tn_capture_end(context, &graph));
		}
		assert_null(gradient_of(&t, "a.weight"));
		assert_ok(tn_optimizer_step(t.optimizer));
		assert_int_equal(weights_of(&t, after), n);
		assert_memory_equal(after, before, n * sizeof(before[0]));
		tn_graph_destroy(graph);
	}
	end_training(&t);
	tn_context_close(context);
}

/* Setting to zero is captured as well, and runs in each replay. */
static void captured_zeros_are_replayed(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	struct training t = make_training(context, 0);
	set_batch(&t, 0);
	assert_ok(step(&t));
	assert_ok(tn_capture_begin(context));
	tn_module_zero_gradients(t.module);
	assert_null(gradient_of(&t, "c.bias"));
	assert_ok(tn_fill(t.x, 1));
	assert_ok(tn_capture_end(context, &graph));
	assert_non_null(gradient_of(&t, "c.bias"));
	assert_ok(tn_graph_replay(graph));
	assert_null(gradient_of(&t, "c.bias"));
	tn_graph_destroy(graph);
	end_training(&t);
	tn_context_close(context);
}

/* The network of a captured step is destroyed: at once, and before its graph. */
static void a_graph_lets_go_of_a_network(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	struct training t = make_training(context, 0), other = make_training(context, 0);
	set_batch(&t, 0);
	set_batch(&other, 0);
	assert_ok(tn_capture_begin(context));
	assert_ok(give_gradients(&t));
	assert_ok(give_gradients(&other));
	end_training(&t);
	assert_ok(tn_capture_end(context, &graph));
	assert_null(gradient_of(&other, "a.weight"));
	end_training(&other);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_replay_gives_is_clipped_and_stepped),
		cmocka_unit_test(captured_gradients_are_none_yet),
		cmocka_unit_test(captured_zeros_are_replayed),
		cmocka_unit_test(a_graph_lets_go_of_a_network),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
