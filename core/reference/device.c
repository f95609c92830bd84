/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The one device: the host's processor and memory.  A buffer's handle is its address, and all work
 * is done when an entry returns, so there are no streams and no asynchronous errors.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/dtype.h"
#include "reference/call.h"

enum { SMALLEST_ALIGNMENT = 256 };

/* All dtypes of the table, or those in which programs compute. */
static uint64_t dtypes(int of_programs)
{
	uint64_t set = 0;
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (of_programs ? tn_is_compute_dtype(dtype) : tn_dtype_size(dtype) != 0)
			set |= UINT64_C(1) << dtype;
	}
	return set;
}

static uint64_t memory_size(int name)
{
	long pages = sysconf(name), page = sysconf(_SC_PAGESIZE);
	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

tn_status tn_reference_device_count(void *instance, struct tn_device_count *out)
{
	struct tn_device_count own = {.count = 1, .status = TN_OK};
	(void)instance;
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

tn_status tn_reference_describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct tn_device_description own = {
		.kind = TN_DEVICE_REFERENCE,
		.name = "plain loops",
		.flags = TN_DEVICE_HOST_MEMORY | TN_DEVICE_SYNCHRONOUS |
			 TN_DEVICE_TAKES_ANY_ADDRESS | TN_DEVICE_CONCURRENT_STREAMS,
		.memory_kinds = 1u << TN_MEMORY_DEVICE,
		.storage_dtypes = dtypes(0),
		.program_dtypes = dtypes(1),
		.matmul_dtypes = 1u << TN_F32 | 1u << TN_F64,
		.memory_bytes = memory_size(_SC_PHYS_PAGES),
		.max_alloc_bytes = memory_size(_SC_PHYS_PAGES),
		.alignment = SMALLEST_ALIGNMENT,
		.preferred_layout = TN_LAYOUT_NCHW,
		.identity_type = TN_IDENTITY_NONE,
		.note = "one thread, written for clarity",
		.numerics = TN_NUMERICS_F32_SUBNORMALS | TN_NUMERICS_F16_SUBNORMALS,
	};
	(void)instance;
	if (index)
		return TN_INVALID_ARGUMENT;
	memset(own.accuracy, TN_ACCURACY_IEEE, sizeof(own.accuracy));
	memset(own.determinism, TN_DETERMINISM_ALWAYS, sizeof(own.determinism));
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

tn_status tn_reference_open(void *instance, const struct tn_open_args *theirs, void **device)
{
	struct reference_instance *own = instance;
	struct reference_device *opened;
	struct tn_open_args args;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "open");
	if (!status && args.index)
		status = tn_reference_fail(&args.call, TN_INVALID_ARGUMENT, "open",
					   "device %u: expected 0, the only device", args.index);
	if (!status && args.native)
		status = tn_reference_fail(&args.call, TN_UNSUPPORTED, "open",
					   "native: there is no device of others");
	if (status || tn_reference_is_dry(&args.call))
		return status;
	opened = own->host->alloc(own->host->context, sizeof(*opened), 0);
	if (!opened)
		return tn_reference_fail(&args.call, TN_OUT_OF_MEMORY, "open",
					 "no memory for a device of %zu bytes", sizeof(*opened));
	opened->host = own->host;
	*device = opened;
	return TN_OK;
}

void tn_reference_close(void *device)
{
	struct reference_device *own = device;
	if (own)
		own->host->free(own->host->context, own);
}

tn_status tn_reference_alloc(void *device, const struct tn_alloc_args *theirs, uint64_t *buffer)
{
	struct reference_device *own = device;
	struct tn_alloc_args args;
	void *memory;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "alloc");
	if (status)
		return status;
	if (args.size == 0)
		return tn_reference_fail(&args.call, TN_INVALID_ARGUMENT, "alloc",
					 "size: expected more than 0 bytes");
	if (args.alignment & (args.alignment - 1))
		return tn_reference_fail(&args.call, TN_INVALID_ARGUMENT, "alloc",
					 "alignment: expected a power of two, found %llu",
					 (unsigned long long)args.alignment);
	if (args.memory_kind != TN_MEMORY_DEVICE)
		return tn_reference_fail(&args.call, TN_UNSUPPORTED, "alloc",
					 "memory kind %u: expected 0, the only kind",
					 args.memory_kind);
	if (tn_reference_is_dry(&args.call))
		return TN_OK;
	if (args.alignment < SMALLEST_ALIGNMENT)
		args.alignment = SMALLEST_ALIGNMENT;
	memory = own->host->alloc(own->host->context, args.size, args.alignment);
	if (!memory)
		return tn_reference_fail(&args.call, TN_OUT_OF_MEMORY, "alloc",
					 "requested %llu bytes, %llu bytes free",
					 (unsigned long long)args.size,
					 (unsigned long long)memory_size(_SC_AVPHYS_PAGES));
	*buffer = (uint64_t)(uintptr_t)memory;
	return TN_OK;
}

tn_status tn_reference_free(void *device, const struct tn_free_args *theirs)
{
	struct reference_device *own = device;
	struct tn_free_args args;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "free");
	if (!status && !args.buffer)
		status = tn_reference_fail(&args.call, TN_INVALID_ARGUMENT, "free",
					   "buffer: 0 is never a handle");
	if (status || tn_reference_is_dry(&args.call))
		return status;
	own->host->free(own->host->context, (void *)(uintptr_t)args.buffer);
	return TN_OK;
}

static tn_status take_transfer(struct tn_transfer_args *args, const struct tn_transfer_args *theirs,
			       const char *operation)
{
	tn_status status = tn_reference_take(args, sizeof(*args), theirs, TN_ASYNC, operation);
	if (status || args->call.flags & TN_DRY_RUN)
		return status;
	if (!args->buffer)
		return tn_reference_fail(&args->call, TN_INVALID_ARGUMENT, operation,
					 "buffer: 0 is never a handle");
	if (args->size && !args->host)
		return tn_reference_fail(&args->call, TN_INVALID_ARGUMENT, operation,
					 "host: expected the address of %llu bytes, found NULL",
					 (unsigned long long)args->size);
	return TN_OK;
}

tn_status tn_reference_upload(void *device, const struct tn_transfer_args *theirs)
{
	struct tn_transfer_args args;
	tn_status status = take_transfer(&args, theirs, "upload");
	(void)device;
	if (status || tn_reference_is_dry(&args.call))
		return status;
	if (args.size)
		memmove((char *)(uintptr_t)args.buffer + args.offset, args.host, args.size);
	return TN_OK;
}

tn_status tn_reference_download(void *device, const struct tn_transfer_args *theirs)
{
	struct tn_transfer_args args;
	tn_status status = take_transfer(&args, theirs, "download");
	(void)device;
	if (status || tn_reference_is_dry(&args.call))
		return status;
	if (args.size)
		memmove(args.host, (const char *)(uintptr_t)args.buffer + args.offset, args.size);
	return TN_OK;
}

tn_status tn_reference_sync(void *device, const struct tn_sync_args *theirs)
{
	struct tn_sync_args args;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "sync");
	(void)device;
	if (!status)
		tn_reference_is_dry(&args.call);
	return status;
}

tn_status tn_reference_async_error(void *device, void *stream, struct tn_error_info *out)
{
	(void)device;
	(void)stream;
	(void)out;
	return TN_OK;
}

tn_status tn_reference_information(void *device, uint32_t memory_kind,
				   struct tn_memory_information *out)
{
	struct tn_memory_information own = {
		.total_bytes = memory_size(_SC_PHYS_PAGES),
		.free_bytes = memory_size(_SC_AVPHYS_PAGES),
	};
	(void)device;
	if (memory_kind != TN_MEMORY_DEVICE)
		return TN_UNSUPPORTED;
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}
