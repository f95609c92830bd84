/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements between host and device, and between devices: directly where both have one backend that
 * supports it, else through the host.
 */
#include <inttypes.h>
#include <string.h>

#include "array/host_buffer.h"
#include "array/make.h"
#include "array/shape.h"
#include "base/memory.h"
#include "device/transfer.h"
#include "dispatch/operand.h"
#include "dispatch/operations.h"
#include "ops/copy.h"
#include "ops/layout.h"
#include "ops/number.h"
#include "program/cast.h"

static uint64_t bytes_of(const tn_array *array)
{
	return (uint64_t)array->size * tn_dtype_size(array->dtype);
}

static tn_status check_size(const tn_array *array, const char *operation, const void *data,
			    size_t size_bytes)
{
	char text[TN_SHAPE_TEXT];
	if (size_bytes == bytes_of(array) && (data || !size_bytes))
		return TN_OK;
	return tn_fail(&array->runtime->report, TN_INVALID_ARGUMENT, operation,
		       "size_bytes: an array of %s %s has %" PRIu64 " bytes, found %zu%s",
		       tn_dtype_name(array->dtype), tn_array_text(array, text), bytes_of(array),
		       size_bytes, data ? "" : " at NULL");
}

/* Transfers: those that wait, and those that may return early. */
typedef tn_status download_fn(struct tn_device *, const struct tn_block *, uint64_t, void *,
			      uint64_t, struct tn_error_info *);
typedef tn_status upload_fn(struct tn_device *, const struct tn_block *, uint64_t, const void *,
			    uint64_t, struct tn_error_info *);

/* The bytes of a dense array, as they lie. */
static tn_status download(const tn_array *array, void *data, download_fn *copy)
{
	uint64_t offset = (uint64_t)array->offset * tn_dtype_size(array->dtype);
	if (!array->size)
		return TN_OK;
	tn_observe_unrepeatable(array->runtime);
	return copy(tn_array_home(array), &array->storage->block, offset, data, bytes_of(array),
		    &array->runtime->report);
}

/* All elements, compact and row-major. */
static tn_status read_elements(const tn_array *array, void *data, download_fn *copy)
{
	if (array->contiguous)
		return download(array, data, copy);
	tn_array *compact = tn_array_compact(array->runtime, array);
	tn_status status = compact ? download(compact, data, copy) : array->runtime->report.status;
	tn_array_discard(compact);
	return status;
}

tn_status tn_to_host(const tn_array *array, void *data, size_t size_bytes)
{
	tn_status status = tn_begin_into(1, &array, "to_host");
	if (status)
		return status;
	status = check_size(array, "to_host", data, size_bytes);
	if (!status)
		status = read_elements(array, data, tn_device_download);
	return tn_end_into(array->runtime, status);
}

static tn_status write_elements(tn_array *array, const void *data, upload_fn *copy)
{
	struct tn_runtime *runtime = array->runtime;
	struct tn_device *device = tn_array_home(array);
	uint64_t offset = (uint64_t)array->offset * tn_dtype_size(array->dtype);
	tn_array *compact;
	tn_status status;
	if (!array->size)
		return TN_OK;
	tn_observe_unrepeatable(runtime);
	if (array->contiguous) {
		status = copy(device, &array->storage->block, offset, data, bytes_of(array),
			      &runtime->report);
		if (!status)
			tn_array_touch(array);
		return status;
	}
	compact = tn_array_make(runtime, device, array->dtype, array->rank, array->shape);
	if (!compact)
		return runtime->report.status;
	status = copy(device, &compact->storage->block, 0, data, bytes_of(array), &runtime->report);
	if (!status)
		status = tn_copy_run(runtime, TN_DO_COPY, array, compact);
	tn_array_discard(compact);
	return status;
}

tn_status tn_assign_host(tn_array *array, const void *data, size_t size_bytes)
{
	const tn_array *in = array;
	tn_status status = tn_begin_into(1, &in, "assign_host");
	if (status)
		return status;
	status = check_size(array, "assign_host", data, size_bytes);
	if (!status)
		status = tn_array_writable(array->runtime, "assign_host", array);
	if (!status)
		status = write_elements(array, data, tn_device_upload);
	return tn_end_into(array->runtime, status);
}

/* ---- Host buffers ----------------------------------------------------------------------------*/

static tn_status check_buffer(const tn_array *array, const char *operation,
			      const tn_host_buffer *buffer, size_t offset)
{
	struct tn_error_info *error = &array->runtime->report;
	char text[TN_SHAPE_TEXT];
	if (!buffer)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation, "buffer is NULL");
	if (tn_host_buffer_check(buffer, operation))
		return TN_PENDING_ERROR;
	if (buffer->device != tn_array_home(array))
		return tn_fail(error, TN_DEVICE, operation,
			       "the array is on %s, the buffer was made for %s%s",
			       tn_array_home(array)->name, buffer->device->name,
			       buffer->device->context == array->runtime->context
				       ? ""
				       : " of another context");
	if (offset > buffer->size || bytes_of(array) > buffer->size - offset)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "offset_bytes: an array of %s %s has %" PRIu64
			       " bytes, which do not fit at %zu in a buffer of %zu",
			       tn_dtype_name(array->dtype), tn_array_text(array, text),
			       bytes_of(array), offset, buffer->size);
	return TN_OK;
}

static tn_status null_array(const char *operation, const tn_host_buffer *buffer)
{
	tn_status status = tn_host_buffer_check(buffer, operation);
	return status ? status
		      : tn_runtime_null(tn_runtime_of(buffer->device->context), operation, "array");
}

tn_status tn_to_host_async(const tn_array *array, tn_host_buffer *buffer, size_t offset)
{
	static const char operation[] = "to_host_async";
	if (!array && buffer)
		return null_array(operation, buffer);
	tn_status status = tn_begin_into(1, &array, operation);
	if (status)
		return status;
	status = check_buffer(array, operation, buffer, offset);
	if (!status) {
		buffer->was_used = 1;
		status = read_elements(array, (char *)buffer->data + offset,
				       tn_device_download_later);
	}
	return tn_end_into(array->runtime, status);
}

tn_status tn_assign_host_async(tn_array *array, tn_host_buffer *buffer, size_t offset)
{
	static const char operation[] = "assign_host_async";
	const tn_array *in = array;
	if (!array && buffer)
		return null_array(operation, buffer);
	tn_status status = tn_begin_into(1, &in, operation);
	if (status)
		return status;
	status = check_buffer(array, operation, buffer, offset);
	if (!status)
		status = tn_array_writable(array->runtime, operation, array);
	if (!status) {
		buffer->was_used = 1;
		status = write_elements(array, (char *)buffer->data + offset,
					tn_device_upload_later);
	}
	return tn_end_into(array->runtime, status);
}

/* The bits of a one-element array. */
static tn_status read_item(const tn_array *array, struct tn_value_bits *bits)
{
	unsigned char data[16] = {0};
	size_t size = tn_dtype_size(array->dtype) / (tn_is_complex(array->dtype) ? 2 : 1);
	char text[TN_SHAPE_TEXT];
	if (array->size != 1)
		return tn_fail(&array->runtime->report, TN_SHAPE, "item",
			       "expected one element, found shape %s", tn_array_text(array, text));
	tn_status status = download(array, data, tn_device_download);
	for (int i = 0; i < 2; i++)
		bits->part[i] = i && !tn_is_complex(array->dtype)
					? 0
					: bits_load(data + (size_t)i * size, size);
	return status;
}

tn_status tn_item(const tn_array *array, double *value)
{
	struct tn_value_bits bits;
	tn_status status = tn_begin_into(1, &array, "item");
	if (status)
		return status;
	if (array->size == 1 && tn_is_complex(array->dtype))
		status = tn_fail(&array->runtime->report, TN_DTYPE, "item",
				 "expected a real type, found %s: tn_item_number reads it",
				 tn_dtype_name(array->dtype));
	if (!status)
		status = read_item(array, &bits);
	if (!status)
		*value = tn_f64_of_bits(tn_cast_bits(array->dtype, TN_F64, bits.part[0]));
	return tn_end_into(array->runtime, status);
}

tn_status tn_item_number(const tn_array *array, tn_number *value)
{
	struct tn_value_bits bits;
	tn_status status = tn_begin_into(1, &array, "item");
	if (status)
		return status;
	status = read_item(array, &bits);
	if (!status)
		*value = tn_number_of_bits(array->dtype, &bits);
	return tn_end_into(array->runtime, status);
}

/* Host memory is read in place; other bytes are staged in a buffer on the host. */
static tn_status copy_through_host(const tn_array *from, tn_array *to)
{
	struct tn_runtime *runtime = from->runtime;
	uint64_t size = bytes_of(from);
	struct tn_block *block = &to->storage->block;
	void *stop;
	tn_status status;
	if (tn_array_home(to)->host_memory) {
		if (!(tn_array_home(to)->description.flags & TN_DEVICE_SYNCHRONOUS)) {
			status = tn_device_sync(tn_array_home(to), &runtime->report);
			if (status)
				return status;
		}
		return download(from, block->address, tn_device_download);
	}
	stop = tn_mem_alloc(size);
	if (!stop)
		return tn_fail(&runtime->report, TN_OUT_OF_MEMORY, "to",
			       "no host memory for %" PRIu64 " bytes", size);
	status = download(from, stop, tn_device_download);
	if (!status)
		status =
			tn_device_upload(tn_array_home(to), block, 0, stop, size, &runtime->report);
	tn_mem_free(stop);
	return status;
}

tn_array *tn_to(const tn_array *array, tn_device *device)
{
	struct tn_runtime *runtime = tn_begin(1, &array, "to");
	struct tn_record record = {.kind = TN_RECORD_COPY, .operation = "to"};
	const tn_array *from = array;
	tn_array *out, *compact = NULL;
	tn_status status;
	if (!array && device)
		tn_runtime_null(tn_runtime_of(device->context), "to", "array");
	else if (runtime && !device)
		tn_runtime_null(runtime, "to", "device");
	if (!runtime || !device)
		return NULL;
	if (device->context != runtime->context) {
		tn_runtime_fail(runtime, TN_DEVICE, "to", "%s belongs to another context",
				device->name);
		return NULL;
	}
	if (device == tn_array_home(array))
		return tn_keep(tn_array_const_cast(array));
	if (!array->dense) {
		compact = tn_array_compact(runtime, array);
		if (!compact)
			return tn_end(runtime, runtime->report.status, NULL);
		from = compact;
	}
	out = tn_array_make_on(device, from);
	status = out ? TN_OK : runtime->report.status;
	if (!status && from->size) {
		tn_observe_unrepeatable(runtime);
		status = tn_device_copy_peer(device, &out->storage->block, tn_array_home(from),
					     &from->storage->block,
					     (uint64_t)from->offset * tn_dtype_size(from->dtype),
					     bytes_of(from), &runtime->report);
		if (status == TN_UNSUPPORTED)
			status = copy_through_host(from, out);
	}
	tn_array_discard(compact);
	if (!status && tn_is_inexact(array->dtype))
		status = tn_record_made(runtime, &record, 1, &array, out);
	return tn_end(runtime, status, out);
}
