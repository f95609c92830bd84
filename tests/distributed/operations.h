/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operations of a communicator with operands whose results are known bit by bit.
 */
#ifndef TN_TESTS_OPERATIONS_H
#define TN_TESTS_OPERATIONS_H

#include "distributed/ranks.h"

/* An operation with its operands, as one rank has it. */
struct operation {
	struct tn_collective_args args;
	int in_place;
	unsigned seed;         /* of the elements */
	unsigned char *memory; /* of the operands */
};

/* Makes the operands; `args` has operation, combiner, dtype, root and n. */
void operation_make(struct operation *operation, const struct rank *rank,
		    const struct tn_collective_args *args, int in_place, unsigned seed);
/* Compares the target with what it must be, and the source with what it was, and frees both. */
void operation_check(struct operation *operation, const struct rank *rank);

/* Every operation, dtype and combiner with these numbers of elements, in place and not. */
void operations_run(struct rank *rank, const uint64_t *lengths, unsigned n_lengths);
/* `n` operations of all kinds, of up to `longest` elements, are under way at once, and are asked
 * for in an order of the rank's own. */
void operations_run_together(struct rank *rank, unsigned n, uint64_t longest);

#endif
