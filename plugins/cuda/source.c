/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.compile/1: kernels in CUDA C++ that programs bring.  The runtime reads a kernel's
 * arguments without checking their number, so their number and sizes are compared with the kernel's
 * parameters, and grid and block with the device's limits, before anything is started.
 */
#include <stdio.h>
#include <string.h>

#include "compile.h"
#include "kernel.h"
#include "memory.h"
#include "ranges.h"
#include "status.h"
#include "stream.h"

#define FORMAT "cuda-c"

enum { FEW = 16 };

struct cuda_source {
	struct cuda_source *next;
	cudaLibrary_t library;
	cudaKernel_t handle;
	char name[48]; /* for errors */
	int most_blocks[3], most_threads_along[3];
	uint32_t most_threads;
	uint32_t own_shared;  /* bytes that it declares */
	uint32_t more_shared; /* more bytes that a launch may request */
	size_t n_parameters;
	size_t *sizes;
};

/* ---- Life ------------------------------------------------------------------------------------*/

static void unload(struct cuda_device *device, struct cuda_source *source)
{
	if (source->library && !device->loss.status)
		(void)device->rt->cudaLibraryUnload(source->library);
	tn_plugin_free(device->host, source->sizes);
	source->library = NULL;
	source->sizes = NULL;
}

static void destroy(struct cuda_device *device, struct cuda_source *source)
{
	cuda_stream_forget(device, source->name);
	unload(device, source);
	tn_plugin_free(device->host, source);
}

void cuda_sources_close(struct cuda_device *device)
{
	while (device->sources) {
		struct cuda_source *source = device->sources;
		device->sources = source->next;
		destroy(device, source);
	}
}

static struct cuda_source **find_source(struct cuda_device *device, const void *kernel)
{
	struct cuda_source **link = &device->sources;
	while (*link && *link != kernel)
		link = &(*link)->next;
	return link;
}

/* ---- compile ---------------------------------------------------------------------------------*/

static tn_status fail_load(struct cuda_job *job, cudaError_t code, const char *function)
{
	return cuda_stream_fail(job->device, NULL, job->call->error, code, job->operation,
				function);
}

/* The number of parameters is found by querying until a query fails. */
static tn_status find_parameters(struct cuda_job *job, struct cuda_source *source)
{
	const struct cuda_runtime *rt = job->device->rt;
	const void *function = source->handle;
	size_t n = 0, offset, size;
	cudaError_t code;
	while ((code = rt->cudaFuncGetParamInfo(function, n, &offset, &size)) == cudaSuccess)
		n++;
	if (code != cudaErrorInvalidValue)
		return fail_load(job, code, "cudaFuncGetParamInfo");
	(void)rt->cudaGetLastError();
	source->sizes = tn_plugin_alloc(job->device->host, (n + 1) * sizeof(*source->sizes));
	if (!source->sizes)
		return tn_plugin_fail(job->call->error, TN_OUT_OF_MEMORY, job->operation,
				      "no memory for a kernel");
	source->n_parameters = n;
	for (size_t i = 0; i < n; i++) {
		code = rt->cudaFuncGetParamInfo(function, i, &offset, &source->sizes[i]);
		if (code != cudaSuccess)
			return fail_load(job, code, "cudaFuncGetParamInfo");
	}
	return TN_OK;
}

static tn_status find_limits(struct cuda_job *job, struct cuda_source *source)
{
	static const struct {
		enum cudaDeviceAttr blocks, threads;
	} axes[] = {{cudaDevAttrMaxGridDimX, cudaDevAttrMaxBlockDimX},
		    {cudaDevAttrMaxGridDimY, cudaDevAttrMaxBlockDimY},
		    {cudaDevAttrMaxGridDimZ, cudaDevAttrMaxBlockDimZ}};
	const struct cuda_runtime *rt = job->device->rt;
	const int ordinal = job->device->ordinal;
	struct cudaFuncAttributes attributes;
	cudaError_t code = rt->cudaFuncGetAttributes(&attributes, source->handle);
	if (code != cudaSuccess)
		return fail_load(job, code, "cudaFuncGetAttributes");
	source->most_threads = (uint32_t)attributes.maxThreadsPerBlock;
	source->own_shared = (uint32_t)attributes.sharedSizeBytes;
	source->more_shared = (uint32_t)attributes.maxDynamicSharedSizeBytes;
	for (int axis = 0; axis < 3 && code == cudaSuccess; axis++) {
		code = rt->cudaDeviceGetAttribute(&source->most_blocks[axis], axes[axis].blocks,
						  ordinal);
		if (code == cudaSuccess)
			code = rt->cudaDeviceGetAttribute(&source->most_threads_along[axis],
							  axes[axis].threads, ordinal);
	}
	return code == cudaSuccess ? TN_OK : fail_load(job, code, "cudaDeviceGetAttribute");
}

static tn_status load_source(struct cuda_job *job, struct cuda_source *source, const void *binary,
			     const char *name)
{
	const struct cuda_runtime *rt = job->device->rt;
	cudaError_t code =
		rt->cudaLibraryLoadData(&source->library, binary, NULL, NULL, 0, NULL, NULL, 0);
	if (code != cudaSuccess) {
		source->library = NULL;
		return fail_load(job, code, "cudaLibraryLoadData");
	}
	code = rt->cudaLibraryGetKernel(&source->handle, source->library, name);
	if (code == cudaErrorSymbolNotFound) {
		(void)rt->cudaGetLastError();
		return tn_plugin_fail(job->call->error, TN_NOT_FOUND, job->operation,
				      "the source has no kernel %s: declare it extern \"C\" "
				      "__global__",
				      name);
	}
	if (code != cudaSuccess)
		return fail_load(job, code, "cudaLibraryGetKernel");
	tn_status status = find_parameters(job, source);
	return status ? status : find_limits(job, source);
}

static tn_status make_source(struct cuda_job *job, const struct tn_compile_args *args,
			     struct tn_plugin_text *log, struct cuda_source **made)
{
	struct cuda_device *device = job->device;
	char file[80];
	const struct cuda_unit unit = {.file = file,
				       .source = args->source,
				       .options = args->options ? args->options : "",
				       .log = log};
	const void *binary = NULL;
	int is_kept = 0;
	snprintf(file, sizeof(file), "%.70s.cu", args->name);
	tn_status status = cuda_kernel_foreign(job, &unit, 0, &is_kept, &binary);
	struct cuda_source *source = status ? NULL : tn_plugin_alloc(device->host, sizeof(*source));
	if (status)
		return status;
	if (!source)
		return tn_plugin_fail(job->call->error, TN_OUT_OF_MEMORY, job->operation,
				      "no memory for a kernel");
	snprintf(source->name, sizeof(source->name), "%s", args->name);
	status = load_source(job, source, binary, args->name);
	if (status == TN_BACKEND_FAILURE && is_kept) { /* the binary on disk does not load */
		unload(device, source);
		status = cuda_kernel_foreign(job, &unit, 1, &is_kept, &binary);
		if (!status)
			status = load_source(job, source, binary, args->name);
	}
	if (status)
		destroy(device, source);
	else
		*made = source;
	return status;
}

/* Copies the compiler's log to the caller's buffer, as far as it fits. */
static void give_log(const struct tn_plugin_text *log, struct tn_compile_log *to)
{
	size_t length = log->length;
	if (!to || !TN_HAS_FIELD(struct tn_compile_log, to, length))
		return;
	to->length = length;
	if (!to->text || !to->size)
		return;
	if (length >= to->size)
		length = (size_t)to->size - 1;
	if (length)
		memcpy(to->text, log->data, length);
	to->text[length] = 0;
}

/* Copies a source of a stated size to `text`, which ends with a NUL. */
static tn_status end_source(struct tn_compile_args *args, struct tn_plugin_text *text)
{
	if (!args->source_size)
		return TN_OK;
	tn_plugin_text_append(text, args->source, (size_t)args->source_size);
	if (text->failed)
		return tn_plugin_fail(args->call.error, TN_OUT_OF_MEMORY, "compile",
				      "no memory for the source");
	args->source = text->data;
	return TN_OK;
}

static tn_status compile(void *device, const struct tn_compile_args *args, void **kernel)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "compile");
	struct cuda_device *own = device;
	struct tn_compile_args taken;
	struct tn_plugin_text log = {.host = own->host}, text = {.host = own->host};
	struct cuda_source *made = NULL;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "compile");
	if (status)
		return status;
	if (!taken.format || !taken.source || !taken.name)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "compile",
				      "expected format, source and name, found NULL");
	if (strcmp(taken.format, FORMAT) != 0)
		return tn_plugin_fail(taken.call.error, TN_UNSUPPORTED, "compile",
				      "format %.40s is not supported: expected " FORMAT,
				      taken.format);
	struct cuda_job job = {
		.device = own, .call = &taken.call, .operation = "compile", .stream = own->streams};
	status = end_source(&taken, &text);
	if (!status)
		status = make_source(&job, &taken, &log, &made);
	give_log(&log, taken.log);
	tn_plugin_text_free(&log);
	tn_plugin_text_free(&text);
	if (status)
		return status;
	made->next = own->sources;
	own->sources = made;
	*kernel = made;
	return TN_OK;
}

/* ---- launch ----------------------------------------------------------------------------------*/

static tn_status check_arguments(const struct tn_launch_args *args,
				 const struct cuda_source *source)
{
	struct tn_error_info *error = args->call.error;
	if (args->n_arguments != source->n_parameters)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, source->name,
				      "%u arguments, the kernel has %zu", args->n_arguments,
				      source->n_parameters);
	if (args->n_arguments && !args->arguments)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, source->name,
				      "%u arguments, but arguments is NULL", args->n_arguments);
	for (uint32_t i = 0; i < args->n_arguments; i++) {
		const struct tn_launch_argument *argument = &args->arguments[i];
		size_t size = argument->is_buffer ? sizeof(void *) : argument->size;
		if (size != source->sizes[i])
			return tn_plugin_fail(error, TN_INVALID_ARGUMENT, source->name,
					      "argument %u has %zu bytes%s, the kernel takes %zu",
					      i, size, argument->is_buffer ? " (an address)" : "",
					      source->sizes[i]);
		if (!argument->is_buffer && !argument->value)
			return tn_plugin_fail(error, TN_INVALID_ARGUMENT, source->name,
					      "argument %u has no value", i);
	}
	return TN_OK;
}

static tn_status check_axis(const struct tn_launch_args *args, const char *name, const char *what,
			    int axis, uint32_t length, int most)
{
	if (length == 0 || length > (uint32_t)most)
		return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, name,
				      "%u %s along axis %d, the device has 1 to %d", length, what,
				      axis, most);
	return TN_OK;
}

static tn_status check_grid(const struct tn_launch_args *args, const struct cuda_source *source)
{
	tn_status status = TN_OK;
	uint64_t threads = 1;
	for (int axis = 0; axis < 3 && !status; axis++) {
		status = check_axis(args, source->name, "blocks", axis, args->grid[axis],
				    source->most_blocks[axis]);
		if (!status)
			status = check_axis(args, source->name, "threads", axis, args->block[axis],
					    source->most_threads_along[axis]);
		threads *= args->block[axis];
	}
	if (!status && threads > source->most_threads)
		return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, source->name,
				      "blocks of %llu threads: the kernel allows at most %u",
				      (unsigned long long)threads, source->most_threads);
	return status;
}

/* A device has more shared memory than every kernel may use, for kernels that request it.  A dry
 * run requests it too: this changes no result. */
static tn_status check_shared(struct cuda_device *device, const struct tn_launch_args *args,
			      struct cuda_source *source)
{
	const struct cuda_runtime *rt = device->rt;
	int most = 0;
	if (args->shared_bytes <= source->more_shared)
		return TN_OK;
	cudaError_t code = rt->cudaDeviceGetAttribute(
		&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device->ordinal);
	if (code == cudaSuccess &&
	    (uint64_t)args->shared_bytes + source->own_shared > (uint32_t)most)
		return tn_plugin_fail(
			args->call.error, TN_INVALID_ARGUMENT, source->name,
			"%u bytes of shared memory and %u of the kernel's own, a block "
			"has at most %d",
			args->shared_bytes, source->own_shared, most);
	if (code == cudaSuccess)
		code = rt->cudaFuncSetAttribute(source->handle,
						cudaFuncAttributeMaxDynamicSharedMemorySize,
						(int)args->shared_bytes);
	if (code != cudaSuccess)
		return cuda_stream_fail(device, NULL, args->call.error, code, source->name,
					"cudaFuncSetAttribute");
	source->more_shared = args->shared_bytes;
	return TN_OK;
}

/* The runtime takes the addresses of addresses and of values. */
struct parameters {
	uint64_t *addresses;
	void **pointers;
	uint64_t few_addresses[FEW];
	void *few_pointers[FEW];
};

static tn_status start_kernel(struct cuda_job *job, const struct tn_launch_args *args,
			      const struct cuda_source *source)
{
	struct cuda_device *device = job->device;
	struct parameters p;
	uint32_t n = args->n_arguments;
	p.addresses = p.few_addresses;
	p.pointers = p.few_pointers;
	if (n > FEW) {
		p.addresses = tn_plugin_alloc(device->host, n * 2 * sizeof(*p.addresses));
		p.pointers = (void **)(p.addresses + n);
	}
	for (uint32_t i = 0; p.addresses && i < n; i++) {
		const struct tn_launch_argument *argument = &args->arguments[i];
		p.addresses[i] = argument->buffer + argument->offset;
		p.pointers[i] = argument->is_buffer ? (void *)&p.addresses[i]
						    : (void *)(uintptr_t)argument->value;
	}
	if (!p.addresses)
		return tn_plugin_fail(job->call->error, TN_OUT_OF_MEMORY, source->name,
				      "no memory for %u arguments", args->n_arguments);
	const dim3 blocks = {args->grid[0], args->grid[1], args->grid[2]};
	const dim3 threads = {args->block[0], args->block[1], args->block[2]};
	cuda_stream_note(job->stream, source->name);
	cudaError_t code = device->rt->cudaLaunchKernel((const void *)source->handle, blocks,
							threads, p.pointers, args->shared_bytes,
							cuda_stream_handle(job->stream));
	if (p.addresses != p.few_addresses)
		tn_plugin_free(device->host, p.addresses);
	if (code != cudaSuccess)
		return cuda_stream_fail(device, job->stream, job->call->error, code, source->name,
					"cudaLaunchKernel");
	cuda_stream_launched(device, job->stream);
	return TN_OK;
}

static tn_status launch(void *device, const struct tn_launch_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "launch");
	struct cuda_device *own = device;
	struct cuda_job job;
	struct tn_launch_args taken;
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, own, &taken, sizeof(taken), args, "launch");
	if (status)
		return status;
	struct cuda_source *source = *find_source(own, taken.kernel);
	if (!source)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "launch",
				      "the kernel does not belong to this device");
	status = check_arguments(&taken, source);
	if (!status)
		status = check_grid(&taken, source);
	if (!status)
		status = check_shared(own, &taken, source);
	if (!status)
		status = tn_plugin_workspace(&taken.call, source->name, 0, &goes_on);
	return status || !goes_on ? status : start_kernel(&job, &taken, source);
}

static tn_status kernel_release(void *device, const struct tn_kernel_args *args)
{
	struct cuda_device *own = device;
	struct tn_kernel_args taken;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "kernel_release");
	if (status && status != TN_DEVICE_LOST)
		return status;
	struct cuda_source **link = find_source(own, taken.kernel), *gone = *link;
	if (!gone)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "kernel_release",
				      "the kernel does not belong to this device");
	*link = gone->next;
	destroy(own, gone);
	return status;
}

const struct tn_compile_table cuda_compile_table = {
	.struct_size = sizeof(cuda_compile_table),
	.compile = compile,
	.launch = launch,
	.kernel_release = kernel_release,
};
