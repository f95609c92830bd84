/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads an array of the NPY format: \x93NUMPY, version, length of the header, header, elements.
 *
 * Guarantees: the content has exactly the size that the header states, unless another array
 * follows; the result is row-major in the host's byte order, whatever the content's order.
 */
#include "io/npy_content.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/bytes.h"
#include "io/npy_header.h"

#define OPERATION TN_NPY_OPERATION

static tn_status read_exactly(const struct tn_npy_content *content, uint64_t offset, void *buffer,
			      size_t size, struct tn_error_info *error)
{
	if (content->size < offset || content->size - offset < size)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %llu: expected %llu more bytes, found the end",
			       content->label, (unsigned long long)content->size,
			       (unsigned long long)(offset + size - content->size));
	return content->read(content->user, offset, buffer, size, error);
}

/* The length of the header has two bytes in version 1, four in 2 and 3. */
static tn_status read_header(const struct tn_npy_content *content, struct tn_npy_header *header,
			     uint64_t *data_start, struct tn_error_info *error)
{
	unsigned char head[12];
	char text[TN_NPY_MAX_HEADER];
	const char *path = content->label;
	tn_status status = read_exactly(content, 0, head, 10, error);
	if (status)
		return status;
	if (memcmp(head, TN_NPY_MAGIC, 6))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 0: expected \\x93NUMPY, found other bytes", path);
	if (head[6] < 1 || head[6] > 3 || head[7] != 0)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 6: expected version 1.0, 2.0 or 3.0, found %u.%u", path,
			       head[6], head[7]);
	uint64_t begin = head[6] == 1 ? 10 : 12;
	if (head[6] > 1)
		status = read_exactly(content, 10, head + 10, 2, error);
	if (status)
		return status;
	uint32_t size = head[8] | (uint32_t)head[9] << 8;
	if (head[6] > 1)
		size |= (uint32_t)head[10] << 16 | (uint32_t)head[11] << 24;
	if (size > TN_NPY_MAX_HEADER)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: offset 8: expected a header of at most %d bytes, found %u",
			       path, TN_NPY_MAX_HEADER, size);
	status = read_exactly(content, begin, text, size, error);
	if (status)
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

static tn_status no_memory(const struct tn_npy_content *content, uint64_t bytes,
			   struct tn_error_info *error)
{
	return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for %llu bytes",
		       content->label, (unsigned long long)bytes);
}

/* Converts the elements to the host's order; may replace *data by another allocation. */
static tn_status bring_order(const struct tn_npy_content *content,
			     const struct tn_npy_header *header, unsigned char **data,
			     uint64_t bytes, struct tn_error_info *error)
{
	size_t word = tn_dtype_word_size(header->dtype);
	if (header->reversed && word > 1)
		tn_reverse_words(*data, (size_t)bytes / word, word);
	if (header->dtype == TN_BOOL) {
		tn_status status = tn_bools_check(OPERATION, content->label, *data, bytes, error);
		if (status)
			return status;
	}
	if (!header->column_major || header->rank < 2)
		return TN_OK;
	unsigned char *turned = tn_mem_alloc((size_t)bytes);
	if (!turned)
		return no_memory(content, bytes, error);
	to_row_major(header, *data, turned, bytes);
	tn_mem_free(*data);
	*data = turned;
	return TN_OK;
}

/* Does another array begin at that offset? */
static int continues(const struct tn_npy_content *content, uint64_t offset)
{
	char magic[6];
	return content->may_continue && content->size - offset >= sizeof(magic) &&
	       !content->read(content->user, offset, magic, sizeof(magic), NULL) &&
	       !memcmp(magic, TN_NPY_MAGIC, sizeof(magic));
}

tn_status tn_npy_read_layout(const struct tn_npy_content *content, struct tn_npy_header *header,
			     uint64_t *data_start, uint64_t *bytes, struct tn_error_info *error)
{
	tn_status status = read_header(content, header, data_start, error);
	if (status)
		return status;
	char shape[200];
	const char *path = content->label;
	tn_shape_text(header->shape, header->rank, shape, sizeof(shape));
	if (!tn_shape_bytes(header->shape, header->rank, tn_dtype_size(header->dtype), bytes) ||
	    *bytes > TN_HOST_ARRAY_MAX_BYTES)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected at most %llu bytes, found shape %s of %s", path,
			       (unsigned long long)TN_HOST_ARRAY_MAX_BYTES, shape,
			       tn_dtype_name(header->dtype));
	uint64_t found = content->size - *data_start;
	if (found != *bytes && (found < *bytes || !continues(content, *data_start + *bytes)))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %llu: expected %llu bytes for shape %s of %s, found "
			       "%llu",
			       path, (unsigned long long)*data_start, (unsigned long long)*bytes,
			       shape, tn_dtype_name(header->dtype), (unsigned long long)found);
	return TN_OK;
}

tn_status tn_npy_read_content(const struct tn_npy_content *content, struct tn_host_array *out,
			      uint64_t *end, struct tn_error_info *error)
{
	struct tn_npy_header header;
	uint64_t data_start, bytes;
	tn_status status = tn_npy_read_layout(content, &header, &data_start, &bytes, error);
	if (status)
		return status;
	unsigned char *data = tn_mem_alloc((size_t)bytes);
	if (!data)
		return no_memory(content, bytes, error);
	status = read_exactly(content, data_start, data, (size_t)bytes, error);
	if (!status)
		status = bring_order(content, &header, &data, bytes, error);
	if (status) {
		tn_mem_free(data);
		return status;
	}
	*out = (struct tn_host_array){
		.dtype = header.dtype, .rank = header.rank, .size_bytes = bytes, .data = data};
	memcpy(out->shape, header.shape, sizeof(out->shape));
	*end = data_start + bytes;
	return TN_OK;
}
