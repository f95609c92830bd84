/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The vendor's handles of a device and its streams, streams of others, and a vendor's own tables.
 */
#ifndef TN_DEVICE_NATIVE_H
#define TN_DEVICE_NATIVE_H

#include "device/device.h"

/* Does its backend import and export streams? */
int tn_device_has_native(const struct tn_device *device);

/* A handle to the vendor's stream, for an open device; tn_device_release_stream ends it.
 * TN_UNSUPPORTED: the device has one stream only, or its backend cannot. */
tn_status tn_device_import_stream(struct tn_device *device, uint64_t native, const char *operation,
				  void **stream, struct tn_error_info *error);
void tn_device_release_stream(struct tn_device *device, void *stream);

/* The vendor's handles.  TN_UNSUPPORTED: the backend gives none. */
tn_status tn_device_export(struct tn_device *device, uint64_t *native, struct tn_error_info *error);
tn_status tn_queue_export(struct tn_device *device, const struct tn_queue *queue, uint64_t *native,
			  struct tn_error_info *error);

/* On the device, and without waiting on the host: later work of the vendor's stream waits for the
 * work so far of the device's current stream (give), or the other way round (take).  They report
 * what tn_device_begin_wait does, and the errors of tn_device_import_stream. */
tn_status tn_device_give_to(struct tn_device *device, uint64_t native, const char *operation,
			    struct tn_error_info *error);
tn_status tn_device_take_from(struct tn_device *device, uint64_t native, const char *operation,
			      struct tn_error_info *error);

#endif
