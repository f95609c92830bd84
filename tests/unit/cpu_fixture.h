/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin as used by a host: opened from the build tree, with a small host of the test that
 * runs parallel_for on a real pool and records messages.
 */
#ifndef TN_TESTS_CPU_FIXTURE_H
#define TN_TESTS_CPU_FIXTURE_H

#include <dlfcn.h>
#include <tenon/backend.h>

#include "base/memory.h"
#include "base/threads.h"
#include "check.h"

struct fixture {
	struct tn_host host;
	struct tn_threads *threads;
	const char *openblas;    /* the option of that name */
	const char *variant;     /* the option of that name */
	const char *convolution; /* the option `conv` */
	char log[1024];
	const struct tn_backend_descriptor *descriptor;
	void *instance, *device;
	const struct tn_device_table *devices;
	const struct tn_compute_table *compute;
	const struct tn_copy_table *copy;
	const struct tn_nn_table *nn;
	struct tn_device_description description;
};

/* The values of `variant` on this machine; NULL if there is only one level. */
#ifdef __x86_64__
enum { FIXTURE_LEVELS = 3 };
#else
enum { FIXTURE_LEVELS = 1 };
#endif

static inline const char *fixture_level(size_t i)
{
	static const char *const names[] = {"v2", "v3", "v4"};
	return FIXTURE_LEVELS == 1 ? NULL : names[i % FIXTURE_LEVELS];
}

/* An emulator is slow: TENON_TEST_WORK is the most products that a case may have there. */
static inline int fixture_takes(double products)
{
	const char *most = getenv("TENON_TEST_WORK");
	return !most || products <= atof(most);
}

static inline int32_t fixture_log_enabled(void *context, int32_t level, const char *subsystem)
{
	(void)context, (void)level, (void)subsystem;
	return 1;
}

static inline void fixture_log(void *context, int32_t level, const char *subsystem,
			       const char *text, size_t length)
{
	struct fixture *f = context;
	size_t used = strlen(f->log);
	(void)level, (void)subsystem;
	snprintf(f->log + used, sizeof(f->log) - used, "%.*s\n", (int)length, text);
}

static inline void *fixture_alloc(void *context, size_t size, size_t alignment)
{
	(void)context;
	return alignment ? tn_mem_aligned(size, alignment) : tn_mem_alloc(size);
}

static inline void fixture_free(void *context, void *memory)
{
	(void)context;
	tn_mem_free(memory);
}

static inline uint32_t fixture_thread_count(void *context)
{
	return tn_threads_count(((struct fixture *)context)->threads);
}

static inline void fixture_parallel_for(void *context, uint64_t n, uint64_t grain,
					void (*body)(void *, uint64_t, uint64_t), void *argument)
{
	tn_parallel_for(((struct fixture *)context)->threads, n, grain, body, argument);
}

static inline const char *fixture_parameter(void *context, const char *name, const char *help)
{
	(void)context, (void)name;
	assert_true(help && *help);
	return NULL;
}

static inline const char *fixture_option(void *context, const char *name)
{
	struct fixture *f = context;
	if (!strcmp(name, "openblas"))
		return f->openblas;
	if (!strcmp(name, "variant"))
		return f->variant;
	return strcmp(name, "conv") ? NULL : f->convolution;
}

static inline tn_status fixture_map(void *context, const struct tn_map_args *args,
				    const struct tn_block_kernels *kernels)
{
	(void)context, (void)args, (void)kernels;
	return TN_UNSUPPORTED;
}

static inline tn_status fixture_reduce(void *context, const struct tn_reduce_args *args,
				       const struct tn_block_kernels *kernels)
{
	(void)context, (void)args, (void)kernels;
	return TN_UNSUPPORTED;
}

static inline void fixture_load(struct fixture *f)
{
	char path[4096];
	const char *build = getenv("TENON_BUILD");
	snprintf(path, sizeof(path), "%s/.libs/backend_cpu.so", build ? build : ".");
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!file)
		fail_msg("%s", dlerror());
	f->descriptor = dlsym(file, TN_BACKEND_SYMBOL);
	assert_non_null(f->descriptor);
}

/* Opens the device with `n_threads`, after the parameters were set. */
static inline void fixture_open(struct fixture *f, unsigned n_threads)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	f->log[0] = 0;
	f->threads = tn_threads_create(n_threads);
	f->host = (struct tn_host){.struct_size = sizeof(f->host),
				   .abi_minor = TN_ABI_MINOR,
				   .context = f,
				   .log_enabled = fixture_log_enabled,
				   .log = fixture_log,
				   .alloc = fixture_alloc,
				   .free = fixture_free,
				   .thread_count = fixture_thread_count,
				   .parallel_for = fixture_parallel_for,
				   .parameter = fixture_parameter,
				   .interpret_map = fixture_map,
				   .interpret_reduce = fixture_reduce,
				   .option = fixture_option};
	fixture_load(f);
	assert_ok(f->descriptor->create(&f->host, &error, &f->instance));
	f->devices = f->descriptor->query(f->instance, TN_TABLE_DEVICE);
	f->compute = f->descriptor->query(f->instance, TN_TABLE_COMPUTE);
	f->copy = f->descriptor->query(f->instance, TN_TABLE_COPY);
	f->nn = f->descriptor->query(f->instance, TN_TABLE_NN);
	f->description = (struct tn_device_description){.struct_size = sizeof(f->description)};
	assert_ok(f->devices->describe(f->instance, 0, &f->description));
	struct tn_open_args args = {.call = {.struct_size = sizeof(args)}};
	assert_ok(f->devices->open(f->instance, &args, &f->device));
}

static inline void fixture_close(struct fixture *f)
{
	f->devices->close(f->device);
	f->descriptor->destroy(f->instance);
	tn_threads_destroy(f->threads);
}

#endif
