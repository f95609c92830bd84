/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NPY, NumPy's own format, as files of their own.
 */
#include <stdio.h>
#include <string.h>
#include <tenon/io.h>
#include <tenon/status.h>

#include "base/error.h"
#include "base/new_file.h"
#include "base/text.h"
#include "io/bytes.h"
#include "io/file.h"
#include "io/npy_content.h"
#include "io/npy_header.h"

#define OPERATION TN_NPY_OPERATION

/* An array in a file, and those after it. */
struct place {
	struct tn_file file;
	uint64_t begin;
};

static tn_status read_file(void *user, uint64_t offset, void *buffer, size_t size,
			   struct tn_error_info *error)
{
	const struct place *place = user;
	return tn_file_read(&place->file, place->begin + offset, buffer, size, error);
}

/* *offset := that of the next array, or 0. */
static tn_status read_array(struct place *place, uint64_t *offset, struct tn_host_array *out,
			    struct tn_error_info *error)
{
	uint64_t size = place->file.size, end;
	const char *path = tn_file_label(place->file.path);
	char label[250];
	if (*offset > size)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: offset: expected at most the size of the file, %llu, found "
			       "%llu",
			       path, (unsigned long long)size, (unsigned long long)*offset);
	snprintf(label, sizeof(label), "%s, the array at %llu", path, (unsigned long long)*offset);
	place->begin = *offset;
	const struct tn_npy_content content = {.label = *offset ? label : path,
					       .size = size - *offset,
					       .may_continue = 1,
					       .read = read_file,
					       .user = place};
	tn_status status = tn_npy_read_content(&content, out, &end, error);
	if (!status)
		*offset = place->begin + end < size ? place->begin + end : 0;
	return status;
}

tn_status tn_npy_read_next(const char *path, uint64_t *offset, struct tn_host_array *out,
			   struct tn_error_info *error)
{
	struct place place = {0};
	tn_status status = tn_file_open(&place.file, path, OPERATION, error);
	if (status)
		return status;
	status = read_array(&place, offset, out, error);
	tn_file_close(&place.file);
	return status;
}

tn_status tn_npy_read(const char *path, struct tn_host_array *out, struct tn_error_info *error)
{
	uint64_t offset = 0;
	return tn_npy_read_next(path, &offset, out, error);
}

tn_status tn_npy_write(const char *path, tn_dtype dtype, uint32_t rank, const int64_t *shape,
		       const void *data, struct tn_error_info *error)
{
	uint64_t bytes;
	struct tn_text header;
	const char *type = tn_npy_type_name(dtype);
	if (!type)
		return tn_fail(error, TN_DTYPE, OPERATION, "%s: NumPy has no type for %s",
			       tn_file_label(path), tn_dtype_name(dtype));
	if (rank > TN_MAX_RANK || !tn_shape_bytes(shape, rank, tn_dtype_size(dtype), &bytes))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: a rank above %d, a negative length or a size that overflows",
			       tn_file_label(path), TN_MAX_RANK);
	tn_text_init(&header);
	tn_npy_put_header(&header, type, rank, shape);
	struct tn_new_file file;
	tn_status status = header.failed ? tn_no_memory(error, OPERATION, tn_file_label(path), NULL)
					 : tn_new_file_begin(&file, path, OPERATION, error);
	if (status) {
		tn_text_release(&header);
		return status;
	}
	status = tn_new_file_write(&file, header.data, header.length, error);
	if (!status)
		status = tn_new_file_write(&file, data, (size_t)bytes, error);
	tn_text_release(&header);
	if (!status)
		return tn_new_file_commit(&file, error);
	tn_new_file_abandon(&file);
	return status;
}
