/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * IDX, the format of the MNIST family (Y. LeCun, "The MNIST database"): bytes 0, 0, type, number of
 * axes; each axis's length as big-endian u32; the elements, big-endian, row-major.  Guarantees: the
 * content has exactly the size that the header states, and no more memory is allocated than the
 * file can fill.
 */
#include <string.h>
#include <tenon/io.h>
#include <tenon/status.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/bytes.h"
#include "io/file.h"
#include "io/stream.h"

#define OPERATION "IDX"
#define MAX_AXES 8

/* The element types by the type byte; 0: unknown. */
static const tn_dtype types[] = {
	[0x08] = TN_U8,  [0x09] = TN_I8,  [0x0b] = TN_I16,
	[0x0c] = TN_I32, [0x0d] = TN_F32, [0x0e] = TN_F64,
};

enum { N_TYPES = sizeof(types) / sizeof(types[0]) };

/* Reads exactly the next `size` bytes, at `offset` of the content. */
static tn_status read_exactly(struct tn_byte_stream *stream, uint64_t offset, void *buffer,
			      size_t size, const char *what, struct tn_error_info *error)
{
	size_t got = 0;
	tn_status status = tn_byte_stream_read(stream, buffer, size, &got, error);
	if (status || got == size)
		return status;
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: offset %llu: expected %zu bytes of %s, found %zu",
		       tn_file_label(tn_byte_stream_path(stream)), (unsigned long long)offset, size,
		       what, got);
}

/* The first four bytes. */
static tn_status read_magic(struct tn_byte_stream *stream, struct tn_host_array *array,
			    struct tn_error_info *error)
{
	const char *path = tn_file_label(tn_byte_stream_path(stream));
	unsigned char magic[4];
	tn_status status = read_exactly(stream, 0, magic, 4, "header", error);
	if (status)
		return status;
	if (magic[0] || magic[1])
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 0: expected the bytes 00 00, found %02x %02x", path,
			       magic[0], magic[1]);
	array->dtype = magic[2] < N_TYPES ? types[magic[2]] : 0;
	if (!array->dtype)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 2: expected a type 08, 09, 0b, 0c, 0d or 0e, found %02x",
			       path, magic[2]);
	if (magic[3] < 1 || magic[3] > MAX_AXES)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 3: expected 1 to %d axes, found %d", path, MAX_AXES,
			       magic[3]);
	array->rank = magic[3];
	return TN_OK;
}

/* Reads the axes' lengths and checks the size they give. */
static tn_status read_shape(struct tn_byte_stream *stream, struct tn_host_array *array,
			    struct tn_error_info *error)
{
	unsigned char lengths[4 * MAX_AXES];
	tn_status status =
		read_exactly(stream, 4, lengths, 4 * (size_t)array->rank, "axis lengths", error);
	if (status)
		return status;
	for (uint32_t i = 0; i < array->rank; i++)
		array->shape[i] = tn_load_u32_be(lengths + 4 * i);
	char shape[128];
	tn_shape_text(array->shape, array->rank, shape, sizeof(shape));
	if (!tn_shape_bytes(array->shape, array->rank, tn_dtype_size(array->dtype),
			    &array->size_bytes) ||
	    array->size_bytes > TN_HOST_ARRAY_MAX_BYTES)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: offset 4: expected at most %llu bytes, found shape %s of %s",
			       tn_file_label(tn_byte_stream_path(stream)),
			       (unsigned long long)TN_HOST_ARRAY_MAX_BYTES, shape,
			       tn_dtype_name(array->dtype));
	if (array->size_bytes > tn_byte_stream_most(stream))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %u: expected %llu bytes for shape %s of %s, found at "
			       "most %llu",
			       tn_file_label(tn_byte_stream_path(stream)), 4 + 4 * array->rank,
			       (unsigned long long)array->size_bytes, shape,
			       tn_dtype_name(array->dtype),
			       (unsigned long long)tn_byte_stream_most(stream));
	if (array->size_bytes > tn_byte_stream_limit(stream))
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: offset 4: expected at most %llu bytes in a gzipped file of its "
			       "size, found shape %s of %s",
			       tn_file_label(tn_byte_stream_path(stream)),
			       (unsigned long long)tn_byte_stream_limit(stream), shape,
			       tn_dtype_name(array->dtype));
	return TN_OK;
}

static tn_status read_elements(struct tn_byte_stream *stream, struct tn_host_array *array,
			       struct tn_error_info *error)
{
	array->data = tn_mem_alloc((size_t)array->size_bytes);
	if (!array->data)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for %llu bytes",
			       tn_file_label(tn_byte_stream_path(stream)),
			       (unsigned long long)array->size_bytes);
	uint64_t offset = 4 + 4 * (uint64_t)array->rank;
	tn_status status = read_exactly(stream, offset, array->data, (size_t)array->size_bytes,
					"elements", error);
	unsigned char extra;
	size_t n_extra = 0;
	if (!status)
		status = tn_byte_stream_read(stream, &extra, 1, &n_extra, error);
	if (!status && n_extra)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %llu: expected the end of the content, found more bytes",
			       tn_file_label(tn_byte_stream_path(stream)),
			       (unsigned long long)(offset + array->size_bytes));
	size_t size = tn_dtype_size(array->dtype);
	if (!status && size > 1 && tn_host_is_little_endian())
		tn_reverse_words(array->data, (size_t)array->size_bytes / size, size);
	return status;
}

tn_status tn_idx_read(const char *path, struct tn_host_array *out, struct tn_error_info *error)
{
	struct tn_host_array array;
	struct tn_byte_stream *stream = NULL;
	memset(&array, 0, sizeof(array));
	tn_status status = tn_byte_stream_open(path, OPERATION, &stream, error);
	if (!status)
		status = read_magic(stream, &array, error);
	if (!status)
		status = read_shape(stream, &array, error);
	if (!status)
		status = read_elements(stream, &array, error);
	tn_byte_stream_close(stream);
	if (!status)
		*out = array;
	else
		tn_host_array_release(&array);
	return status;
}
