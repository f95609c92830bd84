/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NPY, NumPy's own format: \x93NUMPY, version, length of the header, header, elements.  Guarantees:
 * the file has exactly the size that the header states; the result is row-major in the host's byte
 * order, whatever the file's order.
 */
#include <string.h>
#include <tenon/io.h>
#include <tenon/status.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/bytes.h"
#include "io/file.h"
#include "io/new_file.h"
#include "io/npy_header.h"

#define OPERATION TN_NPY_OPERATION
#define MAGIC "\x93NUMPY"

/* The length of the header has two bytes in version 1, four in 2 and 3. */
static tn_status read_header(const struct tn_file *file, struct tn_npy_header *header,
			     uint64_t *data_start, struct tn_error_info *error)
{
	unsigned char head[12];
	char text[TN_NPY_MAX_HEADER];
	const char *path = tn_file_label(file->path);
	tn_status status = tn_file_read(file, 0, head, 10, error);
	if (status != TN_OK)
		return status;
	if (memcmp(head, MAGIC, 6))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 0: expected \\x93NUMPY, found other bytes", path);
	if (head[6] < 1 || head[6] > 3 || head[7] != 0)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 6: expected version 1.0, 2.0 or 3.0, found %u.%u", path,
			       head[6], head[7]);
	uint64_t begin = head[6] == 1 ? 10 : 12;
	if (head[6] > 1)
		status = tn_file_read(file, 10, head + 10, 2, error);
	if (status != TN_OK)
		return status;
	uint32_t size = head[8] | (uint32_t)head[9] << 8;
	if (head[6] > 1)
		size |= (uint32_t)head[10] << 16 | (uint32_t)head[11] << 24;
	if (size > TN_NPY_MAX_HEADER)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: offset 8: expected a header of at most %d bytes, found %u",
			       path, TN_NPY_MAX_HEADER, size);
	status = tn_file_read(file, begin, text, size, error);
	if (status != TN_OK)
		return status;
	*data_start = begin + size;
	return tn_npy_parse_header(text, size, path, begin, header, error);
}

/* to[i0, i1, ...] in row-major order := from in column-major order. */
static void to_row_major(const struct tn_npy_header *header, const unsigned char *from,
			 unsigned char *to, uint64_t bytes)
{
	size_t size = tn_dtype_size(header->dtype);
	int64_t index[TN_MAX_RANK] = {0};
	uint64_t stride[TN_MAX_RANK + 1] = {1}; /* of the file, in elements */
	for (uint32_t i = 0; i < header->rank; i++)
		stride[i + 1] = stride[i] * (uint64_t)header->shape[i];
	for (uint64_t done = 0; done < bytes; done += size) {
		uint64_t place = 0;
		for (uint32_t i = 0; i < header->rank; i++)
			place += (uint64_t)index[i] * stride[i];
		memcpy(to + done, from + place * size, size);
		for (uint32_t i = header->rank; i-- > 0;) {
			if (++index[i] < header->shape[i])
				break;
			index[i] = 0;
		}
	}
}

static tn_status no_memory(const struct tn_file *file, uint64_t bytes, struct tn_error_info *error)
{
	return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for %llu bytes",
		       tn_file_label(file->path), (unsigned long long)bytes);
}

/* Converts the elements to the host's order; may replace *data by another allocation. */
static tn_status bring_order(const struct tn_file *file, const struct tn_npy_header *header,
			     unsigned char **data, uint64_t bytes, struct tn_error_info *error)
{
	size_t word = tn_dtype_word_size(header->dtype);
	if (header->reversed && word > 1)
		tn_reverse_words(*data, (size_t)bytes / word, word);
	for (uint64_t i = 0; header->dtype == TN_BOOL && i < bytes; i++) {
		if ((*data)[i] > 1)
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: element %llu: expected a bool, 0 or 1, found %u",
				       tn_file_label(file->path), (unsigned long long)i,
				       (*data)[i]);
	}
	if (!header->column_major || header->rank < 2)
		return TN_OK;
	unsigned char *turned = tn_mem_alloc((size_t)bytes);
	if (!turned)
		return no_memory(file, bytes, error);
	to_row_major(header, *data, turned, bytes);
	tn_mem_free(*data);
	*data = turned;
	return TN_OK;
}

static tn_status read_file(const struct tn_file *file, struct tn_host_array *out,
			   struct tn_error_info *error)
{
	struct tn_npy_header header;
	uint64_t data_start, bytes;
	tn_status status = read_header(file, &header, &data_start, error);
	if (status != TN_OK)
		return status;
	char shape[200];
	const char *path = tn_file_label(file->path);
	tn_shape_text(header.shape, header.rank, shape, sizeof(shape));
	if (!tn_shape_bytes(header.shape, header.rank, tn_dtype_size(header.dtype), &bytes) ||
	    bytes > TN_HOST_ARRAY_MAX_BYTES)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected at most %llu bytes, found shape %s of %s", path,
			       (unsigned long long)TN_HOST_ARRAY_MAX_BYTES, shape,
			       tn_dtype_name(header.dtype));
	if (file->size - data_start != bytes)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %llu: expected %llu bytes for shape %s of %s, found "
			       "%llu",
			       path, (unsigned long long)data_start, (unsigned long long)bytes,
			       shape, tn_dtype_name(header.dtype),
			       (unsigned long long)(file->size - data_start));
	unsigned char *data = tn_mem_alloc((size_t)bytes);
	if (!data)
		return no_memory(file, bytes, error);
	status = tn_file_read(file, data_start, data, (size_t)bytes, error);
	if (status == TN_OK)
		status = bring_order(file, &header, &data, bytes, error);
	if (status != TN_OK) {
		tn_mem_free(data);
		return status;
	}
	*out = (struct tn_host_array){
		.dtype = header.dtype, .rank = header.rank, .size_bytes = bytes, .data = data};
	memcpy(out->shape, header.shape, sizeof(out->shape));
	return TN_OK;
}

tn_status tn_npy_read(const char *path, struct tn_host_array *out, struct tn_error_info *error)
{
	struct tn_file file;
	tn_status status = tn_file_open(&file, path, OPERATION, error);
	if (status != TN_OK)
		return status;
	status = read_file(&file, out, error);
	tn_file_close(&file);
	return status;
}

/* Magic, version 1.0, length, dictionary, spaces and a line feed: a multiple of 64 bytes. */
static void make_header(struct tn_text *text, const char *type, uint32_t rank, const int64_t *shape)
{
	char order = type[1] == '1' && !type[2] ? '|' : tn_host_is_little_endian() ? '<' : '>';
	tn_text_append(text, MAGIC "\1\0\0\0", 10);
	tn_text_format(text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, type);
	for (uint32_t i = 0; i < rank; i++)
		tn_text_format(text, i ? ", %lld" : "%lld", (long long)shape[i]);
	tn_text_add(text, rank == 1 ? ",), }" : "), }");
	while (text->length % 64 != 63 && !text->failed)
		tn_text_add(text, " ");
	tn_text_add(text, "\n");
	if (!text->failed) {
		text->data[8] = (char)((text->length - 10) & 255);
		text->data[9] = (char)((text->length - 10) >> 8);
	}
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
	make_header(&header, type, rank, shape);
	struct tn_new_file file;
	tn_status status = header.failed ? tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
						   "%s: no memory", tn_file_label(path))
					 : tn_new_file_begin(&file, path, OPERATION, error);
	if (status != TN_OK) {
		tn_text_release(&header);
		return status;
	}
	status = tn_new_file_write(&file, header.data, header.length, error);
	if (status == TN_OK)
		status = tn_new_file_write(&file, data, (size_t)bytes, error);
	tn_text_release(&header);
	if (status == TN_OK)
		return tn_new_file_commit(&file, error);
	tn_new_file_abandon(&file);
	return status;
}
