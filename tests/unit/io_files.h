/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Small files for the tests of readers and writers, in a folder of their own.
 */
#ifndef TN_TESTS_IO_FILES_H
#define TN_TESTS_IO_FILES_H

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* A new folder; the test removes it with files_remove. */
static inline const char *files_folder(void)
{
	static char folder[64];
	strcpy(folder, "/tmp/tenon-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	return folder;
}

/* FOLDER/NAME, in one of four buffers that take turns. */
static inline const char *files_path(const char *folder, const char *name)
{
	static char paths[4][512];
	static int turn;
	char *path = paths[turn++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static inline void files_write(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* The whole of a file; free() it. */
static inline unsigned char *files_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *data = malloc(1 << 20);
	assert_non_null(file);
	assert_non_null(data);
	*size = fread(data, 1, 1 << 20, file);
	fclose(file);
	return data;
}

static inline int files_count(const char *folder)
{
	int n = 0;
	DIR *entries = opendir(folder);
	assert_non_null(entries);
	for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
		n += entry->d_name[0] != '.';
	closedir(entries);
	return n;
}

/* Removes the folder and the files in it (no folders). */
static inline void files_remove(const char *folder)
{
	DIR *entries = opendir(folder);
	assert_non_null(entries);
	for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlink(files_path(folder, entry->d_name));
	}
	closedir(entries);
	assert_int_equal(rmdir(folder), 0);
}

#endif
