/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the content of a member of a ZIP file, and compares its checksum.
 *
 * Guarantees: what is deflated is not expanded beyond the size in the directory, which is limited
 * as gzipped files are.
 */
#include "config.h"
#include "io/zip_member.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/crc32.h"
#include "io/stream.h"

#ifdef HAVE_ZLIB
#include <zlib.h>

#include "io/zlib_memory.h"
#endif

#define OPERATION TN_ZIP_OPERATION
#define CHUNK 65536

struct tn_zip_member {
	const struct tn_zip *zip;
	const struct tn_zip_entry *entry;
	const char *label;
	uint64_t taken; /* bytes of the file */
	uint32_t crc;   /* of the content read so far */
#ifdef HAVE_ZLIB
	int inflating; /* inflateInit2 was done */
	int ended;     /* the last deflated block was inflated */
	z_stream zlib;
	unsigned char input[CHUNK];
#endif
};

#ifdef HAVE_ZLIB

static tn_status start_inflating(struct tn_zip_member *member, struct tn_error_info *error)
{
	const struct tn_zip_entry *entry = member->entry;
	uint64_t most = tn_deflate_most(entry->packed_size);
	uint64_t limit = tn_deflate_limit(entry->packed_size);
	if (entry->size > most || entry->size > limit)
		return tn_fail(error, entry->size > most ? TN_FORMAT : TN_LIMIT, OPERATION,
			       "%s: expected at most %llu bytes from its %llu deflated ones, found "
			       "%llu",
			       member->label, (unsigned long long)(most < limit ? most : limit),
			       (unsigned long long)entry->packed_size,
			       (unsigned long long)entry->size);
	member->zlib.zalloc = tn_zlib_alloc;
	member->zlib.zfree = tn_zlib_free;
	/* -15: the largest window, and no header of zlib's. */
	if (inflateInit2(&member->zlib, -15) != Z_OK)
		return tn_no_memory(error, OPERATION, member->label, "zlib");
	member->inflating = 1;
	return TN_OK;
}

static void stop_inflating(struct tn_zip_member *member)
{
	if (member->inflating)
		inflateEnd(&member->zlib);
}

/* Inflates at most `size` bytes; *got is less only if the deflated data ended. */
static tn_status inflate_bytes(struct tn_zip_member *member, unsigned char *buffer, size_t size,
			       size_t *got, struct tn_error_info *error)
{
	size_t done = 0;
	while (done < size && !member->ended) {
		if (member->zlib.avail_in == 0) {
			uint64_t left = member->entry->packed_size - member->taken;
			size_t take = left < CHUNK ? (size_t)left : CHUNK;
			if (take == 0)
				return tn_fail(error, TN_FORMAT, OPERATION,
					       "%s: expected more deflated data, found its end",
					       member->label);
			tn_status status = tn_file_read(&member->zip->file,
							member->entry->data + member->taken,
							member->input, take, error);
			if (status)
				return status;
			member->taken += take;
			member->zlib.next_in = member->input;
			member->zlib.avail_in = (unsigned int)take;
		}
		/* avail_out is 32 bits wide. */
		unsigned int room = size - done < 1u << 30 ? (unsigned int)(size - done) : 1u << 30;
		member->zlib.next_out = buffer + done;
		member->zlib.avail_out = room;
		int code = inflate(&member->zlib, Z_NO_FLUSH);
		if (code == Z_MEM_ERROR)
			return tn_no_memory(error, OPERATION, member->label, "zlib");
		if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: offset %llu: expected deflated data, found: %s",
				       member->label,
				       (unsigned long long)(member->entry->data + member->taken -
							    member->zlib.avail_in),
				       member->zlib.msg ? member->zlib.msg : "damaged data");
		member->ended = code == Z_STREAM_END;
		done += room - member->zlib.avail_out;
	}
	*got = done;
	return TN_OK;
}

/* The deflated data must end with the content, and fill its place in the file. */
static tn_status finish_inflating(struct tn_zip_member *member, struct tn_error_info *error)
{
	unsigned char extra;
	size_t got = 0;
	tn_status status = inflate_bytes(member, &extra, 1, &got, error);
	if (status)
		return status;
	if (got || member->zlib.avail_in || member->taken != member->entry->packed_size)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected deflated data of exactly %llu bytes of content, found "
			       "more",
			       member->label, (unsigned long long)member->entry->size);
	return TN_OK;
}

#else

static tn_status start_inflating(struct tn_zip_member *member, struct tn_error_info *error)
{
	return tn_fail(
		error, TN_UNSUPPORTED, OPERATION,
		"%s: deflated, and this build of Tenon has no zlib (save it with numpy.savez, "
		"or build with zlib; Debian: zlib1g-dev)",
		member->label);
}

static void stop_inflating(struct tn_zip_member *member)
{
	(void)member;
}

static tn_status inflate_bytes(struct tn_zip_member *member, unsigned char *buffer, size_t size,
			       size_t *got, struct tn_error_info *error)
{
	(void)buffer;
	(void)size;
	(void)got;
	return start_inflating(member, error);
}

static tn_status finish_inflating(struct tn_zip_member *member, struct tn_error_info *error)
{
	return start_inflating(member, error);
}

#endif

tn_status tn_zip_member_open(const struct tn_zip *zip, const struct tn_zip_entry *entry,
			     const char *label, struct tn_zip_member **out,
			     struct tn_error_info *error)
{
	if (entry->method != TN_ZIP_STORED && entry->method != TN_ZIP_DEFLATED)
		return tn_fail(error, TN_UNSUPPORTED, OPERATION,
			       "%s: expected method 0 (stored) or 8 (deflated), found %u", label,
			       entry->method);
	struct tn_zip_member *member = tn_mem_zeroed(1, sizeof(*member));
	if (!member)
		return tn_no_memory(error, OPERATION, label, NULL);
	member->zip = zip;
	member->entry = entry;
	member->label = label;
	tn_status status =
		entry->method == TN_ZIP_DEFLATED ? start_inflating(member, error) : TN_OK;
	if (!status)
		*out = member;
	else
		tn_zip_member_close(member);
	return status;
}

void tn_zip_member_close(struct tn_zip_member *member)
{
	if (!member)
		return;
	stop_inflating(member);
	tn_mem_free(member);
}

tn_status tn_zip_member_read(struct tn_zip_member *member, void *buffer, size_t size,
			     struct tn_error_info *error)
{
	const struct tn_zip_entry *entry = member->entry;
	size_t got = size;
	tn_status status;
	if (entry->method == TN_ZIP_DEFLATED) {
		status = inflate_bytes(member, buffer, size, &got, error);
	} else {
		status = tn_file_read(&member->zip->file, entry->data + member->taken, buffer, size,
				      error);
		member->taken += size;
	}
	if (!status && got != size)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected %llu bytes of content, found %zu fewer", member->label,
			       (unsigned long long)entry->size, size - got);
	if (!status)
		member->crc = tn_crc32(member->crc, buffer, size);
	return status;
}

tn_status tn_zip_member_finish(struct tn_zip_member *member, struct tn_error_info *error)
{
	const struct tn_zip_entry *entry = member->entry;
	tn_status status =
		entry->method == TN_ZIP_DEFLATED ? finish_inflating(member, error) : TN_OK;
	if (!status && member->crc != entry->crc)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected the checksum %08x, found %08x", member->label,
			       entry->crc, member->crc);
	return status;
}
