/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Helpers of the tests of communicators: a folder of their own with plugin files and data files, a
 * context that searches it, and a clean environment.
 */
#ifndef TN_TESTS_COMMUNICATOR_FIXTURE_H
#define TN_TESTS_COMMUNICATOR_FIXTURE_H

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/distributed.h>

#include "check.h"

static char folder[256];
static char messages[8192]; /* one per line, "level subsystem: text" */
static tn_context *ctx;
static tn_communicator *ranks;
static struct tn_error_info error;

static inline const char *in_folder(const char *name)
{
	static char path[4][512];
	static int next;
	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[0]), "%s/%s", folder, name);
	return path[next];
}

static inline void write_text(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Copies a built fixture, "communicator_fake.so", into the folder under a name. */
static inline void put_as(const char *fixture, const char *name)
{
	char path[512], bytes[4096];
	size_t n;
	const char *build = getenv("TENON_BUILD");
	snprintf(path, sizeof(path), "%s/tests/plugins/.libs/%s", build ? build : ".", fixture);
	FILE *from = fopen(path, "rb"), *to = fopen(in_folder(name), "wb");
	assert_non_null(from);
	assert_non_null(to);
	while ((n = fread(bytes, 1, sizeof(bytes), from)) > 0)
		assert_int_equal(fwrite(bytes, 1, n, to), n);
	fclose(from);
	fclose(to);
}

static inline void put(const char *file)
{
	put_as(file, file);
}

static inline void keep_message(void *user, int level, const char *subsystem, const char *text,
				size_t length)
{
	size_t used = strlen(messages);
	(void)user;
	snprintf(messages + used, sizeof(messages) - used, "%d %s: %.*s\n", level, subsystem,
		 (int)length, text);
}

static inline void open_context(uint32_t deterministic)
{
	const char *paths[] = {folder};
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference";
	options.plugin_paths = paths;
	options.n_plugin_paths = 1;
	options.deterministic = deterministic;
	options.log = keep_message;
	assert_ok(tn_context_open(&options, &ctx, &error));
}

/* Opens the communicator that the environment names. */
static inline tn_status open_ranks(void)
{
	open_context(0);
	return tn_communicator_open(ctx, NULL, &ranks, &error);
}

static inline void close_ranks(void)
{
	tn_communicator_close(ranks);
	tn_context_close(ctx);
	ranks = NULL;
	ctx = NULL;
}

static inline int make_folder(void **state)
{
	(void)state;
	return make_program_folder(folder, sizeof(folder)) ||
	       mkdir(in_folder("communicators.d"), 0700);
}

static inline void empty(const char *path)
{
	char file[1024];
	const struct dirent *entry;
	DIR *stream = opendir(path);
	while (stream && (entry = readdir(stream))) {
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		unlink(file);
	}
	if (stream)
		closedir(stream);
}

static inline int remove_folder(void **state)
{
	(void)state;
	return rmdir(in_folder("communicators.d")) || rmdir(folder);
}

static inline int begin_test(void **state)
{
	static const char *const names[] = {
		"TENON_BACKEND",
		"TENON_PLUGIN_PATH",
		"TENON_LOG",
		"TENON_SIMULATE",
		"TENON_COMMUNICATOR",
		"FAKE_SIZE",
		"FAKE_FAULT",
		"TENON_COMMUNICATOR_TIMEOUT",
		"A_SIZE",
		"A_RANK",
		"B_SIZE",
		"B_RANK",
		"C_RANK",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("TENON_PLUGIN_PATH_ONLY", "1", 1);
	setenv("TENON_DATA_DIR", folder, 1);
	messages[0] = '\0';
	return 0;
}

static inline int end_test(void **state)
{
	(void)state;
	close_ranks();
	empty(folder);
	empty(in_folder("communicators.d"));
	return 0;
}

#endif
