/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The header of a safetensors file.  Guarantees: in an accepted header every tensor's bytes lie in
 * the file, every byte of data belongs to exactly one tensor, and every size matches its shape and
 * type; memory is allocated only for the header itself and a list entry for each tensor and each
 * pair of metadata read.
 */
#include "io/safetensors_header.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_reader.h"
#include "base/memory.h"
#include "io/bytes.h"
#include "io/safetensors.h"
#include "io/safetensors_type.h"

#define OPERATION TN_SAFETENSORS_OPERATION

/* The keys of a tensor's entry, as bits of what was seen. */
enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };

/* An error of one tensor; the text begins with the file and the tensor's name. */
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

/* Weights that torch.save wrote: a zip archive or, before version 1.6, a pickle.  Neither can be a
 * length below the limit. */
static int is_pickle(const unsigned char length[8])
{
	return !memcmp(length, "PK\3\4", 4) ||
	       (length[0] == 0x80 && length[1] >= 2 && length[1] <= 5 &&
		memcmp(length + 2, "\0\0\0\0\0", 6));
}

/* An NPZ file: the first member of the zip archive is a .npy. */
static int is_npz(const struct tn_file *file, const unsigned char length[8])
{
	unsigned char header[30];
	char end[4];
	if (memcmp(length, "PK\3\4", 4) || file->size < sizeof(header) ||
	    tn_file_read(file, 0, header, sizeof(header), NULL))
		return 0;
	const size_t name = tn_load_u16_le(header + 26);
	return name >= 4 && sizeof(header) + name <= file->size &&
	       !tn_file_read(file, sizeof(header) + name - 4, end, 4, NULL) &&
	       !memcmp(end, ".npy", 4);
}

/* What a file is that begins with these bytes, in words. */
static const char *kind_of(const unsigned char head[9])
{
	static const struct {
		const char *head;
		size_t size;
		const char *kind;
	} kinds[] = {
		{"\x93NUMPY", 6, "an NPY file"},
		{"\x89HDF\r\n", 6, "an HDF5 file"},
		{"GGUF", 4, "a GGUF file"},
		{"\x1f\x8b", 2, "a gzipped file"},
		{"version h", 9, "a pointer of Git LFS, in place of the file"},
		{"<", 1, "a page of the web"},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!memcmp(head, kinds[i].head, kinds[i].size))
			return kinds[i].kind;
	}
	for (int i = 0; i < 9; i++) {
		const int is_blank = head[i] == '\t' || head[i] == '\r' || head[i] == '\n';
		if ((head[i] < ' ' || head[i] > '~') && !is_blank)
			return "other bytes";
	}
	return "text";
}

/* Of a file that is shorter than its header would be: is it one at all? */
static tn_status check_kind(const struct tn_file *file, struct tn_error_info *error)
{
	unsigned char head[9];
	if (file->size < sizeof(head))
		return TN_OK;
	tn_status status = tn_file_read(file, 0, head, sizeof(head), error);
	if (status || head[8] == '{')
		return status;
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: offset 8: expected safetensors, whose header begins with '{', found %s",
		       tn_file_label(file->path), kind_of(head));
}

static tn_status read_header_text(struct tn_safetensors *file, uint64_t *size,
				  struct tn_error_info *error)
{
	const char *path = tn_file_label(file->file.path);
	unsigned char length[8];
	if (file->file.size < 8)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 0: expected at least 8 bytes, found %llu", path,
			       (unsigned long long)file->file.size);
	tn_status status = tn_file_read(&file->file, 0, length, 8, error);
	if (status)
		return status;
	*size = tn_load_u64_le(length);
	if (is_npz(&file->file, length))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset 0: expected safetensors, found an NPZ file; convert it: "
			       "tenon convert FILE.npz FILE.safetensors",
			       path);
	if (is_pickle(length))
		return tn_fail(
			error, TN_FORMAT, OPERATION,
			"%s: offset 0: expected safetensors, found a zip archive or pickle, as "
			"torch.save writes; convert it in Python: "
			"import torch, safetensors.torch; safetensors.torch.save_file("
			"torch.load('FILE.pth', weights_only=True), 'FILE.safetensors')",
			path);
	if (*size > file->file.size - 8)
		status = check_kind(&file->file, error);
	if (status)
		return status;
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
	file->header = tn_mem_alloc((size_t)*size);
	if (!file->header)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
			       "%s: no memory for a header of %llu bytes", path,
			       (unsigned long long)*size);
	return tn_file_read(&file->file, 8, file->header, (size_t)*size, error);
}

/* Makes room for item n in a list that grows by powers of two; returns the list, or NULL. */
static void *make_room(void *list, size_t n, size_t item_size)
{
	return n & (n - 1) ? list : tn_mem_realloc(list, n ? 2 * n : 1, item_size);
}

/* The next value must begin with that byte. */
static tn_status expect_value(const struct tn_safetensors *file,
			      const struct tn_safetensors_entry *entry,
			      struct tn_json_reader *reader, char byte, const char *key,
			      const char *kind, struct tn_error_info *error)
{
	if (tn_json_peek(reader) == byte)
		return TN_OK;
	return refuse(file, entry, error, TN_FORMAT,
		      "key \"%s\": expected %s, found another JSON type", key, kind);
}

static tn_status read_type(const struct tn_safetensors *file, struct tn_safetensors_entry *entry,
			   struct tn_json_reader *reader, struct tn_error_info *error)
{
	char *name;
	tn_status status = expect_value(file, entry, reader, '"', "dtype", "a string", error);
	if (!status)
		status = tn_json_string(reader, &name, error);
	if (status)
		return status;
	entry->type = tn_safetensors_type_named(name);
	if (!entry->type)
		return refuse(file, entry, error, TN_FORMAT,
			      "expected a known dtype, found \"%.40s\"", name);
	return TN_OK;
}

/* An array of integers that are not negative.  *n := their number; only the first `most` are
 * stored. */
static tn_status read_integers(const struct tn_safetensors *file,
			       const struct tn_safetensors_entry *entry,
			       struct tn_json_reader *reader, const char *key, int64_t *numbers,
			       size_t most, size_t *n, struct tn_error_info *error)
{
	int more = 1;
	tn_status status = expect_value(file, entry, reader, '[', key, "an array", error);
	if (!status)
		status = tn_json_take(reader, '[', "an array", error);
	for (*n = 0; !status; ++*n) {
		int64_t number = 0;
		status = tn_json_more(reader, ']', *n, &more, error);
		if (!status && !more)
			break;
		if (!status)
			status = tn_json_integer(reader, &number, error);
		if (!status && number < 0)
			return refuse(file, entry, error, TN_FORMAT,
				      "key \"%s\", item %zu: expected at least 0, found %lld", key,
				      *n, (long long)number);
		if (*n < most)
			numbers[*n] = number;
	}
	return status;
}

/* One of the keys of an entry, and its value.  Adds its bit to *seen. */
static tn_status read_field(const struct tn_safetensors *file, struct tn_safetensors_entry *entry,
			    struct tn_json_reader *reader, int *seen, struct tn_error_info *error)
{
	char *key;
	tn_status status = tn_json_key(reader, &key, error);
	if (status)
		return status;
	int bit = !strcmp(key, "dtype")          ? DTYPE
		  : !strcmp(key, "shape")        ? SHAPE
		  : !strcmp(key, "data_offsets") ? OFFSETS
						 : 0;
	if (!bit || *seen & bit)
		return refuse(file, entry, error, TN_FORMAT,
			      "expected the keys dtype, shape and data_offsets, each once, found "
			      "\"%.40s\"",
			      key);
	*seen |= bit;
	if (bit == DTYPE)
		return read_type(file, entry, reader, error);
	size_t n;
	if (bit == SHAPE) {
		status = read_integers(file, entry, reader, "shape", entry->shape, TN_MAX_RANK, &n,
				       error);
		if (!status && n > TN_MAX_RANK)
			return refuse(file, entry, error, TN_LIMIT,
				      "expected at most %d axes, found %zu", TN_MAX_RANK, n);
		entry->rank = (uint32_t)n;
		return status;
	}
	int64_t offsets[2] = {0};
	status = read_integers(file, entry, reader, "data_offsets", offsets, 2, &n, error);
	if (status)
		return status;
	if (n != 2)
		return refuse(file, entry, error, TN_FORMAT, "expected 2 data_offsets, found %zu",
			      n);
	if (offsets[0] > offsets[1])
		return refuse(file, entry, error, TN_FORMAT,
			      "expected data_offsets in order, found %lld, %lld",
			      (long long)offsets[0], (long long)offsets[1]);
	entry->begin = (uint64_t)offsets[0];
	entry->end = (uint64_t)offsets[1];
	return TN_OK;
}

static tn_status read_entry(const struct tn_safetensors *file, struct tn_safetensors_entry *entry,
			    struct tn_json_reader *reader, struct tn_error_info *error)
{
	int more = 1, seen = 0;
	if (tn_json_peek(reader) != '{')
		return refuse(file, entry, error, TN_FORMAT,
			      "expected an object, found another JSON type");
	reader->at++;
	for (size_t n = 0;; n++) {
		tn_status status = tn_json_more(reader, '}', n, &more, error);
		if (!status && more)
			status = read_field(file, entry, reader, &seen, error);
		if (status)
			return status;
		if (!more)
			break;
	}
	if (seen != (DTYPE | SHAPE | OFFSETS))
		return refuse(file, entry, error, TN_FORMAT, "expected the key \"%s\", found none",
			      !(seen & DTYPE)   ? "dtype"
			      : !(seen & SHAPE) ? "shape"
						: "data_offsets");
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

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct tn_metadata_entry *)a)->key,
		      ((const struct tn_metadata_entry *)b)->key);
}

/* One pair of metadata. */
static tn_status read_pair(struct tn_safetensors *file, struct tn_json_reader *reader,
			   struct tn_error_info *error)
{
	char *key, *value;
	const char *path = tn_file_label(file->file.path);
	if (file->n_metadata == TN_SAFETENSORS_MAX_TENSORS)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected at most %u pairs of metadata, found more", path,
			       TN_SAFETENSORS_MAX_TENSORS);
	struct tn_metadata_entry *list = make_room(file->metadata, file->n_metadata, sizeof(*list));
	if (!list)
		return tn_no_memory(error, OPERATION, path, "metadata");
	file->metadata = list;
	tn_status status = tn_json_key(reader, &key, error);
	if (!status && tn_json_peek(reader) != '"')
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: metadata \"%.100s\": expected a string, found another JSON "
			       "type",
			       path, key);
	if (!status)
		status = tn_json_string(reader, &value, error);
	if (status)
		return status;
	file->metadata[file->n_metadata++] = (struct tn_metadata_entry){key, value};
	return TN_OK;
}

static tn_status read_metadata(struct tn_safetensors *file, struct tn_json_reader *reader,
			       struct tn_error_info *error)
{
	int more = 1;
	const char *path = tn_file_label(file->file.path);
	if (tn_json_peek(reader) != '{')
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: key \"" TN_SAFETENSORS_METADATA "\": expected an object, found "
			       "another JSON type",
			       path);
	reader->at++;
	while (more) {
		tn_status status = tn_json_more(reader, '}', file->n_metadata, &more, error);
		if (!status && more)
			status = read_pair(file, reader, error);
		if (status)
			return status;
	}
	if (file->n_metadata > 0)
		qsort(file->metadata, file->n_metadata, sizeof(*file->metadata), compare_keys);
	for (size_t i = 1; i < file->n_metadata; i++) {
		if (!strcmp(file->metadata[i].key, file->metadata[i - 1].key))
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: metadata \"%.100s\" occurs twice", path,
				       file->metadata[i].key);
	}
	return TN_OK;
}

/* One item of the outermost object: the metadata or a tensor. */
static tn_status read_item(struct tn_safetensors *file, struct tn_json_reader *reader,
			   int *has_metadata, struct tn_error_info *error)
{
	char *key;
	const char *path = tn_file_label(file->file.path);
	tn_status status = tn_json_key(reader, &key, error);
	if (status)
		return status;
	int is_metadata = !strcmp(key, TN_SAFETENSORS_METADATA);
	if (is_metadata && *has_metadata)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: key \"" TN_SAFETENSORS_METADATA "\" occurs twice", path);
	if (is_metadata) {
		*has_metadata = 1;
		return read_metadata(file, reader, error);
	}
	if (file->n == TN_SAFETENSORS_MAX_TENSORS)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected at most %u tensors, found more", path,
			       TN_SAFETENSORS_MAX_TENSORS);
	struct tn_safetensors_entry *list = make_room(file->entries, file->n, sizeof(*list));
	if (!list)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for tensor %zu",
			       path, file->n);
	file->entries = list;
	struct tn_safetensors_entry *entry = &file->entries[file->n++];
	memset(entry, 0, sizeof(*entry));
	entry->name = key;
	return read_entry(file, entry, reader, error);
}

static tn_status parse_header(struct tn_safetensors *file, size_t size, struct tn_error_info *error)
{
	int more = 1, has_metadata = 0;
	struct tn_json_reader reader = {.text = file->header,
					.size = size,
					.operation = OPERATION,
					.where = tn_file_label(file->file.path),
					.base = 8};
	/* The format allows no leading white space. */
	if (size == 0 || file->header[0] != '{')
		return tn_json_refuse(&reader, "'{'", error);
	reader.at = 1;
	for (size_t n = 0; more; n++) {
		tn_status status = tn_json_more(&reader, '}', n, &more, error);
		if (!status && more)
			status = read_item(file, &reader, &has_metadata, error);
		if (status)
			return status;
	}
	return tn_json_finish(&reader, error);
}

/* By position, empty tensors before others at the same position; then by name, for a fixed
 * order. */
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

/* Fills by_name; rejects duplicate names. */
static tn_status sort_names(struct tn_safetensors *file, struct tn_error_info *error)
{
	file->by_name = tn_mem_zeroed(file->n, sizeof(*file->by_name));
	if (!file->by_name)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for %zu tensors",
			       tn_file_label(file->file.path), file->n);
	for (size_t i = 0; i < file->n; i++)
		file->by_name[i] = i;
	qsort_r(file->by_name, file->n, sizeof(*file->by_name), compare_names, file->entries);
	for (size_t i = 1; i < file->n; i++) {
		const struct tn_safetensors_entry *entry = &file->entries[file->by_name[i]];
		if (!strcmp(entry->name, file->entries[file->by_name[i - 1]].name))
			return refuse(file, entry, error, TN_FORMAT, "occurs twice");
	}
	return TN_OK;
}

tn_status tn_safetensors_read_header(struct tn_safetensors *file, struct tn_error_info *error)
{
	uint64_t size = 0;
	tn_status status = read_header_text(file, &size, error);
	if (!status)
		status = parse_header(file, (size_t)size, error);
	file->data_start = 8 + size;
	if (!status && file->n > 0)
		qsort(file->entries, file->n, sizeof(*file->entries), compare_places);
	if (!status)
		status = sort_names(file, error);
	if (status)
		return status;
	/* The tensors must cover the data without gaps or overlaps. */
	uint64_t data_size = file->file.size - file->data_start, next = 0;
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
