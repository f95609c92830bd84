/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every slot and all transfers in streams that are kept busy, behind and before asynchronous
 * transfers: what runs in another stream than that of its call runs too early, or too late.
 */
#include <stdio.h>

#include "flights.h"
#include "loader/slots.h"
#include "slots.h"

enum { STREAMS = 3 }; /* the first is the NULL stream */

struct streams {
	struct kit *kit;
	void *stream[STREAMS];
	struct busy busy[STREAMS];
	int are_busy;
};

/* A synchronous device needs no streams, and no work to be late behind. */
static void begin(struct kit *kit, struct streams *s)
{
	*s = (struct streams){.kit = kit};
	s->are_busy = !(kit->description.flags & TN_DEVICE_SYNCHRONOUS);
	kit_case(kit, TN_SLOT_UPLOAD, "work that lasts");
	for (int i = 0; i < STREAMS && s->are_busy; i++) {
		if (i)
			busy_like(&s->busy[i], &s->busy[0]);
		else
			busy_begin(kit, &s->busy[0]);
	}
	for (int i = 1; i < STREAMS && kit_has_streams(kit); i++)
		s->stream[i] = kit_stream(kit, i);
}

static void end(struct streams *s)
{
	for (int i = 0; i < STREAMS; i++) {
		if (s->stream[i])
			kit_stream_end(s->kit, s->stream[i]);
		if (s->are_busy)
			busy_end(&s->busy[i]);
	}
}

static void keep_busy(struct streams *s, int i)
{
	if (s->are_busy)
		busy_row(&s->busy[i], s->stream[i]);
}

/* How the host waits for a stream. */
enum wait { SYNC, EVENT_SYNC, QUERIES, DESTROY, WAITS };
static const char *const wait_names[WAITS] = {"sync", "event_sync", "event_query",
					      "stream_destroy"};

static void wait_for(struct streams *s, int i, enum wait wait)
{
	struct kit *kit = s->kit;
	void **stream = &s->stream[i];
	if (!kit_has_streams(kit) || (wait == DESTROY && !*stream))
		wait = SYNC;
	if (wait == SYNC) {
		if (kit_sync(kit, *stream))
			kit_fail(kit, "sync: %s", kit->error.text);
	} else if (wait == DESTROY) {
		kit_stream_end(kit, *stream);
		*stream = kit_stream(kit, i);
	} else {
		void *event = kit_event(kit);
		kit_record(kit, *stream, event);
		if (wait == EVENT_SYNC)
			kit_event_sync(kit, event);
		else if (!kit_is_reached_in_time(kit, event))
			kit_fail(kit, "the event is not reached, however often it is queried");
		kit_event_end(kit, event);
	}
}

/* ---- Every slot ------------------------------------------------------------------------------*/

/* The streams of the uploads, of the call, and of the downloads. */
static const struct {
	const char *name;
	int upload, call, download;
	tn_dtype dtype;
	int is_large, needs_streams;
} plans[] = {
	{"in the NULL stream", 0, 0, 0, TN_F32, 0, 0},
	{"in a stream", 1, 1, 1, TN_F32, 0, 1},
	{"large, in a stream", 1, 1, 1, TN_F32, 1, 1},
	{"in f64, in a stream", 1, 1, 1, TN_F64, 0, 1},
	{"in i32, in a stream", 1, 1, 1, TN_I32, 0, 1},
	{"in another stream than its transfers", 1, 2, 1, TN_F32, 0, 1},
	{"in the NULL stream, its transfers in others", 1, 0, 2, TN_F32, 0, 1},
};
enum { PLANS = sizeof(plans) / sizeof(plans[0]) };

/* Two calls at once, with different data, in streams that differ unless there is one only. */
static void two_at_once(struct streams *s, int slot, int plan, enum wait wait)
{
	static const int other[STREAMS] = {2, 0, 1};
	struct flight one, two;
	char what[100];
	int n = kit_has_streams(s->kit) ? STREAMS : 1;
	int upload = plans[plan].upload, call = plans[plan].call, download = plans[plan].download;
	snprintf(what, sizeof(what), "%s, two at once, then %s", plans[plan].name,
		 wait_names[wait]);
	int64_t scale = plans[plan].is_large ? flight_large(slot) : 1;
	int made = flight_make(s->kit, &one, slot, what, 1, plans[plan].dtype, scale, plan % 2);
	made &= flight_make(s->kit, &two, slot, what, 2, plans[plan].dtype, scale, plan % 2);
	if (made) {
		flight_reset(&one);
		flight_reset(&two);
		keep_busy(s, upload);
		if (n > 1)
			keep_busy(s, other[upload]);
		flight_start(&one, s->stream[upload], s->stream[call], s->stream[download]);
		flight_start(&two, s->stream[other[upload] % n], s->stream[other[call] % n],
			     s->stream[other[download] % n]);
		for (int i = 0; i < n; i++)
			wait_for(s, i, wait);
		flight_land(&one);
		flight_land(&two);
		kit_pass(s->kit);
	}
	flight_free(&one);
	flight_free(&two);
}

void check_stream_samples(struct kit *kit)
{
	struct streams s;
	unsigned n = 0;
	if (sample_next(kit, -1) < 0)
		return kit_skip(kit, "it has no compute slot");
	begin(kit, &s);
	for (int slot = sample_next(kit, -1); slot >= 0; slot = sample_next(kit, slot))
		for (int plan = 0; plan < PLANS; plan++)
			if ((!plans[plan].needs_streams || kit_has_streams(kit)) &&
			    sample_has(kit, slot, plans[plan].dtype))
				two_at_once(&s, slot, plan, (enum wait)(n++ % WAITS));
	end(&s);
}

/* ---- Transfers -------------------------------------------------------------------------------*/

/* Bytes that differ from one place, array and turn to the next. */
static void fill(unsigned char *bytes, uint64_t size, uint64_t key)
{
	uint64_t z = key * 0x9e3779b97f4a7c15;
	for (uint64_t i = 0; i < size; i++) {
		if (i % 8 == 0)
			z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9 + i;
		bytes[i] = (unsigned char)(z >> i % 8 * 8);
	}
}

/* All sizes next to the first powers of two, and one next to each further one. */
enum { TURNS = 3, WHOLE_OCTAVES = 18, OCTAVES = 22 };
enum { PIECES = 3 * WHOLE_OCTAVES + OCTAVES - WHOLE_OCTAVES };

/* A buffer, and what goes into it and comes out again, in turns. */
struct piece {
	uint64_t buffer, offset, size;
	unsigned shift; /* of the host's memory */
	struct staging in[TURNS], out[TURNS];
};

static void make_piece(struct kit *kit, struct piece *piece, uint64_t size, int pinned)
{
	piece->size = size;
	piece->offset = kit_random(kit) % 300;
	piece->shift = (unsigned)(kit_random(kit) % 70);
	piece->buffer = kit_alloc(kit, piece->offset + size, TN_MEMORY_DEVICE);
	for (int turn = 0; turn < TURNS; turn++) {
		staging_make(kit, &piece->in[turn], (size_t)size + piece->shift, pinned);
		staging_make(kit, &piece->out[turn], (size_t)size + piece->shift, pinned);
		fill(piece->in[turn].bytes + piece->shift, size, size * TURNS + (uint64_t)turn + 1);
		memset(piece->out[turn].bytes, 0, (size_t)size + piece->shift);
	}
}

static void free_piece(struct kit *kit, struct piece *piece)
{
	for (int turn = 0; turn < TURNS; turn++) {
		staging_end(kit, &piece->in[turn]);
		staging_end(kit, &piece->out[turn]);
	}
	kit_free(kit, piece->buffer);
}

static void transfer(struct kit *kit, void *stream, const struct piece *piece, enum transfer way,
		     uint32_t flags, const struct staging *host)
{
	const struct span span = {.buffer = piece->buffer,
				  .offset = piece->offset,
				  .size = piece->size,
				  .host = host->bytes + piece->shift};
	kit_transfer(kit, stream, way, flags, &span);
}

static void expect_piece(struct kit *kit, const struct piece *piece, int turn)
{
	const unsigned char *in = piece->in[turn].bytes + piece->shift;
	const unsigned char *out = piece->out[turn].bytes + piece->shift;
	for (uint64_t i = 0; i < piece->size; i++)
		if (in[i] != out[i])
			return kit_fail(kit,
					"%llu bytes at offset %llu: byte %llu of turn %d is %02x, "
					"expected %02x",
					(unsigned long long)piece->size,
					(unsigned long long)piece->offset, (unsigned long long)i,
					turn, out[i], in[i]);
}

/* The first turn is in the buffer when the stream is given the rest, so that an upload that runs
 * early spoils the download before it. */
static void go_in_turns(struct kit *kit, void *stream, struct piece *piece)
{
	transfer(kit, stream, piece, DOWNLOAD, TN_ASYNC, &piece->out[0]);
	for (int turn = 1; turn < TURNS; turn++) {
		transfer(kit, stream, piece, UPLOAD, TN_ASYNC, &piece->in[turn]);
		if (turn < TURNS - 1)
			transfer(kit, stream, piece, DOWNLOAD, TN_ASYNC, &piece->out[turn]);
	}
}

static uint64_t size_of(struct kit *kit, int p)
{
	int further = p - 3 * WHOLE_OCTAVES;
	int octave = further < 0 ? p / 3 : WHOLE_OCTAVES + further;
	uint64_t beside = further < 0 ? (uint64_t)p % 3 : kit_random(kit) % 3;
	uint64_t size = (UINT64_C(1) << octave) + beside - 1;
	return size ? size : 1;
}

static void all_sizes(struct streams *s, int i, int pinned, enum wait wait)
{
	struct kit *kit = s->kit;
	struct piece pieces[PIECES];
	kit_case(kit, TN_SLOT_UPLOAD,
		 "up to %d bytes by TN_ASYNC, %s memory, %s stream %d, then %s",
		 (1 << (OCTAVES - 1)) + 1, pinned ? "pinned" : "ordinary",
		 s->stream[i] ? "in" : "in the NULL", i, wait_names[wait]);
	kit_vary(kit, (uint64_t)(i * 2 + pinned));
	for (int p = 0; p < PIECES; p++) {
		make_piece(kit, &pieces[p], size_of(kit, p), pinned);
		transfer(kit, NULL, &pieces[p], UPLOAD, 0, &pieces[p].in[0]);
	}
	if (kit_sync(kit, NULL))
		kit_fail(kit, "sync: %s", kit->error.text);
	keep_busy(s, i);
	for (int p = 0; p < PIECES; p++)
		go_in_turns(kit, s->stream[i], &pieces[p]);
	wait_for(s, i, wait);
	for (int p = 0; p < PIECES; p++) {
		transfer(kit, NULL, &pieces[p], DOWNLOAD, 0, &pieces[p].out[TURNS - 1]);
		for (int turn = 0; turn < TURNS; turn++)
			expect_piece(kit, &pieces[p], turn);
		free_piece(kit, &pieces[p]);
	}
	kit_pass(kit);
}

void check_transfer_async(struct kit *kit)
{
	struct streams s;
	unsigned n = 0;
	begin(kit, &s);
	for (int i = 0; i < (kit_has_streams(kit) ? STREAMS : 1); i++)
		for (int pinned = 0; pinned < 2; pinned++)
			if (!pinned || kit->description.memory_kinds >> TN_MEMORY_PINNED & 1)
				all_sizes(&s, i, pinned, (enum wait)(n++ % WAITS));
	end(&s);
}

/* ---- Waiting ---------------------------------------------------------------------------------*/

/* The last of a stream's work is a download to the host's memory, which shows when the host is told
 * too early that the work is done. */
static void is_waited_for(struct streams *s, int i, enum wait wait)
{
	enum { SIZE = 5000 };
	struct kit *kit = s->kit;
	struct piece piece;
	kit_case(kit, TN_SLOT_SYNC, "%s %d: work, a download by TN_ASYNC, then %s",
		 s->stream[i] ? "stream" : "NULL stream", i, wait_names[wait]);
	for (int pinned = 0; pinned < 2; pinned++) {
		make_piece(kit, &piece, SIZE, pinned);
		keep_busy(s, i);
		transfer(kit, s->stream[i], &piece, UPLOAD, TN_ASYNC, &piece.in[0]);
		transfer(kit, s->stream[i], &piece, DOWNLOAD, TN_ASYNC, &piece.out[0]);
		wait_for(s, i, wait);
		expect_piece(kit, &piece, 0);
		wait_for(s, i, SYNC);
		free_piece(kit, &piece);
	}
	kit_pass(kit);
}

/* A transfer without TN_ASYNC: the source may be overwritten, the data has arrived. */
static void is_complete(struct streams *s, int i)
{
	enum { SIZE = 70000 };
	struct kit *kit = s->kit;
	struct piece piece;
	kit_case(kit, TN_SLOT_UPLOAD, "%s %d: transfers without TN_ASYNC behind work",
		 s->stream[i] ? "stream" : "NULL stream", i);
	for (int pinned = 0; pinned < 2; pinned++) {
		make_piece(kit, &piece, SIZE, pinned);
		keep_busy(s, i);
		transfer(kit, s->stream[i], &piece, UPLOAD, 0, &piece.in[0]);
		memset(piece.in[0].bytes, 0x77, SIZE + piece.shift);
		keep_busy(s, i);
		transfer(kit, s->stream[i], &piece, DOWNLOAD, 0, &piece.out[0]);
		fill(piece.in[0].bytes + piece.shift, SIZE, SIZE * TURNS + 1);
		expect_piece(kit, &piece, 0);
		free_piece(kit, &piece);
	}
	kit_pass(kit);
}

/* A row of streams, each behind the one before it, with several events each. */
static void many_at_once(struct streams *s)
{
	enum { MANY = 20, EACH = 3, SIZE = 700 };
	struct kit *kit = s->kit;
	struct piece pieces[MANY];
	void *streams[MANY], *events[MANY * EACH];
	kit_case(kit, TN_SLOT_EVENT_SYNC, "%d streams and %d events", MANY, MANY * EACH);
	for (int i = 0; i < MANY; i++) {
		streams[i] = kit_stream(kit, 0);
		make_piece(kit, &pieces[i], (uint64_t)(SIZE + i), i % 2);
	}
	for (int e = 0; e < MANY * EACH; e++)
		events[e] = kit_event(kit);
	if (s->are_busy)
		busy_row(&s->busy[0], streams[0]);
	for (int i = 0; i < MANY; i++) {
		if (i)
			kit_await(kit, streams[i], events[i * EACH - 1]);
		transfer(kit, streams[i], &pieces[i], UPLOAD, TN_ASYNC, &pieces[i].in[0]);
		transfer(kit, streams[i], &pieces[i], DOWNLOAD, TN_ASYNC, &pieces[i].out[0]);
		for (int e = 0; e < EACH; e++)
			kit_record(kit, streams[i], events[i * EACH + e]);
	}
	for (int i = 0; i < MANY; i++) {
		if (i % 2)
			kit_event_sync(kit, events[i * EACH + i % EACH]);
		else if (!kit_is_reached_in_time(kit, events[i * EACH + i % EACH]))
			kit_fail(kit, "event %d is not reached", i * EACH + i % EACH);
		expect_piece(kit, &pieces[i], 0);
	}
	for (int e = 0; e < MANY * EACH; e++)
		kit_event_end(kit, events[e]);
	for (int i = 0; i < MANY; i++) {
		kit_stream_end(kit, streams[i]);
		free_piece(kit, &pieces[i]);
	}
	kit_pass(kit);
}

void check_stream_waits(struct kit *kit)
{
	struct streams s;
	begin(kit, &s);
	for (int i = 0; i < (kit_has_streams(kit) ? STREAMS : 1); i++) {
		for (int wait = 0; wait < WAITS; wait++)
			if (wait == SYNC || kit_has_streams(kit))
				is_waited_for(&s, i, (enum wait)wait);
		is_complete(&s, i);
	}
	if (kit_has_streams(kit))
		many_at_once(&s);
	end(&s);
}

/* ---- Captured transfers ----------------------------------------------------------------------*/

/* A download of what was there, an upload and a download of that; 0: they cannot be captured. */
static int capture_turns(struct kit *kit, void *stream, const struct piece *piece, void **graph)
{
	tn_status refused = TN_OK;
	kit_capture_begin(kit, stream);
	for (int step = 0; step < 3 && !refused; step++) {
		const struct staging *host = step == 1 ? &piece->in[1] : &piece->out[step ? 1 : 0];
		const struct span span = {.buffer = piece->buffer,
					  .offset = piece->offset,
					  .size = piece->size,
					  .host = host->bytes + piece->shift};
		refused = kit_move(kit, stream, step == 1 ? UPLOAD : DOWNLOAD, TN_ASYNC, &span);
	}
	if (refused && refused != TN_NOT_CAPTURABLE)
		kit_fail(kit, "a captured transfer: %s: %s", tn_status_name(refused),
			 kit->error.text);
	tn_status ended = kit_capture_end(kit, stream, graph);
	if (ended && ended != TN_NOT_CAPTURABLE)
		kit_fail(kit, "capture_end: %s: %s", tn_status_name(ended), kit->error.text);
	return !refused && !ended;
}

/* The host's memory is the same when they are captured and when they run. */
static void replays_transfers(struct kit *kit, void *stream, uint64_t size)
{
	struct piece piece;
	void *graph = NULL;
	make_piece(kit, &piece, size, 1);
	transfer(kit, stream, &piece, UPLOAD, 0, &piece.in[0]);
	if (capture_turns(kit, stream, &piece, &graph)) {
		for (int replay = 0; replay < 2; replay++) {
			for (int turn = 0; turn < 2; turn++)
				memset(piece.out[turn].bytes, 0x11, size + piece.shift);
			transfer(kit, stream, &piece, DOWNLOAD, 0, &piece.out[2]);
			if (memcmp(piece.out[2].bytes + piece.shift,
				   piece.in[0].bytes + piece.shift, size) != 0)
				kit_fail(kit, "a captured upload ran before its graph");
			kit_launch(kit, stream, graph);
			if (kit_sync(kit, stream))
				kit_fail(kit, "sync: %s", kit->error.text);
			expect_piece(kit, &piece, 0);
			expect_piece(kit, &piece, 1);
			transfer(kit, stream, &piece, UPLOAD, 0, &piece.in[0]);
		}
		if (kit_sync(kit, stream))
			kit_fail(kit, "sync: %s", kit->error.text);
		kit_pass(kit);
	} else {
		kit_unsupported(kit);
	}
	if (graph)
		kit_graph_release(kit, graph);
	free_piece(kit, &piece);
}

void check_capture_transfers(struct kit *kit)
{
	if (!kit_can_capture(kit))
		return kit_skip(kit, "it cannot capture work");
	for (int i = 0; i < (kit_has_streams(kit) ? 2 : 1); i++) {
		void *stream = i ? kit_stream(kit, 0) : NULL;
		for (unsigned octave = 0; octave < 22; octave += 3) {
			kit_case(kit, TN_SLOT_GRAPH_LAUNCH, "transfers of %u bytes of %s",
				 1u << octave, i ? "a stream" : "the NULL stream");
			replays_transfers(kit, stream, UINT64_C(1) << octave);
		}
		if (stream)
			kit_stream_end(kit, stream);
	}
}
