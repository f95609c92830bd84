/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Creates and destroys the program's streams, and keeps the stack of pushed ones, whose top is the
 * current stream.  A place on the stack holds NULL for the ordinary stream.
 */
#include "device/stream.h"

#include "base/memory.h"
#include "base/quarantine.h"
#include "device/event.h"
#include "device/open.h"
#include "device/pool_parts.h"
#include "device/queue.h"
#include "device/transfer.h"

tn_status tn_device_add_stream(struct tn_device *device, uint64_t native, struct tn_stream **result,
			       struct tn_error_info *error)
{
	const char *operation = native ? "stream_wrap" : "stream_create";
	tn_status status = tn_device_open(device, error);
	if (!status)
		status = tn_device_refuse_capture(device, operation, error);
	if (status)
		return status;
	struct tn_stream *stream = tn_mem_zeroed(1, sizeof(*stream));
	if (!stream)
		return tn_no_memory(error, operation, NULL, "a stream");
	stream->device = device;
	stream->queue = &device->pool->ordinary;
	/* Where all streams are one, none of others can be it: that fails. */
	if (native || tn_device_has_queues(device))
		status = tn_queue_create(device, native, &stream->queue, error);
	if (status) {
		tn_mem_free(stream);
		return status;
	}
	stream->next = device->streams;
	device->streams = stream;
	*result = stream;
	return TN_OK;
}

/* ---- The stack -------------------------------------------------------------------------------*/

static void enter_top(struct tn_device *device)
{
	const struct tn_stream *top =
		device->n_pushed ? device->pushed[device->n_pushed - 1] : NULL;
	tn_queue_enter(device, top ? top->queue : &device->pool->ordinary);
}

tn_status tn_streams_push(struct tn_stream *stream, struct tn_error_info *error)
{
	struct tn_device *device = stream->device;
	tn_status status = tn_device_refuse_capture(device, "stream_push", error);
	if (status)
		return status;
	if (device->n_pushed == device->room_for_pushed) {
		size_t room = device->room_for_pushed ? 2 * device->room_for_pushed : 8;
		struct tn_stream **more = tn_mem_realloc(device->pushed, room, sizeof(*more));
		if (!more)
			return tn_no_memory(error, "stream_push", NULL, "the stack of streams");
		device->pushed = more;
		device->room_for_pushed = room;
	}
	device->pushed[device->n_pushed++] = stream;
	enter_top(device);
	return TN_OK;
}

tn_status tn_streams_pop(struct tn_device *device, struct tn_error_info *error)
{
	tn_status status = tn_device_refuse_capture(device, "stream_pop", error);
	if (status)
		return status;
	if (!device->n_pushed)
		return tn_fail(error, TN_STATE, "stream_pop", "%s: no stream is pushed",
			       device->name);
	device->n_pushed--;
	enter_top(device);
	return TN_OK;
}

/* ---- Destroying ------------------------------------------------------------------------------*/

void tn_device_remove_stream(struct tn_stream *stream)
{
	struct tn_device *device = stream->device;
	if (device->store) {
		stream->is_leaving = 1;
		return;
	}
	for (size_t i = 0; i < device->n_pushed; i++) {
		if (device->pushed[i] == stream)
			device->pushed[i] = i ? device->pushed[i - 1] : NULL;
	}
	enter_top(device);
	if (stream->queue == &device->pool->ordinary) {
		tn_queue_settle(device, stream->queue);
	} else {
		tn_events_leave(device, stream->queue);
		tn_queue_destroy(device, stream->queue);
	}
	struct tn_stream **link = &device->streams;
	while (*link != stream)
		link = &(*link)->next;
	*link = stream->next;
	tn_quarantine_end(stream, "the stream has been destroyed, or its context closed");
}

void tn_streams_leave(struct tn_device *device)
{
	for (struct tn_stream *stream = device->streams, *next; stream; stream = next) {
		next = stream->next;
		if (stream->is_leaving)
			tn_device_remove_stream(stream);
	}
}

void tn_streams_destroy(struct tn_device *device)
{
	while (device->streams)
		tn_device_remove_stream(device->streams);
	tn_mem_free(device->pushed);
	device->pushed = NULL;
	device->n_pushed = device->room_for_pushed = 0;
}
