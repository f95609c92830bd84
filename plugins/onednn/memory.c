/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Buffers are the host's memory, and their handles its addresses.  Huge pages are requested for
 * large ones: a first touch then costs one fault in 512.
 */
#include "memory.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "plan.h"
#include "plugin.h"

#define HUGE_PAGE (UINT64_C(2) << 20)

static void *take_memory(const struct tn_host *host, uint64_t size, uint64_t wanted)
{
	uint64_t alignment = size >= 2 * HUGE_PAGE ? HUGE_PAGE : ONEDNN_ALIGNMENT;
	if (wanted > alignment)
		alignment = wanted;
	if (size > SIZE_MAX - alignment)
		return NULL;
	void *memory = host->alloc(host->context, size, alignment);
	/* A refused request does no harm. */
	if (memory && size >= 2 * HUGE_PAGE)
		(void)madvise(memory, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	return memory;
}

tn_status onednn_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	const struct tn_host *host = ((struct onednn_device *)device)->instance->host;
	struct tn_alloc_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, TN_DRY_RUN, "alloc");
	if (status)
		return status;
	struct tn_error_info *error = own.call.error;
	if (own.memory_kind != TN_MEMORY_DEVICE)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "alloc",
				      "memory kind %u: expected 0, the only kind", own.memory_kind);
	if (own.size == 0 || (own.alignment & (own.alignment - 1)))
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "alloc",
				      "%" PRIu64 " bytes aligned to %" PRIu64
				      ": expected at least 1 byte and a power of two",
				      own.size, own.alignment);
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	void *memory = take_memory(host, own.size, own.alignment);
	if (!memory)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "alloc",
				      "no host memory for %" PRIu64 " bytes", own.size);
	*buffer = (uint64_t)(uintptr_t)memory;
	return TN_OK;
}

tn_status onednn_free_buffer(void *device, const struct tn_free_args *args)
{
	const struct tn_host *host = ((struct onednn_device *)device)->instance->host;
	struct tn_free_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, 0, "free");
	if (!status)
		host->free(host->context, (void *)(uintptr_t)own.buffer);
	return status;
}

/* Takes the arguments of a transfer; `inside` is NULL for a dry run. */
static tn_status take_transfer(struct tn_transfer_args *own, const struct tn_transfer_args *args,
			       const char *operation, void **inside)
{
	tn_status status = tn_plugin_take(own, sizeof(*own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, operation);
	*inside = NULL;
	if (status)
		return status;
	if (own->call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own->call, 0, 0);
	*inside = (void *)(uintptr_t)(own->buffer + own->offset);
	return TN_OK;
}

tn_status onednn_upload(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	void *inside;
	tn_status status = take_transfer(&own, args, "upload", &inside);
	(void)device;
	if (inside)
		memcpy(inside, own.host, own.size);
	return status;
}

tn_status onednn_download(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	void *inside;
	tn_status status = take_transfer(&own, args, "download", &inside);
	(void)device;
	if (inside)
		memcpy(own.host, inside, own.size);
	return status;
}
