/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls of a backend's compute slots by number.
 */
#ifndef TN_ARRAY_SLOT_H
#define TN_ARRAY_SLOT_H

#include "device/device.h"

/* Calls slot MAP to CROSS_ENTROPY_BACKWARD, SORT or SCAN of an open device with the slot's own arguments.
 * A slot that the plugin left empty answers TN_UNSUPPORTED. */
tn_status tn_slot_call(const struct tn_device *device, enum tn_slot slot, const void *args);

#endif
