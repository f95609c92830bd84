/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Captured work of a device, and its memory.
 */
#ifndef TN_DEVICE_CAPTURE_H
#define TN_DEVICE_CAPTURE_H

#include "device/device.h"

/* Work on the device is written down from here on.  Memory that is taken or given back meanwhile
 * belongs to the store, for it is used whenever the work is done again; what would wait for the
 * device is
 * TN_NOT_CAPTURABLE.  The backend's answer; TN_STATE: work is captured already. */
tn_status tn_device_capture_begin(struct tn_device *device, struct tn_error_info *error);
/* Was the block taken while the work that is captured now was? */
int tn_device_captures(const struct tn_device *device, const struct tn_block *block);
/* Ends it; *store is owned in any case, *graph only on success. */
tn_status tn_device_capture_end(struct tn_device *device, void **graph, struct tn_store **store,
				struct tn_error_info *error);
tn_status tn_device_graph_launch(struct tn_device *device, void *graph,
				 struct tn_error_info *error);
/* Waits for the device, then gives back the graph (NULL: none) and the memory of the store. */
void tn_device_graph_release(struct tn_device *device, void *graph, struct tn_store *store);

#endif
