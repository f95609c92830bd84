/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Helpers of the loader's tests: their own folder, fixture plugins copied (and corrupted) into it,
 * and a registry opened on it with recorded messages.
 */
#ifndef TN_TESTS_LOADER_FIXTURE_H
#define TN_TESTS_LOADER_FIXTURE_H

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "loader/backend.h"
#include "loader/registry.h"

struct opened {
	struct tn_logger logger;
	struct tn_parameters parameters;
	struct tn_registry_options options;
	struct tn_registry *registry;
	tn_load_report *report;
	struct tn_error_info error;
	tn_status status;
	int n_messages;
	char messages[4096]; /* one per line, "level subsystem: text" */
};

static char folder[256];
static const char *folder_path = folder;

static inline const char *fixture(const char *name)
{
	static char path[4][512];
	static int next;
	const char *build = getenv("TENON_BUILD");
	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[0]), "%s/tests/plugins/.libs/backend_%s.so",
		 build ? build : ".", name);
	return path[next];
}

static inline const char *in_folder(const char *name)
{
	static char path[4][512];
	static int next;
	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[0]), "%s/%s", folder, name);
	return path[next];
}

static inline void write_file(const char *name, const void *data, size_t size)
{
	FILE *file = fopen(in_folder(name), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
}

/* The bytes of a fixture; to be freed. */
static inline char *read_fixture(const char *name, size_t *size)
{
	struct stat information;
	FILE *file = fopen(fixture(name), "rb");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &information), 0);
	*size = (size_t)information.st_size;
	char *data = malloc(*size);
	assert_int_equal(fread(data, 1, *size, file), *size);
	fclose(file);
	return data;
}

/* Copies a fixture into the folder. */
static inline void put(const char *name)
{
	char file[64];
	size_t size;
	char *data = read_fixture(name, &size);
	snprintf(file, sizeof(file), "backend_%s.so", name);
	write_file(file, data, size);
	free(data);
}

static inline int make_folder(void **state)
{
	(void)state;
	return make_program_folder(folder, sizeof(folder));
}

static inline int remove_folder(void **state)
{
	struct dirent *entry;
	DIR *stream = opendir(folder);
	(void)state;
	while (stream && (entry = readdir(stream)))
		remove(in_folder(entry->d_name));
	if (stream)
		closedir(stream);
	return rmdir(folder);
}

static inline void keep_message(void *user, int level, const char *subsystem, const char *text,
				size_t length)
{
	struct opened *opened = user;
	size_t used = strlen(opened->messages);
	opened->n_messages++;
	snprintf(opened->messages + used, sizeof(opened->messages) - used, "%d %s: %.*s\n", level,
		 subsystem, (int)length, text);
}

/* The options of a test: only the folder is searched, without data files. */
static inline void prepare(struct opened *opened)
{
	memset(opened, 0, sizeof(*opened));
	tn_logger_init(&opened->logger);
	opened->logger.callback = keep_message;
	opened->logger.user = opened;
	tn_parameters_init(&opened->parameters);
	opened->parameters.privileged = 0;
	opened->options.logger = &opened->logger;
	opened->options.parameters = &opened->parameters;
	opened->options.paths = &folder_path;
	opened->options.n_paths = 1;
	setenv("TENON_PLUGIN_PATH_ONLY", "1", 1);
	unsetenv("TENON_PLUGIN_PATH");
	unsetenv("TENON_BACKEND");
	unsetenv("TENON_SIMULATE");
	setenv("TENON_DATA_DIR", folder, 1);
}

static inline tn_status open_prepared(struct opened *opened)
{
	opened->status = tn_registry_open(&opened->options, &opened->registry, &opened->report,
					  &opened->error);
	return opened->status;
}

/* Opens with a selection; release at the end. */
static inline tn_status open_selected(struct opened *opened, const char *selection)
{
	prepare(opened);
	opened->options.selection = selection;
	return open_prepared(opened);
}

static inline void release(struct opened *opened)
{
	tn_registry_close(opened->registry);
	tn_load_report_destroy(opened->report);
	tn_parameters_release(&opened->parameters);
}

/* The row of a name must be there. */
static inline const struct tn_load_row *row_of(const struct opened *opened, const char *name)
{
	const struct tn_load_row *row = tn_load_report_find(opened->report, name);
	if (!row)
		print_error("no row '%s'; status %s: %s\n", name, tn_status_name(opened->status),
			    opened->error.text);
	assert_non_null(row);
	return row;
}

#endif
