/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Regular files: exact reads at an offset.  `operation` is the reader's or writer's name in error
 * texts ("safetensors", "IDX"); borrowed.
 */
#ifndef TN_IO_FILE_H
#define TN_IO_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/backend.h>

#include "base/error.h"

/* A file open for reading. */
struct tn_file {
	int fd;
	uint64_t size; /* when it was opened */
	char *path;
	const char *operation;
};

/* TN_NOT_FOUND, TN_IO (not a regular file, or a system error), TN_OUT_OF_MEMORY. */
tn_status tn_file_open(struct tn_file *file, const char *path, const char *operation,
		       struct tn_error_info *error);
void tn_file_close(struct tn_file *file);

/* Reads exactly [offset, offset + size).  TN_FORMAT: the file ends earlier. */
tn_status tn_file_read(const struct tn_file *file, uint64_t offset, void *buffer, size_t size,
		       struct tn_error_info *error);

/* Reads the whole file, at most `limit` bytes (else TN_LIMIT), into a new allocation. */
tn_status tn_file_read_whole(const struct tn_file *file, uint64_t limit, unsigned char **out,
			     struct tn_error_info *error);

#endif
