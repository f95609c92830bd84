/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads and checks the directory of a ZIP file.
 *
 * Guarantees: the directory ends the file, without a comment, so that the file has one meaning; the
 * contents lie before it and do not overlap, so that they are not larger than the file.
 */
#include "io/zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "io/bytes.h"

#define OPERATION TN_ZIP_OPERATION

/* Sizes of the records without their variable parts. */
enum { END = 22, LOCATOR = 20, END64 = 56, CENTRAL = 46, LOCAL = 30 };

#define IN_ZIP64 0xffffffffu

/* Bits of the flags: encrypted; sizes after the content; headers encrypted. */
enum { ENCRYPTED = 1, DESCRIPTOR = 8, MASKED = 1 << 13 };

static tn_status wrong(const struct tn_zip *zip, uint64_t offset, const char *expected,
		       struct tn_error_info *error)
{
	return tn_fail(error, TN_FORMAT, OPERATION, "%s: offset %llu: expected %s",
		       tn_file_label(zip->file.path), (unsigned long long)offset, expected);
}

/* Where the directory is, and how many entries it has. */
struct directory {
	uint64_t offset;
	uint64_t size;
	uint64_t n;
};

/* The zip64 records before the end record at `end`; `directory` has its numbers, and gets theirs.
 */
static tn_status read_end64(const struct tn_zip *zip, uint64_t end, struct directory *directory,
			    uint64_t *directory_end, struct tn_error_info *error)
{
	unsigned char locator[LOCATOR], record[END64];
	if (end < LOCATOR + END64)
		return wrong(zip, end, "zip64 records before the end record, found the beginning",
			     error);
	uint64_t at = end - LOCATOR;
	tn_status status = tn_file_read(&zip->file, at, locator, LOCATOR, error);
	if (status)
		return status;
	if (tn_load_u32_le(locator) != 0x07064b50u)
		return wrong(zip, at, "a zip64 locator, found other bytes", error);
	uint64_t start = tn_load_u64_le(locator + 8);
	if (start != at - END64 || tn_load_u32_le(locator + 4))
		return wrong(zip, at,
			     "a zip64 end record right before its locator, found another "
			     "offset or disk",
			     error);
	status = tn_file_read(&zip->file, start, record, END64, error);
	if (status)
		return status;
	if (tn_load_u32_le(record) != 0x06064b50u || tn_load_u64_le(record + 4) != END64 - 12)
		return wrong(zip, start, "a zip64 end record of 56 bytes, found other bytes",
			     error);
	if (tn_load_u32_le(record + 16) || tn_load_u32_le(record + 20) ||
	    tn_load_u64_le(record + 24) != tn_load_u64_le(record + 32))
		return wrong(zip, start, "one disk, found several", error);
	struct directory wide = {.offset = tn_load_u64_le(record + 48),
				 .size = tn_load_u64_le(record + 40),
				 .n = tn_load_u64_le(record + 32)};
	if ((directory->n != 0xffff && directory->n != wide.n) ||
	    (directory->size != IN_ZIP64 && directory->size != wide.size) ||
	    (directory->offset != IN_ZIP64 && directory->offset != wide.offset))
		return wrong(zip, start, "the numbers of the end record, found others", error);
	*directory = wide;
	*directory_end = start;
	return TN_OK;
}

static tn_status find_directory(const struct tn_zip *zip, struct directory *directory,
				struct tn_error_info *error)
{
	unsigned char record[END];
	uint64_t end = zip->file.size - END;
	if (zip->file.size < END)
		return wrong(zip, 0, "a ZIP file, of at least 22 bytes, found fewer", error);
	tn_status status = tn_file_read(&zip->file, end, record, END, error);
	if (status)
		return status;
	if (tn_load_u32_le(record) != 0x06054b50u || tn_load_u16_le(record + 20))
		return wrong(zip, end,
			     "the end record of a ZIP file, without a comment, found other bytes "
			     "(truncated?)",
			     error);
	if (tn_load_u16_le(record + 4) || tn_load_u16_le(record + 6) ||
	    tn_load_u16_le(record + 8) != tn_load_u16_le(record + 10))
		return wrong(zip, end, "one disk, found several", error);
	directory->n = tn_load_u16_le(record + 10);
	directory->size = tn_load_u32_le(record + 12);
	directory->offset = tn_load_u32_le(record + 16);
	if (directory->n == 0xffff || directory->size == IN_ZIP64 || directory->offset == IN_ZIP64)
		status = read_end64(zip, end, directory, &end, error);
	if (status)
		return status;
	if (directory->n > TN_NPZ_MAX_MEMBERS || directory->size > TN_NPZ_MAX_DIRECTORY)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected at most %u members and %u bytes of directory, found "
			       "%llu and %llu",
			       tn_file_label(zip->file.path), TN_NPZ_MAX_MEMBERS,
			       TN_NPZ_MAX_DIRECTORY, (unsigned long long)directory->n,
			       (unsigned long long)directory->size);
	if (directory->offset > end || end - directory->offset != directory->size)
		return wrong(zip, end, "the end of the directory, found another offset or size",
			     error);
	return TN_OK;
}

/* Replaces the numbers that are in the zip64 part of the extra fields. */
static tn_status read_extra(const struct tn_zip *zip, const unsigned char *extra, size_t size,
			    uint64_t offset, struct tn_zip_entry *entry,
			    struct tn_error_info *error)
{
	uint64_t *const numbers[] = {&entry->size, &entry->packed_size, &entry->header};
	for (size_t at = 0, length; at < size; at += 4 + length) {
		if (size - at < 4 || size - at - 4 < tn_load_u16_le(extra + at + 2))
			return wrong(zip, offset, "whole extra fields, found a part of one", error);
		length = tn_load_u16_le(extra + at + 2);
		int is_zip64 = tn_load_u16_le(extra + at) == 1;
		size_t used = 0;
		for (size_t i = 0; is_zip64 && i < 3; i++) {
			if (*numbers[i] != IN_ZIP64)
				continue;
			if (length - used < 8)
				return wrong(zip, offset,
					     "all large numbers in the zip64 field, found fewer",
					     error);
			*numbers[i] = tn_load_u64_le(extra + at + 4 + used);
			used += 8;
		}
	}
	return TN_OK;
}

/* Whether it is UTF-8, not empty, and without a NUL. */
static int is_name(const char *name, size_t length)
{
	return length && !memchr(name, 0, length) && tn_utf8_prefix(name, length) == length;
}

/* Reads the entry at `record` of the directory, whose end is `left` bytes further. */
static tn_status read_entry(const struct tn_zip *zip, const unsigned char *record, size_t left,
			    uint64_t offset, struct tn_zip_entry *entry, size_t *length,
			    struct tn_error_info *error)
{
	if (left < CENTRAL || tn_load_u32_le(record) != 0x02014b50u)
		return wrong(zip, offset, "an entry of the directory, found other bytes", error);
	size_t name = tn_load_u16_le(record + 28), extra = tn_load_u16_le(record + 30);
	*length = CENTRAL + name + extra + tn_load_u16_le(record + 32);
	if (*length > left)
		return wrong(zip, offset, "an entry within the directory, found a longer one",
			     error);
	if (!is_name((const char *)record + CENTRAL, name))
		return wrong(zip, offset + CENTRAL, "a name in UTF-8, found other bytes", error);
	entry->flags = tn_load_u16_le(record + 8);
	entry->method = tn_load_u16_le(record + 10);
	entry->crc = tn_load_u32_le(record + 16);
	entry->packed_size = tn_load_u32_le(record + 20);
	entry->size = tn_load_u32_le(record + 24);
	entry->header = tn_load_u32_le(record + 42);
	tn_status status = read_extra(zip, record + CENTRAL + name, extra, offset, entry, error);
	if (status)
		return status;
	entry->name = tn_mem_zeroed(name + 1, 1);
	if (!entry->name)
		return tn_no_memory(error, OPERATION, tn_file_label(zip->file.path), NULL);
	memcpy(entry->name, record + CENTRAL, name);
	if (entry->flags & (ENCRYPTED | MASKED))
		return tn_fail(error, TN_UNSUPPORTED, OPERATION,
			       "%s: member '%.100s': it is encrypted",
			       tn_file_label(zip->file.path), entry->name);
	if (entry->method == TN_ZIP_STORED && entry->size != entry->packed_size)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: member '%.100s': expected one size of stored content, found "
			       "%llu and %llu",
			       tn_file_label(zip->file.path), entry->name,
			       (unsigned long long)entry->packed_size,
			       (unsigned long long)entry->size);
	return TN_OK;
}

/* Sets *same: the local header has the entry's name, as long as that. */
static tn_status compare_name(const struct tn_zip *zip, const struct tn_zip_entry *entry, int *same,
			      struct tn_error_info *error)
{
	const size_t length = strlen(entry->name);
	char part[512];
	tn_status status = TN_OK;
	*same = 1;
	for (size_t at = 0, n; !status && at < length; at += n) {
		n = length - at < sizeof(part) ? length - at : sizeof(part);
		status = tn_file_read(&zip->file, entry->header + LOCAL + at, part, n, error);
		*same &= !status && !memcmp(part, entry->name + at, n);
	}
	return status;
}

/* Compares the local header with the directory, which is what counts, and finds the content. */
static tn_status read_local(const struct tn_zip *zip, struct tn_zip_entry *entry,
			    uint64_t directory, struct tn_error_info *error)
{
	const char *path = tn_file_label(zip->file.path);
	unsigned char local[LOCAL];
	int is_named;
	if (entry->header > directory || directory - entry->header < LOCAL)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: member '%.100s': expected its header before the directory at "
			       "%llu, found offset %llu",
			       path, entry->name, (unsigned long long)directory,
			       (unsigned long long)entry->header);
	tn_status status = tn_file_read(&zip->file, entry->header, local, LOCAL, error);
	if (status)
		return status;
	size_t length = tn_load_u16_le(local + 26);
	entry->data = entry->header + LOCAL + length + tn_load_u16_le(local + 28);
	if (tn_load_u32_le(local) == 0x04034b50u && length == strlen(entry->name))
		status = compare_name(zip, entry, &is_named, error);
	else
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %llu: expected the header of member '%.100s', found "
			       "other bytes",
			       path, (unsigned long long)entry->header, entry->name);
	if (status)
		return status;
	uint32_t packed_size = tn_load_u32_le(local + 18), size = tn_load_u32_le(local + 22);
	int sized = !(tn_load_u16_le(local + 6) & DESCRIPTOR);
	if (!is_named || tn_load_u16_le(local + 8) != entry->method ||
	    (sized && (tn_load_u32_le(local + 14) != entry->crc ||
		       (packed_size != IN_ZIP64 && packed_size != entry->packed_size) ||
		       (size != IN_ZIP64 && size != entry->size))))
		return tn_fail(
			error, TN_FORMAT, OPERATION,
			"%s: offset %llu: expected name, method, sizes and checksum of member "
			"'%.100s' as in the directory, found others",
			path, (unsigned long long)entry->header, entry->name);
	if (entry->data > directory || directory - entry->data < entry->packed_size)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: member '%.100s': expected %llu bytes of content at offset "
			       "%llu, found the directory at %llu",
			       path, entry->name, (unsigned long long)entry->packed_size,
			       (unsigned long long)entry->data, (unsigned long long)directory);
	return TN_OK;
}

static int by_header(const void *a, const void *b)
{
	const struct tn_zip_entry *x = *(struct tn_zip_entry *const *)a;
	const struct tn_zip_entry *y = *(struct tn_zip_entry *const *)b;
	return (x->header > y->header) - (x->header < y->header);
}

static tn_status check_overlap(const struct tn_zip *zip, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	struct tn_zip_entry **order = tn_mem_zeroed(zip->n + 1, sizeof(struct tn_zip_entry *));
	if (!order)
		return tn_no_memory(error, OPERATION, tn_file_label(zip->file.path), NULL);
	for (size_t i = 0; i < zip->n; i++)
		order[i] = &zip->entries[i];
	qsort(order, zip->n, sizeof(*order), by_header);
	for (size_t i = 1; !status && i < zip->n; i++) {
		if (order[i]->header < order[i - 1]->data + order[i - 1]->packed_size)
			status = tn_fail(error, TN_FORMAT, OPERATION,
					 "%s: offset %llu: expected separate members, found that "
					 "'%.60s' and '%.60s' overlap",
					 tn_file_label(zip->file.path),
					 (unsigned long long)order[i]->header, order[i - 1]->name,
					 order[i]->name);
	}
	tn_mem_free(order);
	return status;
}

static tn_status read_entries(struct tn_zip *zip, const struct directory *directory,
			      const unsigned char *records, struct tn_error_info *error)
{
	size_t at = 0, size = (size_t)directory->size;
	tn_status status = TN_OK;
	for (uint64_t i = 0; !status && i < directory->n; i++) {
		size_t length = 0;
		struct tn_zip_entry *entry = &zip->entries[zip->n++];
		status = read_entry(zip, records + at, size - at, directory->offset + at, entry,
				    &length, error);
		if (!status)
			status = read_local(zip, entry, directory->offset, error);
		at += length;
	}
	if (!status && at != size)
		return wrong(zip, directory->offset + at,
			     "the end of the directory, found more bytes", error);
	return status ? status : check_overlap(zip, error);
}

tn_status tn_zip_open(struct tn_zip *zip, const char *path, struct tn_error_info *error)
{
	struct directory directory = {0};
	memset(zip, 0, sizeof(*zip));
	tn_status status = tn_file_open(&zip->file, path, OPERATION, error);
	if (!status)
		status = find_directory(zip, &directory, error);
	if (!status && directory.n > directory.size / CENTRAL)
		status = wrong(zip, directory.offset, "46 bytes for each member, found fewer",
			       error);
	if (status)
		return status;
	unsigned char *records = tn_mem_alloc((size_t)directory.size);
	zip->entries = tn_mem_zeroed((size_t)directory.n + 1, sizeof(*zip->entries));
	status = records && zip->entries
			 ? tn_file_read(&zip->file, directory.offset, records,
					(size_t)directory.size, error)
			 : tn_no_memory(error, OPERATION, tn_file_label(path), NULL);
	if (!status)
		status = read_entries(zip, &directory, records, error);
	tn_mem_free(records);
	return status;
}

void tn_zip_close(struct tn_zip *zip)
{
	for (size_t i = 0; i < zip->n; i++)
		tn_mem_free(zip->entries[i].name);
	tn_mem_free(zip->entries);
	zip->entries = NULL;
	zip->n = 0;
	tn_file_close(&zip->file);
}
