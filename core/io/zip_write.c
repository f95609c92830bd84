/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers too large for their field are in a zip64 field or record, and only those.
 */
#include "io/zip_write.h"

#include <string.h>

#include "io/bytes.h"

#define IN_ZIP64 0xffffffffu
#define UTF8_NAME 0x800
#define FIRST_DATE 0x21 /* 1980-01-01: the same arrays give the same bytes */

/* Appends the low `size` bytes of the number. */
static void put(struct tn_text *text, uint64_t number, size_t size)
{
	unsigned char bytes[8];
	tn_store_u64_le(bytes, number);
	tn_text_append(text, (const char *)bytes, size);
}

static uint64_t low32(uint64_t number)
{
	return number < IN_ZIP64 ? number : IN_ZIP64;
}

static uint32_t flags_of(const struct tn_zip_entry *entry)
{
	for (const char *at = entry->name; *at; at++) {
		if ((unsigned char)*at > 127)
			return UTF8_NAME;
	}
	return 0;
}

/* From the version needed to the length of the name. */
static void put_common(struct tn_text *text, const struct tn_zip_entry *entry, int is_zip64)
{
	put(text, is_zip64 ? 45 : 20, 2);
	put(text, flags_of(entry), 2);
	put(text, TN_ZIP_STORED, 2);
	put(text, 0, 2); /* midnight */
	put(text, FIRST_DATE, 2);
	put(text, entry->crc, 4);
	put(text, low32(entry->size), 4);
	put(text, low32(entry->size), 4);
	put(text, strlen(entry->name), 2);
}

void tn_zip_put_local(struct tn_text *text, const struct tn_zip_entry *entry)
{
	int large = entry->size >= IN_ZIP64;
	put(text, 0x04034b50, 4);
	put_common(text, entry, large);
	put(text, large ? 20 : 0, 2);
	tn_text_add(text, entry->name);
	if (large) {
		put(text, 1, 2);
		put(text, 16, 2);
		put(text, entry->size, 8);
		put(text, entry->size, 8);
	}
}

void tn_zip_put_entry(struct tn_text *text, const struct tn_zip_entry *entry)
{
	int large = entry->size >= IN_ZIP64, far = entry->header >= IN_ZIP64;
	size_t extra = (large ? 16u : 0u) + (far ? 8u : 0u);
	put(text, 0x02014b50, 4);
	put(text, 45, 2);
	put_common(text, entry, large || far);
	put(text, extra ? extra + 4 : 0, 2);
	put(text, 0, 8); /* no comment, first disk, no attributes */
	put(text, 0, 2);
	put(text, low32(entry->header), 4);
	tn_text_add(text, entry->name);
	if (extra) {
		put(text, 1, 2);
		put(text, extra, 2);
	}
	if (large) {
		put(text, entry->size, 8);
		put(text, entry->size, 8);
	}
	if (far)
		put(text, entry->header, 8);
}

void tn_zip_put_end(struct tn_text *text, uint64_t n, uint64_t offset, uint64_t size)
{
	if (n >= 0xffff || offset >= IN_ZIP64 || size >= IN_ZIP64) {
		put(text, 0x06064b50, 4);
		put(text, 44, 8); /* bytes that follow */
		put(text, 45, 2);
		put(text, 45, 2);
		put(text, 0, 8); /* first disk */
		put(text, n, 8);
		put(text, n, 8);
		put(text, size, 8);
		put(text, offset, 8);
		put(text, 0x07064b50, 4);
		put(text, 0, 4);
		put(text, offset + size, 8);
		put(text, 1, 4); /* disk */
	}
	put(text, 0x06054b50, 4);
	put(text, 0, 4);
	put(text, n < 0xffff ? n : 0xffff, 2);
	put(text, n < 0xffff ? n : 0xffff, 2);
	put(text, low32(size), 4);
	put(text, low32(offset), 4);
	put(text, 0, 2);
}
