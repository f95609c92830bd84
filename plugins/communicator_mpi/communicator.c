/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens and closes a communicator on a duplicate of MPI_COMM_WORLD, and describes and aborts its
 * ranks.
 */
#include <unistd.h>

#include "engine.h"
#include "peers.h"

/* ---- Joining ---------------------------------------------------------------------------------*/

/* MPI_COMM_WORLD's errors end the program, unless it has said otherwise; a duplicate inherits how
 * they are handled. */
static int duplicate_world(MPI_Comm *comm)
{
	MPI_Errhandler before = MPI_ERRHANDLER_NULL;
	int code = MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
	if (code)
		return code;
	(void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	code = MPI_Comm_dup(MPI_COMM_WORLD, comm);
	(void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
	(void)MPI_Errhandler_free(&before);
	return code;
}

/* The ranks of this machine. */
static int find_local(struct mpi_communicator *c)
{
	MPI_Comm local = MPI_COMM_NULL;
	int code =
		MPI_Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &local);
	if (!code)
		code = MPI_Comm_rank(local, &c->local_rank);
	if (!code)
		code = MPI_Comm_size(local, &c->local_size);
	if (!code)
		code = mpi_peers_exchange(c, local);
	if (local != MPI_COMM_NULL)
		(void)MPI_Comm_free(&local);
	return code;
}

static int find_most_tag(struct mpi_communicator *c)
{
	const int *most = NULL;
	int is_there = 0;
	const int code = MPI_Comm_get_attr(c->comm, MPI_TAG_UB, (void *)&most, &is_there);
	/* What the standard promises. */
	c->most_tag = !code && is_there ? *most : 32767;
	return code;
}

/* A code of MPI, and what gave it. */
static int join(void *argument)
{
	struct mpi_communicator *c = argument;
	int code = duplicate_world(&c->comm);
	if (code) {
		c->joining = "MPI_Comm_dup";
		return code;
	}
	c->joining = "the communicator's ranks";
	code = MPI_Comm_rank(c->comm, &c->rank);
	if (!code)
		code = MPI_Comm_size(c->comm, &c->size);
	if (!code)
		code = find_local(c);
	if (!code)
		code = find_most_tag(c);
	return code;
}

static tn_status take_room(struct mpi_communicator *c, struct tn_error_info *error)
{
	const size_t size = (size_t)c->size;
	c->completed = tn_plugin_alloc(c->host, 2 * size * sizeof(*c->completed));
	c->statuses = tn_plugin_alloc(c->host, 2 * size * sizeof(*c->statuses));
	c->operands = tn_plugin_alloc(c->host, size * sizeof(*c->operands));
	if (c->completed && c->statuses && c->operands)
		return TN_OK;
	return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "open", "no memory for %d ranks", c->size);
}

static void leave(struct mpi_communicator *c)
{
	if (c->comm != MPI_COMM_NULL)
		(void)MPI_Comm_free(&c->comm);
	mpi_peers_release(c);
	tn_plugin_free(c->host, c->completed);
	tn_plugin_free(c->host, c->statuses);
	tn_plugin_free(c->host, c->operands);
	tn_plugin_free(c->host, c);
}

static tn_status open_communicator(void *instance, const struct tn_communicator_open_args *args,
				   void **communicator)
{
	const struct mpi_instance *own = instance;
	struct tn_communicator_open_args given;
	struct mpi_communicator *c;
	int code = 0;
	tn_status status = tn_plugin_take(&given, sizeof(given), args, 0, "open");
	if (!status)
		status = mpi_engine_begin(own->host, given.call.error);
	if (status)
		return status;
	c = tn_plugin_alloc(own->host, sizeof(*c));
	if (!c)
		return tn_plugin_fail(given.call.error, TN_OUT_OF_MEMORY, "open",
				      "no memory for a communicator");
	c->host = own->host;
	c->comm = MPI_COMM_NULL;
	c->error.struct_size = sizeof(c->error);
	status = mpi_engine_call(own->host, "MPI_Comm_dup", join, c, &code, given.call.error);
	if (status)
		return status; /* MPI has the communicator, and keeps it */
	if (code)
		status = mpi_engine_fail(given.call.error, code, "open", c->joining);
	if (!status)
		status = take_room(c, given.call.error);
	if (status) {
		leave(c);
		return status;
	}
	*communicator = c;
	return TN_OK;
}

/* ---- Leaving ---------------------------------------------------------------------------------*/

/* MPI keeps what is under way, and would wait for it at its end. */
static void close_communicator(void *communicator)
{
	struct mpi_communicator *c = communicator;
	if (!mpi_operations_free(c) || c->status) {
		mpi_engine_abandon();
		c->comm = MPI_COMM_NULL;
	}
	leave(c);
}

static void abort_ranks(void *communicator, int32_t code, const char *reason)
{
	const struct mpi_communicator *c = communicator;
	(void)reason;
	(void)MPI_Abort(c->comm, code);
}

/* ---- Description -----------------------------------------------------------------------------*/

static tn_status describe(void *communicator, struct tn_communicator_description *description)
{
	const struct mpi_communicator *c = communicator;
	struct tn_communicator_description own = {.flags = TN_COMMUNICATOR_ORDERED};
	own.rank = (uint32_t)c->rank;
	own.size = (uint32_t)c->size;
	own.local_rank = (uint32_t)c->local_rank;
	own.local_size = (uint32_t)c->local_size;
	if (gethostname(own.host, sizeof(own.host) - 1))
		own.host[0] = '\0';
	mpi_engine_describe(own.engine, sizeof(own.engine));
	tn_struct_answer(description, &own, sizeof(own));
	return TN_OK;
}

const struct tn_communicator_table mpi_communicator_table = {
	.struct_size = sizeof(struct tn_communicator_table),
	.open = open_communicator,
	.close = close_communicator,
	.describe = describe,
	.start = mpi_start,
	.test = mpi_test,
	.abort = abort_ranks,
};
