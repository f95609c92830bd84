/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Captured work and its memory.  Every replay uses the memory of the captured work again, so pieces
 * taken or given back during capture are reserved for this graph until its release.  Within the
 * capture they may be reused in its order.
 */
#include "device/capture.h"

#include "base/memory.h"
#include "device/checks.h"
#include "device/deferred_release.h"
#include "device/open.h"
#include "device/pool.h"
#include "device/point.h"
#include "device/pool_parts.h"
#include "device/queue.h"
#include "device/stream.h"
#include "device/transfer.h"
#include "device/turn.h"

tn_status tn_device_capture_begin(struct tn_device *device, struct tn_error_info *error)
{
	struct tn_graph_args args = {
		.call = {.struct_size = sizeof(args), .stream = device->stream, .error = error}};
	if (device->store)
		return tn_fail(error, TN_STATE, "capture_begin",
			       "%s: a capture is already in progress", device->name);
	tn_status status = tn_device_open(device, error);
	if (status)
		return status;
	if (!tn_backend_has_all(device->backend, TN_SLOT_CAPTURE_BEGIN, TN_SLOT_GRAPH_RELEASE))
		return tn_device_answer(device,
					tn_fail(error, TN_UNSUPPORTED, "capture_begin",
						"the backend cannot capture work (" TN_TABLE_CAPTURE
						")"),
					error);
	struct tn_store *store = tn_mem_zeroed(1, sizeof(*store));
	if (!store)
		return tn_no_memory(error, "capture_begin", NULL, "the capture");
	tn_error_reset(error);
	status = tn_turn_end(device,
			     device->backend->capture.capture_begin(tn_turn_begin(device), &args));
	if (status == TN_STATE) /* this context captures nothing */
		status = tn_fail(error, TN_NOT_CAPTURABLE, "capture_begin",
				 "another context that shares the device captures its work, and "
				 "the device captures one stream at a time");
	if (status) {
		tn_mem_free(store);
		return tn_device_answer(device, status, error);
	}
	/* The memory may have been used by this stream, and a replay may run in another. */
	store->users = tn_queue_bit(device->queue);
	device->store = store;
	device->tracks_use |= tn_device_has_queues(device);
	return TN_OK;
}

int tn_device_captures(const struct tn_device *device, const struct tn_block *block)
{
	return device->store && block->piece && block->piece->store == device->store;
}

int tn_block_is_captured(const struct tn_block *block)
{
	return block->piece && block->piece->store;
}

tn_status tn_device_capture_end(struct tn_device *device, void **graph, struct tn_store **store,
				struct tn_error_info *error)
{
	struct tn_graph_args args = {
		.call = {.struct_size = sizeof(args), .stream = device->stream, .error = error}};
	*store = device->store;
	*graph = NULL;
	device->store = NULL;
	tn_status status = tn_device_ready(device, error);
	if (!status) {
		tn_error_reset(error);
		status = tn_turn_end(device, device->backend->capture.capture_end(
						     tn_turn_begin(device), &args, graph));
		if (!status && !*graph)
			status = tn_fail(error, TN_BACKEND_FAILURE, "capture_end",
					 "the backend returned no handle");
		if (status)
			*graph = NULL;
		status = tn_device_answer(device, status, error);
	}
	/* Free memory that the capture cut or took over without a wait may now be used by the
	 * queue. */
	tn_queue_follow(device, device->queue, (*store)->users);
	tn_device_release_deferred(device);
	tn_streams_leave(device);
	return status;
}

void tn_device_graph_order(struct tn_device *device, struct tn_store *store)
{
	tn_queue_follow(device, device->queue, store->users);
	store->users = tn_queue_bit(device->queue);
	device->replayers |= store->users;
}

tn_status tn_device_graph_launch(struct tn_device *device, void *graph,
				 const struct tn_store *store, struct tn_error_info *error)
{
	struct tn_graph_args args = {
		.call = {.struct_size = sizeof(args), .stream = device->stream, .error = error},
		.graph = graph};
	tn_status status = tn_device_ready(device, error);
	if (!status && store->checks)
		status = tn_checks_replay(device, store->checks, error);
	if (status)
		return status;
	tn_error_reset(error);
	return tn_device_answer(device,
				tn_turn_end(device, device->backend->capture.graph_launch(
							    tn_turn_begin(device), &args)),
				error);
}

void tn_device_graph_release(struct tn_device *device, void *graph, struct tn_store *store)
{
	struct tn_error_info error;
	struct tn_graph_args args = {.call = {.struct_size = sizeof(args), .error = &error},
				     .graph = graph};
	tn_error_reset(&error);
	/* Without a graph too: the store's pieces may have users on which only a replay waits. */
	if (graph || store)
		tn_device_settle(device);
	if (graph) {
		tn_status status = tn_turn_end(device, device->backend->capture.graph_release(
							       tn_turn_begin(device), &args));
		if (tn_device_answer(device, status, &error) && status != TN_DEVICE_LOST)
			tn_log_format(device->logger, TN_LOG_WARNING, "graph", "%s", error.text);
	}
	if (!store)
		return;
	tn_checks_disown(device, store);
	/* Free pieces return to the pool now, those of arrays when the arrays release them. */
	for (size_t i = 0; i < store->n; i++) {
		struct tn_piece *piece = store->pieces[i];
		const struct tn_block block = {.piece = piece};
		piece->store = NULL;
		if (piece->used != TN_PIECE_STORED)
			continue;
		piece->used = TN_PIECE_USED;
		tn_block_give(device, &block);
	}
	tn_mem_free(store->pieces);
	tn_mem_free(store);
}
