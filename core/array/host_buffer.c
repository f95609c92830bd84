/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host buffers: the backend's pinned memory, else memory of the host.  They belong to the context.
 */
#include "array/host_buffer.h"

#include "array/handle.h"
#include "base/fork.h"
#include "base/memory.h"
#include "device/open.h"
#include "device/turn.h"

enum { ALIGNMENT = 256 };

static tn_status take_pinned(struct tn_host_buffer *buffer, uint64_t size,
			     struct tn_error_info *error)
{
	struct tn_device *device = buffer->device;
	const struct tn_alloc_args args = {.call = {.struct_size = sizeof(args), .error = error},
					   .size = size,
					   .alignment = ALIGNMENT,
					   .memory_kind = TN_MEMORY_PINNED};
	uint64_t handle = 0;
	tn_error_reset(error);
	tn_status status = tn_device_answer(
		device,
		tn_turn_end(device,
			    device->backend->device.alloc(tn_turn_begin(device), &args, &handle)),
		error);
	buffer->data = (void *)(uintptr_t)handle;
	return status;
}

/* In a forked child pinned memory belongs to the parent. */
static void give_pinned(const struct tn_host_buffer *buffer)
{
	struct tn_device *device = buffer->device;
	struct tn_error_info error;
	const struct tn_free_args args = {.call = {.struct_size = sizeof(args), .error = &error},
					  .buffer = (uint64_t)(uintptr_t)buffer->data};
	if (device->fork_generation != tn_fork_generation())
		return;
	tn_error_reset(&error);
	tn_status status =
		tn_turn_end(device, device->backend->device.free(tn_turn_begin(device), &args));
	if (tn_device_answer(device, status, &error) && status != TN_DEVICE_LOST)
		tn_log_format(device->logger, TN_LOG_WARNING, "host_buffer", "%s", error.text);
}

static void free_buffer(struct tn_deferred_release *later)
{
	struct tn_host_buffer *buffer = (struct tn_host_buffer *)later;
	if (buffer->is_pinned)
		give_pinned(buffer);
	else
		tn_mem_free(buffer->data);
	tn_quarantine_end(buffer, "the host buffer has been destroyed");
}

tn_status tn_host_buffer_check(const struct tn_host_buffer *buffer, const char *operation)
{
	return tn_handle_refuse(tn_runtime_of(buffer->device->context), buffer->has_ended,
				operation, "the host buffer has been destroyed");
}

tn_host_buffer *tn_host_buffer_create(tn_device *device, size_t size_bytes)
{
	static const char operation[] = "host_buffer_create";
	if (!device)
		return NULL;
	struct tn_runtime *runtime = tn_runtime_of(device->context);
	size_t size = size_bytes ? size_bytes : 1;
	if (tn_runtime_ready(runtime))
		return NULL;
	if (tn_device_open(device, &runtime->report)) {
		tn_runtime_keep(runtime, &runtime->report);
		return NULL;
	}
	struct tn_host_buffer *buffer = tn_mem_zeroed(1, sizeof(*buffer));
	if (!buffer) {
		tn_runtime_fail(runtime, TN_OUT_OF_MEMORY, operation,
				"no host memory for %zu bytes", sizeof(*buffer));
		return NULL;
	}
	buffer->later.release = free_buffer;
	buffer->device = device;
	buffer->size = size_bytes;
	buffer->is_pinned = (int)(device->description.memory_kinds >> TN_MEMORY_PINNED & 1);
	tn_status status = TN_OK;
	if (buffer->is_pinned)
		status = take_pinned(buffer, size, &runtime->report);
	else if ((buffer->data = tn_mem_aligned(size, ALIGNMENT)) == NULL)
		status = tn_fail(&runtime->report, TN_OUT_OF_MEMORY, operation,
				 "no host memory for %zu bytes", size);
	if (status) {
		tn_runtime_keep(runtime, &runtime->report);
		tn_mem_free(buffer);
		return NULL;
	}
	buffer->next = runtime->host_buffers;
	if (buffer->next)
		buffer->next->previous = buffer;
	runtime->host_buffers = buffer;
	return buffer;
}

void tn_host_buffer_destroy(tn_host_buffer *buffer)
{
	if (!buffer || tn_host_buffer_check(buffer, "host_buffer_destroy"))
		return;
	struct tn_runtime *runtime = tn_runtime_of(buffer->device->context);
	buffer->has_ended = 1;
	if (buffer->previous)
		buffer->previous->next = buffer->next;
	else
		runtime->host_buffers = buffer->next;
	if (buffer->next)
		buffer->next->previous = buffer->previous;
	if (buffer->was_used)
		tn_device_defer_release(buffer->device, &buffer->later);
	else
		free_buffer(&buffer->later);
}

void tn_runtime_free_host_buffers(struct tn_runtime *runtime)
{
	while (runtime->host_buffers)
		tn_host_buffer_destroy(runtime->host_buffers);
}

static int is_usable(const tn_host_buffer *buffer, const char *operation)
{
	return buffer && !tn_host_buffer_check(buffer, operation);
}

void *tn_host_buffer_data(const tn_host_buffer *buffer)
{
	return is_usable(buffer, "host_buffer_data") ? buffer->data : NULL;
}

size_t tn_host_buffer_size(const tn_host_buffer *buffer)
{
	return is_usable(buffer, "host_buffer_size") ? buffer->size : 0;
}

int tn_host_buffer_is_pinned(const tn_host_buffer *buffer)
{
	return is_usable(buffer, "host_buffer_is_pinned") ? buffer->is_pinned : 0;
}
