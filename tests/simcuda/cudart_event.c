/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Events: positions in streams, and when they were reached.
 */
#include "cudart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One recording of an event, which outlives the event while it waits in a stream. */
struct record {
	unsigned references;
	struct sim_place place;
	double seconds; /* when it was reached; negative before */
};

struct event {
	struct event *next;
	int device;
	unsigned flags;
	struct record *record; /* the last; NULL before the first */
	struct sim_mark mark;  /* of a capture, when that was the last */
};

static struct event *events;

static void drop_record(struct record *record)
{
	if (record && --record->references == 0)
		free(record);
}

static struct event *find(cudaEvent_t handle, cudaError_t *error)
{
	for (struct event *event = events; event; event = event->next)
		if (event == (struct event *)handle)
			return event;
	*error = sim_say(cudaErrorInvalidResourceHandle, "%p is no event", (void *)handle);
	return NULL;
}

static void drop(struct event *event)
{
	struct event **at = &events;
	while (*at != event)
		at = &(*at)->next;
	*at = event->next;
	drop_record(event->record);
	free(event);
}

void sim_events_drop(int device)
{
	struct event *next = NULL;
	for (struct event *event = events; event; event = next) {
		next = event->next;
		if (device < 0 || event->device == device)
			drop(event);
	}
}

size_t sim_events_live(char *report, size_t size)
{
	size_t live = 0, length = 0;
	for (const struct event *event = events; event; event = event->next) {
		live++;
		if (length < size)
			length += (size_t)snprintf(report + length, size - length,
						   "an event of device %d\n", event->device);
	}
	return live;
}

/* ---- Life ------------------------------------------------------------------------------------*/

static cudaError_t make(cudaEvent_t *handle, unsigned flags)
{
	const unsigned known =
		cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
	if (flags & ~known || (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming)))
		return cudaErrorInvalidValue;
	struct event *event = calloc(1, sizeof(*event));
	if (!event)
		return cudaErrorMemoryAllocation;
	event->next = events;
	event->device = sim_device_current();
	event->flags = flags;
	events = event;
	*handle = (cudaEvent_t)event;
	return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	cudaError_t error = sim_enter("cudaEventCreate");
	return error ? error : sim_leave(make(event, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	cudaError_t error = sim_enter("cudaEventCreateWithFlags");
	return error ? error : sim_leave(make(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
	cudaError_t error = sim_enter("cudaEventDestroy");
	if (error)
		return error;
	struct event *event = find(handle, &error);
	if (event)
		drop(event);
	return sim_leave(error);
}

/* ---- Recording -------------------------------------------------------------------------------*/

struct record_work {
	struct record *record;
};

static cudaError_t reach(void *data)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	((struct record_work *)data)->record->seconds =
		(double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	return cudaSuccess;
}

static void drop_work(void *data)
{
	drop_record(((struct record_work *)data)->record);
}

static cudaError_t put_record(struct event *event, struct sim_stream *stream)
{
	struct record_work data = {calloc(1, sizeof(*data.record))};
	struct sim_work *work =
		data.record ? sim_work_make("cudaEventRecord", reach, &data, sizeof(data)) : NULL;
	if (!work) {
		free(data.record);
		return cudaErrorMemoryAllocation;
	}
	*data.record = (struct record){
		.references = 2, .place = {stream->id, stream->queued + 1}, .seconds = -1};
	work->drop = drop_work;
	drop_record(event->record);
	event->record = data.record;
	event->mark.capture = 0;
	return sim_enqueue(stream, work);
}

static cudaError_t record(cudaEvent_t handle, cudaStream_t stream_handle)
{
	cudaError_t error = cudaSuccess;
	struct event *event = find(handle, &error);
	struct sim_stream *stream = event ? sim_stream_find(stream_handle, &error) : NULL;
	if (!stream)
		return error;
	if (stream->capture) {
		if (sim_capture_is_invalid(stream))
			return cudaErrorStreamCaptureInvalidated;
		sim_capture_mark(stream, &event->mark);
		return cudaSuccess;
	}
	if (event->device != stream->device)
		return sim_say(cudaErrorInvalidResourceHandle,
			       "an event of device %d was recorded on a stream of device %d",
			       event->device, stream->device);
	if (stream->is_null == 1)
		error = sim_capture_implicit(stream->device);
	return error ? error : put_record(event, stream);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	cudaError_t error = sim_enter("cudaEventRecord");
	return error ? error : sim_leave(record(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
	cudaError_t error = sim_enter("cudaEventRecordWithFlags");
	if (error)
		return error;
	if (flags)
		return sim_leave(
			sim_say(cudaErrorNotSupported, "external events are not simulated"));
	return sim_leave(record(event, stream));
}

/* ---- Waiting ---------------------------------------------------------------------------------*/

static cudaError_t nothing(void *data)
{
	(void)data;
	return cudaSuccess;
}

static cudaError_t wait(cudaStream_t handle, cudaEvent_t event_handle)
{
	cudaError_t error = cudaSuccess;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	struct event *event = stream ? find(event_handle, &error) : NULL;
	if (!event)
		return error;
	if (!event->mark.capture && !event->record)
		return cudaSuccess;
	if (event->mark.capture || stream->capture)
		return sim_capture_join(stream, &event->mark);
	struct sim_work *work = sim_work_make("cudaStreamWaitEvent", nothing, NULL, 0);
	return work ? sim_enqueue_after(stream, work, event->record->place)
		    : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	cudaError_t error = sim_enter("cudaStreamWaitEvent");
	if (error)
		return error;
	if (flags)
		return sim_leave(
			sim_say(cudaErrorNotSupported, "external events are not simulated"));
	return sim_leave(wait(stream, event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
	cudaError_t error = sim_enter("cudaEventSynchronize");
	if (error)
		return error;
	struct event *event = find(handle, &error);
	if (!event)
		return sim_leave(error);
	if (event->mark.capture)
		return sim_leave(cudaErrorCapturedEvent);
	if (event->record)
		sim_run_until(event->record->place);
	return sim_leave(sim_device(event->device)->sticky);
}

static int is_reached(const struct event *event)
{
	return !event->record || sim_is_reached(event->record->place);
}

cudaError_t cudaEventQuery(cudaEvent_t handle)
{
	cudaError_t error = sim_enter("cudaEventQuery");
	if (error)
		return error;
	struct event *event = find(handle, &error);
	if (!event)
		return sim_leave(error);
	if (event->mark.capture)
		return sim_leave(cudaErrorCapturedEvent);
	error = sim_capture_unsafe();
	if (error)
		return sim_leave(error);
	int was_reached = is_reached(event);
	if (!was_reached)
		sim_run_some();
	error = sim_device(event->device)->sticky;
	return sim_leave(error ? error : was_reached ? cudaSuccess : cudaErrorNotReady);
}

static cudaError_t elapsed(float *milliseconds, cudaEvent_t first, cudaEvent_t last)
{
	cudaError_t error = cudaSuccess;
	struct event *start = find(first, &error), *end = find(last, &error);
	if (!start || !end)
		return error;
	if (start->mark.capture || end->mark.capture)
		return cudaErrorCapturedEvent;
	if (!start->record || !end->record || start->device != end->device ||
	    (start->flags | end->flags) & cudaEventDisableTiming)
		return cudaErrorInvalidResourceHandle;
	if (!is_reached(start) || !is_reached(end))
		return cudaErrorNotReady;
	*milliseconds = (float)(1e3 * (end->record->seconds - start->record->seconds));
	return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
	cudaError_t error = sim_enter("cudaEventElapsedTime");
	return error ? error : sim_leave(elapsed(milliseconds, start, end));
}
