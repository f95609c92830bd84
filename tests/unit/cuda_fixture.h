/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Helpers of the tests of the CUDA backend on the simulated CUDA.  They are linked with the
 * simulated libraries, so that the plugin's dlopen finds those, and tests can query them.
 */
#ifndef TN_TESTS_CUDA_FIXTURE_H
#define TN_TESTS_CUDA_FIXTURE_H

#include <tenon/tenon.h>

#include "kept_error.h"
#include "simcuda_fixture.h"

static inline void drop_message(void *user, int level, const char *subsystem, const char *text,
				size_t length)
{
	(void)user, (void)level, (void)subsystem, (void)text, (void)length;
}

static inline const char *cuda_file(void)
{
	static char path[4096];
	char relative[4096];
	const char *build = getenv("TENON_BUILD");
	snprintf(relative, sizeof(relative), "%s/.libs/backend_cuda.so", build ? build : ".");
	if (!realpath(relative, path))
		fail_msg("%s is not there", relative);
	return path;
}

/* A context on the CUDA backend and the built-in one, in a simulation with these settings. */
static inline tn_context *open_cuda(const char *const *settings)
{
	const char *path = cuda_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "cuda";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.log = drop_message;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	char cache[4096];
	const char *build = getenv("TENON_BUILD"), *shared = getenv("TENON_SIMCUDA_CACHE");
	unsetenv("TENON_BACKEND");
	unsetenv("TENON_PLUGIN_PATH");
	unsetenv("TENON_FALLBACK");
	unsetenv("TENON_MEMORY_LIMIT");
	unsetenv("TENON_SIMULATE");
	setenv("TENON_PLUGIN_PATH_ONLY", "1", 1);
	snprintf(cache, sizeof(cache), "%s/tests/simcuda/cache", build ? build : ".");
	setenv("TENON_CACHE_DIR", shared ? shared : cache, 1);
	restart_simcuda(settings);
	if (tn_context_open(&options, &context, &error))
		fail_msg("%s: %s", error.operation, error.text);
	assert_non_null(strstr(tn_device_name(tn_device_current(context)), "cuda:"));
	return context;
}

/* The same with streams that are deferred until somebody waits. */
static inline tn_context *open_deferred(void)
{
	return open_cuda((const char *const[]){"SIMCUDA_DEFER=1", NULL});
}

/* Closes the context; nothing of it is left on the devices. */
static inline void close_cuda(tn_context *context)
{
	char report[512];
	tn_context_close(context);
	if (simcudaLive(report, sizeof(report)))
		fail_msg("left: %s", report);
}

#endif
