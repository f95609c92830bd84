/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cases of streams and events that hold on every backend.  The context's current device has no
 * stream pushed.
 */
#ifndef TN_TESTS_STREAM_CASES_H
#define TN_TESTS_STREAM_CASES_H

#include <tenon/tenon.h>
#include <time.h>

#include "array/array.h"
#include "check.h"
#include "kept_error.h"

enum { STREAM_N = 500 };

static inline tn_array *stream_numbers(tn_context *context, double value)
{
	return tn_full(context, TN_F32, 1, (int64_t[]){STREAM_N}, value);
}

/* The value of all elements; waits for the current stream alone. */
static inline float value_of(const tn_array *array)
{
	static float values[STREAM_N];
	assert_non_null(array);
	assert_ok(tn_to_host(array, values, sizeof(values)));
	for (int i = 1; i < STREAM_N; i++)
		assert_true(values[i] == values[0]);
	return values[0];
}

/* Later work of stream `to` waits for the work so far of stream `from` (NULL: the ordinary one). */
static inline void order_streams(tn_device *device, tn_stream *from, tn_stream *to)
{
	tn_event *event = tn_event_create(device);
	assert_non_null(event);
	if (from)
		assert_ok(tn_stream_push(from));
	assert_ok(tn_event_record(event));
	if (from)
		assert_ok(tn_stream_pop(device));
	if (to)
		assert_ok(tn_stream_push(to));
	assert_ok(tn_event_wait(event));
	if (to)
		assert_ok(tn_stream_pop(device));
	tn_event_destroy(event);
}

/* A producer fills a buffer in its stream, a consumer adds it up in another; each waits for the
 * other. */
static inline void check_producer_and_consumer(tn_context *context)
{
	tn_device *device = tn_device_current(context);
	tn_stream *producer = tn_stream_create(device), *consumer = tn_stream_create(device);
	tn_event *full = tn_event_create(device), *empty = tn_event_create(device);
	tn_array *buffer = stream_numbers(context, 0), *sum = stream_numbers(context, 0);
	order_streams(device, NULL, producer);
	order_streams(device, NULL, consumer);
	for (int i = 1; i <= 10; i++) {
		assert_ok(tn_stream_push(producer));
		assert_ok(tn_event_wait(empty)); /* not recorded yet: nothing to wait for */
		assert_ok(tn_fill(buffer, i));
		assert_ok(tn_event_record(full));
		assert_ok(tn_stream_pop(device));
		assert_ok(tn_stream_push(consumer));
		assert_ok(tn_event_wait(full));
		assert_ok(tn_add_into(sum, sum, buffer));
		assert_ok(tn_event_record(empty));
		assert_ok(tn_stream_pop(device));
	}
	assert_ok(tn_event_wait(empty));
	assert_true(value_of(sum) == 55);
	tn_event_destroy(full);
	tn_event_destroy(empty);
	tn_stream_destroy(producer);
	tn_stream_destroy(consumer);
	tn_array_destroy(buffer);
	tn_array_destroy(sum);
}

/* An array is freed in its own stream, and its memory used again, before the other stream has read
 * it. */
static inline void check_memory_that_another_stream_reads(tn_context *context)
{
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	for (int i = 0; i < 4; i++) {
		tn_array *x = stream_numbers(context, 7 + i), *y, *again;
		const struct tn_block block = x->storage->block;
		order_streams(device, NULL, side);
		assert_ok(tn_stream_push(side));
		y = tn_add(x, x);
		assert_ok(tn_stream_pop(device));
		tn_array_destroy(x);
		again = stream_numbers(context, -1);
		assert_int_equal(again->storage->block.buffer, block.buffer);
		assert_int_equal(again->storage->block.offset, block.offset);
		assert_true(value_of(again) == -1);
		assert_ok(tn_stream_push(side));
		assert_true(value_of(y) == (float)(2 * (7 + i)));
		assert_ok(tn_stream_pop(device));
		tn_array_destroy(y);
		tn_array_destroy(again);
	}
	tn_stream_destroy(side);
}

/* The same for an upload, which may run after it returned, and for a sum, which does not go by
 * lines. */
static inline void check_memory_of_other_calls(tn_context *context)
{
	static float values[STREAM_N];
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *x = stream_numbers(context, 7), *again;
	double sum = 0;
	for (int i = 0; i < STREAM_N; i++)
		values[i] = 9;
	order_streams(device, NULL, side);
	assert_ok(tn_stream_push(side));
	assert_ok(tn_assign_host(x, values, sizeof(values)));
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(x);
	again = stream_numbers(context, -1);
	assert_true(value_of(again) == -1);
	assert_ok(tn_stream_synchronize(side));
	assert_true(value_of(again) == -1);
	order_streams(device, NULL, side);
	assert_ok(tn_stream_push(side));
	tn_array *total = tn_sum(again, 1, (const int[]){0}, 0);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(again);
	again = stream_numbers(context, -2);
	assert_true(value_of(again) == -2);
	assert_ok(tn_stream_push(side));
	assert_ok(tn_item(total, &sum));
	assert_true(sum == -STREAM_N);
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(total);
	tn_array_destroy(again);
	tn_stream_destroy(side);
}

/* Captured work reads an array, and is replayed in a stream that is neither the array's nor the
 * capture's; then the array is freed. */
static inline void check_memory_that_a_replay_reads(tn_context *context)
{
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_graph *graph = NULL;
	tn_array *x = stream_numbers(context, 3), *y = stream_numbers(context, 0), *again;
	const struct tn_block block = x->storage->block;
	assert_ok(tn_add_into(y, x, x));
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_add_into(y, x, x));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_fill(y, 0));
	order_streams(device, NULL, side);
	assert_ok(tn_stream_push(side));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_stream_pop(device));
	tn_array_destroy(x);
	again = stream_numbers(context, -1);
	assert_int_equal(again->storage->block.buffer, block.buffer);
	assert_int_equal(again->storage->block.offset, block.offset);
	assert_true(value_of(again) == -1);
	assert_ok(tn_stream_push(side));
	assert_true(value_of(y) == 6);
	assert_ok(tn_stream_pop(device));
	tn_graph_destroy(graph);
	tn_array_destroy(y);
	tn_array_destroy(again);
	tn_stream_destroy(side);
}

/* The replays of one graph use the same memory, and come one after the other in any streams. */
static inline void check_replays_in_several_streams(tn_context *context)
{
	tn_device *device = tn_device_current(context);
	tn_stream *one = tn_stream_create(device), *two = tn_stream_create(device);
	tn_graph *graph = NULL;
	assert_ok(tn_stream_push(one));
	tn_array *x = stream_numbers(context, 1), *sum = stream_numbers(context, 0);
	assert_ok(tn_add_into(sum, sum, tn_add(x, x)));
	assert_ok(tn_capture_begin(context));
	assert_int_equal(tn_stream_push(two), TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "stream_push", "work is captured");
	assert_int_equal(tn_stream_pop(device), TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "stream_pop", "work is captured");
	assert_int_equal(tn_stream_synchronize(two), TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "sync", "work is captured");
	assert_ok(tn_add_into(sum, sum, tn_add(x, x)));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_stream_push(two));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_stream_pop(device));
	assert_ok(tn_stream_pop(device));
	assert_ok(tn_graph_replay(graph));
	assert_true(value_of(sum) == 10);
	tn_stream_destroy(one);
	assert_ok(tn_graph_replay(graph));
	assert_true(value_of(sum) == 12);
	tn_graph_destroy(graph);
	tn_stream_destroy(two);
	tn_array_destroy(x);
	tn_array_destroy(sum);
}

/* The stack, and the streams that are destroyed while they are on it. */
static inline void check_the_stack(tn_context *context)
{
	tn_device *device = tn_device_current(context);
	tn_stream *one = tn_stream_create(device), *two = tn_stream_create(device);
	assert_null(tn_stream_current(device));
	assert_null(tn_stream_current(NULL));
	assert_int_equal(tn_stream_pop(device), TN_STATE);
	assert_error(context, TN_STATE, "stream_pop", "no stream is pushed");
	assert_int_equal(tn_stream_push(NULL), TN_INVALID_ARGUMENT);
	assert_int_equal(tn_stream_pop(NULL), TN_INVALID_ARGUMENT);
	for (int i = 0; i < 10; i++) {
		assert_ok(tn_stream_push(one));
		assert_ptr_equal(tn_stream_current(device), one);
		assert_ok(tn_stream_push(two));
		assert_ptr_equal(tn_stream_current(device), two);
	}
	for (int i = 0; i < 9; i++) {
		assert_ok(tn_stream_pop(device));
		assert_ptr_equal(tn_stream_current(device), one);
		assert_ok(tn_stream_pop(device));
		assert_ptr_equal(tn_stream_current(device), two);
	}
	/* Both work while an error is kept: a push and its pop stay a pair. */
	assert_null(tn_add(tn_ones(context, TN_F32, 1, (int64_t[]){2}),
			   tn_ones(context, TN_F32, 1, (int64_t[]){3})));
	assert_ok(tn_stream_push(one));
	assert_ok(tn_stream_pop(device));
	assert_null(tn_stream_create(device));
	assert_int_equal(tn_stream_synchronize(one), TN_PENDING_ERROR);
	tn_error_clear(context);
	/* Destroyed with queued work, current and beneath. */
	tn_array *x = stream_numbers(context, 4);
	tn_stream_destroy(two);
	assert_ptr_equal(tn_stream_current(device), one);
	assert_true(value_of(x) == 4);
	tn_array *y = tn_add(x, x);
	tn_stream_destroy(one);
	assert_null(tn_stream_current(device));
	assert_true(value_of(y) == 8);
	assert_ok(tn_stream_pop(device));
	assert_ok(tn_stream_pop(device));
	assert_int_equal(tn_stream_pop(device), TN_STATE);
	assert_error(context, TN_STATE, "stream_pop", "no stream is pushed");
	tn_stream_destroy(NULL);
	tn_array_destroy(x);
	tn_array_destroy(y);
}

/* Places in one stream are reached in their order, and their times grow. */
static inline void check_events(tn_context *context)
{
	enum { EVENTS = 5 };
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_event *events[EVENTS];
	double seconds = -1, sum = 0, whole = -1;
	int reached = 2;
	for (int i = 0; i < EVENTS; i++)
		events[i] = tn_event_create(device);
	assert_ok(tn_event_query(events[0], &reached));
	assert_int_equal(reached, 1);
	assert_ok(tn_event_synchronize(events[0]));
	assert_int_equal(tn_event_elapsed(events[0], events[1], &seconds), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "event_elapsed", "start: expected a recorded");
	assert_int_equal(tn_event_query(NULL, &reached), TN_INVALID_ARGUMENT);
	assert_ok(tn_stream_push(side));
	tn_array *x = stream_numbers(context, 1);
	for (int i = 0; i < EVENTS; i++) {
		assert_ok(tn_event_record(events[i]));
		assert_ok(tn_add_into(x, x, x));
	}
	for (int i = EVENTS - 1; i >= 0; i--) {
		const struct timespec pause = {.tv_nsec = 1000000};
		assert_ok(tn_event_query(events[i], &reached));
		for (int tries = 0; !reached && tries < 10000; tries++) {
			nanosleep(&pause, NULL);
			assert_ok(tn_event_query(events[i], &reached));
		}
		assert_int_equal(reached, 1);
	}
	assert_ok(tn_event_synchronize(events[EVENTS - 1]));
	for (int i = 0; i + 1 < EVENTS; i++) {
		assert_ok(tn_event_elapsed(events[i], events[i + 1], &seconds));
		assert_true(seconds >= 0);
		sum += seconds;
	}
	assert_ok(tn_event_elapsed(events[0], events[EVENTS - 1], &whole));
	assert_true(fabs(whole - sum) < 1e-5);
	assert_ok(tn_event_elapsed(events[EVENTS - 1], events[0], &seconds));
	assert_true(fabs(whole + seconds) < 1e-5);
	assert_true(value_of(x) == 32);
	assert_ok(tn_stream_pop(device));
	for (int i = 0; i < EVENTS; i++)
		tn_event_destroy(events[i]);
	tn_event_destroy(NULL);
	tn_stream_destroy(side);
	tn_array_destroy(x);
}

/* The context is closed with streams that are pushed, events, and work that has not run. */
static inline void leave_streams(tn_context *context)
{
	tn_device *device = tn_device_current(context);
	tn_stream *one = tn_stream_create(device), *two = tn_stream_create(device);
	tn_event *event = tn_event_create(device);
	assert_ok(tn_stream_push(one));
	tn_array *x = stream_numbers(context, 1);
	assert_ok(tn_event_record(event));
	assert_ok(tn_stream_push(two));
	assert_ok(tn_event_wait(event));
	assert_non_null(tn_add(x, x));
	tn_context_close(context);
}

#endif
