/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Posts receives and sends, tests whether all are complete, and names the message that failed.
 */
#include "exchange.h"

void mpi_exchange_init(const struct mpi_communicator *c, struct mpi_exchange *exchange,
		       MPI_Request *requests)
{
	exchange->requests = requests;
	exchange->n_under_way = 0;
	for (int i = 0; i < 2 * c->size; i++)
		requests[i] = MPI_REQUEST_NULL;
}

tn_status mpi_exchange_receive(struct mpi_communicator *c, struct mpi_exchange *exchange, int from,
			       void *memory, uint64_t bytes, int tag)
{
	int code;
	if (!bytes)
		return TN_OK;
	code = MPI_Irecv(memory, (int)bytes, MPI_BYTE, from, tag, c->comm,
			 &exchange->requests[from]);
	if (code)
		return mpi_fail_code(c, code, from, "a message from");
	exchange->n_under_way++;
	return TN_OK;
}

tn_status mpi_exchange_send(struct mpi_communicator *c, struct mpi_exchange *exchange, int to,
			    const void *memory, uint64_t bytes, int tag)
{
	int code;
	if (!bytes)
		return TN_OK;
	code = MPI_Isend(memory, (int)bytes, MPI_BYTE, to, tag, c->comm,
			 &exchange->requests[c->size + to]);
	if (code)
		return mpi_fail_code(c, code, to, "a message to");
	exchange->n_under_way++;
	return TN_OK;
}

/* One of the messages has failed: which, and why. */
static tn_status fail_completed(struct mpi_communicator *c, int n)
{
	for (int i = 0; i < n; i++) {
		const int code = c->statuses[i].MPI_ERROR, index = c->completed[i];
		if (code)
			return mpi_fail_code(c, code, index % c->size,
					     index < c->size ? "a message from" : "a message to");
	}
	return mpi_fail_code(c, MPI_ERR_IN_STATUS, c->rank, "a message of");
}

tn_status mpi_exchange_test(struct mpi_communicator *c, struct mpi_exchange *exchange)
{
	int n = 0, code, error_class = MPI_SUCCESS;
	if (!exchange->n_under_way)
		return TN_OK;
	code = MPI_Testsome(2 * c->size, exchange->requests, &n, c->completed, c->statuses);
	if (code)
		(void)MPI_Error_class(code, &error_class);
	if (error_class == MPI_ERR_IN_STATUS)
		return fail_completed(c, n);
	if (code)
		return mpi_fail_code(c, code, c->rank, "messages of");
	if (n != MPI_UNDEFINED)
		exchange->n_under_way -= n;
	return TN_OK;
}

uint32_t mpi_exchange_waits_for(const struct mpi_communicator *c,
				const struct mpi_exchange *exchange)
{
	for (int rank = 0; rank < c->size; rank++) {
		if (exchange->requests[rank] != MPI_REQUEST_NULL)
			return (uint32_t)rank;
	}
	return TN_RANK_UNKNOWN;
}

void mpi_exchange_abandon(const struct mpi_communicator *c, struct mpi_exchange *exchange)
{
	for (int i = 0; i < 2 * c->size; i++) {
		if (exchange->requests[i] == MPI_REQUEST_NULL)
			continue;
		if (i < c->size)
			(void)MPI_Cancel(&exchange->requests[i]);
		(void)MPI_Request_free(&exchange->requests[i]);
	}
}
