/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random work of several streams on the same buffers, with events where the order matters and
 * nowhere else, against a model that does the work when it is given.
 *
 * The kit counts the work of each stream.  A clock says, for each stream, how much of its work is
 * known to be done before something: before later work of a stream, before an event, or before the
 * host goes on.  Work that uses a buffer needs a clock that contains all work it must follow; if
 * its stream's does not, the stream waits for an event of the other one.  Whenever the host is told
 * that work is done, the downloads in it have arrived.
 */
#include "loader/slots.h"
#include "programs.h"
#include "slots.h"
#include "stream_calls.h"

enum {
	STREAMS = 3,
	BUFFERS = 6,
	EVENTS = 4,
	STEPS = 160,
	MOST_MOVES = STEPS + 3 * BUFFERS,
	SEQUENCES = 12,
	MOST_OCTAVE = 18
};

struct clock {
	uint64_t of[STREAMS];
};

struct stream {
	void *handle;
	uint64_t given;      /* pieces of work so far */
	struct clock before; /* of its later work */
	struct busy busy;
};

struct buffer {
	uint64_t handle, count;
	int32_t *model;
	struct clock written, read; /* by the last work of each stream that did */
};

struct event {
	void *handle;
	int is_recorded, is_reached;
	struct clock before;
};

/* Memory of the host in a transfer; the buffer's elements, if it is a download. */
struct moved {
	struct staging host;
	int32_t *expected; /* NULL: an upload, or compared already */
	uint64_t count;
	int stream;
	uint64_t number;
};

struct sequence {
	struct kit *kit;
	struct tn_program *add_one, *identity; /* NULL: the device has no programs */
	struct stream streams[STREAMS];
	int n_streams;
	struct buffer buffers[BUFFERS];
	struct event events[EVENTS];
	struct moved transfers[MOST_MOVES];
	int n_transfers, step;
	struct clock done; /* known to the host */
};

static unsigned draw(struct sequence *s, unsigned n)
{
	return (unsigned)(kit_random(s->kit) % n);
}

/* ---- Clocks ----------------------------------------------------------------------------------*/

static void add_clock(struct clock *to, const struct clock *from)
{
	for (int i = 0; i < STREAMS; i++)
		to->of[i] = from->of[i] > to->of[i] ? from->of[i] : to->of[i];
}

static int contains(const struct clock *whole, const struct clock *part)
{
	for (int i = 0; i < STREAMS; i++)
		if (part->of[i] > whole->of[i])
			return 0;
	return 1;
}

/* The next piece of work of a stream: its number. */
static uint64_t give(struct stream *stream, int i)
{
	return stream->before.of[i] = ++stream->given;
}

static void compare(struct sequence *s, struct moved *t, const char *told)
{
	const int32_t *found = (const int32_t *)(const void *)t->host.bytes;
	for (uint64_t i = 0; i < t->count; i++)
		if (found[i] != t->expected[i]) {
			kit_fail(s->kit,
				 "step %d, %s: of a download of %llu bytes in stream %d, element "
				 "%llu is %d, expected %d",
				 s->step, told, (unsigned long long)(t->count * sizeof(int32_t)),
				 t->stream, (unsigned long long)i, found[i], t->expected[i]);
			break;
		}
	free(t->expected);
	t->expected = NULL;
}

/* The host is told that work is done. */
static void is_done(struct sequence *s, const struct clock *clock, const char *told)
{
	add_clock(&s->done, clock);
	for (int i = 0; i < STREAMS; i++)
		add_clock(&s->streams[i].before, &s->done);
	for (int i = 0; i < s->n_transfers; i++) {
		struct moved *t = &s->transfers[i];
		if (t->expected && t->number <= s->done.of[t->stream])
			compare(s, t, told);
	}
}

/* ---- Events ----------------------------------------------------------------------------------*/

static struct event *record(struct sequence *s, int i)
{
	struct event *event = &s->events[draw(s, EVENTS)];
	kit_record(s->kit, s->streams[i].handle, event->handle);
	event->is_recorded = 1;
	event->is_reached = 0;
	event->before = s->streams[i].before;
	return event;
}

static void renew(struct sequence *s, struct event *event)
{
	kit_event_end(s->kit, event->handle);
	*event = (struct event){.handle = kit_event(s->kit)};
}

/* Later work of stream i follows all work on the buffer, or all that wrote to it. */
static void follow(struct sequence *s, int i, const struct buffer *buffer, int writes)
{
	struct stream *stream = &s->streams[i];
	struct clock needed = buffer->written;
	if (writes)
		add_clock(&needed, &buffer->read);
	for (int j = 0; j < s->n_streams; j++) {
		if (j == i || needed.of[j] <= stream->before.of[j])
			continue;
		struct event *event = record(s, j);
		kit_await(s->kit, stream->handle, event->handle);
		add_clock(&stream->before, &event->before);
		if (!draw(s, 3))
			renew(s, event);
	}
}

static void ask_event(struct sequence *s)
{
	struct event *event = &s->events[draw(s, EVENTS)];
	uint32_t reached = kit_is_reached(s->kit, event->handle);
	if (!reached && (!event->is_recorded || event->is_reached))
		kit_fail(s->kit, "step %d: an event that was %s is not reached", s->step,
			 event->is_recorded ? "reached before" : "never recorded");
	if (!reached)
		return;
	event->is_reached = 1;
	is_done(s, &event->before, "event_query says reached");
}

static void await_event(struct sequence *s)
{
	struct event *event = &s->events[draw(s, EVENTS)];
	kit_event_sync(s->kit, event->handle);
	event->is_reached = 1;
	is_done(s, &event->before, "event_sync has returned");
}

/* ---- Work ------------------------------------------------------------------------------------*/

static void make_buffer(struct sequence *s, struct buffer *buffer)
{
	uint64_t count = (UINT64_C(1) << draw(s, MOST_OCTAVE)) + draw(s, 3);
	*buffer = (struct buffer){.count = count};
	buffer->handle = kit_alloc(s->kit, count * sizeof(int32_t), TN_MEMORY_DEVICE);
	buffer->model = malloc(count * sizeof(int32_t));
	if (!buffer->model)
		kit_give_up(s->kit, "the kit is out of memory");
}

static void free_buffer(struct sequence *s, struct buffer *buffer)
{
	kit_free(s->kit, buffer->handle);
	free(buffer->model);
}

static struct moved *new_transfer(struct sequence *s, const struct buffer *buffer, int i)
{
	struct moved *t = &s->transfers[s->n_transfers++];
	*t = (struct moved){.count = buffer->count, .stream = i};
	staging_make(s->kit, &t->host, (size_t)buffer->count * sizeof(int32_t), draw(s, 2) != 0);
	return t;
}

static void move(struct sequence *s, const struct buffer *buffer, const struct moved *t,
		 enum transfer way, int is_async)
{
	const struct span span = {.buffer = buffer->handle,
				  .size = buffer->count * sizeof(int32_t),
				  .host = t->host.bytes};
	kit_transfer(s->kit, s->streams[t->stream].handle, way, is_async ? TN_ASYNC : 0, &span);
}

static void upload(struct sequence *s, int i, struct buffer *buffer, int is_async)
{
	struct moved *t = new_transfer(s, buffer, i);
	follow(s, i, buffer, 1);
	for (uint64_t e = 0; e < buffer->count; e++)
		buffer->model[e] = (int32_t)((e * 7 + (uint64_t)s->step * 1009) % 100003);
	memcpy(t->host.bytes, buffer->model, (size_t)buffer->count * sizeof(int32_t));
	buffer->written.of[i] = give(&s->streams[i], i);
	move(s, buffer, t, UPLOAD, is_async);
	if (!is_async)
		memset(t->host.bytes, 0x66, (size_t)buffer->count * sizeof(int32_t));
}

static void download(struct sequence *s, int i, struct buffer *buffer, int is_async)
{
	struct moved *t = new_transfer(s, buffer, i);
	const size_t size = (size_t)buffer->count * sizeof(int32_t);
	follow(s, i, buffer, 0);
	t->expected = malloc(size);
	if (!t->expected)
		kit_give_up(s->kit, "the kit is out of memory");
	memcpy(t->expected, buffer->model, size);
	memset(t->host.bytes, 0xff, size);
	t->number = buffer->read.of[i] = give(&s->streams[i], i);
	move(s, buffer, t, DOWNLOAD, is_async);
	if (!is_async)
		is_done(s, &s->streams[i].before, "a download has returned");
}

static struct tn_operand elements(const struct buffer *buffer, uint64_t count)
{
	return (struct tn_operand){.buffer = buffer->handle,
				   .dtype = TN_I32,
				   .rank = 1,
				   .shape = {(int64_t)count},
				   .strides = {1}};
}

static void count_up(struct sequence *s, int i, struct buffer *buffer)
{
	const struct tn_operand x = elements(buffer, buffer->count);
	follow(s, i, buffer, 1);
	for (uint64_t e = 0; e < buffer->count; e++)
		buffer->model[e] += 1;
	buffer->written.of[i] = give(&s->streams[i], i);
	kit_map(s->kit, s->streams[i].handle, s->add_one, &x, &x);
}

static void copy(struct sequence *s, int i, struct buffer *from, struct buffer *to)
{
	uint64_t count = from->count < to->count ? from->count : to->count;
	const struct tn_operand x = elements(from, count), y = elements(to, count);
	follow(s, i, from, 0);
	follow(s, i, to, 1);
	memcpy(to->model, from->model, (size_t)count * sizeof(int32_t));
	from->read.of[i] = to->written.of[i] = give(&s->streams[i], i);
	kit_map(s->kit, s->streams[i].handle, s->identity, &x, &y);
}

/* Ends a stream, which waits for its work, and makes another. */
static void renew_stream(struct sequence *s, int i)
{
	struct stream *stream = &s->streams[i];
	if (!stream->handle)
		return;
	kit_stream_end(s->kit, stream->handle);
	is_done(s, &stream->before, "stream_destroy has returned");
	stream->handle = kit_stream(s->kit, i);
}

/* Memory that no work uses any more is freed, and what is allocated next may be the same. */
static void renew_buffer(struct sequence *s, struct buffer *buffer)
{
	if (!contains(&s->done, &buffer->written) || !contains(&s->done, &buffer->read))
		return;
	free_buffer(s, buffer);
	make_buffer(s, buffer);
	upload(s, 0, buffer, 1);
}

static void sync_stream(struct sequence *s, int i)
{
	if (kit_sync(s->kit, s->streams[i].handle))
		kit_fail(s->kit, "step %d: sync: %s", s->step, s->kit->error.text);
	is_done(s, &s->streams[i].before, "sync has returned");
}

static void take_step(struct sequence *s)
{
	int i = (int)draw(s, (unsigned)s->n_streams);
	struct buffer *one = &s->buffers[draw(s, BUFFERS)], *two = &s->buffers[draw(s, BUFFERS)];
	const int has_streams = s->n_streams > 1;
	switch (draw(s, 20)) {
	case 0:
	case 1:
	case 2:
		return upload(s, i, one, 1);
	case 3:
		return upload(s, i, one, 0);
	case 4:
	case 5:
	case 6:
	case 7:
		return download(s, i, one, 1);
	case 8:
		return download(s, i, one, draw(s, 4) != 0);
	case 9:
	case 10:
	case 11:
		return s->add_one ? count_up(s, i, one) : download(s, i, one, 1);
	case 12:
	case 13:
		if (s->identity && one != two)
			copy(s, i, one, two);
		return;
	case 14:
		if (s->streams[i].busy.kit) {
			busy_row(&s->streams[i].busy, s->streams[i].handle);
			(void)give(&s->streams[i], i);
		}
		return;
	case 15:
		if (has_streams)
			(void)record(s, i);
		return;
	case 16:
		if (has_streams)
			ask_event(s);
		return;
	case 17:
		if (has_streams && !draw(s, 2))
			await_event(s);
		return;
	case 18:
		if (!draw(s, 3))
			draw(s, 2) ? sync_stream(s, i) : renew_stream(s, i);
		return;
	default:
		return renew_buffer(s, one);
	}
}

/* ---- Sequences -------------------------------------------------------------------------------*/

static void begin_sequence(struct sequence *s)
{
	s->n_transfers = 0;
	memset(&s->done, 0, sizeof(s->done));
	for (int i = 0; i < STREAMS; i++) {
		s->streams[i].given = 0;
		memset(&s->streams[i].before, 0, sizeof(s->streams[i].before));
	}
	for (int i = 0; i < EVENTS && s->n_streams > 1; i++)
		s->events[i] = (struct event){.handle = kit_event(s->kit)};
	for (int i = 0; i < BUFFERS; i++) {
		s->step = -1 - i;
		make_buffer(s, &s->buffers[i]);
		upload(s, i % s->n_streams, &s->buffers[i], 1);
	}
}

static void end_sequence(struct sequence *s)
{
	for (int i = 0; i < BUFFERS; i++)
		download(s, i % s->n_streams, &s->buffers[i], 1);
	for (int i = 0; i < s->n_streams; i++)
		sync_stream(s, i);
	for (int i = 0; i < EVENTS && s->n_streams > 1; i++)
		kit_event_end(s->kit, s->events[i].handle);
	for (int i = 0; i < BUFFERS; i++)
		free_buffer(s, &s->buffers[i]);
	for (int i = 0; i < s->n_transfers; i++)
		staging_end(s->kit, &s->transfers[i].host);
	kit_pass(s->kit);
}

static void begin(struct kit *kit, struct sequence *s)
{
	tn_value v;
	struct tn_builder b;
	memset(s, 0, sizeof(*s));
	s->kit = kit;
	s->n_streams = kit_has_streams(kit) ? STREAMS : 1;
	kit_case(kit, TN_SLOT_STREAM_CREATE, "work that lasts");
	for (int i = 0; i < s->n_streams; i++)
		s->streams[i].handle = i ? kit_stream(kit, 0) : NULL;
	for (int i = 0; i < s->n_streams && s->n_streams > 1; i++)
		if (i)
			busy_like(&s->streams[i].busy, &s->streams[0].busy);
		else
			busy_begin(kit, &s->streams[0].busy);
	if (!kit_claims_program(kit, TN_I32))
		return;
	begin_program(&b);
	v = tn_build_source(&b, TN_OP_INPUT, TN_I32, 0);
	v = tn_build_op(&b, TN_OP_ADD, TN_I32, v, tn_build_number(&b, TN_I32, 1), 0);
	s->add_one = finish_program(&b, 1, 0, 1, &v);
	s->identity = identity_program(TN_I32, 1);
}

static void end(struct sequence *s)
{
	for (int i = 0; i < s->n_streams; i++) {
		if (s->streams[i].handle)
			kit_stream_end(s->kit, s->streams[i].handle);
		if (s->streams[i].busy.kit)
			busy_end(&s->streams[i].busy);
	}
	if (s->add_one)
		tn_program_destroy(s->add_one);
	if (s->identity)
		tn_program_destroy(s->identity);
}

void check_stream_random(struct kit *kit)
{
	static struct sequence s;
	begin(kit, &s);
	for (int n = 0; n < SEQUENCES; n++) {
		kit_case(kit, TN_SLOT_STREAM_CREATE, "sequence %d of %d random steps", n, STEPS);
		kit_vary(kit, (uint64_t)n);
		begin_sequence(&s);
		for (s.step = 0; s.step < STEPS && !kit->case_failed; s.step++)
			take_step(&s);
		end_sequence(&s);
	}
	end(&s);
}
