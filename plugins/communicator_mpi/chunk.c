/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sends, receives and combines the chunks of a large operation, a few at a time.
 */
#include "chunk.h"

enum { SCATTER, GATHER, DONE };

/* ---- Geometry --------------------------------------------------------------------------------*/

/* Is the operand one whole that the ranks divide?  Else each has its own part of `n` elements. */
static int is_divided(uint32_t operation)
{
	return operation == TN_COLLECTIVE_ALL_REDUCE || operation == TN_COLLECTIVE_BROADCAST;
}

/* The elements of a full chunk. */
static uint64_t chunk_length(const struct mpi_communicator *c, uint32_t operation, uint64_t item)
{
	const uint64_t segment = MPI_SEGMENT / item;
	return is_divided(operation) ? segment * (uint64_t)c->size : segment;
}

uint64_t mpi_chunk_count(const struct mpi_communicator *c, uint32_t operation, uint64_t n,
			 uint64_t item)
{
	const uint64_t length = chunk_length(c, operation, item);
	return n / length + (n % length != 0);
}

/* Bytes of an operand. */
struct span {
	uint64_t at, size;
};

/* The segment of `rank`: in the whole, or, with one part for each rank, in the larger operand. */
static struct span segment(const struct mpi_communicator *c, const struct tn_collective_args *args,
			   const struct mpi_chunk *chunk, int rank)
{
	const uint64_t item = tn_dtype_size(args->dtype), r = (uint64_t)rank;
	const uint64_t size = (uint64_t)c->size;
	uint64_t from = 0, to = chunk->n, base = r * args->n;
	if (is_divided(args->operation)) {
		from = chunk->n * r / size;
		to = chunk->n * (r + 1) / size;
		base = 0;
	}
	return (struct span){(base + chunk->at + from) * item, (to - from) * item};
}

/* ---- Memory ----------------------------------------------------------------------------------*/

/* NULL: out of memory. */
static struct mpi_chunk *take_chunk(struct mpi_communicator *c, int needs_staging)
{
	const size_t size = (size_t)c->size;
	struct mpi_chunk *chunk = c->spare;
	if (chunk) {
		c->spare = chunk->next;
	} else {
		chunk = tn_plugin_alloc(c->host, sizeof(*chunk) + 2 * size * sizeof(MPI_Request));
		if (!chunk)
			return NULL;
		mpi_exchange_init(c, &chunk->messages, (MPI_Request *)(chunk + 1));
	}
	chunk->next = NULL;
	if (needs_staging && !chunk->staging)
		chunk->staging = c->host->alloc(c->host->context, size * MPI_SEGMENT, 0);
	if (!needs_staging || chunk->staging)
		return chunk;
	mpi_chunk_spare(c, chunk);
	return NULL;
}

void mpi_chunk_spare(struct mpi_communicator *c, struct mpi_chunk *chunk)
{
	chunk->next = c->spare;
	c->spare = chunk;
}

void mpi_chunk_free_spare(struct mpi_communicator *c)
{
	while (c->spare) {
		struct mpi_chunk *chunk = c->spare;
		c->spare = chunk->next;
		tn_plugin_free(c->host, chunk->staging);
		tn_plugin_free(c->host, chunk);
	}
}

/* Where the segment of `from` lies until it is combined. */
static char *staged(const struct mpi_chunk *chunk, int from)
{
	return chunk->staging + (uint64_t)from * MPI_SEGMENT;
}

/* ---- Stages ----------------------------------------------------------------------------------*/

/* Does this rank send its segment, or in a broadcast everybody's, to the others? */
static tn_status send_all(struct mpi_communicator *c, const struct tn_collective_args *args,
			  struct mpi_chunk *chunk)
{
	const int is_scatter = chunk->stage == SCATTER;
	const int is_broadcast = args->operation == TN_COLLECTIVE_BROADCAST;
	const int is_gather_op = args->operation == TN_COLLECTIVE_ALL_GATHER;
	const char *from = is_scatter && !is_broadcast ? args->source : args->target;
	tn_status status = TN_OK;
	chunk->is_sent = 1;
	if (is_broadcast && is_scatter && (int)args->root != c->rank)
		return TN_OK;
	for (int i = 1; i < c->size && !status; i++) {
		const int to = (c->rank + i) % c->size;
		const struct span span = segment(c, args, chunk, is_scatter ? to : c->rank);
		const void *bytes = is_gather_op ? (const char *)args->source +
							   chunk->at * tn_dtype_size(args->dtype)
						 : from + span.at;
		/* The root has it. */
		if (is_broadcast && !is_scatter && (int)args->root == to)
			continue;
		status = mpi_exchange_send(c, &chunk->messages, to, bytes, span.size,
					   chunk->tag + chunk->stage);
	}
	return status;
}

static tn_status receive_all(struct mpi_communicator *c, const struct tn_collective_args *args,
			     struct mpi_chunk *chunk)
{
	const int is_scatter = chunk->stage == SCATTER;
	const int is_broadcast = args->operation == TN_COLLECTIVE_BROADCAST;
	tn_status status = TN_OK;
	chunk->is_received = 1;
	if (is_broadcast && (int)args->root == c->rank)
		return TN_OK;
	for (int i = 1; i < c->size && !status; i++) {
		const int from = (c->rank + c->size - i) % c->size;
		const struct span span = segment(c, args, chunk, is_scatter ? c->rank : from);
		char *to = (char *)args->target + span.at;
		if (is_broadcast && is_scatter && (int)args->root != from)
			continue;
		if (is_scatter && !is_broadcast)
			to = staged(chunk, from);
		status = mpi_exchange_receive(c, &chunk->messages, from, to, span.size,
					      chunk->tag + chunk->stage);
	}
	return status;
}

/* This rank's segment of the result. */
static void combine(struct mpi_communicator *c, const struct tn_collective_args *args,
		    const struct mpi_chunk *chunk)
{
	const uint64_t item = tn_dtype_size(args->dtype);
	const struct span own = segment(c, args, chunk, c->rank);
	const uint64_t at = args->operation == TN_COLLECTIVE_ALL_REDUCE ? own.at : chunk->at * item;
	for (int rank = 0; rank < c->size; rank++)
		c->operands[rank] =
			rank == c->rank ? (const char *)args->source + own.at : staged(chunk, rank);
	communicator_combine((char *)args->target + at, c->operands, (uint32_t)c->size,
			     own.size / item, args->dtype, args->combiner);
}

/* An all_gather: this rank's own part. */
static void copy_own(struct mpi_communicator *c, const struct tn_collective_args *args,
		     const struct mpi_chunk *chunk)
{
	const struct span own = segment(c, args, chunk, c->rank);
	const char *from = (const char *)args->source + chunk->at * tn_dtype_size(args->dtype);
	char *to = (char *)args->target + own.at;
	if (to != from)
		memcpy(to, from, own.size);
}

static void enter(struct mpi_chunk *chunk, int stage)
{
	chunk->stage = stage;
	chunk->is_sent = chunk->is_received = 0;
}

tn_status mpi_chunk_start(struct mpi_communicator *c, const struct tn_collective_args *args,
			  uint64_t number, int tag, struct mpi_chunk **started)
{
	const uint64_t length = chunk_length(c, args->operation, tn_dtype_size(args->dtype));
	const int needs_staging = communicator_is_reduction(args->operation) && c->size > 1;
	struct mpi_chunk *chunk = take_chunk(c, needs_staging);
	if (!chunk)
		return tn_plugin_fail(&c->error, TN_OUT_OF_MEMORY,
				      communicator_operation_name(args->operation),
				      "no memory for %d segments of %llu bytes", c->size,
				      (unsigned long long)MPI_SEGMENT);
	chunk->at = number * length;
	chunk->n = args->n - chunk->at < length ? args->n - chunk->at : length;
	chunk->tag = tag;
	enter(chunk, args->operation == TN_COLLECTIVE_ALL_GATHER ? GATHER : SCATTER);
	if (chunk->stage == GATHER)
		copy_own(c, args, chunk);
	*started = chunk;
	return TN_OK;
}

int mpi_chunk_is_done(const struct mpi_chunk *chunk)
{
	return chunk->stage == DONE;
}

tn_status mpi_chunk_advance(struct mpi_communicator *c, const struct tn_collective_args *args,
			    struct mpi_chunk *chunk, int is_agreed)
{
	tn_status status = TN_OK;
	while (chunk->stage != DONE) {
		if (!chunk->is_sent)
			status = send_all(c, args, chunk);
		if (!status && is_agreed && !chunk->is_received)
			status = receive_all(c, args, chunk);
		if (!status)
			status = mpi_exchange_test(c, &chunk->messages);
		if (status || !chunk->is_received || chunk->messages.n_under_way)
			return status;
		if (chunk->stage == SCATTER && communicator_is_reduction(args->operation))
			combine(c, args, chunk);
		enter(chunk,
		      args->operation == TN_COLLECTIVE_REDUCE_SCATTER ? DONE : chunk->stage + 1);
	}
	return TN_OK;
}
