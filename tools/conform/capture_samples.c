/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture of every slot: each alone, and all of them in one graph.
 */
#include <stdio.h>

#include "flights.h"
#include "loader/slots.h"
#include "programs.h"
#include "slots.h"

static int needs_capture(struct kit *kit)
{
	if (!kit_can_capture(kit))
		kit_skip(kit, "it cannot capture work");
	else if (sample_next(kit, -1) < 0)
		kit_skip(kit, "it has no compute slot");
	else
		return 1;
	return 0;
}

static void wait(struct kit *kit, void *stream)
{
	if (kit_sync(kit, stream))
		kit_fail(kit, "sync: %s", kit->error.text);
}

/* ---- Each slot alone -------------------------------------------------------------------------*/

/* Captures the flight's call; 0: the device cannot, and says so. */
static int capture(struct flight *flight, void *stream)
{
	struct kit *kit = flight->sample.kit;
	void *graph = NULL;
	kit_capture_begin(kit, stream);
	tn_status entered = flight_enter(flight, stream);
	tn_status ended = kit_capture_end(kit, stream, &graph);
	if (entered && entered != TN_NOT_CAPTURABLE)
		kit_fail(kit, "the captured call: %s: %s", tn_status_name(entered),
			 kit->error.text);
	if (ended && ended != TN_NOT_CAPTURABLE)
		kit_fail(kit, "capture_end: %s: %s", tn_status_name(ended), kit->error.text);
	if (!ended && !graph)
		kit_give_up(kit, "capture_end gives no graph");
	if (!entered && !ended) {
		flight->graph = graph;
		return 1;
	}
	if (!ended)
		kit_graph_release(kit, graph);
	return 0;
}

/* On what is in memory at that time, in any stream, any number of times. */
static void replays(struct flight *flight, struct busy *busy, void *stream, void *other)
{
	struct kit *kit = flight->sample.kit;
	flight_expect_untouched(flight);
	flight_set_inputs(flight);
	kit_launch(kit, stream, flight->graph);
	wait(kit, stream);
	flight_expect_results(flight, flight->expected);
	flight_reset(flight);
	kit_launch(kit, other, flight->graph);
	wait(kit, other);
	flight_expect_results(flight, flight->expected_was);
	flight_reset(flight);
	busy_row(busy, stream);
	flight_start(flight, stream, stream, stream);
	wait(kit, stream);
	flight_land(flight);
}

static void captures(struct kit *kit, struct busy *busy, int slot, void *stream, void *other,
		     tn_dtype dtype, int64_t scale)
{
	char what[60];
	if (!sample_has(kit, slot, dtype))
		return;
	snprintf(what, sizeof(what), "%s, %s, %s", tn_dtype_name(dtype),
		 scale > 1 ? "large" : "small", stream ? "captured in a stream" : "captured");

	struct flight flight;
	if (flight_make(kit, &flight, slot, what, 1, dtype, scale, 0)) {
		flight_reset(&flight);
		if (!capture(&flight, stream)) {
			kit_remark(kit, "%s cannot be captured", tn_slots[slot].name);
			kit_unsupported(kit);
		} else {
			replays(&flight, busy, stream, other);
			kit_graph_release(kit, flight.graph);
			kit_pass(kit);
		}
	}
	flight_free(&flight);
}

void check_capture_samples(struct kit *kit)
{
	struct busy busy;
	void *stream = NULL;
	if (!needs_capture(kit))
		return;
	kit_case(kit, TN_SLOT_CAPTURE_BEGIN, "work that lasts");
	busy_begin(kit, &busy);
	if (kit_has_streams(kit))
		stream = kit_stream(kit, 0);
	for (int slot = sample_next(kit, -1); slot >= 0; slot = sample_next(kit, slot)) {
		captures(kit, &busy, slot, NULL, stream, TN_F32, 1);
		captures(kit, &busy, slot, stream, NULL, TN_F32, flight_large(slot));
		captures(kit, &busy, slot, stream, NULL, TN_F64, 1);
		captures(kit, &busy, slot, NULL, stream, TN_I32, 1);
	}
	if (stream)
		kit_stream_end(kit, stream);
	busy_end(&busy);
}

/* ---- All of them in one graph ----------------------------------------------------------------*/

enum { MOST_FLIGHTS = 40, REPLAYS = 3, LEAST_CALLS = 60 };

/* Calls of different slots.  After each an input and an output of it change, so that a call that is
 * dropped, repeated or made at another place changes a result: at once, or in the next replay. */
struct sequence {
	struct kit *kit;
	struct tn_program *flip; /* x := 0.5 - x; NULL: the device has no programs */
	struct flight flights[MOST_FLIGHTS];
	int n;
};

static struct tn_program *flip_program(void)
{
	tn_value v;
	struct tn_builder b;
	begin_program(&b);
	v = tn_build_source(&b, TN_OP_INPUT, TN_F32, 0);
	v = tn_build_op(&b, TN_OP_SUB, TN_F32, tn_build_number(&b, TN_F32, 0.5), v, 0);
	return finish_program(&b, 1, 0, 1, &v);
}

/* Where the sum of two calls differs from the result of one, so that both are seen. */
static void accumulate(struct flight *flight)
{
	struct kit *kit = flight->sample.kit;
	union call_args *args = &flight->sample.args;
	struct tn_workspace asked = {.struct_size = sizeof(asked)};
	struct tn_workspace *own = args->call.workspace;
	if (flight->sample.slot == TN_SLOT_MATMUL) {
		args->matmul.beta = 1;
		return;
	}
	if (!sample_is_gradient(flight->sample.slot))
		return;
	args->call.flags |= TN_ACCUMULATE | TN_DRY_RUN;
	args->call.workspace = &asked;
	if (kit_enter(kit, args) || asked.minimum > flight->workspace.size)
		args->call.flags &= ~(uint32_t)TN_ACCUMULATE;
	args->call.flags &= ~(uint32_t)TN_DRY_RUN;
	args->call.workspace = own;
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int is_capturable(struct flight *flight)
{
	if (!capture(flight, NULL))
		return 0;
	kit_graph_release(flight->sample.kit, flight->graph);
	flight->graph = NULL;
	return 1;
}

/* The slots in any order. */
static void make_sequence(struct kit *kit, struct sequence *s, const char *what)
{
	uint64_t keys[MOST_FLIGHTS] = {0};
	int n = 0;
	s->kit = kit;
	s->n = 0;
	s->flip = kit_claims_program(kit, TN_F32) ? flip_program() : NULL;
	kit_case(kit, TN_SLOT_CAPTURE_BEGIN, "%s", what);
	for (int slot = sample_next(kit, -1); slot >= 0 && n < MOST_FLIGHTS;
	     slot = sample_next(kit, slot))
		keys[n++] = kit_random(kit) % 1000000 * TN_SLOT_COUNT + (uint64_t)slot;
	qsort(keys, (size_t)n, sizeof(*keys), compare_keys);
	for (int i = 0; i < n; i++) {
		struct flight *flight = &s->flights[s->n];
		int made = flight_make(kit, flight, (int)(keys[i] % TN_SLOT_COUNT), what, 1, TN_F32,
				       1, 0);
		if (made && is_capturable(flight)) {
			accumulate(flight);
			s->n++;
		} else {
			flight_free(flight);
		}
	}
}

static void free_sequence(struct sequence *s)
{
	for (int i = 0; i < s->n; i++)
		flight_free(&s->flights[i]);
	if (s->flip)
		tn_program_destroy(s->flip);
}

static void flip(struct sequence *s, struct flight *flight, void *stream, enum role role)
{
	size_t i = 0;
	while (i < flight->sample.n && (flight->sample.array[i].role != role ||
					flight->sample.array[i].operand.dtype != TN_F32))
		i++;
	if (s->flip && i < flight->sample.n)
		kit_map(s->kit, stream, s->flip, &flight->sample.array[i].operand,
			&flight->sample.array[i].operand);
}

static void enter_once(struct sequence *s, struct flight *flight, void *stream)
{
	tn_status status = flight_enter(flight, stream);
	if (status)
		kit_fail(s->kit, "%s: %s: %s", tn_slots[flight->sample.slot].name,
			 tn_status_name(status), s->kit->error.text);
	flip(s, flight, stream, INPUT);
	flip(s, flight, stream, OUTPUT);
}

/* Every `step`-th call from `first` on, forth and back, so that each slot is called early and late,
 * until there are many calls. */
static void enter(struct sequence *s, void *stream, int first, int step)
{
	const int n = (s->n - first + step - 1) / step;
	for (int calls = 0, back = 0; s->n && calls < LEAST_CALLS; calls += s->n, back = !back)
		for (int i = 0; i < n; i++)
			enter_once(s, &s->flights[first + step * (back ? n - 1 - i : i)], stream);
}

/* What each array contains, one after the other; owned (free). */
static unsigned char *contents(struct sequence *s)
{
	size_t size = 0, at = 0;
	for (int i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->flights[i].sample.n; j++)
			size += s->flights[i].sample.array[j].size;
	unsigned char *all = malloc(size + 1);
	if (!all)
		kit_give_up(s->kit, "the kit is out of memory");
	for (int i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->flights[i].sample.n; j++) {
			const struct array *array = &s->flights[i].sample.array[j];
			const struct span span = {.buffer = array->operand.buffer,
						  .size = array->size,
						  .host = all + at};
			kit_transfer(s->kit, NULL, DOWNLOAD, 0, &span);
			at += array->size;
		}
	return all;
}

static void expect_contents(struct sequence *s, const unsigned char *expected, int replay)
{
	unsigned char *found = contents(s), *at = found;
	for (int i = 0; i < s->n; i++) {
		struct sample *sample = &s->flights[i].sample;
		for (size_t j = 0; j < sample->n; j++) {
			struct array then = sample->array[j], now = then;
			then.image = (unsigned char *)expected;
			now.image = at;
			for (uint64_t e = 0; e < then.count; e++) {
				double a = array_number(&then, e), b = array_number(&now, e);
				if (!(fabs(a - b) <= 1e-3 * (1 + fabs(a))))
					kit_fail(
						s->kit,
						"replay %d: array %zu of %s: element %llu is %.9g, "
						"without a capture %.9g",
						replay, j, tn_slots[sample->slot].name,
						(unsigned long long)e, b, a);
			}
			expected += then.size;
			at += then.size;
		}
	}
	free(found);
}

static void reset(struct sequence *s)
{
	for (int i = 0; i < s->n; i++)
		flight_set_inputs(&s->flights[i]);
}

/* The calls in their order, without a capture, again and again. */
static void run_plainly(struct sequence *s, unsigned char **expected)
{
	reset(s);
	for (int replay = 0; replay < REPLAYS; replay++) {
		enter(s, NULL, 0, 1);
		wait(s->kit, NULL);
		expected[replay] = contents(s);
	}
	reset(s);
}

/* Every `graphs`-th call in one graph. */
static int capture_parts(struct sequence *s, void *stream, int graphs, void **graph)
{
	for (int i = 0; i < graphs; i++) {
		kit_capture_begin(s->kit, stream);
		enter(s, stream, i, graphs);
		tn_status status = kit_capture_end(s->kit, stream, &graph[i]);
		if (status && status != TN_NOT_CAPTURABLE)
			kit_fail(s->kit, "capture_end: %s: %s", tn_status_name(status),
				 s->kit->error.text);
		if (status)
			return 0;
	}
	return 1;
}

/* The parts take turns, each in a stream of its own; their calls have no array in common. */
static void launch_parts(struct sequence *s, void *const *streams, int graphs, void **graph,
			 unsigned char **expected)
{
	for (int replay = 0; replay < REPLAYS; replay++) {
		for (int i = 0; i < graphs; i++)
			kit_launch(s->kit, streams[(i + replay) % graphs],
				   graph[(i + replay) % graphs]);
		for (int i = 0; i < graphs; i++)
			wait(s->kit, streams[i]);
		expect_contents(s, expected[replay], replay);
	}
}

static void replays_a_sequence(struct kit *kit, void *captured, void *const *streams, int graphs,
			       const char *what)
{
	static struct sequence s;
	unsigned char *expected[REPLAYS];
	void *graph[2] = {NULL, NULL};
	make_sequence(kit, &s, what);
	run_plainly(&s, expected);
	kit_case(kit, TN_SLOT_GRAPH_LAUNCH, "%s", what);
	if (capture_parts(&s, captured, graphs, graph)) {
		launch_parts(&s, streams, graphs, graph, expected);
		kit_pass(kit);
	} else {
		kit_unsupported(kit);
	}
	for (int i = 0; i < graphs; i++)
		if (graph[i])
			kit_graph_release(kit, graph[i]);
	for (int replay = 0; replay < REPLAYS; replay++)
		free(expected[replay]);
	free_sequence(&s);
}

void check_capture_sequence(struct kit *kit)
{
	void *streams[2] = {NULL, NULL};
	if (!needs_capture(kit))
		return;
	replays_a_sequence(kit, NULL, streams, 1, "all slots in a graph");
	if (!kit_has_streams(kit))
		return;
	streams[0] = kit_stream(kit, 0);
	replays_a_sequence(kit, streams[0], streams, 1, "all slots in a graph of a stream");
	replays_a_sequence(kit, streams[0], streams, 2, "two graphs in two streams");
	kit_stream_end(kit, streams[0]);
}

/* ---- Beside a capture ------------------------------------------------------------------------*/

/* Work of other streams is done, once, and not recorded. */
static void works_apart(struct kit *kit, void *captured, void *other)
{
	struct flight inside, outside;
	int slot = sample_next(kit, -1);
	int made = flight_make(kit, &inside, slot, "beside a capture", 1, TN_F32, 1, 0);
	made &= flight_make(kit, &outside, slot, "beside a capture", 2, TN_F32, 1, 0);
	if (made) {
		flight_reset(&inside);
		flight_reset(&outside);
		kit_capture_begin(kit, captured);
		if (flight_enter(&inside, captured))
			kit_fail(kit, "the captured call: %s", kit->error.text);
		flight_start(&outside, other, other, other);
		wait(kit, other);
		tn_status status = kit_capture_end(kit, captured, &inside.graph);
		if (status)
			kit_give_up(kit, "capture_end: %s: %s", tn_status_name(status),
				    kit->error.text);
		flight_expect_untouched(&inside);
		flight_land(&outside);
		kit_launch(kit, captured, inside.graph);
		wait(kit, captured);
		flight_expect_results(&inside, inside.expected_was);
		flight_expect_untouched(&outside);
		kit_graph_release(kit, inside.graph);
		kit_pass(kit);
	}
	flight_free(&inside);
	flight_free(&outside);
}

void check_capture_apart(struct kit *kit)
{
	if (!needs_capture(kit) || !kit_needs_streams(kit))
		return;
	void *stream = kit_stream(kit, 0), *other = kit_stream(kit, 0);
	works_apart(kit, stream, other);
	works_apart(kit, NULL, other);
	works_apart(kit, stream, NULL);
	kit_stream_end(kit, stream);
	kit_stream_end(kit, other);
}
