/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parts of the interpreter, in the order in which a call goes through them:
 *
 *   check    the arguments obey the rules of backend.h
 *   scan     every instruction is known, typed and has a kernel
 *   nest     operands and indices become views over one nest of loops; axes are dropped and merged
 *   analyse  which values are uniform (one value for the whole call), which are contracted
 *   tile     the nest is cut into tiles of at most a block; walks visit them
 *   emit     instructions become steps over registers, each a block
 *   run      steps are run for every tile
 *
 * All of a plan lies on the caller's stack; nothing is kept past the call.
 */
#ifndef TN_INTERPRET_PLAN_H
#define TN_INTERPRET_PLAN_H

#include "base/error.h"
#include "interpret/block.h"

/* Inputs, outputs and indices of a prologue and an epilogue, and accumulators: at most 58. */
#define TN_MAX_VIEWS 64
/* The most elements of a tile. */
#define TN_MAX_BLOCK 1024
/* The bytes of a thread's registers: within the first cache, whatever the program. */
#define TN_ARENA_BYTES 24576
/* What the arena holds in the worst case: 257 registers of 16 elements of 8 bytes, padding, and the
 * accumulators. */
#define TN_ARENA_LIMIT 65536

/* ---- Views and loops -------------------------------------------------------------------------*/

/* An operand as the loops see it, or an index: a "view" whose address is its value. */
struct tn_view {
	uint64_t start;  /* the address of the first element */
	uint32_t dtype;  /* 0: an index */
	uint32_t size;   /* bytes of an element; 1 for an index */
	uint32_t varies; /* its address changes though no stride says so */
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

/* Adds an operand; returns its number.  Axes that it lacks at the end get stride 0. */
unsigned tn_nest_add_operand(struct tn_nest *nest, const struct tn_operand *operand);
/* Adds the index along an axis, or with axis == TN_MAX_RANK the element's number in the first `rank`
 * axes. */
unsigned tn_nest_add_index(struct tn_nest *nest, unsigned axis, unsigned rank);
/* Adds a view whose address the runner sets, of stride 0 everywhere. */
unsigned tn_nest_add_block(struct tn_nest *nest, uint32_t dtype);

/* Drops axes of length 1, orders each group of axes by the strides of views [first, end) (largest
 * first; the reduced ones only if `order_reduced`) and merges neighbours where all views allow it. */
void tn_nest_simplify(struct tn_nest *nest, unsigned first, unsigned end, int order_reduced);

/* The elements of axes [first, end). */
uint64_t tn_nest_count(const struct tn_nest *nest, unsigned first, unsigned end);

/* A tile: tx by ty elements of axes x and y; an axis of -1 is not there, its length is 1. */
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
/* Goes from position 0 to position `index`. */
void tn_walk_seek(const struct tn_walk *walk, uint64_t index, uint64_t *position,
		  uint64_t *address);
/* To the next position; from the last one back to the first. */
void tn_walk_advance(const struct tn_walk *walk, uint64_t *position, uint64_t *address);

/* ---- Checks ----------------------------------------------------------------------------------*/

#define TN_KNOWN_FLAGS (TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC | TN_ACCUMULATE)

/* Copies arguments of any accepted size into *own (zero where theirs end). */
tn_status tn_check_call(const void *theirs, void *own, size_t own_size, const char *operation);
/* A plugin's table as this version knows it: theirs, or their shorter one extended in *own. */
const struct tn_block_kernels *tn_check_kernels(const struct tn_block_kernels *theirs,
						struct tn_block_kernels *own);
/* Counts within limits and arrays there. */
tn_status tn_check_program(const struct tn_program *program, const struct tn_call *call,
			   const char *operation);
/* A known dtype, an aligned address, a rank and a shape whose sizes can be counted. */
tn_status tn_check_operand(const struct tn_operand *operand, const char *role, unsigned number,
			   int is_output, const struct tn_call *call, const char *operation);
/* The first `rank` lengths of both are equal. */
tn_status tn_check_shape(const struct tn_operand *operand, const struct tn_operand *model,
			 unsigned rank, const char *role, unsigned number,
			 const struct tn_call *call, const char *operation);
tn_status tn_check_scalars(const struct tn_scalar *scalars, uint32_t n, const struct tn_call *call,
			   const char *operation);

/* ---- Code ------------------------------------------------------------------------------------*/

/* Places of blocks: registers first, then nothing, then views. */
#define TN_NO_PLACE 300
#define TN_VIEW_PLACE 301
#define TN_PLACES (TN_VIEW_PLACE + TN_MAX_VIEWS)

enum tn_step_kind {
	TN_STEP_CALL,   /* place[dst] := fn(place[a], place[b], place[c]) */
	TN_STEP_LOAD,   /* place[dst] := the view's tile, converted by fn */
	TN_STEP_INDEX,  /* place[dst] := the index's values */
	TN_STEP_STORE,  /* the view's tile := place[a], converted by fn */
	TN_STEP_STREAM, /* the same past the caches */
};

struct tn_step {
	tn_block_fn fn;
	uint8_t kind, view;
	uint8_t from_size, to_size; /* bytes of an element before and after fn */
	uint16_t dst, a, b, c;
};

enum {
	TN_VALUE_UNIFORM = 1, /* one value for all elements */
	TN_VALUE_FILLED = 2,  /* uniform, and needed as a block */
	TN_VALUE_OWNS = 4,    /* its place is a register that is its own until its last use */
};

struct tn_value {
	tn_block_fn fn;
	uint16_t op, dtype;
	uint16_t a, b, c;
	uint16_t n_uses, last;
	uint16_t place;
	uint8_t arity, size, flags;
};

struct tn_fill {
	uint16_t place, value;
};

/* How an output's value leaves: written in place by the instruction that makes it, stored right
 * after it, stored at the end of the tile, or kept (the prologue of a reduction). */
enum tn_leave { TN_LEAVE_IN_PLACE, TN_LEAVE_AT_ONCE, TN_LEAVE_AT_END, TN_LEAVE_KEPT };

struct tn_code {
	const struct tn_program *program;
	const struct tn_scalar *scalars;
	const struct tn_block_kernels *kernels; /* the plugin's, or NULL */
	const char *operation;
	unsigned n_values;
	uint32_t axes;  /* bit a: uses the index of axis a; bit TN_MAX_RANK: the element's number */
	uint32_t draws; /* uses random numbers */
	uint32_t cost;  /* of one element, in additions */
	uint32_t width; /* bytes of the widest block element */
	uint32_t n_live; /* registers that suffice */
	uint8_t input_view[TN_PROGRAM_MAX_INPUTS];
	uint8_t output_view[TN_PROGRAM_MAX_OUTPUTS];
	uint8_t index_view[TN_MAX_RANK + 1];
	int keeps_outputs; /* a prologue: outputs are not stored */
	/* Outputs (bits) that their user adds up.  Where such a value is a product that nothing else
	 * uses, it is not computed: the user contracts its factors into the sum. */
	uint32_t summed, contracted;
	uint16_t factor_a[TN_PROGRAM_MAX_OUTPUTS], factor_b[TN_PROGRAM_MAX_OUTPUTS];

	uint32_t n_registers, n_fills, n_prelude, n_steps;
	uint16_t scratch;
	uint16_t out_place[TN_PROGRAM_MAX_OUTPUTS];
	int64_t stride_x[TN_MAX_VIEWS], stride_y[TN_MAX_VIEWS];
	struct tn_value value[TN_PROGRAM_MAX_INSTRUCTIONS];
	uint64_t uniform[TN_PROGRAM_MAX_INSTRUCTIONS];
	struct tn_fill fill[TN_PROGRAM_MAX_INSTRUCTIONS];
	struct tn_step prelude[TN_PROGRAM_MAX_INSTRUCTIONS];
	struct tn_step step[TN_PROGRAM_MAX_INSTRUCTIONS + TN_PROGRAM_MAX_OUTPUTS];
};

/* Kernels: the plugin's where it has them, else the portable ones; NULL: there is none. */
tn_block_fn tn_code_operation(const struct tn_block_kernels *kernels, uint32_t op, int column);
tn_block_fn tn_code_cast(const struct tn_block_kernels *kernels, uint32_t from, uint32_t to);
tn_fold_fn tn_code_fold(const struct tn_block_kernels *kernels, uint32_t combiner, int column);
/* A fused multiply-add for that column that is worth a contraction, or NULL. */
tn_block_fn tn_code_contraction(const struct tn_block_kernels *kernels, int column);

/* Takes the program apart and checks every instruction for operands of that rank. */
tn_status tn_code_scan(struct tn_code *code, const struct tn_program *program,
		       const struct tn_scalar *scalars, const struct tn_block_kernels *kernels,
		       unsigned rank, const struct tn_call *call, const char *operation);
/* Adds the views of the indices that the program uses. */
void tn_code_add_indices(struct tn_code *code, struct tn_nest *nest, unsigned rank);
/* Finds uniform values, contractions and the number of registers.  Without a nest: inputs are taken as
 * varying, and no registers are counted. */
void tn_code_analyse(struct tn_code *code, const struct tn_nest *nest);
/* Reads scalars and uniform inputs and computes all uniform values. */
void tn_code_evaluate(struct tn_code *code, const struct tn_nest *nest);

/* Does the whole call when it is small and its operands are compact: 1 when it did. */
int tn_small_map(struct tn_code *code, const struct tn_map_args *args);

struct tn_emit {
	const struct tn_nest *nest;
	const struct tn_tile *tile;
	const struct tn_walk *walk;
	int stream; /* outputs go past the caches where they can */
};
void tn_code_emit(struct tn_code *code, const struct tn_emit *emit);

/* ---- Running ---------------------------------------------------------------------------------*/

/* One thread's state for one code. */
struct tn_machine {
	const struct tn_code *code;
	void *place[TN_PLACES];
};

/* Bytes between registers for blocks of n elements. */
size_t tn_machine_slot(const struct tn_code *code, size_t n);
/* Lays registers out from `arena` on and returns where they end; fills the uniform ones for n
 * elements. */
unsigned char *tn_machine_init(struct tn_machine *machine, const struct tn_code *code,
			       unsigned char *arena, size_t n);
/* The addresses of views; they are numbers until a step uses them. */
static inline uint64_t *tn_machine_address(struct tn_machine *machine)
{
	return (uint64_t *)&machine->place[TN_VIEW_PLACE];
}
/* Runs what does not change from tile to tile; views are at the first one. */
void tn_machine_prepare(struct tn_machine *machine, size_t nx, size_t ny);
void tn_machine_run(struct tn_machine *machine, size_t nx, size_t ny);

/* ---- Moves of tiles --------------------------------------------------------------------------
 *
 * A compact tile is nx * ny elements, row by row.  Sizes are 1, 2, 4 or 8 bytes, strides are bytes. */

void tn_move_fill(void *dst, const void *element, size_t size, size_t n);
void tn_move_gather(void *dst, const void *src, size_t size, int64_t stride_x, int64_t stride_y,
		    size_t nx, size_t ny);
void tn_move_scatter(void *dst, int64_t stride_x, int64_t stride_y, const void *src, size_t size,
		     size_t nx, size_t ny);

/* ---- Largest and smallest with their number ---------------------------------------------------*/

/* For each i: if value[i] beats best[i] (or `first`), best[i] := value[i] and at[i] := step. */
typedef void (*tn_extreme_step_fn)(void *best, int32_t *at, const void *value, int32_t step,
				   size_t n, int first);
/* The same for one best and n values with the numbers number, number + 1, ... */
typedef void (*tn_extreme_fold_fn)(void *best, int64_t *index, const void *value, int64_t number,
				   size_t n, int first, tn_fold_fn fold);
/* For each i: the other's best with the other's index, if it beats this one. */
typedef void (*tn_extreme_join_fn)(void *best, int64_t *index, const void *other,
				   const int64_t *other_index, size_t n);

struct tn_extreme {
	tn_extreme_step_fn step;
	tn_extreme_fold_fn fold;
	tn_extreme_join_fn join;
};

/* largest: 1 for ARGMAX, 0 for ARGMIN. */
const struct tn_extreme *tn_extreme_kernels(int column, int largest);

#endif
