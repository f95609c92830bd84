/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A kernel's key consists of the bytes of its programs, the dtypes and the ranks, but no shape.
 * The cache compares keys by hash and by bytes, and is bounded: the least recently used kernel is
 * evicted.
 */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "program.h"
#include "signals.h"

#define MAX_KERNELS 1024
#define BUCKETS 1024

struct opencl_kernel {
	struct opencl_kernel *next;
	uint64_t hash;
	uint64_t last_use;
	size_t key_length;
	cl_program program;
	cl_kernel kernel;
	size_t max_group;
	uint32_t fixed_group; /* the job's */
	char key[];
};

struct opencl_cache {
	struct tn_plugin_text prelude, key, source;
	struct opencl_kernel *bucket[BUCKETS];
	uint32_t n;
	uint64_t uses;
};

/* ---- Life ------------------------------------------------------------------------------------*/

tn_status opencl_cache_open(struct opencl_device *device, struct tn_error_info *error)
{
	struct opencl_cache *cache = tn_plugin_alloc(device->host, sizeof(*cache));
	if (!cache)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "open", "no memory for a cache");
	cache->prelude.host = cache->key.host = cache->source.host = device->host;
	device->cache = cache;
	return TN_OK;
}

static void destroy_kernel(struct opencl_device *device, struct opencl_kernel *kernel)
{
	if (kernel->kernel)
		device->cl->clReleaseKernel(kernel->kernel);
	if (kernel->program)
		device->cl->clReleaseProgram(kernel->program);
	tn_plugin_free(device->host, kernel);
}

void opencl_cache_close(struct opencl_device *device)
{
	struct opencl_cache *cache = device->cache;
	if (!cache)
		return;
	for (int b = 0; b < BUCKETS; b++) {
		while (cache->bucket[b]) {
			struct opencl_kernel *kernel = cache->bucket[b];
			cache->bucket[b] = kernel->next;
			destroy_kernel(device, kernel);
		}
	}
	tn_plugin_text_free(&cache->prelude);
	tn_plugin_text_free(&cache->key);
	tn_plugin_text_free(&cache->source);
	tn_plugin_free(device->host, cache);
}

/* ---- Jobs ------------------------------------------------------------------------------------*/

tn_status opencl_job_begin(struct opencl_job *job, struct opencl_device *device,
			   const struct tn_call *call, const char *operation)
{
	job->device = device;
	job->call = call;
	job->operation = operation;
	job->nest.rank = job->nest.n_kept = job->nest.n_views = 0;
	job->n_numbers = job->n_scalars = 0;
	job->scratch = NULL;
	job->fixed_group = 0;
	job->has_scratch = job->spills = job->is_wide = job->divides = 0;
	job->stream = opencl_stream_find(device, call->stream);
	if (!job->stream)
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
				      "the stream does not belong to this device");
	return TN_OK;
}

void opencl_job_number(struct opencl_job *job, int64_t number)
{
	job->number[job->n_numbers++] = number;
}

void opencl_job_scalars(struct opencl_job *job, const struct tn_scalar *scalars, uint32_t n)
{
	for (uint32_t s = 0; s < n; s++)
		job->scalar[job->n_scalars++] = &scalars[s];
}

/* The axes whose strides are among the words of a view. */
static uint32_t axes_of(const struct tn_plugin_nest *nest, const struct tn_plugin_view *view)
{
	return view->kept_only ? nest->n_kept : nest->rank;
}

uint64_t opencl_job_spill(struct opencl_job *job)
{
	const struct tn_plugin_nest *nest = &job->nest;
	uint32_t n = job->n_numbers + nest->rank + nest->n_views + job->n_scalars;
	for (uint32_t k = 0; k < nest->n_views; k++)
		n += axes_of(nest, &nest->views[k]);
	uint64_t words = 8u * (job->divides ? n + nest->rank : n);
	uint64_t pointers = 8u * (job->nest.n_views + job->n_scalars + 2);
	job->spills = words + pointers > job->device->facts->max_parameter_bytes;
	return job->spills ? (words + 255) / 256 * 256 : 0;
}

tn_status opencl_job_workspace(const struct opencl_job *job, uint64_t bytes, int *goes_on)
{
	const struct tn_call *call = job->call;
	const struct tn_workspace *workspace = call->workspace;
	*goes_on = !(call->flags & TN_DRY_RUN);
	if (!bytes || (!*goes_on && workspace)) {
		(void)tn_plugin_dry_run(call, bytes, bytes);
		return TN_OK;
	}
	/* Without a workspace a dry run is refused, as the call would be. */
	if (!workspace || workspace->size < bytes)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, job->operation,
				      "workspace: expected %llu bytes, found %llu",
				      (unsigned long long)bytes,
				      (unsigned long long)(workspace ? workspace->size : 0));
	const struct tn_operand place = {.buffer = workspace->buffer,
					 .offset = workspace->offset,
					 .dtype = TN_U64,
					 .rank = 1,
					 .shape = {(int64_t)(bytes / 8)},
					 .strides = {1}};
	return opencl_check_operand(job->device, call, job->operation, "workspace", 0, &place,
				    TN_PLUGIN_WRITES);
}

/* ---- Keys ------------------------------------------------------------------------------------*/

void opencl_key_number(struct tn_plugin_text *key, uint64_t number)
{
	tn_plugin_text_append(key, &number, sizeof(number));
}

void opencl_key_program(struct tn_plugin_text *key, const struct tn_program *program)
{
	tn_plugin_text_append(key, program->hash, sizeof(program->hash));
	opencl_key_number(key, program->n_bytes);
	tn_plugin_text_append(key, program->bytes, program->n_bytes);
}

struct tn_plugin_text *opencl_key_begin(struct opencl_job *job, const char *kind)
{
	struct tn_plugin_text *key = &job->device->cache->key;
	const struct tn_plugin_nest *nest = &job->nest;
	tn_plugin_text_clear(key);
	tn_plugin_text_append(key, kind, strlen(kind) + 1);
	opencl_key_number(key,
			  nest->rank | (uint64_t)nest->n_kept << 8 | (uint64_t)nest->n_views << 16 |
				  (uint64_t)job->n_scalars << 24 | (uint64_t)job->spills << 32 |
				  (uint64_t)job->n_numbers << 40 | (uint64_t)job->is_wide << 48 |
				  (uint64_t)job->divides << 49);
	for (uint32_t k = 0; k < nest->n_views; k++)
		opencl_key_number(key, (uint64_t)nest->views[k].dtype |
					       (uint64_t)nest->views[k].kept_only << 32);
	for (uint32_t s = 0; s < job->n_scalars; s++)
		opencl_key_number(key, (uint64_t)job->scalar[s]->dtype |
					       (uint64_t)job->scalar[s]->on_device << 32);
	return key;
}

/* FNV-1a over words. */
static uint64_t hash_of(const char *data, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325), word;
	for (size_t i = 0; i < length; i += sizeof(word)) {
		size_t left = length - i;
		word = 0;
		memcpy(&word, data + i, left < sizeof(word) ? left : sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x100000001b3);
		hash ^= hash >> 29;
	}
	return hash;
}

/* ---- Printing --------------------------------------------------------------------------------*/

static void print_parameter(struct tn_plugin_text *text, const char *type, const char *name,
			    uint32_t number)
{
	tn_plugin_text_format(text, ", global %s *%s%u", type, name, number);
}

void opencl_print_header(struct tn_plugin_text *text, const struct opencl_job *job)
{
	const struct tn_plugin_nest *nest = &job->nest;
	tn_plugin_text_add(text, "struct geometry {\n");
	for (uint32_t k = 0; k < job->n_numbers; k++)
		tn_plugin_text_format(text, "\tlong n%u;\n", k);
	if (nest->rank)
		tn_plugin_text_format(text, "\tlong length[%u];\n", nest->rank);
	for (uint32_t k = 0; k < nest->n_views; k++) {
		uint32_t axes = axes_of(nest, &nest->views[k]);
		tn_plugin_text_format(text, "\tlong o%u;\n", k);
		if (axes)
			tn_plugin_text_format(text, "\tlong t%u[%u];\n", k, axes);
	}
	for (uint32_t s = 0; s < job->n_scalars; s++)
		tn_plugin_text_format(text, "\tlong x%u;\n", s);
	if (job->divides && nest->rank)
		tn_plugin_text_format(text, "\tulong magic[%u];\n", nest->rank);
	tn_plugin_text_add(text, "};\n");
	if (job->spills)
		tn_plugin_text_add(text, "#define g (*(global const struct geometry *)(spilled + "
					 "spilled_at))\n");
	tn_plugin_text_add(text, "kernel ");
	if (job->fixed_group)
		tn_plugin_text_format(text, "__attribute__((reqd_work_group_size(%u, 1, 1))) ",
				      job->fixed_group);
	tn_plugin_text_add(text, job->spills
					 ? "void run(global const ulong *spilled, ulong spilled_at"
					 : "void run(const struct geometry g");
	for (uint32_t k = 0; k < job->nest.n_views; k++)
		print_parameter(text, opencl_type(job->nest.views[k].dtype), "b", k);
	for (uint32_t s = 0; s < job->n_scalars; s++)
		if (job->scalar[s]->on_device)
			print_parameter(text, opencl_type(job->scalar[s]->dtype), "d", s);
	if (job->has_scratch)
		tn_plugin_text_add(text, ", global ulong *scratch");
	tn_plugin_text_add(text, ")\n");
}

void opencl_print_steps(struct tn_plugin_text *text, const struct opencl_job *job, uint32_t view,
			const char *prefix, uint32_t first, uint32_t end)
{
	uint32_t axes = axes_of(&job->nest, &job->nest.views[view]);
	for (uint32_t d = first; d < end && d < axes; d++)
		tn_plugin_text_format(text, " + %s%u * g.t%u[%u]", prefix, d, view, d);
}

void opencl_print_number_type(struct tn_plugin_text *text, const struct opencl_job *job)
{
	tn_plugin_text_format(text, "typedef %s tn_number;\n", job->is_wide ? "ulong" : "uint");
}

void opencl_print_division(struct tn_plugin_text *text, const struct opencl_job *job,
			   const char *rest, uint32_t axis)
{
	if (job->is_wide)
		tn_plugin_text_format(text,
				      "\tconst tn_number q%u = %s / (tn_number)g.length[%u];\n",
				      axis, rest, axis);
	else
		tn_plugin_text_format(text,
				      "\tconst tn_number q%u = (uint)(((ulong)%s * "
				      "(g.magic[%u] & 0xffffffffu)) >> (g.magic[%u] >> 32));\n",
				      axis, rest, axis, axis);
	tn_plugin_text_format(text,
			      "\tconst tn_number c%u = %s - q%u * (tn_number)g.length[%u];\n"
			      "\t%s = q%u;\n",
			      axis, rest, axis, axis, rest, axis);
}

/* Converts a value's bits to its type. */
static const char *bits_as(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F32:
		return "as_float((uint)g.x%u)";
	case TN_F64:
		return "as_double(g.x%u)";
	case TN_BOOL:
		return "(uchar)(g.x%u & 0xff)";
	case TN_F16:
	case TN_BF16:
		return "(ushort)g.x%u";
	default:
		return "g.x%u";
	}
}

void opencl_print_scalar(struct tn_plugin_text *text, const struct opencl_job *job, uint32_t number,
			 tn_dtype to)
{
	char value[64], narrow[96];
	tn_dtype from = job->scalar[number]->dtype;
	if (job->scalar[number]->on_device)
		(void)snprintf(narrow, sizeof(narrow), "d%u[g.x%u]", number, number);
	else {
		const char *format = bits_as(from);
		int is_integer = format[0] == 'g';
		(void)snprintf(value, sizeof(value), format, number);
		(void)snprintf(narrow, sizeof(narrow), is_integer ? "((%s)%s)" : "(%.0s%s)",
			       opencl_type(from), value);
	}
	tn_plugin_text_convert(text, from, to, narrow);
}

void opencl_print_program_scalars(struct tn_plugin_text *text, const struct opencl_job *job,
				  const struct tn_program *program, const char *prefix,
				  uint32_t first)
{
	for (uint32_t s = 0; s < program->n_scalars; s++) {
		tn_dtype dtype = tn_plugin_source_dtype(program, TN_OP_SCALAR, s);
		if (!dtype)
			continue;
		tn_plugin_text_format(text, "\tconst %s %ss%u = ", opencl_type(dtype), prefix, s);
		opencl_print_scalar(text, job, first + s, dtype);
		tn_plugin_text_add(text, ";\n");
	}
}

/* ---- Building --------------------------------------------------------------------------------*/

static void log_lines(const struct tn_host *host, int32_t level, const struct tn_plugin_text *text)
{
	const char *line = text->data, *end = line + text->length;
	while (text->length && line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		tn_plugin_log(host, "opencl", level, "%.*s", (int)((stop ? stop : end) - line),
			      line);
		line = stop ? stop + 1 : end;
	}
}

/* Puts the first lines of a build log into the error, and logs all of it. */
static tn_status report_build(struct opencl_job *job, cl_program program, cl_int code)
{
	struct opencl_device *device = job->device;
	struct tn_plugin_text log = {.host = device->host};
	size_t size = 0;
	(void)device->cl->clGetProgramBuildInfo(program, device->facts->id, CL_PROGRAM_BUILD_LOG, 0,
						NULL, &size);
	char *to = tn_plugin_text_reserve(&log, size);
	if (to && size &&
	    device->cl->clGetProgramBuildInfo(program, device->facts->id, CL_PROGRAM_BUILD_LOG,
					      size, to, NULL) == CL_SUCCESS)
		log.length = strnlen(to, size);
	while (log.length && strchr(" \n", log.data[log.length - 1]))
		log.data[--log.length] = 0;
	log_lines(device->host, TN_LOG_INFO, &log);
	log_lines(device->host, TN_LOG_DEBUG, &device->cache->source);
	tn_status status = opencl_error_status(code) == TN_OUT_OF_MEMORY ? TN_OUT_OF_MEMORY
									 : TN_BACKEND_FAILURE;
	struct tn_error_info own = {.status = status, .native_code = code};
	snprintf(own.operation, sizeof(own.operation), "%s", job->operation);
	snprintf(own.text, sizeof(own.text), "clBuildProgram: %s (%d): %.400s",
		 opencl_error_name(code), (int)code, log.length ? log.data : "no log");
	if (job->call->error)
		tn_struct_answer(job->call->error, &own, sizeof(own));
	tn_plugin_text_free(&log);
	return status;
}

static tn_status build_kernel(struct opencl_job *job, struct opencl_kernel *made)
{
	struct opencl_device *device = job->device;
	struct opencl_cache *cache = device->cache;
	const struct opencl_library *cl = device->cl;
	const char *options = device->facts->divides_exactly
				      ? "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
				      : "-w -cl-std=CL1.2";
	const char *sources[] = {cache->prelude.data, cache->source.data};
	struct tn_error_info *error = job->call->error;
	struct opencl_signals signals;
	cl_int code;
	made->program = cl->clCreateProgramWithSource(device->context, 2, sources, NULL, &code);
	if (!made->program)
		return opencl_fail_code(error, code, job->operation, "clCreateProgramWithSource");
	opencl_signals_save(&signals);
	code = cl->clBuildProgram(made->program, 1, &device->facts->id, options, NULL, NULL);
	opencl_signals_restore(&signals);
	if (code)
		return report_build(job, made->program, code);
	made->kernel = cl->clCreateKernel(made->program, "run", &code);
	if (!made->kernel)
		return opencl_fail_code(error, code, job->operation, "clCreateKernel");
	code = cl->clGetKernelWorkGroupInfo(made->kernel, device->facts->id,
					    CL_KERNEL_WORK_GROUP_SIZE, sizeof(made->max_group),
					    &made->max_group, NULL);
	if (code)
		return opencl_fail_code(error, code, job->operation, "clGetKernelWorkGroupInfo");
	return TN_OK;
}

/* ---- The cache -------------------------------------------------------------------------------*/

static void drop_oldest(struct opencl_device *device)
{
	struct opencl_cache *cache = device->cache;
	struct opencl_kernel **oldest = NULL;
	for (int b = 0; b < BUCKETS; b++)
		for (struct opencl_kernel **k = &cache->bucket[b]; *k; k = &(*k)->next)
			if (!oldest || (*k)->last_use < (*oldest)->last_use)
				oldest = k;
	if (!oldest)
		return;
	struct opencl_kernel *gone = *oldest;
	*oldest = gone->next;
	destroy_kernel(device, gone);
	cache->n--;
}

static struct opencl_kernel *find_kernel(const struct opencl_cache *cache, uint64_t hash)
{
	const struct tn_plugin_text *key = &cache->key;
	struct opencl_kernel *k = cache->bucket[hash % BUCKETS];
	while (k && (k->hash != hash || k->key_length != key->length ||
		     memcmp(k->key, key->data, key->length) != 0))
		k = k->next;
	return k;
}

static tn_status make_kernel(struct opencl_job *job, uint64_t hash, struct opencl_kernel **made)
{
	struct opencl_device *device = job->device;
	struct opencl_cache *cache = device->cache;
	struct opencl_kernel *kernel =
		tn_plugin_alloc(device->host, sizeof(*kernel) + cache->key.length);
	if (!kernel)
		return tn_plugin_fail(job->call->error, TN_OUT_OF_MEMORY, job->operation,
				      "no memory for a kernel");
	tn_status status = build_kernel(job, kernel);
	if (status) {
		destroy_kernel(device, kernel);
		return status;
	}
	kernel->hash = hash;
	kernel->fixed_group = job->fixed_group;
	kernel->key_length = cache->key.length;
	memcpy(kernel->key, cache->key.data, cache->key.length);
	if (cache->n >= MAX_KERNELS)
		drop_oldest(device);
	kernel->next = cache->bucket[hash % BUCKETS];
	cache->bucket[hash % BUCKETS] = kernel;
	cache->n++;
	*made = kernel;
	return TN_OK;
}

tn_status opencl_kernel_get(struct opencl_job *job,
			    void (*print)(struct tn_plugin_text *text, const struct opencl_job *job,
					  const void *argument),
			    const void *argument, struct opencl_kernel **kernel)
{
	struct opencl_cache *cache = job->device->cache;
	tn_status status = TN_OK;
	if (cache->key.failed)
		return tn_plugin_fail(job->call->error, TN_OUT_OF_MEMORY, job->operation,
				      "no memory for a kernel's key");
	uint64_t hash = hash_of(cache->key.data, cache->key.length);
	*kernel = find_kernel(cache, hash);
	if (!*kernel) {
		if (!cache->prelude.length)
			tn_plugin_text_print(&cache->prelude, &opencl_dialect, NULL, NULL);
		tn_plugin_text_clear(&cache->source);
		print(&cache->source, job, argument);
		if (cache->prelude.failed || cache->source.failed) {
			tn_plugin_text_clear(&cache->prelude);
			return tn_plugin_fail(job->call->error, TN_OUT_OF_MEMORY, job->operation,
					      "no memory for a kernel's source");
		}
		status = make_kernel(job, hash, kernel);
	}
	if (!status)
		(*kernel)->last_use = ++cache->uses;
	return status;
}

/* ---- Starting --------------------------------------------------------------------------------*/

/* n / d = n m >> s for n below 2^31, with s = 31 + l, 2^(l-1) < d <= 2^l and m = 2^s / d rounded
 * up, which is below 2^32 (Granlund and Montgomery 1994, theorem 4.2): m in the lower half, s in
 * the upper. */
static uint64_t magic_of(int64_t divisor)
{
	uint64_t d = (uint64_t)divisor, shift = 31;
	if (d > INT32_MAX) /* the job is wide, and divides */
		return 0;
	while ((UINT64_C(1) << (shift - 31)) < d)
		shift++;
	return shift << 32 | ((UINT64_C(1) << shift) + d - 1) / d;
}

/* Uploads the words to the start of the workspace, from a copy that lives until the upload is
 * done. */
static cl_int upload_words(struct opencl_job *job, cl_mem memory, const int64_t *words, uint32_t n)
{
	struct opencl_device *device = job->device;
	cl_event event = NULL;
	size_t size = n * sizeof(*words);
	void *copy = device->host->alloc(device->host->context, size, 0);
	if (!copy)
		return CL_OUT_OF_HOST_MEMORY;
	memcpy(copy, words, size);
	cl_int code = device->cl->clEnqueueWriteBuffer(opencl_stream_queue(job->stream), memory,
						       CL_FALSE, job->call->workspace->offset, size,
						       copy, 0, NULL, &event);
	if (code)
		tn_plugin_free(device->host, copy);
	else
		opencl_stream_push(device, job->stream, event, job->operation, copy);
	return code;
}

static cl_int set_words(struct opencl_job *job, cl_kernel kernel, cl_uint *n)
{
	int64_t words[OPENCL_MAX_WORDS];
	const struct opencl_library *cl = job->device->cl;
	const struct tn_plugin_nest *nest = &job->nest;
	uint32_t n_words = 0;
	for (uint32_t k = 0; k < job->n_numbers; k++)
		words[n_words++] = job->number[k];
	for (uint32_t d = 0; d < nest->rank; d++)
		words[n_words++] = nest->lengths[d];
	for (uint32_t k = 0; k < nest->n_views; k++) {
		words[n_words++] =
			(int64_t)(nest->views[k].offset / tn_dtype_size(nest->views[k].dtype));
		for (uint32_t d = 0; d < axes_of(nest, &nest->views[k]); d++)
			words[n_words++] = nest->views[k].strides[d];
	}
	for (uint32_t s = 0; s < job->n_scalars; s++) {
		const struct tn_scalar *scalar = job->scalar[s];
		words[n_words++] =
			scalar->on_device ? (int64_t)(scalar->offset / tn_dtype_size(scalar->dtype))
					  : (int64_t)scalar->bits;
	}
	for (uint32_t d = 0; d < nest->rank && job->divides; d++)
		words[n_words++] = (int64_t)magic_of(nest->lengths[d]);
	if (!job->spills)
		return cl->clSetKernelArg(kernel, (*n)++, n_words * sizeof(*words), words);
	cl_mem memory = opencl_buffer_memory(job->device, job->call->workspace->buffer);
	cl_ulong at = job->call->workspace->offset / sizeof(cl_ulong);
	cl_int code = upload_words(job, memory, words, n_words);
	if (!code)
		code = cl->clSetKernelArg(kernel, (*n)++, sizeof(memory), &memory);
	if (!code)
		code = cl->clSetKernelArg(kernel, (*n)++, sizeof(at), &at);
	return code;
}

static cl_int set_buffer(const struct opencl_job *job, cl_kernel kernel, cl_uint *n, cl_mem memory)
{
	return job->device->cl->clSetKernelArg(kernel, (*n)++, sizeof(memory), &memory);
}

size_t opencl_group(const struct opencl_device *device, size_t wanted)
{
	while (wanted > device->facts->max_group)
		wanted /= 2;
	return wanted ? wanted : 1;
}

tn_status opencl_kernel_run(struct opencl_job *job, struct opencl_kernel *kernel, uint64_t items,
			    size_t group)
{
	enum { USUAL_GROUP = 128 };
	const struct opencl_library *cl = job->device->cl;
	struct tn_error_info *error = job->call->error;
	cl_event event = NULL;
	cl_uint n = 0;
	cl_int code = set_words(job, kernel->kernel, &n);
	for (uint32_t k = 0; k < job->nest.n_views && !code; k++)
		code = set_buffer(job, kernel->kernel, &n,
				  opencl_buffer_memory(job->device, job->nest.views[k].buffer));
	for (uint32_t s = 0; s < job->n_scalars && !code; s++)
		if (job->scalar[s]->on_device)
			code = set_buffer(
				job, kernel->kernel, &n,
				opencl_buffer_memory(job->device, job->scalar[s]->buffer));
	if (job->has_scratch && !code)
		code = set_buffer(job, kernel->kernel, &n, job->scratch);
	if (code)
		return opencl_fail_code(error, code, job->operation, "clSetKernelArg");
	size_t local = group ? group : USUAL_GROUP;
	/* A kernel with many registers may allow fewer items than the device. */
	while (!kernel->fixed_group && local > 1 && local > kernel->max_group)
		local /= 2;
	size_t global = (size_t)((items + local - 1) / local * local);
	code = cl->clEnqueueNDRangeKernel(opencl_stream_queue(job->stream), kernel->kernel, 1, NULL,
					  &global, &local, 0, NULL, &event);
	if (code)
		return opencl_fail_code(error, code, job->operation, "clEnqueueNDRangeKernel");
	opencl_stream_push(job->device, job->stream, event, job->operation, NULL);
	return TN_OK;
}
