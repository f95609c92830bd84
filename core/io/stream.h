/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The content of a file that may be gzipped, from front to back.  Its first two bytes show whether
 * it is gzipped.
 */
#ifndef TN_IO_STREAM_H
#define TN_IO_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/backend.h>

struct tn_byte_stream;

/* TN_UNSUPPORTED: gzipped, and built without zlib; else as tn_file_open. */
tn_status tn_byte_stream_open(const char *path, const char *operation, struct tn_byte_stream **out,
			      struct tn_error_info *error);
void tn_byte_stream_close(struct tn_byte_stream *stream); /* takes NULL */

/* Fills `buffer`; *got below `size`: the content ended there.
 * TN_FORMAT: damaged or truncated compression, bytes other than 0 after the last gzip member.
 * TN_LIMIT: more
 * than tn_byte_stream_limit. */
tn_status tn_byte_stream_read(struct tn_byte_stream *stream, void *buffer, size_t size, size_t *got,
			      struct tn_error_info *error);

/* An upper bound of the bytes still to come: exact for a plain file; for a gzipped one the size to
 * which deflate can expand the rest.  Readers check the lengths in a file against it. */
uint64_t tn_byte_stream_most(const struct tn_byte_stream *stream);

/* The most content that is read (TN_LIMIT beyond): for a gzipped file 64 MiB, or 200 times its size
 * if that is more, which no collection of pictures or numbers reaches. */
uint64_t tn_byte_stream_limit(const struct tn_byte_stream *stream);

/* The same two bounds for `packed` bytes of deflated data, of any kind of file. */
uint64_t tn_deflate_most(uint64_t packed);
uint64_t tn_deflate_limit(uint64_t packed);

int tn_byte_stream_is_gzipped(const struct tn_byte_stream *stream);
const char *tn_byte_stream_path(const struct tn_byte_stream *stream);

#endif
