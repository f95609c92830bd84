/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element programs, one block of elements at a time: each instruction in order runs a loop over the
 * block that evaluates one scalar operation per element.  Values are bit patterns of 64 bits
 * whatever their dtype.
 */
#ifndef TN_REFERENCE_PROGRAM_H
#define TN_REFERENCE_PROGRAM_H

#include "reference/view.h"

/* Elements in a block: with a dozen instructions, a block's values stay in the L1 cache. */
enum { BLOCK = 128 };

/* A block of one operand, or of accumulators, and the dtype of its patterns. */
struct block_input {
	tn_dtype dtype;
	uint64_t bits[BLOCK];
};

/* A program bound to its scalars and to the shape used by INDEX and ELEMENT. */
struct runner {
	const struct tn_program *program;
	uint32_t rank;
	const int64_t *shape;
	struct block_input inputs[TN_PROGRAM_MAX_INPUTS];
	uint64_t (*values)[BLOCK]; /* one row per instruction */
};

/* Checks every opcode, dtype and number in the program and its scalars.  `rank` is the number of
 * axes that INDEX may refer to. */
tn_status tn_reference_check_program(const struct tn_call *call, const char *operation,
				     const struct tn_program *program,
				     const struct tn_scalar *scalars, uint32_t rank);

/* Can programs load and store elements of this dtype?  True for all but the complex ones. */
tn_status tn_reference_check_storage(const struct tn_call *call, const char *operation,
				     const char *name, const struct tn_operand *operand);

/* A runner on the heap; NULL when memory ran out. */
struct runner *tn_reference_runner(void *device, const struct tn_program *program,
				   const struct tn_scalar *scalars, uint32_t rank,
				   const int64_t *shape);

/* values := the program over the n elements, from number `first` on,
 * whose inputs are in `inputs`. */
void tn_reference_run(struct runner *runner, uint64_t first, size_t n);

/* Output j's patterns, and their dtype, after a run. */
const uint64_t *tn_reference_result(const struct runner *runner, uint32_t j);
tn_dtype tn_reference_result_dtype(const struct tn_program *program, uint32_t j);

/* Loads the next n elements at a cursor into a block, or stores them from patterns of `dtype`, cast
 * to the operand's. */
void tn_reference_load_block(struct block_input *block, struct cursor *from, size_t n);
void tn_reference_store_block(struct cursor *to, const uint64_t *bits, tn_dtype dtype, size_t n);

#endif
