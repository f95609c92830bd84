/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams and events: order within a stream, and between two streams by events only.
 *
 * To detect a wrong order, work must take time: a chain of maps over a large array, each adding 1
 * in place, so that a reader that does not wait sees fewer steps.
 */
#include <time.h>

#include "loader/slots.h"
#include "programs.h"
#include "samples.h"
#include "slots.h"

static int has_streams(struct kit *kit)
{
	if (tn_backend_has_all(kit->backend, TN_SLOT_STREAM_CREATE, TN_SLOT_EVENT_ELAPSED))
		return 1;
	kit_skip(kit, "it has no streams");
	return 0;
}

void check_stream_table(struct kit *kit)
{
	unsigned n = 0;
	for (int slot = TN_SLOT_STREAM_CREATE; slot <= TN_SLOT_EVENT_ELAPSED; slot++)
		n += tn_backend_has(kit->backend, (enum tn_slot)slot) != 0;
	if (!n)
		return kit_skip(kit, "it has no streams");
	kit_case(kit, TN_SLOT_STREAM_CREATE, "tenon.stream/1");
	for (int slot = TN_SLOT_STREAM_CREATE; slot <= TN_SLOT_EVENT_ELAPSED; slot++)
		if (!tn_backend_has(kit->backend, (enum tn_slot)slot))
			kit_fail(kit, "%s is empty, although other slots are filled",
				 tn_slots[slot].name);
	kit_pass(kit);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static void *make_stream(struct kit *kit, int32_t priority)
{
	struct tn_stream_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				      .priority = priority};
	void *stream = NULL;
	if (kit->backend->stream.stream_create(kit->device, &args, &stream) || !stream)
		kit_give_up(kit, "stream_create: %s", kit->error.text);
	return stream;
}

static tn_status end_stream(struct kit *kit, void *stream)
{
	struct tn_stream_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error}};
	return kit->backend->stream.stream_destroy(kit->device, &args);
}

typedef tn_status (*event_entry)(void *device, const struct tn_event_args *args);

static void *make_event(struct kit *kit)
{
	struct tn_event_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error}};
	void *event = NULL;
	if (kit->backend->stream.event_create(kit->device, &args, &event) || !event)
		kit_give_up(kit, "event_create: %s", kit->error.text);
	return event;
}

static void on_event(struct kit *kit, event_entry entry, const char *name, void *stream,
		     void *event)
{
	struct tn_event_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error},
		.event = event};
	tn_status status = entry(kit->device, &args);
	if (status)
		kit_fail(kit, "%s: %s: %s", name, tn_status_name(status), kit->error.text);
}

static void record(struct kit *kit, void *stream, void *event)
{
	on_event(kit, kit->backend->stream.event_record, "event_record", stream, event);
}

static void await(struct kit *kit, void *stream, void *event)
{
	on_event(kit, kit->backend->stream.event_wait, "event_wait", stream, event);
}

static void sync_event(struct kit *kit, void *event)
{
	on_event(kit, kit->backend->stream.event_sync, "event_sync", NULL, event);
}

static void end_event(struct kit *kit, void *event)
{
	on_event(kit, kit->backend->stream.event_destroy, "event_destroy", NULL, event);
}

static uint32_t is_reached(struct kit *kit, void *event)
{
	struct tn_event_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .event = event};
	uint32_t reached = 9;
	if (kit->backend->stream.event_query(kit->device, &args, &reached) || reached > 1)
		kit_fail(kit, "event_query gives %u: %s", reached, kit->error.text);
	return reached;
}

static tn_status elapsed(struct kit *kit, void *start, void *end, double *seconds)
{
	struct tn_elapsed_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				       .start = start,
				       .end = end};
	return kit->backend->stream.event_elapsed(kit->device, &args, seconds);
}

/* ---- Work that lasts -------------------------------------------------------------------------*/

enum { STEPS = 30, LENGTH = 400000 };

struct work {
	struct kit *kit;
	struct tn_program *add_one, *identity;
	struct array x, y;
};

static void begin_work(struct kit *kit, struct work *w)
{
	static const int64_t length[] = {LENGTH};
	tn_value v;
	struct tn_builder b;
	begin_program(&b);
	v = tn_build_source(&b, TN_OP_INPUT, TN_F32, 0);
	v = tn_build_op(&b, TN_OP_ADD, TN_F32, v, tn_build_number(&b, TN_F32, 1), 0);
	w->kit = kit;
	w->add_one = finish_program(&b, 1, 0, 1, &v);
	w->identity = identity_program(TN_F32, 1);
	array_make(kit, &w->x, OUTPUT, TN_F32, 1, length, COMPACT);
	array_make(kit, &w->y, OUTPUT, TN_F32, 1, length, COMPACT);
}

static void end_work(struct work *w)
{
	array_free(&w->x);
	array_free(&w->y);
	tn_program_destroy(w->add_one);
	tn_program_destroy(w->identity);
}

static void map(struct work *w, void *stream, const struct tn_program *program,
		const struct array *from, const struct array *to)
{
	struct kit *kit = w->kit;
	struct tn_map_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error},
		.program = program,
		.inputs = &from->operand,
		.outputs = &to->operand};
	tn_status status = kit->backend->compute.map(kit->device, &args);
	if (status)
		kit_fail(kit, "map: %s: %s", tn_status_name(status), kit->error.text);
}

static void move(struct work *w, void *stream, struct array *array, int to_device)
{
	struct kit *kit = w->kit;
	struct tn_transfer_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error},
		.buffer = array->operand.buffer,
		.size = array->size,
		.host = array->image};
	tn_status status = to_device ? kit->backend->device.upload(kit->device, &args)
				     : kit->backend->device.download(kit->device, &args);
	if (status)
		kit_fail(kit, "%s: %s", to_device ? "upload" : "download", kit->error.text);
}

/* x := 0, then adds 1 STEPS times, all in the stream and without waiting. */
static void count_up(struct work *w, void *stream)
{
	for (uint64_t i = 0; i < w->x.count; i++)
		array_set_number(&w->x, i, 0);
	move(w, stream, &w->x, 1);
	for (int step = 0; step < STEPS; step++)
		map(w, stream, w->add_one, &w->x, &w->x);
}

static void expect_steps(struct work *w, struct array *array)
{
	for (uint64_t i = 0; i < array->count; i++)
		if (array_number(array, i) != STEPS)
			kit_fail(w->kit, "element %llu has seen %g of %d steps",
				 (unsigned long long)i, array_number(array, i), STEPS);
}

static void is_in_order(struct work *w, void *stream)
{
	count_up(w, stream);
	map(w, stream, w->identity, &w->x, &w->y);
	move(w, stream, &w->y, 0);
	expect_steps(w, &w->y);
	kit_pass(w->kit);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

void check_stream_order(struct kit *kit)
{
	struct work w;
	void *stream;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	begin_work(kit, &w);
	kit_case(kit, TN_SLOT_MAP, "map: %d steps in the NULL stream", STEPS);
	is_in_order(&w, NULL);
	if (tn_backend_has_all(kit->backend, TN_SLOT_STREAM_CREATE, TN_SLOT_EVENT_ELAPSED)) {
		kit_case(kit, TN_SLOT_STREAM_CREATE, "map: %d steps in a stream", STEPS);
		stream = make_stream(kit, 0);
		is_in_order(&w, stream);
		if (end_stream(kit, stream))
			kit_fail(kit, "stream_destroy: %s", kit->error.text);
	}
	end_work(&w);
}

/* Destroying waits for the work, so that an event of the stream is reached, and stays so. */
static void waits_for_its_work(struct kit *kit)
{
	struct work w;
	void *stream = make_stream(kit, -1), *event = make_event(kit);
	begin_work(kit, &w);
	count_up(&w, stream);
	record(kit, stream, event);
	if (end_stream(kit, stream))
		kit_fail(kit, "stream_destroy: %s", kit->error.text);
	if (!is_reached(kit, event))
		kit_fail(kit, "an event of the stream is not reached");
	sync_event(kit, event);
	end_event(kit, event);
	move(&w, NULL, &w.x, 0);
	expect_steps(&w, &w.x);
	end_work(&w);
}

void check_stream_life(struct kit *kit)
{
	enum { MANY = 8 };
	void *streams[MANY];
	if (!has_streams(kit))
		return;
	kit_case(kit, TN_SLOT_STREAM_CREATE, "stream_create: %d at once", MANY);
	for (int i = 0; i < MANY; i++) {
		streams[i] = make_stream(kit, i - 4);
		for (int j = 0; j < i; j++)
			if (streams[i] == streams[j])
				kit_fail(kit, "two streams have the same handle");
	}
	for (int i = 0; i < MANY; i++)
		if (end_stream(kit, streams[i]))
			kit_fail(kit, "stream_destroy: %s", kit->error.text);
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_DESTROY, "stream_destroy: the NULL stream");
	if (end_stream(kit, NULL) != TN_INVALID_ARGUMENT)
		kit_fail(kit, "expected INVALID_ARGUMENT");
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_DESTROY, "stream_destroy: a stream with work");
	if (kit->description.program_dtypes)
		waits_for_its_work(kit);
	kit_pass(kit);
}

/* Every slot works in the given stream. */
void check_stream_compute(struct kit *kit)
{
	if (!has_streams(kit))
		return;
	for (int slot = sample_next(kit, -1); slot >= 0; slot = sample_next(kit, slot)) {
		struct sample sample;
		size_t size;
		unsigned char *result;
		sample_make(kit, &sample, slot, "in a stream");
		if (!sample_run(&sample)) {
			result = sample_result(&sample, &size);
			kit->options.stream = make_stream(kit, 0);
			if (!sample_run(&sample))
				sample_expect_close(&sample, result, kit->check->id);
			if (end_stream(kit, kit->options.stream))
				kit_fail(kit, "stream_destroy: %s", kit->error.text);
			kit->options.stream = NULL;
			free(result);
		}
		sample_free(&sample);
	}
}

/* An event that was never recorded does not block; a recorded one is reached after the work before
 * it. */
void check_event_state(struct kit *kit)
{
	void *event, *stream;
	struct work w;
	if (!has_streams(kit))
		return;
	kit_case(kit, TN_SLOT_EVENT_QUERY, "an event that was not recorded");
	event = make_event(kit);
	stream = make_stream(kit, 0);
	if (is_reached(kit, event) != 1)
		kit_fail(kit, "it does not count as reached");
	await(kit, stream, event);
	sync_event(kit, event);
	kit_pass(kit);
	kit_case(kit, TN_SLOT_EVENT_SYNC, "an event behind work");
	if (kit->description.program_dtypes) {
		begin_work(kit, &w);
		count_up(&w, stream);
		record(kit, stream, event);
		sync_event(kit, event);
		if (is_reached(kit, event) != 1)
			kit_fail(kit, "it is not reached after event_sync");
		move(&w, NULL, &w.x, 0);
		expect_steps(&w, &w.x);
		end_work(&w);
	}
	kit_pass(kit);
	end_event(kit, event);
	if (end_stream(kit, stream))
		kit_fail(kit, "stream_destroy: %s", kit->error.text);
}

/* Queries until the event is reached; 0: it was not within QUERY_SECONDS. */
static int is_reached_in_time(struct kit *kit, void *event)
{
	enum { QUERY_SECONDS = 60 };
	const struct timespec pause = {.tv_nsec = 100000};
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		if (is_reached(kit, event) == 1)
			return 1;
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < QUERY_SECONDS);
	return 0;
}

/* A queue that starts its work only when the host waits would never reach the event. */
void check_event_query(struct kit *kit)
{
	struct work w;
	if (!has_streams(kit))
		return;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	kit_case(kit, TN_SLOT_EVENT_QUERY, "an event behind work, and no other call");
	void *event = make_event(kit), *stream = make_stream(kit, 0);
	begin_work(kit, &w);
	count_up(&w, stream);
	record(kit, stream, event);
	if (!is_reached_in_time(kit, event))
		kit_fail(kit, "the event is not reached, however often it is queried");
	kit_pass(kit);
	end_event(kit, event);
	if (end_stream(kit, stream))
		kit_fail(kit, "stream_destroy: %s", kit->error.text);
	end_work(&w);
}

/* One stream adds steps, another waits for the event after them; then in reverse with the event
 * recorded again, and destroyed while a stream waits for it. */
static void orders(struct work *w, void *first, void *second)
{
	struct kit *kit = w->kit;
	void *event = make_event(kit);
	record(kit, first, event);
	count_up(w, first);
	record(kit, first, event);
	await(kit, second, event);
	map(w, second, w->identity, &w->x, &w->y);
	end_event(kit, event);
	move(w, second, &w->y, 0);
	expect_steps(w, &w->y);
	kit_pass(kit);
}

void check_event_order(struct kit *kit)
{
	struct work w;
	void *one, *other;
	if (!has_streams(kit))
		return;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	kit_case(kit, TN_SLOT_EVENT_WAIT, "work behind that of another stream");
	begin_work(kit, &w);
	one = make_stream(kit, 0);
	other = make_stream(kit, 0);
	orders(&w, one, other);
	kit_case(kit, TN_SLOT_EVENT_WAIT, "work behind that of the NULL stream");
	orders(&w, NULL, other);
	kit_case(kit, TN_SLOT_EVENT_WAIT, "work of the NULL stream behind that of a stream");
	orders(&w, one, NULL);
	if (end_stream(kit, one) || end_stream(kit, other))
		kit_fail(kit, "stream_destroy: %s", kit->error.text);
	end_work(&w);
}

void check_event_elapsed(struct kit *kit)
{
	void *start, *end, *stream;
	double seconds = -77;
	if (!has_streams(kit))
		return;
	kit_case(kit, TN_SLOT_EVENT_ELAPSED, "event_elapsed: one was not recorded");
	start = make_event(kit);
	end = make_event(kit);
	stream = make_stream(kit, 0);
	if (elapsed(kit, start, end, &seconds) != TN_INVALID_ARGUMENT)
		kit_fail(kit, "expected INVALID_ARGUMENT");
	record(kit, stream, start);
	if (elapsed(kit, start, end, &seconds) != TN_INVALID_ARGUMENT || seconds != -77)
		kit_fail(kit, "expected INVALID_ARGUMENT, and the seconds as they were");
	kit_pass(kit);
	kit_case(kit, TN_SLOT_EVENT_ELAPSED, "event_elapsed");
	record(kit, stream, end);
	sync_event(kit, end);
	if (elapsed(kit, start, end, &seconds) || !(seconds >= 0 && seconds < 600))
		kit_fail(kit, "%g seconds: %s", seconds, kit->error.text);
	kit_pass(kit);
	end_event(kit, start);
	end_event(kit, end);
	if (end_stream(kit, stream))
		kit_fail(kit, "stream_destroy: %s", kit->error.text);
}

/* ---- Streams of others -----------------------------------------------------------------------*/

/* Without an event: both handles are of one stream.  Then the event of the imported one orders
 * another stream behind it, and a native stream outlives its handle. */
void check_native_order(struct kit *kit)
{
	struct work w;
	uint64_t native = 0;
	void *imported = NULL;
	if (!tn_backend_has(kit->backend, TN_SLOT_STREAM_IMPORT))
		return kit_skip(kit, "it imports no streams");
	if (!has_streams(kit))
		return;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	void *stream = make_stream(kit, 0);
	begin_work(kit, &w);
	kit_case(kit, TN_SLOT_STREAM_IMPORT, "stream_import: a stream that was exported");
	if (native_export(kit, stream, &native) || native_import(kit, native, 0, &imported))
		kit_give_up(kit, "stream_export, stream_import: %s", kit->error.text);
	if (!imported || imported == stream)
		kit_fail(kit, "the handle is %s", imported ? "that of the stream" : "NULL");
	count_up(&w, stream);
	map(&w, imported, w.identity, &w.x, &w.y);
	move(&w, imported, &w.y, 0);
	expect_steps(&w, &w.y);
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_IMPORT, "stream_import: work in it, and then in its stream");
	count_up(&w, imported);
	map(&w, stream, w.identity, &w.x, &w.y);
	move(&w, stream, &w.y, 0);
	expect_steps(&w, &w.y);
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_IMPORT, "stream_import: events order it with the NULL stream");
	orders(&w, imported, NULL);
	orders(&w, NULL, imported);
	kit_case(kit, TN_SLOT_STREAM_RELEASE, "stream_release: with work under way");
	void *event = make_event(kit);
	count_up(&w, imported);
	record(kit, imported, event);
	if (native_release(kit, imported))
		kit_fail(kit, "stream_release: %s", kit->error.text);
	await(kit, NULL, event);
	move(&w, NULL, &w.x, 0);
	expect_steps(&w, &w.x);
	is_in_order(&w, stream);
	end_event(kit, event);
	if (end_stream(kit, stream))
		kit_fail(kit, "stream_destroy: %s", kit->error.text);
	end_work(&w);
}
