/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory and copies only: the smallest possible backend.  Every computing entry returns
 * TN_UNSUPPORTED, and the host computes.
 *
 * The host cannot access the memory, as with a GPU: a buffer's handle is a number in a table with
 * high bits that no address of x86-64 or AArch64 has, so that a host that used it as a pointer
 * would crash at once.
 */
#include <string.h>
#include <tenon/backend.h>

#define HANDLE_MARK UINT64_C(0x7e40000000000000)
#define MAX_BUFFERS 4096u
#define MAX_DEVICES 1u

struct buffer {
	char *memory; /* NULL: this entry of the table is free */
	uint64_t size;
};

struct copyonly {
	const struct tn_host *host;
	struct buffer buffers[MAX_BUFFERS];
};

static tn_status fail(const struct tn_call *call, tn_status status, const char *operation,
		      const char *text)
{
	struct tn_error_info *error = call->error;
	if (!error)
		return status;
	error->status = status;
	strncpy(error->operation, operation, sizeof(error->operation) - 1);
	strncpy(error->text, text, sizeof(error->text) - 1);
	return status;
}

/* Copies arguments of this version; others are refused. */
static tn_status take(void *own, size_t size, const void *args, uint32_t known,
		      const char *operation)
{
	const struct tn_call *call = own;
	if (tn_arguments_take(own, size, args) || call->flags & ~known)
		return fail(call, TN_UNSUPPORTED, operation, "an unknown flag or field");
	return TN_OK;
}

/* ---- The instance ----------------------------------------------------------------------------*/

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct copyonly *made = (struct copyonly *)host->alloc(host->context, sizeof(*made), 0);
	(void)error;
	if (!made)
		return TN_OUT_OF_MEMORY;
	memset(made, 0, sizeof(*made));
	made->host = host;
	*instance = made;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct copyonly *self = instance;
	self->host->free(self->host->context, self);
}

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	struct tn_device_count count = {.struct_size = sizeof(count), .count = MAX_DEVICES};
	(void)instance;
	tn_struct_answer(out, &count, sizeof(count));
	return TN_OK;
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct tn_device_description device = {
		.struct_size = sizeof(device),
		.kind = TN_DEVICE_ACCELERATOR,
		.name = "memory and copies alone",
		.flags = TN_DEVICE_SYNCHRONOUS,
		.memory_kinds = 1u << TN_MEMORY_DEVICE,
		.storage_dtypes = 0xfffe, /* bytes are bytes: every dtype */
		.max_alloc_bytes = UINT64_C(1) << 40,
		.alignment = 256,
		.preferred_layout = TN_LAYOUT_NCHW,
		.score = -100,
		.note = "computes nothing: every operation runs on the host",
	};
	(void)instance;
	if (index >= MAX_DEVICES)
		return TN_INVALID_ARGUMENT;
	memset(device.accuracy, TN_ACCURACY_IEEE, sizeof(device.accuracy));
	memset(device.determinism, TN_DETERMINISM_ALWAYS, sizeof(device.determinism));
	tn_struct_answer(out, &device, sizeof(device));
	return TN_OK;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	struct tn_open_args own;
	if (take(&own, sizeof(own), args, 0, "open"))
		return TN_UNSUPPORTED;
	args = &own;
	if (args->index >= MAX_DEVICES)
		return fail(&args->call, TN_INVALID_ARGUMENT, "open", "there is one device");
	if (args->native)
		return fail(&args->call, TN_UNSUPPORTED, "open", "no device of others");
	*device = instance;
	return TN_OK;
}

static void close_device(void *device)
{
	(void)device;
}

/* ---- Memory ----------------------------------------------------------------------------------*/

/* The buffer of a handle, or NULL. */
static struct buffer *find(struct copyonly *self, uint64_t handle)
{
	uint64_t i = handle ^ HANDLE_MARK;
	return i < MAX_BUFFERS && self->buffers[i].memory ? &self->buffers[i] : NULL;
}

static tn_status alloc_buffer(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	struct tn_alloc_args own;
	if (take(&own, sizeof(own), args, 0, "alloc"))
		return TN_UNSUPPORTED;
	args = &own;
	struct copyonly *self = device;
	const struct tn_host *host = self->host;
	uint64_t i = 0;
	if (args->memory_kind != TN_MEMORY_DEVICE)
		return fail(&args->call, TN_UNSUPPORTED, "alloc", "device memory alone");
	while (i < MAX_BUFFERS && self->buffers[i].memory)
		i++;
	if (i == MAX_BUFFERS)
		return fail(&args->call, TN_OUT_OF_MEMORY, "alloc", "the table of buffers is full");
	char *memory = host->alloc(host->context, args->size,
				   args->alignment < 256 ? 256 : args->alignment);
	if (!memory)
		return fail(&args->call, TN_OUT_OF_MEMORY, "alloc", "no memory of that size");
	self->buffers[i].memory = memory;
	self->buffers[i].size = args->size;
	*buffer = i ^ HANDLE_MARK;
	return TN_OK;
}

static tn_status free_buffer(void *device, const struct tn_free_args *args)
{
	struct tn_free_args own;
	if (take(&own, sizeof(own), args, 0, "free"))
		return TN_UNSUPPORTED;
	args = &own;
	struct copyonly *self = device;
	struct buffer *buffer = find(self, args->buffer);
	if (!buffer)
		return fail(&args->call, TN_INVALID_ARGUMENT, "free", "not a handle");
	self->host->free(self->host->context, buffer->memory);
	buffer->memory = NULL;
	return TN_OK;
}

/* The address of a transfer; NULL if it is not within its buffer. */
static char *place(struct copyonly *self, const struct tn_transfer_args *args)
{
	const struct buffer *buffer = find(self, args->buffer);
	if (!buffer || args->offset > buffer->size || args->size > buffer->size - args->offset)
		return NULL;
	return buffer->memory + args->offset;
}

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	if (take(&own, sizeof(own), args, TN_ASYNC, "upload"))
		return TN_UNSUPPORTED;
	args = &own;
	char *memory = place(device, args);
	if (!memory)
		return fail(&args->call, TN_INVALID_ARGUMENT, "upload", "outside the buffer");
	memcpy(memory, args->host, args->size);
	return TN_OK;
}

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	if (take(&own, sizeof(own), args, TN_ASYNC, "download"))
		return TN_UNSUPPORTED;
	args = &own;
	const char *memory = place(device, args);
	if (!memory)
		return fail(&args->call, TN_INVALID_ARGUMENT, "download", "outside the buffer");
	memcpy(args->host, memory, args->size);
	return TN_OK;
}

/* All work is complete when its entry returns: there is nothing to wait for, and nothing can fail
 * later. */
static tn_status sync_stream(void *device, const struct tn_sync_args *args)
{
	struct tn_sync_args own;
	(void)device;
	return take(&own, sizeof(own), args, 0, "sync");
}

/* ---- Nothing computes ------------------------------------------------------------------------*/

static tn_status map(void *device, const struct tn_map_args *args)
{
	(void)device;
	return fail(&args->call, TN_UNSUPPORTED, "map", "memory and copies alone");
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	(void)device;
	return fail(&args->call, TN_UNSUPPORTED, "reduce", "memory and copies alone");
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	(void)device;
	return fail(&args->call, TN_UNSUPPORTED, "matmul", "memory and copies alone");
}

/* ---- The tables ------------------------------------------------------------------------------*/

static const struct tn_device_table device_table = {
	.struct_size = sizeof(device_table),
	.device_count = device_count,
	.describe = describe,
	.open = open_device,
	.close = close_device,
	.alloc = alloc_buffer,
	.free = free_buffer,
	.upload = upload,
	.download = download,
	.sync = sync_stream,
};

static const struct tn_compute_table compute_table = {
	.struct_size = sizeof(compute_table),
	.map = map,
	.reduce = reduce,
	.matmul = matmul,
};

static const void *query(void *instance, const char *table)
{
	(void)instance;
	if (!strcmp(table, TN_TABLE_DEVICE))
		return &device_table;
	if (!strcmp(table, TN_TABLE_COMPUTE))
		return &compute_table;
	return NULL;
}

#define UUID                                                                                       \
	0x5b, 0x1c, 0x1d, 0x0e, 0x9a, 0x27, 0x4f, 0x6b, 0x8c, 0x3d, 0x6e, 0x2f, 0x70, 0x91, 0xa2,  \
		0xb3
TN_BACKEND_PLUGIN(UUID, "copyonly", "1.0", "Apache-2.0", create, destroy, query);
