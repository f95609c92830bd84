/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Events of a device: each entry of the backend is called with the event and the current stream.
 * Where all streams are one, an event is a time on the host.
 */
#include "device/event.h"

#include <time.h>

#include "base/fork.h"
#include "base/memory.h"
#include "base/quarantine.h"
#include "device/check_record.h"
#include "device/open.h"
#include "device/pool_parts.h"
#include "device/queue.h"
#include "device/transfer.h"
#include "device/turn.h"

tn_status tn_device_add_event(struct tn_device *device, struct tn_event **result,
			      struct tn_error_info *error)
{
	struct tn_event_args args = {.call = {.struct_size = sizeof(args), .error = error}};
	tn_status status = tn_device_open(device, error);
	if (status)
		return status;
	struct tn_event *event = tn_mem_zeroed(1, sizeof(*event));
	if (!event)
		return tn_no_memory(error, "event_create", NULL, "an event");
	if (tn_device_has_queues(device)) {
		tn_error_reset(error);
		status = tn_turn_end(device, device->backend->stream.event_create(
						     tn_turn_begin(device), &args, &event->handle));
		if (!status && !event->handle)
			status = tn_fail(error, TN_BACKEND_FAILURE, "event_create",
					 "the backend returned no handle");
	}
	if (status) {
		tn_mem_free(event);
		return tn_device_answer(device, status, error);
	}
	event->device = device;
	event->next = device->events;
	if (event->next)
		event->next->previous = event;
	device->events = event;
	*result = event;
	return TN_OK;
}

void tn_device_remove_event(struct tn_event *event)
{
	struct tn_device *device = event->device;
	struct tn_event_args args = {.call = {.struct_size = sizeof(args)}, .event = event->handle};
	if (event->handle && device->fork_generation == tn_fork_generation())
		(void)tn_turn_end(device, device->backend->stream.event_destroy(
						  tn_turn_begin(device), &args));
	if (event->next)
		event->next->previous = event->previous;
	if (event->previous)
		event->previous->next = event->next;
	else
		device->events = event->next;
	tn_quarantine_end(event, "the event has been destroyed, or its context closed");
}

void tn_events_destroy(struct tn_device *device)
{
	while (device->events)
		tn_device_remove_event(device->events);
}

void tn_events_leave(struct tn_device *device, const struct tn_queue *queue)
{
	for (struct tn_event *event = device->events; event; event = event->next) {
		if (event->queue == queue)
			event->queue = &device->pool->ordinary;
	}
}

/* Is the device usable, and does it not capture? */
static tn_status begin_event(const struct tn_event *event, const char *operation,
			     struct tn_error_info *error)
{
	tn_status status = tn_device_ready(event->device, error);
	return status ? status : tn_device_refuse_capture(event->device, operation, error);
}

typedef tn_status event_fn(void *device, const struct tn_event_args *args);

/* Calls the entry with the event and the current stream. */
static tn_status call_entry(struct tn_event *event, event_fn *entry, struct tn_error_info *error)
{
	struct tn_device *device = event->device;
	struct tn_event_args args = {
		.call = {.struct_size = sizeof(args), .stream = device->stream, .error = error},
		.event = event->handle};
	tn_error_reset(error);
	return tn_device_answer(device, tn_turn_end(device, entry(tn_turn_begin(device), &args)),
				error);
}

tn_status tn_device_record_event(struct tn_event *event, struct tn_error_info *error)
{
	struct tn_device *device = event->device;
	tn_status status = begin_event(event, "event_record", error);
	if (!status && event->handle)
		status = call_entry(event, device->backend->stream.event_record, error);
	else if (!status && !device->synchronous)
		status = tn_device_sync(device, error);
	if (status)
		return status;
	if (!event->handle) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		event->seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	}
	event->is_recorded = 1;
	event->queue = device->queue;
	event->has_checks = tn_checks_have_run(device, device->queue);
	return TN_OK;
}

tn_status tn_device_wait_event(struct tn_event *event, struct tn_error_info *error)
{
	tn_status status = begin_event(event, "event_wait", error);
	if (status || !event->handle || !event->is_recorded)
		return status;
	return call_entry(event, event->device->backend->stream.event_wait, error);
}

tn_status tn_device_sync_event(struct tn_event *event, struct tn_error_info *error)
{
	tn_status status = tn_device_begin_wait(event->device, "event_synchronize", error);
	if (status || !event->handle || !event->is_recorded)
		return status;
	status = call_entry(event, event->device->backend->stream.event_sync, error);
	if (status)
		tn_check_record_doubt(event->device, event->queue);
	if (status || !event->has_checks)
		return status;
	return tn_check_record_fetch(event->device, event->queue, error);
}

tn_status tn_device_query_event(struct tn_event *event, int *reached, struct tn_error_info *error)
{
	struct tn_device *device = event->device;
	struct tn_event_args args = {.call = {.struct_size = sizeof(args), .error = error},
				     .event = event->handle};
	uint32_t found = 1;
	tn_status status = begin_event(event, "event_query", error);
	if (!status && event->handle && event->is_recorded) {
		tn_error_reset(error);
		status = tn_device_answer(
			device,
			tn_turn_end(device, device->backend->stream.event_query(
						    tn_turn_begin(device), &args, &found)),
			error);
	}
	if (!status)
		*reached = found != 0;
	return status;
}

tn_status tn_device_elapsed(const struct tn_event *start, const struct tn_event *end,
			    double *seconds, struct tn_error_info *error)
{
	struct tn_device *device = end->device;
	struct tn_elapsed_args args = {.call = {.struct_size = sizeof(args), .error = error},
				       .start = start->handle,
				       .end = end->handle};
	if (start->device != device)
		return tn_fail(error, TN_DEVICE, "event_elapsed",
			       "start is an event of %s, end of %s", start->device->name,
			       device->name);
	if (!start->is_recorded || !end->is_recorded)
		return tn_fail(error, TN_INVALID_ARGUMENT, "event_elapsed",
			       "%s: expected a recorded event, it was never recorded",
			       start->is_recorded ? "end" : "start");
	tn_status status = tn_device_ready(device, error);
	if (status)
		return status;
	if (!end->handle) {
		*seconds = end->seconds - start->seconds;
		return TN_OK;
	}
	tn_error_reset(error);
	return tn_device_answer(device,
				tn_turn_end(device, device->backend->stream.event_elapsed(
							    tn_turn_begin(device), &args, seconds)),
				error);
}
