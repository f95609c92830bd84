/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An open device, and the answers of its backend.
 */
#ifndef TN_DEVICE_OPEN_H
#define TN_DEVICE_OPEN_H

#include "device/device.h"
/* Opens it, when it is not open.  TN_FORKED, TN_DEVICE_LOST, or the backend's status. */
tn_status tn_device_open(struct tn_device *device, struct tn_error_info *error);

/* May calls be made?  TN_OK, TN_FORKED or TN_DEVICE_LOST; costs two loads. */
tn_status tn_device_ready(const struct tn_device *device, struct tn_error_info *error);
/* Looks at a status that the backend gave: completes the message with the device's name, remembers
 * a lost device.  Returns the status. */
tn_status tn_device_answer(struct tn_device *device, tn_status status, struct tn_error_info *error);

#endif
