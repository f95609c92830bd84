/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See host_access.h.
 */
#include "ops/host_access.h"

#include "base/dtype.h"

int tn_host_may_read(const tn_array *a)
{
	const struct tn_device *device = tn_array_home(a);
	return device->synchronous && a->storage->block.address && !device->store;
}

int tn_host_may_compute(const tn_array *a)
{
	return tn_host_may_read(a) && !a->runtime->observer;
}

void *tn_host_address(const tn_array *a)
{
	return (char *)a->storage->block.address + a->offset * (int64_t)tn_dtype_size(a->dtype);
}
