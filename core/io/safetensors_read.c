/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An open safetensors file.  Guarantees: no tensor is returned before the whole header was
 * accepted; data is copied by plain reads, so a file that shrinks meanwhile causes an error.
 */
#include <string.h>

#include "base/answer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/quarantine.h"
#include "io/bytes.h"
#include "io/safetensors.h"
#include "io/safetensors_header.h"

#define OPERATION TN_SAFETENSORS_OPERATION

tn_status tn_safetensors_open(const char *path, tn_safetensors **out, struct tn_error_info *error)
{
	struct tn_safetensors *file = tn_mem_zeroed(1, sizeof(*file));
	if (!file)
		return tn_no_memory(error, OPERATION, tn_file_label(path), NULL);
	tn_status status = tn_file_open(&file->file, path, OPERATION, error);
	if (!status)
		status = tn_safetensors_read_header(file, error);
	if (!status)
		*out = file;
	else
		tn_safetensors_close(file);
	return status;
}

void tn_safetensors_close(tn_safetensors *file)
{
	if (!file || tn_quarantine_check(file, "safetensors_close", NULL))
		return;
	tn_mem_free(file->header);
	tn_mem_free(file->entries);
	tn_mem_free(file->by_name);
	tn_mem_free(file->metadata);
	tn_file_close(&file->file);
	tn_quarantine_end(file, "the file has been closed");
}

static int is_open(const tn_safetensors *file, const char *operation)
{
	return file && !tn_quarantine_check(file, operation, NULL);
}

size_t tn_safetensors_count(const tn_safetensors *file)
{
	return is_open(file, "safetensors_count") ? file->n : 0;
}

tn_status tn_safetensors_at(const tn_safetensors *file, size_t index, struct tn_tensor_info *info)
{
	if (index >= tn_safetensors_count(file))
		return TN_INVALID_ARGUMENT;
	const struct tn_safetensors_entry *entry = &file->entries[index];
	struct tn_tensor_info own = {
		.struct_size = sizeof(own),
		.rank = entry->rank,
		.name = entry->name,
		.type = entry->type->name,
		.dtype = entry->type->dtype,
		.size_bytes = entry->end - entry->begin,
	};
	memcpy(own.shape, entry->shape, sizeof(own.shape));
	return tn_answer(info, &own, sizeof(own), "struct tn_tensor_info", "safetensors_at", NULL);
}

tn_status tn_safetensors_find(const tn_safetensors *file, const char *name, size_t *index,
			      struct tn_error_info *error)
{
	if (!file || !name)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "%s is NULL",
			       file ? "name" : "file");
	if (tn_quarantine_check(file, OPERATION, error))
		return TN_STATE;
	size_t low = 0, high = file->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, file->entries[file->by_name[middle]].name);
		if (order == 0) {
			*index = file->by_name[middle];
			return TN_OK;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	const char *like = file->n ? tn_name_nearest_member(name, &file->entries->name, file->n,
							    sizeof(*file->entries))
				   : NULL;
	return tn_fail(error, TN_NOT_FOUND, OPERATION,
		       "%s: expected a tensor \"%.100s\", found none among %zu%s%.100s%s",
		       tn_file_label(file->file.path), name, file->n, like ? "; nearest: \"" : "",
		       like ? like : "", like ? "\"" : "");
}

tn_status tn_safetensors_read(const tn_safetensors *file, size_t index, void *buffer, size_t size,
			      struct tn_error_info *error)
{
	if (!file)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "file is NULL");
	if (tn_quarantine_check(file, OPERATION, error))
		return TN_STATE;
	const char *path = tn_file_label(file->file.path);
	if (index >= file->n)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected a tensor's number below %zu, found %zu", path, file->n,
			       index);
	const struct tn_safetensors_entry *entry = &file->entries[index];
	uint64_t offset = file->data_start + entry->begin;
	if (!entry->type->dtype)
		return tn_fail(error, TN_DTYPE, OPERATION,
			       "%s: tensor \"%.100s\": elements of type %s cannot be read", path,
			       entry->name, entry->type->name);
	if (size != entry->end - entry->begin)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: tensor \"%.100s\": expected a buffer of %llu bytes, found %zu",
			       path, entry->name, (unsigned long long)(entry->end - entry->begin),
			       size);
	tn_status status = tn_file_read(&file->file, offset, buffer, size, error);
	if (status)
		return status;
	const unsigned char *bytes = buffer;
	for (size_t i = 0; entry->type->dtype == TN_BOOL && i < size; i++) {
		if (bytes[i] > 1)
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: offset %llu: tensor \"%.100s\": expected a bool, 0 or "
				       "1, found %u",
				       path, (unsigned long long)(offset + i), entry->name,
				       bytes[i]);
	}
	size_t word = tn_dtype_word_size(entry->type->dtype);
	if (!tn_host_is_little_endian())
		tn_reverse_words(buffer, size / word, word);
	return TN_OK;
}

const char *tn_safetensors_metadata(const tn_safetensors *file, const char *key)
{
	for (size_t i = 0; key && i < tn_safetensors_metadata_count(file); i++) {
		if (!strcmp(file->metadata[i].key, key))
			return file->metadata[i].value;
	}
	return NULL;
}

size_t tn_safetensors_metadata_count(const tn_safetensors *file)
{
	return is_open(file, "safetensors_metadata") ? file->n_metadata : 0;
}

const char *tn_safetensors_metadata_key(const tn_safetensors *file, size_t index)
{
	return index < tn_safetensors_metadata_count(file) ? file->metadata[index].key : NULL;
}

const char *tn_safetensors_metadata_value(const tn_safetensors *file, size_t index)
{
	return index < tn_safetensors_metadata_count(file) ? file->metadata[index].value : NULL;
}
