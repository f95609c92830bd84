/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Captured work of a device, and its memory.
 */
#ifndef TN_DEVICE_CAPTURE_H
#define TN_DEVICE_CAPTURE_H

#include "device/device.h"

/* Starts recording the work of the device's current stream.  Memory taken or given back during the
 * capture belongs to the store, because every replay uses it again; calls that would wait for the
 * device fail with TN_NOT_CAPTURABLE.  Returns the backend's status; TN_STATE: a capture is already
 * in progress. */
tn_status tn_device_capture_begin(struct tn_device *device, struct tn_error_info *error);
/* Was the block taken during the current capture? */
int tn_device_captures(const struct tn_device *device, const struct tn_block *block);
/* Is it memory that captured work has taken, and that replays write? */
int tn_block_is_captured(const struct tn_block *block);
/* Ends the capture; *store is always owned, *graph only on success. */
tn_status tn_device_capture_end(struct tn_device *device, void **graph, struct tn_store **store,
				struct tn_error_info *error);
/* Orders a launch in the current stream, and its uploads, after earlier launches in other streams
 * and after the work of other streams with the store's memory. */
void tn_device_graph_order(struct tn_device *device, struct tn_store *store);
tn_status tn_device_graph_launch(struct tn_device *device, void *graph,
				 const struct tn_store *store, struct tn_error_info *error);
/* Waits for the device, then gives back the graph (NULL: none) and the memory of the store. */
void tn_device_graph_release(struct tn_device *device, void *graph, struct tn_store *store);

#endif
