/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture and replay: x := x + s, three times in a graph, with s a scalar on the device.
 */
#include "programs.h"
#include "slots.h"
#include "stream_calls.h"

enum { TIMES = 3, LENGTH = 500 };

struct step {
	struct kit *kit;
	struct tn_program *add;
	struct array x, s;
	void *stream;
};

void check_capture_table(struct kit *kit)
{
	unsigned n = 0, all = 0;
	for (int slot = TN_SLOT_CAPTURE_BEGIN; slot <= TN_SLOT_GRAPH_RELEASE; slot++, all++)
		n += tn_backend_has(kit->backend, (enum tn_slot)slot) != 0;
	if (!n)
		return kit_skip(kit, "it cannot capture work");
	kit_case(kit, TN_SLOT_CAPTURE_BEGIN, TN_TABLE_CAPTURE);
	if (n < all)
		kit_fail(kit, "%u of its %u slots are filled: expected all or none", n, all);
	kit_pass(kit);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

typedef tn_status (*graph_entry)(void *device, const struct tn_graph_args *args);

static tn_status on_graph(const struct step *step, graph_entry entry, void *graph)
{
	struct kit *kit = step->kit;
	struct tn_graph_args args = {
		.call = {.struct_size = sizeof(args), .stream = step->stream, .error = &kit->error},
		.graph = graph};
	return entry(kit->device, &args);
}

static void expect_ok(struct kit *kit, tn_status status, const char *what)
{
	if (status)
		kit_fail(kit, "%s: %s: %s", what, tn_status_name(status), kit->error.text);
}

static void begin_capture(const struct step *step)
{
	kit_capture_begin(step->kit, step->stream);
}

static tn_status end_capture(const struct step *step, void **graph)
{
	return kit_capture_end(step->kit, step->stream, graph);
}

static void launch(const struct step *step, void *graph)
{
	kit_launch(step->kit, step->stream, graph);
}

static tn_status transfer(const struct step *step, struct array *array, int to_device)
{
	struct kit *kit = step->kit;
	struct tn_transfer_args args = {
		.call = {.struct_size = sizeof(args), .stream = step->stream, .error = &kit->error},
		.buffer = array->operand.buffer,
		.size = array->size,
		.host = array->image};
	return to_device ? kit->backend->device.upload(kit->device, &args)
			 : kit->backend->device.download(kit->device, &args);
}

static tn_status sync(const struct step *step)
{
	return kit_sync(step->kit, step->stream);
}

static void add_once(const struct step *step)
{
	struct kit *kit = step->kit;
	const struct tn_scalar scalar = {.dtype = TN_F32,
					 .on_device = 1,
					 .buffer = step->s.operand.buffer,
					 .offset = step->s.operand.offset};
	struct tn_map_args args = {
		.call = {.struct_size = sizeof(args), .stream = step->stream, .error = &kit->error},
		.program = step->add,
		.inputs = &step->x.operand,
		.outputs = &step->x.operand,
		.scalars = &scalar};
	expect_ok(kit, kit->backend->compute.map(kit->device, &args), "map");
}

/* ---- A step ----------------------------------------------------------------------------------*/

static void begin_step(struct kit *kit, struct step *step)
{
	static const int64_t length[] = {LENGTH};
	struct tn_builder b;
	tn_value v, s;
	begin_program(&b);
	v = tn_build_source(&b, TN_OP_INPUT, TN_F32, 0);
	s = tn_build_source(&b, TN_OP_SCALAR, TN_F32, 0);
	v = tn_build_op(&b, TN_OP_ADD, TN_F32, v, s, 0);
	*step = (struct step){.kit = kit, .add = finish_program(&b, 1, 1, 1, &v)};
	array_make(kit, &step->x, OUTPUT, TN_F32, 1, length, SHIFTED);
	array_make(kit, &step->s, OUTPUT, TN_F32, 0, length, COMPACT);
}

static void end_step(struct step *step)
{
	array_free(&step->x);
	array_free(&step->s);
	tn_program_destroy(step->add);
}

static void set(struct step *step, struct array *array, double number)
{
	for (uint64_t i = 0; i < array->count; i++)
		array_set_number(array, i, number);
	expect_ok(step->kit, transfer(step, array, 1), "upload");
}

static void expect(struct step *step, double number)
{
	expect_ok(step->kit, transfer(step, &step->x, 0), "download");
	for (uint64_t i = 0; i < step->x.count; i++) {
		if (array_number(&step->x, i) != number)
			return kit_fail(step->kit, "element %llu is %g, expected %g",
					(unsigned long long)i, array_number(&step->x, i), number);
	}
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static int can_capture(struct kit *kit)
{
	if (!kit_can_capture(kit))
		return kit_skip(kit, "it cannot capture work"), 0;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs"), 0;
	return 1;
}

/* Each replay computes x := x + 3 s on the elements present at that time. */
static void replays(struct step *step, void *graph)
{
	set(step, &step->x, 10);
	launch(step, graph);
	launch(step, graph);
	expect(step, 10 + 2 * TIMES * 2);
	set(step, &step->s, 5);
	launch(step, graph);
	expect(step, 10 + 2 * TIMES * 2 + TIMES * 5);
	add_once(step);
	expect(step, 10 + 2 * TIMES * 2 + (TIMES + 1) * 5);
}

static void captures_and_replays(struct kit *kit, void *stream)
{
	struct step step;
	void *graph = NULL, *empty = NULL;
	begin_step(kit, &step);
	step.stream = stream;
	set(&step, &step.s, 2);
	set(&step, &step.x, 1);
	begin_capture(&step);
	for (int i = 0; i < TIMES; i++)
		add_once(&step);
	tn_status status = end_capture(&step, &graph);
	if (status || !graph)
		kit_give_up(kit, "capture_end: %s: %s", tn_status_name(status), kit->error.text);
	expect(&step, 1);
	begin_capture(&step);
	expect_ok(kit, end_capture(&step, &empty), "capture_end of nothing");
	if (!empty || empty == graph)
		kit_fail(kit, "the second graph is missing, or equals the first");
	replays(&step, graph);
	expect_ok(kit, sync(&step), "sync");
	kit_graph_release(kit, empty);
	launch(&step, graph);
	expect_ok(kit, sync(&step), "sync");
	kit_graph_release(kit, graph);
	kit_pass(kit);
	end_step(&step);
}

void check_capture_replay(struct kit *kit)
{
	if (!can_capture(kit))
		return;
	kit_case(kit, TN_SLOT_GRAPH_LAUNCH, "replays in the NULL stream");
	captures_and_replays(kit, NULL);
	if (!kit_has_streams(kit))
		return;
	kit_case(kit, TN_SLOT_GRAPH_LAUNCH, "replays in a stream");
	void *stream = kit_stream(kit, 0);
	captures_and_replays(kit, stream);
	kit_stream_end(kit, stream);
}

static void expect_status(struct kit *kit, tn_status found, tn_status expected, const char *what)
{
	if (found != expected)
		kit_fail(kit, "%s: expected %s, found %s", what, tn_status_name(expected),
			 tn_status_name(found));
}

void check_capture_refused(struct kit *kit)
{
	struct step step;
	void *graph = kit;
	if (!can_capture(kit))
		return;
	kit_case(kit, TN_SLOT_CAPTURE_END, "calls that would wait");
	begin_step(kit, &step);
	set(&step, &step.s, 1);
	set(&step, &step.x, 0);
	expect_status(kit, end_capture(&step, &graph), TN_STATE, "capture_end without a begin");
	if (graph != kit)
		kit_fail(kit, "a handle was written");
	begin_capture(&step);
	add_once(&step);
	expect_status(kit, on_graph(&step, kit->backend->capture.capture_begin, NULL), TN_STATE,
		      "a second capture_begin");
	expect_status(kit, sync(&step), TN_NOT_CAPTURABLE, "sync");
	expect_status(kit, transfer(&step, &step.x, 0), TN_NOT_CAPTURABLE, "download");
	expect_status(kit, transfer(&step, &step.s, 1), TN_NOT_CAPTURABLE, "upload");
	add_once(&step);
	expect_ok(kit, end_capture(&step, &graph), "capture_end");
	kit_pass(kit);
	kit_case(kit, TN_SLOT_GRAPH_LAUNCH, "a capture in which calls were refused");
	expect(&step, 0);
	launch(&step, graph);
	expect(&step, 2);
	kit_graph_release(kit, graph);
	kit_pass(kit);
	end_step(&step);
}
