/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams and events: order within a stream, and between two streams by events only.
 *
 * To detect a wrong order, work must take time: a chain of maps over a large array, each adding 1
 * in place, so that a reader that does not wait sees fewer steps.
 */
#include "loader/slots.h"
#include "programs.h"
#include "samples.h"
#include "slots.h"
#include "stream_calls.h"

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
	kit_map(w->kit, stream, program, &from->operand, &to->operand);
}

static void move(struct work *w, void *stream, struct array *array, enum transfer way)
{
	const struct span span = {
		.buffer = array->operand.buffer, .size = array->size, .host = array->image};
	kit_transfer(w->kit, stream, way, 0, &span);
}

/* x := 0, then adds 1 STEPS times, all in the stream and without waiting. */
static void count_up(struct work *w, void *stream)
{
	for (uint64_t i = 0; i < w->x.count; i++)
		array_set_number(&w->x, i, 0);
	move(w, stream, &w->x, UPLOAD);
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
	move(w, stream, &w->y, DOWNLOAD);
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
		stream = kit_stream(kit, 0);
		is_in_order(&w, stream);
		kit_stream_end(kit, stream);
	}
	end_work(&w);
}

/* Destroying waits for the work, so that an event of the stream is reached, and stays so. */
static void waits_for_its_work(struct kit *kit)
{
	struct work w;
	void *stream = kit_stream(kit, -1), *event = kit_event(kit);
	begin_work(kit, &w);
	count_up(&w, stream);
	kit_record(kit, stream, event);
	kit_stream_end(kit, stream);
	if (!kit_is_reached(kit, event))
		kit_fail(kit, "an event of the stream is not reached");
	kit_event_sync(kit, event);
	kit_event_end(kit, event);
	move(&w, NULL, &w.x, DOWNLOAD);
	expect_steps(&w, &w.x);
	end_work(&w);
}

void check_stream_life(struct kit *kit)
{
	enum { MANY = 8 };
	void *streams[MANY];
	if (!kit_needs_streams(kit))
		return;
	kit_case(kit, TN_SLOT_STREAM_CREATE, "stream_create: %d at once", MANY);
	for (int i = 0; i < MANY; i++) {
		streams[i] = kit_stream(kit, i - 4);
		for (int j = 0; j < i; j++)
			if (streams[i] == streams[j])
				kit_fail(kit, "two streams have the same handle");
	}
	for (int i = 0; i < MANY; i++)
		kit_stream_end(kit, streams[i]);
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_DESTROY, "stream_destroy: the NULL stream");
	if (kit_stream_destroy(kit, NULL) != TN_INVALID_ARGUMENT)
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
	if (!kit_needs_streams(kit))
		return;
	for (int slot = sample_next(kit, -1); slot >= 0; slot = sample_next(kit, slot)) {
		struct sample sample;
		size_t size;
		unsigned char *result;
		sample_make(kit, &sample, slot, "in a stream");
		if (!sample_run(&sample)) {
			result = sample_result(&sample, &size);
			kit->options.stream = kit_stream(kit, 0);
			if (!sample_run(&sample))
				sample_expect_close(&sample, result, kit->check->id);
			kit_stream_end(kit, kit->options.stream);
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
	if (!kit_needs_streams(kit))
		return;
	kit_case(kit, TN_SLOT_EVENT_QUERY, "an event that was not recorded");
	event = kit_event(kit);
	stream = kit_stream(kit, 0);
	if (kit_is_reached(kit, event) != 1)
		kit_fail(kit, "it does not count as reached");
	kit_await(kit, stream, event);
	kit_event_sync(kit, event);
	kit_pass(kit);
	kit_case(kit, TN_SLOT_EVENT_SYNC, "an event behind work");
	if (kit->description.program_dtypes) {
		begin_work(kit, &w);
		count_up(&w, stream);
		kit_record(kit, stream, event);
		kit_event_sync(kit, event);
		if (kit_is_reached(kit, event) != 1)
			kit_fail(kit, "it is not reached after event_sync");
		move(&w, NULL, &w.x, DOWNLOAD);
		expect_steps(&w, &w.x);
		end_work(&w);
	}
	kit_pass(kit);
	kit_event_end(kit, event);
	kit_stream_end(kit, stream);
}

/* A queue that starts its work only when the host waits would never reach the event. */
void check_event_query(struct kit *kit)
{
	struct work w;
	if (!kit_needs_streams(kit))
		return;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	kit_case(kit, TN_SLOT_EVENT_QUERY, "an event behind work, and no other call");
	void *event = kit_event(kit), *stream = kit_stream(kit, 0);
	begin_work(kit, &w);
	count_up(&w, stream);
	kit_record(kit, stream, event);
	if (!kit_is_reached_in_time(kit, event))
		kit_fail(kit, "the event is not reached, however often it is queried");
	kit_pass(kit);
	kit_event_end(kit, event);
	kit_stream_end(kit, stream);
	end_work(&w);
}

/* One stream adds steps, another waits for the event after them; then in reverse with the event
 * recorded again, and destroyed while a stream waits for it. */
static void orders(struct work *w, void *first, void *second)
{
	struct kit *kit = w->kit;
	void *event = kit_event(kit);
	kit_record(kit, first, event);
	count_up(w, first);
	kit_record(kit, first, event);
	kit_await(kit, second, event);
	map(w, second, w->identity, &w->x, &w->y);
	kit_event_end(kit, event);
	move(w, second, &w->y, DOWNLOAD);
	expect_steps(w, &w->y);
	kit_pass(kit);
}

void check_event_order(struct kit *kit)
{
	struct work w;
	void *one, *other;
	if (!kit_needs_streams(kit))
		return;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	kit_case(kit, TN_SLOT_EVENT_WAIT, "work behind that of another stream");
	begin_work(kit, &w);
	one = kit_stream(kit, 0);
	other = kit_stream(kit, 0);
	orders(&w, one, other);
	kit_case(kit, TN_SLOT_EVENT_WAIT, "work behind that of the NULL stream");
	orders(&w, NULL, other);
	kit_case(kit, TN_SLOT_EVENT_WAIT, "work of the NULL stream behind that of a stream");
	orders(&w, one, NULL);
	kit_stream_end(kit, one);
	kit_stream_end(kit, other);
	end_work(&w);
}

void check_event_elapsed(struct kit *kit)
{
	void *start, *end, *stream;
	double seconds = -77;
	if (!kit_needs_streams(kit))
		return;
	kit_case(kit, TN_SLOT_EVENT_ELAPSED, "event_elapsed: one was not recorded");
	start = kit_event(kit);
	end = kit_event(kit);
	stream = kit_stream(kit, 0);
	if (kit_elapsed(kit, start, end, &seconds) != TN_INVALID_ARGUMENT)
		kit_fail(kit, "expected INVALID_ARGUMENT");
	kit_record(kit, stream, start);
	if (kit_elapsed(kit, start, end, &seconds) != TN_INVALID_ARGUMENT || seconds != -77)
		kit_fail(kit, "expected INVALID_ARGUMENT, and the seconds as they were");
	kit_pass(kit);
	kit_case(kit, TN_SLOT_EVENT_ELAPSED, "event_elapsed");
	kit_record(kit, stream, end);
	kit_event_sync(kit, end);
	if (kit_elapsed(kit, start, end, &seconds) || !(seconds >= 0 && seconds < 600))
		kit_fail(kit, "%g seconds: %s", seconds, kit->error.text);
	kit_pass(kit);
	kit_event_end(kit, start);
	kit_event_end(kit, end);
	kit_stream_end(kit, stream);
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
	if (!kit_needs_streams(kit))
		return;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	void *stream = kit_stream(kit, 0);
	begin_work(kit, &w);
	kit_case(kit, TN_SLOT_STREAM_IMPORT, "stream_import: a stream that was exported");
	if (native_export(kit, stream, &native) || native_import(kit, native, 0, &imported))
		kit_give_up(kit, "stream_export, stream_import: %s", kit->error.text);
	if (!imported || imported == stream)
		kit_fail(kit, "the handle is %s", imported ? "that of the stream" : "NULL");
	count_up(&w, stream);
	map(&w, imported, w.identity, &w.x, &w.y);
	move(&w, imported, &w.y, DOWNLOAD);
	expect_steps(&w, &w.y);
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_IMPORT, "stream_import: work in it, and then in its stream");
	count_up(&w, imported);
	map(&w, stream, w.identity, &w.x, &w.y);
	move(&w, stream, &w.y, DOWNLOAD);
	expect_steps(&w, &w.y);
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_IMPORT, "stream_import: events order it with the NULL stream");
	orders(&w, imported, NULL);
	orders(&w, NULL, imported);
	kit_case(kit, TN_SLOT_STREAM_RELEASE, "stream_release: with work under way");
	void *event = kit_event(kit);
	count_up(&w, imported);
	kit_record(kit, imported, event);
	if (native_release(kit, imported))
		kit_fail(kit, "stream_release: %s", kit->error.text);
	kit_await(kit, NULL, event);
	move(&w, NULL, &w.x, DOWNLOAD);
	expect_steps(&w, &w.x);
	is_in_order(&w, stream);
	kit_event_end(kit, event);
	kit_stream_end(kit, stream);
	end_work(&w);
}
