/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What an event tells: that the work before it is done, and how long it took.
 *
 * Whether an answer "reached" is true shows without a clock: the last work before the event is a
 * download to the host's memory, and what other streams see of the rest.
 */
#include "slots.h"
#include "stream_calls.h"

/* Work that lasts, then x := 7 and a download of x, all in one stream. */
struct marked {
	struct kit *kit;
	struct busy busy;
	struct staging in, out, seen;
	uint64_t buffer;
	void *stream, *other;
};
enum { SIZE = 3000, SEVEN = 7 };

static void begin(struct kit *kit, struct marked *m)
{
	*m = (struct marked){.kit = kit};
	kit_case(kit, TN_SLOT_EVENT_QUERY, "work that lasts");
	busy_begin(kit, &m->busy);
	staging_make(kit, &m->in, SIZE, 1);
	staging_make(kit, &m->out, SIZE, 1);
	staging_make(kit, &m->seen, SIZE, 0);
	memset(m->in.bytes, SEVEN, SIZE);
	m->buffer = kit_alloc(kit, SIZE, TN_MEMORY_DEVICE);
	m->stream = kit_stream(kit, 0);
	m->other = kit_stream(kit, 0);
}

static void end(struct marked *m)
{
	struct kit *kit = m->kit;
	kit_stream_end(kit, m->stream);
	kit_stream_end(kit, m->other);
	kit_free(kit, m->buffer);
	staging_end(kit, &m->in);
	staging_end(kit, &m->out);
	staging_end(kit, &m->seen);
	busy_end(&m->busy);
}

static void transfer(const struct marked *m, void *stream, enum transfer way, uint32_t flags,
		     const struct staging *host)
{
	const struct span span = {.buffer = m->buffer, .size = SIZE, .host = host->bytes};
	kit_transfer(m->kit, stream, way, flags, &span);
}

static void clear(struct marked *m)
{
	memset(m->out.bytes, 0, SIZE);
	memset(m->seen.bytes, 0, SIZE);
	transfer(m, NULL, UPLOAD, 0, &m->seen);
	if (kit_sync(m->kit, NULL))
		kit_fail(m->kit, "sync: %s", m->kit->error.text);
}

static void add_work(struct marked *m, void *stream)
{
	busy_row(&m->busy, stream);
	transfer(m, stream, UPLOAD, TN_ASYNC, &m->in);
	transfer(m, stream, DOWNLOAD, TN_ASYNC, &m->out);
}

static void give_work(struct marked *m, void *stream)
{
	clear(m);
	add_work(m, stream);
}

static int is_filled(const unsigned char *bytes)
{
	for (size_t i = 0; i < SIZE; i++)
		if (((const volatile unsigned char *)bytes)[i] != SEVEN)
			return 0;
	return 1;
}

/* The host was told that the work is done; asks what it sees itself, and what another stream that
 * has not waited for anything sees. */
static void expect_done(struct marked *m, void *stream, const char *told)
{
	if (!is_filled(m->out.bytes))
		kit_fail(m->kit, "%s, but a download before the event has not arrived", told);
	transfer(m, stream == m->other ? m->stream : m->other, DOWNLOAD, 0, &m->seen);
	if (!is_filled(m->seen.bytes))
		kit_fail(m->kit, "%s, but another stream does not see an upload before the event",
			 told);
}

/* ---- Reached ---------------------------------------------------------------------------------*/

static void tells_when_it_is_reached(struct marked *m, void *stream, void *event)
{
	struct kit *kit = m->kit;
	give_work(m, stream);
	kit_record(kit, stream, event);
	if (kit_is_reached(kit, event) == 1)
		expect_done(m, stream, "event_query says reached at once");
	if (!kit_is_reached_in_time(kit, event))
		kit_fail(kit, "the event is not reached, however often it is queried");
	expect_done(m, stream, "event_query says reached");
	for (int i = 0; i < 3; i++)
		if (kit_is_reached(kit, event) != 1)
			kit_fail(kit, "a reached event is no longer reached");
}

static void is_waited_for(struct marked *m, void *stream, void *event)
{
	give_work(m, stream);
	kit_record(m->kit, stream, event);
	kit_event_sync(m->kit, event);
	expect_done(m, stream, "event_sync has returned");
	if (kit_is_reached(m->kit, event) != 1)
		kit_fail(m->kit, "it is not reached after event_sync");
}

/* The second place counts, not the first; and the place of an event whose stream is gone. */
static void marks_the_last_place(struct marked *m, void *stream, void *event)
{
	struct kit *kit = m->kit;
	kit_record(kit, stream, event);
	kit_event_sync(kit, event);
	is_waited_for(m, stream, event);
	kit_record(kit, stream, event);
	tells_when_it_is_reached(m, stream, event);
}

/* The same while the first place is not reached: there is work before it and behind it. */
static void marks_the_last_place_early(struct marked *m, void *stream, void *event)
{
	enum { QUERY, SYNC, WAIT, WAYS };
	struct kit *kit = m->kit;
	void *other = stream == m->other ? m->stream : m->other;
	for (int way = 0; way < WAYS; way++) {
		clear(m);
		busy_row(&m->busy, stream);
		kit_record(kit, stream, event);
		add_work(m, stream);
		kit_record(kit, stream, event);
		if (way == QUERY && !kit_is_reached_in_time(kit, event))
			kit_fail(kit, "the event is not reached, however often it is queried");
		if (way == SYNC)
			kit_event_sync(kit, event);
		if (way == WAIT) {
			kit_await(kit, other, event);
			if (kit_sync(kit, other))
				kit_fail(kit, "sync: %s", kit->error.text);
		}
		expect_done(m, stream,
			    way == QUERY  ? "event_query says reached"
			    : way == SYNC ? "event_sync has returned"
					  : "a stream that waited for the event has gone on");
	}
}

static void outlives_its_stream(struct marked *m, void *event)
{
	struct kit *kit = m->kit;
	void *gone = kit_stream(kit, 0);
	give_work(m, gone);
	kit_record(kit, gone, event);
	kit_await(kit, m->stream, event);
	kit_stream_end(kit, gone);
	if (kit_is_reached(kit, event) != 1)
		kit_fail(kit, "an event of a destroyed stream is not reached");
	expect_done(m, m->stream, "the stream is destroyed");
	kit_event_sync(kit, event);
}

/* It is reached when the other stream's work is done too, which it waited for. */
static void follows_another(struct marked *m, void *stream, void *event)
{
	struct kit *kit = m->kit;
	void *first = stream == m->stream ? NULL : m->stream;
	give_work(m, first);
	kit_record(kit, first, event);
	kit_await(kit, stream, event);
	kit_record(kit, stream, event);
	if (kit_is_reached(kit, event) == 1)
		expect_done(m, first, "the event of a stream that waits says reached");
	kit_event_sync(kit, event);
	expect_done(m, first, "event_sync of a stream that waited has returned");
}

/* A wait is for the place that was recorded when it was given.  One that follows the event waits,
 * once that is recorded behind it, for itself: in its own stream, or through another. */
static void keeps_its_place(struct marked *m, void *stream, void *event, void *answer)
{
	struct kit *kit = m->kit;
	void *first = stream == m->stream ? NULL : m->stream;
	give_work(m, first);
	kit_record(kit, first, event);
	kit_await(kit, stream, event);
	kit_record(kit, stream, answer);
	kit_await(kit, first, answer);
	kit_record(kit, first, event);
	kit_await(kit, stream, event);
	kit_record(kit, stream, event);
	kit_event_sync(kit, answer);
	expect_done(m, first, "event_sync of a stream that waited has returned");
	kit_event_sync(kit, event);
}

enum { EVENTS = 5 };

void check_event_reached(struct kit *kit)
{
	struct marked m;
	void *events[EVENTS];
	if (!kit_needs_streams(kit))
		return;
	begin(kit, &m);
	for (int i = 0; i < EVENTS; i++)
		events[i] = kit_event(kit);
	for (int null = 0; null < 2; null++) {
		void *stream = null ? NULL : m.stream;
		const char *name = null ? "the NULL stream" : "a stream";
		for (int i = 0; i < EVENTS; i++) {
			kit_case(kit, TN_SLOT_EVENT_QUERY, "event %d of %s: query", i, name);
			tells_when_it_is_reached(&m, stream, events[i]);
			kit_pass(kit);
			kit_case(kit, TN_SLOT_EVENT_SYNC, "event %d of %s: sync", i, name);
			is_waited_for(&m, stream, events[i]);
			kit_pass(kit);
		}
		kit_case(kit, TN_SLOT_EVENT_RECORD, "an event of %s recorded again", name);
		marks_the_last_place(&m, stream, events[0]);
		kit_pass(kit);
		kit_case(kit, TN_SLOT_EVENT_RECORD,
			 "an event of %s recorded again before it is reached", name);
		marks_the_last_place_early(&m, stream, events[3]);
		kit_pass(kit);
		kit_case(kit, TN_SLOT_EVENT_WAIT, "an event of %s behind another stream", name);
		follows_another(&m, stream, events[1]);
		kit_pass(kit);
		kit_case(kit, TN_SLOT_EVENT_WAIT, "%s waits for events recorded again later", name);
		keeps_its_place(&m, stream, events[1], events[4]);
		kit_pass(kit);
	}
	kit_case(kit, TN_SLOT_STREAM_DESTROY, "an event of a stream that is destroyed");
	outlives_its_stream(&m, events[2]);
	kit_pass(kit);
	for (int i = 0; i < EVENTS; i++)
		kit_event_end(kit, events[i]);
	end(&m);
}

/* ---- Time ------------------------------------------------------------------------------------*/

enum { MARKS = 3, TRIES = 8, ROWS = 2 };

struct times {
	double host; /* from before the first mark to after the wait for the last */
	double between[MARKS - 1], whole; /* by events */
};

static void measure(struct marked *m, void *const *marks, void *stream, struct times *times)
{
	struct kit *kit = m->kit;
	const double begin = kit_seconds();
	for (int i = 0; i < MARKS; i++) {
		for (int row = 0; i && row < ROWS; row++)
			busy_row(&m->busy, stream);
		kit_record(kit, stream, marks[i]);
	}
	kit_event_sync(kit, marks[MARKS - 1]);
	times->host = kit_seconds() - begin;
	for (int i = 0; i + 1 < MARKS; i++)
		if (kit_elapsed(kit, marks[i], marks[i + 1], &times->between[i]))
			kit_fail(kit, "event_elapsed: %s", kit->error.text);
	if (kit_elapsed(kit, marks[0], marks[MARKS - 1], &times->whole))
		kit_fail(kit, "event_elapsed: %s", kit->error.text);
}

/* Work cannot take longer than the host waited for it, but for the two clocks.  That it takes most
 * of this time has to show in one of several tries, since other programs run too. */
static void agrees_with_the_clock(struct marked *m, void *stream, void *const *marks)
{
	enum { NOT_LESS = 2 };
	struct kit *kit = m->kit;
	struct times t = {0};
	double best = 0;
	for (int i = 0; i < TRIES && best * NOT_LESS < 1; i++) {
		measure(m, marks, stream, &t);
		if (!(t.whole <= 1.1 * t.host + 1e-3))
			return kit_fail(kit, "%g seconds by events, %g by the host's clock",
					t.whole, t.host);
		double sum = t.between[0] + t.between[1];
		if (!(t.between[0] > 0 && t.between[1] > 0))
			return kit_fail(kit, "work took %g and %g seconds", t.between[0],
					t.between[1]);
		if (!(fabs(sum - t.whole) <= 0.02 * t.whole + 2e-5))
			return kit_fail(kit, "%g and %g seconds are %g together", t.between[0],
					t.between[1], t.whole);
		best = t.whole / t.host > best ? t.whole / t.host : best;
	}
	if (best * NOT_LESS < 1)
		kit_fail(kit, "%g seconds by events, %g by the host's clock", t.whole, t.host);
}

/* While the end is not reached there is no time; and what is reached has left its traces. */
static void waits_for_both(struct marked *m, void *stream, void *const *marks)
{
	struct kit *kit = m->kit;
	double seconds = -77;
	kit_record(kit, stream, marks[0]);
	give_work(m, stream);
	kit_record(kit, stream, marks[1]);
	tn_status status = kit_elapsed(kit, marks[0], marks[1], &seconds);
	if (!status)
		expect_done(m, stream, "event_elapsed gives a time");
	else if (status != TN_INVALID_ARGUMENT || seconds != -77)
		kit_fail(kit, "%s and %g: expected INVALID_ARGUMENT, and the seconds as they were",
			 tn_status_name(status), seconds);
	kit_event_sync(kit, marks[1]);
}

void check_event_time(struct kit *kit)
{
	struct marked m;
	void *marks[MARKS];
	if (!kit_needs_streams(kit))
		return;
	begin(kit, &m);
	for (int i = 0; i < MARKS; i++)
		marks[i] = kit_event(kit);
	for (int null = 0; null < 2; null++) {
		void *stream = null ? NULL : m.stream;
		kit_case(kit, TN_SLOT_EVENT_ELAPSED, "event_elapsed round work of %s",
			 null ? "the NULL stream" : "a stream");
		agrees_with_the_clock(&m, stream, marks);
		waits_for_both(&m, stream, marks);
		kit_pass(kit);
	}
	for (int i = 0; i < MARKS; i++)
		kit_event_end(kit, marks[i]);
	end(&m);
}
