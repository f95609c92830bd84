/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Helpers of the tests of the mock backend: an environment with one set of faults, and the file.
 */
#ifndef TN_TESTS_MOCK_FIXTURE_H
#define TN_TESTS_MOCK_FIXTURE_H

#include <stdlib.h>
#include <tenon/tenon.h>

#include "kept_error.h"

/* Sets the faults, without the caller's other variables. */
static inline void set_faults(const char *faults)
{
	unsetenv("TENON_BACKEND");
	unsetenv("TENON_PLUGIN_PATH");
	unsetenv("TENON_FALLBACK");
	unsetenv("TENON_MEMORY_LIMIT");
	unsetenv("TENON_SIMULATE");
	setenv("TENON_PLUGIN_PATH_ONLY", "1", 1);
	setenv("TENON_DATA_DIR", "/nonexistent", 1);
	setenv("TENON_MOCK", faults, 1);
}

static inline const char *mock_file(void)
{
	static char path[4096];
	const char *build = getenv("TENON_BUILD");
	char relative[4096];
	snprintf(relative, sizeof(relative), "%s/plugins/mock/.libs/backend_mock.so",
		 build ? build : ".");
	if (!realpath(relative, path))
		fail_msg("%s is not there", relative);
	return path;
}

/* Opens a context on the mock backend and the built-in one, in the environment as it is. */
static inline tn_context *open_mock_here(void)
{
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	tn_context *context = NULL;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static inline tn_context *open_mock(const char *faults)
{
	set_faults(faults);
	return open_mock_here();
}

/* The CPU backend with the same environment; NULL: it is not built. */
static inline tn_context *open_cpu(void)
{
	const char *build = getenv("TENON_BUILD");
	char relative[4096], absolute[4096];
	const char *path = absolute;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "cpu";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	tn_context *context = NULL;
	set_faults("");
	snprintf(relative, sizeof(relative), "%s/.libs/backend_cpu.so", build ? build : ".");
	if (realpath(relative, absolute))
		assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

#endif
