/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The program's streams on a device, and the stack of those that were pushed.
 */
#ifndef TN_DEVICE_STREAM_H
#define TN_DEVICE_STREAM_H

#include <tenon/stream.h>

#include "device/device.h"

struct tn_stream {
	struct tn_stream *next; /* in the device's list */
	struct tn_device *device;
	struct tn_queue *queue; /* the ordinary one where all streams are one */
	int is_leaving;         /* destroyed during a capture: until its end */
};

/* Opens the device unless it is open.  `native`: as for tn_queue_create.  TN_LIMIT,
 * TN_OUT_OF_MEMORY, TN_UNSUPPORTED (native), or the backend's status. */
tn_status tn_device_add_stream(struct tn_device *device, uint64_t native, struct tn_stream **stream,
			       struct tn_error_info *error);
/* Waits for its work, takes it off the stack, and destroys it; during a capture at its end. */
void tn_device_remove_stream(struct tn_stream *stream);

/* TN_OUT_OF_MEMORY: no host memory for the stack.  TN_NOT_CAPTURABLE. */
tn_status tn_streams_push(struct tn_stream *stream, struct tn_error_info *error);
/* TN_STATE: the stack is empty.  TN_NOT_CAPTURABLE. */
tn_status tn_streams_pop(struct tn_device *device, struct tn_error_info *error);

/* A capture has ended: destroys the streams that are leaving. */
void tn_streams_leave(struct tn_device *device);
/* Destroys all streams of the device. */
void tn_streams_destroy(struct tn_device *device);

#endif
