/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture and replay through a context, on the mock device: it keeps the buffers that captured work
 * uses, so that a host that frees one of them is detected.
 */
#include "capture_step.h"
#include "capture_train.h"
#include "mock_fixture.h"

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

/* ---- Cases -----------------------------------------------------------------------------------*/

static void replayed_steps_are_steps(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	check_replayed_steps(context);
	tn_context_close(context);
}

static void captured_work_is_not_done_until_it_is_replayed(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
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
	tn_context_close(context);
}

/* Memory that a step allocated and freed is reserved for its graph until that is destroyed. */
static void a_graph_keeps_its_memory_and_gives_it_back(void **state)
{
	struct tn_memory_use before, kept, after;
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_array *x = numbers(context, 3);
	/* Once eagerly, so that scratch memory exists. */
	tn_array_destroy(tn_add(x, x));
	tn_device_memory(tn_device_current(context), &before);
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
	tn_device_memory(tn_device_current(context), &kept);
	tn_graph_destroy(graph);
	tn_device_memory(tn_device_current(context), &after);
	assert_true(after.used < kept.used);
	tn_context_close(context);
}

/* An array that the work writes may be destroyed before the graph. */
static void what_is_written_lives_as_long_as_the_graph(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
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
	tn_context_close(context);
}

static void what_waits_for_the_device_is_refused(void **state)
{
	float values[N] = {0};
	tn_graph *graph = (tn_graph *)values;
	double value;
	(void)state;
	tn_context *context = open_mock("");
	tn_array *x = numbers(context, 1);
	assert_ok(tn_capture_begin(context));
	assert_int_equal(tn_to_host(x, values, sizeof(values)), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "work is captured");
	assert_int_equal(tn_assign_host(x, values, sizeof(values)), TN_NOT_CAPTURABLE);
	tn_error_clear(context);
	assert_int_equal(tn_item(tn_slice(x, 0, 0, 1, 1), &value), TN_NOT_CAPTURABLE);
	tn_error_clear(context);
	assert_int_equal(tn_sync(context), TN_NOT_CAPTURABLE);
	tn_error_clear(context);
	assert_int_equal(tn_capture_begin(context), TN_STATE);
	assert_kept(context, TN_STATE, "already begun");
	/* Runs on the host. */
	const int32_t place = 3;
	tn_array *places = tn_take(x, tn_full(context, TN_I32, 1, (int64_t[]){1}, place), 0);
	assert_null(places);
	/* The error is the capture's. */
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_null(graph);
	assert_kept(context, TN_NOT_CAPTURABLE, "work is captured");
	assert_true(first_of(x) == 1);
	tn_context_close(context);
}

/* Each replay draws the random streams that eager code would draw at that point. */
static void random_numbers_are_those_of_their_step(void **state)
{
	float expected[3][2][N], found[2][N];
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	const int64_t shape[] = {N};
	tn_random_state_set(context, (struct tn_random_state){5, 100});
	for (int i = 0; i < 6; i++) {
		tn_array *a = i % 2 ? tn_random_normal(context, 1, shape, 0, 1)
				    : tn_random_uniform(context, 1, shape, 0, 1);
		assert_ok(tn_to_host(a, expected[i / 2][i % 2], sizeof(found[0])));
	}
	tn_random_state_set(context, (struct tn_random_state){5, 100});
	assert_ok(tn_capture_begin(context));
	tn_array *a = tn_random_uniform(context, 1, shape, 0, 1);
	tn_array *b = tn_random_normal(context, 1, shape, 0, 1);
	assert_ok(tn_capture_end(context, &graph));
	/* Nothing has been drawn yet. */
	assert_int_equal(tn_random_state_get(context).stream, 100);
	for (int i = 0; i < 3; i++) {
		assert_ok(tn_graph_replay(graph));
		assert_ok(tn_to_host(a, found[0], sizeof(found[0])));
		assert_ok(tn_to_host(b, found[1], sizeof(found[1])));
		assert_memory_equal(found, expected[i], sizeof(found));
	}
	assert_int_equal(tn_random_state_get(context).stream, 106);
	tn_random_state_set(context, (struct tn_random_state){5, 100});
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_to_host(b, found[1], sizeof(found[1])));
	assert_memory_equal(found[1], expected[0][1], sizeof(found[1]));
	tn_graph_destroy(graph);
	assert_int_equal(tn_capture_end(context, &graph), TN_STATE);
	assert_kept(context, TN_STATE, "no capture has begun");
	tn_context_close(context);
}

/* More replays than one round are queued, and each has its own numbers. */
static void replays_that_wait_keep_their_numbers(void **state)
{
	enum { REPLAYS = 50, DRAWS = 70 };
	float sum[REPLAYS + 1] = {0};
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_array *sums = tn_zeros(context, TN_F32, 1, (int64_t[]){1});
	for (int i = 0; i < REPLAYS * DRAWS; i++) {
		assert_ok(tn_scope_begin(context));
		assert_ok(tn_add_into(sums, sums,
				      tn_random_uniform(context, 1, (int64_t[]){1}, 0, 1)));
		tn_scope_end(context, NULL);
	}
	assert_ok(tn_to_host(sums, &sum[0], sizeof(sum[0])));
	assert_ok(tn_fill(sums, 0));
	tn_random_state_set(context, (struct tn_random_state){0, 0});
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
	tn_context_close(context);
}

/* A ledger that times operations waits for each, except captured ones, which do not run. */
static void a_timed_context_captures_too(void **state)
{
	const char *path = mock_file();
	const struct tn_context_options options = {.struct_size = sizeof(options),
						   .backend = "mock",
						   .plugin_paths = &path,
						   .n_plugin_paths = 1,
						   .ledger_time = 1};
	tn_context *context = NULL;
	tn_graph *graph = NULL;
	(void)state;
	set_faults("");
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_array *x = numbers(context, 1), *y = numbers(context, 2);
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_add_into(y, y, x));
	assert_ok(tn_fill(x, 5));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	assert_true(first_of(y) == 3);
	assert_true(first_of(x) == 5);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* Host runs would have to be repeated in each replay. */
static void what_is_set_on_the_way_is_refused(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	struct training t = make_training(context, 1);
	set_batch(&t, 0);
	assert_ok(tn_capture_begin(context));
	tn_optimizer_set_lr(t.optimizer, 0.5);
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "the learning rate would be the same");
	assert_true(tn_optimizer_lr(t.optimizer) != 0.5);
	const struct tn_random_state before = tn_random_state_get(context);
	assert_ok(tn_capture_begin(context));
	tn_random_state_set(context, (struct tn_random_state){1, 1});
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "the state would be the same");
	assert_int_equal(tn_random_state_get(context).seed, before.seed);
	assert_int_equal(tn_random_state_get(context).stream, before.stream);
	end_training(&t);
	tn_context_close(context);
}

/* A step whose capture or replay failed has no effect. */
static void what_failed_is_not_counted(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	struct course eager = run_course(context, 1, STEP_COUNT);
	struct training t = make_training(context, 1), other = make_training(context, 1);
	tn_random_state_set(context, (struct tn_random_state){7, 1 + 4});
	for (int i = 0; i < 2; i++) {
		set_batch(&t, i);
		tn_optimizer_set_lr(t.optimizer, 0.05 / (i + 1));
		if (i == 0) {
			assert_ok(tn_capture_begin(context));
			assert_ok(step(&t));
			assert_int_equal(tn_sync(context), TN_NOT_CAPTURABLE);
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
	tn_context_close(context);
}

/* Weights captured as one run stay one as long as they are stepped together. */
static void steps_apart_are_noticed(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
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
	tn_context_close(context);
}

static void settings_of_a_captured_step_may_change_together(void **state)
{
	const struct tn_group_options all = {.struct_size = sizeof(all), .lr_factor = 2};
	const struct tn_group_options one = {
		.struct_size = sizeof(one), .names = "a.weight", .no_decay = 1};
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	struct training t = make_training(context, WITH_ADAMW);
	tn_schedule *schedule = tn_schedule_create(
		t.optimizer, TN_OPTIONS(struct tn_schedule_options, .kind = TN_SCHEDULE_EXPONENTIAL,
					.gamma = 0.5));
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
	tn_context_close(context);
}

/* The host does the mock's gather and scatter_add, which LARS and LAMB need. */
static void steps_that_need_the_host_are_not_captured(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	struct training t = make_training(context, WITH_LAMB);
	set_batch(&t, 0);
	assert_ok(step(&t));
	assert_ok(tn_capture_begin(context));
	(void)step(&t);
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "host");
	assert_null(graph);
	end_training(&t);
	tn_context_close(context);
}

static void a_tape_does_not_reach_into_a_capture(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
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
	tn_context_close(context);
}

/* A value saved by a tape is detected as changed after a replay. */
static void replays_move_versions(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
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
	tn_context_close(context);
}

static void graphs_may_be_many_and_go_in_any_order(void **state)
{
	tn_graph *graphs[3] = {NULL};
	(void)state;
	tn_context *context = open_mock("");
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
	tn_context_close(context);
}

static void a_backend_without_capture_says_so(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	assert_ok(tn_device_set_current(context, tn_context_device(context, 1)));
	assert_int_equal(tn_capture_begin(context), TN_UNSUPPORTED);
	assert_kept(context, TN_UNSUPPORTED, "cannot capture work");
	tn_context_close(context);
}

static void a_replay_that_fails_is_answered_later(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("async-error:3");
	tn_array *x = numbers(context, 1), *y = numbers(context, 2);
	assert_ok(tn_sync(context));
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_add_into(y, y, x));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	assert_int_equal(tn_sync(context), TN_BACKEND_FAILURE);
	assert_string_equal(tn_error(context)->operation, "replay");
	tn_error_clear(context);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* ---- The trainer -----------------------------------------------------------------------------*/

static void the_trainer_replays(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	check_replayed_training(context);
	check_spoilt_training(context);
	tn_context_close(context);
}

/* A single full batch would be captured for one replay; without a full batch nothing can be
 * captured. */
static void the_trainer_captures_what_comes_twice(void **state)
{
	struct history history;
	(void)state;
	tn_context *context = open_mock("");
	assert_ok(train_batches(context, train_net(context), TN_CAPTURE_AUTO, 40, &history));
	assert_int_equal(history.replays, 0);
	assert_ok(train_batches(context, train_net(context), TN_CAPTURE_ON, 40, &history));
	assert_int_equal(history.replays, 2 * 2);
	assert_int_equal(train_batches(context, train_net(context), TN_CAPTURE_ON, 46, &history),
			 TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "no full batch of 46");
	tn_context_close(context);
}

static tn_status train_within(uint64_t bytes, uint32_t capture, uint64_t *replays)
{
	const char *path = mock_file();
	const struct tn_context_options options = {.struct_size = sizeof(options),
						   .backend = "mock",
						   .plugin_paths = &path,
						   .n_plugin_paths = 1,
						   .memory_limit = bytes};
	struct history history;
	tn_context *context = NULL;
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_status status = train_batches(context, train_net(context), capture, 17, &history);
	*replays = history.replays;
	tn_context_close(context);
	return status;
}

/* Without memory for a graph, training continues with eager steps, if they have enough. */
static void the_trainer_needs_no_more_memory_than_without(void **state)
{
	uint64_t replays, unused;
	int ran_out = 0, replayed = 0;
	(void)state;
	set_faults("");
	for (uint64_t kib = 16; kib <= 64; kib++) {
		tn_status without = train_within(kib << 10, TN_CAPTURE_OFF, &unused);
		tn_status with = train_within(kib << 10, TN_CAPTURE_AUTO, &replays);
		if (without == TN_OK && with != TN_OK)
			fail_msg("%d KiB are enough for steps that are not captured", (int)kib);
		ran_out += without == TN_OUT_OF_MEMORY;
		replayed += with == TN_OK && replays == 2 * 5;
	}
	assert_true(ran_out > 0 && replayed > 0);
}

struct heard {
	int n;
	char text[256];
};

static void hear(void *user, int level, const char *subsystem, const char *text, size_t length)
{
	struct heard *heard = user;
	if (strcmp(subsystem, "train") != 0)
		return;
	assert_int_equal(level, 4);
	snprintf(heard->text, sizeof(heard->text), "%.*s", (int)length, text);
	heard->n++;
}

/* A user's own module may have side effects. */
static tn_array *forward_and_count(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	++*(int *)state;
	return tn_affine(x, 1, 0.5);
}

static tn_module *foreign_net(tn_context *context, int *n)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Counter",
						      .forward = forward_and_count,
						      .is_repeatable = 1};
	tn_module *net = train_net(context);
	assert_ok(tn_sequential_add(net, "counter", tn_module_create(context, &class_, n)));
	return net;
}

static void the_trainer_says_why_it_does_not(void **state)
{
	const char *path = mock_file();
	struct heard heard = {0};
	const struct tn_context_options options = {.struct_size = sizeof(options),
						   .backend = "mock",
						   .plugin_paths = &path,
						   .n_plugin_paths = 1,
						   .log = hear,
						   .log_user = &heard};
	struct history eager, replayed;
	tn_context *context = NULL;
	int n = 0;
	(void)state;
	set_faults("");
	setenv("TENON_LOG", "info", 1);
	assert_ok(tn_context_open(&options, &context, NULL));
	unsetenv("TENON_LOG");
	assert_ok(train_history(context, foreign_net(context, &n), TN_CAPTURE_AUTO, &eager));
	assert_int_equal(eager.replays, 0);
	assert_int_equal(heard.n, 1);
	assert_non_null(strstr(heard.text, "modules of the program's own"));
	/* An explicit request is honoured: forward is called in steps that are not replayed. */
	int called = n;
	assert_ok(train_history(context, foreign_net(context, &n), TN_CAPTURE_ON, &replayed));
	assert_int_equal(replayed.replays, 2 * (3 * 5 - 1));
	assert_int_equal(2 * called - n, 3 * 5 - 1 - 3);
	assert_same_history(&replayed, &eager);
	/* The second device cannot capture. */
	assert_ok(tn_device_set_current(context, tn_context_device(context, 1)));
	assert_int_equal(heard.n, 1);
	assert_ok(train_history(context, train_net(context), TN_CAPTURE_AUTO, &eager));
	assert_int_equal(heard.n, 2);
	assert_non_null(strstr(heard.text, "cannot capture work"));
	assert_int_equal(train_history(context, train_net(context), TN_CAPTURE_ON, &eager),
			 TN_UNSUPPORTED);
	assert_kept(context, TN_UNSUPPORTED, "cannot capture work");
	assert_int_equal(train_history(context, train_net(context), 3, &eager),
			 TN_INVALID_ARGUMENT);
	assert_kept(context, TN_INVALID_ARGUMENT, "found 3");
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replayed_steps_are_steps),
		cmocka_unit_test(captured_work_is_not_done_until_it_is_replayed),
		cmocka_unit_test(a_graph_keeps_its_memory_and_gives_it_back),
		cmocka_unit_test(what_is_written_lives_as_long_as_the_graph),
		cmocka_unit_test(what_waits_for_the_device_is_refused),
		cmocka_unit_test(random_numbers_are_those_of_their_step),
		cmocka_unit_test(replays_that_wait_keep_their_numbers),
		cmocka_unit_test(a_timed_context_captures_too),
		cmocka_unit_test(what_is_set_on_the_way_is_refused),
		cmocka_unit_test(what_failed_is_not_counted),
		cmocka_unit_test(steps_apart_are_noticed),
		cmocka_unit_test(settings_of_a_captured_step_may_change_together),
		cmocka_unit_test(steps_that_need_the_host_are_not_captured),
		cmocka_unit_test(a_tape_does_not_reach_into_a_capture),
		cmocka_unit_test(replays_move_versions),
		cmocka_unit_test(graphs_may_be_many_and_go_in_any_order),
		cmocka_unit_test(a_backend_without_capture_says_so),
		cmocka_unit_test(a_replay_that_fails_is_answered_later),
		cmocka_unit_test(the_trainer_replays),
		cmocka_unit_test(the_trainer_captures_what_comes_twice),
		cmocka_unit_test(the_trainer_needs_no_more_memory_than_without),
		cmocka_unit_test(the_trainer_says_why_it_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
