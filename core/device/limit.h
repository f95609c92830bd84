/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The limit of a device's pool as a share of its memory.
 */
#ifndef TN_DEVICE_LIMIT_H
#define TN_DEVICE_LIMIT_H

#include "device/device.h"

/* Limits the pool to a share of the device's memory: now, and again when the device is open and
 * that is known for certain.  Gives nothing back.  0: it is not known now. */
int tn_device_limit_by_percent(struct tn_device *device, double percent);

#endif
