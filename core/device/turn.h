/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The turns of the contexts that share a device: [device] entries are called by one thread at a
 * time, unless the device is TN_DEVICE_CONCURRENT_STREAMS.  A call that has its turn:
 *
 *	status = tn_turn_end(device, entry(tn_turn_begin(device), &args));
 */
#ifndef TN_DEVICE_TURN_H
#define TN_DEVICE_TURN_H

#include <pthread.h>

#include "device/device.h"

/* Returns the handle to call with. */
static inline void *tn_turn_begin(const struct tn_device *device)
{
	if (device->turn)
		pthread_mutex_lock(device->turn);
	return device->handle;
}

/* Returns the status of the call. */
static inline tn_status tn_turn_end(const struct tn_device *device, tn_status status)
{
	if (device->turn)
		pthread_mutex_unlock(device->turn);
	return status;
}

/* The turns of two devices of one context, for an entry of both. */
static inline void *tn_turn_begin_both(const struct tn_device *device, const struct tn_device *peer)
{
	const int is_first = device->turn <= peer->turn;
	(void)tn_turn_begin(is_first ? device : peer);
	if (peer->turn != device->turn)
		(void)tn_turn_begin(is_first ? peer : device);
	return device->handle;
}

static inline tn_status tn_turn_end_both(const struct tn_device *device,
					 const struct tn_device *peer, tn_status status)
{
	if (peer->turn != device->turn)
		(void)tn_turn_end(peer, status);
	return tn_turn_end(device, status);
}

#endif
