/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A thread's tasks: runs the prologue over the steps of a group and joins their values.
 */
#include "interpret/reduce_run.h"

#include "interpret/code.h"
#include "interpret/move.h"
#include "interpret/nest.h"
#include "interpret/reduce_plan.h"
#include "interpret/run.h"
#include "interpret/thread_memory.h"

#include <string.h>

/* Bytes of a thread's registers and accumulators. */
enum { REGISTERS = 2 * TN_ARENA_LIMIT };

struct state {
	const struct tn_reduce_plan *plan;
	struct tn_machine prologue, epilogue;
	unsigned char *wide;                      /* a tile of widened values */
	unsigned char *level[MAX_VALUES][LEVELS]; /* accumulators; the first holds the result */
	unsigned char *best[MAX_VALUES];          /* the values of extremes */
	int32_t *number[MAX_VALUES];              /* rows: the steps of these values */
	uint64_t kept[TN_MAX_RANK + 2], reduced[TN_MAX_RANK + 2];
	uint64_t address[TN_MAX_VIEWS];
	int64_t nx, ny, n; /* of the group: its tile, its elements */
};

static unsigned char *lay_out(unsigned char **block, unsigned char *arena, size_t bytes)
{
	*block = arena;
	return arena + (bytes + 63) / 64 * 64;
}

static void init_state(struct state *state, const struct tn_reduce_plan *plan, unsigned char *arena)
{
	size_t tile = (size_t)(plan->tile.tx * plan->tile.ty), group = (size_t)plan->group;
	state->plan = plan;
	arena = tn_machine_init(&state->prologue, &plan->prologue, arena, tile);
	arena = tn_machine_init(&state->epilogue, &plan->epilogue, arena, group);
	arena = lay_out(&state->wide, arena, tile * 8);
	for (uint32_t v = 0; v < plan->n_values; v++) {
		const struct tn_accumulator *acc = &plan->accumulator[v];
		for (int l = 0; l < acc->levels; l++)
			arena = lay_out(&state->level[v][l], arena,
					group * (size_t)plan->pile * acc->size);
		if (!acc->extreme)
			continue;
		arena = lay_out(&state->best[v], arena, group * acc->value_size);
		unsigned char *number;
		arena = lay_out(&number, arena, group * sizeof(int32_t));
		state->number[v] = (int32_t *)(void *)number;
	}
	uint64_t *address = tn_machine_address(&state->epilogue);
	for (unsigned v = 0; v < plan->nest.n_views; v++)
		address[v] = plan->nest.view[v].start;
	tn_machine_prepare(&state->epilogue, (size_t)plan->result.tx, (size_t)plan->result.ty);
}

static void go_to_group(struct state *state, uint64_t group)
{
	const struct tn_reduce_plan *plan = state->plan;
	const struct tn_tile *result = &plan->result;
	for (unsigned v = 0; v < plan->nest.n_views; v++)
		state->address[v] = plan->nest.view[v].start;
	tn_walk_seek(&plan->kept, group, state->kept, state->address);
	state->nx = smaller(result->tx, result->length_x - (int64_t)state->kept[0] * result->tx);
	state->ny = smaller(result->ty, result->length_y - (int64_t)state->kept[1] * result->ty);
	state->n = state->nx * state->ny;
}

/* Sets the prologue's views to a step of the group, `rows` rows on. */
static void go_to_step(struct state *state, uint64_t step, int64_t rows)
{
	const struct tn_reduce_plan *plan = state->plan;
	uint64_t *address = tn_machine_address(&state->prologue);
	for (unsigned v = 0; v < plan->n_prologue_views; v++) {
		address[v] = state->address[v];
		if (rows)
			address[v] +=
				(uint64_t)plan->nest.view[v].stride[plan->tile.y] * (uint64_t)rows;
	}
	tn_walk_seek(&plan->reduced, step, state->reduced, address);
}

/* The elements [row, row + n) of the accumulators; `first`: they are still empty. */
struct span {
	int64_t row, n;
	int first, first_of_run;
};

/* acc[0] := acc[0] joined with the tile's n elements; `step` counts from the span's first one.  A
 * last tile that is lower than the pile leaves the layers above it unchanged. */
static void join_rows(struct state *state, unsigned v, uint64_t step, const struct span *span,
		      size_t n)
{
	const struct tn_reduce_plan *plan = state->plan;
	const struct tn_accumulator *acc = &plan->accumulator[v];
	const struct tn_code *code = &plan->prologue;
	void *const *place = state->prologue.place;
	unsigned char *top = state->level[v][0];
	const void *value = place[code->out_place[v]];
	int first = acc->levels > 1 ? span->first_of_run : span->first;
	if (first && n < (size_t)span->n)
		tn_move_fill(top + n * acc->size, &acc->identity, acc->size, (size_t)span->n - n);
	if (acc->extreme) {
		acc->extreme->step(state->best[v], state->number[v], value, (int32_t)step, n,
				   span->first);
	} else if (code->contracted >> v & 1) {
		const void *a = place[code->value[code->factor_a[v]].place];
		const void *b = place[code->value[code->factor_b[v]].place];
		if (first)
			acc->multiply(top, a, b, NULL, n);
		else
			acc->multiply_add(top, a, b, top, n);
	} else if (first) {
		if (acc->widen)
			acc->widen(top, value, NULL, NULL, n);
		else
			memcpy(top, value, n * acc->size);
	} else {
		if (acc->widen) {
			acc->widen(state->wide, value, NULL, NULL, n);
			value = state->wide;
		}
		acc->combine(top, top, value, NULL, n);
	}
}

/* acc[0][row + y] := acc[0][row + y] joined with the tile's row y, for all y. */
static void join_folds(struct state *state, unsigned v, uint64_t step, const struct span *span,
		       int64_t row_length)
{
	const struct tn_reduce_plan *plan = state->plan;
	const struct tn_accumulator *acc = &plan->accumulator[v];
	unsigned char *top = state->level[v][0] + span->row * acc->size;
	const char *value = state->prologue.place[plan->prologue.out_place[v]];
	size_t length = (size_t)row_length, size = acc->value_size;
	if (acc->extreme) {
		unsigned char *best = state->best[v] + span->row * acc->value_size;
		/* The number, within the reduced axes, of the first element of the tile's rows. */
		uint64_t across = plan->reduced.count[0];
		int64_t number = (int64_t)(step / across) * plan->tile.length_x +
				 (int64_t)(step % across) * plan->tile.tx;
		for (int64_t y = 0; y < span->n; y++, value += length * size)
			acc->extreme->fold(best + y * acc->value_size, (int64_t *)top + y, value,
					   number, length, span->first, acc->fold);
		return;
	}
	if (acc->levels > 1 ? span->first_of_run : span->first)
		tn_move_fill(top, &acc->identity, acc->size, (size_t)span->n);
	if (acc->widen) {
		acc->widen(state->wide, value, NULL, NULL, (size_t)span->n * length);
		value = (const char *)state->wide;
		size = acc->size;
	}
	if (span->n > 1 && length <= SHORT_ROW) {
		acc->fold_rows(top, value, (size_t)span->n, length);
		return;
	}
	for (int64_t y = 0; y < span->n; y++, value += length * size)
		acc->fold(top + y * acc->size, value, length);
}

/* level[to] := level[to] + level[from], or its copy when `first`. */
static void carry(struct state *state, const struct span *span, int from, int to, int first)
{
	for (uint32_t v = 0; v < state->plan->n_values; v++) {
		const struct tn_accumulator *acc = &state->plan->accumulator[v];
		if (acc->levels == 1)
			continue;
		unsigned char *d = state->level[v][to] + span->row * acc->size;
		unsigned char *s = state->level[v][from] + span->row * acc->size;
		if (first)
			memcpy(d, s, (size_t)span->n * acc->size);
		else
			acc->combine(d, d, s, NULL, (size_t)span->n);
	}
}

/* After `done` steps: carries a full run up a level; at the end carries everything down to the
 * first. */
static void carry_runs(struct state *state, struct span *span, uint64_t done, int last)
{
	uint64_t runs = done / RUN;
	int full = done % RUN == 0;
	span->first_of_run = full;
	if (full && !last) {
		carry(state, span, 0, 1, runs % RUN == 1);
		if (runs % RUN == 0)
			carry(state, span, 1, 2, runs == RUN);
		return;
	}
	if (!last || done <= RUN)
		return;
	/* The first level holds the run that ends here, the second any full ones since the last
	 * carry, the third the rest. */
	uint64_t before = (done - 1) / RUN;
	if (before % RUN)
		carry(state, span, 1, 0, 0);
	if (before >= RUN)
		carry(state, span, 2, 0, 0);
}

/* Runs the steps [begin, end) for the accumulators of `span`; ny rows a tile,
 * unless y is reduced. */
static void reduce_span(struct state *state, struct span *span, uint64_t begin, uint64_t end)
{
	const struct tn_reduce_plan *plan = state->plan;
	const struct tn_tile *tile = &plan->tile;
	int64_t nx = state->nx, ny = state->ny;
	go_to_step(state, begin, span->row && plan->folds ? span->row : 0);
	if (plan->folds) {
		nx = tile->tx;
		ny = span->n;
	}
	if (plan->y_reduced)
		ny = tile->ty;
	tn_machine_prepare(&state->prologue, (size_t)nx, (size_t)ny);
	for (uint64_t step = begin; step < end; step++) {
		if (step > begin)
			tn_walk_advance(&plan->reduced, state->reduced,
					tn_machine_address(&state->prologue));
		if (plan->folds)
			nx = smaller(tile->tx,
				     tile->length_x - (int64_t)state->reduced[0] * tile->tx);
		if (plan->y_reduced)
			ny = smaller(tile->ty,
				     tile->length_y -
					     (int64_t)state->reduced[plan->folds] * tile->ty);
		tn_machine_run(&state->prologue, (size_t)nx, (size_t)ny);
		for (uint32_t v = 0; v < plan->n_values; v++) {
			if (plan->folds)
				join_folds(state, v, step, span, plan->y_reduced ? nx * ny : nx);
			else
				join_rows(state, v, step - begin, span, (size_t)(nx * ny));
		}
		span->first = 0;
		carry_runs(state, span, step + 1 - begin, step + 1 == end);
	}
}

static void reduce_group(struct state *state, uint64_t begin, uint64_t end)
{
	const struct tn_reduce_plan *plan = state->plan;
	if (!plan->folds) {
		struct span span = {0, state->n * plan->pile, 1, 1};
		reduce_span(state, &span, begin, end);
		/* Joins the layers of the pile: the upper half to the lower one, until one is
		 * left. */
		for (int64_t layers = plan->pile; layers > 1; layers = (layers + 1) / 2) {
			int64_t half = (layers + 1) / 2;
			for (uint32_t v = 0; v < plan->n_values; v++) {
				const struct tn_accumulator *acc = &plan->accumulator[v];
				unsigned char *low = state->level[v][0];
				acc->combine(low, low, low + half * state->n * acc->size, NULL,
					     (size_t)((layers - half) * state->n));
			}
		}
		/* The number of a step is that of the element, for rows of extremes. */
		for (uint32_t v = 0; v < plan->n_values; v++) {
			int64_t *index = (int64_t *)(void *)state->level[v][0];
			for (int64_t i = 0; plan->accumulator[v].extreme && i < state->n; i++)
				index[i] = (int64_t)begin + state->number[v][i];
		}
		return;
	}
	int64_t rows = plan->y_reduced ? 1 : plan->tile.ty;
	for (int64_t row = 0; row < state->n; row += rows) {
		struct span span = {row, smaller(rows, state->n - row), 1, 1};
		reduce_span(state, &span, begin, end);
	}
}

/* The epilogue's inputs are the accumulators; its other views are at the group's position. */
static void finish_group(struct state *state)
{
	const struct tn_reduce_plan *plan = state->plan;
	uint64_t *address = tn_machine_address(&state->epilogue);
	for (unsigned v = plan->n_prologue_views; v < plan->nest.n_views; v++)
		address[v] = state->address[v];
	for (uint32_t v = 0; v < plan->n_values; v++)
		address[plan->block_view[v]] = (uint64_t)state->level[v][0];
	tn_machine_run(&state->epilogue, (size_t)state->nx, (size_t)state->ny);
}

static void join_saved(struct state *state, const char *from, int first)
{
	const struct tn_reduce_plan *plan = state->plan;
	size_t n = (size_t)state->n;
	for (uint32_t v = 0; v < plan->n_values; v++, from += plan->group * 16) {
		const struct tn_accumulator *acc = &plan->accumulator[v];
		const char *best = from + plan->group * 8;
		unsigned char *top = state->level[v][0];
		if (first) {
			memcpy(top, from, n * acc->size);
			if (acc->extreme)
				memcpy(state->best[v], best, n * acc->value_size);
		} else if (acc->extreme) {
			acc->extreme->join(state->best[v], (int64_t *)top, best,
					   (const int64_t *)from, n);
		} else {
			acc->combine(top, top, from, NULL, n);
		}
	}
}

void tn_reduce_tasks(void *argument, uint64_t begin, uint64_t end)
{
	struct tn_reduce_plan *plan = argument;
	struct tn_thread_memory *memory = tn_thread_memory();
	unsigned char *arena = tn_thread_memory_take(memory, REGISTERS);
	struct state state;
	if (!arena) {
		atomic_store(&plan->is_short, 1);
		return;
	}
	init_state(&state, plan, arena);
	for (uint64_t task = begin; task < end; task++) {
		uint64_t first = task % plan->n_chunks * plan->chunk_steps;
		uint64_t last = first + plan->chunk_steps;
		go_to_group(&state, task / plan->n_chunks);
		reduce_group(&state, first, last < plan->n_steps ? last : plan->n_steps);
		if (!plan->partial) {
			finish_group(&state);
			continue;
		}
		/* A chunk's results in memory order: for each value its accumulators, then its best
		 * values. */
		char *to = plan->partial + task * plan->partial_bytes;
		for (uint32_t v = 0; v < plan->n_values; v++) {
			const struct tn_accumulator *acc = &plan->accumulator[v];
			memcpy(to, state.level[v][0], (size_t)state.n * acc->size);
			to += plan->group * 8;
			if (acc->extreme)
				memcpy(to, state.best[v], (size_t)state.n * acc->value_size);
			to += plan->group * 8;
		}
	}
	tn_thread_memory_give(memory, REGISTERS);
}

void tn_reduce_join_chunks(struct tn_reduce_plan *plan)
{
	struct tn_thread_memory *memory = tn_thread_memory();
	unsigned char *arena = tn_thread_memory_take(memory, REGISTERS);
	struct state state;
	if (!arena) {
		atomic_store(&plan->is_short, 1);
		return;
	}
	init_state(&state, plan, arena);
	for (uint64_t group = 0; group < plan->n_groups; group++) {
		const char *from = plan->partial + group * plan->n_chunks * plan->partial_bytes;
		go_to_group(&state, group);
		for (uint64_t c = 0; c < plan->n_chunks; c++, from += plan->partial_bytes)
			join_saved(&state, from, c == 0);
		finish_group(&state);
	}
	tn_thread_memory_give(memory, REGISTERS);
}
