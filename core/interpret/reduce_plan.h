/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The plan of a reduction.  There are two ways:
 *
 *   rows    a tile lies along kept axes; for every index of the reduced axes the prologue runs
 *           on it and its values are joined, element by element, to a tile of accumulators;
 *           several indices of a reduced axis take short rows at once, each with accumulators of
 *           its own (the layers of a pile), which are joined in pairs at the end
 *   folds   a tile's rows lie along a reduced axis, one kept element each (or the whole tile
 *           belongs to one kept element); the prologue runs on the tile and each row is folded
 *           into its accumulator
 *
 * The plan takes the one that reads memory better and needs fewer calls.  A group is the kept
 * elements whose accumulators are held at once.  With few groups and much work, the steps of each
 * are split into chunks whose results are joined in order.
 *
 * Floating sums have three levels: RUN steps are summed in the first, RUN of those in the second,
 * the rest in the third.  A step adds one term (rows) or a fold of at most a block, whose lanes add
 * n / 16 terms each (folds), so no chain is longer than about 64 until there are 2^18 steps; chunks
 * have fewer.
 *
 * This file is the plan: accumulators and the shape of the work.  reduce_run.h has the work of a
 * thread.
 */
#ifndef TN_INTERPRET_REDUCE_PLAN_H
#define TN_INTERPRET_REDUCE_PLAN_H

#include <stdatomic.h>

#include "interpret/code.h"
#include "interpret/extreme.h"
#include "interpret/nest.h"

#define MAX_VALUES 4
#define LEVELS 3
#define RUN 64
/* Rows of at most this many elements are folded many at a time. */
#define SHORT_ROW 48
/* As in map: work in additions of one element; a thread's piece has at least this much. */
#define PIECE 65536

struct tn_accumulator {
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

struct tn_reduce_plan {
	struct tn_nest nest;
	unsigned n_prologue_views;
	int folds; /* the second way */
	/* the tile's y axis is a reduced one: folds have one element a tile, rows a pile */
	int y_reduced;
	struct tn_tile tile;
	struct tn_tile result; /* the epilogue's tile: the group */
	int64_t group;         /* the most kept elements of a group */
	int64_t pile;          /* the layers of accumulators: 1, or the tile's rows */
	struct tn_walk kept, reduced;
	uint64_t n_groups, n_steps, n_chunks, chunk_steps;
	uint32_t n_values;
	struct tn_accumulator accumulator[MAX_VALUES];
	unsigned block_view[MAX_VALUES];
	size_t partial_bytes; /* of one group's chunk */
	char *partial;
	atomic_int is_short; /* of memory: a thread had none for its registers */
	struct tn_code prologue, epilogue;
	/* Replaces a missing epilogue: outputs[v] := acc[v]. */
	struct tn_program identity;
	struct tn_instruction identity_code[MAX_VALUES];
	uint16_t identity_outputs[MAX_VALUES];
};

/* The dtype of value v's accumulator. */
uint32_t tn_reduce_dtype(const struct tn_reduce_plan *plan, unsigned v);
void tn_reduce_make_accumulator(struct tn_reduce_plan *plan, unsigned v,
				const struct tn_block_kernels *kernels);
/* Is one of the values the index of an extreme?  Reduced axes then keep their order. */
int tn_reduce_has_extremes(const struct tn_reduce_plan *plan);
/* Replaces a missing epilogue. */
const struct tn_program *tn_reduce_identity(struct tn_reduce_plan *plan);

/* The shape of the work.  Call these in this order; choose_axes before the analysis of the
 * programs, choose_tile after it. */
void tn_reduce_make_nest(struct tn_reduce_plan *plan, const struct tn_reduce_args *args);
void tn_reduce_choose_axes(struct tn_reduce_plan *plan);
void tn_reduce_choose_tile(struct tn_reduce_plan *plan);
/* In additions. */
uint64_t tn_reduce_work(const struct tn_reduce_plan *plan);

static inline int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif
