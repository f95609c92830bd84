/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Helpers of the tests of contexts: an environment without Tenon's variables, a context opened on
 * chosen fixture plugins only, and recorded messages.
 */
#ifndef TN_TESTS_CONTEXT_FIXTURE_H
#define TN_TESTS_CONTEXT_FIXTURE_H

#include <stdlib.h>
#include <tenon/array.h>
#include <tenon/context.h>

#include "check.h"

static char messages[8192]; /* one per line, "level subsystem: text" */

static inline void keep_message(void *user, int level, const char *subsystem, const char *text,
				size_t length)
{
	size_t used = strlen(messages);
	(void)user;
	snprintf(messages + used, sizeof(messages) - used, "%d %s: %.*s\n", level, subsystem,
		 (int)length, text);
}

static inline int clear_environment(void **state)
{
	static const char *const names[] = {
		"TENON_BACKEND",  "TENON_PLUGIN_PATH",  "TENON_LOG",       "TENON_FALLBACK",
		"TENON_THREADS",  "TENON_MEMORY_LIMIT", "TENON_SEED",      "TENON_DETERMINISTIC",
		"TENON_SIMULATE", "TENON_TEST_SECOND",  "TENON_TEST_SYNC",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("TENON_PLUGIN_PATH_ONLY", "1", 1);
	setenv("TENON_DATA_DIR", "/nonexistent", 1);
	messages[0] = '\0';
	return 0;
}

/* The file of a fixture plugin. */
static inline const char *fixture(const char *name)
{
	static char path[4][512];
	static int next;
	const char *build = getenv("TENON_BUILD");
	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[0]), "%s/tests/plugins/.libs/backend_%s.so",
		 build ? build : ".", name);
	char *whole = realpath(path[next], NULL);
	if (whole)
		snprintf(path[next], sizeof(path[0]), "%s", whole);
	free(whole);
	return path[next];
}

/* Opens with a selection and up to two fixtures (NULL: none). */
static inline tn_status open_with(const char *selection, const char *first, const char *second,
				  tn_context **context, struct tn_error_info *error)
{
	const char *paths[2];
	struct tn_context_options options = tn_context_defaults();
	options.backend = selection;
	options.plugin_paths = paths;
	options.log = keep_message;
	if (first)
		paths[options.n_plugin_paths++] = fixture(first);
	if (second)
		paths[options.n_plugin_paths++] = fixture(second);
	return tn_context_open(&options, context, error);
}

#endif
