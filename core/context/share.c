/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory that several contexts have.  It is a storage of the context that made it, and goes back
 * there, from any thread, as memory lent by DLPack does (device/returned.h), when the last handle
 * and the last storage over it have ended.  A storage over it ends when the work of its own device
 * is done (device/deferred_release.h), so that the origin may use the memory at once.
 */
#include <tenon/share.h>

#include <stdatomic.h>
#include <string.h>

#include "array/handle.h"
#include "array/make.h"
#include "base/fork.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "context/context.h"
#include "device/open.h"
#include "device/opened.h"
#include "device/returned.h"
#include "device/transfer.h"

/* Contexts use the storage's device and block only: the rest is its own thread's. */
struct memory {
	struct tn_deferred_release later;
	struct tn_storage *storage;
	atomic_uint n_users; /* handles, and storages over it */
};

struct tn_shared {
	struct memory *memory;
	int is_constant;     /* else it was handed over */
	atomic_int is_taken; /* that memory */
	tn_dtype dtype;
	int rank;
	int64_t offset;
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK];
};

/* ---- The memory ------------------------------------------------------------------------------*/

static void end_memory(struct tn_deferred_release *later)
{
	struct memory *memory = (struct memory *)later;
	tn_storage_release(memory->storage);
	tn_mem_free(memory);
}

/* From any thread.  Once it is in the list, another thread may free it. */
static void leave_memory(void *user)
{
	struct memory *memory = user;
	struct tn_device *device = memory->storage->device;
	tn_context *context = device->context;
	if (atomic_fetch_sub(&memory->n_users, 1) > 1)
		return;
	tn_returned_add(device, &memory->later);
	tn_context_leave(context);
}

/* Of a storage, which may be over that of another context; with one more user.  NULL: there is no
 * host memory. */
static struct memory *enter_memory(struct tn_storage *storage)
{
	const struct tn_foreign *foreign = storage->foreign;
	struct memory *memory;
	if (foreign && foreign->release == leave_memory) {
		memory = foreign->user;
		atomic_fetch_add(&memory->n_users, 1);
		return memory;
	}
	memory = tn_mem_alloc(sizeof(*memory));
	if (!memory)
		return NULL;
	memory->later.release = end_memory;
	memory->storage = storage;
	atomic_init(&memory->n_users, 1);
	storage->references++;
	tn_context_enter(storage->device->context);
	return memory;
}

/* ---- Out -------------------------------------------------------------------------------------*/

static tn_status check_array(const tn_array *array, const char *operation)
{
	struct tn_error_info *error = &array->runtime->report;
	if (array->tracked)
		return tn_fail(error, TN_STATE, operation,
			       "a tape follows the array: end the tape, or copy the array");
	if (tn_capture_writes(array->runtime, array->storage))
		return tn_fail(error, TN_STATE, operation,
			       "a captured graph writes the array's memory: copy the array");
	return TN_OK;
}

static tn_status check_alone(const tn_array *array, const char *operation)
{
	struct tn_error_info *error = &array->runtime->report;
	if (tn_storage_is_read_only(array->storage))
		return tn_storage_refuse_write(array->runtime, operation, "the array",
					       array->storage);
	if (array->storage->references > 1)
		return tn_fail(error, TN_STATE, operation,
			       "the array's memory has %u other views or borrowers",
			       array->storage->references - 1);
	if (array->held || array->kept > 1)
		return tn_fail(error, TN_STATE, operation, "the array has another owner%s",
			       array->held ? ", in the library" : " (tn_keep)");
	return TN_OK;
}

static tn_status wait_for(const tn_array *array, const char *operation)
{
	struct tn_device *device = tn_array_home(array);
	tn_status status = tn_device_begin_wait(device, operation, &array->runtime->report);
	return status ? status : tn_device_sync_all(device, &array->runtime->report);
}

static tn_shared *make_handle(const tn_array *array, const char *operation, int is_constant)
{
	tn_shared *shared = tn_mem_zeroed(1, sizeof(*shared));
	if (shared)
		shared->memory = enter_memory(array->storage);
	if (!shared || !shared->memory) {
		tn_no_memory(&array->runtime->report, operation, NULL, "a handle");
		tn_mem_free(shared);
		return NULL;
	}
	shared->is_constant = is_constant;
	shared->dtype = array->dtype;
	shared->rank = array->rank;
	shared->offset = array->offset;
	memcpy(shared->shape, array->shape, sizeof(shared->shape));
	memcpy(shared->strides, array->strides, sizeof(shared->strides));
	return shared;
}

static tn_shared *share(tn_array *array, const char *operation, int is_constant)
{
	struct tn_runtime *runtime = tn_begin(1, (const tn_array *const *)&array, operation);
	tn_shared *shared = NULL;
	if (!runtime)
		return NULL;
	tn_status status = check_array(array, operation);
	if (!status && !is_constant)
		status = check_alone(array, operation);
	if (!status)
		status = wait_for(array, operation);
	if (!status) {
		tn_observe_unrepeatable(runtime);
		shared = make_handle(array, operation, is_constant);
		status = shared ? TN_OK : TN_OUT_OF_MEMORY;
	}
	tn_end_into(runtime, status);
	return shared;
}

tn_shared *tn_share(tn_array *array)
{
	tn_shared *shared = share(array, "share", 1);
	if (shared)
		array->storage->is_shared = 1;
	return shared;
}

tn_shared *tn_hand_over(tn_array *array)
{
	tn_shared *shared = share(array, "hand_over", 0);
	if (shared)
		tn_array_end(array);
	return shared;
}

/* ---- In --------------------------------------------------------------------------------------*/

/* The device of that name, or the origin itself.  NULL: the context has none. */
static struct tn_device *find_device(tn_context *context, struct tn_device *origin)
{
	if (origin->context == context)
		return origin;
	for (size_t i = 0; i < tn_context_device_count(context); i++) {
		struct tn_device *device = tn_context_device(context, i);
		if (!strcmp(device->name, origin->name))
			return device;
	}
	struct tn_device *reference = context->runtime.reference;
	return strcmp(reference->name, origin->name) ? NULL : reference;
}

static tn_status check_device(struct tn_device *device, const struct tn_device *origin,
			      const char *operation, struct tn_error_info *error)
{
	tn_status status = tn_device_open(device, error);
	if (status)
		return status;
	if (tn_opened_is_lost(origin))
		return tn_fail(error, TN_DEVICE_LOST, operation,
			       "%s was lost earlier, with all its arrays", origin->name);
	const char *reason = tn_opened_apart(device, origin);
	if (!reason || (origin->host_memory && tn_device_takes_any_address(device)))
		return TN_OK;
	return tn_fail(error, TN_UNSUPPORTED, operation,
		       "device: this context and the array's have opened %s apart: %s",
		       origin->name, reason);
}

/* NULL: runtime->report has the error. */
static struct tn_device *choose_device(struct tn_runtime *runtime, const tn_shared *shared,
				       const char *operation)
{
	struct tn_device *origin = shared->memory->storage->device;
	if (origin->fork_generation != tn_fork_generation()) {
		tn_fail(&runtime->report, TN_FORKED, operation,
			"shared: the memory is that of %s in the parent of this process",
			origin->name);
		return NULL;
	}
	struct tn_device *device = find_device(runtime->context, origin);
	if (!device)
		tn_fail(&runtime->report, TN_INVALID_ARGUMENT, operation,
			"device: the array is on %s, which this context does not have: its current "
			"one is %s",
			origin->name, runtime->device->name);
	else if (check_device(device, origin, operation, &runtime->report))
		return NULL;
	return device;
}

static tn_array *make_array(struct tn_runtime *runtime, struct tn_device *device,
			    const tn_shared *shared, const char *operation)
{
	struct memory *memory = shared->memory;
	struct tn_storage *storage;
	if (tn_storage_borrow(runtime, device, operation, memory->storage, &storage))
		return NULL;
	storage->is_shared = shared->is_constant;
	tn_array *array = tn_array_over(runtime, storage, shared->dtype, shared->rank,
					shared->shape, shared->strides, shared->offset);
	if (!array) {
		tn_storage_release(storage);
		return NULL;
	}
	atomic_fetch_add(&memory->n_users, 1);
	storage->foreign->release = leave_memory;
	storage->foreign->user = memory;
	return array;
}

tn_array *tn_shared_array(tn_context *context, tn_shared *shared)
{
	static const char operation[] = "shared_array";
	struct tn_runtime *runtime = tn_runtime_of(context);
	if (!context || tn_runtime_ready(runtime))
		return NULL;
	if (!shared) {
		tn_runtime_null(runtime, operation, "shared");
		return NULL;
	}
	if (tn_handle_find(runtime, shared, operation))
		return NULL;
	struct tn_device *device = choose_device(runtime, shared, operation);
	if (!device)
		return tn_end(runtime, runtime->report.status, NULL);
	if (!shared->is_constant && atomic_exchange(&shared->is_taken, 1)) {
		tn_fail(&runtime->report, TN_STATE, operation,
			"shared: the memory was handed over, and a context has taken it already");
		return tn_end(runtime, TN_STATE, NULL);
	}
	tn_observe_unrepeatable(runtime);
	tn_array *array = make_array(runtime, device, shared, operation);
	if (!array)
		atomic_store(&shared->is_taken, 0);
	return tn_end(runtime, array ? TN_OK : TN_OUT_OF_MEMORY, array);
}

void tn_shared_destroy(tn_shared *shared)
{
	if (!shared || tn_quarantine_check(shared, "shared_destroy", NULL))
		return;
	leave_memory(shared->memory);
	tn_quarantine_end(shared, "the shared memory's handle has been destroyed");
}
