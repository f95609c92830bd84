/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays for other libraries.  What they hold is the storage and the context, and they give both
 * back from any thread (device/returned.h).
 */
#include <tenon/dlpack.h>

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/handle.h"
#include "base/memory.h"
#include "context/context.h"
#include "device/native.h"
#include "device/returned.h"
#include "device/transfer.h"
#include "io/dlpack_type.h"
#include "ops/wrap.h"

/* What a consumer holds. */
struct lent {
	struct tn_deferred_release later;
	struct tn_storage *storage;
	struct tn_dlpack_managed versioned;
	struct tn_dlpack_managed_unversioned unversioned;
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK];
};

/* ---- The end ---------------------------------------------------------------------------------*/

static void end_lent(struct tn_deferred_release *later)
{
	struct lent *lent = (struct lent *)later;
	tn_storage_release(lent->storage);
	tn_mem_free(lent);
}

/* From any thread.  Once it is in the list, another thread may free it. */
static void give_back(struct lent *lent)
{
	struct tn_device *device = lent->storage->device;
	tn_context *context = device->context;
	tn_returned_add(device, &lent->later);
	tn_context_leave(context);
}

static void delete_versioned(struct tn_dlpack_managed *managed)
{
	if (managed)
		give_back(managed->manager_ctx);
}

static void delete_unversioned(struct tn_dlpack_managed_unversioned *managed)
{
	if (managed)
		give_back(managed->manager_ctx);
}

/* ---- The beginning ---------------------------------------------------------------------------*/

static tn_status check_options(const tn_array *array, const char *operation,
			       const struct tn_to_dlpack_options *options)
{
	struct tn_error_info *error = &array->runtime->report;
	struct tn_dlpack_device place;
	if (options->copy > TN_COPY_ALWAYS)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "copy: expected TN_COPY_IF_NEEDED (0), NEVER (1) or ALWAYS (2), "
			       "found %" PRIu32,
			       options->copy);
	if (options->stream < -1)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "stream: expected -1 or more, found %" PRId64, options->stream);
	if (!options->on_host && !tn_dlpack_of_device(tn_array_home(array), &place))
		return tn_fail(error, TN_UNSUPPORTED, operation,
			       "DLPack has no type for the memory of %s: ask for it on the host "
			       "(on_host)",
			       tn_array_home(array)->name);
	return TN_OK;
}

/* The array to share: itself, referenced, or the copy that is needed.  NULL: runtime->report or the
 * context has the error. */
static tn_array *choose(const tn_array *array, const char *operation,
			const struct tn_to_dlpack_options *options, int *is_copy)
{
	struct tn_runtime *runtime = array->runtime;
	int moves = options->on_host && !tn_array_home(array)->host_memory;
	*is_copy = moves || options->copy == TN_COPY_ALWAYS;
	if (moves && options->copy == TN_COPY_NEVER) {
		tn_fail(&runtime->report, TN_UNSUPPORTED, operation,
			"copy: the host cannot read memory of %s without a copy",
			tn_array_home(array)->name);
		return NULL;
	}
	if (!*is_copy)
		return tn_refuse_tracked(runtime, operation, 1, &array)
			       ? NULL
			       : tn_keep(tn_array_const_cast(array));
	tn_array *view = tn_array_untracked(operation, array);
	tn_array *copy = moves ? tn_to(view, runtime->reference) : tn_copy(view);
	tn_array_destroy(view);
	return copy;
}

static void fill_tensor(const tn_array *array, struct lent *lent, uint64_t pointer,
			struct tn_dlpack_tensor *tensor)
{
	uint64_t first = pointer + tn_array_byte_offset(array);
	memcpy(lent->shape, array->shape, sizeof(lent->shape));
	memcpy(lent->strides, array->strides, sizeof(lent->strides));
	*tensor = (struct tn_dlpack_tensor){.data = (void *)(uintptr_t)first,
					    .ndim = array->rank,
					    .dtype = tn_dlpack_of_dtype(array->dtype),
					    .shape = lent->shape,
					    .strides = lent->strides};
	tn_dlpack_of_device(tn_array_home(array), &tensor->device);
}

static struct lent *lend(const tn_array *array, const char *operation, uint64_t flags)
{
	struct tn_runtime *runtime = array->runtime;
	uint64_t pointer;
	if (tn_wrap_address(array, operation, &pointer))
		return NULL;
	struct lent *lent = tn_mem_zeroed(1, sizeof(*lent));
	if (!lent) {
		tn_fail(&runtime->report, TN_OUT_OF_MEMORY, operation,
			"no host memory for %zu bytes", sizeof(*lent));
		return NULL;
	}
	fill_tensor(array, lent, pointer, &lent->versioned.tensor);
	lent->later.release = end_lent;
	lent->storage = array->storage;
	lent->versioned.version.major = TN_DLPACK_MAJOR;
	lent->versioned.version.minor = TN_DLPACK_MINOR;
	lent->versioned.manager_ctx = lent;
	lent->versioned.deleter = delete_versioned;
	lent->versioned.flags = flags;
	lent->unversioned.tensor = lent->versioned.tensor;
	lent->unversioned.manager_ctx = lent;
	lent->unversioned.deleter = delete_unversioned;
	lent->storage->references++;
	tn_context_enter(runtime->context);
	return lent;
}

/* The consumer's stream waits for the array's, or the host does. */
static tn_status wait_for(const tn_array *array, const char *operation, int64_t stream)
{
	struct tn_device *device = tn_array_home(array);
	struct tn_error_info *error = &array->runtime->report;
	if (stream == -1 || device->synchronous)
		return TN_OK;
	if (stream && tn_device_has_native(device))
		return tn_device_give_to(device, (uint64_t)stream, operation, error);
	tn_status status = tn_device_begin_wait(device, operation, error);
	return status ? status : tn_device_sync(device, error);
}

static uint64_t flags_of(const tn_array *array, int is_copy)
{
	if (is_copy)
		return TN_DLPACK_COPIED;
	return tn_storage_is_read_only(array->storage) ? TN_DLPACK_READ_ONLY : 0;
}

static struct lent *make(const tn_array *array, const char *operation, int has_flags,
			 const struct tn_to_dlpack_options *given)
{
	struct tn_to_dlpack_options options = tn_to_dlpack_defaults();
	struct lent *lent = NULL;
	struct tn_runtime *runtime = tn_begin(1, &array, operation);
	int is_copy;
	if (!runtime || tn_runtime_take(runtime, &options, sizeof(options), given,
					"struct tn_to_dlpack_options", operation))
		return NULL;
	tn_status status = check_options(array, operation, &options);
	if (status) {
		tn_end_into(runtime, status);
		return NULL;
	}
	runtime->report.status = TN_OK;
	tn_array *shared = choose(array, operation, &options, &is_copy);
	status = shared ? TN_OK : runtime->report.status;
	uint64_t flags = shared ? flags_of(shared, is_copy) : 0;
	if (shared && (flags & TN_DLPACK_READ_ONLY) && !has_flags)
		status = tn_fail(&runtime->report, TN_UNSUPPORTED, operation,
				 "the array's memory is read-only, which DLPack before 1.0 cannot "
				 "say: copy it (TN_COPY_ALWAYS)");
	if (shared && !status)
		status = wait_for(shared, operation, options.stream);
	if (shared && !status) {
		tn_observe_unrepeatable(runtime);
		lent = lend(shared, operation, flags);
		status = lent ? TN_OK : runtime->report.status;
	}
	tn_array_destroy(shared);
	tn_end_into(runtime, status);
	return lent;
}

struct tn_dlpack_managed *tn_to_dlpack(const tn_array *array,
				       const struct tn_to_dlpack_options *options)
{
	struct lent *lent = make(array, "to_dlpack", 1, options);
	return lent ? &lent->versioned : NULL;
}

struct tn_dlpack_managed_unversioned *
tn_to_dlpack_unversioned(const tn_array *array, const struct tn_to_dlpack_options *options)
{
	struct lent *lent = make(array, "to_dlpack_unversioned", 0, options);
	return lent ? &lent->unversioned : NULL;
}

tn_status tn_dlpack_device_of(const tn_array *array, struct tn_dlpack_device *device)
{
	if (!array || !device)
		return TN_INVALID_ARGUMENT;
	if (tn_handle_check(array->runtime, "dlpack_device_of"))
		return TN_STATE;
	return tn_dlpack_of_device(tn_array_home(array), device) ? TN_OK : TN_UNSUPPORTED;
}
