/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A share of memory, in bytes.
 */
#include "device/limit.h"

#include <math.h>

#include "device/pool_parts.h"

int tn_device_limit_by_percent(struct tn_device *device, double percent)
{
	const uint64_t memory_bytes = device->description.memory_bytes;
	double bytes = floor((double)memory_bytes * (percent / 100));
	if (memory_bytes)
		device->pool->limit = bytes < 1 ? 1 : (uint64_t)bytes;
	device->memory_percent = percent;
	return memory_bytes != 0;
}
