/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Profiles: sums that agree, what belongs to which module, and texts that others read.
 */
#include <jansson.h>
#include <locale.h>
#include <unistd.h>

#include "capture_step.h"
#include "mock_fixture.h"
#include "nn_backends.h"

enum { N = 4, WIDTH = 6, STEPS = 3 };

static const char *const backends[] = {"reference!", "auto", "mock"};

/* first: Linear, block: Sequential of fc and act, head: Linear. */
static tn_module *make_net(tn_context *context)
{
	tn_module *net = tn_module_sequential(context), *block = tn_module_sequential(context);
	assert_ok(
		tn_module_sequential_add(block, "fc", tn_module_linear(context, WIDTH, 50, NULL)));
	assert_ok(tn_module_sequential_add(block, "act", tn_module_tanh(context)));
	assert_ok(tn_module_sequential_add(net, "first",
					   tn_module_linear(context, WIDTH, WIDTH, NULL)));
	assert_ok(tn_module_sequential_add(net, "block", block));
	assert_ok(tn_module_sequential_add(net, "head", tn_module_linear(context, 50, 3, NULL)));
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	return net;
}

static tn_array *make_input(tn_context *context)
{
	return tn_random_normal(context, 2, (const int64_t[]){N, WIDTH}, 0, 1);
}

static void step_net(tn_context *context, tn_module *net, tn_optimizer *optimizer,
		     tn_profile *profile)
{
	assert_ok(tn_scope_begin(context));
	assert_ok(tn_profile_section_begin(profile, "data \"set\""));
	tn_array *x = make_input(context);
	assert_ok(tn_profile_section_end(profile));
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, x);
	assert_ok(tn_tape_backward(tape, tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
	assert_ok(tn_optimizer_step(optimizer));
	tn_scope_end(context, NULL);
}

static struct tn_profile_row row_of(const tn_profile *profile, uint32_t kind, const char *path)
{
	struct tn_profile_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; !tn_profile_at(profile, i, &row); i++) {
		if (row.kind == kind && !strcmp(row.path, path))
			return row;
	}
	fail_msg("no row '%s'", path);
	return row;
}

static struct tn_profile_row module_row(const tn_profile *profile, const char *path)
{
	return row_of(profile, TN_PROFILE_MODULE, path);
}

static tn_profile *profile_net(tn_context *context, tn_module *net,
			       const struct tn_profile_options *options)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	tn_profile *profile = tn_profile_begin(net, options);
	assert_non_null(profile);
	for (int i = 0; i < STEPS; i++)
		step_net(context, net, optimizer, profile);
	assert_int_equal(tn_profile_count(profile), 0); /* not before its end */
	assert_ok(tn_profile_end(profile));
	assert_ok(tn_profile_end(profile));
	assert_ok(tn_profile_section_begin(profile, "later"));
	/* What follows is not measured. */
	step_net(context, net, optimizer, NULL);
	tn_optimizer_destroy(optimizer);
	return profile;
}

static void check_sums(tn_context *context, const tn_profile *profile)
{
	struct tn_profile_row row = {.struct_size = sizeof(row)};
	struct tn_profile_facts facts = {.struct_size = sizeof(facts)};
	double own = 0;
	assert_ok(tn_profile_get_facts(profile, &facts));
	for (size_t i = 0; !tn_profile_at(profile, i, &row); i++) {
		own += row.own_seconds;
		assert_true(row.own_seconds >= -1e-6);
		assert_true(row.forward_seconds >= -1e-6 && row.backward_seconds >= -1e-6);
		assert_true(row.forward_bytes <= facts.peak_bytes);
		assert_true(row.backward_bytes <= facts.peak_bytes);
	}
	assert_true(facts.peak_bytes > 0);
	assert_close(own, facts.total_seconds, 1e-9 + 1e-6 * own);
	assert_true(facts.total_seconds > 0);
	if (facts.clock != TN_PROFILE_EVENTS)
		assert_true(facts.total_seconds <= facts.wall_seconds);
	assert_string_equal(facts.device, tn_device_name(tn_device_current(context)));
	struct tn_profile_row all = module_row(profile, ""), first = module_row(profile, "first");
	struct tn_profile_row block = module_row(profile, "block"),
			      fc = module_row(profile, "block.fc");
	struct tn_profile_row act = module_row(profile, "block.act"),
			      head = module_row(profile, "head");
	const struct tn_profile_row *const members[] = {&first, &block, &head};
	double both = all.own_seconds;
	for (int i = 0; i < 3; i++)
		both += members[i]->forward_seconds + members[i]->backward_seconds;
	assert_close(all.forward_seconds + all.backward_seconds, both, 1e-9 + 1e-6 * both);
	assert_close(block.backward_seconds + block.forward_seconds,
		     fc.own_seconds + act.own_seconds + block.own_seconds, 1e-9 + 1e-6 * both);
	assert_true(all.forward_seconds > 0 && all.forward_seconds >= first.forward_seconds);
}

static void sums_agree_and_calls_are_counted(void **state)
{
	(void)state;
	for (int b = 0; b < 3; b++) {
		tn_context *context = open_backend(backends[b]);
		tn_module *net = make_net(context);
		tn_profile *profile = profile_net(context, net, NULL);
		check_sums(context, profile);
		struct tn_profile_row all = module_row(profile, "");
		struct tn_profile_row fc = module_row(profile, "block.fc");
		assert_string_equal(all.class_name, "Sequential");
		assert_int_equal(all.calls, STEPS);
		assert_int_equal(fc.calls, STEPS);
		assert_int_equal(fc.depth, 2);
		assert_string_equal(fc.class_name, "Linear");
		assert_int_equal(fc.backward_calls, STEPS); /* one node */
		assert_int_equal(module_row(profile, "block.act").backward_calls, STEPS);
		/* The loss belongs to none. */
		assert_int_equal(module_row(profile, "head").backward_calls, STEPS);
		assert_int_equal(all.backward_calls, 0);
		/* Its result is larger than those of others. */
		assert_true(fc.forward_bytes >= N * 50 * 4);
		assert_true(all.forward_bytes >= fc.forward_bytes);
		assert_true(all.backward_bytes > 0 && all.backward_seconds > 0);
		assert_int_equal(row_of(profile, TN_PROFILE_BACKWARD, "backward").calls, STEPS);
		assert_int_equal(row_of(profile, TN_PROFILE_STEP, "sgd").calls, STEPS);
		assert_int_equal(row_of(profile, TN_PROFILE_SECTION, "data \"set\"").calls, STEPS);
		assert_int_equal(tn_profile_count(profile), tn_module_count(net) + 3);
		struct tn_profile_facts facts = {.struct_size = sizeof(facts)};
		assert_ok(tn_profile_get_facts(profile, &facts));
		const char *device = tn_device_name(tn_device_current(context));
		const int has_events = b == 2 || !strncmp(device, "cuda:", 5);
		assert_int_equal(facts.clock, has_events ? TN_PROFILE_EVENTS : TN_PROFILE_HOST);
		tn_profile_destroy(profile);
		tn_module_destroy(net);
		assert_null(tn_error(context));
		tn_context_close(context);
	}
}

/* The forward that backward repeats is backward's time, and no call. */
static void what_is_computed_again_belongs_to_backward(void **state)
{
	(void)state;
	for (int b = 0; b < 3; b++) {
		tn_context *context = open_backend(backends[b]);
		tn_module *net = make_net(context);
		tn_module_set_recompute(tn_module_child(net, "block"), 1);
		tn_profile *profile = profile_net(context, net, NULL);
		check_sums(context, profile);
		struct tn_profile_row fc = module_row(profile, "block.fc");
		assert_int_equal(fc.calls, STEPS);
		assert_int_equal(fc.backward_calls, STEPS);
		assert_true(fc.backward_seconds > 0);
		assert_true(fc.backward_bytes >= N * 50 * 4);
		char *trace = tn_profile_trace(profile);
		assert_contains(trace, "\"name\": \"block.fc\", \"cat\": \"recompute\"");
		tn_string_free(trace);
		tn_profile_destroy(profile);
		tn_module_destroy(net);
		tn_context_close(context);
	}
}

/* ---- Texts -----------------------------------------------------------------------------------*/

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	assert_true(json_is_number(value));
	return json_number_value(value);
}

static json_t *parse(char *text)
{
	json_error_t error;
	assert_non_null(text);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("line %d: %s", error.line, error.text);
	tn_string_free(text);
	return json;
}

/* Complete events, each inside of those around it: a stack by their times is never crossed. */
static size_t check_trace(const json_t *trace)
{
	const json_t *events = json_object_get(trace, "traceEvents"), *event;
	size_t n = 0, i;
	json_array_foreach(events, i, event)
	{
		const char *ph = json_string_value(json_object_get(event, "ph"));
		assert_true(json_is_string(json_object_get(event, "name")));
		assert_int_equal(json_integer_value(json_object_get(event, "pid")), 1);
		if (strcmp(ph, "X") != 0)
			continue;
		double from = number(event, "ts"), to = from + number(event, "dur");
		assert_true(from >= 0 && to >= from);
		n++;
		for (size_t k = 0; k < i; k++) {
			const json_t *other = json_array_get(events, k);
			if (!json_object_get(other, "ts"))
				continue;
			double a = number(other, "ts"), b = a + number(other, "dur");
			/* Apart, or one in the other; a microsecond is rounded to 0.001. */
			int apart = a >= to - 0.01 || from >= b - 0.01;
			int nested = (a >= from - 0.01 && b <= to + 0.01) ||
				     (from >= a - 0.01 && to <= b + 0.01);
			assert_true(apart || nested);
		}
	}
	return n;
}

static void check_texts(tn_profile *profile)
{
	struct tn_profile_facts facts = {.struct_size = sizeof(facts)};
	assert_ok(tn_profile_get_facts(profile, &facts));
	json_t *json = parse(tn_profile_json(profile));
	const json_t *rows = json_object_get(json, "rows");
	assert_int_equal(json_array_size(rows), tn_profile_count(profile));
	const json_t *row = json_array_get(rows, 3);
	struct tn_profile_row fc = module_row(profile, "block.fc");
	assert_string_equal(json_string_value(json_object_get(row, "path")), "block.fc");
	assert_close(number(row, "forward_seconds"), fc.forward_seconds, 1e-9);
	assert_close(number(row, "backward_seconds"), fc.backward_seconds, 1e-9);
	assert_int_equal(json_integer_value(json_object_get(row, "calls")), STEPS);
	assert_close(number(json, "total_seconds"), facts.total_seconds, 1e-9);
	json_decref(json);
	json = parse(tn_profile_trace(profile));
	size_t n = check_trace(json);
	assert_int_equal(n, facts.events);
	/* Of each step: data, the forwards of 6 modules, backward with 4 nodes of modules and those
	 * of the loss, and the optimizer's. */
	assert_true(n >= STEPS * (1 + 6 + 1 + 4 + 2 + 1));
	json_decref(json);
	char *table = tn_profile_table(profile);
	assert_non_null(table);
	for (const char *line = table; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
	assert_contains(table, "    fc Linear");
	assert_contains(table, "sgd (step)");
	tn_string_free(table);
}

static void the_texts_can_be_read(void **state)
{
	(void)state;
	for (int b = 0; b < 3; b++) {
		tn_context *context = open_backend(backends[b]);
		tn_module *net = make_net(context);
		tn_profile *profile = profile_net(context, net, NULL);
		check_texts(profile);
		if (setlocale(LC_ALL, "de_DE.UTF-8")) {
			check_texts(profile);
			setlocale(LC_ALL, "C");
		}
		tn_profile_destroy(profile);
		tn_module_destroy(net);
		tn_context_close(context);
	}
}

/* More marks than wait for their time at once, where the device measures it. */
static void a_long_profile_goes_on_with_the_same_clock(void **state)
{
	(void)state;
	tn_context *context = open_backend("mock");
	tn_module *net = make_net(context);
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1e-3;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	tn_profile *profile = tn_profile_begin(net, NULL);
	for (int i = 0; i < 100; i++)
		step_net(context, net, optimizer, profile);
	assert_ok(tn_profile_end(profile));
	struct tn_profile_facts facts = {.struct_size = sizeof(facts)};
	assert_ok(tn_profile_get_facts(profile, &facts));
	assert_true(facts.events > 1100);
	assert_int_equal(module_row(profile, "").calls, 100);
	json_t *trace = parse(tn_profile_trace(profile));
	const json_t *event;
	double before = -1, last = 0;
	size_t i;
	json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
	{
		const char *cat = json_string_value(json_object_get(event, "cat"));
		if (!cat || strcmp(cat, "section") != 0)
			continue;
		last = number(event, "ts");
		assert_true(last >= before);
		before = last;
	}
	assert_true(last <= facts.wall_seconds * 1e6 + 1000);
	json_decref(trace);
	tn_profile_destroy(profile);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_context_close(context);
}

static void a_trace_is_saved_and_its_length_limited(void **state)
{
	char path[64];
	struct tn_profile_facts facts = {.struct_size = sizeof(facts)};
	(void)state;
	tn_context *context = open_backend("auto");
	tn_module *net = make_net(context);
	struct tn_profile_options options = tn_profile_defaults();
	options.max_events = 5;
	tn_profile *profile = profile_net(context, net, &options);
	snprintf(path, sizeof(path), "nn_profile.%d.json", (int)getpid());
	assert_ok(tn_profile_get_facts(profile, &facts));
	assert_int_equal(facts.events, 5);
	assert_true(facts.lost_events > 5);
	assert_int_equal(module_row(profile, "first").calls, STEPS);
	assert_ok(tn_profile_save_trace(profile, path));
	json_error_t error;
	json_t *json = json_load_file(path, 0, &error);
	assert_int_equal(check_trace(json), 5);
	json_decref(json);
	unlink(path);
	assert_status(tn_profile_save_trace(profile, "no/such/folder/trace.json"), TN_IO);
	assert_kept(context, TN_IO, "no/such/folder");
	tn_profile_destroy(profile);
	options = tn_profile_defaults();
	options.max_events = 0;
	profile = profile_net(context, net, &options);
	assert_ok(tn_profile_get_facts(profile, &facts));
	assert_int_equal(facts.events, 0);
	tn_profile_destroy(profile);
	tn_module_destroy(net);
	tn_context_close(context);
}

/* ---- States ----------------------------------------------------------------------------------*/

struct ending {
	tn_profile *profile;
	tn_status status;
};

static void end_in_hook(void *user, tn_module *module, const tn_array *x, const tn_array *y)
{
	struct ending *ending = user;
	(void)module;
	(void)x;
	(void)y;
	ending->status = tn_profile_end(ending->profile);
}

static void a_profile_is_refused_where_it_cannot_measure(void **state)
{
	(void)state;
	tn_context *context = open_backend("auto");
	tn_module *net = make_net(context), *other = tn_module_relu(context);
	assert_null(tn_profile_begin(NULL, NULL));
	assert_null(tn_profile_begin(other, NULL));
	assert_kept(context, TN_STATE, "not been built");
	assert_null(tn_profile_begin(tn_module_child(net, "block"), NULL));
	assert_kept(context, TN_STATE, "member");
	tn_tape *tape = tn_tape_begin(context);
	assert_null(tn_profile_begin(net, NULL));
	assert_kept(context, TN_STATE, "tape");
	tn_tape_end(tape);
	tn_module_set_training(net, 0);
	assert_ok(tn_module_freeze(net));
	assert_null(tn_profile_begin(net, NULL));
	assert_kept(context, TN_STATE, "frozen");
	tn_module_unfreeze(net);
	tn_profile *profile = tn_profile_begin(net, NULL);
	assert_null(tn_profile_begin(net, NULL));
	assert_kept(context, TN_STATE, "already has a profile");
	assert_status(tn_module_freeze(net), TN_STATE);
	assert_kept(context, TN_STATE, "profile");
	const int64_t shape[] = {1, WIDTH};
	struct tn_summary_options options = tn_summary_defaults();
	options.rank = 2;
	options.shape = shape;
	assert_null(tn_summary_create(net, &options));
	assert_kept(context, TN_STATE, "profile");
	/* Sections that do not fit. */
	assert_status(tn_profile_section_end(profile), TN_STATE);
	assert_status(tn_profile_section_begin(profile, ""), TN_INVALID_ARGUMENT);
	assert_ok(tn_profile_section_begin(profile, "open"));
	assert_status(tn_profile_end(profile), TN_STATE);
	assert_kept(context, TN_STATE, "section open");
	assert_ok(tn_profile_section_end(profile));
	assert_ok(tn_profile_section_begin(profile, "two\nlines\x1b"));
	assert_ok(tn_profile_section_end(profile));
	/* In a hook of a member, the calls around it are running. */
	struct ending ending = {profile, TN_OK};
	tn_module *fc = tn_module_child(net, "block.fc");
	assert_ok(tn_module_set_forward_hook(fc, end_in_hook, &ending));
	assert_null(tn_module_forward(net, make_input(context)));
	assert_status(ending.status, TN_STATE);
	assert_kept(context, TN_STATE, "has begun");
	assert_ok(tn_module_set_forward_hook(fc, NULL, NULL));
	assert_non_null(tn_module_forward(net, make_input(context)));
	assert_ok(tn_profile_end(profile));
	assert_int_equal(module_row(profile, "").calls, 2);
	char *table = tn_profile_table(profile);
	assert_contains(table, "two lines? (section)");
	tn_string_free(table);
	assert_null(tn_profile_table(NULL));
	assert_status(tn_profile_end(NULL), TN_INVALID_ARGUMENT);
	tn_profile_destroy(profile);
	tn_profile_destroy(NULL);
	/* Destroyed while it measures. */
	tn_profile_destroy(tn_profile_begin(net, NULL));
	assert_non_null(tn_module_forward(net, make_input(context)));
	tn_module_destroy(net);
	tn_module_destroy(other);
	tn_context_close(context);
}

/* A forward that fails leaves the profile in order. */
static void a_failure_does_not_disturb_it(void **state)
{
	(void)state;
	tn_context *context = open_backend("auto");
	tn_module *net = make_net(context);
	tn_profile *profile = tn_profile_begin(net, NULL);
	assert_null(tn_module_forward(net, tn_ones(context, TN_F32, 2, (int64_t[]){2, 5})));
	assert_kept(context, TN_SHAPE, "");
	assert_non_null(tn_module_forward(net, make_input(context)));
	assert_ok(tn_profile_end(profile));
	assert_int_equal(module_row(profile, "first").calls, 2);
	assert_int_equal(module_row(profile, "block").calls, 1);
	check_sums(context, profile);
	tn_profile_destroy(profile);
	tn_module_destroy(net);
	tn_context_close(context);
}

/* What is captured has not run. */
static void captured_work_is_not_measured(void **state)
{
	(void)state;
	tn_context *context = open_backend("mock");
	struct training t = make_training(context, 1);
	tn_graph *graph = NULL;
	set_batch(&t, 0);
	assert_ok(step(&t));
	tn_profile *profile = tn_profile_begin(t.module, NULL);
	assert_non_null(profile);
	assert_ok(tn_capture_begin(context));
	assert_ok(step(&t));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	assert_ok(step(&t));
	assert_ok(tn_profile_end(profile));
	assert_int_equal(module_row(profile, "").calls, 1);
	tn_profile_destroy(profile);
	end_training(&t);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_agree_and_calls_are_counted),
		cmocka_unit_test(what_is_computed_again_belongs_to_backward),
		cmocka_unit_test(the_texts_can_be_read),
		cmocka_unit_test(a_long_profile_goes_on_with_the_same_clock),
		cmocka_unit_test(a_trace_is_saved_and_its_length_limited),
		cmocka_unit_test(a_profile_is_refused_where_it_cannot_measure),
		cmocka_unit_test(a_failure_does_not_disturb_it),
		cmocka_unit_test(captured_work_is_not_measured),
	};
	keep_plugin_path();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(nn_plugin_path);
	return failed;
}
