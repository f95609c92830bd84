/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Files of elements and nothing else.
 */
#include <tenon/files.h>

#include <inttypes.h>

#include "array/make.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "base/new_file.h"
#include "io/bytes.h"
#include "io/file.h"
#include "io/file_call.h"
#include "io/npy_content.h"
#include "text/host_elements.h"

static tn_status check_order(struct tn_runtime *runtime, const char *operation, uint32_t order)
{
	if (order <= TN_ORDER_BIG)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
			       "byte_order: expected a TN_ORDER_ number, found %" PRIu32, order);
}

/* Brings elements from the host's byte order to another, or back. */
static void bring_order(tn_dtype dtype, uint32_t order, void *data, size_t size_bytes)
{
	const size_t word = tn_dtype_word_size(dtype);
	const uint32_t own = tn_host_is_little_endian() ? TN_ORDER_LITTLE : TN_ORDER_BIG;
	if (order != TN_ORDER_NATIVE && order != own && word > 1)
		tn_reverse_words(data, size_bytes / word, word);
}

/* ---- Reading ---------------------------------------------------------------------------------*/

struct request {
	tn_dtype dtype;
	int64_t count; /* -1: all */
	uint64_t offset;
	uint32_t byte_order;
};

/* How many bytes the request is of this file. */
static tn_status size_of(const struct tn_file *file, const struct request *r, uint64_t *bytes,
			 struct tn_error_info *error)
{
	const char *label = tn_file_label(file->path), *dtype = tn_dtype_name(r->dtype);
	const uint64_t size = tn_dtype_size(r->dtype);
	if (r->offset > file->size)
		return tn_fail(error, TN_FORMAT, file->operation,
			       "%s: expected at least %" PRIu64
			       " bytes, the offset, found %" PRIu64,
			       label, r->offset, file->size);
	const uint64_t rest = file->size - r->offset;
	if (r->count < 0 && rest % size)
		return tn_fail(error, TN_FORMAT, file->operation,
			       "%s: offset %" PRIu64 ": expected a multiple of %" PRIu64
			       " bytes, elements of %s, found "
			       "%" PRIu64,
			       label, r->offset, size, dtype, rest);
	if (r->count > 0 && rest / size < (uint64_t)r->count)
		return tn_fail(error, TN_FORMAT, file->operation,
			       "%s: offset %" PRIu64 ": expected %" PRId64
			       " elements of %s, found %" PRIu64 " bytes",
			       label, r->offset, r->count, dtype, rest);
	*bytes = r->count < 0 ? rest : (uint64_t)r->count * size;
	if (*bytes > TN_HOST_ARRAY_MAX_BYTES)
		return tn_fail(error, TN_LIMIT, file->operation,
			       "%s: expected at most %" PRIu64 " bytes, found %" PRIu64, label,
			       TN_HOST_ARRAY_MAX_BYTES, *bytes);
	return TN_OK;
}

static tn_status read_elements(const struct tn_file *file, const struct request *r, uint64_t bytes,
			       void **out, struct tn_error_info *error)
{
	void *data = tn_mem_alloc((size_t)bytes);
	if (!data)
		return tn_fail(error, TN_OUT_OF_MEMORY, file->operation,
			       "%s: no memory for %" PRIu64 " bytes", tn_file_label(file->path),
			       bytes);
	tn_status status = tn_file_read(file, r->offset, data, (size_t)bytes, error);
	if (!status && r->dtype == TN_BOOL)
		status = tn_bools_check(file->operation, tn_file_label(file->path), data, bytes,
					error);
	if (status) {
		tn_mem_free(data);
		return status;
	}
	bring_order(r->dtype, r->byte_order, data, (size_t)bytes);
	*out = data;
	return TN_OK;
}

static tn_array *read_array(tn_context *context, const char *path, const struct request *r)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	struct tn_error_info error;
	struct tn_file file;
	uint64_t bytes = 0;
	void *data = NULL;
	tn_error_reset(&error);
	tn_status status = tn_file_open(&file, path, "fromfile", &error);
	if (!status) {
		status = size_of(&file, r, &bytes, &error);
		if (!status)
			status = read_elements(&file, r, bytes, &data, &error);
		tn_file_close(&file);
	}
	if (status) {
		tn_runtime_keep(runtime, &error);
		return NULL;
	}
	const int64_t length = (int64_t)(bytes / tn_dtype_size(r->dtype));
	tn_array *array = tn_from_host(context, r->dtype, 1, &length, data);
	tn_mem_free(data);
	return array;
}

tn_array *tn_fromfile(tn_context *context, const char *path, tn_dtype dtype, int64_t count,
		      uint64_t offset, uint32_t byte_order)
{
	static const char operation[] = "fromfile";
	struct tn_runtime *runtime = tn_runtime_of(context);
	const struct request request = {dtype, count, offset, byte_order};
	if (tn_file_call_check(runtime, operation, path) ||
	    check_order(runtime, operation, byte_order))
		return NULL;
	if (!tn_dtype_size(dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, operation, "dtype: %" PRId32 " is not a dtype",
				dtype);
		return NULL;
	}
	if (count < -1) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				"count: expected -1 or more, found %" PRId64, count);
		return NULL;
	}
	return read_array(context, path, &request);
}

/* ---- Writing ---------------------------------------------------------------------------------*/

tn_status tn_tofile(const tn_array *a, const char *path, uint32_t byte_order)
{
	static const char operation[] = "tofile";
	struct tn_error_info error;
	struct tn_host_elements elements;
	tn_status status = tn_begin_into(1, &a, operation);
	if (status || (status = tn_file_call_check(a->runtime, operation, path)) ||
	    (status = check_order(a->runtime, operation, byte_order)) ||
	    (status = tn_host_elements_fetch(a, operation, &elements)))
		return status;
	bring_order(a->dtype, byte_order, elements.data, elements.size_bytes);
	tn_error_reset(&error);
	status = tn_new_file_save(path, elements.data, elements.size_bytes, operation, &error);
	tn_host_elements_release(&elements);
	return status ? tn_runtime_keep(a->runtime, &error) : TN_OK;
}
