/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls the program's hook with what has happened to a device's memory.
 */
#include "device/memory_events.h"

#include "device/pool_parts.h"

void tn_memory_event_send(const struct tn_device *device, uint32_t kind, uint64_t bytes,
			  uint64_t id, const char *tag)
{
	const struct tn_memory_event event = {
		.struct_size = sizeof(event),
		.kind = kind,
		/* The hook may ask the device, and nothing else. */
		.device = (tn_device *)(uintptr_t)device,
		.stream = device->n_pushed ? device->pushed[device->n_pushed - 1] : NULL,
		.bytes = bytes,
		.id = id,
		.used = device->pool->used,
		.tag = tag,
	};
	device->watchers->hook(device->watchers->user, &event);
}
