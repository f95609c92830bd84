/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The lines of a text file, plain or gzipped.
 */
#ifndef TN_IO_TEXT_LINES_H
#define TN_IO_TEXT_LINES_H

#include <stddef.h>

#include "io/stream.h"

struct tn_text_lines {
	const char *path; /* borrowed */
	const char *operation;
	struct tn_byte_stream *stream;
	size_t number; /* of the current line, from 1 */
	char *text;    /* the current line, without its end; a NUL follows */
	size_t length;
	size_t capacity;
	int after_return; /* a line feed that comes next belongs to the last line's end */
	int ended;
	size_t chunk_at;
	size_t chunk_size;
	unsigned char chunk[16384];
};

/* tn_text_lines_close is called after a failure too. */
tn_status tn_text_lines_open(struct tn_text_lines *lines, const char *path, const char *operation,
			     struct tn_error_info *error);
void tn_text_lines_close(struct tn_text_lines *lines);

/* TN_OUT_OF_MEMORY, at the current line. */
tn_status tn_text_lines_no_memory(const struct tn_text_lines *lines, struct tn_error_info *error);
/* The next line; *found is 0 at the end.  A byte order mark of UTF-8 at the beginning is skipped.
 * TN_FORMAT: a byte 0.  TN_LIMIT: more than TN_CSV_MAX_ROW bytes in a line. */
tn_status tn_text_lines_next(struct tn_text_lines *lines, int *found, struct tn_error_info *error);

#endif
