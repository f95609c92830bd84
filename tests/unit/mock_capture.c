/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture and replay through a context, on the mock device: it keeps the buffers that captured work
 * uses, so that a host that frees one of them is detected.
 */
#include "capture_cases.h"
#include "mock_fixture.h"

static tn_context *open_deferred(void)
{
	return open_mock("");
}

static const struct capture_subject subject = {.open = open_deferred, .close = tn_context_close};

/* ---- Cases -----------------------------------------------------------------------------------*/

/* A ledger that times operations waits for each, except captured ones, which do not run. */
static void a_timed_context_captures_too(void **state)
{
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.ledger_time = 1;
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

/* The host does the mock's gather and scatter_add. */
static void work_on_the_host_is_not_captured(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_array *x = numbers(context, 1);
	assert_ok(tn_capture_begin(context));
	assert_null(tn_take(x, tn_full(context, TN_I32, 1, (int64_t[]){1}, 3), 0, TN_RAISE));
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_null(graph);
	assert_kept(context, TN_NOT_CAPTURABLE, "work is captured");
	tn_context_close(context);
}

/* LARS and LAMB need them. */
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
	assert_ok(tn_synchronize(context));
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_add_into(y, y, x));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	assert_int_equal(tn_synchronize(context), TN_BACKEND_FAILURE);
	assert_string_equal(tn_error(context)->operation, "replay");
	tn_error_clear(context);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* ---- The trainer -----------------------------------------------------------------------------*/

static tn_status train_within(uint64_t bytes, uint32_t capture, uint64_t *replays)
{
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.memory_limit = bytes;
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
	assert_ok(tn_module_sequential_add(net, "counter", tn_module_custom(context, &class_, n)));
	return net;
}

static void the_trainer_says_why_it_does_not(void **state)
{
	const char *path = mock_file();
	struct heard heard = {0};
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.log = hear;
	options.log_user = &heard;
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
		cmocka_unit_test(a_timed_context_captures_too),
		cmocka_unit_test(work_on_the_host_is_not_captured),
		cmocka_unit_test(steps_that_need_the_host_are_not_captured),
		cmocka_unit_test(a_backend_without_capture_says_so),
		cmocka_unit_test(a_replay_that_fails_is_answered_later),
		cmocka_unit_test(the_trainer_needs_no_more_memory_than_without),
		cmocka_unit_test(the_trainer_says_why_it_does_not),
	};
	int n_failed = run_capture_cases();
	return n_failed + cmocka_run_group_tests(tests, NULL, NULL);
}
