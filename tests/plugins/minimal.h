/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A complete backend in one page: one device in host memory, which does no work but reports
 * success.  Each fixture includes it and breaks one thing; it may replace functions by defining
 * their names (MINIMAL_DEVICE_COUNT, MINIMAL_DESCRIBE, MINIMAL_OPEN, MINIMAL_CLOSE, MINIMAL_SYNC,
 * MINIMAL_MAP) before.
 */
#ifndef TN_TESTS_MINIMAL_H
#define TN_TESTS_MINIMAL_H

#include <stdio.h>
#include <string.h>
#include <tenon/backend.h>

#ifndef MINIMAL_DEVICE_COUNT
#define MINIMAL_DEVICE_COUNT minimal_device_count
#endif
#ifndef MINIMAL_DESCRIBE
#define MINIMAL_DESCRIBE minimal_describe
#endif
#ifndef MINIMAL_OPEN
#define MINIMAL_OPEN minimal_open
#endif
#ifndef MINIMAL_CLOSE
#define MINIMAL_CLOSE minimal_close
#endif
#ifndef MINIMAL_MAP
#define MINIMAL_MAP minimal_map
#endif
#ifndef MINIMAL_SYNC
#define MINIMAL_SYNC minimal_sync
#endif

struct minimal {
	const struct tn_host *host;
};

static inline tn_status minimal_create(const struct tn_host *host, struct tn_error_info *error,
				       void **instance)
{
	(void)error;
	struct minimal *made = (struct minimal *)host->alloc(host->context, sizeof(*made), 0);
	if (!made)
		return TN_OUT_OF_MEMORY;
	made->host = host;
	*instance = made;
	return TN_OK;
}

static inline void minimal_destroy(void *instance)
{
	struct minimal *minimal = (struct minimal *)instance;
	minimal->host->free(minimal->host->context, minimal);
}

static inline tn_status minimal_device_count(void *instance, struct tn_device_count *out)
{
	struct tn_device_count count = {.struct_size = sizeof(count), .count = 1};
	(void)instance;
	tn_struct_answer(out, &count, sizeof(count));
	return TN_OK;
}

static inline tn_status minimal_describe(void *instance, uint32_t index,
					 struct tn_device_description *out)
{
	struct tn_device_description device = {
		.struct_size = sizeof(device),
		.kind = TN_DEVICE_CPU,
		.name = "a device that does nothing",
		.flags = TN_DEVICE_HOST_MEMORY | TN_DEVICE_SYNCHRONOUS,
		.memory_kinds = 1u << TN_MEMORY_DEVICE,
		.storage_dtypes = 0xfffe,
		.program_dtypes = 0xfffe,
		.matmul_dtypes = 1u << TN_F32,
		.max_alloc_bytes = UINT64_MAX,
		.alignment = 256,
		.preferred_layout = TN_LAYOUT_NCHW,
		.score = -100,
	};
	(void)instance;
	if (index > 0)
		return TN_INVALID_ARGUMENT;
	memset(device.accuracy, TN_ACCURACY_IEEE, sizeof(device.accuracy));
	memset(device.determinism, TN_DETERMINISM_ALWAYS, sizeof(device.determinism));
	tn_struct_answer(out, &device, sizeof(device));
	return TN_OK;
}

static inline tn_status minimal_take(void *own, size_t size, const void *args, uint32_t known)
{
	tn_status status = tn_arguments_take(own, size, args);
	if (!status && ((const struct tn_call *)own)->flags & ~known)
		status = TN_UNSUPPORTED;
	return status;
}

/* The handle of the one device is the instance. */
static inline tn_status minimal_open(void *instance, const struct tn_open_args *args, void **device)
{
	struct tn_open_args own;
	tn_status status = minimal_take(&own, sizeof(own), args, 0);
	if (!status && own.index > 0)
		status = TN_INVALID_ARGUMENT;
	if (!status && own.native)
		status = TN_UNSUPPORTED;
	if (!status)
		*device = instance;
	return status;
}

static inline void minimal_close(void *device)
{
	(void)device;
}

static inline tn_status minimal_alloc(void *device, const struct tn_alloc_args *args,
				      uint64_t *buffer)
{
	const struct tn_host *host = ((struct minimal *)device)->host;
	struct tn_alloc_args own;
	tn_status status = minimal_take(&own, sizeof(own), args, 0);
	if (status || own.memory_kind != TN_MEMORY_DEVICE)
		return TN_UNSUPPORTED;
	void *memory =
		host->alloc(host->context, own.size, own.alignment < 256 ? 256 : own.alignment);
	if (!memory)
		return TN_OUT_OF_MEMORY;
	*buffer = (uint64_t)(uintptr_t)memory;
	return TN_OK;
}

static inline tn_status minimal_free(void *device, const struct tn_free_args *args)
{
	const struct tn_host *host = ((struct minimal *)device)->host;
	struct tn_free_args own;
	tn_status status = minimal_take(&own, sizeof(own), args, 0);
	if (!status)
		host->free(host->context, (void *)(uintptr_t)own.buffer);
	return status;
}

static inline tn_status minimal_upload(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	tn_status status = minimal_take(&own, sizeof(own), args, TN_ASYNC);
	(void)device;
	if (!status)
		memcpy((char *)(uintptr_t)own.buffer + own.offset, own.host, own.size);
	return status;
}

static inline tn_status minimal_download(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	tn_status status = minimal_take(&own, sizeof(own), args, TN_ASYNC);
	(void)device;
	if (!status)
		memcpy(own.host, (char *)(uintptr_t)own.buffer + own.offset, own.size);
	return status;
}

static inline tn_status minimal_sync(void *device, const struct tn_sync_args *args)
{
	struct tn_sync_args own;
	(void)device;
	return minimal_take(&own, sizeof(own), args, 0);
}

static inline tn_status minimal_async_error(void *device, void *stream, struct tn_error_info *out)
{
	(void)device;
	(void)stream;
	(void)out;
	return TN_OK;
}

static inline tn_status minimal_map(void *device, const struct tn_map_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static inline tn_status minimal_reduce(void *device, const struct tn_reduce_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static inline tn_status minimal_matmul(void *device, const struct tn_matmul_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static const struct tn_device_table minimal_device_table = {
	.struct_size = sizeof(minimal_device_table),
	.device_count = MINIMAL_DEVICE_COUNT,
	.describe = MINIMAL_DESCRIBE,
	.open = MINIMAL_OPEN,
	.close = MINIMAL_CLOSE,
	.alloc = minimal_alloc,
	.free = minimal_free,
	.upload = minimal_upload,
	.download = minimal_download,
	.sync = MINIMAL_SYNC,
	.async_error = minimal_async_error,
};

static const struct tn_compute_table minimal_compute_table = {
	.struct_size = sizeof(minimal_compute_table),
	.map = MINIMAL_MAP,
	.reduce = minimal_reduce,
	.matmul = minimal_matmul,
};

static inline const void *minimal_query(void *instance, const char *table)
{
	(void)instance;
	if (!strcmp(table, TN_TABLE_DEVICE))
		return &minimal_device_table;
	if (!strcmp(table, TN_TABLE_COMPUTE))
		return &minimal_compute_table;
	return NULL;
}

#endif
