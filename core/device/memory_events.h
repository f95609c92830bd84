/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What happens to a device's memory, for the hook of a program.
 */
#ifndef TN_DEVICE_MEMORY_EVENTS_H
#define TN_DEVICE_MEMORY_EVENTS_H

#include <tenon/device.h>

#include "device/device.h"

struct tn_watchers {
	tn_memory_hook hook;
	void *user;
	const char *tag;
};

void tn_memory_event_send(const struct tn_device *device, uint32_t kind, uint64_t bytes,
			  uint64_t id, const char *tag);

/* Calls the hook if there is one. */
static inline void tn_memory_event(const struct tn_device *device, uint32_t kind, uint64_t bytes,
				   uint64_t id, const char *tag)
{
	if (device->watchers)
		tn_memory_event_send(device, kind, bytes, id, tag);
}

/* The tag for a block that is handed out now. */
static inline const char *tn_memory_tag(const struct tn_device *device)
{
	return device->watchers ? device->watchers->tag : NULL;
}

#endif
