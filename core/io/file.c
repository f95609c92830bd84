/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reading.  Guarantees: a read returns all requested bytes or an error; a FIFO or a device is
 * rejected and never blocks.
 */
#include "io/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/regular.h"

tn_status tn_file_open(struct tn_file *file, const char *path, const char *operation,
		       struct tn_error_info *error)
{
	struct stat information;
	memset(file, 0, sizeof(*file));
	file->operation = operation;
	file->fd = -1;
	if (!path)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation, "path is NULL");
	file->fd = tn_regular_open(path, &information);
	if (file->fd == TN_NOT_REGULAR)
		return tn_fail(error, TN_IO, operation, "%s: expected a regular file, found a %s",
			       tn_file_label(path),
			       S_ISDIR(information.st_mode) ? "folder" : "pipe, socket or device");
	if (file->fd < 0)
		return tn_fail(error, errno == ENOENT ? TN_NOT_FOUND : TN_IO, operation, "%s: %s",
			       tn_file_label(path), strerror(errno));
	file->size = (uint64_t)information.st_size;
	file->path = tn_mem_copy_string(path);
	if (file->path)
		return TN_OK;
	tn_file_close(file);
	return tn_no_memory(error, operation, tn_file_label(path), NULL);
}

void tn_file_close(struct tn_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	tn_mem_free(file->path);
	file->path = NULL;
}

tn_status tn_file_read(const struct tn_file *file, uint64_t offset, void *buffer, size_t size,
		       struct tn_error_info *error)
{
	unsigned char *to = buffer;
	for (size_t done = 0; done < size;) {
		ssize_t got = pread(file->fd, to + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tn_fail(error, TN_IO, file->operation, "%s: offset %llu: %s",
				       tn_file_label(file->path),
				       (unsigned long long)(offset + done), strerror(errno));
		if (got == 0)
			return tn_fail(error, TN_FORMAT, file->operation,
				       "%s: offset %llu: expected %zu more bytes, found the end of "
				       "the file",
				       tn_file_label(file->path),
				       (unsigned long long)(offset + done), size - done);
		done += (size_t)got;
	}
	return TN_OK;
}

tn_status tn_file_read_whole(const struct tn_file *file, uint64_t limit, unsigned char **out,
			     struct tn_error_info *error)
{
	if (file->size > limit)
		return tn_fail(error, TN_LIMIT, file->operation,
			       "%s: expected at most %llu bytes, found %llu",
			       tn_file_label(file->path), (unsigned long long)limit,
			       (unsigned long long)file->size);
	unsigned char *data = tn_mem_alloc((size_t)file->size);
	if (!data)
		return tn_fail(error, TN_OUT_OF_MEMORY, file->operation,
			       "%s: no memory for %llu bytes", tn_file_label(file->path),
			       (unsigned long long)file->size);
	tn_status status = tn_file_read(file, 0, data, (size_t)file->size, error);
	if (status) {
		tn_mem_free(data);
		return status;
	}
	*out = data;
	return TN_OK;
}
