/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls that take a stream or an event.  A row of work is as long as this device needs it: the
 * length of its array doubles until the row lasts, from a size that an interpreter manages.
 */
#include "stream_calls.h"

#include <time.h>

#include "loader/slots.h"
#include "programs.h"

int kit_has_streams(const struct kit *kit)
{
	return tn_backend_has_all(kit->backend, TN_SLOT_STREAM_CREATE, TN_SLOT_EVENT_ELAPSED);
}

int kit_needs_streams(struct kit *kit)
{
	if (kit_has_streams(kit))
		return 1;
	kit_skip(kit, "it has no streams");
	return 0;
}

/* ---- Streams ---------------------------------------------------------------------------------*/

void *kit_stream(struct kit *kit, int32_t priority)
{
	struct tn_stream_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				      .priority = priority};
	void *stream = NULL;
	if (kit->backend->stream.stream_create(kit->device, &args, &stream) || !stream)
		kit_give_up(kit, "stream_create: %s", kit->error.text);
	return stream;
}

tn_status kit_stream_destroy(struct kit *kit, void *stream)
{
	struct tn_stream_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error}};
	return kit->backend->stream.stream_destroy(kit->device, &args);
}

void kit_stream_end(struct kit *kit, void *stream)
{
	tn_status status = kit_stream_destroy(kit, stream);
	if (status)
		kit_fail(kit, "stream_destroy: %s: %s", tn_status_name(status), kit->error.text);
}

tn_status kit_sync(struct kit *kit, void *stream)
{
	struct tn_sync_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error}};
	return kit->backend->device.sync(kit->device, &args);
}

/* ---- Events ----------------------------------------------------------------------------------*/

typedef tn_status (*event_entry)(void *device, const struct tn_event_args *args);

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

void *kit_event(struct kit *kit)
{
	struct tn_event_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error}};
	void *event = NULL;
	if (kit->backend->stream.event_create(kit->device, &args, &event) || !event)
		kit_give_up(kit, "event_create: %s", kit->error.text);
	return event;
}

void kit_event_end(struct kit *kit, void *event)
{
	on_event(kit, kit->backend->stream.event_destroy, "event_destroy", NULL, event);
}

void kit_record(struct kit *kit, void *stream, void *event)
{
	on_event(kit, kit->backend->stream.event_record, "event_record", stream, event);
}

void kit_await(struct kit *kit, void *stream, void *event)
{
	on_event(kit, kit->backend->stream.event_wait, "event_wait", stream, event);
}

void kit_event_sync(struct kit *kit, void *event)
{
	on_event(kit, kit->backend->stream.event_sync, "event_sync", NULL, event);
}

uint32_t kit_is_reached(struct kit *kit, void *event)
{
	struct tn_event_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .event = event};
	uint32_t reached = 9;
	if (kit->backend->stream.event_query(kit->device, &args, &reached) || reached > 1)
		kit_fail(kit, "event_query gives %u: %s", reached, kit->error.text);
	return reached;
}

int kit_is_reached_in_time(struct kit *kit, void *event)
{
	/* A queue that has not started by itself in a minute never does. */
	static double patience = 60;
	const struct timespec pause = {.tv_nsec = 100000};
	const double begin = kit_seconds();
	do {
		if (kit_is_reached(kit, event) == 1)
			return 1;
		nanosleep(&pause, NULL);
	} while (kit_seconds() - begin < patience);
	patience = 0.5;
	return 0;
}

tn_status kit_elapsed(struct kit *kit, void *start, void *end, double *seconds)
{
	struct tn_elapsed_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				       .start = start,
				       .end = end};
	return kit->backend->stream.event_elapsed(kit->device, &args, seconds);
}

/* ---- Transfers and memory --------------------------------------------------------------------*/

tn_status kit_move(struct kit *kit, void *stream, enum transfer way, uint32_t flags,
		   const struct span *span)
{
	struct tn_transfer_args args = {.call = {.struct_size = sizeof(args),
						 .flags = flags,
						 .stream = stream,
						 .error = &kit->error},
					.buffer = span->buffer,
					.offset = span->offset,
					.size = span->size,
					.host = span->host};
	return way == UPLOAD ? kit->backend->device.upload(kit->device, &args)
			     : kit->backend->device.download(kit->device, &args);
}

void kit_transfer(struct kit *kit, void *stream, enum transfer way, uint32_t flags,
		  const struct span *span)
{
	tn_status status = kit_move(kit, stream, way, flags, span);
	if (status)
		kit_fail(kit, "%s%s: %s: %s", way == UPLOAD ? "upload" : "download",
			 flags ? " with TN_ASYNC" : "", tn_status_name(status), kit->error.text);
}

tn_status kit_try_map(struct kit *kit, void *stream, const struct tn_program *program,
		      const struct tn_operand *from, const struct tn_operand *to)
{
	struct tn_map_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error},
		.program = program,
		.inputs = from,
		.outputs = to};
	return kit->backend->compute.map(kit->device, &args);
}

void kit_map(struct kit *kit, void *stream, const struct tn_program *program,
	     const struct tn_operand *from, const struct tn_operand *to)
{
	tn_status status = kit_try_map(kit, stream, program, from, to);
	if (status)
		kit_fail(kit, "map: %s: %s", tn_status_name(status), kit->error.text);
}

uint64_t kit_alloc(struct kit *kit, uint64_t size, uint32_t memory_kind)
{
	struct tn_alloc_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .size = size,
				     .memory_kind = memory_kind};
	uint64_t buffer = 0;
	tn_status status = kit->backend->device.alloc(kit->device, &args, &buffer);
	if (status || !buffer)
		kit_give_up(kit, "alloc of %llu bytes: %s: %s", (unsigned long long)size,
			    tn_status_name(status), kit->error.text);
	return buffer;
}

void kit_free(struct kit *kit, uint64_t buffer)
{
	struct tn_free_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				    .buffer = buffer};
	tn_status status = kit->backend->device.free(kit->device, &args);
	if (status)
		kit_fail(kit, "free: %s: %s", tn_status_name(status), kit->error.text);
}

void staging_make(struct kit *kit, struct staging *memory, size_t size, int pinned)
{
	*memory = (struct staging){0};
	if (pinned && kit->description.memory_kinds >> TN_MEMORY_PINNED & 1) {
		memory->pinned = kit_alloc(kit, size, TN_MEMORY_PINNED);
		memory->bytes = (unsigned char *)(uintptr_t)memory->pinned;
		return;
	}
	memory->bytes = malloc(size);
	if (!memory->bytes)
		kit_give_up(kit, "the kit is out of memory");
}

void staging_end(struct kit *kit, struct staging *memory)
{
	if (memory->pinned)
		kit_free(kit, memory->pinned);
	else
		free(memory->bytes);
}

/* ---- Graphs ----------------------------------------------------------------------------------*/

int kit_can_capture(const struct kit *kit)
{
	return tn_backend_has_all(kit->backend, TN_SLOT_CAPTURE_BEGIN, TN_SLOT_GRAPH_RELEASE);
}

typedef tn_status (*graph_entry)(void *device, const struct tn_graph_args *args);

static void on_graph(struct kit *kit, graph_entry entry, const char *name, void *stream,
		     void *graph)
{
	struct tn_graph_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error},
		.graph = graph};
	tn_status status = entry(kit->device, &args);
	if (status)
		kit_fail(kit, "%s: %s: %s", name, tn_status_name(status), kit->error.text);
}

void kit_capture_begin(struct kit *kit, void *stream)
{
	on_graph(kit, kit->backend->capture.capture_begin, "capture_begin", stream, NULL);
}

tn_status kit_capture_end(struct kit *kit, void *stream, void **graph)
{
	struct tn_graph_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error}};
	return kit->backend->capture.capture_end(kit->device, &args, graph);
}

void kit_launch(struct kit *kit, void *stream, void *graph)
{
	on_graph(kit, kit->backend->capture.graph_launch, "graph_launch", stream, graph);
}

void kit_graph_release(struct kit *kit, void *graph)
{
	on_graph(kit, kit->backend->capture.graph_release, "graph_release", NULL, graph);
}

double kit_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Work that lasts -------------------------------------------------------------------------*/

enum { SHORTEST = 1 << 10, LONGEST = 1 << 20, STEPS = 12 };
static const double lasting = 5e-3;

static void make(struct kit *kit, struct busy *busy, int64_t length)
{
	tn_value v;
	struct tn_builder b;
	*busy = (struct busy){.kit = kit, .steps = STEPS};
	if (kit_claims_program(kit, TN_F32)) {
		begin_program(&b);
		v = tn_build_source(&b, TN_OP_INPUT, TN_F32, 0);
		v = tn_build_op(&b, TN_OP_ADD, TN_F32, v, tn_build_number(&b, TN_F32, 1), 0);
		busy->add_one = finish_program(&b, 1, 0, 1, &v);
	}
	array_make(kit, &busy->x, OUTPUT, TN_F32, 1, &length, COMPACT);
}

void busy_row(struct busy *busy, void *stream)
{
	const struct span span = {
		.buffer = busy->x.operand.buffer, .size = busy->x.size, .host = busy->x.image};
	kit_transfer(busy->kit, stream, UPLOAD, TN_ASYNC, &span);
	for (unsigned step = 0; step < busy->steps; step++)
		if (busy->add_one)
			kit_map(busy->kit, stream, busy->add_one, &busy->x.operand,
				&busy->x.operand);
		else
			kit_transfer(busy->kit, stream, UPLOAD, TN_ASYNC, &span);
}

static double duration(struct busy *busy)
{
	const double begin = kit_seconds();
	busy_row(busy, NULL);
	if (kit_sync(busy->kit, NULL))
		kit_fail(busy->kit, "sync: %s", busy->kit->error.text);
	return kit_seconds() - begin;
}

/* Whenever it is tried: once may be the work of other programs. */
static int lasts(struct busy *busy)
{
	enum { TRIES = 3 };
	int n = 0;
	while (n < TRIES && duration(busy) >= lasting)
		n++;
	return n == TRIES;
}

void busy_begin(struct kit *kit, struct busy *busy)
{
	int64_t length = SHORTEST;
	make(kit, busy, length);
	(void)duration(busy); /* a kernel may have to be compiled */
	while (!lasts(busy) && length < LONGEST) {
		busy_end(busy);
		length *= 2;
		make(kit, busy, length);
	}
}

void busy_like(struct busy *busy, const struct busy *like)
{
	make(like->kit, busy, like->x.lengths[0]);
}

void busy_end(struct busy *busy)
{
	array_free(&busy->x);
	if (busy->add_one)
		tn_program_destroy(busy->add_one);
}
