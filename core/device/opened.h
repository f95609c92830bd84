/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A device as the backend has opened it, once for all contexts that share it.
 */
#ifndef TN_DEVICE_OPENED_H
#define TN_DEVICE_OPENED_H

#include "device/device.h"

/* Gives the device its handle and turn, and the ordinary queue its stream.  The status of the
 * backend, whose text has no device's name yet. */
tn_status tn_opened_take(struct tn_device *device, struct tn_error_info *error);
/* Nothing of the device is in use; `stream` was that of the ordinary queue.  The last user closes
 * the device.  Takes one that is not open. */
void tn_opened_give(struct tn_device *device, void *stream);
/* The backend's stream of a queue that is not imported.  Texts have no device's name yet. */
tn_status tn_opened_make_stream(const struct tn_device *device, void **stream,
				struct tn_error_info *error);
void tn_opened_end_stream(const struct tn_device *device, void *stream);
/* NULL: the two are one to the backend.  Else why not, for an error of the library. */
const char *tn_opened_apart(const struct tn_device *a, const struct tn_device *b);
/* Was it lost, in whichever context?  From any thread. */
int tn_opened_is_lost(const struct tn_device *device);
/* The device was lost: contexts that are opened from now on do not get it, nor its instance. */
void tn_opened_lose(const struct tn_device *device);

#endif
