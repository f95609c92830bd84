/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Releasing memory that is not the pool's, but that queued work of a device may still use.
 */
#ifndef TN_DEVICE_DEFERRED_RELEASE_H
#define TN_DEVICE_DEFERRED_RELEASE_H

#include "device/device.h"

/* The first member of something that is to be released. */
struct tn_deferred_release {
	struct tn_deferred_release *next;
	void (*release)(struct tn_deferred_release *deferred);
};

/* Calls deferred->release once, when the work given to the device so far is done: now, after
 * waiting for it, or at the end of a capture, during which the host cannot wait.  Does not wait for
 * a lost device, or in a forked child. */
void tn_device_defer_release(struct tn_device *device, struct tn_deferred_release *deferred);
/* A capture has ended: makes the calls that it postponed. */
void tn_device_release_deferred(struct tn_device *device);

#endif
