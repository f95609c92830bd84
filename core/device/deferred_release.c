/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Postpones the release of memory to the end of a capture, and otherwise waits for the device
 * first.
 */
#include "device/deferred_release.h"

#include "device/open.h"
#include "device/transfer.h"

void tn_device_defer_release(struct tn_device *device, struct tn_deferred_release *deferred)
{
	int may_wait = !device->synchronous && !tn_device_ready(device, NULL);
	if (may_wait && device->store) {
		deferred->next = device->postponed;
		device->postponed = deferred;
		return;
	}
	if (may_wait)
		tn_device_settle(device);
	deferred->release(deferred);
}

void tn_device_release_deferred(struct tn_device *device)
{
	if (device->postponed && !tn_device_ready(device, NULL))
		tn_device_settle(device);
	while (device->postponed) {
		struct tn_deferred_release *deferred = device->postponed;
		device->postponed = deferred->next;
		deferred->release(deferred);
	}
}
