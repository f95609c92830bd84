/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The plan of a reduction: the dtype, the identity and the kernels of each accumulator; the axes
 * and size of a tile, and the partition of the work.
 */
#include "interpret/reduce_plan.h"

#include "base/bits.h"
#include "interpret/code.h"
#include "interpret/extreme.h"
#include "interpret/nest.h"
#include "interpret/run.h"

#include <math.h>

/* The most steps of a chunk. */
#define MOST_STEPS ((uint64_t)RUN * RUN * RUN)
/* With fewer groups than this a large reduction is split into chunks, giving about as many
 * tasks. */
#define TASKS 32

/* ---- Accumulators ----------------------------------------------------------------------------*/

uint32_t tn_reduce_dtype(const struct tn_reduce_plan *plan, unsigned v)
{
	uint32_t combiner = plan->accumulator[v].combiner;
	uint32_t dtype = plan->prologue.value[plan->prologue.program->outputs[v]].dtype;
	int floating = dtype == TN_F32 || dtype == TN_F64;
	return floating && combiner <= TN_REDUCE_MIN ? dtype : TN_I64;
}

/* The bits of the neutral element. */
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
	if (dtype == TN_F32)
		return tn_bits_of_f32((float)floating);
	return dtype == TN_F64 ? tn_bits_of_f64(floating) : (uint64_t)integer;
}

void tn_reduce_make_accumulator(struct tn_reduce_plan *plan, unsigned v,
				const struct tn_block_kernels *kernels)
{
	static const uint16_t opcode[] = {[TN_REDUCE_SUM] = TN_OP_ADD,
					  [TN_REDUCE_PRODUCT] = TN_OP_MUL,
					  [TN_REDUCE_MAX] = TN_OP_MAX,
					  [TN_REDUCE_MIN] = TN_OP_MIN};
	struct tn_accumulator *acc = &plan->accumulator[v];
	uint32_t value = plan->prologue.value[plan->prologue.program->outputs[v]].dtype;
	uint32_t dtype = tn_reduce_dtype(plan, v);
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

int tn_reduce_has_extremes(const struct tn_reduce_plan *plan)
{
	for (uint32_t v = 0; v < plan->n_values; v++) {
		if (plan->accumulator[v].combiner > TN_REDUCE_MIN)
			return 1;
	}
	return 0;
}

const struct tn_program *tn_reduce_identity(struct tn_reduce_plan *plan)
{
	struct tn_program *program = &plan->identity;
	for (uint32_t v = 0; v < plan->n_values; v++) {
		plan->identity_code[v] =
			(struct tn_instruction){.op = TN_OP_INPUT,
						.dtype = (uint16_t)tn_reduce_dtype(plan, v),
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

/* ---- The shape -------------------------------------------------------------------------------*/

void tn_reduce_make_nest(struct tn_reduce_plan *plan, const struct tn_reduce_args *args)
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
	tn_nest_simplify(nest, 0, n_inputs, !tn_reduce_has_extremes(plan));
	for (uint32_t v = 0; v < plan->n_values; v++) {
		plan->block_view[v] = tn_nest_add_block(nest, tn_reduce_dtype(plan, v));
		code->input_view[v] = (uint8_t)plan->block_view[v];
	}
}

/* Do the rows of all views follow one another in memory along y? */
static int rows_follow(const struct tn_reduce_plan *plan, int x, int y)
{
	const struct tn_nest *nest = &plan->nest;
	for (unsigned v = 0; v < plan->n_prologue_views; v++) {
		const int64_t *stride = nest->view[v].stride;
		if (stride[y] != stride[x] * nest->length[x])
			return 0;
	}
	return 1;
}

/* Picks the tile's second axis for rows along x; -1: none.  The more of the block it fills the
 * better; a kept axis counts more than a reduced one, because its results share an epilogue, and
 * rows along a kept axis are piled only where they are consecutive in memory. */
static int second_axis(const struct tn_reduce_plan *plan, int x, int64_t block)
{
	const struct tn_nest *nest = &plan->nest;
	int x_is_kept = x < (int)nest->n_kept, best = -1;
	int64_t room = block / smaller(nest->length[x], block), most = 0;
	int last = tn_reduce_has_extremes(plan) ? (int)nest->n_kept : (int)nest->rank;
	for (int d = 0; d < last; d++) {
		int is_kept = d < (int)nest->n_kept;
		if (d == x || (x_is_kept && !is_kept && !rows_follow(plan, x, d)))
			continue;
		int64_t score = smaller(nest->length[d], room);
		if (is_kept || x_is_kept)
			score *= 2;
		if (score >= most) {
			most = score;
			best = d;
		}
	}
	return x_is_kept && room < 2 ? -1 : best;
}

/* Estimated time of an element with tiles along x, in nanoseconds: reading it, and its share of
 * calls.  Only comparisons use it. */
static double price(const struct tn_reduce_plan *plan, int x, int64_t block)
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
		/* Rows that are not contiguous as a block are copied one by one. */
		if (ty > 1 && nest->view[v].stride[y] != (int64_t)tx * size)
			price += 4 / tx;
	}
	return price + (calls + (kept ? 4.0 * plan->n_values : 0)) / (tx * ty);
}

void tn_reduce_choose_axes(struct tn_reduce_plan *plan)
{
	const struct tn_nest *nest = &plan->nest;
	const int64_t block = TN_MAX_BLOCK / 2;
	int best = -1;
	double least = 0;
	for (int x = (int)nest->rank - 1; x >= 0; x--) {
		/* Numbers ascend only along the last reduced axis. */
		if (x >= (int)nest->n_kept && x != (int)nest->rank - 1 &&
		    tn_reduce_has_extremes(plan))
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

static uint64_t pieces(int64_t length, int64_t piece)
{
	return (uint64_t)((length + piece - 1) / piece);
}

/* The y axis of rows is a reduced one: the group has one row.  Only whole rows are piled. */
static void pile_up(struct tn_reduce_plan *plan)
{
	struct tn_tile *tile = &plan->tile, *result = &plan->result;
	if (tile->tx < tile->length_x) {
		tile->y = -1;
		tile->ty = tile->length_y = 1;
		plan->y_reduced = 0;
	}
	*result = *tile;
	result->y = -1;
	result->ty = result->length_y = 1;
	plan->group = tile->tx;
	plan->pile = tile->ty;
}

static void choose_tile(struct tn_reduce_plan *plan, int64_t block)
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
	plan->pile = 1;
	if (!plan->folds) {
		plan->result = *tile;
		plan->group = tile->tx * tile->ty;
		if (plan->y_reduced)
			pile_up(plan);
		return;
	}
	plan->result = (struct tn_tile){-1, -1, 1, 1, 1, 1};
	plan->group = 1;
	if (plan->y_reduced || tile->y < 0)
		return;
	/* The kept elements of a group of rows: enough work for a task, and whole tiles. */
	uint64_t row = tn_nest_count(&plan->nest, plan->nest.n_kept, plan->nest.rank);
	int64_t rows = row >= PIECE / 4 ? 1 : PIECE / 4 / (int64_t)row;
	rows = smaller(smaller(rows, block), tile->length_y);
	plan->group = larger(rows / tile->ty * tile->ty, tile->ty);
	plan->result.x = tile->y;
	plan->result.length_x = tile->length_y;
	plan->result.tx = plan->group;
}

/* Levels 0 and 1 of `kept` are the group's, of `reduced` the tile's. */
static void make_walks(struct tn_reduce_plan *plan)
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

uint64_t tn_reduce_work(const struct tn_reduce_plan *plan)
{
	return tn_nest_count(&plan->nest, 0, plan->nest.rank) *
	       (plan->prologue.cost + plan->n_values);
}

/* Chunks depend on shapes alone, and hence so does the order of the sum. */
static void choose_chunks(struct tn_reduce_plan *plan)
{
	uint64_t most = tn_reduce_work(plan) / plan->n_groups / (PIECE / 2), chunks = 1;
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

/* The elements of a block for which registers and the first level of accumulators fit the first
 * cache.  The epilogue's registers and the other levels are rarely used. */
static int64_t block_of(const struct tn_reduce_plan *plan)
{
	const struct tn_code *prologue = &plan->prologue, *epilogue = &plan->epilogue;
	int64_t bytes = (int64_t)(prologue->n_live * prologue->width);
	int64_t all = bytes + (int64_t)(epilogue->n_live * epilogue->width);
	for (uint32_t v = 0; v < plan->n_values; v++) {
		const struct tn_accumulator *acc = &plan->accumulator[v];
		bytes += acc->extreme ? 16 : acc->size;
		all += 16 + acc->levels * (int64_t)acc->size;
	}
	all = TN_ARENA_LIMIT / (all + 8);
	return smaller(larger(smaller(TN_ARENA_BYTES / bytes, all) & ~15, 16), TN_MAX_BLOCK);
}

void tn_reduce_choose_tile(struct tn_reduce_plan *plan)
{
	choose_tile(plan, block_of(plan));
	make_walks(plan);
	choose_chunks(plan);
}
