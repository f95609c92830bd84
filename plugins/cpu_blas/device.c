/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.device/1: one device, whose buffers are host memory and whose handles are addresses.
 * Every entry's work is done when it returns, so streams and asynchronous errors need no code.
 * Huge pages are requested for large buffers: a first touch then costs one fault in 512.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "plugin.h"
#include "processor.h"

#define HUGE_PAGE (UINT64_C(2) << 20)
#define SMALLEST_ALIGNMENT 256

#define BIT(dtype) (UINT64_C(1) << (dtype))

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	(void)instance;
	struct tn_device_count own = {.struct_size = out->struct_size, .count = 1};
	memcpy(out, &own, own.struct_size < sizeof(own) ? own.struct_size : sizeof(own));
	return TN_OK;
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct cpu_instance *cpu = instance;
	if (index != 0)
		return TN_INVALID_ARGUMENT;
	struct tn_device_description own = {.struct_size = out->struct_size,
					    .kind = TN_DEVICE_CPU,
					    .flags = TN_DEVICE_HOST_MEMORY | TN_DEVICE_SYNCHRONOUS |
						     TN_DEVICE_CONCURRENT_STREAMS |
						     TN_DEVICE_TAKES_ANY_ADDRESS,
					    .memory_kinds = 1u << TN_MEMORY_DEVICE};
	/* All sixteen dtypes except 0. */
	own.storage_dtypes = 0xfffe;
	own.program_dtypes =
		BIT(TN_BOOL) | BIT(TN_I32) | BIT(TN_U32) | BIT(TN_I64) | BIT(TN_F32) | BIT(TN_F64);
	own.matmul_dtypes = BIT(TN_F32) | BIT(TN_F64);
	own.alignment = SMALLEST_ALIGNMENT;
	own.preferred_layout = TN_LAYOUT_NHWC;
	own.identity_type = TN_IDENTITY_NONE;
	own.score = 100;
	own.numerics = TN_NUMERICS_F32_SUBNORMALS | TN_NUMERICS_F16_SUBNORMALS;
	uint64_t available;
	cpu_memory_size(&own.memory_bytes, &available);
	own.max_alloc_bytes = own.memory_bytes;
	memset(own.accuracy, TN_ACCURACY_IEEE, sizeof(own.accuracy));
	memset(own.determinism, TN_DETERMINISM_ALWAYS, sizeof(own.determinism));
	snprintf(own.name, sizeof(own.name), "%s", cpu->name);
	snprintf(own.note, sizeof(own.note), "kernels for %s; %.200s", cpu->kernels->name,
		 cpu->blas.note);
	memcpy(out, &own, own.struct_size < sizeof(own) ? own.struct_size : sizeof(own));
	return TN_OK;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	struct cpu_instance *cpu = instance;
	struct tn_open_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, 0, "open");
	if (status)
		return status;
	if (own.index != 0)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "open",
				      "device %u: expected 0", own.index);
	if (own.native)
		return tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "open",
				      "native: there is no device of others");
	struct cpu_device *opened = cpu->host->alloc(cpu->host->context, sizeof(*opened), 0);
	if (!opened)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "open",
				      "no memory for a device");
	opened->instance = cpu;
	*device = opened;
	return TN_OK;
}

static void close_device(void *device)
{
	struct cpu_device *cpu = device;
	cpu->instance->host->free(cpu->instance->host->context, cpu);
}

static tn_status alloc_buffer(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	const struct tn_host *host = ((struct cpu_device *)device)->instance->host;
	struct tn_alloc_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, TN_DRY_RUN, "alloc");
	if (status)
		return status;
	struct tn_error_info *error = own.call.error;
	if (own.memory_kind != TN_MEMORY_DEVICE)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "alloc",
				      "memory kind %u: expected 0, the only kind", own.memory_kind);
	if (own.size == 0 || (own.alignment & (own.alignment - 1)))
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, "alloc",
			"%llu bytes aligned to %llu: expected at least 1 byte and a power of two",
			(unsigned long long)own.size, (unsigned long long)own.alignment);
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	uint64_t alignment = own.size >= 2 * HUGE_PAGE ? HUGE_PAGE : SMALLEST_ALIGNMENT;
	if (own.alignment > alignment)
		alignment = own.alignment;
	void *memory = NULL;
	if (own.size <= SIZE_MAX - alignment)
		memory = host->alloc(host->context, own.size, alignment);
	if (!memory)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "alloc",
				      "no host memory for %llu bytes",
				      (unsigned long long)own.size);
	/* Huge pages for blocks that contain some; a refused request does no harm. */
	if (own.size >= 2 * HUGE_PAGE)
		(void)madvise(memory, own.size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	*buffer = (uint64_t)(uintptr_t)memory;
	return TN_OK;
}

static tn_status free_buffer(void *device, const struct tn_free_args *args)
{
	const struct tn_host *host = ((struct cpu_device *)device)->instance->host;
	struct tn_free_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, 0, "free");
	if (!status)
		host->free(host->context, (void *)(uintptr_t)own.buffer);
	return status;
}

/* Takes the arguments of a transfer; returns the address inside the buffer. */
static tn_status take_transfer(struct tn_transfer_args *own, const struct tn_transfer_args *args,
			       const char *operation, void **inside)
{
	tn_status status = tn_plugin_take(own, sizeof(*own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, operation);
	*inside = (void *)(uintptr_t)(own->buffer + own->offset);
	return status;
}

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	(void)device;
	struct tn_transfer_args own;
	void *inside;
	tn_status status = take_transfer(&own, args, "upload", &inside);
	if (status)
		return status;
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	memcpy(inside, own.host, own.size);
	return TN_OK;
}

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	(void)device;
	struct tn_transfer_args own;
	void *inside;
	tn_status status = take_transfer(&own, args, "download", &inside);
	if (status)
		return status;
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	memcpy(own.host, inside, own.size);
	return TN_OK;
}

static tn_status sync_stream(void *device, const struct tn_sync_args *args)
{
	(void)device;
	struct tn_sync_args own;
	return tn_plugin_take(&own, sizeof(own), args, 0, "sync");
}

static tn_status async_error(void *device, void *stream, struct tn_error_info *out)
{
	(void)device;
	(void)stream;
	(void)out;
	return TN_OK;
}

const struct tn_device_table cpu_device_table = {
	.struct_size = sizeof(cpu_device_table),
	.device_count = device_count,
	.describe = describe,
	.open = open_device,
	.close = close_device,
	.alloc = alloc_buffer,
	.free = free_buffer,
	.upload = upload,
	.download = download,
	.sync = sync_stream,
	.async_error = async_error,
};

static tn_status information(void *device, uint32_t memory_kind, struct tn_memory_information *out)
{
	(void)device;
	if (memory_kind != TN_MEMORY_DEVICE)
		return TN_UNSUPPORTED;
	struct tn_memory_information own = {.struct_size = out->struct_size};
	cpu_memory_size(&own.total_bytes, &own.free_bytes);
	memcpy(out, &own, own.struct_size < sizeof(own) ? own.struct_size : sizeof(own));
	return TN_OK;
}

const struct tn_memory_table cpu_memory_table = {
	.struct_size = sizeof(cpu_memory_table),
	.information = information,
};
