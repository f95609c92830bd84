/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The public functions of streams and events: the rules of kept errors over core/device.
 */
#include <tenon/stream.h>

#include "array/handle.h"
#include "device/event.h"
#include "device/native.h"
#include "device/stream.h"
#include "device/transfer.h"

static struct tn_runtime *runtime_of(const tn_device *device)
{
	return tn_runtime_of(device->context);
}

/* Keeps the error of a failure; returns status. */
static tn_status keep(const tn_device *device, tn_status status, const struct tn_error_info *error)
{
	return status ? tn_runtime_keep(runtime_of(device), error) : TN_OK;
}

/* A handle of the device may have ended. */
static tn_status check(const tn_device *device, const void *handle, const char *operation)
{
	tn_status status = tn_handle_find(runtime_of(device), handle, operation);
	return status ? status : tn_handle_check(runtime_of(device), operation);
}

/* ---- Streams ---------------------------------------------------------------------------------*/

static tn_stream *add_stream(tn_device *device, uint64_t native)
{
	struct tn_error_info error;
	struct tn_stream *stream = NULL;
	keep(device, tn_device_add_stream(device, native, &stream, &error), &error);
	return stream;
}

tn_stream *tn_stream_create(tn_device *device)
{
	return device && !tn_runtime_ready(runtime_of(device)) ? add_stream(device, 0) : NULL;
}

tn_stream *tn_stream_wrap(tn_device *device, void *native)
{
	if (!device || tn_runtime_ready(runtime_of(device)))
		return NULL;
	if (!native)
		tn_runtime_null(runtime_of(device), "stream_wrap", "native");
	return native ? add_stream(device, (uint64_t)(uintptr_t)native) : NULL;
}

void tn_stream_destroy(tn_stream *stream)
{
	if (stream && !check(stream->device, stream, "stream_destroy"))
		tn_device_remove_stream(stream);
}

tn_status tn_stream_push(tn_stream *stream)
{
	struct tn_error_info error;
	if (!stream)
		return TN_INVALID_ARGUMENT;
	tn_status status = check(stream->device, stream, "stream_push");
	return status ? status : keep(stream->device, tn_streams_push(stream, &error), &error);
}

tn_status tn_stream_pop(tn_device *device)
{
	struct tn_error_info error;
	if (!device)
		return TN_INVALID_ARGUMENT;
	return keep(device, tn_streams_pop(device, &error), &error);
}

tn_stream *tn_stream_current(const tn_device *device)
{
	if (!device || tn_handle_check(runtime_of(device), "stream_current"))
		return NULL;
	return device->n_pushed ? device->pushed[device->n_pushed - 1] : NULL;
}

static tn_status export_queue(struct tn_device *device, const struct tn_queue *queue, void **native)
{
	uint64_t found = 0;
	tn_status status = tn_queue_export(device, queue, &found, NULL);
	if (!status)
		*native = (void *)(uintptr_t)found;
	return status;
}

tn_status tn_stream_native(const tn_stream *stream, void **native)
{
	if (!stream || !native)
		return tn_runtime_null(stream ? runtime_of(stream->device) : NULL, "stream_native",
				       "native");
	tn_status status = check(stream->device, stream, "stream_native");
	return status ? status : export_queue(stream->device, stream->queue, native);
}

tn_status tn_stream_current_native(tn_device *device, void **native)
{
	if (!device || !native)
		return tn_runtime_null(device ? runtime_of(device) : NULL, "stream_current_native",
				       "native");
	tn_status status = tn_handle_check(runtime_of(device), "stream_current_native");
	return status ? status : export_queue(device, device->queue, native);
}

tn_status tn_stream_synchronize(tn_stream *stream)
{
	struct tn_error_info error;
	if (!stream)
		return TN_INVALID_ARGUMENT;
	tn_status status = check(stream->device, stream, "stream_synchronize");
	if (!status)
		status = tn_runtime_ready(runtime_of(stream->device));
	if (status)
		return status;
	return keep(stream->device, tn_queue_sync(stream->device, stream->queue, &error), &error);
}

/* ---- Events ----------------------------------------------------------------------------------*/

tn_event *tn_event_create(tn_device *device)
{
	struct tn_error_info error;
	struct tn_event *event = NULL;
	if (!device || tn_runtime_ready(runtime_of(device)))
		return NULL;
	keep(device, tn_device_add_event(device, &event, &error), &error);
	return event;
}

void tn_event_destroy(tn_event *event)
{
	if (event && !check(event->device, event, "event_destroy"))
		tn_device_remove_event(event);
}

typedef tn_status action(struct tn_event *event, struct tn_error_info *error);

/* The functions that do nothing while an error is kept. */
static tn_status act(tn_event *event, action *what, const char *operation)
{
	struct tn_error_info error;
	if (!event)
		return TN_INVALID_ARGUMENT;
	tn_status status = check(event->device, event, operation);
	if (!status)
		status = tn_runtime_ready(runtime_of(event->device));
	return status ? status : keep(event->device, what(event, &error), &error);
}

tn_status tn_event_record(tn_event *event)
{
	return act(event, tn_device_record_event, "event_record");
}

tn_status tn_event_wait(tn_event *event)
{
	return act(event, tn_device_wait_event, "event_wait");
}

tn_status tn_event_synchronize(tn_event *event)
{
	return act(event, tn_device_sync_event, "event_synchronize");
}

tn_status tn_event_query(tn_event *event, int *reached)
{
	struct tn_error_info error;
	if (!event || !reached)
		return TN_INVALID_ARGUMENT;
	tn_status status = check(event->device, event, "event_query");
	if (status)
		return status;
	return keep(event->device, tn_device_query_event(event, reached, &error), &error);
}

tn_status tn_event_elapsed(const tn_event *start, const tn_event *end, double *seconds)
{
	struct tn_error_info error;
	const tn_event *any = start ? start : end;
	if (!start || !end || !seconds)
		return tn_runtime_null(any ? tn_runtime_of(any->device->context) : NULL,
				       "event_elapsed",
				       !start ? "start"
				       : !end ? "end"
					      : "seconds");
	tn_status status = check(start->device, start, "event_elapsed");
	if (!status)
		status = check(end->device, end, "event_elapsed");
	if (status)
		return status;
	return keep(end->device, tn_device_elapsed(start, end, seconds, &error), &error);
}
