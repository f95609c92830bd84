/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.stream/1.  An event holds the mark that was last recorded in it; a stream that waits
 * holds the mark, too, so that recording again or destroying the event does not affect it.
 */
#include <string.h>

#include "mock.h"

/* ---- Streams ---------------------------------------------------------------------------------*/

static tn_status create_stream(void *device, const struct tn_stream_args *args, void **stream)
{
	struct mock_device *mock = device;
	struct tn_stream_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "stream_create");
	if (status)
		return status;
	struct mock_stream *made = mock_stream_make(mock);
	if (!made)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "stream_create",
				      "no memory for a stream");
	made->next = mock->streams;
	mock->streams = made;
	*stream = made;
	return TN_OK;
}

/* On a lost device too: its work is dropped. */
static tn_status destroy_stream(void *device, const struct tn_stream_args *args)
{
	struct mock_device *mock = device;
	struct tn_stream_args own;
	tn_status status = mock_begin(NULL, &own, sizeof(own), args, 0, "stream_destroy");
	if (status)
		return status;
	struct mock_stream **link = &mock->streams;
	while (*link && *link != own.call.stream)
		link = &(*link)->next;
	struct mock_stream *found = *link && !(*link)->is_native ? *link : NULL;
	if (found && found->graph)
		return mock_capture_refuse(mock, &own.call, "stream_destroy");
	if (!found)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "stream_destroy",
				      own.call.stream ? "the stream does not belong to this device"
						      : "the NULL stream cannot be destroyed");
	mock_drain(mock, found, NULL);
	*link = found->next;
	mock_stream_release(mock, found);
	return TN_OK;
}

/* ---- Events ----------------------------------------------------------------------------------*/

static struct mock_event **event_link(struct mock_device *device, const void *event)
{
	struct mock_event **link = &device->events;
	while (*link && *link != event)
		link = &(*link)->next;
	return link;
}

/* Begins an entry with an event of this device. */
static tn_status begin_event(struct mock_device *device, struct tn_event_args *own,
			     const struct tn_event_args *args, const char *operation)
{
	tn_status status = mock_begin(device, own, sizeof(*own), args, 0, operation);
	if (status)
		return status;
	if (!*event_link(device, own->event))
		return tn_plugin_fail(own->call.error, TN_INVALID_ARGUMENT, operation,
				      "the event does not belong to this device");
	return TN_OK;
}

static tn_status create_event(void *device, const struct tn_event_args *args, void **event)
{
	struct mock_device *mock = device;
	struct tn_event_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "event_create");
	if (status)
		return status;
	struct mock_event *made = mock_host_alloc(mock, sizeof(*made));
	if (!made)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "event_create",
				      "no memory for an event");
	memset(made, 0, sizeof(*made));
	made->next = mock->events;
	mock->events = made;
	*event = made;
	return TN_OK;
}

static tn_status destroy_event(void *device, const struct tn_event_args *args)
{
	struct mock_device *mock = device;
	struct tn_event_args own;
	tn_status status = mock_begin(NULL, &own, sizeof(own), args, 0, "event_destroy");
	if (status)
		return status;
	struct mock_event **link = event_link(mock, own.event);
	struct mock_event *found = *link;
	if (!found)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "event_destroy",
				      "the event does not belong to this device");
	*link = found->next;
	mock_mark_release(mock, found->mark);
	mock_host_free(mock, found);
	return TN_OK;
}

/* Puts a mark into a stream, to be recorded there or waited for. */
static tn_status queue_mark(struct mock_device *device, const struct tn_event_args *own,
			    struct mock_mark *mark, int is_wait, const char *operation)
{
	struct mock_work *work = mock_mark_work(device, mark, is_wait, own->call.error, operation);
	if (!work)
		return TN_OUT_OF_MEMORY;
	mock_queue(device, mock_stream_find(device, own->call.stream), work);
	return TN_OK;
}

static tn_status record_event(void *device, const struct tn_event_args *args)
{
	struct mock_device *mock = device;
	struct tn_event_args own;
	tn_status status = begin_event(mock, &own, args, "event_record");
	if (!status)
		status = mock_capture_refuse(mock, &own.call, "event_record");
	if (status)
		return status;
	struct mock_event *event = own.event;
	struct mock_mark *mark = mock_mark_make(mock, mock_stream_find(mock, own.call.stream));
	if (!mark)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "event_record",
				      "no memory for a mark");
	status = queue_mark(mock, &own, mark, 0, "event_record");
	if (status) {
		mock_mark_release(mock, mark);
		return status;
	}
	mock_mark_release(mock, event->mark);
	event->mark = mark;
	return TN_OK;
}

static tn_status wait_event(void *device, const struct tn_event_args *args)
{
	struct mock_device *mock = device;
	struct tn_event_args own;
	tn_status status = begin_event(mock, &own, args, "event_wait");
	if (!status)
		status = mock_capture_refuse(mock, &own.call, "event_wait");
	if (status)
		return status;
	struct mock_mark *mark = ((struct mock_event *)own.event)->mark;
	if (!mark || mark->reached)
		return TN_OK;
	return queue_mark(mock, &own, mark, 1, "event_wait");
}

static tn_status sync_event(void *device, const struct tn_event_args *args)
{
	struct mock_device *mock = device;
	struct tn_event_args own;
	tn_status status = begin_event(mock, &own, args, "event_sync");
	if (status)
		return status;
	struct mock_mark *mark = ((struct mock_event *)own.event)->mark;
	if (!mark)
		return TN_OK;
	mock->n_waits++;
	mock_drain(mock, mark->stream, mark);
	return mock_fetch(mock, mark->stream, own.call.error);
}

/* Each query lets the stream run one piece of work, so that a polling loop ends. */
static tn_status query_event(void *device, const struct tn_event_args *args, uint32_t *reached)
{
	struct mock_device *mock = device;
	struct tn_event_args own;
	tn_status status = begin_event(mock, &own, args, "event_query");
	if (status)
		return status;
	struct mock_mark *mark = ((struct mock_event *)own.event)->mark;
	*reached = !mark || mark->reached;
	if (!*reached)
		mock_run_one(mock, mark->stream);
	return TN_OK;
}

static tn_status elapsed(void *device, const struct tn_elapsed_args *args, double *seconds)
{
	struct mock_device *mock = device;
	struct tn_elapsed_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "event_elapsed");
	if (status)
		return status;
	const struct mock_event *start = *event_link(mock, own.start);
	const struct mock_event *end = *event_link(mock, own.end);
	if (!start || !end || !start->mark || !end->mark || !start->mark->reached ||
	    !end->mark->reached)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "event_elapsed",
				      "start or end was not recorded, or has not been reached");
	*seconds = end->mark->seconds - start->mark->seconds;
	return TN_OK;
}

const struct tn_stream_table mock_stream_table = {
	.struct_size = sizeof(mock_stream_table),
	.stream_create = create_stream,
	.stream_destroy = destroy_stream,
	.event_create = create_event,
	.event_destroy = destroy_event,
	.event_record = record_event,
	.event_wait = wait_event,
	.event_sync = sync_event,
	.event_query = query_event,
	.event_elapsed = elapsed,
};
