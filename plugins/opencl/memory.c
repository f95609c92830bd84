/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Buffers and transfers.  A driver may allocate a buffer's memory only on first use, when a failure
 * would come too late to recover; so a new buffer is migrated to the device at once, on a separate
 * queue that waits for no other work.  Small uploads are copied, so that the entry can return
 * before earlier work is done.  A cl_mem of others becomes a buffer in the same table.
 */
#include "memory.h"

#include <string.h>

#include "stream.h"

#define STAGED_BYTES ((uint64_t)1 << 18)

struct opencl_buffers {
	cl_command_queue queue; /* for new buffers only */
	struct opencl_buffer *list;
	uint64_t n, capacity;
	uint64_t first_free; /* a handle, or 0 */
	uint64_t used_bytes;
};

tn_status opencl_buffers_open(struct opencl_device *device, struct tn_error_info *error)
{
	cl_int code;
	struct opencl_buffers *buffers = tn_plugin_alloc(device->host, sizeof(*buffers));
	if (!buffers)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "open",
				      "no host memory for the table of buffers");
	device->buffers = buffers;
	buffers->queue =
		device->cl->clCreateCommandQueue(device->context, device->facts->id, 0, &code);
	if (!buffers->queue)
		return opencl_fail_code(error, code, "open", "clCreateCommandQueue");
	return TN_OK;
}

void opencl_buffers_close(struct opencl_device *device)
{
	struct opencl_buffers *buffers = device->buffers;
	if (!buffers)
		return;
	for (uint64_t i = 0; i < buffers->n; i++)
		if (buffers->list[i].memory && !buffers->list[i].is_imported)
			device->cl->clReleaseMemObject(buffers->list[i].memory);
	if (buffers->queue)
		device->cl->clReleaseCommandQueue(buffers->queue);
	tn_plugin_free(device->host, buffers->list);
	tn_plugin_free(device->host, buffers);
}

const struct opencl_buffer *opencl_buffer_find(const struct opencl_device *device, uint64_t handle)
{
	const struct opencl_buffers *buffers = device->buffers;
	if (handle == 0 || handle > buffers->n || !buffers->list[handle - 1].memory)
		return NULL;
	return &buffers->list[handle - 1];
}

cl_mem opencl_buffer_memory(const struct opencl_device *device, uint64_t handle)
{
	const struct opencl_buffer *buffer = opencl_buffer_find(device, handle);
	return buffer ? buffer->memory : NULL;
}

/* ---- alloc and free --------------------------------------------------------------------------*/

static int grow(struct opencl_device *device)
{
	struct opencl_buffers *buffers = device->buffers;
	uint64_t capacity = buffers->capacity ? 2 * buffers->capacity : 64;
	struct opencl_buffer *list = tn_plugin_alloc(device->host, capacity * sizeof(*list));
	if (!list)
		return 0;
	if (buffers->n)
		memcpy(list, buffers->list, buffers->n * sizeof(*list));
	tn_plugin_free(device->host, buffers->list);
	buffers->list = list;
	buffers->capacity = capacity;
	return 1;
}

/* A free slot, as a handle; 0: no host memory. */
static uint64_t take_place(struct opencl_device *device)
{
	struct opencl_buffers *buffers = device->buffers;
	uint64_t handle = buffers->first_free;
	if (handle) {
		buffers->first_free = buffers->list[handle - 1].next_free;
		return handle;
	}
	if (buffers->n == buffers->capacity && !grow(device))
		return 0;
	return ++buffers->n;
}

static void give_place(struct opencl_buffers *buffers, uint64_t handle)
{
	buffers->list[handle - 1] = (struct opencl_buffer){.next_free = buffers->first_free};
	buffers->first_free = handle;
}

/* clCreateBuffer's promise of memory holds only once the device has allocated it. */
static cl_int settle(const struct opencl_device *device, cl_mem memory)
{
	cl_command_queue queue = device->buffers->queue;
	cl_int code = device->cl->clEnqueueMigrateMemObjects(
		queue, 1, &memory, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, NULL);
	return code ? code : device->cl->clFinish(queue);
}

/* Any failure to allocate is recoverable, whatever code a driver returns. */
static tn_status fail_alloc(const struct tn_alloc_args *args, cl_int code, const char *function)
{
	return tn_plugin_fail(args->call.error, TN_OUT_OF_MEMORY, "alloc",
			      "%llu bytes: %s: %s (%d)", (unsigned long long)args->size, function,
			      opencl_error_name(code), (int)code);
}

static tn_status make_buffer(struct opencl_device *device, const struct tn_alloc_args *args,
			     struct opencl_buffer *made)
{
	cl_int code;
	made->size = args->size;
	made->memory = device->cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE, args->size,
						  NULL, &code);
	if (!made->memory)
		return fail_alloc(args, code, "clCreateBuffer");
	code = settle(device, made->memory);
	if (!code)
		return TN_OK;
	device->cl->clReleaseMemObject(made->memory);
	return fail_alloc(args, code, "clEnqueueMigrateMemObjects");
}

/* OpenCL cannot allocate with an alignment beyond the device's own: but offsets start at 0 in each
 * buffer, and kernels see no other address. */
tn_status opencl_memory_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	struct opencl_device *own = device;
	struct opencl_buffer made = {0};
	struct tn_alloc_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, TN_DRY_RUN, "alloc");
	if (status)
		return status;
	struct tn_error_info *error = taken.call.error;
	if (taken.memory_kind != TN_MEMORY_DEVICE)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "alloc",
				      "memory kind %u: expected 0, the only kind",
				      taken.memory_kind);
	if (taken.size == 0 || taken.alignment & (taken.alignment - 1))
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, "alloc",
			"%llu bytes aligned to %llu: expected at least 1 byte and a power of two",
			(unsigned long long)taken.size, (unsigned long long)taken.alignment);
	if (taken.size > own->facts->max_alloc_bytes)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "alloc",
				      "%llu bytes: the device allows at most %llu",
				      (unsigned long long)taken.size,
				      (unsigned long long)own->facts->max_alloc_bytes);
	if (taken.call.flags & TN_DRY_RUN) {
		(void)tn_plugin_dry_run(&taken.call, 0, 0);
		return TN_OK;
	}
	uint64_t handle = take_place(own);
	if (!handle)
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY, "alloc",
				      "no host memory for the table of buffers");
	status = make_buffer(own, &taken, &made);
	if (status) {
		give_place(own->buffers, handle);
		return status;
	}
	own->buffers->list[handle - 1] = made;
	own->buffers->used_bytes += made.size;
	*buffer = handle;
	return TN_OK;
}

tn_status opencl_memory_free(void *device, const struct tn_free_args *args)
{
	struct opencl_device *own = device;
	struct tn_free_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "free");
	if (status)
		return status;
	const struct opencl_buffer *buffer = opencl_buffer_find(own, taken.buffer);
	if (!buffer || buffer->is_imported)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "free",
				      "buffer %llu was not allocated on this device",
				      (unsigned long long)taken.buffer);
	cl_int code = own->cl->clReleaseMemObject(buffer->memory);
	own->buffers->used_bytes -= buffer->size;
	give_place(own->buffers, taken.buffer);
	if (code)
		return opencl_fail_code(taken.call.error, code, "free", "clReleaseMemObject");
	return TN_OK;
}

/* ---- Transfers -------------------------------------------------------------------------------*/

struct transfer {
	struct tn_transfer_args args;
	struct opencl_stream *stream;
	cl_mem memory;
};

static tn_status take_transfer(struct opencl_device *device, const struct tn_transfer_args *args,
			       const char *operation, struct transfer *transfer)
{
	struct tn_transfer_args *own = &transfer->args;
	tn_status status = tn_plugin_take(own, sizeof(*own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, operation);
	if (status)
		return status;
	(void)tn_plugin_dry_run(&own->call, 0, 0);
	transfer->stream = opencl_stream_find(device, own->call.stream);
	if (!transfer->stream)
		return tn_plugin_fail(own->call.error, TN_INVALID_ARGUMENT, operation,
				      "the stream does not belong to this device");
	if (own->call.flags & TN_DRY_RUN)
		return TN_OK;
	const struct opencl_buffer *buffer = opencl_buffer_find(device, own->buffer);
	if (!buffer || own->offset > buffer->size || own->size > buffer->size - own->offset)
		return tn_plugin_fail(own->call.error, TN_INVALID_ARGUMENT, operation,
				      "%llu bytes at %llu of buffer %llu: it has %llu",
				      (unsigned long long)own->size,
				      (unsigned long long)own->offset,
				      (unsigned long long)own->buffer,
				      (unsigned long long)(buffer ? buffer->size : 0));
	if (own->size && !own->host)
		return tn_plugin_fail(own->call.error, TN_INVALID_ARGUMENT, operation,
				      "host is NULL");
	transfer->memory = buffer->memory;
	return TN_OK;
}

/* Nothing to do: a dry run, or no bytes. */
static int is_idle(const struct transfer *transfer)
{
	return transfer->args.call.flags & TN_DRY_RUN || transfer->args.size == 0;
}

tn_status opencl_upload(void *device, const struct tn_transfer_args *args)
{
	struct opencl_device *own = device;
	struct transfer t;
	cl_event event = NULL;
	void *copy = NULL;
	tn_status status = take_transfer(own, args, "upload", &t);
	if (status || is_idle(&t))
		return status;
	const void *source = t.args.host;
	int waits = !(t.args.call.flags & TN_ASYNC);
	if (waits && t.args.size <= STAGED_BYTES)
		copy = own->host->alloc(own->host->context, t.args.size, 0);
	if (copy) {
		source = memcpy(copy, source, t.args.size);
		waits = 0;
	}
	cl_int code = own->cl->clEnqueueWriteBuffer(opencl_stream_queue(t.stream), t.memory,
						    waits ? CL_TRUE : CL_FALSE, t.args.offset,
						    t.args.size, source, 0, NULL, &event);
	if (code) {
		tn_plugin_free(own->host, copy);
		return opencl_fail_code(t.args.call.error, code, "upload", "clEnqueueWriteBuffer");
	}
	opencl_stream_push(own, t.stream, event, "upload", copy);
	return TN_OK;
}

tn_status opencl_download(void *device, const struct tn_transfer_args *args)
{
	struct opencl_device *own = device;
	struct transfer t;
	cl_event event = NULL;
	tn_status status = take_transfer(own, args, "download", &t);
	if (status || is_idle(&t))
		return status;
	int waits = !(t.args.call.flags & TN_ASYNC);
	cl_int code = own->cl->clEnqueueReadBuffer(opencl_stream_queue(t.stream), t.memory,
						   waits ? CL_TRUE : CL_FALSE, t.args.offset,
						   t.args.size, t.args.host, 0, NULL, &event);
	if (code && !waits)
		return opencl_fail_code(t.args.call.error, code, "download", "clEnqueueReadBuffer");
	if (!code)
		opencl_stream_push(own, t.stream, event, "download", NULL);
	if (!waits)
		return TN_OK;
	/* An earlier failure is the better answer. */
	status = opencl_stream_fetch(own, t.stream, t.args.call.error);
	if (!status && code)
		return opencl_fail_code(t.args.call.error, code, "download", "clEnqueueReadBuffer");
	return status;
}

/* ---- Table tenon.memory/1 --------------------------------------------------------------------*/

static tn_status information(void *device, uint32_t memory_kind, struct tn_memory_information *out)
{
	enum { FREE_MEMORY_AMD = 0x4039 };
	const struct opencl_device *own = device;
	struct tn_memory_information answer = {.total_bytes = own->facts->global_bytes};
	size_t free_kib[2] = {0, 0}; /* all of it, the largest block */
	if (memory_kind != TN_MEMORY_DEVICE)
		return TN_UNSUPPORTED;
	/* OpenCL has no query for free memory; only one vendor's extension does. */
	if (!own->facts->knows_free_memory ||
	    own->cl->clGetDeviceInfo(own->facts->id, FREE_MEMORY_AMD, sizeof(free_kib), free_kib,
				     NULL) != CL_SUCCESS)
		return TN_UNSUPPORTED;
	answer.free_bytes = (uint64_t)free_kib[0] << 10;
	tn_struct_answer(out, &answer, sizeof(answer));
	return TN_OK;
}

const struct tn_memory_table opencl_memory_table = {
	.struct_size = sizeof(opencl_memory_table),
	.information = information,
};

/* ---- Table tenon.import/1 --------------------------------------------------------------------*/

/* NULL, or why kernels of this device cannot read and write `size` bytes of the memory. */
static const char *unfit(const struct opencl_device *device, cl_mem memory, uint64_t size)
{
	const struct opencl_library *cl = device->cl;
	cl_mem_object_type type = 0;
	cl_mem_flags flags = 0;
	cl_context context = NULL;
	size_t bytes = 0;
	if (cl->clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof(type), &type, NULL) ||
	    cl->clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof(flags), &flags, NULL) ||
	    cl->clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(context), &context, NULL) ||
	    cl->clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL))
		return "it is no memory object";
	if (type != CL_MEM_OBJECT_BUFFER)
		return "it is an image or a pipe";
	if (context != device->context)
		return "it is of another context";
	if (flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY))
		return "kernels may not both read and write it";
	return bytes < size ? "it has fewer bytes" : NULL;
}

static tn_status import_memory(void *device, const struct tn_import_args *args, uint64_t *buffer)
{
	struct opencl_device *own = device;
	struct tn_import_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "import_memory");
	if (status)
		return status;
	cl_mem memory = (cl_mem)(uintptr_t)taken.pointer;
	const char *why = !memory || !taken.size ? "expected a cl_mem and at least 1 byte"
						 : unfit(own, memory, taken.size);
	if (why)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "import_memory",
				      "%llu bytes of the cl_mem %#llx: %s",
				      (unsigned long long)taken.size,
				      (unsigned long long)taken.pointer, why);
	uint64_t handle = take_place(own);
	if (!handle)
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY, "import_memory",
				      "no host memory for the table of buffers");
	own->buffers->list[handle - 1] =
		(struct opencl_buffer){.memory = memory, .size = taken.size, .is_imported = 1};
	*buffer = handle;
	return TN_OK;
}

static tn_status import_release(void *device, const struct tn_free_args *args)
{
	struct opencl_device *own = device;
	struct tn_free_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "import_release");
	if (status)
		return status;
	const struct opencl_buffer *buffer = opencl_buffer_find(own, taken.buffer);
	if (!buffer || !buffer->is_imported)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "import_release",
				      "buffer %llu is not imported",
				      (unsigned long long)taken.buffer);
	give_place(own->buffers, taken.buffer);
	return TN_OK;
}

static tn_status export_memory(void *device, const struct tn_export_args *args, uint64_t *pointer)
{
	struct opencl_device *own = device;
	struct tn_export_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "export_memory");
	if (status)
		return status;
	cl_mem memory = opencl_buffer_memory(own, taken.buffer);
	if (!memory)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "export_memory",
				      "buffer %llu does not belong to this device",
				      (unsigned long long)taken.buffer);
	*pointer = (uint64_t)(uintptr_t)memory;
	return TN_OK;
}

const struct tn_import_table opencl_import_table = {
	.struct_size = sizeof(opencl_import_table),
	.import_memory = import_memory,
	.import_release = import_release,
	.export_memory = export_memory,
};
