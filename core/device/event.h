/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The program's events on a device: the backend's, or the time on the host where all streams are
 * one.
 */
#ifndef TN_DEVICE_EVENT_H
#define TN_DEVICE_EVENT_H

#include <tenon/stream.h>

#include "device/device.h"

struct tn_event {
	struct tn_event *next, *previous; /* in the device's list */
	struct tn_device *device;
	void *handle; /* NULL: all streams are one */
	int is_recorded;
	/* Where it was recorded last, and whether checks (checks.h) were to be read there. */
	const struct tn_queue *queue;
	int has_checks;
	double seconds; /* without a handle: when it was recorded */
};

/* These return TN_FORKED, TN_DEVICE_LOST, or the backend's status; all but elapsed also
 * TN_NOT_CAPTURABLE. */

/* Opens the device unless it is open. */
tn_status tn_device_add_event(struct tn_device *device, struct tn_event **event,
			      struct tn_error_info *error);
void tn_device_remove_event(struct tn_event *event);
void tn_events_destroy(struct tn_device *device);
/* The queue is destroyed, and the ordinary one has its checks. */
void tn_events_leave(struct tn_device *device, const struct tn_queue *queue);
/* In the current stream.  Where all streams are one, waits for a device that is not synchronous. */
tn_status tn_device_record_event(struct tn_event *event, struct tn_error_info *error);
/* Later work of the current stream waits. */
tn_status tn_device_wait_event(struct tn_event *event, struct tn_error_info *error);
/* The host waits; if has_checks, for all work of the stream so far. */
tn_status tn_device_sync_event(struct tn_event *event, struct tn_error_info *error);
tn_status tn_device_query_event(struct tn_event *event, int *reached, struct tn_error_info *error);
/* TN_INVALID_ARGUMENT: one was never recorded, or is not reached. */
tn_status tn_device_elapsed(const struct tn_event *start, const struct tn_event *end,
			    double *seconds, struct tn_error_info *error);

#endif
