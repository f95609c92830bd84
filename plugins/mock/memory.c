/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory that the host cannot read.  Neither a handle nor the sum of a handle and an offset is a
 * valid address, so a program that uses a handle as an address crashes at once:
 *
 *	bits 63-48   0xa5c5.  x86-64 faults on an address whose highest bits are not all equal, with
 *	             48 and with 57 bits of address; aarch64, which may ignore bits 63-56, on a 1 in
 *	             bit 55
 *	bits 47-0    the buffer's number times an odd constant: scattered, never reused
 *
 * Allocated memory is filled with 0xff bytes (NaN, -1), so that it is not mistaken for zeros.
 *
 * Pinned memory is the host's: its handle is its address.  For other memory what the vendor's
 * interface would call a pointer is the address of the hidden memory, so that any memory of the
 * host can be imported.
 */
#include <string.h>
#include <unistd.h>

#include "mock.h"

#define TAG (UINT64_C(0xa5c5) << 48)
#define SCATTER UINT64_C(0x9e3779b97f4b)
#define ADDRESS_BITS UINT64_C(0xffffffffffff)

uint64_t mock_memory_size(const struct mock_instance *instance)
{
	if (instance->faults.oom_after)
		return instance->faults.oom_after;
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t memory_of(const struct mock_device *device)
{
	return device->limit ? device->limit : mock_memory_size(device->instance);
}

/* A buffer over memory that is there, in the device's list.  NULL: no host memory. */
static struct mock_buffer *make_buffer(struct mock_device *device, void *memory, uint64_t size)
{
	struct mock_buffer *buffer = mock_host_alloc(device, sizeof(*buffer));
	if (!buffer)
		return NULL;
	memset(buffer, 0, sizeof(*buffer));
	buffer->memory = memory;
	buffer->size = size;
	buffer->handle = TAG | (mock_count(&device->instance->n_buffers) * SCATTER & ADDRESS_BITS);
	buffer->next = device->buffers;
	device->buffers = buffer;
	return buffer;
}

/* As of a real device, its memory is one, however often it is opened. */
static uint64_t *used_of(struct mock_device *device)
{
	return &device->instance->used[device->index];
}

/* New memory is NaN, at least at both ends: the whole of a large one would take seconds. */
static void fill(unsigned char *memory, uint64_t size)
{
	const uint64_t most = 16 << 20, part = size < most ? size : most;
	memset(memory, 0xff, part);
	memset(memory + size - part, 0xff, part);
}

static struct mock_buffer *allocate_buffer(struct mock_device *device,
					   const struct tn_alloc_args *args)
{
	const struct tn_host *host = device->instance->host;
	void *memory = host->alloc(host->context, args->size,
				   args->alignment < 256 ? 256 : args->alignment);
	struct mock_buffer *buffer = memory ? make_buffer(device, memory, args->size) : NULL;
	if (!buffer) {
		mock_host_free(device, memory);
		return NULL;
	}
	fill(memory, args->size);
	buffer->is_pinned = args->memory_kind == TN_MEMORY_PINNED;
	if (buffer->is_pinned)
		buffer->handle = (uint64_t)(uintptr_t)memory;
	else
		__atomic_fetch_add(used_of(device), buffer->size, __ATOMIC_RELAXED);
	return buffer;
}

static tn_status fail_allocation(struct mock_fault *fault, const struct tn_alloc_args *args)
{
	uint64_t number = mock_fault_due(fault);
	if (!number)
		return TN_OK;
	return tn_plugin_fail(args->call.error, TN_OUT_OF_MEMORY, "alloc",
			      "allocation %llu, of %llu bytes, fails (%s:%llu)",
			      (unsigned long long)number, (unsigned long long)args->size,
			      fault->name, (unsigned long long)number);
}

tn_status mock_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	struct mock_device *mock = device;
	struct tn_alloc_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, TN_DRY_RUN, "alloc");
	if (status)
		return status;
	if (own.memory_kind != TN_MEMORY_DEVICE && own.memory_kind != TN_MEMORY_PINNED)
		return tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "alloc",
				      "memory kind %u: expected 0 (device) or 1 (pinned)",
				      own.memory_kind);
	if (own.size == 0 || own.alignment & (own.alignment - 1))
		return tn_plugin_fail(
			own.call.error, TN_INVALID_ARGUMENT, "alloc",
			"%llu bytes aligned to %llu: expected at least 1 byte and a power of two",
			(unsigned long long)own.size, (unsigned long long)own.alignment);
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	/* Is there enough memory, and does no fault forbid the allocation? */
	struct mock_instance *instance = mock->instance;
	uint64_t total = memory_of(mock);
	uint64_t used = __atomic_load_n(used_of(mock), __ATOMIC_RELAXED);
	status = fail_allocation(&instance->faults.oom, &own);
	if (!status)
		status = fail_allocation(&mock->failing_allocations, &own);
	if (status)
		return status;
	if (own.memory_kind == TN_MEMORY_DEVICE && (own.size > total || used > total - own.size))
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "alloc",
				      "%llu bytes requested, %llu of %llu used%s",
				      (unsigned long long)own.size, (unsigned long long)used,
				      (unsigned long long)total,
				      instance->faults.oom_after ? " (TENON_MOCK=oom-after)" : "");
	struct mock_buffer *made = allocate_buffer(mock, &own);
	if (!made)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "alloc",
				      "no host memory for %llu bytes of the device",
				      (unsigned long long)own.size);
	*buffer = made->handle;
	return TN_OK;
}

static void free_buffer(struct mock_device *device, struct mock_buffer *buffer)
{
	if (!buffer->is_imported)
		mock_host_free(device, buffer->memory);
	if (!buffer->is_imported && !buffer->is_pinned)
		__atomic_fetch_sub(used_of(device), buffer->size, __ATOMIC_RELAXED);
	mock_host_free(device, buffer);
}

/* On a lost device too: its buffers are freed as well. */
static tn_status remove_buffer(struct mock_device *mock, const struct tn_free_args *args,
			       int is_imported, const char *operation)
{
	struct tn_free_args own;
	tn_status status = mock_begin(NULL, &own, sizeof(own), args, 0, operation);
	if (status)
		return status;
	struct mock_buffer **link = &mock->buffers;
	while (*link && (*link)->handle != own.buffer)
		link = &(*link)->next;
	struct mock_buffer *found = *link;
	if (!found)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, operation,
				      "buffer %#llx does not belong to this device",
				      (unsigned long long)own.buffer);
	if (found->is_imported != is_imported)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, operation,
				      "buffer %#llx was %s", (unsigned long long)own.buffer,
				      is_imported ? "allocated, not imported"
						  : "imported: use import_release");
	if (found->n_users)
		return tn_plugin_fail(own.call.error, TN_STATE, operation,
				      "%llu pieces of work that use the buffer have not run",
				      (unsigned long long)found->n_users);
	*link = found->next;
	free_buffer(mock, found);
	return TN_OK;
}

tn_status mock_free(void *device, const struct tn_free_args *args)
{
	return remove_buffer(device, args, 0, "free");
}

/* ---- Table tenon.import/1 --------------------------------------------------------------------*/

static tn_status import_memory(void *device, const struct tn_import_args *args, uint64_t *buffer)
{
	struct mock_device *mock = device;
	struct tn_import_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "import_memory");
	if (status)
		return status;
	if (!own.pointer || !own.size || own.pointer > UINT64_MAX - own.size)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "import_memory",
				      "%llu bytes at %#llx", (unsigned long long)own.size,
				      (unsigned long long)own.pointer);
	if (own.pointer >> 48 == TAG >> 48)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "import_memory",
				      "%#llx is a handle, not a pointer",
				      (unsigned long long)own.pointer);
	struct mock_buffer *made = make_buffer(mock, (void *)(uintptr_t)own.pointer, own.size);
	if (!made)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "import_memory",
				      "no host memory for the record of a buffer");
	made->is_imported = 1;
	*buffer = made->handle;
	return TN_OK;
}

static tn_status import_release(void *device, const struct tn_free_args *args)
{
	return remove_buffer(device, args, 1, "import_release");
}

static tn_status export_memory(void *device, const struct tn_export_args *args, uint64_t *pointer)
{
	struct mock_device *mock = device;
	struct tn_export_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "export_memory");
	if (status)
		return status;
	const struct mock_buffer *found = mock_buffer_find(mock, own.buffer);
	if (!found)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "export_memory",
				      "buffer %#llx does not belong to this device",
				      (unsigned long long)own.buffer);
	*pointer = (uint64_t)(uintptr_t)found->memory;
	return TN_OK;
}

const struct tn_import_table mock_import_table = {
	.struct_size = sizeof(mock_import_table),
	.import_memory = import_memory,
	.import_release = import_release,
	.export_memory = export_memory,
};

/* ---- Finding buffers, and table tenon.memory/1 -----------------------------------------------*/

struct mock_buffer *mock_buffer_find(const struct mock_device *device, uint64_t handle)
{
	struct mock_buffer *buffer = device->buffers;
	while (buffer && buffer->handle != handle)
		buffer = buffer->next;
	return buffer;
}

void mock_buffers_free(struct mock_device *device)
{
	while (device->buffers) {
		struct mock_buffer *buffer = device->buffers;
		device->buffers = buffer->next;
		free_buffer(device, buffer);
	}
}

static tn_status information(void *device, uint32_t memory_kind, struct tn_memory_information *out)
{
	struct mock_device *mock = device;
	struct tn_memory_information own = {.total_bytes = memory_of(mock)};
	if (memory_kind != TN_MEMORY_DEVICE)
		return TN_UNSUPPORTED;
	if (mock->loss.status)
		return TN_DEVICE_LOST;
	const uint64_t used = __atomic_load_n(used_of(mock), __ATOMIC_RELAXED);
	own.free_bytes = own.total_bytes > used ? own.total_bytes - used : 0;
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

const struct tn_memory_table mock_memory_table = {
	.struct_size = sizeof(mock_memory_table),
	.information = information,
};
