/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * For tests that open the mock's contexts and others: the mock's environment lacks the path of the
 * other plugins, which is put back.
 */
#ifndef TN_TESTS_NN_BACKENDS_H
#define TN_TESTS_NN_BACKENDS_H

#include "mock_fixture.h"

static char *nn_plugin_path;

/* "mock", or what TENON_BACKEND takes. */
static inline tn_context *open_backend(const char *name)
{
	tn_context *context = NULL;
	if (!strcmp(name, "mock"))
		return open_mock("");
	if (nn_plugin_path)
		setenv("TENON_PLUGIN_PATH", nn_plugin_path, 1);
	struct tn_context_options options = tn_context_defaults();
	options.backend = name;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

/* Keeps the path of plugins, for open_backend; to be called before the tests. */
static inline void keep_plugin_path(void)
{
	const char *path = getenv("TENON_PLUGIN_PATH");
	nn_plugin_path = path ? strdup(path) : NULL;
}

#endif
