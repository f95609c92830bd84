/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Moves operands through the shared memory, chunk by chunk; local.h explains the three stages.
 */
#include "local.h"

/* ---- Requests and cursors --------------------------------------------------------------------*/

static void divide(const struct local_communicator *communicator, struct local_request *request)
{
	const struct communicator_header *header = &request->header;
	const int scatters = header->operation == TN_COLLECTIVE_REDUCE_SCATTER;
	request->per_chunk = request->element ? communicator->slot_bytes / request->element /
							(scatters ? communicator->job.size : 1)
					      : 1;
	request->n_chunks = header->n / request->per_chunk + (header->n % request->per_chunk != 0);
}

static void begin_at(struct local_cursor *cursor, struct local_request *request)
{
	if (!cursor->request) {
		cursor->request = request;
		cursor->chunk = 0;
	}
}

void local_append(struct local_communicator *communicator, struct local_request *request)
{
	divide(communicator, request);
	request->index = communicator->n_started++;
	request->previous = communicator->last;
	if (communicator->last)
		communicator->last->next = request;
	else
		communicator->first = request;
	communicator->last = request;
	begin_at(&communicator->post, request);
	begin_at(&communicator->reduce, request);
	begin_at(&communicator->take, request);
}

void local_remove(struct local_communicator *communicator, struct local_request *request)
{
	if (request->previous)
		request->previous->next = request->next;
	else
		communicator->first = request->next;
	if (request->next)
		request->next->previous = request->previous;
	else
		communicator->last = request->previous;
	tn_plugin_free(communicator->host, request);
}

/* An operation without elements passes like one chunk, to show that it was started. */
static void advance(struct local_cursor *cursor)
{
	cursor->sequence++;
	if (++cursor->chunk < cursor->request->n_chunks)
		return;
	cursor->request = cursor->request->next;
	cursor->chunk = 0;
}

/* The elements of a chunk: `count` of them, from element `first` on. */
struct span {
	uint64_t first, count;
};

static struct span span_of(const struct local_cursor *cursor)
{
	const struct local_request *request = cursor->request;
	struct span span = {cursor->chunk * request->per_chunk, request->per_chunk};
	if (span.count > request->header.n - span.first)
		span.count = request->header.n - span.first;
	return span;
}

/* What rank `rank` reduces of a chunk of all_reduce, within the chunk: whole lines of the cache. */
static struct span segment_of(const struct local_communicator *communicator, uint64_t element,
			      uint64_t count, uint32_t rank)
{
	const uint64_t size = communicator->job.size, line = LOCAL_LINE / element;
	const uint64_t length = ((count + size - 1) / size + line - 1) / line * line;
	struct span segment = {rank * length, length};
	if (segment.first > count)
		segment.first = count;
	if (segment.count > count - segment.first)
		segment.count = count - segment.first;
	return segment;
}

static unsigned char *slot_of(const struct local_communicator *communicator, uint32_t rank,
			      uint64_t sequence)
{
	const uint64_t slot = (uint64_t)rank * LOCAL_SLOTS + sequence % LOCAL_SLOTS;
	return communicator->areas + slot * communicator->slot_bytes;
}

static void copy(unsigned char *to, const unsigned char *from, uint64_t bytes)
{
	if (bytes && to != from)
		memcpy(to, from, bytes);
}

/* ---- Headers ---------------------------------------------------------------------------------*/

static void fail_headers(struct local_communicator *communicator, uint64_t index, uint32_t rank,
			 const struct communicator_header *own,
			 const struct communicator_header *theirs)
{
	char own_text[80], their_text[80], text[256];
	communicator_describe_header(own, own_text, sizeof(own_text));
	communicator_describe_header(theirs, their_text, sizeof(their_text));
	(void)snprintf(text, sizeof(text),
		       "the ranks disagree in operation %llu: rank %u starts %s, rank %u starts %s",
		       (unsigned long long)index + 1, communicator->job.rank, own_text, rank,
		       their_text);
	local_fail(communicator, TN_STATE, text);
}

/* Compares the headers of another rank with this one's, as far as both have started. */
static void compare_headers(struct local_communicator *communicator, uint32_t rank)
{
	const struct local_rank *own = &communicator->shared->ranks[communicator->job.rank];
	const struct local_rank *other = &communicator->shared->ranks[rank];
	const uint64_t theirs = atomic_load_explicit(&other->started, memory_order_acquire);
	const uint64_t mine = atomic_load_explicit(&own->started, memory_order_relaxed);
	uint64_t *checked = &communicator->checked[rank];
	for (; *checked < theirs && *checked < mine; ++*checked) {
		const uint64_t slot = *checked % LOCAL_HEADERS;
		if (memcmp(&own->headers[slot], &other->headers[slot], sizeof(own->headers[0]))) {
			fail_headers(communicator, *checked, rank, &own->headers[slot],
				     &other->headers[slot]);
			return;
		}
	}
}

/* ---- Waiting ---------------------------------------------------------------------------------*/

enum stage { POSTED, REDUCED, TAKEN };

static uint64_t passed(const struct local_rank *rank, enum stage stage)
{
	const _Atomic uint64_t *counter = stage == POSTED    ? &rank->posted
					  : stage == REDUCED ? &rank->reduced
							     : &rank->taken;
	return atomic_load_explicit(counter, memory_order_acquire);
}

/* Has that rank brought `n` chunks past a stage, and started the same operations? */
static int has_passed(struct local_communicator *communicator, uint32_t rank, enum stage stage,
		      uint64_t n)
{
	if (passed(&communicator->shared->ranks[rank], stage) < n) {
		communicator->waits_for = rank;
		return 0;
	}
	compare_headers(communicator, rank);
	return !communicator->failure.status;
}

static int have_passed(struct local_communicator *communicator, enum stage stage, uint64_t n)
{
	for (uint32_t rank = 0; rank < communicator->job.size; rank++) {
		if (rank != communicator->job.rank && !has_passed(communicator, rank, stage, n))
			return 0;
	}
	return 1;
}

static int is_there(struct local_communicator *communicator)
{
	const struct local_cursor *take = &communicator->take;
	const struct communicator_header *header = &take->request->header;
	switch (header->operation) {
	case TN_COLLECTIVE_BROADCAST:
		return header->root == communicator->job.rank ||
		       has_passed(communicator, header->root, POSTED, take->sequence + 1);
	case TN_COLLECTIVE_ALL_REDUCE:
		return have_passed(communicator, REDUCED, take->sequence + 1);
	case TN_COLLECTIVE_REDUCE_SCATTER:
		return 1;
	default:
		return have_passed(communicator, POSTED, take->sequence + 1);
	}
}

/* ---- Post ------------------------------------------------------------------------------------*/

static void announce(struct local_communicator *communicator, const struct local_request *request)
{
	struct local_rank *own = &communicator->shared->ranks[communicator->job.rank];
	own->headers[request->index % LOCAL_HEADERS] = request->header;
	atomic_store_explicit(&own->started, request->index + 1, memory_order_release);
	for (uint32_t rank = 0; rank < communicator->job.size; rank++)
		compare_headers(communicator, rank);
}

/* Copies what others will read. */
static void post_chunk(const struct local_communicator *communicator)
{
	const struct local_request *request = communicator->post.request;
	const uint32_t own = communicator->job.rank;
	const uint64_t element = request->element, n = request->header.n;
	const struct span span = span_of(&communicator->post);
	unsigned char *slot = slot_of(communicator, own, communicator->post.sequence);
	struct span segment;
	switch (request->header.operation) {
	case TN_COLLECTIVE_BROADCAST:
		if (request->header.root == own)
			copy(slot, request->target + span.first * element, span.count * element);
		break;
	case TN_COLLECTIVE_ALL_GATHER:
		copy(slot, request->source + span.first * element, span.count * element);
		break;
	case TN_COLLECTIVE_ALL_REDUCE:
		segment = segment_of(communicator, element, span.count, own);
		const unsigned char *from = request->source + span.first * element;
		const uint64_t end = (segment.first + segment.count) * element;
		copy(slot, from, segment.first * element);
		copy(slot + end, from + end, span.count * element - end);
		break;
	case TN_COLLECTIVE_REDUCE_SCATTER:
		for (uint32_t rank = 0; rank < communicator->job.size; rank++) {
			if (rank != own)
				copy(slot + rank * request->per_chunk * element,
				     request->source + (rank * n + span.first) * element,
				     span.count * element);
		}
		break;
	default:
		break;
	}
}

static int post(struct local_communicator *communicator)
{
	struct local_cursor *cursor = &communicator->post;
	struct local_rank *own = &communicator->shared->ranks[communicator->job.rank];
	if (!cursor->request ||
	    (cursor->sequence >= LOCAL_SLOTS &&
	     !have_passed(communicator, TAKEN, cursor->sequence - LOCAL_SLOTS + 1)))
		return 0;
	if (!cursor->chunk)
		announce(communicator, cursor->request);
	post_chunk(communicator);
	advance(cursor);
	atomic_store_explicit(&own->posted, cursor->sequence, memory_order_release);
	return 1;
}

/* ---- Reduce ----------------------------------------------------------------------------------*/

/* Combines `segment` of the chunk into `to`: the own part is at `source`, the others' in their
 * slots, `offset` elements from the beginning. */
static void combine(const struct local_communicator *communicator, unsigned char *to,
		    const unsigned char *source, uint64_t offset, uint64_t count)
{
	const struct local_cursor *cursor = &communicator->reduce;
	const struct local_request *request = cursor->request;
	const void *sources[LOCAL_MOST_RANKS];
	for (uint32_t rank = 0; rank < communicator->job.size; rank++)
		sources[rank] = rank == communicator->job.rank
					? source
					: slot_of(communicator, rank, cursor->sequence) +
						  offset * request->element;
	communicator_combine(to, sources, communicator->job.size, count,
			     (tn_dtype)request->header.dtype, request->header.combiner);
}

static void reduce_chunk(const struct local_communicator *communicator)
{
	const struct local_cursor *cursor = &communicator->reduce;
	const struct local_request *request = cursor->request;
	const uint32_t own = communicator->job.rank;
	const uint64_t element = request->element;
	const struct span span = span_of(cursor);
	if (request->header.operation == TN_COLLECTIVE_REDUCE_SCATTER) {
		combine(communicator, request->target + span.first * element,
			request->source + (own * request->header.n + span.first) * element,
			own * request->per_chunk, span.count);
		return;
	}
	const struct span segment = segment_of(communicator, element, span.count, own);
	const uint64_t at = (span.first + segment.first) * element;
	combine(communicator, request->target + at, request->source + at, segment.first,
		segment.count);
	copy(slot_of(communicator, own, cursor->sequence) + segment.first * element,
	     request->target + at, segment.count * element);
}

static int reduce(struct local_communicator *communicator)
{
	struct local_cursor *cursor = &communicator->reduce;
	struct local_rank *own = &communicator->shared->ranks[communicator->job.rank];
	if (cursor->sequence == communicator->post.sequence)
		return 0;
	if (communicator_is_reduction(cursor->request->header.operation)) {
		if (!have_passed(communicator, POSTED, cursor->sequence + 1))
			return 0;
		if (cursor->request->header.n)
			reduce_chunk(communicator);
	}
	advance(cursor);
	atomic_store_explicit(&own->reduced, cursor->sequence, memory_order_release);
	return 1;
}

/* ---- Take ------------------------------------------------------------------------------------*/

/* Copies into the target what others have posted or reduced. */
static void take_chunk(const struct local_communicator *communicator)
{
	const struct local_cursor *cursor = &communicator->take;
	const struct local_request *request = cursor->request;
	const struct communicator_header *header = &request->header;
	const uint32_t own = communicator->job.rank;
	const uint64_t element = request->element;
	const struct span span = span_of(cursor);
	for (uint32_t rank = 0; rank < communicator->job.size; rank++) {
		const unsigned char *slot = slot_of(communicator, rank, cursor->sequence);
		struct span segment = {0, span.count};
		uint64_t to = span.first;
		if (header->operation == TN_COLLECTIVE_ALL_GATHER) {
			to += rank * header->n;
		} else if (header->operation == TN_COLLECTIVE_ALL_REDUCE) {
			segment = segment_of(communicator, element, span.count, rank);
			to += segment.first;
		} else if (rank != header->root) {
			continue;
		}
		if (rank != own)
			copy(request->target + to * element, slot + segment.first * element,
			     segment.count * element);
		else if (header->operation == TN_COLLECTIVE_ALL_GATHER)
			copy(request->target + to * element, request->source + span.first * element,
			     span.count * element);
	}
}

static int take(struct local_communicator *communicator)
{
	struct local_cursor *cursor = &communicator->take;
	struct local_rank *own = &communicator->shared->ranks[communicator->job.rank];
	struct local_request *request = cursor->request;
	if (cursor->sequence == communicator->reduce.sequence || !is_there(communicator))
		return 0;
	if (request->header.n && request->header.operation != TN_COLLECTIVE_REDUCE_SCATTER)
		take_chunk(communicator);
	advance(cursor);
	atomic_store_explicit(&own->taken, cursor->sequence, memory_order_release);
	if (cursor->request != request) {
		request->is_done = 1;
		atomic_store_explicit(&own->finished, ++communicator->n_finished,
				      memory_order_release);
	}
	return 1;
}

/* ---- Progress --------------------------------------------------------------------------------*/

void local_progress(struct local_communicator *communicator)
{
	const struct tn_error_info *failure = &communicator->failure;
	int moved = 0, moves = 1, is_lost;
	char text[256];
	while (moves && communicator->take.request && !failure->status) {
		/* The stage of the oldest chunk has the last word on whom it waits for. */
		moves = post(communicator);
		moves |= reduce(communicator);
		moves |= take(communicator);
		moved |= moves;
	}
	/* What has failed elsewhere, in a later operation, does not end one that can go on. */
	if (moved || !communicator->take.request || local_has_failed(communicator))
		return;
	local_watch(communicator, communicator->take.request->index, &is_lost, text, sizeof(text));
	if (is_lost)
		local_fail(communicator, TN_PEER_LOST, text);
}
