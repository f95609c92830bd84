/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NPY files as memory of arrays.
 */
#include <tenon/files.h>
#include <tenon/memory.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "array/runtime.h"
#include "base/memory.h"
#include "io/bytes.h"
#include "io/file.h"
#include "io/file_call.h"
#include "io/npy_content.h"

#define OPERATION "npy_map"

struct mapping {
	void *address;
	size_t size;
};

static void unmap(void *user)
{
	struct mapping *mapping = user;
	munmap(mapping->address, mapping->size);
	tn_mem_free(mapping);
}

static tn_status read_file(void *user, uint64_t offset, void *buffer, size_t size,
			   struct tn_error_info *error)
{
	return tn_file_read(user, offset, buffer, size, error);
}

static tn_status check_layout(const char *label, const struct tn_npy_header *header,
			      uint64_t data_start, struct tn_error_info *error)
{
	const size_t size = tn_dtype_size(header->dtype);
	if (header->reversed && size > 1)
		return tn_fail(error, TN_UNSUPPORTED, OPERATION,
			       "%s: expected the byte order of this machine, found the other one: "
			       "tn_load reads it",
			       label);
	if (data_start % size)
		return tn_fail(error, TN_UNSUPPORTED, OPERATION,
			       "%s: expected data at a multiple of %zu bytes, found offset %llu: "
			       "tn_load reads it",
			       label, size, (unsigned long long)data_start);
	return TN_OK;
}

/* Maps the whole file. */
static tn_status map_file(const struct tn_file *file, struct mapping **out,
			  struct tn_error_info *error)
{
	const char *label = tn_file_label(file->path);
	struct mapping *mapping = tn_mem_alloc(sizeof(*mapping));
	if (!mapping)
		return tn_no_memory(error, OPERATION, label, NULL);
	mapping->size = (size_t)file->size;
	mapping->address = mmap(NULL, mapping->size, PROT_READ, MAP_SHARED, file->fd, 0);
	if (mapping->address == MAP_FAILED) {
		tn_mem_free(mapping);
		return tn_fail(error, errno == ENOMEM ? TN_OUT_OF_MEMORY : TN_IO, OPERATION,
			       "%s: %s", label, strerror(errno));
	}
	*out = mapping;
	return TN_OK;
}

static void column_major_strides(const struct tn_npy_header *header, int64_t *strides)
{
	int64_t stride = 1;
	for (uint32_t i = 0; i < header->rank; i++) {
		strides[i] = stride;
		stride *= header->shape[i];
	}
}

/* The mapping passes to the array; on failure it is undone. */
static tn_array *wrap(tn_context *context, const struct tn_npy_header *header, uint64_t data_start,
		      uint64_t bytes, struct mapping *mapping)
{
	int64_t strides[TN_MAX_RANK];
	column_major_strides(header, strides);
	const struct tn_wrap_options options = {.struct_size = sizeof(options),
						.dtype = header->dtype,
						.rank = (int32_t)header->rank,
						.is_read_only = 1,
						.shape = header->shape,
						.strides = header->column_major ? strides : NULL,
						.data = (char *)mapping->address + data_start,
						.size_bytes = bytes,
						.release = unmap,
						.user = mapping};
	tn_array *array = tn_array_wrap(context, &options);
	if (!array)
		unmap(mapping);
	return array;
}

/* The header, and the mapping of a file with elements. */
static tn_status open_mapping(const char *path, struct tn_npy_header *header, uint64_t *data_start,
			      uint64_t *bytes, struct mapping **mapping,
			      struct tn_error_info *error)
{
	struct tn_file file;
	tn_status status = tn_file_open(&file, path, OPERATION, error);
	if (status)
		return status;
	const char *label = tn_file_label(file.path);
	const struct tn_npy_content content = {.label = label,
					       .size = file.size,
					       .may_continue = 1,
					       .read = read_file,
					       .user = &file};
	status = tn_npy_read_layout(&content, header, data_start, bytes, error);
	if (!status)
		status = check_layout(label, header, *data_start, error);
	if (!status && *bytes)
		status = map_file(&file, mapping, error);
	if (!status && *bytes && header->dtype == TN_BOOL) {
		const unsigned char *data = (*mapping)->address;
		status = tn_bools_check(OPERATION, label, data + *data_start, *bytes, error);
		if (status)
			unmap(*mapping);
	}
	tn_file_close(&file);
	return status;
}

tn_array *tn_npy_map(tn_context *context, const char *path)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	struct tn_error_info error;
	struct tn_npy_header header;
	struct mapping *mapping = NULL;
	uint64_t data_start, bytes;
	if (tn_file_call_check(runtime, OPERATION, path))
		return NULL;
	if (!tn_device_takes_any_address(runtime->device)) {
		tn_runtime_fail(runtime, TN_UNSUPPORTED, OPERATION,
				"%s cannot use any address of host memory: read with tn_load, or "
				"make a device current that can",
				runtime->device->name);
		return NULL;
	}
	tn_error_reset(&error);
	if (open_mapping(path, &header, &data_start, &bytes, &mapping, &error)) {
		tn_runtime_keep(runtime, &error);
		return NULL;
	}
	if (!mapping)
		return tn_empty(context, header.dtype, (int)header.rank, header.shape);
	return wrap(context, &header, data_start, bytes, mapping);
}
