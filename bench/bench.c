/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the benchmarks share: memory, and a plugin with the library's own host services.
 */
#include "bench.h"
#include "loader/plugin_options.h"

#include <dlfcn.h>
#include <sys/mman.h>

clockid_t bench_clock = CLOCK_PROCESS_CPUTIME_ID;
struct timespec bench_pause = {.tv_nsec = 50000000};

#define HUGE_PAGE ((size_t)2 << 20)

float *bench_floats(size_t n)
{
	size_t bytes = (n * sizeof(float) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	float *x = tn_mem_aligned(bytes, HUGE_PAGE);
	uint32_t state = 1;
	if (!x) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	(void)madvise(x, bytes, MADV_HUGEPAGE);
	for (size_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		x[i] = (float)(int32_t)state * 0x1p-31f;
	}
	return x;
}

static int find(struct bench_backend *backend, const char *path)
{
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	backend->descriptor = file ? dlsym(file, TN_BACKEND_SYMBOL) : NULL;
	if (!backend->descriptor)
		fprintf(stderr, "%s\n", dlerror());
	return backend->descriptor != NULL;
}

/* Its options, from their variables. */
static int take_options(struct bench_backend *backend, const char *name,
			struct tn_error_info *error)
{
	const struct tn_given_options none = {NULL, 0};
	struct tn_plugin *plugin = &backend->plugin;
	plugin->descriptor = *backend->descriptor;
	snprintf(plugin->name, sizeof(plugin->name), "%s", name);
	backend->services->plugin = plugin;
	return !tn_plugin_options_take(plugin, &none, &backend->parameters, error);
}

int bench_open(struct bench_backend *backend, const char *name, unsigned n_threads)
{
	char path[4096];
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_open_args open = {.call = {.struct_size = sizeof(open), .error = &error}};
	const char *build = getenv("TENON_BUILD");
	snprintf(path, sizeof(path), "%s/.libs/backend_%s.so", build ? build : ".", name);
	memset(backend, 0, sizeof(*backend));
	if (n_threads > 1)
		bench_clock = CLOCK_MONOTONIC;
	if (!find(backend, path))
		return 0;
	tn_logger_init(&backend->logger);
	tn_parameters_init(&backend->parameters);
	backend->threads = tn_threads_create(n_threads);
	backend->services = tn_host_create(&backend->logger, &backend->parameters, backend->threads,
					   name, path, TN_ABI_MINOR);
	if (!backend->services || !take_options(backend, name, &error) ||
	    backend->descriptor->create(&backend->services->host, &error, &backend->instance)) {
		fprintf(stderr, "%s\n", error.text);
		return 0;
	}
	backend->devices = backend->descriptor->query(backend->instance, TN_TABLE_DEVICE);
	backend->compute = backend->descriptor->query(backend->instance, TN_TABLE_COMPUTE);
	return backend->devices->open(backend->instance, &open, &backend->device) == TN_OK;
}

void bench_close(struct bench_backend *backend)
{
	backend->devices->close(backend->device);
	backend->descriptor->destroy(backend->instance);
	tn_host_destroy(backend->services);
	tn_plugin_options_release(&backend->plugin);
	tn_threads_destroy(backend->threads);
	tn_parameters_release(&backend->parameters);
}
