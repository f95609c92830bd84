/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The core has the pool, and allocates large pieces here, which it frees when no work uses them.
 * If the device supports memory pools, pieces come from the plugin's own pool, in the order of a
 * stream that has no other work: the memory is ready when the entry returns, and neither allocating
 * nor freeing waits for other work, as cudaFree does.  Freed memory leaves the device's pool at the
 * next synchronisation of that stream, and is then available to other processes.
 */
#include "memory.h"

#include <stdio.h>
#include <string.h>

#include "ranges.h"
#include "status.h"
#include "stream.h"

#define USUAL_ALIGNMENT 256u

struct buffer {
	uint64_t address;
	void *memory; /* as returned by the runtime: at or below the address; NULL: imported */
	uint32_t kind;
};

struct cuda_buffers {
	cudaStream_t stream;
	struct buffer *list;
	size_t n, capacity;
};

tn_status cuda_buffers_open(struct cuda_device *device, struct tn_error_info *error)
{
	struct cuda_buffers *buffers = tn_plugin_alloc(device->host, sizeof(*buffers));
	if (!buffers)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "open",
				      "no host memory for the table of buffers");
	device->buffers = buffers;
	cudaError_t code = device->rt->cudaStreamCreateWithPriority(&buffers->stream,
								    cudaStreamNonBlocking, 0);
	if (code != cudaSuccess)
		return cuda_fail_code(device, error, code, "open", "cudaStreamCreateWithPriority");
	return TN_OK;
}

/* The result of a runtime function. */
struct answer {
	cudaError_t code;
	const char *function;
};

static struct answer wait_for_pool(struct cuda_device *device, struct answer before)
{
	if (before.code != cudaSuccess)
		return before;
	return (struct answer){device->rt->cudaStreamSynchronize(device->buffers->stream),
			       "cudaStreamSynchronize"};
}

static struct answer give_back(struct cuda_device *device, const struct buffer *buffer)
{
	const struct cuda_runtime *rt = device->rt;
	if (!buffer->memory)
		return (struct answer){cudaSuccess, ""};
	if (buffer->kind == TN_MEMORY_PINNED)
		return (struct answer){rt->cudaFreeHost(buffer->memory), "cudaFreeHost"};
	if (!device->has_pools)
		return (struct answer){rt->cudaFree(buffer->memory), "cudaFree"};
	cudaError_t code = rt->cudaFreeAsync(buffer->memory, device->buffers->stream);
	return wait_for_pool(device, (struct answer){code, "cudaFreeAsync"});
}

void cuda_buffers_close(struct cuda_device *device)
{
	struct cuda_buffers *buffers = device->buffers;
	if (!buffers)
		return;
	for (size_t i = 0; i < buffers->n && !device->loss.status; i++)
		(void)give_back(device, &buffers->list[i]);
	if (buffers->stream && !device->loss.status) {
		(void)device->rt->cudaStreamSynchronize(buffers->stream);
		(void)device->rt->cudaStreamDestroy(buffers->stream);
	}
	tn_plugin_free(device->host, buffers->list);
	tn_plugin_free(device->host, buffers);
	device->buffers = NULL;
}

/* ---- alloc -----------------------------------------------------------------------------------*/

static int reserve(struct cuda_device *device)
{
	struct cuda_buffers *buffers = device->buffers;
	if (buffers->n < buffers->capacity)
		return 1;
	size_t capacity = buffers->capacity ? 2 * buffers->capacity : 64;
	struct buffer *list = tn_plugin_alloc(device->host, capacity * sizeof(*list));
	if (!list)
		return 0;
	if (buffers->n)
		memcpy(list, buffers->list, buffers->n * sizeof(*list));
	tn_plugin_free(device->host, buffers->list);
	buffers->list = list;
	buffers->capacity = capacity;
	return 1;
}

static struct answer get_memory(struct cuda_device *device, uint32_t kind, uint64_t size,
				void **memory)
{
	const struct cuda_runtime *rt = device->rt;
	const unsigned flags = cudaHostAllocPortable | cudaHostAllocMapped;
	*memory = NULL;
	if (kind == TN_MEMORY_PINNED)
		return (struct answer){rt->cudaHostAlloc(memory, size, flags), "cudaHostAlloc"};
	if (!device->has_pools)
		return (struct answer){rt->cudaMalloc(memory, size), "cudaMalloc"};
	cudaError_t code = rt->cudaMallocAsync(memory, size, device->buffers->stream);
	return wait_for_pool(device, (struct answer){code, "cudaMallocAsync"});
}

static tn_status fail_memory(struct cuda_device *device, const struct tn_alloc_args *args,
			     struct answer answer)
{
	size_t free_bytes = 0, total = 0;
	if (answer.code != cudaErrorMemoryAllocation)
		return cuda_stream_fail(device, NULL, args->call.error, answer.code, "alloc",
					answer.function);
	(void)device->rt->cudaGetLastError();
	(void)device->rt->cudaMemGetInfo(&free_bytes, &total);
	return tn_plugin_fail(
		args->call.error, TN_OUT_OF_MEMORY, "alloc",
		"cannot allocate %llu bytes of %s memory; the device has %zu of %zu free",
		(unsigned long long)args->size,
		args->memory_kind == TN_MEMORY_PINNED ? "pinned" : "device", free_bytes, total);
}

tn_status cuda_memory_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "alloc");
	struct cuda_device *own = device;
	struct tn_alloc_args taken;
	struct buffer made = {.memory = NULL};
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, TN_ASYNC, "alloc");
	if (status)
		return status;
	struct tn_error_info *error = taken.call.error;
	if (taken.memory_kind != TN_MEMORY_DEVICE && taken.memory_kind != TN_MEMORY_PINNED)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "alloc",
				      "memory kind %u: expected 0 (device) or 1 (pinned)",
				      taken.memory_kind);
	if (taken.size == 0 || (taken.alignment & (taken.alignment - 1)))
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, "alloc",
			"%llu bytes aligned to %llu: expected at least 1 byte and a power of two",
			(unsigned long long)taken.size, (unsigned long long)taken.alignment);
	/* The runtime aligns to at least 256; for larger alignments a larger piece is allocated. */
	uint64_t slack = taken.alignment > USUAL_ALIGNMENT ? taken.alignment : 0, size;
	if (__builtin_add_overflow(taken.size, slack, &size) ||
	    (taken.memory_kind == TN_MEMORY_DEVICE && size > own->memory_bytes))
		return fail_memory(own, &taken,
				   (struct answer){cudaErrorMemoryAllocation, "alloc"});
	if (!reserve(own))
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY, "alloc",
				      "no host memory for the table of buffers");
	made.kind = taken.memory_kind;
	struct answer answer = get_memory(own, made.kind, size, &made.memory);
	if (answer.code != cudaSuccess) {
		if (made.memory) /* allocated, but waiting for it failed */
			(void)give_back(own, &made);
		return fail_memory(own, &taken, answer);
	}
	made.address = (uint64_t)(uintptr_t)made.memory;
	if (slack)
		made.address = (made.address + slack - 1) & ~(slack - 1);
	own->buffers->list[own->buffers->n++] = made;
	*buffer = made.address;
	return TN_OK;
}

int cuda_memory_find(const struct cuda_device *device, uint64_t buffer, uint32_t *kind)
{
	const struct cuda_buffers *buffers = device->buffers;
	for (size_t i = buffers->n; i > 0; i--) {
		if (buffers->list[i - 1].address != buffer)
			continue;
		*kind = buffers->list[i - 1].kind;
		return 1;
	}
	return 0;
}

/* ---- free ------------------------------------------------------------------------------------*/

/* An imported buffer may have the address of an allocated one. */
static tn_status remove_buffer(struct cuda_device *device, const struct tn_free_args *args,
			       int is_imported, const char *operation)
{
	struct cuda_buffers *buffers = device->buffers;
	size_t i = buffers->n;
	while (i > 0 && (buffers->list[i - 1].address != args->buffer ||
			 (buffers->list[i - 1].memory == NULL) != is_imported))
		i--;
	if (i == 0)
		return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, operation,
				      "buffer %llu was not %s on this device",
				      (unsigned long long)args->buffer,
				      is_imported ? "imported" : "allocated");
	struct answer answer = give_back(device, &buffers->list[i - 1]);
	buffers->list[i - 1] = buffers->list[--buffers->n];
	if (answer.code != cudaSuccess)
		return cuda_stream_fail(device, NULL, args->call.error, answer.code, operation,
					answer.function);
	return TN_OK;
}

tn_status cuda_memory_free(void *device, const struct tn_free_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "free");
	struct tn_free_args taken;
	tn_status status = cuda_take(device, &taken, sizeof(taken), args, TN_ASYNC, "free");
	return status ? status : remove_buffer(device, &taken, 0, "free");
}

/* ---- Table tenon.import/1 --------------------------------------------------------------------*/

/* Is the byte in memory that the runtime allows this device to use at that address?  With unified
 * addressing the runtime's pointers are those of the kernels. */
static tn_status check_pointer(struct cuda_device *device, uint64_t address,
			       const struct tn_import_args *args, uint32_t *kind)
{
	struct cudaPointerAttributes found;
	cudaError_t code = device->rt->cudaPointerGetAttributes(&found, cuda_pointer(address));
	if (code != cudaSuccess)
		return cuda_stream_fail(device, NULL, args->call.error, code, "import_memory",
					"cudaPointerGetAttributes");
	if (found.type == cudaMemoryTypeDevice && found.device != device->ordinal)
		return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, "import_memory",
				      "%#llx is memory of CUDA's device %d, not of %d",
				      (unsigned long long)address, found.device, device->ordinal);
	if (found.type == cudaMemoryTypeUnregistered ||
	    found.devicePointer != cuda_pointer(address))
		return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, "import_memory",
				      "%#llx, in %llu bytes at %#llx, is not an address of this "
				      "device",
				      (unsigned long long)address, (unsigned long long)args->size,
				      (unsigned long long)args->pointer);
	*kind = found.type == cudaMemoryTypeHost ? TN_MEMORY_PINNED : TN_MEMORY_DEVICE;
	return TN_OK;
}

static tn_status import_memory(void *device, const struct tn_import_args *args, uint64_t *buffer)
{
	struct cuda_device *own = device;
	struct tn_import_args taken;
	uint32_t kind;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "import_memory");
	if (status)
		return status;
	if (!taken.pointer || !taken.size || taken.pointer > UINT64_MAX - taken.size)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "import_memory",
				      "%llu bytes at %#llx", (unsigned long long)taken.size,
				      (unsigned long long)taken.pointer);
	status = check_pointer(own, taken.pointer, &taken, &kind);
	if (!status)
		status = check_pointer(own, taken.pointer + taken.size - 1, &taken, &kind);
	if (status)
		return status;
	if (!reserve(own))
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY, "import_memory",
				      "no host memory for the table of buffers");
	own->buffers->list[own->buffers->n++] =
		(struct buffer){.address = taken.pointer, .kind = kind};
	*buffer = taken.pointer;
	return TN_OK;
}

static tn_status import_release(void *device, const struct tn_free_args *args)
{
	struct tn_free_args taken;
	tn_status status = cuda_take(device, &taken, sizeof(taken), args, 0, "import_release");
	return status ? status : remove_buffer(device, &taken, 1, "import_release");
}

static tn_status export_memory(void *device, const struct tn_export_args *args, uint64_t *pointer)
{
	struct tn_export_args taken;
	uint32_t kind;
	tn_status status = cuda_take(device, &taken, sizeof(taken), args, 0, "export_memory");
	if (status)
		return status;
	if (!cuda_memory_find(device, taken.buffer, &kind))
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "export_memory",
				      "buffer %llu does not belong to this device",
				      (unsigned long long)taken.buffer);
	*pointer = taken.buffer;
	return TN_OK;
}

const struct tn_import_table cuda_import_table = {
	.struct_size = sizeof(cuda_import_table),
	.import_memory = import_memory,
	.import_release = import_release,
	.export_memory = export_memory,
};

/* ---- Table tenon.memory/1 --------------------------------------------------------------------*/

static tn_status information(void *device, uint32_t memory_kind, struct tn_memory_information *out)
{
	struct cuda_device *own = device;
	size_t free_bytes = 0, total = 0;
	if (memory_kind != TN_MEMORY_DEVICE)
		return TN_UNSUPPORTED;
	if (own->loss.status)
		return TN_DEVICE_LOST;
	cudaError_t code = own->rt->cudaSetDevice(own->ordinal);
	if (code == cudaSuccess)
		code = own->rt->cudaMemGetInfo(&free_bytes, &total);
	if (code != cudaSuccess)
		return cuda_fail_code(own, NULL, code, "information", "cudaMemGetInfo");
	struct tn_memory_information answer = {.total_bytes = total, .free_bytes = free_bytes};
	tn_struct_answer(out, &answer, sizeof(answer));
	return TN_OK;
}

const struct tn_memory_table cuda_memory_table = {
	.struct_size = sizeof(cuda_memory_table),
	.information = information,
};
