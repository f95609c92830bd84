/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An operation begins with letters: each rank tells every other one what it starts, and with it
 * the whole operand if that is small.  So ranks that disagree find it out, all of them, before an
 * operand is received into memory of another size; a barrier is done with that; and a number that
 * is averaged over the ranks costs one message to each.
 */
#include "chunk.h"
#include "engine.h"
#include "exchange.h"
#include "peers.h"

/* Chunks under way at once, of all operations.  All ranks start them in one order, so that the
 * oldest one is under way everywhere. */
enum { MOST_CHUNKS = 8 };

struct letter {
	uint64_t number; /* of the operation, from 1 */
	struct communicator_header header;
	char operand[992];
};

struct mpi_operation {
	struct mpi_operation *next;
	struct tn_collective_args args;
	struct mpi_exchange letters;
	struct letter *received; /* by rank; this one's own among them */
	int tag;                 /* of letters; chunk i has tag + 1 + 2 i and the next one */
	int is_small;            /* letters hold the operands */
	int is_agreed;           /* the letters are there, and say the same */
	int is_done;
	uint64_t n_chunks, n_started, n_done;
	struct mpi_chunk *chunks; /* under way, from the oldest on */
};

/* ---- Failures --------------------------------------------------------------------------------*/

static tn_status keep(struct mpi_communicator *c, tn_status status)
{
	if (!c->status)
		c->status = status;
	return c->status;
}

tn_status mpi_fail_code(struct mpi_communicator *c, int code, int rank, const char *what)
{
	char text[64];
	(void)snprintf(text, sizeof(text), "rank %d: %s rank %d", c->rank, what, rank);
	return mpi_engine_fail(&c->error, code, "collective", text);
}

/* Rank `other` starts something else. */
static tn_status fail_agreement(struct mpi_communicator *c, const struct letter *own,
				const struct letter *theirs, int other)
{
	char own_text[96], their_text[96];
	communicator_describe_header(&own->header, own_text, sizeof(own_text));
	communicator_describe_header(&theirs->header, their_text, sizeof(their_text));
	return tn_plugin_fail(
		&c->error, TN_STATE, communicator_operation_name(own->header.operation),
		"the ranks disagree in operation %llu: rank %d starts %s, rank %d starts %s",
		(unsigned long long)own->number, c->rank, own_text, other, their_text);
}

/* ---- Letters ---------------------------------------------------------------------------------*/

/* What a letter would have to hold: the operand that others need. */
static uint64_t letter_bytes(const struct mpi_communicator *c,
			     const struct tn_collective_args *args)
{
	const uint64_t n = args->n * tn_dtype_size(args->dtype);
	return args->operation == TN_COLLECTIVE_REDUCE_SCATTER ? n * (uint64_t)c->size : n;
}

static tn_status send_letters(struct mpi_communicator *c, struct mpi_operation *operation)
{
	const struct tn_collective_args *args = &operation->args;
	const int is_broadcast = args->operation == TN_COLLECTIVE_BROADCAST;
	struct letter *own = &operation->received[c->rank];
	uint64_t bytes = operation->is_small ? letter_bytes(c, args) : 0;
	tn_status status = TN_OK;
	own->number = c->n_started;
	own->header = communicator_header_of(args);
	if (is_broadcast && (int)args->root != c->rank)
		bytes = 0;
	if (bytes)
		memcpy(own->operand, is_broadcast ? args->target : args->source, bytes);
	for (int i = 1; i < c->size && !status; i++) {
		const int to = (c->rank + i) % c->size, from = (c->rank + c->size - i) % c->size;
		status = mpi_exchange_receive(c, &operation->letters, from,
					      &operation->received[from], sizeof(struct letter),
					      operation->tag);
		if (!status)
			status = mpi_exchange_send(c, &operation->letters, to, own,
						   offsetof(struct letter, operand) + bytes,
						   operation->tag);
	}
	return status;
}

static tn_status check_letters(struct mpi_communicator *c, struct mpi_operation *operation)
{
	const struct letter *own = &operation->received[c->rank];
	for (int rank = 0; rank < c->size; rank++) {
		const struct letter *theirs = &operation->received[rank];
		if (theirs->number != own->number ||
		    memcmp(&theirs->header, &own->header, sizeof(own->header)))
			return fail_agreement(c, own, theirs, rank);
	}
	operation->is_agreed = 1;
	return TN_OK;
}

/* The result of an operation whose operands the letters hold. */
static void finish_small(struct mpi_communicator *c, const struct mpi_operation *operation)
{
	const struct tn_collective_args *args = &operation->args;
	const uint64_t bytes = args->n * tn_dtype_size(args->dtype);
	const int is_scatter = args->operation == TN_COLLECTIVE_REDUCE_SCATTER;
	for (int rank = 0; rank < c->size && bytes; rank++) {
		const char *operand = operation->received[rank].operand;
		c->operands[rank] = operand + (is_scatter ? (uint64_t)c->rank * bytes : 0);
		if (args->operation == TN_COLLECTIVE_ALL_GATHER)
			memcpy((char *)args->target + (uint64_t)rank * bytes, operand, bytes);
		if (args->operation == TN_COLLECTIVE_BROADCAST && (int)args->root == rank)
			memcpy(args->target, operand, bytes);
	}
	if (communicator_is_reduction(args->operation) && bytes)
		communicator_combine(args->target, c->operands, (uint32_t)c->size, args->n,
				     args->dtype, args->combiner);
}

/* ---- Progress --------------------------------------------------------------------------------*/

static tn_status start_chunks(struct mpi_communicator *c, struct mpi_operation *operation)
{
	struct mpi_chunk **last = &operation->chunks;
	while (*last)
		last = &(*last)->next;
	while (operation->n_started < operation->n_chunks && c->n_chunks < MOST_CHUNKS) {
		const int tag = operation->tag + 1 + 2 * (int)operation->n_started;
		tn_status status =
			mpi_chunk_start(c, &operation->args, operation->n_started, tag, last);
		if (status)
			return status;
		last = &(*last)->next;
		operation->n_started++;
		c->n_chunks++;
	}
	return TN_OK;
}

static tn_status advance_chunks(struct mpi_communicator *c, struct mpi_operation *operation)
{
	struct mpi_chunk **place = &operation->chunks;
	while (*place) {
		struct mpi_chunk *chunk = *place;
		tn_status status =
			mpi_chunk_advance(c, &operation->args, chunk, operation->is_agreed);
		if (status)
			return status;
		if (!mpi_chunk_is_done(chunk)) {
			place = &chunk->next;
			continue;
		}
		*place = chunk->next;
		mpi_chunk_spare(c, chunk);
		operation->n_done++;
		c->n_chunks--;
	}
	return TN_OK;
}

static tn_status advance(struct mpi_communicator *c, struct mpi_operation *operation)
{
	tn_status status = mpi_exchange_test(c, &operation->letters);
	if (!status && !operation->is_agreed &&
	    mpi_exchange_waits_for(c, &operation->letters) == TN_RANK_UNKNOWN)
		status = check_letters(c, operation);
	if (!status)
		status = start_chunks(c, operation);
	if (!status)
		status = advance_chunks(c, operation);
	if (status)
		return status;
	if (operation->is_agreed && !operation->letters.n_under_way &&
	    operation->n_done == operation->n_chunks) {
		if (operation->is_small)
			finish_small(c, operation);
		operation->is_done = 1;
	}
	return TN_OK;
}

static tn_status progress(struct mpi_communicator *c)
{
	struct mpi_operation *operation = c->operations;
	tn_status status = TN_OK;
	for (; operation && !status; operation = operation->next) {
		if (!operation->is_done)
			status = advance(c, operation);
	}
	return status ? keep(c, status) : TN_OK;
}

/* ---- Entries ---------------------------------------------------------------------------------*/

/* The tags of an operation, counted alike by all ranks; 0 of them left: from the first on again. */
static tn_status take_tags(struct mpi_communicator *c, struct mpi_operation *operation)
{
	const uint64_t most = (uint64_t)c->most_tag, needed = 1 + 2 * operation->n_chunks;
	if (operation->n_chunks > most / 2 || needed > most)
		return tn_plugin_fail(operation->args.call.error, TN_UNSUPPORTED,
				      communicator_operation_name(operation->args.operation),
				      "%llu elements are too many messages: MPI has %d tags",
				      (unsigned long long)operation->args.n, c->most_tag);
	if ((uint64_t)c->next_tag + needed > most)
		c->next_tag = 0;
	operation->tag = c->next_tag;
	c->next_tag += (int)needed;
	return TN_OK;
}

static struct mpi_operation *make(struct mpi_communicator *c)
{
	const size_t size = (size_t)c->size, letters = size * sizeof(struct letter);
	const size_t bytes = sizeof(struct mpi_operation) + 2 * size * sizeof(MPI_Request);
	struct mpi_operation *operation = tn_plugin_alloc(c->host, bytes);
	if (!operation)
		return NULL;
	operation->received = c->host->alloc(c->host->context, letters, 0);
	if (!operation->received) {
		tn_plugin_free(c->host, operation);
		return NULL;
	}
	mpi_exchange_init(c, &operation->letters, (MPI_Request *)(operation + 1));
	return operation;
}

static void release(struct mpi_communicator *c, struct mpi_operation *operation)
{
	tn_plugin_free(c->host, operation->received);
	tn_plugin_free(c->host, operation);
}

static void append(struct mpi_communicator *c, struct mpi_operation *operation)
{
	if (c->newest)
		c->newest->next = operation;
	else
		c->operations = operation;
	c->newest = operation;
}

static void remove_operation(struct mpi_communicator *c, struct mpi_operation *operation)
{
	struct mpi_operation **place = &c->operations, *before = NULL;
	while (*place != operation) {
		before = *place;
		place = &before->next;
	}
	*place = operation->next;
	if (c->newest == operation)
		c->newest = before;
}

static tn_status answer_failure(const struct mpi_communicator *c, struct tn_error_info *error)
{
	if (error)
		tn_struct_answer(error, &c->error, sizeof(c->error));
	return c->status;
}

tn_status mpi_start(void *communicator, const struct tn_collective_args *args, void **request)
{
	struct mpi_communicator *c = communicator;
	struct tn_collective_args own;
	struct mpi_operation *operation;
	tn_status status = communicator_take(&own, args, (uint32_t)c->rank, (uint32_t)c->size);
	if (status)
		return status;
	if (c->status)
		return answer_failure(c, own.call.error);
	operation = make(c);
	if (!operation)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY,
				      communicator_operation_name(own.operation),
				      "no memory for %d letters", c->size);
	operation->args = own;
	operation->is_small = letter_bytes(c, &own) <= sizeof(operation->received->operand);
	if (!operation->is_small)
		operation->n_chunks =
			mpi_chunk_count(c, own.operation, own.n, tn_dtype_size(own.dtype));
	status = take_tags(c, operation);
	if (status) {
		release(c, operation);
		return status;
	}
	operation->args.call.error = NULL;
	c->n_started++;
	append(c, operation);
	status = send_letters(c, operation);
	if (status)
		(void)keep(c, status);
	else
		status = progress(c);
	if (status)
		return answer_failure(c, own.call.error);
	*request = operation;
	return TN_OK;
}

static uint32_t waits_for(const struct mpi_communicator *c, const struct mpi_operation *operation)
{
	uint32_t rank = mpi_exchange_waits_for(c, &operation->letters);
	const struct mpi_chunk *chunk = operation->chunks;
	for (; chunk && rank == TN_RANK_UNKNOWN; chunk = chunk->next)
		rank = mpi_exchange_waits_for(c, &chunk->messages);
	return rank;
}

/* A rank of this machine has ended: what it had sent before counts, if that can be had without
 * asking it for more, as large operands do. */
static tn_status check_peers(struct mpi_communicator *c, const struct mpi_operation *operation)
{
	enum { TRIES = 8 };
	char text[160];
	tn_status status = TN_OK;
	if (!mpi_peers_look(c, text, sizeof(text)))
		return TN_OK;
	for (int i = 0; i < TRIES && !operation->n_chunks && !operation->is_done && !status; i++)
		status = progress(c);
	if (status || operation->is_done)
		return status;
	return keep(c, tn_plugin_fail(&c->error, TN_PEER_LOST,
				      communicator_operation_name(operation->args.operation), "%s",
				      text));
}

tn_status mpi_test(void *communicator, void *request, struct tn_collective_state *state,
		   struct tn_error_info *error)
{
	struct mpi_communicator *c = communicator;
	struct mpi_operation *operation = request;
	struct tn_collective_state answer = {0};
	if (c->status || check_peers(c, operation) || progress(c))
		return answer_failure(c, error);
	answer.is_done = (uint32_t)operation->is_done;
	answer.waits_for = operation->is_done ? TN_RANK_UNKNOWN : waits_for(c, operation);
	tn_struct_answer(state, &answer, sizeof(answer));
	if (operation->is_done) {
		remove_operation(c, operation);
		release(c, operation);
	}
	return TN_OK;
}

/* Its memory stays, since MPI may still use it. */
static void abandon(struct mpi_communicator *c, struct mpi_operation *operation)
{
	mpi_exchange_abandon(c, &operation->letters);
	for (struct mpi_chunk *chunk = operation->chunks; chunk; chunk = chunk->next)
		mpi_exchange_abandon(c, &chunk->messages);
}

int mpi_operations_free(struct mpi_communicator *c)
{
	int were_done = 1;
	while (c->operations) {
		struct mpi_operation *operation = c->operations;
		c->operations = operation->next;
		if (operation->is_done) {
			release(c, operation);
			continue;
		}
		abandon(c, operation);
		were_done = 0;
	}
	c->newest = NULL;
	mpi_chunk_free_spare(c);
	return were_done;
}
