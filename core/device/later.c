/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Postpones the release of memory to the end of a capture, and otherwise waits for the device
 * first.
 */
#include "device/later.h"

#include "device/open.h"
#include "device/transfer.h"

void tn_device_release_later(struct tn_device *device, struct tn_later *later)
{
	int may_wait = !device->synchronous && !tn_device_ready(device, NULL);
	if (may_wait && device->store) {
		later->next = device->postponed;
		device->postponed = later;
		return;
	}
	if (may_wait)
		tn_device_settle(device);
	later->release(later);
}

void tn_device_release_postponed(struct tn_device *device)
{
	if (device->postponed && !tn_device_ready(device, NULL))
		tn_device_settle(device);
	while (device->postponed) {
		struct tn_later *later = device->postponed;
		device->postponed = later->next;
		later->release(later);
	}
}
