/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.peer/1.  The copy is work of the destination's stream, between two marks: it waits
 * for one that is recorded in the source's stream, which then waits for the other.  So each stream
 * runs the other as far as the copy needs it, from whichever thread waits: devices that copy from
 * each other must be used by one thread.
 */
#include <string.h>

#include "mock.h"

enum { FLAGS = TN_DRY_RUN | TN_DETERMINISTIC };

/* The queued work, in this order: the destination's except the first and the last. */
enum { GIVER_IS_READY, AWAIT_GIVER, COPY, TAKER_IS_DONE, AWAIT_TAKER, PIECES };

struct copy {
	unsigned char *to, *from;
	uint64_t size;
	struct mock_device *giver; /* it waits for the copy, even if that fails */
	struct mock_stream *stream;
};

/* Both ends of a mark. */
struct exchange {
	struct mock_device *taker, *giver;
	struct mock_stream *takes, *gives;
	struct tn_error_info *error;
	struct mock_mark *ready, *done;
	struct mock_work *pieces[PIECES];
};

static tn_status run_copy(struct mock_device *device, struct mock_work *work,
			  struct tn_error_info *error)
{
	const struct copy *copy = work->args;
	const struct tn_error_info *found =
		copy->giver->loss.status ? &copy->giver->loss : &copy->stream->error;
	(void)device;
	if (found->status)
		return tn_plugin_fail(error, TN_BACKEND_FAILURE, "peer_copy",
				      "mock device %u, the source, failed in %s: %s",
				      copy->giver->index, found->operation, found->text);
	memcpy(copy->to, copy->from, copy->size);
	return TN_OK;
}

static tn_status pack_copy(struct exchange *x, const struct tn_peer_args *own)
{
	struct mock_packing packing = {
		.device = x->taker, .error = x->error, .operation = "peer_copy"};
	struct copy copy = {.size = own->size, .giver = x->giver, .stream = x->gives};
	tn_status status = mock_pack_begin(&packing, 2, mock_room(sizeof(copy)));
	if (status)
		return status;
	x->pieces[COPY] = packing.work;
	packing.work->run = run_copy;
	status = mock_pack_bytes_at(&packing, "buffer", own->buffer, own->offset, own->size,
				    &copy.to);
	packing.device = x->giver;
	if (!status)
		status = mock_pack_bytes_at(&packing, "peer_buffer", own->peer_buffer,
					    own->peer_offset, own->size, &copy.from);
	packing.work->args = mock_pack_bytes(&packing, &copy, sizeof(copy));
	return status;
}

static struct mock_work *pack_mark(const struct exchange *x, struct mock_mark *mark, int is_wait)
{
	return mark ? mock_mark_work(x->taker, mark, is_wait, x->error, "peer_copy") : NULL;
}

static tn_status pack_marks(struct exchange *x)
{
	x->ready = mock_mark_make(x->giver, x->gives);
	x->done = mock_mark_make(x->taker, x->takes);
	x->pieces[GIVER_IS_READY] = pack_mark(x, x->ready, 0);
	x->pieces[AWAIT_GIVER] = pack_mark(x, x->ready, 1);
	x->pieces[TAKER_IS_DONE] = pack_mark(x, x->done, 0);
	x->pieces[AWAIT_TAKER] = pack_mark(x, x->done, 1);
	for (int i = 0; i < PIECES; i++)
		if (!x->pieces[i])
			return tn_plugin_fail(x->error, TN_OUT_OF_MEMORY, "peer_copy",
					      "no memory for the order of two streams");
	return TN_OK;
}

/* All of it, or nothing. */
static tn_status queue(struct exchange *x, const struct tn_peer_args *own)
{
	tn_status status = pack_copy(x, own);
	if (!status)
		status = pack_marks(x);
	for (int i = 0; i < PIECES; i++) {
		int is_givers = i == GIVER_IS_READY || i == AWAIT_TAKER;
		if (!status)
			mock_queue(is_givers ? x->giver : x->taker, is_givers ? x->gives : x->takes,
				   x->pieces[i]);
		else if (x->pieces[i])
			mock_work_free(x->taker, x->pieces[i]);
	}
	mock_mark_release(x->giver, x->ready);
	mock_mark_release(x->taker, x->done);
	return status;
}

static tn_status check(const struct exchange *x, const struct tn_peer_args *own)
{
	if (!x->giver || x->giver == x->taker || x->giver->instance != x->taker->instance)
		return tn_plugin_fail(x->error, TN_INVALID_ARGUMENT, "peer_copy",
				      "the peer is not another device of this instance");
	if (!x->gives)
		return tn_plugin_fail(x->error, TN_INVALID_ARGUMENT, "peer_copy",
				      "peer_stream does not belong to the peer");
	if (!own->size)
		return tn_plugin_fail(x->error, TN_INVALID_ARGUMENT, "peer_copy",
				      "size: expected at least 1, found 0");
	if (x->taker->instance->faults.no_peers)
		return tn_plugin_fail(x->error, TN_UNSUPPORTED, "peer_copy",
				      "the devices cannot reach each other (TENON_MOCK=no-peers)");
	if (x->giver->loss.status)
		return tn_plugin_fail(x->error, TN_UNSUPPORTED, "peer_copy", "the peer is lost: %s",
				      x->giver->loss.text);
	return TN_OK;
}

static tn_status peer_copy(void *device, const struct tn_peer_args *args)
{
	struct mock_device *mock = device;
	struct tn_peer_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, FLAGS, "peer_copy");
	if (status)
		return status;
	struct exchange x = {.taker = mock,
			     .giver = own.peer,
			     .takes = mock_stream_find(mock, own.call.stream),
			     .error = own.call.error};
	x.gives = x.giver ? mock_stream_find(x.giver, own.peer_stream) : NULL;
	const struct tn_call peers = {.stream = own.peer_stream, .error = own.call.error};
	status = check(&x, &own);
	if (status)
		return status;
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	status = mock_capture_refuse(mock, &own.call, "peer_copy");
	if (!status)
		status = mock_capture_refuse(x.giver, &peers, "peer_copy");
	return status ? status : queue(&x, &own);
}

const struct tn_peer_table mock_peer_table = {
	.struct_size = sizeof(mock_peer_table),
	.peer_copy = peer_copy,
};
