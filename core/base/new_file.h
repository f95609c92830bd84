/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * New files that appear complete or not at all.
 */
#ifndef TN_BASE_NEW_FILE_H
#define TN_BASE_NEW_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/backend.h>

/* A file being written in the folder of `path`: without a name, or where the file system demands
 * one, as tenon-<16 hexadecimal digits>.tmp.  In the end each has that name, for the rename. */
struct tn_new_file {
	int fd;
	int folder;
	char *path;
	char *temporary; /* NULL: it has no name yet */
	const char *operation;
};

/* Uses the mode of a file that it will replace.  TN_IO: no such folder, not writable, `path` is a
 * folder or a device. */
tn_status tn_new_file_begin(struct tn_new_file *file, const char *path, const char *operation,
			    struct tn_error_info *error);
tn_status tn_new_file_write(struct tn_new_file *file, const void *data, size_t size,
			    struct tn_error_info *error);
/* Writes over what was written, at an offset. */
tn_status tn_new_file_write_at(struct tn_new_file *file, uint64_t offset, const void *data,
			       size_t size, struct tn_error_info *error);
/* Syncs, renames, syncs the folder, and releases `file`, also on failure; a failure before the
 * rename removes the temporary file. */
tn_status tn_new_file_commit(struct tn_new_file *file, struct tn_error_info *error);
/* Removes the temporary file and releases `file`. */
void tn_new_file_abandon(struct tn_new_file *file);

/* All of it in one call. */
tn_status tn_new_file_save(const char *path, const void *data, size_t size, const char *operation,
			   struct tn_error_info *error);

/* Removes the temporary files in a folder that no process writes to now: those of processes that
 * were killed.  Returns how many. */
size_t tn_new_file_clean(const char *folder);

#endif
