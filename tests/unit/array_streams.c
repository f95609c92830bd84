/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams and events on arrays.  A stream of the mock backend runs when the host waits for it, and
 * then other streams run only as far as it waits for them: work that was not ordered reads old
 * elements, or those of the next user of the memory.
 */
#include "mock_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include "device/scratch.h"
#include "device/stream.h"
#include "stream_tests.h"

/* The tests' own allocations do not fail. */
#define FAILING_MALLOC 0
#include "failing_memory.h"

/* ---- Every backend ---------------------------------------------------------------------------*/

/* A context on the built-in or the CPU backend, where all streams are one. */
static tn_context *open_synchronous(const char *name)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = name;
	tn_context *context = NULL;
	if (!strcmp(name, "cpu"))
		return open_cpu();
	set_faults("");
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static void check_streams(stream_case *check)
{
	static const char *const names[] = {"reference", "cpu"};
	for (int i = 0; i < 2; i++) {
		tn_context *context = open_synchronous(names[i]);
		if (!context)
			continue;
		check(context);
		tn_context_close(context);
	}
	tn_context *context = open_mock("");
	check(context);
	tn_context_close(context);
}

static void closing_the_context_destroys_what_is_left(void **state)
{
	(void)state;
	leave_streams(open_synchronous("reference"));
	leave_streams(open_mock(""));
}

/* An asynchronous device whose backend has no streams: the mock, without that table. */
static void without_the_table_all_streams_are_one(void **state)
{
	static stream_case *const checks[] = {check_the_stack, check_events,
					      check_producer_and_consumer,
					      check_memory_that_another_stream_reads};
	(void)state;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		tn_context *context = open_mock("");
		tn_device *device = tn_device_current(context);
		struct tn_backend *backend = (struct tn_backend *)(uintptr_t)device->backend;
		for (int slot = TN_SLOT_STREAM_CREATE; slot <= TN_SLOT_EVENT_ELAPSED; slot++)
			backend->native[slot] = 0;
		memset(&backend->stream, 0, sizeof(backend->stream));
		checks[i](context);
		tn_context_close(context);
	}
}

/* ---- The order of work -----------------------------------------------------------------------*/

/* That the cases above can fail: without an event the consumer reads the old elements. */
static void streams_without_events_run_apart(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = stream_numbers(context, 1);
	assert_ok(tn_synchronize(context));
	assert_ok(tn_stream_push(side));
	assert_ok(tn_fill(x, 2));
	assert_ok(tn_stream_pop(device));
	assert_true(value_of(x) == 1);
	assert_ok(tn_stream_synchronize(side));
	assert_true(value_of(x) == 2);
	tn_context_close(context);
}

static void tn_sync_waits_for_all_streams(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = stream_numbers(context, 1);
	assert_ok(tn_synchronize(context));
	assert_ok(tn_stream_push(side));
	assert_ok(tn_fill(x, 2));
	assert_ok(tn_stream_pop(device));
	assert_ok(tn_synchronize(context));
	assert_true(value_of(x) == 2);
	tn_context_close(context);
}

static void an_error_is_reported_by_the_stream_that_had_it(void **state)
{
	(void)state;
	tn_context *context = open_mock("async-error:3");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device), *other = tn_stream_create(device);
	tn_array *x = stream_numbers(context, 1);
	tn_event *event = tn_event_create(device);
	assert_true(value_of(x) == 1);
	assert_ok(tn_stream_push(side));
	assert_ok(tn_fill(x, 2));
	assert_ok(tn_event_record(event));
	assert_ok(tn_stream_pop(device));
	assert_ok(tn_event_wait(event));
	assert_true(value_of(x) == 1);
	assert_int_equal(tn_event_synchronize(event), TN_BACKEND_FAILURE);
	assert_error(context, TN_BACKEND_FAILURE, "fill", "piece of work 3 failed");
	assert_ok(tn_stream_synchronize(side));
	/* The error of a stream that is destroyed is not lost. */
	tn_context_close(context);
	context = open_mock("async-error:3");
	device = tn_device_current(context);
	other = tn_stream_create(device);
	x = stream_numbers(context, 1);
	assert_true(value_of(x) == 1);
	assert_ok(tn_stream_push(other));
	assert_ok(tn_fill(x, 2));
	assert_ok(tn_stream_pop(device));
	tn_stream_destroy(other);
	assert_int_equal(tn_synchronize(context), TN_BACKEND_FAILURE);
	assert_error(context, TN_BACKEND_FAILURE, "fill", "piece of work 3 failed");
	tn_context_close(context);
}

/* A label out of range is found by work of the stream, and reported by a wait for that stream. */
static void checks_are_reported_by_their_stream(void **state)
{
	const int32_t wrong = 3;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device), *other;
	tn_array *x = stream_numbers(context, 3);
	tn_array *logits = tn_zeros(context, TN_F32, 2, (int64_t[]){1, 3});
	tn_array *label = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &wrong);
	for (int i = 0; i < 3; i++) {
		order_streams(device, NULL, side);
		assert_ok(tn_stream_push(side));
		assert_non_null(tn_cross_entropy(logits, label, NULL));
		assert_ok(tn_stream_pop(device));
		assert_true(value_of(x) == 3);
		other = tn_stream_create(device);
		assert_ok(tn_stream_synchronize(other));
		if (i == 0) {
			assert_int_equal(tn_stream_synchronize(side), TN_INVALID_ARGUMENT);
		} else {
			if (i == 2)
				tn_stream_destroy(side);
			assert_int_equal(tn_synchronize(context), TN_INVALID_ARGUMENT);
		}
		assert_error(context, TN_INVALID_ARGUMENT, "cross_entropy", "label 3 is out of");
		assert_ok(tn_synchronize(context));
	}
	tn_context_close(context);
}

/* The loss of one example whose label may be out of range. */
static tn_array *loss_of(tn_context *context, int32_t label)
{
	tn_array *logits = tn_ones(context, TN_F32, 2, (int64_t[]){1, 3});
	tn_array *labels = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &label);
	tn_array *loss = tn_cross_entropy(logits, labels, NULL);
	tn_array_destroy(logits);
	tn_array_destroy(labels);
	return loss;
}

/* Checks of two streams fail at the same time: each stream reports its own, and one that is made
 * in the place of another only its own too. */
static void each_stream_reports_its_own_failed_check(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	for (int i = 0; i < 3; i++) {
		tn_stream *side = tn_stream_create(device);
		assert_non_null(loss_of(context, 7));
		assert_ok(tn_stream_push(side));
		assert_non_null(loss_of(context, 8));
		assert_ok(tn_stream_pop(device));
		assert_int_equal(tn_stream_synchronize(side), TN_INVALID_ARGUMENT);
		assert_error(context, TN_INVALID_ARGUMENT, "cross_entropy", "label 8 is out of");
		assert_int_equal(tn_synchronize(context), TN_INVALID_ARGUMENT);
		assert_error(context, TN_INVALID_ARGUMENT, "cross_entropy", "label 7 is out of");
		assert_ok(tn_synchronize(context));
		tn_stream_destroy(side);
	}
	tn_context_close(context);
}

/* Two graphs, in two streams; the check of one that is destroyed is still reported. */
static void each_graph_has_its_own_failed_check(void **state)
{
	static const int32_t wrong[] = {7, 8};
	tn_graph *graphs[2];
	(void)state;
	for (int is_gone = 0; is_gone < 2; is_gone++) {
		tn_context *context = open_mock("");
		tn_device *device = tn_device_current(context);
		tn_stream *side = tn_stream_create(device);
		tn_array *logits = tn_ones(context, TN_F32, 2, (int64_t[]){1, 3});
		for (int i = 0; i < 2; i++) {
			tn_array *label =
				tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &wrong[i]);
			assert_ok(tn_capture_begin(context));
			assert_non_null(tn_cross_entropy(logits, label, NULL));
			assert_ok(tn_capture_end(context, &graphs[i]));
		}
		assert_ok(tn_graph_replay(graphs[0]));
		assert_ok(tn_stream_push(side));
		assert_ok(tn_graph_replay(graphs[1]));
		assert_ok(tn_stream_pop(device));
		if (is_gone)
			tn_graph_destroy(graphs[1]);
		assert_int_equal(tn_stream_synchronize(side), TN_INVALID_ARGUMENT);
		assert_error(context, TN_INVALID_ARGUMENT, "cross_entropy", "label 8 is out of");
		assert_int_equal(tn_synchronize(context), TN_INVALID_ARGUMENT);
		assert_error(context, TN_INVALID_ARGUMENT, "cross_entropy", "label 7 is out of");
		assert_ok(tn_synchronize(context));
		/* Reported again by the next replay, also in another stream. */
		assert_ok(tn_stream_push(side));
		assert_ok(tn_graph_replay(graphs[0]));
		assert_int_equal(tn_synchronize(context), TN_INVALID_ARGUMENT);
		assert_error(context, TN_INVALID_ARGUMENT, "cross_entropy", "label 7 is out of");
		assert_ok(tn_synchronize(context));
		tn_graph_destroy(graphs[0]);
		if (!is_gone)
			tn_graph_destroy(graphs[1]);
		tn_context_close(context);
	}
}

/* Graphs and streams with checks come and go: the memory of their records is used again. */
static void records_of_checks_are_used_again(void **state)
{
	struct tn_memory_use before = {.struct_size = sizeof(before)},
			     after = {.struct_size = sizeof(after)};
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	for (int i = 0; i < 20; i++) {
		tn_graph *graph = NULL;
		tn_stream *side = tn_stream_create(device);
		tn_array *logits = tn_ones(context, TN_F32, 2, (int64_t[]){1, 3});
		tn_array *label = tn_full(context, TN_I32, 1, (int64_t[]){1}, 1);
		assert_ok(tn_stream_push(side));
		tn_array_destroy(tn_cross_entropy(logits, label, NULL));
		assert_ok(tn_capture_begin(context));
		tn_array_destroy(tn_cross_entropy(logits, label, NULL));
		assert_ok(tn_capture_end(context, &graph));
		assert_ok(tn_graph_replay(graph));
		assert_ok(tn_stream_pop(device));
		assert_ok(tn_synchronize(context));
		tn_graph_destroy(graph);
		tn_stream_destroy(side);
		tn_array_destroy(logits);
		tn_array_destroy(label);
		tn_device_get_memory_use(device, i ? &after : &before);
	}
	assert_int_equal(after.used, before.used);
	tn_context_close(context);
}

/* Each piece of work fails in turn, in one of the two streams that replay a graph whose check finds
 * nothing: the failure is reported, not what it left in the record of the check. */
static void a_failure_is_not_reported_as_a_failed_check(void **state)
{
	const int32_t good = 1;
	int has_failed = 1;
	(void)state;
	for (int n = 1; has_failed; n++) {
		char faults[32];
		tn_graph *graph = NULL;
		snprintf(faults, sizeof(faults), "async-error:%d", n);
		tn_context *context = open_mock(faults);
		tn_device *device = tn_device_current(context);
		tn_stream *side = tn_stream_create(device);
		tn_array *logits = tn_ones(context, TN_F32, 2, (int64_t[]){1, 3});
		tn_array *label = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &good);
		tn_synchronize(context);
		has_failed = tn_error(context) != NULL;
		if (has_failed) { /* before the check */
			tn_error_clear(context);
			tn_context_close(context);
			continue;
		}
		assert_ok(tn_capture_begin(context));
		assert_non_null(tn_cross_entropy(logits, label, NULL));
		assert_ok(tn_capture_end(context, &graph));
		assert_ok(tn_stream_push(side));
		assert_ok(tn_graph_replay(graph));
		assert_ok(tn_stream_pop(device));
		assert_ok(tn_graph_replay(graph));
		tn_stream *streams[] = {NULL, side, NULL};
		for (int i = 0; i < 3; i++) {
			tn_status status = streams[i] ? tn_stream_synchronize(streams[i])
						      : tn_item(label, &(double){0});
			if (!status)
				continue;
			assert_error(context, TN_BACKEND_FAILURE, tn_error(context)->operation,
				     "piece of work");
			has_failed++;
		}
		assert_ok(tn_synchronize(context));
		assert_true(has_failed <= 1);
		tn_graph_destroy(graph);
		tn_context_close(context);
		assert_true(n < 100);
	}
}

/* Also when the stream in which it was recorded is gone. */
static void a_wait_for_an_event_reports_checks_before_it(void **state)
{
	(void)state;
	for (int is_gone = 0; is_gone < 2; is_gone++) {
		tn_context *context = open_mock("");
		tn_device *device = tn_device_current(context);
		tn_stream *side = tn_stream_create(device);
		tn_event *event = tn_event_create(device);
		assert_ok(tn_stream_push(side));
		assert_non_null(loss_of(context, 7));
		assert_ok(tn_event_record(event));
		assert_ok(tn_stream_pop(device));
		if (is_gone)
			tn_stream_destroy(side);
		assert_int_equal(tn_event_synchronize(event), TN_INVALID_ARGUMENT);
		assert_error(context, TN_INVALID_ARGUMENT, "cross_entropy", "label 7 is out of");
		assert_ok(tn_event_synchronize(event));
		assert_ok(tn_synchronize(context));
		tn_context_close(context);
	}
}

/* A download that does not wait does not read checks either. */
static void a_download_into_a_buffer_does_not_wait_after_a_check(void **state)
{
	int reached = 1;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_host_buffer *buffer = tn_host_buffer_create(device, sizeof(float));
	tn_event *event = tn_event_create(device);
	tn_array *loss = loss_of(context, 7);
	assert_ok(tn_event_record(event));
	assert_ok(tn_to_host_async(loss, buffer, 0));
	assert_ok(tn_event_query(event, &reached));
	assert_int_equal(reached, 0);
	assert_int_equal(tn_synchronize(context), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "cross_entropy", "label 7 is out of");
	tn_context_close(context);
}

/* tn_synchronize finds a check that failed in one stream, then a failure of the backend in another,
 * which the next call reports. */
static void tn_synchronize_keeps_the_error_of_a_second_stream(void **state)
{
	int found = 0;
	(void)state;
	for (int n = 1; !found; n++) {
		char faults[32];
		snprintf(faults, sizeof(faults), "async-error:%d", n);
		tn_context *context = open_mock(faults);
		tn_device *device = tn_device_current(context);
		tn_stream *side = tn_stream_create(device);
		loss_of(context, 7);
		tn_error_clear(context);
		assert_ok(tn_stream_push(side));
		assert_non_null(stream_numbers(context, 1));
		assert_ok(tn_stream_pop(device));
		if (tn_synchronize(context) == TN_INVALID_ARGUMENT) {
			assert_error(context, TN_INVALID_ARGUMENT, "cross_entropy", "label 7");
			assert_int_equal(tn_synchronize(context), TN_BACKEND_FAILURE);
			assert_error(context, TN_BACKEND_FAILURE, "fill", "piece of work");
			assert_ok(tn_synchronize(context));
			found = 1;
		}
		tn_context_close(context);
		assert_true(n < 100);
	}
}

/* Each device has its own current stream; a copy is ordered with both. */
static void copies_between_devices_are_in_both_current_streams(void **state)
{
	static const char *const ways[] = {"devices:2", "devices:2,no-peers"};
	(void)state;
	for (int i = 0; i < 2; i++) {
		tn_context *context = open_mock(ways[i]);
		tn_device *first = tn_context_device(context, 0),
			  *second = tn_context_device(context, 1);
		tn_stream *one = tn_stream_create(first), *two = tn_stream_create(second);
		tn_event *here = tn_event_create(first), *there = tn_event_create(second);
		double seconds;
		tn_array *x = stream_numbers(context, 3);
		order_streams(first, NULL, one);
		assert_ok(tn_stream_push(one));
		assert_ok(tn_stream_push(two));
		tn_array *copy = tn_to(x, second);
		assert_ok(tn_stream_pop(first));
		tn_array_destroy(x);
		tn_array *again = stream_numbers(context, -1);
		assert_true(value_of(again) == -1);
		assert_true(value_of(copy) == 3);
		assert_ok(tn_event_record(here));
		assert_ok(tn_event_record(there));
		assert_int_equal(tn_event_elapsed(here, there, &seconds), TN_DEVICE);
		assert_error(context, TN_DEVICE, "event_elapsed", "start is an event of mock:0");
		tn_context_close(context);
	}
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static tn_context *open_limited(uint64_t limit)
{
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.memory_limit = limit;
	tn_context *context = NULL;
	set_faults("");
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

/* Room for one large array and small ones: the second stream gets the memory of the first. */
static void a_stream_gets_the_memory_of_another_when_there_is_no_other(void **state)
{
	enum { LARGE = 3 << 20 };
	const int64_t shape[] = {LARGE};
	double sum = 0, one = 0;
	(void)state;
	tn_context *context = open_limited(20 << 20);
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *small = stream_numbers(context, 0), *x = tn_full(context, TN_F32, 1, shape, 2);
	const uint64_t buffer = x->storage->block.buffer;
	tn_array *total = tn_sum(x, 1, (const int[]){0}, 0);
	assert_non_null(total);
	tn_array_destroy(x);
	assert_ok(tn_stream_push(side));
	tn_array *y = tn_full(context, TN_F32, 1, shape, 100);
	assert_non_null(y);
	assert_int_equal(y->storage->block.buffer, buffer);
	tn_array *part = tn_slice(y, 0, 7, 8, 1);
	assert_ok(tn_item(part, &one));
	assert_true(one == 100);
	assert_ok(tn_stream_pop(device));
	assert_ok(tn_item(total, &sum));
	assert_true(sum == 2.0 * LARGE);
	/* It now belongs to the side stream: the ordinary one waits for that in turn. */
	assert_ok(tn_stream_push(side));
	tn_array *total_of_y = tn_sum(y, 1, (const int[]){0}, 0);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(part);
	tn_array_destroy(y);
	x = tn_full(context, TN_F32, 1, shape, -1);
	assert_non_null(x);
	assert_int_equal(x->storage->block.buffer, buffer);
	tn_array *part_of_x = tn_slice(x, 0, 7, 8, 1);
	assert_ok(tn_item(part_of_x, &one));
	assert_true(one == -1);
	assert_ok(tn_stream_push(side));
	assert_ok(tn_item(total_of_y, &sum));
	assert_true(sum == 100.0 * LARGE);
	assert_ok(tn_stream_pop(device));
	/* More than the limit fails, and the streams go on. */
	assert_null(tn_full(context, TN_F32, 1, shape, 1));
	assert_kept(context, TN_OUT_OF_MEMORY, "the memory limit is reached");
	assert_true(value_of(small) == 0);
	tn_context_close(context);
}

/* A new chunk is preferred to the memory of a stream whose work may take long. */
static void a_stream_does_not_wait_for_another_while_there_is_memory(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = stream_numbers(context, 1);
	const struct tn_block block = x->storage->block;
	assert_true(value_of(x) == 1);
	tn_array *y = tn_add(x, x);
	tn_event *end = tn_event_create(device);
	int reached = 1;
	assert_ok(tn_event_record(end));
	tn_array_destroy(x);
	tn_array_destroy(y);
	assert_ok(tn_stream_push(side));
	tn_array *z = stream_numbers(context, 2);
	assert_false(z->storage->block.buffer == block.buffer &&
		     z->storage->block.offset == block.offset);
	assert_true(value_of(z) == 2);
	assert_ok(tn_event_query(end, &reached));
	assert_int_equal(reached, 0);
	assert_ok(tn_stream_pop(device));
	tn_array *again = stream_numbers(context, 3);
	assert_true(value_of(again) == 3);
	tn_context_close(context);
}

static void the_memory_of_a_destroyed_stream_is_used_again(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	for (int i = 0; i < 100; i++) {
		tn_stream *side = tn_stream_create(device);
		assert_non_null(side);
		assert_ok(tn_stream_push(side));
		tn_array *x = stream_numbers(context, i);
		tn_array *y = tn_add(x, x);
		assert_ok(tn_stream_pop(device));
		tn_array_destroy(x);
		tn_stream_destroy(side);
		assert_true(value_of(y) == (float)(2 * i));
		tn_array_destroy(y);
	}
	tn_device_get_memory_use(device, &use);
	assert_int_equal(use.used, 0);
	assert_true(use.cached < 100 << 20);
	tn_context_close(context);
}

static void each_stream_has_its_own_workspace(void **state)
{
	enum { SIZE = 2 << 20 };
	struct tn_block ordinary, sides, again;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	assert_ok(tn_scratch_take(device, SIZE, &ordinary, &error));
	tn_scratch_give(device, &ordinary);
	assert_ok(tn_stream_push(side));
	assert_ok(tn_scratch_take(device, SIZE, &sides, &error));
	tn_scratch_give(device, &sides);
	assert_ok(tn_stream_pop(device));
	assert_ok(tn_scratch_take(device, SIZE, &again, &error));
	tn_scratch_give(device, &again);
	assert_int_not_equal(ordinary.buffer, sides.buffer);
	assert_int_equal(ordinary.buffer, again.buffer);
	tn_stream_destroy(side);
	tn_context_close(context);
}

/* Reads the first half of a piece's memory in `side`, then frees it; returns what was read. */
static tn_array *read_and_free(tn_context *context, tn_stream *side, tn_array *x)
{
	tn_device *device = tn_device_current(context);
	tn_array *part = tn_slice(x, 0, 0, STREAM_N, 1);
	order_streams(device, NULL, side);
	assert_ok(tn_stream_push(side));
	tn_array *y = tn_add(part, part);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(part);
	tn_array_destroy(x);
	return y;
}

/* Pieces that are split, and neighbours that are joined, keep what their next users wait for. */
static void split_and_joined_memory_waits_too(void **state)
{
	enum { MIB = 1 << 18 }; /* of f32 */
	const int64_t whole = 4 * MIB, quarter = MIB, half = 2 * MIB;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	/* One chunk, cut anew: [used: 1 MiB][first: 1 MiB][second: 2 MiB]. */
	tn_array *x = tn_full(context, TN_F32, 1, &whole, 6);
	const uint64_t chunk = x->storage->block.buffer;
	tn_array *y = read_and_free(context, side, x);
	tn_array *used = tn_full(context, TN_F32, 1, &quarter, 0);
	assert_int_equal(used->storage->block.buffer, chunk);
	tn_array *part = tn_slice(used, 0, 0, STREAM_N, 1);
	assert_true(value_of(part) == 0);
	assert_ok(tn_stream_push(side));
	assert_true(value_of(y) == 12);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(part);
	tn_array *first = tn_full(context, TN_F32, 1, &quarter, 1);
	tn_array *second = tn_full(context, TN_F32, 1, &half, 2);
	const struct tn_block a = first->storage->block, b = second->storage->block;
	assert_int_equal(a.buffer, b.buffer);
	assert_int_equal(a.offset + (1 << 20), b.offset);
	/* The second is split. */
	y = read_and_free(context, side, second);
	second = tn_full(context, TN_F32, 1, &quarter, -1);
	tn_array *rest = tn_full(context, TN_F32, 1, &quarter, -2);
	assert_int_equal(second->storage->block.offset, b.offset);
	assert_int_equal(rest->storage->block.offset, b.offset + (1 << 20));
	part = tn_slice(second, 0, 0, STREAM_N, 1);
	assert_true(value_of(part) == -1);
	assert_ok(tn_stream_push(side));
	assert_true(value_of(y) == 4);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(part);
	/* First and second are joined: the lower one was used last. */
	tn_array *z = read_and_free(context, side, second);
	y = read_and_free(context, side, first);
	tn_array *joined = tn_full(context, TN_F32, 1, &half, -3);
	assert_int_equal(joined->storage->block.offset, a.offset);
	part = tn_slice(joined, 0, 0, STREAM_N, 1);
	assert_true(value_of(part) == -3);
	assert_ok(tn_stream_push(side));
	assert_true(value_of(y) == 2);
	assert_true(value_of(z) == -2);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(used);
	tn_context_close(context);
}

/* Neighbours in one chunk, of which the lower is another stream's, whose work would read what is
 * written there.  A new chunk does not fit. */
static void memory_of_two_streams_is_not_joined(void **state)
{
	enum { MIB = 1 << 18 }; /* of f32 */
	const int64_t whole = 12 * MIB, third = 4 * MIB, both = 8 * MIB;
	double sum = 0;
	(void)state;
	tn_context *context = open_limited(14 << 20);
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = tn_full(context, TN_F32, 1, &whole, 1);
	const struct tn_block block = x->storage->block;
	tn_array_destroy(x);
	tn_array *lower = tn_full(context, TN_F32, 1, &third, 2);
	tn_array *upper = tn_full(context, TN_F32, 1, &third, 3);
	tn_array *used = tn_full(context, TN_F32, 1, &third, 0);
	assert_int_equal(lower->storage->block.offset, block.offset);
	assert_int_equal(upper->storage->block.buffer, block.buffer);
	assert_int_equal(used->storage->block.buffer, block.buffer);
	tn_array_destroy(lower);
	assert_ok(tn_stream_push(side));
	lower = tn_full(context, TN_F32, 1, &third, 4);
	assert_non_null(lower);
	assert_int_equal(lower->storage->block.offset, block.offset);
	tn_array *total = tn_sum(lower, 1, (const int[]){0}, 0);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(lower);
	tn_array_destroy(upper);
	assert_null(tn_full(context, TN_F32, 1, &both, 5));
	assert_kept(context, TN_OUT_OF_MEMORY, "the memory limit is reached");
	assert_ok(tn_stream_push(side));
	assert_ok(tn_item(total, &sum));
	assert_true(sum == 4.0 * (double)third);
	assert_ok(tn_stream_pop(device));
	tn_context_close(context);
}

static tn_status refuse_event(void *device, const struct tn_event_args *args)
{
	(void)device, (void)args;
	return TN_OUT_OF_MEMORY;
}

/* When the backend cannot record an event, or wait for one, the host waits for the other stream. */
static void without_events_the_host_waits(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		tn_context *context = open_mock("");
		tn_device *device = tn_device_current(context);
		struct tn_backend *backend = (struct tn_backend *)(uintptr_t)device->backend;
		tn_stream *side = tn_stream_create(device);
		tn_array *x = stream_numbers(context, 5);
		order_streams(device, NULL, side);
		assert_ok(tn_stream_push(side));
		tn_array *y = tn_add(x, x);
		assert_ok(tn_stream_pop(device));
		if (i)
			backend->stream.event_wait = refuse_event;
		else
			backend->stream.event_record = refuse_event;
		tn_array_destroy(x);
		x = stream_numbers(context, -1);
		assert_true(value_of(x) == -1);
		assert_ok(tn_stream_push(side));
		assert_true(value_of(y) == 10);
		tn_context_close(context);
	}
}

/* Streams that pass an array's memory on, while the host's memory fails; 0: a function failed.
 * y: an array of 10s. */
static int pass_on(tn_context *context, tn_array **y)
{
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device), *other = tn_stream_create(device);
	tn_event *event = tn_event_create(device);
	tn_array *x = stream_numbers(context, 5);
	static float values[STREAM_N];
	int worked = 0;
	if (!other || !event || !x || tn_event_record(event))
		goto done;
	for (int i = 0; i < 10; i++) {
		if (tn_stream_push(i % 2 ? side : other))
			goto done;
	}
	if (tn_event_wait(event))
		goto done;
	*y = tn_add(x, x);
	if (!*y || tn_event_record(event))
		goto done;
	while (tn_stream_current(device))
		assert_ok(tn_stream_pop(device));
	tn_array_destroy(x);
	x = stream_numbers(context, -1);
	/* Runs the ordinary stream first. */
	worked = x && !tn_to_host(x, values, sizeof(values)) && !tn_event_synchronize(event);
done:
	tn_error_clear(context);
	while (tn_stream_current(device))
		assert_ok(tn_stream_pop(device));
	tn_array_destroy(x);
	tn_event_destroy(event);
	tn_stream_destroy(side);
	tn_stream_destroy(other);
	return worked;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	long n = 0;
	for (int done = 0; !done; n++) {
		tn_array *y = NULL;
		tn_context *context = open_mock("");
		memory_fails_at(n, 0);
		int worked = pass_on(context, &y);
		done = !memory_works();
		if (done)
			assert_true(worked);
		/* The order holds, even if points could not be made. */
		if (y)
			assert_true(value_of(y) == 10);
		tn_context_close(context);
		assert_true(n < 1000);
	}
	assert_true(n > 10);
}

static void a_device_has_a_limited_number_of_streams(void **state)
{
	tn_stream *streams[TN_MAX_STREAMS];
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	for (int i = 0; i < TN_MAX_STREAMS; i++) {
		streams[i] = tn_stream_create(device);
		assert_non_null(streams[i]);
	}
	assert_null(tn_stream_create(device));
	assert_error(context, TN_LIMIT, "stream_create", "expected at most 63 streams");
	tn_stream_destroy(streams[20]);
	assert_non_null(tn_stream_create(device));
	assert_ok(tn_synchronize(context));
	tn_context_close(context);
}

/* ---- Capture ---------------------------------------------------------------------------------*/

static void a_replay_runs_in_the_current_stream(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	check_replays_in_several_streams(context);
	check_memory_that_a_replay_reads(context);
	tn_context_close(context);
}

/* Captured work gets memory that another stream still uses. */
static void captured_work_waits_for_the_users_of_its_memory(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = stream_numbers(context, 5), *out = stream_numbers(context, 0);
	const struct tn_block block = x->storage->block;
	order_streams(device, NULL, side);
	assert_ok(tn_stream_push(side));
	tn_array *y = tn_add(x, x);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(x);
	assert_ok(tn_capture_begin(context));
	tn_array *inner = stream_numbers(context, -1);
	assert_int_equal(inner->storage->block.buffer, block.buffer);
	assert_int_equal(inner->storage->block.offset, block.offset);
	assert_ok(tn_add_into(out, inner, inner));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	assert_true(value_of(out) == -2);
	assert_ok(tn_stream_push(side));
	assert_true(value_of(y) == 10);
	assert_ok(tn_stream_pop(device));
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* A replay in another stream comes after the earlier users of the memory in the captured one. */
static void a_replay_waits_for_the_stream_that_was_captured(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = stream_numbers(context, 5), *out = stream_numbers(context, 0);
	const struct tn_block block = x->storage->block;
	order_streams(device, NULL, side);
	tn_array *y = tn_add(x, x);
	tn_array_destroy(x);
	assert_ok(tn_capture_begin(context));
	tn_array *inner = stream_numbers(context, -1);
	assert_int_equal(inner->storage->block.buffer, block.buffer);
	assert_int_equal(inner->storage->block.offset, block.offset);
	assert_ok(tn_add_into(out, inner, inner));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_stream_push(side));
	assert_ok(tn_graph_replay(graph));
	assert_true(value_of(out) == -2);
	assert_ok(tn_stream_pop(device));
	assert_true(value_of(y) == 10);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

static tn_status (*end_capture)(void *device, const struct tn_graph_args *args, void **graph);
static tn_status (*release_graph)(void *device, const struct tn_graph_args *args);

/* Ends the capture, and gives no graph. */
static tn_status fail_capture(void *device, const struct tn_graph_args *args, void **graph)
{
	struct tn_graph_args release = {.call = {.struct_size = sizeof(release)}};
	assert_ok(end_capture(device, args, &release.graph));
	assert_ok(release_graph(device, &release));
	*graph = NULL;
	return TN_NOT_CAPTURABLE;
}

/* The memory that a failed capture took still has its earlier users. */
static void memory_of_a_failed_capture_still_waits(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = stream_numbers(context, 5);
	const struct tn_block block = x->storage->block;
	order_streams(device, NULL, side);
	assert_ok(tn_stream_push(side));
	tn_array *y = tn_add(x, x);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(x);
	assert_ok(tn_capture_begin(context));
	tn_array *inner = stream_numbers(context, -1);
	struct tn_backend *backend = (struct tn_backend *)(uintptr_t)device->backend;
	end_capture = backend->capture.capture_end;
	release_graph = backend->capture.graph_release;
	backend->capture.capture_end = fail_capture;
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	tn_error_clear(context);
	tn_array_destroy(inner);
	tn_array *again = stream_numbers(context, -2);
	assert_int_equal(again->storage->block.buffer, block.buffer);
	assert_int_equal(again->storage->block.offset, block.offset);
	assert_true(value_of(again) == -2);
	assert_ok(tn_stream_push(side));
	assert_true(value_of(y) == 10);
	tn_context_close(context);
}

/* The part of a split piece that a capture leaves still has its earlier users. */
static void memory_that_a_capture_splits_still_waits(void **state)
{
	enum { WHOLE = 1 << 20, TAKEN = 75000, REST = 700000 };
	static float values[WHOLE];
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = tn_full(context, TN_F32, 1, (int64_t[]){WHOLE}, 3);
	const uint64_t chunk = x->storage->block.buffer;
	order_streams(device, NULL, side);
	assert_ok(tn_stream_push(side));
	tn_array *y = tn_add(x, x);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(x);
	assert_ok(tn_capture_begin(context));
	tn_array *taken = tn_full(context, TN_F32, 1, (int64_t[]){TAKEN}, 1);
	assert_int_equal(taken->storage->block.buffer, chunk);
	assert_ok(tn_capture_end(context, &graph));
	tn_array *rest = tn_full(context, TN_F32, 1, (int64_t[]){REST}, 9);
	assert_int_equal(rest->storage->block.buffer, chunk);
	assert_ok(tn_to_host(rest, values, REST * sizeof(float)));
	assert_ok(tn_stream_push(side));
	assert_ok(tn_to_host(y, values, sizeof(values)));
	for (int i = 0; i < WHOLE; i++)
		assert_true(values[i] == 6);
	assert_ok(tn_stream_pop(device));
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* An array made in a capture is freed before another stream has read it; the next replay writes its
 * memory. */
static void a_replay_waits_for_readers_of_a_freed_array(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = stream_numbers(context, 1);
	assert_ok(tn_capture_begin(context));
	tn_array *y = tn_add(x, x);
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	order_streams(device, NULL, side);
	assert_ok(tn_stream_push(side));
	tn_array *z = tn_add(y, y);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(y);
	assert_ok(tn_fill(x, 10));
	assert_ok(tn_graph_replay(graph));
	assert_true(value_of(x) == 10);
	assert_ok(tn_stream_push(side));
	assert_true(value_of(z) == 4);
	assert_ok(tn_stream_pop(device));
	tn_graph_destroy(graph);
	tn_context_close(context);
}

static void a_stream_destroyed_in_a_capture_lives_until_its_end(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device), *other = tn_stream_create(device);
	tn_event *event = tn_event_create(device);
	int reached;
	assert_ok(tn_stream_push(side));
	tn_array *x = stream_numbers(context, 2);
	assert_ok(tn_capture_begin(context));
	tn_stream_destroy(other);
	tn_stream_destroy(side);
	assert_null(tn_stream_create(device));
	assert_error(context, TN_NOT_CAPTURABLE, "stream_create", "work is captured");
	assert_int_equal(tn_event_record(event), TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "event_record", "work is captured");
	assert_int_equal(tn_event_wait(event), TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "event_wait", "work is captured");
	assert_int_equal(tn_event_query(event, &reached), TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "event_query", "work is captured");
	assert_int_equal(tn_event_synchronize(event), TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "event_synchronize", "work is captured");
	assert_ok(tn_add_into(x, x, x));
	assert_ok(tn_capture_end(context, &graph));
	assert_null(tn_stream_current(device));
	assert_null(device->streams);
	assert_ok(tn_graph_replay(graph));
	assert_true(value_of(x) == 4);
	assert_ok(tn_stream_pop(device));
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* ---- Modules ---------------------------------------------------------------------------------*/

/* The first forward in one stream folds the weights that a forward in another reads. */
static void folded_weights_are_ready_in_every_stream(void **state)
{
	const int64_t shape[] = {1, 2, 4, 4};
	float values[2][2 * 4 * 4];
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_module *net = tn_module_sequential(context);
	struct tn_module_conv2d_options conv2d = tn_module_conv2d_defaults();
	conv2d.no_bias = 1;
	assert_ok(tn_module_sequential_add(net, "conv",
					   tn_module_conv2d(context, 2, 2, 1, 1, &conv2d)));
	assert_ok(tn_module_sequential_add(net, "norm", tn_module_batch_norm2d(context, 2, NULL)));
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 0);
	assert_ok(tn_module_freeze(net));
	tn_stream *side = tn_stream_create(device);
	tn_array *x = tn_full(context, TN_F32, 4, shape, 2);
	for (int i = 0; i < 3; i++) {
		struct tn_parameter_view weight = {.struct_size = sizeof(weight)};
		assert_ok(tn_module_parameter(net, "conv.weight", &weight));
		assert_ok(tn_fill(weight.value, i + 1));
		order_streams(device, NULL, side);
		assert_ok(tn_stream_push(side));
		tn_array *there = tn_module_forward(net, x);
		assert_ok(tn_stream_pop(device));
		tn_array *here = tn_module_forward(net, x);
		assert_non_null(here);
		assert_ok(tn_to_host(here, values[0], sizeof(values[0])));
		assert_ok(tn_stream_push(side));
		assert_ok(tn_to_host(there, values[1], sizeof(values[1])));
		assert_ok(tn_stream_pop(device));
		assert_memory_equal(values[0], values[1], sizeof(values[0]));
		assert_close(values[0][0], 4 * (i + 1), 1e-3);
		/* The next fill waits for the side stream's forward. */
		order_streams(device, side, NULL);
	}
	tn_module_destroy(net);
	tn_context_close(context);
}

/* Weights folded before a stream was made are ready in it, and making it does not wait. */
static void a_new_stream_follows_the_others(void **state)
{
	float values[2];
	int reached = 1;
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_event *end = tn_event_create(device);
	tn_module *net = tn_module_sequential(context);
	assert_ok(
		tn_module_sequential_add(net, "conv", tn_module_conv2d(context, 1, 1, 1, 1, NULL)));
	assert_ok(tn_module_sequential_add(net, "norm", tn_module_batch_norm2d(context, 1, NULL)));
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 0);
	tn_array *x = tn_ones(context, TN_F32, 4, (int64_t[]){1, 1, 1, 1});
	assert_ok(tn_synchronize(context));
	assert_ok(tn_module_freeze(net));
	assert_ok(tn_event_record(end));
	tn_stream *side = tn_stream_create(device);
	assert_ok(tn_event_query(end, &reached));
	assert_int_equal(reached, 0);
	assert_ok(tn_stream_push(side));
	assert_ok(tn_to_host(tn_module_forward(net, x), &values[0], sizeof(float)));
	assert_ok(tn_stream_pop(device));
	assert_ok(tn_to_host(tn_module_forward(net, x), &values[1], sizeof(float)));
	assert_true(values[0] == values[1]);
	tn_module_destroy(net);
	tn_context_close(context);
}

/* ---- Loss and fork ---------------------------------------------------------------------------*/

static void streams_of_a_lost_device_can_be_destroyed(void **state)
{
	(void)state;
	tn_context *context = open_mock("lost:3");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device), *other = tn_stream_create(device);
	tn_event *event = tn_event_create(device);
	tn_array *x = stream_numbers(context, 1);
	assert_ok(tn_event_record(event));
	assert_ok(tn_stream_push(side));
	assert_ok(tn_event_wait(event));
	tn_array *y = tn_add(x, x);
	tn_array *z = tn_add(y, x);
	assert_int_equal(tn_stream_synchronize(side), TN_DEVICE_LOST);
	assert_kept(context, TN_DEVICE_LOST, "lost");
	tn_array_destroy(x);
	tn_array_destroy(y);
	tn_array_destroy(z);
	assert_int_equal(tn_event_record(event), TN_DEVICE_LOST);
	assert_kept(context, TN_DEVICE_LOST, "lost earlier");
	assert_null(tn_stream_create(device));
	assert_kept(context, TN_DEVICE_LOST, "lost earlier");
	tn_event_destroy(event);
	tn_stream_destroy(side);
	assert_ok(tn_stream_pop(device));
	tn_stream_destroy(other);
	tn_context_close(context);
}

static void a_forked_child_can_only_destroy(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_event *event = tn_event_create(device);
	tn_array *x = stream_numbers(context, 1);
	order_streams(device, NULL, side);
	assert_ok(tn_stream_push(side));
	tn_array *y = tn_add(x, x);
	pid_t child = fork();
	if (child == 0) {
		int wrong = tn_event_record(event) != TN_FORKED;
		tn_error_clear(context);
		wrong += tn_stream_synchronize(side) != TN_FORKED;
		tn_error_clear(context);
		tn_array_destroy(x);
		tn_array_destroy(y);
		tn_event_destroy(event);
		tn_stream_destroy(side);
		tn_context_close(context);
		_exit(wrong);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(value_of(y) == 2);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_order_a_producer_and_a_consumer),
		cmocka_unit_test(memory_is_not_used_again_before_another_stream_has_read_it),
		cmocka_unit_test(pushed_streams_are_a_stack),
		cmocka_unit_test(events_are_reached_in_order),
		cmocka_unit_test(closing_the_context_destroys_what_is_left),
		cmocka_unit_test(without_the_table_all_streams_are_one),
		cmocka_unit_test(streams_without_events_run_apart),
		cmocka_unit_test(tn_sync_waits_for_all_streams),
		cmocka_unit_test(an_error_is_reported_by_the_stream_that_had_it),
		cmocka_unit_test(checks_are_reported_by_their_stream),
		cmocka_unit_test(each_stream_reports_its_own_failed_check),
		cmocka_unit_test(each_graph_has_its_own_failed_check),
		cmocka_unit_test(records_of_checks_are_used_again),
		cmocka_unit_test(a_failure_is_not_reported_as_a_failed_check),
		cmocka_unit_test(a_wait_for_an_event_reports_checks_before_it),
		cmocka_unit_test(a_download_into_a_buffer_does_not_wait_after_a_check),
		cmocka_unit_test(tn_synchronize_keeps_the_error_of_a_second_stream),
		cmocka_unit_test(copies_between_devices_are_in_both_current_streams),
		cmocka_unit_test(a_stream_gets_the_memory_of_another_when_there_is_no_other),
		cmocka_unit_test(a_stream_does_not_wait_for_another_while_there_is_memory),
		cmocka_unit_test(the_memory_of_a_destroyed_stream_is_used_again),
		cmocka_unit_test(each_stream_has_its_own_workspace),
		cmocka_unit_test(split_and_joined_memory_waits_too),
		cmocka_unit_test(memory_of_two_streams_is_not_joined),
		cmocka_unit_test(without_events_the_host_waits),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(a_device_has_a_limited_number_of_streams),
		cmocka_unit_test(a_replay_runs_in_the_current_stream),
		cmocka_unit_test(captured_work_waits_for_the_users_of_its_memory),
		cmocka_unit_test(a_replay_waits_for_the_stream_that_was_captured),
		cmocka_unit_test(memory_of_a_failed_capture_still_waits),
		cmocka_unit_test(memory_that_a_capture_splits_still_waits),
		cmocka_unit_test(a_replay_waits_for_readers_of_a_freed_array),
		cmocka_unit_test(a_stream_destroyed_in_a_capture_lives_until_its_end),
		cmocka_unit_test(folded_weights_are_ready_in_every_stream),
		cmocka_unit_test(a_new_stream_follows_the_others),
		cmocka_unit_test(streams_of_a_lost_device_can_be_destroyed),
		cmocka_unit_test(a_forked_child_can_only_destroy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
