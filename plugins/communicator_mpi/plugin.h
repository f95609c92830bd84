/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * communicator_openmpi.so and communicator_mpich.so: one source, compiled with the mpi.h of each.
 *
 *	plugin.c        the descriptor: create, destroy, query
 *	engine.c        MPI as a whole: whose it is, its beginning and its end
 *	call.c          calls that wait for all ranks, by time
 *	communicator.c  open, close, describe, abort
 *	peers.c         whether the other ranks of this machine live
 *	operation.c     start, test: what every rank says of an operation, and small operands
 *	chunk.c         large operands, piece by piece
 *	exchange.c      messages that are complete together
 *
 * Of MPI's own collectives none is used: an all-reduce of MPI adds in an order of its own, and a
 * request of MPI does not say whom it waits for.  Each rank sends every other rank its share and
 * adds what it gets in the order of the ranks.
 */
#ifndef MPI_PLUGIN_H
#define MPI_PLUGIN_H

#include <mpi.h>

#include "communicator/communicator.h"
#include "communicator/process.h"

struct mpi_chunk;
struct mpi_operation;

struct mpi_instance {
	const struct tn_host *host;
};

struct mpi_peer {
	struct communicator_process process;
	int32_t rank;
	int32_t reserved;
};

struct mpi_communicator {
	const struct tn_host *host;
	MPI_Comm comm;
	const char *joining; /* what join did last */
	int rank, size;
	int local_rank, local_size;
	struct mpi_peer *peers; /* of this machine, by local rank; NULL: none is watched */
	double last_look;
	int most_tag; /* of MPI */
	int next_tag; /* of the next operation; all ranks count alike */
	uint64_t n_started;
	struct mpi_operation
		*operations; /* from the oldest on; those that are done, until tested */
	struct mpi_operation *newest;
	struct mpi_chunk *spare; /* chunks of finished operations, with their memory */
	int n_chunks;            /* under way */
	tn_status status;        /* of the first failure, which `error` describes */
	struct tn_error_info error;
	/* For one call: 2 * size, 2 * size and size of them. */
	int *completed;
	MPI_Status *statuses;
	const void **operands;
};

extern const struct tn_communicator_table mpi_communicator_table;
tn_status mpi_start(void *communicator, const struct tn_collective_args *args, void **request);
tn_status mpi_test(void *communicator, void *request, struct tn_collective_state *state,
		   struct tn_error_info *error);

/* Frees operations that are done, and spare chunks, and abandons those that are under way.  1: none
 * was. */
int mpi_operations_free(struct mpi_communicator *c);

/* Records that MPI gave `code` for "a message from" or the like and that rank; the first failure
 * stays. */
tn_status mpi_fail_code(struct mpi_communicator *c, int code, int rank, const char *what);

#endif
