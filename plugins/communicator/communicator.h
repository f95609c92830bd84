/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What communicators have in common: which operations there are, and the arithmetic of reductions.
 *
 *	check.c     arguments of `start`; operations in words
 *	combine.c   sums, maxima and minima in the order of the ranks
 *	timeout.c   the variable with the longest wait
 */
#ifndef COMMUNICATOR_H
#define COMMUNICATOR_H

#include <tenon/communicator.h>
#include <tenon/plugin.h>

/* ---- Operations ------------------------------------------------------------------------------*/

/* What all ranks give alike: what is compared between them. */
struct communicator_header {
	uint32_t operation;
	uint32_t combiner;
	uint32_t dtype;
	uint32_t root;
	uint64_t n;
};

/* "all_reduce", or "collective" for an unknown operation. */
const char *communicator_operation_name(uint32_t operation);
/* "f32", or "?". */
const char *communicator_dtype_name(uint32_t dtype);

int communicator_is_reduction(uint32_t operation);

/* "all_reduce(sum of 100 f32)", as much of it as `size` bytes hold. */
void communicator_describe_header(const struct communicator_header *header, char *text,
				  size_t size);

/* Copies and checks the arguments of `start`.  TN_UNSUPPORTED: not an operation of
 * <tenon/communicator.h> with its dtypes, or operands that overlap in another way than in place.
 * TN_INVALID_ARGUMENT: an operand is missing, or root is not a rank. */
tn_status communicator_take(struct tn_collective_args *own, const struct tn_collective_args *theirs,
			    uint32_t rank, uint32_t size);

/* Of checked arguments. */
struct communicator_header communicator_header_of(const struct tn_collective_args *args);

/* ---- Waiting ---------------------------------------------------------------------------------*/

/* The seconds of TENON_COMMUNICATOR_TIMEOUT, which is NULL or "" if it is not set: then 300.  0: it
 * is not a finite number above 0. */
int communicator_read_timeout(const char *text, double *seconds);

/* ---- Reductions ------------------------------------------------------------------------------*/

/* target[i] := ((sources[0][i] o sources[1][i]) o sources[2][i]) ... for i < n.  f16 and bf16 are
 * combined in f32 and rounded once, at the end.  `dtype` and `combiner` are those of a checked
 * operation; `target` may be one of the sources, and otherwise overlaps none. */
void communicator_combine(void *target, const void *const *sources, uint32_t n_sources, uint64_t n,
			  tn_dtype dtype, uint32_t combiner);

#endif
