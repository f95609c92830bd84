/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A large operation goes chunk by chunk, a few at a time, so that adding overlaps with messages and
 * staging memory has a limit.  The elements of a chunk are in segments, one for each rank, of at
 * most MPI_SEGMENT bytes.  A chunk has two stages:
 *
 *	scatter   Each rank gets its own segment: of an all_reduce and a reduce_scatter from all
 *	          ranks, which it combines in their order; of a broadcast from the root.
 *	gather    Each rank sends its own segment to all: not in a reduce_scatter.
 *
 * So a rank sends and receives 2 (size - 1) / size of the bytes of an all_reduce, as in a ring, but
 * in two steps.
 */
#ifndef MPI_CHUNK_H
#define MPI_CHUNK_H

#include "exchange.h"

#define MPI_SEGMENT (UINT64_C(256) << 10)

struct mpi_chunk {
	struct mpi_chunk *next;
	/* The elements: of an all_reduce and a broadcast [at, at + n) of the whole, of the others
	 * that part of each rank's operand. */
	uint64_t at, n;
	int tag; /* and the next one, for the second stage */
	int stage;
	int is_sent, is_received; /* of this stage: has been handed to MPI */
	struct mpi_exchange messages;
	char *staging; /* size segments; NULL: not needed yet */
};

/* How many chunks the elements of an operation of `n` elements of `item` bytes need. */
uint64_t mpi_chunk_count(const struct mpi_communicator *c, uint32_t operation, uint64_t n,
			 uint64_t item);

/* Chunk `number` of the operation; its messages have tag and tag + 1. */
tn_status mpi_chunk_start(struct mpi_communicator *c, const struct tn_collective_args *args,
			  uint64_t number, int tag, struct mpi_chunk **chunk);

/* Goes as far as the messages that have come allow.  Nothing is received before the ranks have
 * agreed on the operation. */
tn_status mpi_chunk_advance(struct mpi_communicator *c, const struct tn_collective_args *args,
			    struct mpi_chunk *chunk, int is_agreed);
int mpi_chunk_is_done(const struct mpi_chunk *chunk);

/* For other chunks; and in the end. */
void mpi_chunk_spare(struct mpi_communicator *c, struct mpi_chunk *chunk);
void mpi_chunk_free_spare(struct mpi_communicator *c);

#endif
