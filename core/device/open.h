/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening a device, and checking the answers of its backend.
 */
#ifndef TN_DEVICE_OPEN_H
#define TN_DEVICE_OPEN_H

#include "device/device.h"
/* Opens the device unless it is open.  TN_FORKED, TN_DEVICE_LOST, or the backend's status. */
tn_status tn_device_open(struct tn_device *device, struct tn_error_info *error);

/* Is the device usable?  TN_OK, TN_FORKED or TN_DEVICE_LOST; costs two loads. */
tn_status tn_device_ready(const struct tn_device *device, struct tn_error_info *error);
/* TN_NOT_CAPTURABLE during a capture on the device. */
tn_status tn_device_refuse_capture(const struct tn_device *device, const char *operation,
				   struct tn_error_info *error);
/* Handles a status returned by the backend: adds the device's name to the message, marks a lost
 * device.  Returns the status. */
tn_status tn_device_answer(struct tn_device *device, tn_status status, struct tn_error_info *error);

#endif
