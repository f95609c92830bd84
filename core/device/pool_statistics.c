/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a program asks of a device's pool, and sets: counts, limits, and what the pool keeps.
 */

#include <tenon/device.h>

#include "base/answer.h"
#include "device/chunk.h"
#include "device/open.h"
#include "device/limit.h"
#include "device/pool.h"
#include "device/pool_parts.h"
#include "device/returned.h"

static int is_usable(const struct tn_device *device, const char *operation)
{
	return device && !tn_device_check(device, operation);
}

tn_status tn_device_get_memory_use(const struct tn_device *device, struct tn_memory_use *use)
{
	if (device && !is_usable(device, "device_get_memory_use"))
		return TN_STATE;
	const struct tn_pool *pool = device ? device->pool : NULL;
	struct tn_memory_use own = {.struct_size = sizeof(own)};
	if (pool) {
		own.used = pool->used;
		own.cached = pool->reserved - pool->used;
		own.peak = pool->peak;
	}
	return tn_answer(use, &own, sizeof(own), "struct tn_memory_use", "device_get_memory_use",
			 NULL);
}

tn_status tn_device_get_memory_statistics(const tn_device *device,
					  struct tn_memory_statistics *statistics)
{
	if (!is_usable(device, "device_get_memory_statistics"))
		return device ? TN_STATE : TN_INVALID_ARGUMENT;
	const struct tn_pool *pool = device->pool;
	const struct tn_memory_statistics full = {
		.struct_size = sizeof(full),
		.used = pool->used,
		.cached = pool->reserved - pool->used,
		.peak = pool->peak,
		.limit = pool->limit,
		.n_used = pool->n_taken - pool->n_given,
		.n_allocations = pool->n_taken,
		.n_reserved = pool->n_chunks,
		.n_reservations = pool->n_chunks_taken,
	};
	return tn_answer(statistics, &full, sizeof(full), "struct tn_memory_statistics",
			 "device_get_memory_statistics", NULL);
}

void tn_device_memory_reset_peak(tn_device *device)
{
	if (is_usable(device, "device_memory_reset_peak"))
		device->pool->peak = device->pool->used;
}

void tn_device_memory_trim(tn_device *device, uint64_t keep_bytes)
{
	if (!is_usable(device, "device_memory_trim") || !device->handle ||
	    tn_device_ready(device, NULL))
		return;
	tn_returned_collect(device);
	tn_chunk_release(device, keep_bytes);
}

void tn_device_set_memory_limit(tn_device *device, uint64_t bytes)
{
	if (!is_usable(device, "device_set_memory_limit"))
		return;
	device->memory_percent = 0;
	device->pool->limit = bytes;
	if (bytes)
		tn_device_memory_trim(device, bytes);
}

tn_status tn_device_set_memory_limit_percent(tn_device *device, double percent)
{
	if (device && !is_usable(device, "device_set_memory_limit_percent"))
		return TN_STATE;
	if (!device || !(percent > 0 && percent <= 100))
		return TN_INVALID_ARGUMENT;
	if (device->handle && !device->description.memory_bytes)
		return TN_UNSUPPORTED;
	if (tn_device_limit_by_percent(device, percent))
		tn_device_memory_trim(device, device->pool->limit);
	return TN_OK;
}

uint64_t tn_device_workspace_limit(const tn_device *device)
{
	return is_usable(device, "device_workspace_limit") ? device->workspace_limit : 0;
}

void tn_device_set_workspace_limit(tn_device *device, uint64_t bytes)
{
	if (is_usable(device, "device_set_workspace_limit"))
		device->workspace_limit = bytes;
}
