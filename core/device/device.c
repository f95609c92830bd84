/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The lifetime of a device, and the checks of a backend's answers: every error text gets the
 * device's name, a lost device stays lost, and a forked child never calls a backend that its parent
 * opened.
 */
#include "device/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "base/memory.h"
#include "base/quarantine.h"
#include "device/checks.h"
#include "device/chunk.h"
#include "device/pool.h"
#include "device/event.h"
#include "device/opened.h"
#include "device/pool_parts.h"
#include "device/returned.h"
#include "device/stream.h"
#include "device/transfer.h"

tn_status tn_device_create(tn_context *context, const struct tn_backend *backend, uint32_t index,
			   uint64_t memory_limit, const struct tn_logger *logger,
			   struct tn_device **device, struct tn_error_info *error)
{
	if (index >= backend->n_devices)
		return tn_fail(error, TN_NOT_FOUND, "device",
			       "backend %s has %" PRIu32 " devices, found no %s:%" PRIu32,
			       backend->plugin.name, backend->n_devices, backend->plugin.name,
			       index);
	struct tn_device *d = tn_mem_zeroed(1, sizeof(*d));
	struct tn_pool *pool = tn_pool_create(memory_limit);
	if (!d || !pool) {
		tn_mem_free(d);
		tn_mem_free(pool);
		return tn_fail(error, TN_OUT_OF_MEMORY, "device", "no host memory for device %s:%u",
			       backend->plugin.name, index);
	}
	d->context = context;
	d->backend = backend;
	d->index = index;
	snprintf(d->name, sizeof(d->name), "%s:%" PRIu32, backend->plugin.name, index);
	d->description = backend->devices[index];
	d->host_memory = (d->description.flags & TN_DEVICE_HOST_MEMORY) != 0;
	d->synchronous = (d->description.flags & TN_DEVICE_SYNCHRONOUS) != 0;
	d->fork_generation = tn_fork_generation();
	d->pool = pool;
	d->workspace_limit = TN_WORKSPACE_LIMIT;
	tn_queue_enter(d, &pool->ordinary);
	d->logger = logger;
	*device = d;
	return TN_OK;
}

void tn_device_destroy(struct tn_device *device)
{
	if (!device)
		return;
	tn_returned_collect(device);
	tn_device_end_transfers(device);
	tn_checks_release(device);
	tn_events_destroy(device);
	tn_streams_destroy(device);
	void *stream = device->pool->ordinary.handle;
	tn_pool_destroy(device);
	tn_opened_give(device, stream);
	tn_quarantine_end(device, TN_DEVICE_ENDED);
}

const char *tn_device_name(const tn_device *device)
{
	return device && !tn_device_check(device, "device_name") ? device->name : NULL;
}

const struct tn_device_description *tn_device_describe(const tn_device *device)
{
	return device && !tn_device_check(device, "device_describe") ? &device->description : NULL;
}
