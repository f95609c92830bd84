/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Queues: the streams of a device's backend, the ordinary one first, each with the free memory that
 * its work may use at once (pool_parts.h).  A device on which all streams are one has one queue.
 */
#ifndef TN_DEVICE_QUEUE_H
#define TN_DEVICE_QUEUE_H

#include "device/device.h"

/* Can the device have more than one queue? */
static inline int tn_device_has_queues(const struct tn_device *device)
{
	return !device->synchronous &&
	       tn_backend_has_all(device->backend, TN_SLOT_STREAM_CREATE, TN_SLOT_EVENT_ELAPSED);
}

/* A new queue of an open device; `native`: the vendor's handle of a stream of others, which it then
 * is, 0: a new stream.  TN_LIMIT: there are TN_MAX_STREAMS. */
tn_status tn_queue_create(struct tn_device *device, uint64_t native, struct tn_queue **queue,
			  struct tn_error_info *error);
/* Waits for its work and destroys it, but for a stream of others; its memory goes to the
 * ordinary queue.  It is not the current one, and nothing is being captured. */
void tn_queue_destroy(struct tn_device *device, struct tn_queue *queue);

#endif
