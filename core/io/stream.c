/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Plain and gzipped content.  Guarantees: the end of a gzipped file is reported only after the last
 * member's checksum and length were verified (RFC 1952); memory is bounded by the caller's buffer
 * and one window.
 */
#include "config.h"
#include "io/stream.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

#ifdef HAVE_ZLIB
#include <zlib.h>

#include "io/zlib_memory.h"
#endif

#define CHUNK 65536

/* Deflate's largest ratio: 258 bytes for 2 bits, so 1032 to 1 (zlib's technical notes). */
#define MOST_EXPANSION 1032

/* Gzipped content above the first limit may be at most the second times as large as its file.
 * Pictures and labels compress by a factor of 2 to 10, sparse black and white ones by 100. */
#define MOST_CONTENT ((uint64_t)1 << 26)
#define MOST_RATIO 200

struct tn_byte_stream {
	struct tn_file file;
	uint64_t next;  /* the first byte of the file not read yet */
	uint64_t given; /* bytes inflated so far */
	int gzipped;
#ifdef HAVE_ZLIB
	int inflating; /* inflateInit2 was done */
	int in_member; /* between a member's first byte and its last */
	z_stream zlib;
	unsigned char input[CHUNK];
#endif
};

#ifdef HAVE_ZLIB

static tn_status start_inflating(struct tn_byte_stream *stream, struct tn_error_info *error)
{
	stream->zlib.zalloc = tn_zlib_alloc;
	stream->zlib.zfree = tn_zlib_free;
	/* 15: the largest window; + 16: a gzip header and trailer, nothing else. */
	if (inflateInit2(&stream->zlib, 15 + 16) != Z_OK)
		return tn_no_memory(error, stream->file.operation, tn_file_label(stream->file.path),
				    "zlib");
	stream->inflating = 1;
	stream->in_member = 1;
	return TN_OK;
}

static tn_status damaged(const struct tn_byte_stream *stream, int code, struct tn_error_info *error)
{
	if (code == Z_MEM_ERROR)
		return tn_no_memory(error, stream->file.operation, tn_file_label(stream->file.path),
				    "zlib");
	return tn_fail(error, TN_FORMAT, stream->file.operation,
		       "%s: offset %llu (compressed): expected gzip data, found: %s",
		       tn_file_label(stream->file.path),
		       (unsigned long long)(stream->next - stream->zlib.avail_in),
		       stream->zlib.msg ? stream->zlib.msg : "damaged data");
}

/* Tapes and block devices fill up with zeros, which gzip passes over after a member.  Is no input
 * left? */
static int skip_zeros(z_stream *zlib)
{
	while (zlib->avail_in && !*zlib->next_in) {
		zlib->next_in++;
		zlib->avail_in--;
	}
	return zlib->avail_in == 0;
}

/* One call of inflate.  *ended: no input is left and the last member is complete. */
static tn_status inflate_step(struct tn_byte_stream *stream, int *ended,
			      struct tn_error_info *error)
{
	if (stream->zlib.avail_in == 0) {
		uint64_t left = stream->file.size - stream->next;
		size_t size = left < CHUNK ? (size_t)left : CHUNK;
		tn_status status =
			tn_file_read(&stream->file, stream->next, stream->input, size, error);
		if (status)
			return status;
		stream->next += size;
		stream->zlib.next_in = stream->input;
		stream->zlib.avail_in = (unsigned int)size;
		*ended = size == 0 && !stream->in_member;
		if (size == 0 && stream->in_member)
			return tn_fail(error, TN_FORMAT, stream->file.operation,
				       "%s: offset %llu: expected more gzip data, found the end of "
				       "the file (truncated?)",
				       tn_file_label(stream->file.path),
				       (unsigned long long)stream->file.size);
		if (*ended)
			return TN_OK;
	}
	if (!stream->in_member && skip_zeros(&stream->zlib))
		return TN_OK;
	if (!stream->in_member && inflateReset(&stream->zlib) != Z_OK)
		return damaged(stream, Z_DATA_ERROR, error);
	stream->in_member = 1;
	int code = inflate(&stream->zlib, Z_NO_FLUSH);
	if (code == Z_STREAM_END)
		stream->in_member = 0;
	else if (code != Z_OK && code != Z_BUF_ERROR)
		return damaged(stream, code, error);
	return TN_OK;
}

static tn_status read_gzipped(struct tn_byte_stream *stream, unsigned char *buffer, size_t size,
			      size_t *got, struct tn_error_info *error)
{
	size_t done = 0;
	for (int ended = 0; done < size && !ended;) {
		/* avail_out is 32 bits wide. */
		unsigned int room = size - done < 1u << 30 ? (unsigned int)(size - done) : 1u << 30;
		stream->zlib.next_out = buffer + done;
		stream->zlib.avail_out = room;
		tn_status status = inflate_step(stream, &ended, error);
		if (status)
			return status;
		done += room - stream->zlib.avail_out;
	}
	*got = done;
	stream->given += done;
	if (stream->given > tn_byte_stream_limit(stream))
		return tn_fail(error, TN_LIMIT, stream->file.operation,
			       "%s: expected at most %llu bytes of content in a gzipped file of "
			       "%llu, found more",
			       tn_file_label(stream->file.path),
			       (unsigned long long)tn_byte_stream_limit(stream),
			       (unsigned long long)stream->file.size);
	return TN_OK;
}

static void stop_inflating(struct tn_byte_stream *stream)
{
	if (stream->inflating)
		inflateEnd(&stream->zlib);
}

#else

static tn_status start_inflating(struct tn_byte_stream *stream, struct tn_error_info *error)
{
	return tn_fail(
		error, TN_UNSUPPORTED, stream->file.operation,
		"%s: gzipped, and this build of Tenon has no zlib (gunzip the file, or build "
		"with zlib; Debian: zlib1g-dev)",
		tn_file_label(stream->file.path));
}

static tn_status read_gzipped(struct tn_byte_stream *stream, unsigned char *buffer, size_t size,
			      size_t *got, struct tn_error_info *error)
{
	(void)buffer;
	(void)size;
	(void)got;
	return start_inflating(stream, error);
}

static void stop_inflating(struct tn_byte_stream *stream)
{
	(void)stream;
}

#endif

tn_status tn_byte_stream_open(const char *path, const char *operation, struct tn_byte_stream **out,
			      struct tn_error_info *error)
{
	struct tn_byte_stream *stream = tn_mem_zeroed(1, sizeof(*stream));
	if (!stream)
		return tn_no_memory(error, operation, tn_file_label(path), NULL);
	tn_status status = tn_file_open(&stream->file, path, operation, error);
	unsigned char magic[2] = {0};
	if (!status && stream->file.size >= sizeof(magic))
		status = tn_file_read(&stream->file, 0, magic, sizeof(magic), error);
	stream->gzipped = !status && magic[0] == 0x1f && magic[1] == 0x8b;
	if (stream->gzipped)
		status = start_inflating(stream, error);
	if (status) {
		tn_byte_stream_close(stream);
		return status;
	}
	*out = stream;
	return TN_OK;
}

void tn_byte_stream_close(struct tn_byte_stream *stream)
{
	if (!stream)
		return;
	stop_inflating(stream);
	tn_file_close(&stream->file);
	tn_mem_free(stream);
}

tn_status tn_byte_stream_read(struct tn_byte_stream *stream, void *buffer, size_t size, size_t *got,
			      struct tn_error_info *error)
{
	if (stream->gzipped)
		return read_gzipped(stream, buffer, size, got, error);
	uint64_t left = stream->file.size - stream->next;
	if (size > left)
		size = (size_t)left;
	tn_status status = tn_file_read(&stream->file, stream->next, buffer, size, error);
	if (status)
		return status;
	stream->next += size;
	*got = size;
	return TN_OK;
}

uint64_t tn_byte_stream_most(const struct tn_byte_stream *stream)
{
	if (!stream->gzipped)
		return stream->file.size - stream->next;
	return tn_deflate_most(stream->file.size);
}

uint64_t tn_byte_stream_limit(const struct tn_byte_stream *stream)
{
	return stream->gzipped ? tn_deflate_limit(stream->file.size) : UINT64_MAX;
}

uint64_t tn_deflate_most(uint64_t packed)
{
	return packed > UINT64_MAX / MOST_EXPANSION ? UINT64_MAX : packed * MOST_EXPANSION;
}

uint64_t tn_deflate_limit(uint64_t packed)
{
	if (packed > UINT64_MAX / MOST_RATIO)
		return UINT64_MAX;
	uint64_t limit = packed * MOST_RATIO;
	return limit < MOST_CONTENT ? MOST_CONTENT : limit;
}

int tn_byte_stream_is_gzipped(const struct tn_byte_stream *stream)
{
	return stream->gzipped;
}

const char *tn_byte_stream_path(const struct tn_byte_stream *stream)
{
	return stream->file.path;
}
