/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Storage: a block of a device's pool, or memory that a caller or another context lends, released
 * with its last view.
 */
#include "array/storage.h"

#include "array/array.h"
#include "base/fork.h"
#include "base/memory.h"
#include "device/open.h"
#include "device/pool.h"
#include "device/turn.h"

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
	storage->is_shared = 0;
	storage->foreign = NULL;
	*result = storage;
	return TN_OK;
}

/* ---- Memory of others ------------------------------------------------------------------------*/

static tn_status import_memory(struct tn_device *device, uint64_t address, uint64_t size,
			       uint64_t *buffer, const char *operation, struct tn_error_info *error)
{
	const struct tn_import_args args = {.call = {.struct_size = sizeof(args), .error = error},
					    .pointer = address,
					    .size = size};
	if (!tn_backend_has_all(device->backend, TN_SLOT_IMPORT_MEMORY, TN_SLOT_EXPORT_MEMORY))
		return tn_fail(error, TN_UNSUPPORTED, operation,
			       "%s: the backend cannot import memory (" TN_TABLE_IMPORT ")",
			       device->name);
	tn_error_reset(error);
	return tn_device_answer(device,
				tn_turn_end(device, device->backend->import.import_memory(
							    tn_turn_begin(device), &args, buffer)),
				error);
}

/* Returns the memory to its owner. */
static void end_foreign(struct tn_deferred_release *later)
{
	struct tn_foreign *foreign = (struct tn_foreign *)later;
	struct tn_device *device = foreign->device;
	struct tn_error_info error;
	if (foreign->imported && device->fork_generation == tn_fork_generation()) {
		const struct tn_free_args args = {
			.call = {.struct_size = sizeof(args), .error = &error},
			.buffer = foreign->imported};
		tn_error_reset(&error);
		tn_status status = tn_turn_end(device, device->backend->import.import_release(
							       tn_turn_begin(device), &args));
		if (tn_device_answer(device, status, &error) && status != TN_DEVICE_LOST)
			tn_log_format(device->logger, TN_LOG_WARNING, "array", "%s", error.text);
	}
	if (foreign->release)
		foreign->release(foreign->user);
	tn_mem_free(foreign);
}

/* Both, without their content.  TN_OUT_OF_MEMORY: neither. */
static tn_status make_foreign(struct tn_runtime *runtime, const char *operation,
			      struct tn_storage **storage, struct tn_foreign **foreign)
{
	*storage = tn_mem_alloc(sizeof(**storage));
	*foreign = tn_mem_alloc(sizeof(**foreign));
	if (*storage && *foreign)
		return TN_OK;
	tn_mem_free(*storage);
	tn_mem_free(*foreign);
	return tn_fail(&runtime->report, TN_OUT_OF_MEMORY, operation,
		       "no host memory for %zu bytes", sizeof(**storage) + sizeof(**foreign));
}

tn_status tn_storage_wrap(struct tn_runtime *runtime, struct tn_device *device,
			  const char *operation, uint64_t address, uint64_t size,
			  struct tn_storage **result)
{
	struct tn_storage *storage;
	struct tn_foreign *foreign;
	int is_address = tn_device_takes_any_address(device);
	uint64_t buffer = address;
	tn_status status = tn_device_open(device, &runtime->report);
	if (!status)
		status = make_foreign(runtime, operation, &storage, &foreign);
	if (status)
		return status;
	if (!is_address)
		status = import_memory(device, address, size, &buffer, operation, &runtime->report);
	if (status) {
		tn_mem_free(storage);
		tn_mem_free(foreign);
		return status;
	}
	*foreign = (struct tn_foreign){.later = {.release = end_foreign},
				       .device = device,
				       .address = address,
				       .imported = is_address ? 0 : buffer};
	*storage = (struct tn_storage){
		.references = 1,
		.device = device,
		.block = {.buffer = buffer,
			  .size = size,
			  .address = device->host_memory ? (void *)(uintptr_t)buffer : NULL},
		.foreign = foreign};
	*result = storage;
	return TN_OK;
}

tn_status tn_storage_borrow(struct tn_runtime *runtime, struct tn_device *device,
			    const char *operation, const struct tn_storage *lender,
			    struct tn_storage **result)
{
	struct tn_storage *storage;
	struct tn_foreign *foreign;
	tn_status status = make_foreign(runtime, operation, &storage, &foreign);
	if (status)
		return status;
	*foreign = (struct tn_foreign){.later = {.release = end_foreign},
				       .device = device,
				       .address = lender->foreign ? lender->foreign->address : 0};
	*storage = (struct tn_storage){
		.references = 1, .device = device, .block = lender->block, .foreign = foreign};
	storage->block.piece = NULL;
	*result = storage;
	return TN_OK;
}

/* ---- The end ---------------------------------------------------------------------------------*/

void tn_storage_release(struct tn_storage *storage)
{
	struct tn_device *device = storage->device;
	if (--storage->references)
		return;
	struct tn_runtime *runtime = tn_runtime_of(device->context);
	const struct tn_observer *observer = runtime->observer;
	if (observer && observer->keep && observer->keep(runtime, storage))
		return;
	if (storage->foreign)
		tn_device_defer_release(device, &storage->foreign->later);
	else if (observer && observer->give)
		observer->give(runtime, device, &storage->block);
	else
		tn_block_give(device, &storage->block);
	tn_mem_free(storage);
}
