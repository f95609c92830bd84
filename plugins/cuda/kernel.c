/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A kernel is looked up in memory by its key, then on disk by its whole source, and is compiled if
 * found in neither.  The table in memory is bounded: the least recently used kernel is evicted.
 */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

#include "cache.h"
#include "compile.h"
#include "kernel_sources.h"
#include "program.h"
#include "status.h"
#include "stream.h"

#define MAX_KERNELS 4096u
#define BUCKETS 1024u
/* The own kernels use no textures, and none of the runtime's device declarations: this saves a
 * third of the compile time, and NVRTC knows it since CUDA 12.4. */
#define OWN_OPTIONS "--minimal "

struct cuda_kernel {
	struct cuda_kernel *next;
	uint64_t hash;
	uint64_t last_use;
	cudaLibrary_t library;
	cudaKernel_t handle;
	size_t key_length;
	char key[];
};

struct cuda_kernels {
	struct cuda_target target;
	struct tn_plugin_text key, source, options, whole, binary;
	size_t common; /* bytes of the source that all kernels of a kind share */
	int folder;    /* of the cache on disk; -1: none */
	int is_folder_open;
	struct cuda_kernel *bucket[BUCKETS];
	uint32_t n;
	uint64_t uses;
};

/* ---- Life ------------------------------------------------------------------------------------*/

tn_status cuda_kernels_open(struct cuda_device *device, struct tn_error_info *error)
{
	struct cuda_kernels *kernels = tn_plugin_alloc(device->host, sizeof(*kernels));
	if (!kernels)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "open", "no memory for kernels");
	kernels->key.host = kernels->source.host = kernels->options.host = device->host;
	kernels->whole.host = kernels->binary.host = device->host;
	kernels->folder = -1;
	device->kernels = kernels;
	return TN_OK;
}

static void destroy_kernel(struct cuda_device *device, struct cuda_kernel *kernel)
{
	if (kernel->library && !device->loss.status)
		(void)device->rt->cudaLibraryUnload(kernel->library);
	tn_plugin_free(device->host, kernel);
}

void cuda_kernels_close(struct cuda_device *device)
{
	struct cuda_kernels *kernels = device->kernels;
	if (!kernels)
		return;
	for (uint32_t b = 0; b < BUCKETS; b++) {
		while (kernels->bucket[b]) {
			struct cuda_kernel *kernel = kernels->bucket[b];
			kernels->bucket[b] = kernel->next;
			destroy_kernel(device, kernel);
		}
	}
	cuda_cache_close(kernels->folder);
	tn_plugin_text_free(&kernels->key);
	tn_plugin_text_free(&kernels->source);
	tn_plugin_text_free(&kernels->options);
	tn_plugin_text_free(&kernels->whole);
	tn_plugin_text_free(&kernels->binary);
	tn_plugin_free(device->host, kernels);
	device->kernels = NULL;
}

static tn_status begin_job(struct cuda_job *job, void *device, void *own, size_t own_size,
			   const void *args, uint32_t flags, const char *operation)
{
	job->device = device;
	job->call = own;
	job->operation = operation;
	tn_status status = cuda_take(device, own, own_size, args, flags, operation);
	return status ? status : cuda_stream_of(device, job->call, operation, &job->stream);
}

tn_status cuda_job_begin(struct cuda_job *job, void *device, void *own, size_t own_size,
			 const void *args, const char *operation)
{
	return begin_job(job, device, own, own_size, args, CUDA_COMPUTE_FLAGS, operation);
}

tn_status cuda_job_begin_adding(struct cuda_job *job, void *device, void *own, size_t own_size,
				const void *args, const char *operation)
{
	return begin_job(job, device, own, own_size, args, CUDA_COMPUTE_FLAGS | TN_ACCUMULATE,
			 operation);
}

/* ---- Keys ------------------------------------------------------------------------------------*/

struct tn_plugin_text *cuda_key_begin(struct cuda_device *device, const char *kind)
{
	struct tn_plugin_text *key = &device->kernels->key;
	tn_plugin_text_clear(key);
	tn_plugin_text_append(key, kind, strlen(kind) + 1);
	return key;
}

void cuda_key_number(struct tn_plugin_text *key, uint64_t number)
{
	tn_plugin_text_append(key, &number, sizeof(number));
}

void cuda_key_program(struct tn_plugin_text *key, const struct tn_program *program)
{
	tn_plugin_text_append(key, program->hash, sizeof(program->hash));
	cuda_key_number(key, program->n_bytes);
	tn_plugin_text_append(key, program->bytes, program->n_bytes);
}

/* ---- Making ----------------------------------------------------------------------------------*/

/* Queued work may use it, so wait for all work; a process with thousands of kernels is compiling
 * one now, which takes longer.  Failures found here are kept by the stream. */
static void drop_oldest(struct cuda_device *device)
{
	struct cuda_kernels *kernels = device->kernels;
	struct cuda_kernel **oldest = NULL;
	for (uint32_t b = 0; b < BUCKETS; b++)
		for (struct cuda_kernel **k = &kernels->bucket[b]; *k; k = &(*k)->next)
			if (!oldest || (*k)->last_use < (*oldest)->last_use)
				oldest = k;
	if (!oldest)
		return;
	struct cuda_kernel *gone = *oldest;
	*oldest = gone->next;
	cuda_streams_wait(device);
	destroy_kernel(device, gone);
	kernels->n--;
}

/* Everything that the binary depends on, as one text: the key on disk.  The preludes, which are
 * longer than the rest and do not depend on input, are represented by their checksum. */
static void print_whole(struct cuda_kernels *kernels)
{
	const struct cuda_target *target = &kernels->target;
	const struct tn_plugin_text *source = &kernels->source;
	uint64_t sum[2];
	tn_plugin_text_clear(&kernels->whole);
	if (source->failed)
		return;
	cuda_hash(source->data, kernels->common, sum);
	tn_plugin_text_format(&kernels->whole, "NVRTC %d.%d %s\nprelude %016llx%016llx %zu\n",
			      target->version[0], target->version[1], target->architecture,
			      (unsigned long long)sum[0], (unsigned long long)sum[1],
			      kernels->common);
	tn_plugin_text_append(&kernels->whole, kernels->options.data, kernels->options.length);
	tn_plugin_text_add(&kernels->whole, "\n");
	tn_plugin_text_append(&kernels->whole, source->data + kernels->common,
			      source->length - kernels->common);
}

/* Determines the target and finds the folder. */
static tn_status prepare_compiler(struct cuda_job *job)
{
	struct cuda_device *device = job->device;
	struct cuda_kernels *kernels = device->kernels;
	tn_status status =
		cuda_compiler_begin(device, &kernels->target, job->call->error, job->operation);
	if (status)
		return status;
	if (!kernels->is_folder_open)
		kernels->folder = cuda_cache_open(device->host);
	kernels->is_folder_open = 1;
	tn_plugin_text_clear(&kernels->binary);
	return TN_OK;
}

static tn_status compile_source(struct cuda_job *job)
{
	struct cuda_device *device = job->device;
	struct cuda_kernels *kernels = device->kernels;
	const struct cuda_unit unit = {.file = "tenon.cu",
				       .source = kernels->source.data,
				       .options = kernels->options.data};
	tn_status status = cuda_compile(device, &kernels->target, &unit, &kernels->binary,
					job->call->error, job->operation);
	if (!status)
		cuda_cache_write(device->host, kernels->folder, &kernels->whole, &kernels->binary);
	return status;
}

/* The binary of the source and the options: from disk (*is_kept := 1), or from the compiler. */
static tn_status get_binary(struct cuda_job *job, int *is_kept)
{
	struct cuda_kernels *kernels = job->device->kernels;
	tn_status status = prepare_compiler(job);
	if (status)
		return status;
	print_whole(kernels);
	if (kernels->source.failed || kernels->options.failed || kernels->whole.failed)
		return tn_plugin_fail(job->call->error, TN_OUT_OF_MEMORY, job->operation,
				      "no memory for a kernel's source");
	*is_kept = cuda_cache_read(kernels->folder, &kernels->whole, &kernels->binary);
	return *is_kept ? TN_OK : compile_source(job);
}

/* Loads it onto the device now.  The runtime defers loading until a function is queried or
 * launched; loading here completes pending work first, and keeps load failures out of the
 * launch. */
static cudaError_t load_binary(struct cuda_device *device, struct cuda_kernel *made,
			       const char *name, const char **function)
{
	const struct cuda_runtime *rt = device->rt;
	struct cudaFuncAttributes attributes;
	*function = "cudaLibraryLoadData";
	cudaError_t code = rt->cudaLibraryLoadData(&made->library, device->kernels->binary.data,
						   NULL, NULL, 0, NULL, NULL, 0);
	if (code != cudaSuccess) {
		made->library = NULL;
		return code;
	}
	*function = "cudaLibraryGetKernel";
	code = rt->cudaLibraryGetKernel(&made->handle, made->library, name);
	if (code != cudaSuccess)
		return code;
	*function = "cudaFuncGetAttributes";
	return rt->cudaFuncGetAttributes(&attributes, (const void *)made->handle);
}

/* Is the binary invalid? */
static int is_refused(cudaError_t code)
{
	return cuda_status_of(code) == TN_BACKEND_FAILURE;
}

/* A binary from disk that the device rejects is compiled again, once. */
static tn_status load_kernel(struct cuda_job *job, struct cuda_kernel *made, const char *name,
			     int is_kept)
{
	struct cuda_device *device = job->device;
	const char *function = NULL;
	cudaError_t code = load_binary(device, made, name, &function);
	if (is_kept && is_refused(code)) {
		(void)device->rt->cudaGetLastError();
		tn_plugin_log(device->host, "cuda", TN_LOG_INFO,
			      "recompiling a cached kernel of %s: %s: %s", job->operation, function,
			      device->rt->cudaGetErrorString(code));
		if (made->library)
			(void)device->rt->cudaLibraryUnload(made->library);
		made->library = NULL;
		tn_status status = compile_source(job);
		if (status)
			return status;
		code = load_binary(device, made, name, &function);
	}
	if (code == cudaSuccess)
		return TN_OK;
	return cuda_stream_fail(device, job->stream, job->call->error, code, job->operation,
				function);
}

static tn_status make_kernel(struct cuda_job *job, uint64_t hash, const char *name,
			     struct cuda_kernel **made)
{
	struct cuda_device *device = job->device;
	struct cuda_kernels *kernels = device->kernels;
	struct cuda_kernel *kernel =
		tn_plugin_alloc(device->host, sizeof(*kernel) + kernels->key.length);
	if (!kernel)
		return tn_plugin_fail(job->call->error, TN_OUT_OF_MEMORY, job->operation,
				      "no memory for a kernel");
	int is_kept = 0;
	tn_status status = get_binary(job, &is_kept);
	if (!status)
		status = load_kernel(job, kernel, name, is_kept);
	if (status) {
		destroy_kernel(device, kernel);
		return status;
	}
	kernel->hash = hash;
	kernel->key_length = kernels->key.length;
	memcpy(kernel->key, kernels->key.data, kernels->key.length);
	if (kernels->n >= MAX_KERNELS && !device->graphs && !device->n_captured)
		drop_oldest(device); /* graphs may use it */
	kernel->next = kernels->bucket[hash % BUCKETS];
	kernels->bucket[hash % BUCKETS] = kernel;
	kernels->n++;
	*made = kernel;
	return TN_OK;
}

/* The kernel of the key, or NULL and its hash. */
static tn_status look_up(struct cuda_job *job, uint64_t *hash, struct cuda_kernel **kernel)
{
	struct cuda_kernels *kernels = job->device->kernels;
	uint64_t sums[2];
	if (kernels->key.failed)
		return tn_plugin_fail(job->call->error, TN_OUT_OF_MEMORY, job->operation,
				      "no memory for a kernel's key");
	cuda_hash(kernels->key.data, kernels->key.length, sums);
	*hash = sums[0] ^ sums[1];
	struct cuda_kernel *found = kernels->bucket[*hash % BUCKETS];
	while (found && (found->hash != *hash || found->key_length != kernels->key.length ||
			 memcmp(found->key, kernels->key.data, kernels->key.length) != 0))
		found = found->next;
	if (found)
		found->last_use = ++kernels->uses;
	*kernel = found;
	return TN_OK;
}

/* ---- Kernels of a file -----------------------------------------------------------------------*/

tn_status cuda_kernel_get(struct cuda_job *job, const char *file, const char *name,
			  const struct cuda_define *defines, uint32_t n_defines,
			  struct cuda_kernel **kernel)
{
	struct cuda_kernels *kernels = job->device->kernels;
	struct tn_plugin_text *key = cuda_key_begin(job->device, file);
	uint64_t hash;
	tn_plugin_text_append(key, name, strlen(name) + 1);
	for (uint32_t k = 0; k < n_defines; k++) {
		tn_plugin_text_append(key, defines[k].name, strlen(defines[k].name) + 1);
		cuda_key_number(key, (uint64_t)defines[k].value);
	}
	tn_status status = look_up(job, &hash, kernel);
	if (status || *kernel)
		return status;
	tn_plugin_text_clear(&kernels->source);
	tn_plugin_text_clear(&kernels->options);
	tn_plugin_text_format(&kernels->options, OWN_OPTIONS "-DKERNEL_%s ", name);
	for (uint32_t k = 0; k < n_defines; k++)
		tn_plugin_text_format(&kernels->options, "-D%s=%lld ", defines[k].name,
				      (long long)defines[k].value);
	int found = cuda_source_add(&kernels->source, "prelude");
	kernels->common = kernels->source.length;
	if (!found || !cuda_source_add(&kernels->source, file))
		return tn_plugin_fail(job->call->error, TN_INTERNAL, job->operation,
				      "this build has no %s.cu", file);
	status = make_kernel(job, hash, name, kernel);
	if (!status)
		(*kernel)->last_use = ++kernels->uses;
	return status;
}

/* ---- Printed kernels -------------------------------------------------------------------------*/

tn_status cuda_kernel_print(struct cuda_job *job, const struct cuda_printer *printer,
			    struct cuda_kernel **kernel)
{
	struct cuda_kernels *kernels = job->device->kernels;
	uint64_t hash;
	tn_status status = look_up(job, &hash, kernel);
	if (status || *kernel)
		return status;
	/* Everything before the printed text. */
	struct tn_plugin_text *source = &kernels->source;
	tn_plugin_text_clear(source);
	tn_plugin_text_clear(&kernels->options);
	tn_plugin_text_add(&kernels->options, OWN_OPTIONS);
	if (!printer->has_normal)
		tn_plugin_text_add(source, "#define TN_NO_NORMAL\n");
	(void)tn_plugin_text_print(source, &cuda_dialect, NULL, NULL); /* source->failed */
	int found = cuda_source_add(source, "prelude") &&
		    (!printer->file || cuda_source_add(source, printer->file));
	kernels->common = source->length;
	if (!found)
		return tn_plugin_fail(job->call->error, TN_INTERNAL, job->operation,
				      "this build has no %s.cu",
				      printer->file ? printer->file : "prelude");
	printer->print(&kernels->source, printer->argument);
	status = make_kernel(job, hash, "run", kernel);
	if (!status)
		(*kernel)->last_use = ++kernels->uses;
	return status;
}

/* ---- Texts of programs -----------------------------------------------------------------------*/

/* Could the text read files, on which the binary would depend too?  A backslash may join lines
 * within the word. */
static int may_include(const char *text)
{
	static const char word[] = "include";
	size_t matched = 0;
	for (; *text && matched < sizeof(word) - 1; text++) {
		if (text[0] == '\\' && text[1] == '\n')
			text++;
		else if (*text == word[matched])
			matched++;
		else
			matched = *text == word[0];
	}
	return matched == sizeof(word) - 1;
}

static int take_log(struct tn_plugin_text *binary, struct tn_plugin_text *log)
{
	uint64_t length = 0;
	if (binary->length < sizeof(length))
		return 0;
	size_t end = binary->length - sizeof(length);
	memcpy(&length, binary->data + end, sizeof(length));
	if (length > end)
		return 0;
	binary->length = end - (size_t)length;
	tn_plugin_text_clear(log);
	tn_plugin_text_append(log, binary->data + binary->length, (size_t)length);
	binary->data[binary->length] = 0;
	return 1;
}

static tn_status compile_foreign(struct cuda_job *job, const struct cuda_unit *unit, int is_kept)
{
	struct cuda_device *device = job->device;
	struct cuda_kernels *kernels = device->kernels;
	struct tn_plugin_text *binary = &kernels->binary;
	tn_status status = cuda_compile(device, &kernels->target, unit, binary, job->call->error,
					job->operation);
	if (status || !is_kept)
		return status;
	/* On disk the compiler's log follows the binary, and its length follows the log. */
	size_t length = binary->length;
	uint64_t log_length = unit->log->length;
	if (log_length)
		tn_plugin_text_append(binary, unit->log->data, unit->log->length);
	tn_plugin_text_append(binary, &log_length, sizeof(log_length));
	if (!binary->failed)
		cuda_cache_write(device->host, kernels->folder, &kernels->whole, binary);
	binary->length = length;
	binary->data[length] = 0;
	return TN_OK;
}

tn_status cuda_kernel_foreign(struct cuda_job *job, const struct cuda_unit *unit, int anew,
			      int *is_kept, const void **binary)
{
	struct cuda_device *device = job->device;
	struct cuda_kernels *kernels = device->kernels;
	int may_keep = !may_include(unit->source) && !may_include(unit->options) &&
		       !strstr(unit->options, "-I");
	tn_status status = prepare_compiler(job);
	if (status)
		return status;
	/* The compiler's log, which is stored with the binary, names the file. */
	const struct cuda_target *target = &kernels->target;
	tn_plugin_text_clear(&kernels->whole);
	tn_plugin_text_format(&kernels->whole, "a program's own\n%s\nNVRTC %d.%d %s\n", unit->file,
			      target->version[0], target->version[1], target->architecture);
	tn_plugin_text_add(&kernels->whole, unit->options);
	tn_plugin_text_add(&kernels->whole, "\n");
	tn_plugin_text_add(&kernels->whole, unit->source);
	may_keep = may_keep && !kernels->whole.failed;
	*is_kept = may_keep && !anew &&
		   cuda_cache_read(kernels->folder, &kernels->whole, &kernels->binary) &&
		   take_log(&kernels->binary, unit->log);
	if (!*is_kept)
		status = compile_foreign(job, unit, may_keep);
	*binary = kernels->binary.data;
	return status;
}

/* ---- Starting --------------------------------------------------------------------------------*/

tn_status cuda_kernel_launch(struct cuda_job *job, const struct cuda_kernel *kernel,
			     struct cuda_grid grid, void **arguments)
{
	const dim3 blocks = {grid.x, grid.y, grid.z};
	const dim3 threads = {grid.block_x, grid.block_y, grid.block_z};
	cuda_stream_note(job->stream, job->operation);
	cudaError_t code = job->device->rt->cudaLaunchKernel((const void *)kernel->handle, blocks,
							     threads, arguments, grid.shared,
							     cuda_stream_handle(job->stream));
	if (code != cudaSuccess)
		return cuda_stream_fail(job->device, job->stream, job->call->error, code,
					job->operation, "cudaLaunchKernel");
	cuda_stream_launched(job->device, job->stream);
	return TN_OK;
}

/* Enough to fill the device several times, so that it stays busy to the end. */
uint32_t cuda_blocks(const struct cuda_device *device, uint64_t n, uint32_t items)
{
	uint64_t needed = (n + items - 1) / items, most = (uint64_t)device->processors * 32;
	return (uint32_t)(needed < most ? needed : most);
}
