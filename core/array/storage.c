/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Storage: a block of a device's pool, released with its last view.
 */
#include "array/storage.h"

#include "array/array.h"
#include "base/memory.h"
#include "device/pool.h"

tn_status tn_storage_create(struct tn_runtime *runtime, struct tn_device *device, uint64_t size,
			    struct tn_storage **result)
{
	tn_status status;
	struct tn_storage *storage = tn_mem_alloc(sizeof(*storage));
	if (!storage)
		return tn_fail(&runtime->report, TN_OUT_OF_MEMORY, "array",
			       "no host memory for %zu bytes", sizeof(*storage));
	const struct tn_observer *observer = runtime->observer;
	if (observer && observer->take)
		status = observer->take(runtime, device, size, &storage->block, &runtime->report);
	else
		status = tn_block_take(device, size, &storage->block, &runtime->report);
	if (status) {
		tn_mem_free(storage);
		return status;
	}
	storage->references = 1;
	storage->device = device;
	storage->version = 0;
	*result = storage;
	return TN_OK;
}

void tn_storage_release(struct tn_storage *storage)
{
	struct tn_device *device = storage->device;
	if (--storage->references)
		return;
	struct tn_runtime *runtime = tn_runtime_of(device->context);
	const struct tn_observer *observer = runtime->observer;
	if (observer && observer->keep && observer->keep(runtime, storage))
		return;
	if (observer && observer->give)
		observer->give(runtime, device, &storage->block);
	else
		tn_block_give(device, &storage->block);
	tn_mem_free(storage);
}
