/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce, in one of two ways:
 *
 *   rows    a tile lies along kept axes; for every index of the reduced axes the prologue runs on it
 *           and its values are joined, element by element, to a tile of accumulators
 *   folds   a tile's rows lie along a reduced axis, one kept element each (or the whole tile is of one
 *           kept element); the prologue runs on the tile and each row is folded into its accumulator
 *
 * whichever reads memory better and needs fewer calls.  A group is the kept elements whose
 * accumulators are held at once.  Where there are few groups and much to do, the steps of each are
 * cut into chunks whose results are joined in order.
 *
 * Floating sums have three levels: RUN steps are added up in the first, RUN of those in the second,
 * the rest in the third.  A step adds one term (rows) or a fold of at most a block, whose lanes add
 * n / 16 terms each (folds), so no chain is longer than about 64 until there are 2^18 steps; chunks
 * have fewer.
 */
#include "program/interpret.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "program/interpret_plan.h"

#define MAX_VALUES 4
#define LEVELS 3
#define RUN 64
/* Rows of at most so many elements are folded many at a time. */
#define SHORT_ROW 48
/* The most steps of a chunk. */
#define MOST_STEPS ((uint64_t)RUN * RUN * RUN)
/* As in map: work in additions of one element; a piece for a thread has at least so much. */
#define PIECE 65536
/* With fewer groups than this a large reduction is cut into chunks, to about as many tasks. */
#define TASKS 32

struct accumulator {
	uint32_t combiner;
	uint32_t size, value_size; /* bytes of an accumulator, of the prologue's value */
	int column;                /* the accumulator's */
	int levels;
	uint64_t identity;
	tn_block_fn widen;                  /* the value to the accumulator's dtype, or NULL */
	tn_block_fn combine;                /* accumulators element by element */
	tn_block_fn multiply, multiply_add; /* for a contracted product */
	tn_fold_fn fold;           /* of the accumulator's dtype; for extremes of the value's */
	tn_fold_rows_fn fold_rows; /* the same for many short rows */
	const struct tn_extreme *extreme;
};

struct plan {
	struct tn_nest nest;
	unsigned n_prologue_views;
	int folds;     /* the second way */
	int y_reduced; /* folds: the tile's y axis is a reduced one, so a tile has one element */
	struct tn_tile tile;
	struct tn_tile result; /* the epilogue's tile: the group */
	int64_t group;         /* the most kept elements of a group */
	struct tn_walk kept, reduced;
	uint64_t n_groups, n_steps, n_chunks, chunk_steps;
	uint32_t n_values;
	struct accumulator accumulator[MAX_VALUES];
	unsigned block_view[MAX_VALUES];
	size_t partial_bytes; /* of one group's chunk */
	char *partial;
	struct tn_code prologue, epilogue;
	/* What stands for a missing epilogue: outputs[v] := acc[v]. */
	struct tn_program identity;
	struct tn_instruction identity_code[MAX_VALUES];
	uint16_t identity_outputs[MAX_VALUES];
};

static const char operation[] = "reduce";

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_inputs(const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *inputs = args->inputs;
	if (args->prologue->n_inputs == 0 || !inputs)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "no inputs: they give the reduced axes");
	for (uint32_t k = 0; k < args->prologue->n_inputs; k++) {
		tn_status status = tn_check_operand(&inputs[k], "input", k, 0, call, operation);
		if (status)
			return status;
		if (inputs[k].rank != inputs[0].rank)
			return tn_fail(call->error, TN_SHAPE, operation,
				       "input %u has rank %u, input 0 has rank %u", k,
				       inputs[k].rank, inputs[0].rank);
		status = tn_check_shape(&inputs[k], inputs, inputs[0].rank, "input", k, call,
					operation);
		if (status)
			return status;
	}
	if (args->n_reduced > inputs[0].rank)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "%u reduced axes, the inputs have %u", args->n_reduced,
			       inputs[0].rank);
	return TN_OK;
}

static tn_status check_kept(const struct tn_reduce_args *args, const struct tn_operand *operands,
			    uint32_t n, const char *role, int is_output)
{
	const struct tn_call *call = &args->call;
	unsigned kept = args->inputs[0].rank - args->n_reduced;
	if (n && !operands)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation, "no %ss", role);
	for (uint32_t k = 0; k < n; k++) {
		tn_status status =
			tn_check_operand(&operands[k], role, k, is_output, call, operation);
		if (status)
			return status;
		if (operands[k].rank != kept)
			return tn_fail(call->error, TN_SHAPE, operation,
				       "%s %u has rank %u, %u axes are kept", role, k,
				       operands[k].rank, kept);
		status = tn_check_shape(&operands[k], args->inputs, kept, role, k, call, operation);
		if (status)
			return status;
	}
	return TN_OK;
}

static tn_status check_values(const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	if (args->n_values < 1 || args->n_values > MAX_VALUES ||
	    args->prologue->n_outputs != args->n_values)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "%u values of a prologue with %u outputs", args->n_values,
			       args->prologue->n_outputs);
	for (uint32_t v = 0; v < args->n_values; v++) {
		if (args->combiners[v] < TN_REDUCE_SUM || args->combiners[v] > TN_REDUCE_ARGMIN)
			return tn_fail(call->error, TN_UNSUPPORTED, operation,
				       "value %u: unknown combiner %u", v, args->combiners[v]);
	}
	if (args->epilogue && args->epilogue->n_inputs < args->n_values)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "the epilogue has %u inputs, there are %u accumulators",
			       args->epilogue->n_inputs, args->n_values);
	return TN_OK;
}

static tn_status check(const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_program *epilogue = args->epilogue;
	tn_status status = tn_check_program(args->prologue, call, operation);
	if (!status && epilogue)
		status = tn_check_program(epilogue, call, operation);
	if (!status)
		status = check_values(args);
	if (!status)
		status = check_inputs(args);
	if (!status)
		status = check_kept(args, args->outputs,
				    epilogue ? epilogue->n_outputs : args->n_values, "output", 1);
	if (!status && epilogue)
		status = check_kept(args, args->epilogue_inputs,
				    epilogue->n_inputs - args->n_values, "epilogue input", 0);
	if (!status)
		status =
			tn_check_scalars(args->scalars, args->prologue->n_scalars, call, operation);
	if (!status && epilogue)
		status = tn_check_scalars(args->epilogue_scalars, epilogue->n_scalars, call,
					  operation);
	return status;
}

/* ---- Accumulators ----------------------------------------------------------------------------*/

static uint32_t accumulator_dtype(const struct plan *plan, unsigned v)
{
	uint32_t combiner = plan->accumulator[v].combiner;
	uint32_t dtype = plan->prologue.value[plan->prologue.program->outputs[v]].dtype;
	int floating = dtype == TN_F32 || dtype == TN_F64;
	return floating && combiner <= TN_REDUCE_MIN ? dtype : TN_I64;
}

/* The bits of the value that changes nothing. */
static uint64_t identity_of(uint32_t combiner, uint32_t dtype)
{
	double floating = combiner == TN_REDUCE_SUM       ? 0
			  : combiner == TN_REDUCE_PRODUCT ? 1
			  : combiner == TN_REDUCE_MAX     ? -(double)INFINITY
							  : (double)INFINITY;
	int64_t integer = combiner == TN_REDUCE_SUM       ? 0
			  : combiner == TN_REDUCE_PRODUCT ? 1
			  : combiner == TN_REDUCE_MAX     ? INT64_MIN
							  : INT64_MAX;
	uint64_t bits = 0;
	float narrow = (float)floating;
	if (dtype == TN_F32)
		memcpy(&bits, &narrow, sizeof(narrow));
	else if (dtype == TN_F64)
		memcpy(&bits, &floating, sizeof(floating));
	else
		memcpy(&bits, &integer, sizeof(integer));
	return bits;
}

static void make_accumulator(struct plan *plan, unsigned v, const struct tn_block_kernels *kernels)
{
	static const uint16_t opcode[] = {[TN_REDUCE_SUM] = TN_OP_ADD,
					  [TN_REDUCE_PRODUCT] = TN_OP_MUL,
					  [TN_REDUCE_MAX] = TN_OP_MAX,
					  [TN_REDUCE_MIN] = TN_OP_MIN};
	struct accumulator *acc = &plan->accumulator[v];
	uint32_t value = plan->prologue.value[plan->prologue.program->outputs[v]].dtype;
	uint32_t dtype = accumulator_dtype(plan, v);
	int value_column = tn_block_column(value);
	acc->column = tn_block_column(dtype);
	acc->size = (uint32_t)tn_dtype_size((tn_dtype)dtype);
	acc->value_size = (uint32_t)tn_dtype_size((tn_dtype)value);
	acc->levels = acc->combiner == TN_REDUCE_SUM && dtype != TN_I64 ? LEVELS : 1;
	acc->extreme = NULL;
	if (acc->combiner > TN_REDUCE_MIN) {
		int largest = acc->combiner == TN_REDUCE_ARGMAX;
		acc->extreme = tn_extreme_kernels(value_column, largest);
		acc->fold = tn_code_fold(kernels, largest ? TN_REDUCE_MAX : TN_REDUCE_MIN,
					 value_column);
		return;
	}
	acc->identity = identity_of(acc->combiner, dtype);
	acc->widen = tn_code_cast(kernels, value, dtype);
	acc->combine = tn_code_operation(kernels, opcode[acc->combiner], acc->column);
	acc->fold = tn_code_fold(kernels, acc->combiner, acc->column);
	acc->fold_rows = tn_block_fold_rows(acc->combiner, acc->column);
	acc->multiply = tn_code_operation(kernels, TN_OP_MUL, acc->column);
	acc->multiply_add = tn_code_contraction(kernels, acc->column);
}

static int has_extremes(const struct plan *plan)
{
	for (uint32_t v = 0; v < plan->n_values; v++) {
		if (plan->accumulator[v].combiner > TN_REDUCE_MIN)
			return 1;
	}
	return 0;
}

/* ---- The shape of the work -------------------------------------------------------------------*/

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What stands for the epilogue when there is none. */
static const struct tn_program *make_identity(struct plan *plan)
{
	struct tn_program *program = &plan->identity;
	for (uint32_t v = 0; v < plan->n_values; v++) {
		plan->identity_code[v] =
			(struct tn_instruction){.op = TN_OP_INPUT,
						.dtype = (uint16_t)accumulator_dtype(plan, v),
						.a = (uint16_t)v};
		plan->identity_outputs[v] = v;
	}
	*program = (struct tn_program){.n_inputs = plan->n_values,
				       .n_outputs = plan->n_values,
				       .n_instructions = plan->n_values,
				       .instructions = plan->identity_code,
				       .outputs = plan->identity_outputs};
	return program;
}

static void make_nest(struct plan *plan, const struct tn_reduce_args *args)
{
	struct tn_nest *nest = &plan->nest;
	struct tn_code *code = &plan->prologue;
	nest->rank = args->inputs[0].rank;
	nest->n_kept = nest->rank - args->n_reduced;
	nest->n_views = 0;
	for (unsigned d = 0; d < nest->rank; d++)
		nest->length[d] = args->inputs[0].shape[d];
	for (unsigned k = 0; k < args->prologue->n_inputs; k++)
		code->input_view[k] = (uint8_t)tn_nest_add_operand(nest, &args->inputs[k]);
	unsigned n_inputs = nest->n_views;
	tn_code_add_indices(code, nest, nest->rank);
	plan->n_prologue_views = nest->n_views;
	code = &plan->epilogue;
	for (unsigned j = 0; j < code->program->n_outputs; j++)
		code->output_view[j] = (uint8_t)tn_nest_add_operand(nest, &args->outputs[j]);
	for (unsigned k = plan->n_values; k < code->program->n_inputs; k++)
		code->input_view[k] = (uint8_t)tn_nest_add_operand(
			nest, &args->epilogue_inputs[k - plan->n_values]);
	tn_code_add_indices(code, nest, nest->n_kept);
	tn_nest_simplify(nest, 0, n_inputs, !has_extremes(plan));
	for (uint32_t v = 0; v < plan->n_values; v++) {
		plan->block_view[v] = tn_nest_add_block(nest, accumulator_dtype(plan, v));
		code->input_view[v] = (uint8_t)plan->block_view[v];
	}
}

/* Picks the tile's second axis for rows along x; -1: none.  The more of the block it fills the
 * better; a kept axis is worth more than a reduced one, because its results share an epilogue. */
static int second_axis(const struct plan *plan, int x, int64_t block)
{
	const struct tn_nest *nest = &plan->nest;
	int x_is_kept = x < (int)nest->n_kept, best = -1;
	int64_t room = block / smaller(nest->length[x], block), most = 0;
	int last = x_is_kept || has_extremes(plan) ? (int)nest->n_kept : (int)nest->rank;
	for (int d = 0; d < last; d++) {
		if (d == x)
			continue;
		int64_t score = smaller(nest->length[d], room);
		if (d < (int)nest->n_kept)
			score *= 2;
		if (score >= most) {
			most = score;
			best = d;
		}
	}
	return x_is_kept && room < 2 ? -1 : best;
}

/* About how long an element takes with tiles along x, in nanoseconds: reading it, and its share of
 * calls.  Only the comparison matters. */
static double price(const struct plan *plan, int x, int64_t block)
{
	const struct tn_nest *nest = &plan->nest;
	int kept = x < (int)nest->n_kept, y = second_axis(plan, x, block);
	double tx = (double)smaller(nest->length[x], block);
	double ty = y < 0 ? 1 : (double)smaller(nest->length[y], (int64_t)((double)block / tx));
	double calls = 8 + 4.0 * plan->prologue.n_values;
	double price = (kept ? 0.1 : tx <= SHORT_ROW ? 0.4 : 8.0 / tx) * plan->n_values;
	for (unsigned v = 0; v < plan->n_prologue_views; v++) {
		int64_t size = nest->view[v].size, stride = nest->view[v].stride[x];
		int64_t distance = stride < 0 ? -(stride + 1) : stride;
		if (stride == size)
			price += 0.1 * (double)size / 4;
		else if (stride == 0)
			price += 0.2;
		else
			price += distance < 64 ? 1 : 3;
		/* Rows that are not a block in memory are copied one by one. */
		if (ty > 1 && nest->view[v].stride[y] != (int64_t)tx * size)
			price += 4 / tx;
	}
	return price + (calls + (kept ? 4.0 * plan->n_values : 0)) / (tx * ty);
}

/* Chooses the way, and the axes of tiles. */
static void choose_axes(struct plan *plan, int64_t block)
{
	const struct tn_nest *nest = &plan->nest;
	int best = -1;
	double least = 0;
	for (int x = (int)nest->rank - 1; x >= 0; x--) {
		/* Numbers ascend only along the last reduced axis. */
		if (x >= (int)nest->n_kept && x != (int)nest->rank - 1 && has_extremes(plan))
			continue;
		double cost = price(plan, x, block);
		if (best < 0 || cost < least) {
			least = cost;
			best = x;
		}
	}
	plan->folds = best >= (int)nest->n_kept;
	plan->tile.x = best;
	plan->tile.y = best < 0 ? -1 : second_axis(plan, best, block);
	plan->y_reduced = plan->tile.y >= (int)nest->n_kept;
}

/* Kept elements of a group of rows: enough work for a task, and whole tiles. */
static int64_t choose_group(const struct plan *plan, int64_t block)
{
	const struct tn_tile *tile = &plan->tile;
	uint64_t row = tn_nest_count(&plan->nest, plan->nest.n_kept, plan->nest.rank);
	int64_t rows = row >= PIECE / 4 ? 1 : PIECE / 4 / (int64_t)row;
	rows = smaller(smaller(rows, block), tile->length_y);
	return larger(rows / tile->ty * tile->ty, tile->ty);
}

static uint64_t pieces(int64_t length, int64_t piece)
{
	return (uint64_t)((length + piece - 1) / piece);
}

static void choose_tile(struct plan *plan, int64_t block)
{
	const struct tn_nest *nest = &plan->nest;
	struct tn_tile *tile = &plan->tile;
	tile->length_x = tile->x < 0 ? 1 : nest->length[tile->x];
	tile->length_y = tile->y < 0 ? 1 : nest->length[tile->y];
	uint64_t parts = pieces(tile->length_x, block);
	tile->tx = tile->length_x;
	if (parts > 1)
		tile->tx = ((int64_t)pieces(tile->length_x, (int64_t)parts) + 15) & ~15;
	tile->ty = smaller(tile->length_y, block / tile->tx);
	if (!plan->folds) {
		plan->result = *tile;
		plan->group = tile->tx * tile->ty;
		return;
	}
	plan->result = (struct tn_tile){-1, -1, 1, 1, 1, 1};
	plan->group = 1;
	if (plan->y_reduced || tile->y < 0)
		return;
	plan->group = choose_group(plan, block);
	plan->result.x = tile->y;
	plan->result.length_x = tile->length_y;
	plan->result.tx = plan->group;
}

/* Levels 0 and 1 of `kept` are the group's, of `reduced` the tile's. */
static void make_walks(struct plan *plan)
{
	const struct tn_nest *nest = &plan->nest;
	const struct tn_tile *tile = &plan->tile, *result = &plan->result;
	struct tn_walk *kept = &plan->kept, *reduced = &plan->reduced;
	kept->n_levels = reduced->n_levels = 0;
	kept->n_views = nest->n_views;
	reduced->n_views = plan->n_prologue_views;
	tn_walk_add(kept, nest, pieces(result->length_x, result->tx), result->x, result->tx);
	tn_walk_add(kept, nest, pieces(result->length_y, result->ty), result->y, result->ty);
	for (int d = (int)nest->n_kept - 1; d >= 0; d--) {
		if (d != result->x && d != result->y)
			tn_walk_add(kept, nest, (uint64_t)nest->length[d], d, 1);
	}
	if (plan->folds)
		tn_walk_add(reduced, nest, pieces(tile->length_x, tile->tx), tile->x, tile->tx);
	if (plan->y_reduced)
		tn_walk_add(reduced, nest, pieces(tile->length_y, tile->ty), tile->y, tile->ty);
	for (int d = (int)nest->rank - 1; d >= (int)nest->n_kept; d--) {
		if (d != tile->x && d != tile->y)
			tn_walk_add(reduced, nest, (uint64_t)nest->length[d], d, 1);
	}
	plan->n_groups = tn_walk_total(kept);
	plan->n_steps = tn_walk_total(reduced);
}

static uint64_t work_of(const struct plan *plan)
{
	return tn_nest_count(&plan->nest, 0, plan->nest.rank) *
	       (plan->prologue.cost + plan->n_values);
}

/* Chunks depend on shapes alone, so that the sum's order does. */
static void choose_chunks(struct plan *plan)
{
	uint64_t most = work_of(plan) / plan->n_groups / (PIECE / 2), chunks = 1;
	if (plan->n_groups < TASKS)
		chunks = (TASKS + plan->n_groups - 1) / plan->n_groups;
	chunks = chunks > most ? most : chunks;
	chunks = chunks > plan->n_steps ? plan->n_steps : chunks;
	chunks = chunks < 1 ? 1 : chunks;
	plan->chunk_steps = (plan->n_steps + chunks - 1) / chunks;
	if (plan->chunk_steps > MOST_STEPS)
		plan->chunk_steps = MOST_STEPS;
	plan->n_chunks = (plan->n_steps + plan->chunk_steps - 1) / plan->chunk_steps;
}

/* The elements of a block that keep registers and the accumulators of the first level in the first
 * cache.  The epilogue's registers and the other levels are seldom touched. */
static int64_t block_of(const struct plan *plan)
{
	const struct tn_code *prologue = &plan->prologue, *epilogue = &plan->epilogue;
	int64_t bytes = (int64_t)(prologue->n_live * prologue->width);
	int64_t all = bytes + (int64_t)(epilogue->n_live * epilogue->width);
	for (uint32_t v = 0; v < plan->n_values; v++) {
		const struct accumulator *acc = &plan->accumulator[v];
		bytes += acc->extreme ? 16 : acc->size;
		all += 16 + acc->levels * (int64_t)acc->size;
	}
	all = TN_ARENA_LIMIT / (all + 8);
	return smaller(larger(smaller(TN_ARENA_BYTES / bytes, all) & ~15, 16), TN_MAX_BLOCK);
}

/* ---- One thread ------------------------------------------------------------------------------*/

struct state {
	const struct plan *plan;
	struct tn_machine prologue, epilogue;
	unsigned char *wide;                      /* a tile of widened values */
	unsigned char *level[MAX_VALUES][LEVELS]; /* accumulators; the first holds the result */
	unsigned char *best[MAX_VALUES];          /* the values of extremes */
	uint64_t kept[TN_MAX_RANK + 2], reduced[TN_MAX_RANK + 2];
	uint64_t address[TN_MAX_VIEWS];
	int64_t nx, ny, n; /* of the group: its tile, its elements */
};

static unsigned char *lay_out(unsigned char **block, unsigned char *arena, size_t bytes)
{
	*block = arena;
	return arena + (bytes + 63) / 64 * 64;
}

static void init(struct state *state, const struct plan *plan, unsigned char *arena)
{
	size_t tile = (size_t)(plan->tile.tx * plan->tile.ty), group = (size_t)plan->group;
	state->plan = plan;
	arena = tn_machine_init(&state->prologue, &plan->prologue, arena, tile);
	arena = tn_machine_init(&state->epilogue, &plan->epilogue, arena, group);
	arena = lay_out(&state->wide, arena, tile * 8);
	for (uint32_t v = 0; v < plan->n_values; v++) {
		const struct accumulator *acc = &plan->accumulator[v];
		for (int l = 0; l < acc->levels; l++)
			arena = lay_out(&state->level[v][l], arena, group * acc->size);
		if (acc->extreme)
			arena = lay_out(&state->best[v], arena, group * acc->value_size);
	}
	uint64_t *address = tn_machine_address(&state->epilogue);
	for (unsigned v = 0; v < plan->nest.n_views; v++)
		address[v] = plan->nest.view[v].start;
	tn_machine_prepare(&state->epilogue, (size_t)plan->result.tx, (size_t)plan->result.ty);
}

static void go_to_group(struct state *state, uint64_t group)
{
	const struct plan *plan = state->plan;
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
	const struct plan *plan = state->plan;
	uint64_t *address = tn_machine_address(&state->prologue);
	for (unsigned v = 0; v < plan->n_prologue_views; v++) {
		address[v] = state->address[v];
		if (rows)
			address[v] +=
				(uint64_t)plan->nest.view[v].stride[plan->tile.y] * (uint64_t)rows;
	}
	tn_walk_seek(&plan->reduced, step, state->reduced, address);
}

/* The elements [row, row + n) of the accumulators; `first`: there is nothing in them yet. */
struct span {
	int64_t row, n;
	int first, first_of_run;
};

/* acc[0] := acc[0] joined with the tile, element by element. */
static void join_rows(struct state *state, unsigned v, uint64_t step, const struct span *span)
{
	const struct plan *plan = state->plan;
	const struct accumulator *acc = &plan->accumulator[v];
	const struct tn_code *code = &plan->prologue;
	void *const *place = state->prologue.place;
	unsigned char *top = state->level[v][0];
	const void *value = place[code->out_place[v]];
	size_t n = (size_t)span->n;
	int first = acc->levels > 1 ? span->first_of_run : span->first;
	if (acc->extreme) {
		acc->extreme->step(state->best[v], (int64_t *)top, value, (int64_t)step, n,
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

/* The number, within the reduced axes, of the first element of the tile's rows. */
static int64_t number_of(const struct plan *plan, uint64_t step)
{
	uint64_t across = plan->reduced.count[0];
	return (int64_t)(step / across) * plan->tile.length_x +
	       (int64_t)(step % across) * plan->tile.tx;
}

/* acc[0][row + y] := acc[0][row + y] joined with the tile's row y, for all y. */
static void join_folds(struct state *state, unsigned v, uint64_t step, const struct span *span,
		       int64_t row_length)
{
	const struct plan *plan = state->plan;
	const struct accumulator *acc = &plan->accumulator[v];
	unsigned char *top = state->level[v][0] + span->row * acc->size;
	const char *value = state->prologue.place[plan->prologue.out_place[v]];
	size_t length = (size_t)row_length, size = acc->value_size;
	if (acc->extreme) {
		unsigned char *best = state->best[v] + span->row * acc->value_size;
		int64_t number = number_of(plan, step);
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
		const struct accumulator *acc = &state->plan->accumulator[v];
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

/* After `done` steps: a full run goes up a level, at the end everything comes down to the first. */
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
	/* The first level holds the run that ends here, the second the full ones since the last
	 * carry, if there are any, the third the rest. */
	uint64_t before = (done - 1) / RUN;
	if (before % RUN)
		carry(state, span, 1, 0, 0);
	if (before >= RUN)
		carry(state, span, 2, 0, 0);
}

/* Runs the steps [begin, end) for the accumulators of `span`; ny rows a tile, unless y is reduced. */
static void reduce_span(struct state *state, struct span *span, uint64_t begin, uint64_t end)
{
	const struct plan *plan = state->plan;
	const struct tn_tile *tile = &plan->tile;
	int64_t nx = state->nx, ny = state->ny;
	go_to_step(state, begin, span->row && plan->folds ? span->row : 0);
	if (plan->folds) {
		nx = tile->tx;
		ny = plan->y_reduced ? tile->ty : span->n;
	}
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
				     tile->length_y - (int64_t)state->reduced[1] * tile->ty);
		tn_machine_run(&state->prologue, (size_t)nx, (size_t)ny);
		for (uint32_t v = 0; v < plan->n_values; v++) {
			if (plan->folds)
				join_folds(state, v, step, span, plan->y_reduced ? nx * ny : nx);
			else
				join_rows(state, v, step, span);
		}
		span->first = 0;
		carry_runs(state, span, step + 1 - begin, step + 1 == end);
	}
}

static void reduce_group(struct state *state, uint64_t begin, uint64_t end)
{
	const struct plan *plan = state->plan;
	int64_t rows = plan->folds ? plan->tile.ty : state->n;
	if (plan->y_reduced)
		rows = 1;
	for (int64_t row = 0; row < state->n; row += rows) {
		struct span span = {row, smaller(rows, state->n - row), 1, 1};
		reduce_span(state, &span, begin, end);
	}
}

/* The epilogue's inputs are the accumulators; its other views stand at the group. */
static void finish_group(struct state *state)
{
	const struct plan *plan = state->plan;
	uint64_t *address = tn_machine_address(&state->epilogue);
	for (unsigned v = plan->n_prologue_views; v < plan->nest.n_views; v++)
		address[v] = state->address[v];
	for (uint32_t v = 0; v < plan->n_values; v++)
		address[plan->block_view[v]] = (uint64_t)state->level[v][0];
	tn_machine_run(&state->epilogue, (size_t)state->nx, (size_t)state->ny);
}

/* A chunk's results, as they lie in memory: for each value its accumulators, then its best values. */
static void save(struct state *state, char *to)
{
	const struct plan *plan = state->plan;
	for (uint32_t v = 0; v < plan->n_values; v++) {
		const struct accumulator *acc = &plan->accumulator[v];
		memcpy(to, state->level[v][0], (size_t)state->n * acc->size);
		to += plan->group * 8;
		if (acc->extreme)
			memcpy(to, state->best[v], (size_t)state->n * acc->value_size);
		to += plan->group * 8;
	}
}

static void join_saved(struct state *state, const char *from, int first)
{
	const struct plan *plan = state->plan;
	size_t n = (size_t)state->n;
	for (uint32_t v = 0; v < plan->n_values; v++, from += plan->group * 16) {
		const struct accumulator *acc = &plan->accumulator[v];
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

static void run_tasks(void *argument, uint64_t begin, uint64_t end)
{
	const struct plan *plan = argument;
	_Alignas(64) unsigned char arena[2 * TN_ARENA_LIMIT];
	struct state state;
	init(&state, plan, arena);
	for (uint64_t task = begin; task < end; task++) {
		uint64_t first = task % plan->n_chunks * plan->chunk_steps;
		uint64_t last = first + plan->chunk_steps;
		go_to_group(&state, task / plan->n_chunks);
		reduce_group(&state, first, last < plan->n_steps ? last : plan->n_steps);
		if (plan->partial)
			save(&state, plan->partial + task * plan->partial_bytes);
		else
			finish_group(&state);
	}
}

static void join_chunks(void *argument, uint64_t begin, uint64_t end)
{
	const struct plan *plan = argument;
	_Alignas(64) unsigned char arena[2 * TN_ARENA_LIMIT];
	struct state state;
	init(&state, plan, arena);
	for (uint64_t group = begin; group < end; group++) {
		const char *from = plan->partial + group * plan->n_chunks * plan->partial_bytes;
		go_to_group(&state, group);
		for (uint64_t c = 0; c < plan->n_chunks; c++, from += plan->partial_bytes)
			join_saved(&state, from, c == 0);
		finish_group(&state);
	}
}

static tn_status run(struct tn_threads *threads, struct plan *plan, const struct tn_call *call)
{
	uint64_t tasks = plan->n_groups * plan->n_chunks, work = work_of(plan) / tasks + 1;
	uint64_t grain = (PIECE + work - 1) / work;
	plan->partial = NULL;
	if (plan->n_chunks > 1) {
		plan->partial_bytes = (size_t)plan->group * 16 * plan->n_values;
		plan->partial = tn_mem_aligned((size_t)tasks * plan->partial_bytes, 64);
		if (!plan->partial)
			return tn_fail(call->error, TN_OUT_OF_MEMORY, operation,
				       "no memory for %llu partial results of %zu bytes",
				       (unsigned long long)tasks, plan->partial_bytes);
	}
	tn_parallel_for(tasks < 2 * grain ? NULL : threads, tasks,
			tasks < 2 * grain ? tasks : grain, run_tasks, plan);
	if (plan->partial)
		join_chunks(plan, 0, plan->n_groups);
	tn_mem_free(plan->partial);
	return TN_OK;
}

static tn_status scan(struct plan *plan, const struct tn_reduce_args *args,
		      const struct tn_block_kernels *kernels)
{
	unsigned rank = args->inputs[0].rank;
	const struct tn_program *epilogue = args->epilogue;
	tn_status status = tn_code_scan(&plan->prologue, args->prologue, args->scalars, kernels,
					rank, &args->call, operation);
	if (status)
		return status;
	plan->n_values = args->n_values;
	for (uint32_t v = 0; v < plan->n_values; v++)
		plan->accumulator[v].combiner = args->combiners[v];
	if (!epilogue)
		epilogue = make_identity(plan);
	return tn_code_scan(&plan->epilogue, epilogue, args->epilogue_scalars, kernels,
			    rank - args->n_reduced, &args->call, operation);
}

/* Everything from the accumulators to the steps. */
static void prepare(struct plan *plan, const struct tn_reduce_args *args,
		    const struct tn_block_kernels *kernels)
{
	for (uint32_t v = 0; v < plan->n_values; v++)
		make_accumulator(plan, v, kernels);
	make_nest(plan, args);
	choose_axes(plan, TN_MAX_BLOCK / 2);
	plan->prologue.keeps_outputs = 1;
	for (uint32_t v = 0; v < plan->n_values && !plan->folds; v++) {
		if (plan->accumulator[v].levels > 1)
			plan->prologue.summed |= 1u << v;
	}
	tn_code_analyse(&plan->prologue, &plan->nest);
	tn_code_analyse(&plan->epilogue, &plan->nest);
	choose_tile(plan, block_of(plan));
	make_walks(plan);
	choose_chunks(plan);
	tn_code_emit(&plan->prologue,
		     &(struct tn_emit){&plan->nest, &plan->tile, &plan->reduced, 0});
	tn_code_emit(&plan->epilogue,
		     &(struct tn_emit){&plan->nest, &plan->result, &plan->kept, 0});
}

tn_status tn_interpret_reduce(struct tn_threads *threads, const struct tn_reduce_args *theirs,
			      const struct tn_block_kernels *their_kernels)
{
	struct tn_reduce_args args;
	struct tn_block_kernels table;
	struct plan plan;
	const struct tn_block_kernels *kernels = tn_check_kernels(their_kernels, &table);
	tn_status status = tn_check_call(theirs, &args, sizeof(args), operation);
	if (!status)
		status = check(&args);
	if (!status)
		status = scan(&plan, &args, kernels);
	if (status || args.call.flags & TN_DRY_RUN)
		return status;
	prepare(&plan, &args, kernels);
	tn_code_evaluate(&plan.prologue, &plan.nest);
	tn_code_evaluate(&plan.epilogue, &plan.nest);
	return run(threads, &plan, &args.call);
}
