/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Errors that a device seldom has, provoked through org.tenon.faults/1 (<tenon/faults.h>): each in
 * an instance of its own, so that a lost device is nobody else's, and that what is left behind is
 * seen.  Without the table the checks say what stayed unchecked.
 */
#include <tenon/faults.h>

#include "instance.h"
#include "loader/slots.h"
#include "process_state.h"
#include "programs.h"
#include "samples.h"
#include "slots.h"
#include "stream_calls.h"

/* ---- The table -------------------------------------------------------------------------------*/

/* Reads the table of the kit's instance; 0: it has none. */
static int find_table(const struct kit *kit, struct tn_faults_table *table)
{
	const struct tn_plugin *plugin = &kit->backend->plugin;
	const uint32_t *found = plugin->descriptor.query(plugin->instance, TN_TABLE_FAULTS);
	memset(table, 0, sizeof(*table));
	if (!found)
		return 0;
	memcpy(table, found, *found < sizeof(*table) ? *found : sizeof(*table));
	return table->provoke && table->reset;
}

struct provoked {
	struct instance instance;
	struct kit *kit; /* the instance's */
	struct tn_faults_table table;
	struct tn_program *add_one;
	long live; /* allocations of host memory before */
};

static struct tn_program *add_one_program(void)
{
	tn_value v;
	struct tn_builder b;
	begin_program(&b);
	v = tn_build_source(&b, TN_OP_INPUT, TN_F32, 0);
	v = tn_build_op(&b, TN_OP_ADD, TN_F32, v, tn_build_number(&b, TN_F32, 1), 0);
	return finish_program(&b, 1, 0, 1, &v);
}

/* Opens another instance for the case; NULL after a failure. */
static struct provoked *begin(struct kit *kit, int slot, const char *what)
{
	struct provoked *p = calloc(1, sizeof(*p));
	if (!p)
		kit_give_up(kit, "the kit is out of memory");
	kit_case(kit, slot, "%s", what);
	p->live = host_memory_live();
	if (instance_open(&p->instance, kit, kit->index)) {
		kit_fail(kit, "%s: %s", p->instance.stage, p->instance.kit.error.text);
		free(p);
		return NULL;
	}
	p->kit = &p->instance.kit;
	kit_case(p->kit, slot, "%s", what);
	if (!find_table(p->kit, &p->table))
		kit_fail(p->kit, TN_TABLE_FAULTS " is missing, or incomplete");
	if (kit_claims_program(p->kit, TN_F32))
		p->add_one = add_one_program();
	return p;
}

static void release(struct provoked *p)
{
	if (p->add_one)
		tn_program_destroy(p->add_one);
	free(p);
}

static void end(struct provoked *p, struct kit *kit)
{
	instance_close(&p->instance);
	if (host_memory_live() != p->live)
		kit_fail(p->kit, "%ld allocations of host memory were not freed",
			 host_memory_live() - p->live);
	kit_pass(p->kit);
	instance_report(&p->instance, kit);
	release(p);
}

static tn_status try_provoke(struct provoked *p, void *stream, uint32_t kind, uint64_t after,
			     uint64_t times, uint64_t bytes)
{
	struct kit *kit = p->kit;
	const struct tn_fault_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error},
		.kind = kind,
		.after = after,
		.times = times,
		.bytes = bytes};
	return p->table.provoke(kit->device, &args);
}

static void expect(struct kit *kit, tn_status status, tn_status expected, const char *what)
{
	if (status != expected)
		kit_fail(kit, "%s: %s, expected %s: %s", what, tn_status_name(status),
			 tn_status_name(expected), kit->error.text);
}

/* 0: it has not been set. */
static int provoke(struct provoked *p, void *stream, uint32_t kind, uint64_t after, uint64_t times,
		   uint64_t bytes)
{
	tn_status status = try_provoke(p, stream, kind, after, times, bytes);
	expect(p->kit, status, TN_OK, "provoke");
	return !status;
}

static void reset(struct provoked *p)
{
	struct kit *kit = p->kit;
	const struct tn_sync_args args = {
		.call = {.struct_size = sizeof(args), .error = &kit->error}};
	expect(kit, p->table.reset(kit->device, &args), TN_OK, "reset");
}

/* Can the device provoke that?  If not, the check is skipped, and `what` stays unchecked. */
static int needs_fault(struct kit *kit, uint32_t kind, const char *what)
{
	struct tn_faults_table table;
	if (!find_table(kit, &table)) {
		kit_remark(kit, "unchecked: %s", what);
		kit_skip(kit, "it has no " TN_TABLE_FAULTS);
		return 0;
	}
	struct provoked *p = begin(kit, TN_SLOT_SYNC, "a fault is set, and ended");
	if (!p)
		return 0;
	tn_status status = try_provoke(p, NULL, kind, 0, 1, 0);
	if (status == TN_UNSUPPORTED) {
		kit_remark(kit, "unchecked: %s: %s", what, p->kit->error.text);
		kit_skip(kit, "it cannot provoke that");
		instance_close(&p->instance);
		release(p);
		return 0;
	}
	expect(p->kit, status, TN_OK, "provoke");
	reset(p);
	end(p, kit);
	return !status;
}

/* ---- Asynchronous errors ---------------------------------------------------------------------*/

static tn_status fetch(struct kit *kit, void *stream)
{
	tn_error_reset(&kit->error);
	return kit->backend->device.async_error
		       ? kit->backend->device.async_error(kit->device, stream, &kit->error)
		       : kit_sync(kit, stream);
}

static tn_status sync_event(struct kit *kit, void *event)
{
	const struct tn_event_args args = {
		.call = {.struct_size = sizeof(args), .error = &kit->error}, .event = event};
	return kit->backend->stream.event_sync(kit->device, &args);
}

/* By which call the host learns of the error. */
enum learning { BY_SYNC, BY_EVENT_SYNC, BY_ASYNC_ERROR, BY_DOWNLOAD, BY_DESTROY, LEARNINGS };
static const char *const learning_names[LEARNINGS] = {"sync", "event_sync", "async_error",
						      "a download", "stream_destroy"};

enum { LENGTH = 300, MAPS = 5 };

struct counter {
	struct array x;
	void *stream;
};

static tn_status move(struct kit *kit, struct counter *c, enum transfer way)
{
	const struct span span = {
		.buffer = c->x.operand.buffer, .size = c->x.size, .host = c->x.image};
	return kit_move(kit, c->stream, way, 0, &span);
}

static void make_counter(struct kit *kit, struct counter *c, void *stream)
{
	static const int64_t length = LENGTH;
	c->stream = stream;
	array_make(kit, &c->x, OUTPUT, TN_F32, 1, &length, COMPACT);
}

/* x := 0, with nothing under way afterwards. */
static void restart(struct kit *kit, struct counter *c)
{
	for (uint64_t i = 0; i < c->x.count; i++)
		array_set_number(&c->x, i, 0);
	expect(kit, move(kit, c, UPLOAD), TN_OK, "upload");
	expect(kit, kit_sync(kit, c->stream), TN_OK, "sync");
}

static void count(const struct provoked *p, const struct counter *c)
{
	for (int i = 0; i < MAPS; i++)
		kit_map(p->kit, c->stream, p->add_one, &c->x.operand, &c->x.operand);
}

static void expect_count(struct kit *kit, struct counter *c, const char *whose)
{
	expect(kit, move(kit, c, DOWNLOAD), TN_OK, "download");
	for (uint64_t i = 0; i < c->x.count; i++)
		if (array_number(&c->x, i) != MAPS)
			return kit_fail(kit, "%s: element %llu is %g, expected %d", whose,
					(unsigned long long)i, array_number(&c->x, i), MAPS);
}

/* The status of the first call that may answer the error. */
static tn_status learn(struct kit *kit, struct counter *c, enum learning how, void *event)
{
	tn_status status;
	switch (how) {
	case BY_EVENT_SYNC:
		return sync_event(kit, event);
	case BY_ASYNC_ERROR:
		if (!kit_is_reached_in_time(kit, event))
			kit_fail(kit, "an event behind failed work is not reached");
		return fetch(kit, c->stream);
	case BY_DOWNLOAD:
		status = move(kit, c, DOWNLOAD);
		return status ? status : fetch(kit, c->stream);
	default:
		return kit_sync(kit, c->stream);
	}
}

static void expect_error(struct kit *kit, tn_status status, const char *operation)
{
	const struct tn_error_info *error = &kit->error;
	if (status != TN_BACKEND_FAILURE)
		kit_fail(kit, "a failed %s is answered by %s, expected %s", operation,
			 tn_status_name(status), tn_status_name(TN_BACKEND_FAILURE));
	else if (error->status != status || !error->text[0])
		kit_fail(kit, "the error has the status %s and the text '%s'",
			 tn_status_name(error->status), error->text);
	else if (strcmp(error->operation, operation) != 0)
		kit_fail(kit, "the error names %s, expected %s", error->operation, operation);
}

static void expect_none(struct kit *kit, void *stream, const char *where)
{
	if (fetch(kit, stream) || kit_sync(kit, stream))
		kit_fail(kit, "%s: %s: %s: expected no error", where,
			 tn_status_name(kit->error.status), kit->error.text);
}

/* The error of one stream is not another's, is answered once, and the stream goes on. */
static void fails_and_goes_on(struct provoked *p, struct counter *bad, struct counter *good,
			      enum learning how, uint64_t after, uint64_t times)
{
	struct kit *kit = p->kit;
	void *event = kit_has_streams(kit) ? kit_event(kit) : NULL;
	restart(kit, bad);
	restart(kit, good);
	if (!provoke(p, bad->stream, TN_FAULT_WORK, after, times, 0))
		return;
	count(p, bad);
	if (event) {
		kit_record(kit, bad->stream, event);
		kit_await(kit, good->stream, event);
	}
	count(p, good);
	if (good->stream != bad->stream) {
		expect_none(kit, good->stream, "a stream behind the one that failed");
		expect_count(kit, good, "a stream behind the one that failed");
	}
	if (how == BY_DESTROY) {
		tn_status status = kit_stream_destroy(kit, bad->stream);
		if (status)
			expect_error(kit, status, "map");
		bad->stream = kit_stream(kit, 0);
	} else {
		expect_error(kit, learn(kit, bad, how, event), "map");
	}
	expect_none(kit, bad->stream, "after the error was answered");
	reset(p);
	restart(kit, bad);
	count(p, bad);
	expect_count(kit, bad, "work after the error");
	expect_none(kit, bad->stream, "work after the error");
	expect_none(kit, good->stream, "at the end");
	if (event)
		kit_event_end(kit, event);
}

static int is_possible(const struct kit *kit, enum learning how, const void *stream)
{
	return how == BY_SYNC || how == BY_DOWNLOAD ||
	       (kit_has_streams(kit) && (how != BY_DESTROY || stream));
}

static void learns(struct kit *kit, enum learning how, int null)
{
	struct counter bad, good;
	struct provoked *p = begin(kit, TN_SLOT_ASYNC_ERROR, "");
	if (!p)
		return;
	int has_streams = kit_has_streams(p->kit);
	make_counter(p->kit, &bad, has_streams && !null ? kit_stream(p->kit, 0) : NULL);
	make_counter(p->kit, &good, has_streams && null ? kit_stream(p->kit, 0) : NULL);
	for (unsigned after = 0; after < MAPS; after += 2) {
		kit_case(p->kit, TN_SLOT_ASYNC_ERROR, "map %u of %s fails: %s", after + 1,
			 bad.stream ? "a stream" : "the NULL stream", learning_names[how]);
		if (is_possible(p->kit, how, bad.stream))
			fails_and_goes_on(p, &bad, &good, how, after, 1 + after / 2);
	}
	array_free(&bad.x);
	array_free(&good.x);
	if (bad.stream)
		kit_stream_end(p->kit, bad.stream);
	if (good.stream)
		kit_stream_end(p->kit, good.stream);
	end(p, kit);
}

/* The error of each slot's work names it. */
static void every_slot_fails(struct kit *kit)
{
	struct sample sample;
	struct provoked *p = begin(kit, TN_SLOT_ASYNC_ERROR, "the work of each slot fails");
	if (!p)
		return;
	struct kit *own = p->kit;
	void *stream = kit_has_streams(own) ? kit_stream(own, 0) : NULL;
	for (int slot = sample_next(own, -1); slot >= 0; slot = sample_next(own, slot)) {
		sample_make(own, &sample, slot, "its work fails");
		int works = !sample_run(&sample) && !kit_sync(own, stream) &&
			    provoke(p, stream, TN_FAULT_WORK, 0, 1, 0);
		sample.args.call.stream = stream;
		if (works && !kit_enter(own, &sample.args)) {
			expect_error(own, kit_sync(own, stream), tn_slots[slot].name);
			expect_none(own, stream, "after the error was answered");
			expect_none(own, NULL, "the NULL stream");
		}
		reset(p);
		sample_free(&sample);
	}
	if (stream)
		kit_stream_end(own, stream);
	end(p, kit);
}

void check_faults_work(struct kit *kit)
{
	if (kit->description.flags & TN_DEVICE_SYNCHRONOUS)
		return kit_skip(kit, "its work is done when a call returns");
	if (!needs_fault(kit, TN_FAULT_WORK,
			 "asynchronous errors: that they are reported, once, and by their stream "
			 "alone"))
		return;
	if (!kit_claims_program(kit, TN_F32))
		return kit_skip(kit, "it supports no programs");
	for (int how = 0; how < LEARNINGS; how++)
		for (int null = 0; null < (kit_has_streams(kit) ? 2 : 1); null++)
			learns(kit, (enum learning)how, null);
	every_slot_fails(kit);
}

/* ---- Transfers -------------------------------------------------------------------------------*/

enum { SIZE = 4000 };

/* The transfer that fails is reported by itself or by what waits for its stream, and succeeds when
 * it is repeated. */
static void transfer_fails(struct provoked *p, void *stream, enum transfer way, uint32_t flags)
{
	struct kit *kit = p->kit;
	unsigned char sent[SIZE], found[SIZE];
	struct span up = {.size = SIZE, .host = sent}, down = {.size = SIZE, .host = found};
	for (size_t i = 0; i < SIZE; i++)
		sent[i] = (unsigned char)kit_random(kit);
	memset(found, 0, SIZE);
	up.buffer = down.buffer = kit_alloc(kit, SIZE, TN_MEMORY_DEVICE);
	kit_transfer(kit, stream, UPLOAD, 0, &up);
	expect(kit, kit_sync(kit, stream), TN_OK, "sync");
	if (provoke(p, stream, TN_FAULT_TRANSFER, 0, 1, 0)) {
		tn_status status = kit_move(kit, stream, way, flags, way == UPLOAD ? &up : &down);
		if (!status)
			status = kit_sync(kit, stream);
		expect_error(kit, status, way == UPLOAD ? "upload" : "download");
		expect_none(kit, stream, "after the error was answered");
		kit_transfer(kit, stream, UPLOAD, flags, &up);
		kit_transfer(kit, stream, DOWNLOAD, flags, &down);
		expect(kit, kit_sync(kit, stream), TN_OK, "sync");
		if (memcmp(sent, found, SIZE) != 0)
			kit_fail(kit, "the repeated transfers give other bytes");
	}
	reset(p);
	kit_free(kit, up.buffer);
}

void check_faults_transfer(struct kit *kit)
{
	if (!needs_fault(kit, TN_FAULT_TRANSFER, "transfers that fail"))
		return;
	for (unsigned i = 0; i < 8; i++) {
		enum transfer way = i & 1 ? DOWNLOAD : UPLOAD;
		struct provoked *p = begin(kit, TN_SLOT_UPLOAD, "");
		if (!p)
			return;
		kit_case(p->kit, way == UPLOAD ? TN_SLOT_UPLOAD : TN_SLOT_DOWNLOAD,
			 "%s%s in %s fails", way == UPLOAD ? "upload" : "download",
			 i & 2 ? " with TN_ASYNC" : "", i & 4 ? "a stream" : "the NULL stream");
		void *stream = i & 4 && kit_has_streams(p->kit) ? kit_stream(p->kit, 0) : NULL;
		transfer_fails(p, stream, way, i & 2 ? TN_ASYNC : 0);
		if (stream)
			kit_stream_end(p->kit, stream);
		end(p, kit);
	}
}

/* ---- A lost device ---------------------------------------------------------------------------*/

static void expect_lost(struct kit *kit, tn_status status, const char *what)
{
	if (status != TN_DEVICE_LOST)
		kit_fail(kit, "%s on a lost device: %s, expected %s", what, tn_status_name(status),
			 tn_status_name(TN_DEVICE_LOST));
}

/* What is ended then is ended. */
static void expect_ended(struct kit *kit, tn_status status, const char *what)
{
	if (status && status != TN_DEVICE_LOST)
		kit_fail(kit, "%s on a lost device: %s, expected OK or %s: %s", what,
			 tn_status_name(status), tn_status_name(TN_DEVICE_LOST), kit->error.text);
}

static void device_entries_are_lost(struct kit *kit, void *stream, struct counter *c)
{
	uint64_t buffer = 77;
	const struct tn_alloc_args alloc = {
		.call = {.struct_size = sizeof(alloc), .error = &kit->error}, .size = 100};
	expect_lost(kit, kit_sync(kit, stream), "sync");
	expect_lost(kit, kit_sync(kit, NULL), "sync of the NULL stream");
	expect_lost(kit, fetch(kit, stream), "async_error");
	expect_lost(kit, fetch(kit, stream), "async_error for the second time");
	expect_lost(kit, kit->backend->device.alloc(kit->device, &alloc, &buffer), "alloc");
	if (buffer != 77)
		kit_fail(kit, "alloc on a lost device wrote a handle");
	expect_lost(kit, move(kit, c, UPLOAD), "upload");
	expect_lost(kit, move(kit, c, DOWNLOAD), "download");
	if (!kit->error.text[0])
		kit_fail(kit, "the error of a lost device has no text");
}

typedef tn_status (*event_entry)(void *device, const struct tn_event_args *args);

static void stream_entries_are_lost(struct kit *kit, void *stream, void *event)
{
	const struct tn_stream_table *table = &kit->backend->stream;
	const struct tn_stream_args create = {
		.call = {.struct_size = sizeof(create), .error = &kit->error}};
	const struct tn_event_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error},
		.event = event};
	void *none = NULL;
	expect_lost(kit, table->stream_create(kit->device, &create, &none), "stream_create");
	expect_lost(kit, table->event_record(kit->device, &args), "event_record");
	expect_lost(kit, table->event_wait(kit->device, &args), "event_wait");
	expect_lost(kit, sync_event(kit, event), "event_sync");
	if (none)
		kit_fail(kit, "a lost device has created a stream");
}

static void slots_are_lost(struct kit *kit, struct sample *samples, int n)
{
	for (int i = 0; i < n; i++) {
		kit->slot = samples[i].slot;
		samples[i].args.call.workspace = NULL;
		expect_lost(kit, kit_enter(kit, &samples[i].args), tn_slots[kit->slot].name);
	}
}

static void release_all(struct kit *kit, void *stream, void *event, void *graph)
{
	const struct tn_graph_args of_graph = {
		.call = {.struct_size = sizeof(of_graph), .error = &kit->error}, .graph = graph};
	const struct tn_event_args of_event = {
		.call = {.struct_size = sizeof(of_event), .error = &kit->error}, .event = event};
	if (graph)
		expect_ended(kit, kit->backend->capture.graph_release(kit->device, &of_graph),
			     "graph_release");
	if (event)
		expect_ended(kit, kit->backend->stream.event_destroy(kit->device, &of_event),
			     "event_destroy");
	if (stream)
		expect_ended(kit, kit_stream_destroy(kit, stream), "stream_destroy");
}

enum { MOST_SAMPLES = 40 };

/* Work that is lost; what the call returns depends on whether the device has got there yet. */
static void count_until_lost(const struct provoked *p, const struct counter *c, void *event)
{
	struct kit *kit = p->kit;
	const struct tn_event_args args = {
		.call = {.struct_size = sizeof(args), .stream = c->stream, .error = &kit->error},
		.event = event};
	for (int i = 0; i < MAPS; i++)
		expect_ended(kit,
			     kit_try_map(kit, c->stream, p->add_one, &c->x.operand, &c->x.operand),
			     "map");
	if (event)
		expect_ended(kit, kit->backend->stream.event_record(kit->device, &args),
			     "event_record");
}

/* Everything is made before the loss; what is freed after it must be freed, and none may hang. */
static void loses_the_device(struct provoked *p, void *stream, uint64_t after, enum learning how)
{
	static struct sample samples[MOST_SAMPLES];
	struct kit *kit = p->kit;
	struct counter c;
	int n = 0, has_streams = kit_has_streams(kit);
	char name[sizeof(kit->case_name)];
	void *event = has_streams ? kit_event(kit) : NULL, *graph = NULL;
	memcpy(name, kit->case_name, sizeof(name));
	for (int slot = sample_next(kit, -1); slot >= 0 && n < MOST_SAMPLES;
	     slot = sample_next(kit, slot))
		sample_make(kit, &samples[n++], slot, "on a lost device");
	kit_case(kit, TN_SLOT_SYNC, "%s", name);
	make_counter(kit, &c, stream);
	restart(kit, &c);
	if (kit_can_capture(kit)) {
		kit_capture_begin(kit, stream);
		count(p, &c);
		expect(kit, kit_capture_end(kit, stream, &graph), TN_OK, "capture_end");
	}
	if (provoke(p, stream, TN_FAULT_LOST, after, 1, 0)) {
		count_until_lost(p, &c, event);
		expect_lost(kit, learn(kit, &c, how, event), learning_names[how]);
		device_entries_are_lost(kit, stream, &c);
		if (event)
			stream_entries_are_lost(kit, stream, event);
		slots_are_lost(kit, samples, n);
		reset(p);
		expect_lost(kit, kit_sync(kit, stream), "sync after reset");
	}
	release_all(kit, stream, event, graph);
	for (int i = 0; i < n; i++)
		sample_free(&samples[i]);
	kit->slot = TN_SLOT_SYNC;
	array_free(&c.x);
}

void check_faults_lost(struct kit *kit)
{
	if (!needs_fault(kit, TN_FAULT_LOST, "a device that is lost"))
		return;
	if (!kit_claims_program(kit, TN_F32))
		return kit_skip(kit, "it supports no programs");
	static const enum learning ways[] = {BY_SYNC, BY_DOWNLOAD, BY_EVENT_SYNC, BY_SYNC};
	for (unsigned i = 0; i < (kit_has_streams(kit) ? 4u : 2u); i++) {
		struct provoked *p = begin(kit, TN_SLOT_SYNC, "");
		if (!p)
			return;
		kit_case(p->kit, TN_SLOT_SYNC, "the device is lost by %s of %s: %s",
			 i % 2 ? "the third map" : "the first map",
			 i / 2 ? "a stream" : "the NULL stream", learning_names[ways[i]]);
		loses_the_device(p, i / 2 ? kit_stream(p->kit, 0) : NULL, i % 2 ? 2 : 0, ways[i]);
		end(p, kit);
	}
}

/* ---- Memory of the device --------------------------------------------------------------------*/

enum { BLOCK = 100000, BLOCKS = 8 };

static tn_status allocate(struct kit *kit, uint64_t size, uint64_t *buffer)
{
	const struct tn_alloc_args args = {
		.call = {.struct_size = sizeof(args), .error = &kit->error}, .size = size};
	tn_error_reset(&kit->error);
	return kit->backend->device.alloc(kit->device, &args, buffer);
}

static void expect_no_memory(struct kit *kit, uint64_t size)
{
	uint64_t buffer = 77;
	tn_status status = allocate(kit, size, &buffer);
	if (status != TN_OUT_OF_MEMORY || buffer != 77)
		kit_fail(kit, "alloc without memory: %s, and a handle that was %s",
			 tn_status_name(status), buffer == 77 ? "not written" : "written");
	else if (kit->error.status != status || !kit->error.text[0])
		kit_fail(kit, "its error has the status %s and the text '%s'",
			 tn_status_name(kit->error.status), kit->error.text);
}

/* The allocation that fails may be repeated, and those round it are what they would be. */
static void nth_allocation_fails(struct provoked *p)
{
	struct kit *kit = p->kit;
	uint64_t buffers[BLOCKS];
	for (uint64_t n = 0; n < BLOCKS; n += 3) {
		if (!provoke(p, NULL, TN_FAULT_ALLOC, n, 2, 0))
			return;
		for (uint64_t i = 0; i < BLOCKS; i++) {
			if (i == n) {
				expect_no_memory(kit, BLOCK);
				expect_no_memory(kit, BLOCK);
			}
			expect(kit, allocate(kit, BLOCK, &buffers[i]), TN_OK, "alloc");
		}
		for (int i = 0; i < BLOCKS; i++)
			kit_free(kit, buffers[i]);
		reset(p);
	}
}

/* Many failures leave nothing behind. */
static void failures_leak_nothing(struct provoked *p)
{
	enum { WARM = 50, MANY = 1000, LEAST = 8192, A_CALL = 16 };
	struct kit *kit = p->kit;
	if (!provoke(p, NULL, TN_FAULT_ALLOC, 0, 0, 0))
		return;
	for (int i = 0; i < WARM; i++)
		expect_no_memory(kit, BLOCK);
	long live = host_memory_live();
	uint64_t before = process_allocated_bytes();
	for (int i = 0; i < MANY; i++)
		expect_no_memory(kit, BLOCK);
	uint64_t after = process_allocated_bytes();
	if (host_memory_live() != live)
		kit_fail(kit, "%d failures left %ld allocations of host memory behind", MANY,
			 host_memory_live() - live);
	if (after > before + LEAST && after > before + (uint64_t)MANY * A_CALL)
		kit_fail(kit, "%d failures left %llu bytes of memory behind", MANY,
			 (unsigned long long)(after - before));
	reset(p);
}

/* Whatever was freed can be allocated again, however often the device was full. */
static void device_is_full(struct provoked *p)
{
	enum { ROUNDS = 20 };
	struct kit *kit = p->kit;
	uint64_t buffers[BLOCKS], rest;
	if (!provoke(p, NULL, TN_FAULT_LIMIT, 0, 0, (uint64_t)BLOCKS * BLOCK))
		return;
	for (int round = 0; round < ROUNDS; round++) {
		int n = 0;
		while (n < BLOCKS && !allocate(kit, BLOCK, &buffers[n]))
			n++;
		if (n < BLOCKS / 2)
			kit_fail(kit, "%d of %d blocks fit, in round %d", n, BLOCKS, round);
		expect_no_memory(kit, (uint64_t)BLOCKS * BLOCK + 1);
		expect_no_memory(kit, (uint64_t)(BLOCKS + 1 - n) * BLOCK);
		for (int i = 0; i < n; i++)
			kit_free(kit, buffers[i]);
	}
	reset(p);
	expect(kit, allocate(kit, (uint64_t)2 * BLOCKS * BLOCK, &rest), TN_OK, "alloc after reset");
	kit_free(kit, rest);
}

void check_faults_memory(struct kit *kit)
{
	static const struct {
		const char *name;
		uint32_t kind;
		void (*run)(struct provoked *p);
	} cases[] = {
		{"an allocation fails", TN_FAULT_ALLOC, nth_allocation_fails},
		{"all allocations fail", TN_FAULT_ALLOC, failures_leak_nothing},
		{"the device is full", TN_FAULT_LIMIT, device_is_full},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!needs_fault(kit, cases[i].kind, "memory of the device that runs out"))
			return;
		struct provoked *p = begin(kit, TN_SLOT_ALLOC, cases[i].name);
		if (!p)
			return;
		cases[i].run(p);
		end(p, kit);
	}
}
