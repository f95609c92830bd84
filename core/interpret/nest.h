/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The operands of a call and the indices that it uses as views over one nest of loops, and walks
 * over the nest's tiles.
 */
#ifndef TN_INTERPRET_NEST_H
#define TN_INTERPRET_NEST_H

#include <tenon/backend.h>

/* A reduction has most: the inputs of its prologue, those of its epilogue (accumulators are among
 * them), its outputs, and for each program the indices of all axes and of the element. */
#define TN_MAX_VIEWS (2 * TN_PROGRAM_MAX_INPUTS + TN_PROGRAM_MAX_OUTPUTS + 2 * (TN_MAX_RANK + 1))

/* An operand in the form that the loops use, or an index: a "view" whose address is its value. */
struct tn_view {
	uint64_t start;  /* the address of the first element */
	uint32_t dtype;  /* 0: an index */
	uint32_t size;   /* bytes of an element; 1 for an index */
	uint32_t varies; /* its address changes although all strides are 0 */
	uint32_t reserved;
	int64_t stride[TN_MAX_RANK]; /* bytes, by axis */
};

/* Axes, outermost first: those that a reduction keeps, then the reduced ones. */
struct tn_nest {
	unsigned rank;
	unsigned n_kept;
	unsigned n_views;
	int64_t length[TN_MAX_RANK];
	struct tn_view view[TN_MAX_VIEWS];
};

/* Adds an operand; returns its number.  Missing trailing axes get stride 0. */
unsigned tn_nest_add_operand(struct tn_nest *nest, const struct tn_operand *operand);
/* Adds the index along an axis, or with axis == TN_MAX_RANK the element's number in the first
 * `rank` axes. */
unsigned tn_nest_add_index(struct tn_nest *nest, unsigned axis, unsigned rank);
/* Adds a view whose address the runner sets, of stride 0 everywhere. */
unsigned tn_nest_add_block(struct tn_nest *nest, uint32_t dtype);

/* Drops axes of length 1, orders each group of axes by the strides of views [first, end) (largest
 * first; the reduced ones only if `order_reduced`) and merges neighbours where all views allow
 * it. */
void tn_nest_simplify(struct tn_nest *nest, unsigned first, unsigned end, int order_reduced);

/* The elements of axes [first, end). */
uint64_t tn_nest_count(const struct tn_nest *nest, unsigned first, unsigned end);

/* A tile: tx by ty elements of axes x and y; an axis of -1 is absent, its length is 1. */
struct tn_tile {
	int x, y;
	int64_t length_x, length_y;
	int64_t tx, ty;
};

/* An odometer over tiles or axes; level 0 turns fastest. */
struct tn_walk {
	unsigned n_levels;
	unsigned n_views;
	uint64_t count[TN_MAX_RANK + 2];
	int64_t step[TN_MAX_RANK + 2][TN_MAX_VIEWS];
};

/* Adds a level of `count` positions, each `multiple` further along `axis` (-1: nowhere). */
void tn_walk_add(struct tn_walk *walk, const struct tn_nest *nest, uint64_t count, int axis,
		 int64_t multiple);
uint64_t tn_walk_total(const struct tn_walk *walk);
/* Is the view's address the same at all positions? */
int tn_walk_is_still(const struct tn_walk *walk, unsigned view);
/* Moves from position 0 to position `index`. */
void tn_walk_seek(const struct tn_walk *walk, uint64_t index, uint64_t *position,
		  uint64_t *address);
/* Moves to the next position; from the last one back to the first. */
void tn_walk_advance(const struct tn_walk *walk, uint64_t *position, uint64_t *address);

#endif
