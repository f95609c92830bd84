/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture and replay through a context, on the backend of the program.
 */
#ifndef TN_TESTS_CAPTURE_CASES_H
#define TN_TESTS_CAPTURE_CASES_H

#include "capture_step.h"
#include "capture_train.h"
#include "kept_error.h"

/* What the program tests. */
struct capture_subject {
	tn_context *(*open)(void);
	void (*close)(tn_context *context);
};

static const struct capture_subject subject;

enum { N = 300 };

static tn_array *numbers(tn_context *context, double value)
{
	return tn_full(context, TN_F32, 1, (int64_t[]){N}, value);
}

static float first_of(const tn_array *array)
{
	float values[N];
	assert_ok(tn_to_host(array, values, sizeof(values)));
	for (int i = 1; i < N; i++)
		assert_true(values[i] == values[0]);
	return values[0];
}

static void replayed_steps_are_steps(void **state)
{
	(void)state;
	tn_context *context = subject.open();
	check_replayed_steps(context);
	subject.close(context);
}

static void captured_work_is_not_done_until_it_is_replayed(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	tn_array *x = numbers(context, 1), *sum = numbers(context, 0);
	assert_ok(tn_capture_begin(context));
	tn_array *twice = tn_add(x, x);
	assert_ok(tn_add_into(sum, sum, twice));
	assert_ok(tn_capture_end(context, &graph));
	assert_true(first_of(sum) == 0);
	assert_ok(tn_graph_replay(graph));
	assert_true(first_of(sum) == 2);
	assert_ok(tn_fill(x, 10));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_graph_replay(graph));
	assert_true(first_of(sum) == 42);
	assert_true(first_of(twice) == 20);
	tn_graph_destroy(graph);
	assert_true(first_of(twice) == 20);
	tn_graph_destroy(NULL);
	subject.close(context);
}

/* Memory that a step allocated and freed is reserved for its graph until that is destroyed. */
static void a_graph_keeps_its_memory_and_gives_it_back(void **state)
{
	struct tn_memory_use before = {.struct_size = sizeof(before)},
			     kept = {.struct_size = sizeof(kept)},
			     after = {.struct_size = sizeof(after)};
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	tn_array *x = numbers(context, 3);
	/* Once eagerly, so that scratch memory exists. */
	tn_array_destroy(tn_add(x, x));
	tn_device_get_memory_use(tn_device_current(context), &before);
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_scope_begin(context));
	tn_array *sum = tn_add(tn_add(x, x), tn_add(x, x));
	sum = tn_scope_end(context, sum);
	assert_ok(tn_capture_end(context, &graph));
	for (int i = 0; i < 50; i++)
		(void)numbers(context, i);
	assert_ok(tn_graph_replay(graph));
	assert_true(first_of(sum) == 12);
	/* The result is destroyed, but its memory belongs to the graph. */
	tn_array_destroy(sum);
	tn_array *others[4];
	for (int i = 0; i < 4; i++)
		others[i] = numbers(context, i);
	assert_ok(tn_graph_replay(graph));
	for (int i = 0; i < 4; i++)
		assert_true(first_of(others[i]) == (float)i);
	tn_device_get_memory_use(tn_device_current(context), &kept);
	tn_graph_destroy(graph);
	tn_device_get_memory_use(tn_device_current(context), &after);
	assert_true(after.used < kept.used);
	subject.close(context);
}

/* An array that the work writes may be destroyed before the graph. */
static void what_is_written_lives_as_long_as_the_graph(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	tn_array *x = numbers(context, 1), *gone = numbers(context, 0);
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_add_into(gone, gone, x));
	/* Freed while captured work uses it. */
	tn_array *early = numbers(context, 4);
	assert_ok(tn_add_into(gone, gone, early));
	tn_array_destroy(early);
	assert_ok(tn_capture_end(context, &graph));
	tn_array_destroy(gone);
	tn_array *other = numbers(context, 7);
	assert_ok(tn_graph_replay(graph));
	assert_true(first_of(other) == 7);
	tn_graph_destroy(graph);
	subject.close(context);
}

static void what_waits_for_the_device_is_refused(void **state)
{
	float values[N] = {0};
	tn_graph *graph = (tn_graph *)values;
	double value;
	(void)state;
	tn_context *context = subject.open();
	tn_array *x = numbers(context, 1);
	assert_ok(tn_capture_begin(context));
	assert_int_equal(tn_to_host(x, values, sizeof(values)), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "work is captured");
	assert_int_equal(tn_assign_host(x, values, sizeof(values)), TN_NOT_CAPTURABLE);
	tn_error_clear(context);
	assert_int_equal(tn_item(tn_slice(x, 0, 0, 1, 1), &value), TN_NOT_CAPTURABLE);
	tn_error_clear(context);
	assert_int_equal(tn_synchronize(context), TN_NOT_CAPTURABLE);
	tn_error_clear(context);
	assert_int_equal(tn_capture_begin(context), TN_STATE);
	assert_kept(context, TN_STATE, "already begun");
	/* A kept error is the capture's. */
	assert_int_equal(tn_to_host(x, values, sizeof(values)), TN_NOT_CAPTURABLE);
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_null(graph);
	assert_kept(context, TN_NOT_CAPTURABLE, "work is captured");
	assert_true(first_of(x) == 1);
	subject.close(context);
}

/* Each replay draws the random streams that eager code would draw at that point. */
static void random_numbers_are_those_of_their_step(void **state)
{
	float expected[3][2][N], found[2][N];
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	const int64_t shape[] = {N};
	tn_random_set_state(context, (struct tn_random_state){5, 100});
	for (int i = 0; i < 6; i++) {
		tn_array *a = i % 2 ? tn_random_normal(context, 1, shape, 0, 1)
				    : tn_random_uniform(context, 1, shape, 0, 1);
		assert_ok(tn_to_host(a, expected[i / 2][i % 2], sizeof(found[0])));
	}
	tn_random_set_state(context, (struct tn_random_state){5, 100});
	assert_ok(tn_capture_begin(context));
	tn_array *a = tn_random_uniform(context, 1, shape, 0, 1);
	tn_array *b = tn_random_normal(context, 1, shape, 0, 1);
	assert_ok(tn_capture_end(context, &graph));
	/* Nothing has been drawn yet. */
	assert_int_equal(tn_random_get_state(context).stream, 100);
	for (int i = 0; i < 3; i++) {
		assert_ok(tn_graph_replay(graph));
		assert_ok(tn_to_host(a, found[0], sizeof(found[0])));
		assert_ok(tn_to_host(b, found[1], sizeof(found[1])));
		assert_memory_equal(found, expected[i], sizeof(found));
	}
	assert_int_equal(tn_random_get_state(context).stream, 106);
	tn_random_set_state(context, (struct tn_random_state){5, 100});
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_to_host(b, found[1], sizeof(found[1])));
	assert_memory_equal(found[1], expected[0][1], sizeof(found[1]));
	tn_graph_destroy(graph);
	assert_int_equal(tn_capture_end(context, &graph), TN_STATE);
	assert_kept(context, TN_STATE, "no capture has begun");
	subject.close(context);
}

/* More replays than one round are queued, and each has its own numbers. */
static void replays_that_wait_keep_their_numbers(void **state)
{
	enum { REPLAYS = 50, DRAWS = 70 };
	float sum[REPLAYS + 1] = {0};
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	tn_array *sums = tn_zeros(context, TN_F32, 1, (int64_t[]){1});
	for (int i = 0; i < REPLAYS * DRAWS; i++) {
		assert_ok(tn_scope_begin(context));
		assert_ok(tn_add_into(sums, sums,
				      tn_random_uniform(context, 1, (int64_t[]){1}, 0, 1)));
		tn_scope_end(context, NULL);
	}
	assert_ok(tn_to_host(sums, &sum[0], sizeof(sum[0])));
	assert_ok(tn_fill(sums, 0));
	tn_random_set_state(context, (struct tn_random_state){0, 0});
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_scope_begin(context));
	for (int i = 0; i < DRAWS; i++)
		assert_ok(tn_add_into(sums, sums,
				      tn_random_uniform(context, 1, (int64_t[]){1}, 0, 1)));
	tn_scope_end(context, NULL);
	assert_ok(tn_capture_end(context, &graph));
	for (int i = 0; i < REPLAYS; i++)
		assert_ok(tn_graph_replay(graph));
	assert_ok(tn_to_host(sums, &sum[1], sizeof(sum[1])));
	assert_true(sum[0] == sum[1]);
	tn_graph_destroy(graph);
	subject.close(context);
}

/* Host runs would have to be repeated in each replay. */
static void what_is_set_on_the_way_is_refused(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	struct training t = make_training(context, 1);
	set_batch(&t, 0);
	assert_ok(tn_capture_begin(context));
	tn_optimizer_set_lr(t.optimizer, 0.5);
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "the learning rate would be the same");
	assert_true(tn_optimizer_lr(t.optimizer) != 0.5);
	const struct tn_random_state before = tn_random_get_state(context);
	assert_ok(tn_capture_begin(context));
	tn_random_set_state(context, (struct tn_random_state){1, 1});
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "the state would be the same");
	assert_int_equal(tn_random_get_state(context).seed, before.seed);
	assert_int_equal(tn_random_get_state(context).stream, before.stream);
	end_training(&t);
	subject.close(context);
}

/* A step whose capture or replay failed has no effect. */
static void what_failed_is_not_counted(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	struct course eager = run_course(context, 1, STEP_COUNT);
	struct training t = make_training(context, 1), other = make_training(context, 1);
	tn_random_set_state(context, (struct tn_random_state){7, 1 + 4});
	for (int i = 0; i < 2; i++) {
		set_batch(&t, i);
		tn_optimizer_set_lr(t.optimizer, 0.05 / (i + 1));
		if (i == 0) {
			assert_ok(tn_capture_begin(context));
			assert_ok(step(&t));
			assert_int_equal(tn_synchronize(context), TN_NOT_CAPTURABLE);
			assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
			tn_error_clear(context);
		} else {
			set_batch(&other, 0);
			assert_ok(tn_capture_begin(context));
			assert_ok(step(&t));
			assert_ok(step(&other));
			assert_ok(tn_capture_end(context, &graph));
			tn_optimizer_destroy(other.optimizer);
			other.optimizer = NULL;
			for (int again = 0; again < 2; again++) {
				assert_int_equal(tn_graph_replay(graph), TN_STATE);
				assert_kept(context, TN_STATE, "has been destroyed");
			}
		}
		assert_ok(step(&t));
		assert_true(loss_of(&t) == eager.losses[i]);
	}
	end_training(&t);
	end_training(&other);
	tn_graph_destroy(graph);
	subject.close(context);
}

/* Weights captured as one run stay one as long as they are stepped together. */
static void steps_apart_are_noticed(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	struct training t = make_training(context, 1);
	set_batch(&t, 0);
	assert_ok(tn_capture_begin(context));
	assert_ok(step(&t));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_module_set_trainable(t.module, "a.weight", 0));
	assert_ok(step(&t));
	assert_int_equal(tn_graph_replay(graph), TN_STATE);
	assert_kept(context, TN_STATE, "a.weight and c.weight");
	tn_graph_destroy(graph);
	end_training(&t);
	subject.close(context);
}

static void settings_of_a_captured_step_may_change_together(void **state)
{
	struct tn_group_options all = tn_group_defaults();
	all.lr_factor = 2;
	struct tn_group_options one = tn_group_defaults();
	one.names = "a.weight";
	one.weight_decay = 0;
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	struct training t = make_training(context, WITH_ADAMW);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_EXPONENTIAL;
	options.gamma = 0.5;
	tn_schedule *schedule = tn_schedule_create(t.optimizer, &options);
	set_batch(&t, 0);
	assert_ok(tn_capture_begin(context));
	assert_ok(step(&t));
	assert_int_equal(tn_optimizer_set_group(t.optimizer, &all), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "settings of parameters");
	assert_int_equal(tn_schedule_advance(schedule), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "learning rate");
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_optimizer_set_group(t.optimizer, &all));
	assert_ok(tn_schedule_advance(schedule));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_optimizer_set_group(t.optimizer, &one));
	assert_int_equal(tn_graph_replay(graph), TN_STATE);
	assert_kept(context, TN_STATE, "a.weight and c.weight");
	tn_graph_destroy(graph);
	tn_schedule_destroy(schedule);
	end_training(&t);
	subject.close(context);
}

static void a_tape_does_not_reach_into_a_capture(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	tn_array *x = numbers(context, 1);
	tn_tape *tape = tn_tape_begin(context);
	assert_int_equal(tn_capture_begin(context), TN_STATE);
	assert_kept(context, TN_STATE, "a tape has already begun");
	tn_tape_end(tape);
	assert_ok(tn_capture_begin(context));
	assert_non_null(tn_add(x, x));
	tape = tn_tape_begin(context);
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "a tape has begun");
	tn_tape_end(tape);
	subject.close(context);
}

/* A value saved by a tape is detected as changed after a replay. */
static void replays_move_versions(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = subject.open();
	tn_array *x = numbers(context, 1), *w = numbers(context, 2);
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_add_into(w, w, x));
	assert_ok(tn_capture_end(context, &graph));
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *loss = tn_sum(tn_multiply(x, w), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_graph_replay(graph));
	assert_int_equal(tn_tape_backward(tape, loss, NULL), TN_MODIFIED);
	tn_error_clear(context);
	tn_tape_end(tape);
	tn_graph_destroy(graph);
	subject.close(context);
}

static void graphs_may_be_many_and_go_in_any_order(void **state)
{
	tn_graph *graphs[3] = {NULL};
	(void)state;
	tn_context *context = subject.open();
	tn_array *x = numbers(context, 1), *made = NULL;
	for (int i = 0; i < 3; i++) {
		assert_ok(tn_capture_begin(context));
		tn_array *next = tn_affine(x, 1, i + 1);
		assert_ok(tn_assign(x, next));
		/* Results of one graph, and a graph, are destroyed while the next one is
		 * captured. */
		tn_array_destroy(made);
		made = next;
		if (i == 2)
			tn_graph_destroy(graphs[0]);
		assert_ok(tn_capture_end(context, &graphs[i]));
	}
	assert_ok(tn_graph_replay(graphs[2]));
	assert_ok(tn_graph_replay(graphs[1]));
	assert_true(first_of(x) == 6);
	assert_ok(tn_capture_begin(context));
	assert_int_equal(tn_graph_replay(graphs[1]), TN_NOT_CAPTURABLE);
	tn_error_clear(context);
	/* It is never ended. */
	tn_graph_destroy(graphs[2]);
	tn_graph_destroy(graphs[1]);
	subject.close(context);
}

static void the_trainer_replays(void **state)
{
	(void)state;
	tn_context *context = subject.open();
	check_replayed_training(context);
	check_spoilt_training(context);
	subject.close(context);
}

/* A single full batch would be captured for one replay; without a full batch nothing can be
 * captured. */
static void the_trainer_captures_what_comes_twice(void **state)
{
	struct history history;
	(void)state;
	tn_context *context = subject.open();
	assert_ok(train_batches(context, train_net(context), TN_CAPTURE_AUTO, 40, &history));
	assert_int_equal(history.replays, 0);
	assert_ok(train_batches(context, train_net(context), TN_CAPTURE_ON, 40, &history));
	assert_int_equal(history.replays, 2 * 2);
	assert_int_equal(train_batches(context, train_net(context), TN_CAPTURE_ON, 46, &history),
			 TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "no full batch of 46");
	subject.close(context);
}

static int run_capture_cases(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replayed_steps_are_steps),
		cmocka_unit_test(captured_work_is_not_done_until_it_is_replayed),
		cmocka_unit_test(a_graph_keeps_its_memory_and_gives_it_back),
		cmocka_unit_test(what_is_written_lives_as_long_as_the_graph),
		cmocka_unit_test(what_waits_for_the_device_is_refused),
		cmocka_unit_test(random_numbers_are_those_of_their_step),
		cmocka_unit_test(replays_that_wait_keep_their_numbers),
		cmocka_unit_test(what_is_set_on_the_way_is_refused),
		cmocka_unit_test(what_failed_is_not_counted),
		cmocka_unit_test(steps_apart_are_noticed),
		cmocka_unit_test(settings_of_a_captured_step_may_change_together),
		cmocka_unit_test(a_tape_does_not_reach_into_a_capture),
		cmocka_unit_test(replays_move_versions),
		cmocka_unit_test(graphs_may_be_many_and_go_in_any_order),
		cmocka_unit_test(the_trainer_replays),
		cmocka_unit_test(the_trainer_captures_what_comes_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
