/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays over memory that the program owns, and the memory of arrays for others.
 */
#include "ops/wrap.h"

#include <inttypes.h>

#include "array/make.h"
#include "array/shape.h"
#include "device/open.h"
#include "device/turn.h"

/* The strides of a view, and that all its elements lie inside the memory.  The strides of empty
 * arrays, and those of axes of one element, are not read: they become those of a compact array. */
static tn_status check_layout(struct tn_runtime *runtime, const char *operation,
			      const struct tn_wrap_options *options, int64_t n, int64_t *strides)
{
	struct tn_error_info *error = &runtime->report;
	const int rank = options->rank;
	const uint64_t most = options->size_bytes / tn_dtype_size(options->dtype);
	int64_t low = options->offset, high = low;
	char shape[TN_SHAPE_TEXT], steps[TN_SHAPE_TEXT];
	tn_shape_compact(rank, options->shape, strides);
	if (!n)
		return TN_OK;
	for (int i = 0; i < rank; i++) {
		int64_t reach;
		if (options->strides && options->shape[i] > 1)
			strides[i] = options->strides[i];
		if (__builtin_mul_overflow(options->shape[i] - 1, strides[i], &reach) ||
		    __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
			return tn_fail(error, TN_INVALID_ARGUMENT, operation,
				       "strides: %s of shape %s are more than can be addressed",
				       tn_shape_print(rank, strides, steps),
				       tn_shape_print(rank, options->shape, shape));
	}
	if (low >= 0 && (uint64_t)high < most)
		return TN_OK;
	return tn_fail(error, TN_INVALID_ARGUMENT, operation,
		       "size_bytes: %" PRIu64 " bytes hold %" PRIu64
		       " elements of %s, but shape %s "
		       "with strides %s at offset %" PRId64 " has elements %" PRId64 " to %" PRId64,
		       options->size_bytes, most, tn_dtype_name(options->dtype),
		       tn_shape_print(rank, options->shape, shape),
		       tn_shape_print(rank, strides, steps), options->offset, low, high);
}

static tn_status check_memory(struct tn_runtime *runtime, const char *operation,
			      const struct tn_wrap_options *options, int64_t n)
{
	struct tn_error_info *error = &runtime->report;
	const uint64_t address = (uint64_t)(uintptr_t)options->data;
	const size_t size = tn_dtype_size(options->dtype);
	if (!n)
		return TN_OK;
	if (!address)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation, "data is NULL");
	if (address % size)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "data: expected a multiple of %zu, the size of %s, found the "
			       "address %#" PRIx64,
			       size, tn_dtype_name(options->dtype), address);
	if (options->size_bytes > (uint64_t)INT64_MAX || address > UINT64_MAX - options->size_bytes)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "size_bytes: %" PRIu64 " bytes from data on are more than can be "
			       "addressed",
			       options->size_bytes);
	return TN_OK;
}

/* An empty array has storage of its own: its memory is never used, and released at once. */
static tn_array *make_empty(struct tn_runtime *runtime, struct tn_device *device,
			    const struct tn_wrap_options *options)
{
	tn_array *array =
		tn_array_make(runtime, device, options->dtype, options->rank, options->shape);
	if (array && options->release)
		options->release(options->user);
	return array;
}

tn_array *tn_wrap_memory(struct tn_runtime *runtime, struct tn_device *device,
			 const char *operation, const struct tn_wrap_options *options)
{
	struct tn_storage *storage;
	int64_t strides[TN_MAX_RANK], n;
	tn_status status = tn_shape_check(runtime, operation, options->dtype, options->rank,
					  options->shape, &n);
	if (!status)
		status = check_memory(runtime, operation, options, n);
	if (!status)
		status = check_layout(runtime, operation, options, n, strides);
	if (status)
		return tn_end(runtime, status, NULL);
	tn_observe_unrepeatable(runtime);
	if (!n)
		return tn_end(runtime, TN_OK, make_empty(runtime, device, options));
	status = tn_storage_wrap(runtime, device, operation, (uint64_t)(uintptr_t)options->data,
				 options->size_bytes, &storage);
	if (status)
		return tn_end(runtime, status, NULL);
	tn_array *array = tn_array_over(runtime, storage, options->dtype, options->rank,
					options->shape, strides, options->offset);
	if (!array) {
		tn_storage_release(storage);
		return tn_end(runtime, TN_OUT_OF_MEMORY, NULL);
	}
	storage->foreign->is_read_only = options->is_read_only != 0;
	storage->foreign->release = options->release;
	storage->foreign->user = options->user;
	return array;
}

tn_array *tn_array_wrap(tn_context *context, const struct tn_wrap_options *given)
{
	static const char operation[] = "array_wrap";
	struct tn_runtime *runtime = tn_runtime_of(context);
	struct tn_wrap_options options = tn_wrap_defaults();
	if (!context || tn_runtime_ready(runtime) ||
	    tn_runtime_take(runtime, &options, sizeof(options), given, "struct tn_wrap_options",
			    operation))
		return NULL;
	struct tn_device *device = runtime->device;
	if (!tn_device_takes_any_address(device)) {
		tn_runtime_fail(runtime, TN_UNSUPPORTED, operation,
				"%s cannot use any address of host memory: copy with tn_from_host, "
				"or make a device current that can",
				device->name);
		return NULL;
	}
	return tn_wrap_memory(runtime, device, operation, &options);
}

tn_array *tn_array_import(tn_device *device, const struct tn_wrap_options *given)
{
	static const char operation[] = "array_import";
	struct tn_wrap_options options = tn_wrap_defaults();
	if (!device)
		return NULL;
	struct tn_runtime *runtime = tn_runtime_of(device->context);
	if (tn_runtime_ready(runtime) || tn_runtime_take(runtime, &options, sizeof(options), given,
							 "struct tn_wrap_options", operation))
		return NULL;
	return tn_wrap_memory(runtime, device, operation, &options);
}

tn_status tn_wrap_address(const tn_array *array, const char *operation, uint64_t *pointer)
{
	struct tn_error_info *error = &array->runtime->report;
	struct tn_device *device = tn_array_home(array);
	const struct tn_block *block = &array->storage->block;
	const struct tn_export_args args = {.call = {.struct_size = sizeof(args), .error = error},
					    .buffer = block->buffer};
	if (device->host_memory) {
		*pointer = (uint64_t)(uintptr_t)block->address - block->offset;
		return TN_OK;
	}
	if (!tn_backend_has_all(device->backend, TN_SLOT_IMPORT_MEMORY, TN_SLOT_EXPORT_MEMORY))
		return tn_fail(error, TN_UNSUPPORTED, operation,
			       "%s: the backend does not give its memory away (" TN_TABLE_IMPORT
			       ")",
			       device->name);
	tn_status status = tn_device_ready(device, error);
	if (status)
		return status;
	tn_error_reset(error);
	return tn_device_answer(device,
				tn_turn_end(device, device->backend->import.export_memory(
							    tn_turn_begin(device), &args, pointer)),
				error);
}

tn_status tn_array_export(const tn_array *array, void **data, uint64_t *offset_bytes)
{
	static const char operation[] = "array_export";
	uint64_t pointer;
	tn_status status = tn_begin_into(1, &array, operation);
	if (status)
		return status;
	if (!data || !offset_bytes)
		return tn_runtime_fail(array->runtime, TN_INVALID_ARGUMENT, operation,
				       "data or offset_bytes is NULL");
	status = tn_wrap_address(array, operation, &pointer);
	if (status)
		return tn_end_into(array->runtime, status);
	*data = (void *)(uintptr_t)pointer;
	*offset_bytes = tn_array_byte_offset(array);
	return TN_OK;
}
