/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The header of a safetensors file.  Guarantees: once it was accepted, every tensor's bytes lie in
 * the file, no byte belongs to two tensors or to none, and every size is what its shape and type
 * say; the tree that is built is bounded by limits that are checked before it is built.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/bytes.h"
#include "io/json_limits.h"
#include "io/safetensors.h"

#define OPERATION TN_SAFETENSORS_OPERATION

/* The outermost object, an entry, its shape or offsets. */
static const struct tn_json_limits limits = {
	.depth = 3,
	.commas = {0, TN_SAFETENSORS_MAX_TENSORS, 4 * TN_SAFETENSORS_MAX_TENSORS,
		   (TN_MAX_RANK + 1) * TN_SAFETENSORS_MAX_TENSORS},
	/* One more than a rank of TN_MAX_RANK has, so that a higher rank is named as such. */
	.innermost = TN_MAX_RANK,
};

/* What is wrong with one tensor; the text begins with the file and the tensor's name. */
static tn_status refuse(const struct tn_safetensors *file, const struct tn_safetensors_entry *entry,
			struct tn_error_info *error, tn_status status, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static tn_status refuse(const struct tn_safetensors *file, const struct tn_safetensors_entry *entry,
			struct tn_error_info *error, tn_status status, const char *format, ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return tn_fail(error, status, OPERATION, "%s: tensor \"%.80s\": %s",
		       tn_file_label(file->file.path), entry->name, text);
}

static tn_status read_text(struct tn_safetensors *file, char **text, uint64_t *size,
			   struct tn_error_info *error)
{
	const char *path = tn_file_label(file->file.path);
	unsigned char length[8];
	if (file->file.size < 8)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 0: expected at least 8 bytes, found %llu", path,
			       (unsigned long long)file->file.size);
	tn_status status = tn_file_read(&file->file, 0, length, 8, error);
	if (status != TN_OK)
		return status;
	*size = tn_load_u64_le(length);
	if (*size > TN_SAFETENSORS_MAX_HEADER)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: offset 0: expected a header of at most %u bytes, found %llu",
			       path, TN_SAFETENSORS_MAX_HEADER, (unsigned long long)*size);
	if (*size > file->file.size - 8)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 0: expected a header of at most %llu bytes (the rest of "
			       "the file), found %llu",
			       path, (unsigned long long)(file->file.size - 8),
			       (unsigned long long)*size);
	*text = tn_mem_alloc((size_t)*size);
	if (!*text)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
			       "%s: no memory for a header of %llu bytes", path,
			       (unsigned long long)*size);
	return tn_file_read(&file->file, 8, *text, (size_t)*size, error);
}

static tn_status parse_text(struct tn_safetensors *file, const char *text, size_t size,
			    struct tn_error_info *error)
{
	json_error_t wrong;
	const char *path = tn_file_label(file->file.path);
	tn_status status = tn_json_check(text, size, &limits, OPERATION, path, 8, error);
	if (status != TN_OK)
		return status;
	file->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &wrong);
	if (file->root)
		return TN_OK;
	if (json_error_code(&wrong) == json_error_out_of_memory)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for the header",
			       path);
	return tn_fail(error, TN_FORMAT, OPERATION, "%s: offset %lld: expected JSON, found: %s",
		       path, 8 + (long long)wrong.position, wrong.text);
}

/* A key of a tensor's entry, of the given JSON type. */
static tn_status get_field(const struct tn_safetensors *file,
			   const struct tn_safetensors_entry *entry, const json_t *object,
			   const char *key, json_type type, json_t **field,
			   struct tn_error_info *error)
{
	*field = json_object_get(object, key);
	if (!*field)
		return refuse(file, entry, error, TN_FORMAT, "expected the key \"%s\", found none",
			      key);
	if (json_typeof(*field) != type)
		return refuse(file, entry, error, TN_FORMAT,
			      "key \"%s\": expected %s, found another JSON type", key,
			      type == JSON_STRING ? "a string" : "an array");
	return TN_OK;
}

/* Item i of array `key`, an integer that is not negative. */
static tn_status get_number(const struct tn_safetensors *file,
			    const struct tn_safetensors_entry *entry, const json_t *array,
			    const char *key, size_t i, int64_t *number, struct tn_error_info *error)
{
	const json_t *item = json_array_get(array, i);
	if (!json_is_integer(item))
		return refuse(file, entry, error, TN_FORMAT,
			      "key \"%s\", item %zu: expected an integer, found another JSON type",
			      key, i);
	*number = json_integer_value(item);
	if (*number < 0)
		return refuse(file, entry, error, TN_FORMAT,
			      "key \"%s\", item %zu: expected at least 0, found %lld", key, i,
			      (long long)*number);
	return TN_OK;
}

static tn_status read_type(const struct tn_safetensors *file, struct tn_safetensors_entry *entry,
			   const json_t *object, struct tn_error_info *error)
{
	json_t *field;
	tn_status status = get_field(file, entry, object, "dtype", JSON_STRING, &field, error);
	if (status != TN_OK)
		return status;
	entry->type = tn_safetensors_type_named(json_string_value(field));
	if (!entry->type)
		return refuse(file, entry, error, TN_FORMAT,
			      "expected a known dtype, found \"%.40s\"", json_string_value(field));
	return TN_OK;
}

static tn_status read_shape(const struct tn_safetensors *file, struct tn_safetensors_entry *entry,
			    const json_t *object, struct tn_error_info *error)
{
	json_t *field;
	tn_status status = get_field(file, entry, object, "shape", JSON_ARRAY, &field, error);
	if (status != TN_OK)
		return status;
	if (json_array_size(field) > TN_MAX_RANK)
		return refuse(file, entry, error, TN_LIMIT, "expected at most %d axes, found more",
			      TN_MAX_RANK);
	entry->rank = (uint32_t)json_array_size(field);
	for (size_t i = 0; i < entry->rank && status == TN_OK; i++)
		status = get_number(file, entry, field, "shape", i, &entry->shape[i], error);
	return status;
}

static tn_status read_offsets(const struct tn_safetensors *file, struct tn_safetensors_entry *entry,
			      const json_t *object, struct tn_error_info *error)
{
	json_t *field;
	int64_t offsets[2];
	tn_status status =
		get_field(file, entry, object, "data_offsets", JSON_ARRAY, &field, error);
	if (status != TN_OK)
		return status;
	if (json_array_size(field) != 2)
		return refuse(file, entry, error, TN_FORMAT, "expected 2 data_offsets, found %zu",
			      json_array_size(field));
	for (size_t i = 0; i < 2 && status == TN_OK; i++)
		status = get_number(file, entry, field, "data_offsets", i, &offsets[i], error);
	if (status != TN_OK)
		return status;
	if (offsets[0] > offsets[1])
		return refuse(file, entry, error, TN_FORMAT,
			      "expected data_offsets in order, found %lld, %lld",
			      (long long)offsets[0], (long long)offsets[1]);
	entry->begin = (uint64_t)offsets[0];
	entry->end = (uint64_t)offsets[1];
	return TN_OK;
}

/* The bytes that shape and type say must be those between the offsets. */
static tn_status check_size(const struct tn_safetensors *file,
			    const struct tn_safetensors_entry *entry, struct tn_error_info *error)
{
	char shape[200];
	uint64_t bits;
	tn_shape_text(entry->shape, entry->rank, shape, sizeof(shape));
	if (!tn_shape_bytes(entry->shape, entry->rank, entry->type->bits, &bits))
		return refuse(file, entry, error, TN_FORMAT, "the size of shape %s of %s overflows",
			      shape, entry->type->name);
	if (bits % 8)
		return refuse(file, entry, error, TN_FORMAT,
			      "expected whole bytes, found shape %s of %s", shape,
			      entry->type->name);
	if (bits / 8 != entry->end - entry->begin)
		return refuse(file, entry, error, TN_FORMAT,
			      "expected %llu bytes for shape %s of %s, found data_offsets %llu, "
			      "%llu",
			      (unsigned long long)(bits / 8), shape, entry->type->name,
			      (unsigned long long)entry->begin, (unsigned long long)entry->end);
	return TN_OK;
}

static tn_status read_entry(const struct tn_safetensors *file, struct tn_safetensors_entry *entry,
			    const json_t *object, struct tn_error_info *error)
{
	if (!json_is_object(object))
		return refuse(file, entry, error, TN_FORMAT,
			      "expected an object, found another JSON type");
	tn_status status = read_type(file, entry, object, error);
	if (status == TN_OK)
		status = read_shape(file, entry, object, error);
	if (status == TN_OK)
		status = read_offsets(file, entry, object, error);
	if (status == TN_OK && json_object_size(object) != 3)
		status = refuse(file, entry, error, TN_FORMAT,
				"expected the keys dtype, shape and data_offsets, found %zu keys",
				json_object_size(object));
	return status == TN_OK ? check_size(file, entry, error) : status;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct tn_metadata_entry *)a)->key,
		      ((const struct tn_metadata_entry *)b)->key);
}

static tn_status read_metadata(struct tn_safetensors *file, json_t *object,
			       struct tn_error_info *error)
{
	const char *key;
	json_t *value;
	const char *path = tn_file_label(file->file.path);
	if (!json_is_object(object))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: key \"" TN_SAFETENSORS_METADATA "\": expected an object, found "
			       "another JSON type",
			       path);
	file->metadata = tn_mem_zeroed(json_object_size(object), sizeof(*file->metadata));
	if (!file->metadata)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for metadata",
			       path);
	json_object_foreach(object, key, value)
	{
		if (!json_is_string(value))
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: metadata \"%.100s\": expected a string, found another "
				       "JSON type",
				       path, key);
		file->metadata[file->n_metadata].key = key;
		file->metadata[file->n_metadata++].value = json_string_value(value);
	}
	qsort(file->metadata, file->n_metadata, sizeof(*file->metadata), compare_keys);
	return TN_OK;
}

static tn_status read_entries(struct tn_safetensors *file, struct tn_error_info *error)
{
	const char *key;
	json_t *value;
	size_t n = json_object_size(file->root); /* bounded by limits.commas[1] */
	file->entries = tn_mem_zeroed(n, sizeof(*file->entries));
	file->by_name = tn_mem_zeroed(n, sizeof(*file->by_name));
	if (!file->entries || !file->by_name)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for %zu tensors",
			       tn_file_label(file->file.path), n);
	json_object_foreach(file->root, key, value)
	{
		tn_status status;
		if (!strcmp(key, TN_SAFETENSORS_METADATA)) {
			status = read_metadata(file, value, error);
		} else {
			struct tn_safetensors_entry *entry = &file->entries[file->n++];
			entry->name = key;
			status = read_entry(file, entry, value, error);
		}
		if (status != TN_OK)
			return status;
	}
	return TN_OK;
}

/* By place, empty tensors before what begins where they do; then by name, for a fixed order. */
static int compare_places(const void *a, const void *b)
{
	const struct tn_safetensors_entry *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b, void *entries)
{
	const struct tn_safetensors_entry *list = entries;
	return strcmp(list[*(const size_t *)a].name, list[*(const size_t *)b].name);
}

/* The data must be tiled from its first byte to the file's last. */
static tn_status check_tiling(struct tn_safetensors *file, struct tn_error_info *error)
{
	uint64_t data_size = file->file.size - file->data_start;
	uint64_t next = 0;
	qsort(file->entries, file->n, sizeof(*file->entries), compare_places);
	for (size_t i = 0; i < file->n; i++) {
		const struct tn_safetensors_entry *entry = &file->entries[i];
		if (entry->begin != next)
			return refuse(file, entry, error, TN_FORMAT,
				      "expected data_offsets to begin at %llu, found %llu (%s)",
				      (unsigned long long)next, (unsigned long long)entry->begin,
				      entry->begin < next ? "overlap" : "hole");
		next = entry->end;
	}
	if (next != data_size)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %llu: expected %llu bytes of data, found %llu",
			       tn_file_label(file->file.path), (unsigned long long)file->data_start,
			       (unsigned long long)next, (unsigned long long)data_size);
	return TN_OK;
}

tn_status tn_safetensors_read_header(struct tn_safetensors *file, struct tn_error_info *error)
{
	char *text = NULL;
	uint64_t size = 0;
	tn_status status = read_text(file, &text, &size, error);
	if (status == TN_OK)
		status = parse_text(file, text, (size_t)size, error);
	tn_mem_free(text);
	if (status == TN_OK)
		status = read_entries(file, error);
	file->data_start = 8 + size;
	if (status == TN_OK)
		status = check_tiling(file, error);
	if (status != TN_OK)
		return status;
	for (size_t i = 0; i < file->n; i++)
		file->by_name[i] = i;
	qsort_r(file->by_name, file->n, sizeof(*file->by_name), compare_names, file->entries);
	return TN_OK;
}
