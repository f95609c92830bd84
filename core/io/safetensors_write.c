/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writing safetensors.  Guarantees: all arguments are checked before a file is created; the bytes
 * do not depend on the order of the arguments; the readers of this library and of the reference
 * implementation accept the result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/status.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/new_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "io/bytes.h"
#include "io/crc32.h"
#include "io/safetensors_checksum.h"
#include "io/safetensors_type.h"

#define OPERATION TN_SAFETENSORS_OPERATION

/* Bytes fetched at a time; a multiple of every element's size. */
#define PIECE ((size_t)1 << 20)

/* A tensor with its position. */
struct item {
	const struct tn_tensor_source *source;
	const struct tn_safetensors_type *type;
	uint64_t begin;
	uint64_t size;
};

/* The state of one call. */
struct plan {
	const char *path;
	int has_checksum;
	struct item *items; /* in the order of the file */
	size_t n_items;
	const struct tn_metadata_entry **metadata; /* in order of key */
	size_t n_metadata;
	struct tn_text header;
};

static tn_status check_tensor(const struct plan *plan, const struct tn_tensor_source *source,
			      struct item *item, struct tn_error_info *error)
{
	const char *path = tn_file_label(plan->path);
	if (!source->name || !source->name[0] || !strcmp(source->name, TN_SAFETENSORS_METADATA))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected a tensor's name, found %s", path,
			       source->name && source->name[0]
				       ? "the reserved " TN_SAFETENSORS_METADATA
				       : "an empty one");
	item->source = source;
	item->type = tn_safetensors_type_of(source->dtype);
	if (!item->type)
		return tn_fail(error, TN_DTYPE, OPERATION,
			       "%s: tensor \"%.100s\": the format has no type for %s", path,
			       source->name, tn_dtype_name(source->dtype));
	if (source->rank > TN_MAX_RANK ||
	    !tn_shape_bytes(source->shape, source->rank, item->type->bits / 8, &item->size) ||
	    item->size > INT64_MAX)
		return tn_fail(
			error, TN_INVALID_ARGUMENT, OPERATION,
			"%s: tensor \"%.100s\": a rank above %d, a negative length or a size "
			"that overflows",
			path, source->name, TN_MAX_RANK);
	if (item->size && !source->data && !source->fetch)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: tensor \"%.100s\": expected data or fetch, found neither", path,
			       source->name);
	return TN_OK;
}

/* Wide elements first, so that each tensor is aligned to its elements. */
static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	if (x->type->bits != y->type->bits)
		return x->type->bits > y->type->bits ? -1 : 1;
	return strcmp(x->source->name, y->source->name);
}

static int compare_item_names(const void *a, const void *b)
{
	return strcmp((*(const struct item *const *)a)->source->name,
		      (*(const struct item *const *)b)->source->name);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp((*(const struct tn_metadata_entry *const *)a)->key,
		      (*(const struct tn_metadata_entry *const *)b)->key);
}

static tn_status plan_tensors(struct plan *plan, const struct tn_tensor_source *tensors, size_t n,
			      struct tn_error_info *error)
{
	if (n > TN_SAFETENSORS_MAX_TENSORS)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected at most %u tensors, found %zu",
			       tn_file_label(plan->path), TN_SAFETENSORS_MAX_TENSORS, n);
	plan->items = tn_mem_zeroed(n, sizeof(*plan->items));
	if (!plan->items)
		return tn_no_memory(error, OPERATION, tn_file_label(plan->path), NULL);
	for (size_t i = 0; i < n; i++) {
		tn_status status = check_tensor(plan, &tensors[i], &plan->items[i], error);
		if (status)
			return status;
	}
	plan->n_items = n;
	qsort(plan->items, n, sizeof(*plan->items), compare_items);
	uint64_t next = 0;
	for (size_t i = 0; i < n; i++) {
		plan->items[i].begin = next;
		next += plan->items[i].size;
		if (next > INT64_MAX)
			return tn_fail(error, TN_LIMIT, OPERATION, "%s: the file's size overflows",
				       tn_file_label(plan->path));
	}
	/* A name may occur once, whatever the width of its elements. */
	const struct item **by_name = tn_mem_zeroed(n, sizeof(*by_name));
	if (!by_name)
		return tn_no_memory(error, OPERATION, tn_file_label(plan->path), NULL);
	for (size_t i = 0; i < n; i++)
		by_name[i] = &plan->items[i];
	qsort(by_name, n, sizeof(*by_name), compare_item_names);
	const char *twice = NULL;
	for (size_t i = 1; i < n && !twice; i++) {
		const char *name = by_name[i]->source->name;
		twice = strcmp(name, by_name[i - 1]->source->name) ? NULL : name;
	}
	tn_mem_free(by_name);
	if (!twice)
		return TN_OK;
	return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "%s: tensor \"%.100s\" occurs twice",
		       tn_file_label(plan->path), twice);
}

static tn_status plan_metadata(struct plan *plan, const struct tn_metadata_entry *metadata,
			       size_t n, struct tn_error_info *error)
{
	const char *path = tn_file_label(plan->path);
	plan->metadata = tn_mem_zeroed(n, sizeof(*plan->metadata));
	if (!plan->metadata)
		return tn_no_memory(error, OPERATION, path, NULL);
	for (size_t i = 0; i < n; i++) {
		if (!metadata[i].key || !metadata[i].value)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: metadata %zu: expected a key and a value, found NULL",
				       path, i);
		plan->metadata[i] = &metadata[i];
		plan->has_checksum |= !strcmp(metadata[i].key, TN_SAFETENSORS_CHECKSUM);
	}
	plan->n_metadata = n;
	qsort(plan->metadata, n, sizeof(*plan->metadata), compare_keys);
	for (size_t i = 1; i < n; i++) {
		if (!strcmp(plan->metadata[i]->key, plan->metadata[i - 1]->key))
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: metadata \"%.100s\" occurs twice", path,
				       plan->metadata[i]->key);
	}
	return TN_OK;
}

/* A string of the caller's must be UTF-8. */
static tn_status check_utf8(const struct plan *plan, const char *string,
			    struct tn_error_info *error)
{
	size_t length = strlen(string), at = tn_utf8_prefix(string, length);
	if (at == length)
		return TN_OK;
	return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
		       "%s: \"%.100s\": expected UTF-8, found byte %02x", tn_file_label(plan->path),
		       string, (unsigned char)string[at]);
}

/* The checksum is not known yet. */
static const char *value_of(const struct tn_metadata_entry *entry)
{
	return strcmp(entry->key, TN_SAFETENSORS_CHECKSUM) ? entry->value : TN_CHECKSUM_NONE;
}

static tn_status check_strings(const struct plan *plan, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	for (size_t i = 0; i < plan->n_metadata && !status; i++) {
		status = check_utf8(plan, plan->metadata[i]->key, error);
		if (!status)
			status = check_utf8(plan, value_of(plan->metadata[i]), error);
	}
	for (size_t i = 0; i < plan->n_items && !status; i++)
		status = check_utf8(plan, plan->items[i].source->name, error);
	return status;
}

static void add_metadata(struct tn_json_writer *json, const struct plan *plan)
{
	tn_json_begin_object(json, TN_SAFETENSORS_METADATA);
	for (size_t i = 0; i < plan->n_metadata; i++)
		tn_json_add_string(json, plan->metadata[i]->key, value_of(plan->metadata[i]));
	tn_json_end(json);
}

static void add_tensor(struct tn_json_writer *json, const struct item *item)
{
	tn_json_begin_object(json, item->source->name);
	tn_json_add_string(json, "dtype", item->type->name);
	tn_json_begin_array(json, "shape");
	for (uint32_t axis = 0; axis < item->source->rank; axis++)
		tn_json_add_integer(json, NULL, item->source->shape[axis]);
	tn_json_end(json);
	tn_json_begin_array(json, "data_offsets");
	tn_json_add_unsigned(json, NULL, item->begin);
	tn_json_add_unsigned(json, NULL, item->begin + item->size);
	tn_json_end(json);
	tn_json_end(json);
}

/* The header, padded with spaces so that the data begins at a multiple of 8. */
static tn_status make_header(struct plan *plan, struct tn_error_info *error)
{
	struct tn_json_writer json;
	tn_status status = check_strings(plan, error);
	if (status)
		return status;
	tn_json_writer_init(&json, TN_JSON_PACKED);
	tn_json_begin_object(&json, NULL);
	if (plan->n_metadata)
		add_metadata(&json, plan);
	for (size_t i = 0; i < plan->n_items; i++)
		add_tensor(&json, &plan->items[i]);
	tn_json_end(&json);
	while (json.text.length % 8 && !json.text.failed)
		tn_text_add(&json.text, " ");
	plan->header = json.text;
	if (plan->header.failed)
		return tn_no_memory(error, OPERATION, tn_file_label(plan->path), "the header");
	if (plan->header.length > TN_SAFETENSORS_MAX_HEADER)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected a header of at most %u bytes, found %zu",
			       tn_file_label(plan->path), TN_SAFETENSORS_MAX_HEADER,
			       plan->header.length);
	return TN_OK;
}

/* The file, and the checksum of what was written, if it has one. */
struct output {
	struct tn_new_file file;
	int has_checksum;
	uint32_t crc;
};

static tn_status write_bytes(struct output *output, const void *data, size_t size,
			     struct tn_error_info *error)
{
	if (output->has_checksum)
		output->crc = tn_crc32(output->crc, data, size);
	return tn_new_file_write(&output->file, data, size, error);
}

/* Writes the tensor in the file's byte order. */
static tn_status write_item(struct output *output, const struct item *item, unsigned char *piece,
			    struct tn_error_info *error)
{
	const struct tn_tensor_source *source = item->source;
	const unsigned char *data = source->data;
	if (data && tn_host_is_little_endian())
		return write_bytes(output, data, (size_t)item->size, error);
	size_t word = tn_dtype_word_size(source->dtype);
	tn_status status = TN_OK;
	for (uint64_t offset = 0; !status && offset < item->size; offset += PIECE) {
		uint64_t left = item->size - offset;
		size_t size = left < PIECE ? (size_t)left : PIECE;
		if (data)
			memcpy(piece, data + offset, size);
		else
			status = source->fetch(source->user, offset, piece, size, error);
		if (!status && !tn_host_is_little_endian())
			tn_reverse_words(piece, size / word, word);
		if (!status)
			status = write_bytes(output, piece, size, error);
	}
	return status;
}

/* Replaces the zeros in the header, which is the plan's. */
static tn_status write_checksum(struct output *output, const struct plan *plan,
				struct tn_error_info *error)
{
	char text[TN_CHECKSUM_DIGITS + 1];
	const char *digits = tn_safetensors_checksum_digits(plan->header.data, plan->header.length);
	snprintf(text, sizeof(text), "%08x", output->crc);
	return tn_new_file_write_at(&output->file, 8 + (uint64_t)(digits - plan->header.data), text,
				    TN_CHECKSUM_DIGITS, error);
}

static tn_status write_file(const struct plan *plan, struct tn_error_info *error)
{
	struct output output = {.has_checksum = plan->has_checksum};
	unsigned char length[8];
	tn_status status = tn_new_file_begin(&output.file, plan->path, OPERATION, error);
	if (status)
		return status;
	unsigned char *piece = tn_mem_alloc(PIECE);
	if (!piece)
		status = tn_no_memory(error, OPERATION, tn_file_label(plan->path), NULL);
	tn_store_u64_le(length, plan->header.length);
	if (!status)
		status = write_bytes(&output, length, 8, error);
	if (!status)
		status = write_bytes(&output, plan->header.data, plan->header.length, error);
	for (size_t i = 0; i < plan->n_items && !status; i++)
		status = write_item(&output, &plan->items[i], piece, error);
	if (!status && plan->has_checksum)
		status = write_checksum(&output, plan, error);
	tn_mem_free(piece);
	if (!status)
		return tn_new_file_commit(&output.file, error);
	tn_new_file_abandon(&output.file);
	return status;
}

tn_status tn_safetensors_write(const char *path, const struct tn_tensor_source *tensors,
			       size_t n_tensors, const struct tn_metadata_entry *metadata,
			       size_t n_metadata, struct tn_error_info *error)
{
	struct plan plan = {.path = path};
	tn_text_init(&plan.header);
	tn_status status = plan_tensors(&plan, tensors, n_tensors, error);
	if (!status)
		status = plan_metadata(&plan, metadata, n_metadata, error);
	if (!status)
		status = make_header(&plan, error);
	if (!status)
		status = write_file(&plan, error);
	tn_mem_free(plan.items);
	tn_mem_free(plan.metadata);
	tn_text_release(&plan.header);
	return status;
}
