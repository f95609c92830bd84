/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Messages to and from other ranks that are complete together: at most one from and one to each.
 */
#ifndef MPI_EXCHANGE_H
#define MPI_EXCHANGE_H

#include "plugin.h"

struct mpi_exchange {
	MPI_Request *requests; /* size receives, then size sends; MPI_REQUEST_NULL: none */
	int n_under_way;
};

void mpi_exchange_init(const struct mpi_communicator *c, struct mpi_exchange *exchange,
		       MPI_Request *requests);

/* Of `bytes` <= INT_MAX; nothing for 0, which both sides know. */
tn_status mpi_exchange_receive(struct mpi_communicator *c, struct mpi_exchange *exchange, int from,
			       void *memory, uint64_t bytes, int tag);
tn_status mpi_exchange_send(struct mpi_communicator *c, struct mpi_exchange *exchange, int to,
			    const void *memory, uint64_t bytes, int tag);

/* Looks which messages are complete. */
tn_status mpi_exchange_test(struct mpi_communicator *c, struct mpi_exchange *exchange);

/* Takes back what is not complete, as far as MPI allows: it may still read memory that is sent, and
 * write a message that it has begun to receive. */
void mpi_exchange_abandon(const struct mpi_communicator *c, struct mpi_exchange *exchange);

/* The lowest rank from which a message is missing; TN_RANK_UNKNOWN: none. */
uint32_t mpi_exchange_waits_for(const struct mpi_communicator *c,
				const struct mpi_exchange *exchange);

#endif
