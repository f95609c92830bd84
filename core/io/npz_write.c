/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writes NPZ: stored members in the order given.
 */
#include <stdlib.h>
#include <string.h>
#include <tenon/io.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/new_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "io/bytes.h"
#include "io/crc32.h"
#include "io/file.h"
#include "io/npy_header.h"
#include "io/zip.h"
#include "io/zip_write.h"

#define OPERATION TN_ZIP_OPERATION
#define SUFFIX ".npy"
#define MOST_NAME 65000

static tn_status check_array(const char *path, const struct tn_npz_array *array,
			     struct tn_error_info *error)
{
	uint64_t bytes;
	const char *label = tn_file_label(path);
	size_t length = array->name ? strlen(array->name) : 0;
	if (!length || length > MOST_NAME || tn_utf8_prefix(array->name, length) != length)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: array '%.100s': expected a name in UTF-8 of 1 to %d bytes",
			       label, array->name ? array->name : "NULL", MOST_NAME);
	if (!tn_npy_type_name(array->dtype))
		return tn_fail(error, TN_DTYPE, OPERATION,
			       "%s: array '%.100s': NumPy has no type for %s", label, array->name,
			       tn_dtype_name(array->dtype));
	if (array->rank > TN_MAX_RANK ||
	    !tn_shape_bytes(array->shape, array->rank, tn_dtype_size(array->dtype), &bytes))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: array '%.100s': a rank above %d, a negative length or a size "
			       "that overflows",
			       label, array->name, TN_MAX_RANK);
	if (bytes > TN_HOST_ARRAY_MAX_BYTES)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: array '%.100s': expected at most %llu bytes, found %llu", label,
			       array->name, (unsigned long long)TN_HOST_ARRAY_MAX_BYTES,
			       (unsigned long long)bytes);
	return TN_OK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static tn_status check_arrays(const char *path, const struct tn_npz_array *arrays, size_t n,
			      struct tn_error_info *error)
{
	if (n > TN_NPZ_MAX_MEMBERS)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected at most %u arrays, found %zu", tn_file_label(path),
			       TN_NPZ_MAX_MEMBERS, n);
	const char **names = tn_mem_zeroed(n + 1, sizeof(*names));
	if (!names)
		return tn_no_memory(error, OPERATION, tn_file_label(path), NULL);
	tn_status status = TN_OK;
	for (size_t i = 0; !status && i < n; i++) {
		names[i] = arrays[i].name;
		status = check_array(path, &arrays[i], error);
	}
	if (!status)
		qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 1; !status && i < n; i++) {
		if (!strcmp(names[i - 1], names[i]))
			status = tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
					 "%s: expected different names, found two arrays '%.100s'",
					 tn_file_label(path), names[i]);
	}
	tn_mem_free(names);
	return status;
}

/* Texts that are used again for each array. */
struct buffers {
	struct tn_text name;
	struct tn_text npy;
	struct tn_text local;
	struct tn_text directory; /* of all arrays so far */
};

/* *offset: where the next byte of the file is written. */
static tn_status write_array(struct tn_new_file *file, const struct tn_npz_array *array,
			     struct buffers *buffers, uint64_t *offset, struct tn_error_info *error)
{
	uint64_t bytes = 0;
	/* It does not overflow: check_array. */
	(void)tn_shape_bytes(array->shape, array->rank, tn_dtype_size(array->dtype), &bytes);
	buffers->name.length = buffers->npy.length = buffers->local.length = 0;
	tn_text_add(&buffers->name, array->name);
	tn_text_add(&buffers->name, SUFFIX);
	tn_npy_put_header(&buffers->npy, tn_npy_type_name(array->dtype), array->rank, array->shape);
	if (buffers->name.failed || buffers->npy.failed)
		return tn_no_memory(error, OPERATION, tn_file_label(file->path), NULL);
	struct tn_zip_entry entry = {
		.name = buffers->name.data,
		.crc = tn_crc32(0, buffers->npy.data, buffers->npy.length),
		.size = buffers->npy.length + bytes,
		.header = *offset,
	};
	entry.crc = tn_crc32(entry.crc, array->data, (size_t)bytes);
	tn_zip_put_local(&buffers->local, &entry);
	tn_zip_put_entry(&buffers->directory, &entry);
	if (buffers->local.failed || buffers->directory.failed)
		return tn_no_memory(error, OPERATION, tn_file_label(file->path), NULL);
	*offset += buffers->local.length + entry.size;
	tn_status status =
		tn_new_file_write(file, buffers->local.data, buffers->local.length, error);
	if (!status)
		status = tn_new_file_write(file, buffers->npy.data, buffers->npy.length, error);
	return status ? status : tn_new_file_write(file, array->data, (size_t)bytes, error);
}

tn_status tn_npz_write(const char *path, const struct tn_npz_array *arrays, size_t n_arrays,
		       struct tn_error_info *error)
{
	struct tn_new_file file;
	struct buffers buffers = {0};
	uint64_t offset = 0;
	tn_status status = check_arrays(path, arrays, n_arrays, error);
	if (!status)
		status = tn_new_file_begin(&file, path, OPERATION, error);
	if (status)
		return status;
	for (size_t i = 0; !status && i < n_arrays; i++)
		status = write_array(&file, &arrays[i], &buffers, &offset, error);
	size_t size = buffers.directory.length;
	tn_zip_put_end(&buffers.directory, n_arrays, offset, size);
	if (!status && buffers.directory.failed)
		status = tn_no_memory(error, OPERATION, tn_file_label(path), NULL);
	if (!status)
		status = tn_new_file_write(&file, buffers.directory.data, buffers.directory.length,
					   error);
	tn_text_release(&buffers.name);
	tn_text_release(&buffers.npy);
	tn_text_release(&buffers.local);
	tn_text_release(&buffers.directory);
	if (!status)
		return tn_new_file_commit(&file, error);
	tn_new_file_abandon(&file);
	return status;
}
