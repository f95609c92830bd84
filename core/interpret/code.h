/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A program as steps over registers, each of which holds a block.
 */
#ifndef TN_INTERPRET_CODE_H
#define TN_INTERPRET_CODE_H

#include "interpret/block.h"
#include "interpret/nest.h"

/* Numbers of places of blocks: registers first, then no place, then views. */
#define TN_NO_PLACE 300
#define TN_VIEW_PLACE 301
#define TN_PLACES (TN_VIEW_PLACE + TN_MAX_VIEWS)

enum tn_step_kind {
	TN_STEP_CALL,   /* place[dst] := fn(place[a], place[b], place[c]) */
	TN_STEP_LOAD,   /* place[dst] := the view's tile, converted by fn */
	TN_STEP_INDEX,  /* place[dst] := the index's values */
	TN_STEP_STORE,  /* the view's tile := place[a], converted by fn */
	TN_STEP_STREAM, /* the same, bypassing the caches */
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
	TN_VALUE_OWNS = 4,    /* its place is a register reserved until its last use */
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

/* How an output's value is stored: in place by the instruction that makes it, right after it, at
 * the end of the tile, or not at all (the prologue of a reduction). */
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
	uint32_t n_live; /* a sufficient number of registers */
	uint8_t input_view[TN_PROGRAM_MAX_INPUTS];
	uint8_t output_view[TN_PROGRAM_MAX_OUTPUTS];
	uint8_t index_view[TN_MAX_RANK + 1];
	int keeps_outputs; /* a prologue: outputs are not stored */
	/* Outputs (bits) that the caller sums.  Where such a value is a product without other uses,
	 * it is not computed: the caller contracts its factors into the sum. */
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

/* Kernels: the plugin's where it has them, else the portable ones; NULL: none. */
tn_block_fn tn_code_operation(const struct tn_block_kernels *kernels, uint32_t op, int column);
tn_block_fn tn_code_cast(const struct tn_block_kernels *kernels, uint32_t from, uint32_t to);
tn_fold_fn tn_code_fold(const struct tn_block_kernels *kernels, uint32_t combiner, int column);
/* A fused multiply-add for that column that is fast enough for contraction, or NULL. */
tn_block_fn tn_code_contraction(const struct tn_block_kernels *kernels, int column);

/* Decodes the program and checks every instruction for operands of that rank. */
tn_status tn_code_scan(struct tn_code *code, const struct tn_program *program,
		       const struct tn_scalar *scalars, const struct tn_block_kernels *kernels,
		       unsigned rank, const struct tn_call *call, const char *operation);
/* Adds the views of the indices that the program uses. */
void tn_code_add_indices(struct tn_code *code, struct tn_nest *nest, unsigned rank);
/* Finds uniform values, contractions and the number of registers.  Without a nest: inputs are taken
 * as varying, and no registers are counted. */
void tn_code_analyse(struct tn_code *code, const struct tn_nest *nest);
/* Reads scalars and uniform inputs and computes all uniform values. */
void tn_code_evaluate(struct tn_code *code, const struct tn_nest *nest);

struct tn_emit {
	const struct tn_nest *nest;
	const struct tn_tile *tile;
	const struct tn_walk *walk;
	int stream; /* outputs bypass the caches where possible */
};
/* TN_INTERNAL: tn_code_analyse counted too few registers. */
tn_status tn_code_emit(struct tn_code *code, const struct tn_emit *emit,
		       struct tn_error_info *error, const char *operation);

#endif
