/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Small files for the tests of readers and writers, in their own folder.
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

/* FOLDER/NAME, in one of four rotating buffers. */
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
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(entries);
	return n;
}

/* Writes `size` (below 65536) bytes as a gzip file with one stored block (RFC 1951, 1952), without
 * zlib. */
static inline void files_write_gzipped(const char *path, const void *data, size_t size)
{
	static const unsigned char header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
	const unsigned char *bytes = data;
	unsigned char *file = malloc(size + 23);
	uint32_t crc = 0xffffffffu;
	assert_non_null(file);
	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	crc = ~crc;
	memcpy(file, header, 10);
	file[10] = 1;
	for (int i = 0; i < 2; i++) {
		file[11 + i] = (unsigned char)(size >> 8 * i);
		file[13 + i] = (unsigned char)(~size >> 8 * i);
	}
	memcpy(file + 15, data, size);
	for (int i = 0; i < 4; i++) {
		file[15 + size + i] = (unsigned char)(crc >> 8 * i);
		file[19 + size + i] = (unsigned char)(size >> 8 * i);
	}
	files_write(path, file, size + 23);
	free(file);
}

/* From here to files_told, what is written to stderr goes to FOLDER/told.  Returns the old one. */
static inline int files_listen(const char *folder)
{
	fflush(stderr);
	int kept = dup(2);
	assert_true(kept >= 0);
	assert_non_null(freopen(files_path(folder, "told"), "w", stderr));
	return kept;
}

/* What was written; free() it. */
static inline char *files_told(const char *folder, int kept)
{
	size_t size;
	fflush(stderr);
	dup2(kept, 2);
	close(kept);
	const char *path = files_path(folder, "told");
	char *text = (char *)files_read(path, &size);
	text[size < 1 << 20 ? size : size - 1] = '\0';
	unlink(path);
	return text;
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
