/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CUDA backend as a host uses it, on a simulated device that records its calls.
 */
#ifndef TN_TESTS_SIMCUDA_PLUGIN_FIXTURE_H
#define TN_TESTS_SIMCUDA_PLUGIN_FIXTURE_H

#include <dlfcn.h>
#include <tenon/backend.h>

#include "simcuda_fixture.h"

struct plugin {
	struct tn_host host;
	const char *cache;  /* the value of TENON_CACHE_DIR */
	const char *hidden; /* a variable hidden from the plugin; may be NULL */
	char log[4096];
	const struct tn_backend_descriptor *descriptor;
	void *instance, *device;
	const struct tn_device_table *devices;
	const struct tn_compute_table *compute;
	const struct tn_copy_table *copy;
	const struct tn_memory_table *memory;
	const struct tn_stream_table *streams;
	struct tn_error_info error; /* of the last call */
};

/* ---- The host --------------------------------------------------------------------------------*/

static inline int32_t plugin_log_enabled(void *context, int32_t level, const char *subsystem)
{
	(void)context, (void)level, (void)subsystem;
	return 1;
}

static inline void plugin_log(void *context, int32_t level, const char *subsystem, const char *text,
			      size_t length)
{
	struct plugin *p = context;
	size_t used = strlen(p->log);
	(void)level, (void)subsystem;
	snprintf(p->log + used, sizeof(p->log) - used, "%.*s\n", (int)length, text);
}

static inline void *plugin_alloc(void *context, size_t size, size_t alignment)
{
	(void)context, (void)alignment;
	return malloc(size);
}

static inline void plugin_free(void *context, void *memory)
{
	(void)context;
	free(memory);
}

static inline const char *plugin_parameter(void *context, const char *name, const char *help)
{
	const struct plugin *p = context;
	assert_true(help && *help);
	if (!strcmp(name, "TENON_CACHE_DIR"))
		return p->cache;
	return p->hidden && !strcmp(name, p->hidden) ? NULL : getenv(name);
}

/* The value of the option's variable, else its default. */
static inline const char *plugin_option(void *context, const char *name)
{
	const struct plugin *p = context;
	for (uint32_t i = 0; i < p->descriptor->n_options; i++) {
		const struct tn_option_row *row = &p->descriptor->options[i];
		const char *value = strcmp(row->name, name) ? NULL : getenv(row->variable);
		if (!strcmp(row->name, name))
			return value ? value : row->standard;
	}
	return NULL;
}

/* ---- Life ------------------------------------------------------------------------------------*/

/* Loads the file and makes an instance; nothing is opened. */
static inline void plugin_load(struct plugin *p)
{
	char path[4096];
	const char *build = getenv("TENON_BUILD");
	p->log[0] = 0;
	if (!p->cache)
		p->cache = "";
	p->host = (struct tn_host){.struct_size = sizeof(p->host),
				   .abi_minor = TN_ABI_MINOR,
				   .context = p,
				   .log_enabled = plugin_log_enabled,
				   .log = plugin_log,
				   .alloc = plugin_alloc,
				   .free = plugin_free,
				   .parameter = plugin_parameter,
				   .option = plugin_option};
	snprintf(path, sizeof(path), "%s/.libs/backend_cuda.so", build ? build : ".");
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!file)
		fail_msg("%s", dlerror());
	p->descriptor = dlsym(file, TN_BACKEND_SYMBOL);
	assert_non_null(p->descriptor);
	assert_ok(p->descriptor->create(&p->host, NULL, &p->instance));
	p->devices = p->descriptor->query(p->instance, TN_TABLE_DEVICE);
	p->compute = p->descriptor->query(p->instance, TN_TABLE_COMPUTE);
	p->copy = p->descriptor->query(p->instance, TN_TABLE_COPY);
	p->memory = p->descriptor->query(p->instance, TN_TABLE_MEMORY);
	p->streams = p->descriptor->query(p->instance, TN_TABLE_STREAM);
}

static inline uint32_t plugin_count(struct plugin *p, struct tn_device_count *count)
{
	*count = (struct tn_device_count){.struct_size = sizeof(*count)};
	assert_ok(p->devices->device_count(p->instance, count));
	return count->count;
}

/* The arguments of a call: `stream` may be NULL. */
static inline struct tn_call plugin_call(struct plugin *p, size_t size, void *stream)
{
	p->error = (struct tn_error_info){.struct_size = sizeof(p->error)};
	return (struct tn_call){
		.struct_size = (uint32_t)size, .stream = stream, .error = &p->error};
}

static inline tn_status plugin_open_device(struct plugin *p, uint32_t index)
{
	const struct tn_open_args args = {.call = plugin_call(p, sizeof(args), NULL),
					  .index = index};
	return p->devices->open(p->instance, &args, &p->device);
}

/* Device 0 of a new simulation with these settings. */
static inline void plugin_open(struct plugin *p, const char *const *settings)
{
	restart_simcuda(settings);
	plugin_load(p);
	if (plugin_open_device(p, 0))
		fail_msg("open: %s", p->error.text);
}

/* Everything was freed, and the simulator found no error. */
static inline void plugin_close(struct plugin *p)
{
	char report[512];
	if (p->device)
		p->devices->close(p->device);
	p->device = NULL;
	p->descriptor->destroy(p->instance);
	if (simcudaLive(report, sizeof(report)))
		fail_msg("left: %s", report);
}

/* ---- Work ------------------------------------------------------------------------------------*/

static inline uint64_t plugin_take(struct plugin *p, uint32_t kind, uint64_t size)
{
	uint64_t buffer = 0;
	const struct tn_alloc_args args = {
		.call = plugin_call(p, sizeof(args), NULL), .size = size, .memory_kind = kind};
	if (p->devices->alloc(p->device, &args, &buffer))
		fail_msg("alloc: %s", p->error.text);
	return buffer;
}

static inline tn_status plugin_give(struct plugin *p, uint64_t buffer)
{
	const struct tn_free_args args = {.call = plugin_call(p, sizeof(args), NULL),
					  .buffer = buffer};
	return p->devices->free(p->device, &args);
}

static inline tn_status plugin_upload(struct plugin *p, uint64_t buffer, const void *from,
				      size_t size)
{
	const struct tn_transfer_args args = {.call = plugin_call(p, sizeof(args), NULL),
					      .buffer = buffer,
					      .size = size,
					      .host = (void *)(uintptr_t)from};
	return p->devices->upload(p->device, &args);
}

static inline tn_status plugin_download(struct plugin *p, uint64_t buffer, void *to, size_t size)
{
	const struct tn_transfer_args args = {.call = plugin_call(p, sizeof(args), NULL),
					      .buffer = buffer,
					      .size = size,
					      .host = to};
	return p->devices->download(p->device, &args);
}

static inline tn_status plugin_sync(struct plugin *p, void *stream)
{
	const struct tn_sync_args args = {.call = plugin_call(p, sizeof(args), stream)};
	return p->devices->sync(p->device, &args);
}

/* A matrix by rows of f32. */
static inline struct tn_operand plugin_matrix(uint64_t buffer, int64_t rows, int64_t columns)
{
	return (struct tn_operand){.buffer = buffer,
				   .dtype = TN_F32,
				   .rank = 2,
				   .shape = {rows, columns},
				   .strides = {columns, 1}};
}

static inline tn_status plugin_fill(struct plugin *p, void *stream, uint64_t buffer, int64_t n,
				    float value)
{
	struct tn_fill_args args = {.call = plugin_call(p, sizeof(args), stream),
				    .output = plugin_matrix(buffer, 1, n),
				    .value = {.dtype = TN_F32}};
	memcpy(&args.value.bits, &value, sizeof(value));
	return p->copy->fill(p->device, &args);
}

static inline void *plugin_stream(struct plugin *p)
{
	void *stream = NULL;
	const struct tn_stream_args args = {.call = plugin_call(p, sizeof(args), NULL)};
	assert_ok(p->streams->stream_create(p->device, &args, &stream));
	return stream;
}

static inline tn_status plugin_stream_end(struct plugin *p, void *stream)
{
	const struct tn_stream_args args = {.call = plugin_call(p, sizeof(args), stream)};
	return p->streams->stream_destroy(p->device, &args);
}

#endif
