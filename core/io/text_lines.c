/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads a text file line by line through a byte stream.  Memory is bounded by the longest line.
 */
#include "io/text_lines.h"

#include <string.h>
#include <tenon/io.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

static tn_status fill_chunk(struct tn_text_lines *lines, struct tn_error_info *error)
{
	const int is_first = !lines->number && !lines->chunk_size;
	size_t got = 0;
	const tn_status status =
		tn_byte_stream_read(lines->stream, lines->chunk, sizeof(lines->chunk), &got, error);
	if (status)
		return status;
	lines->ended = got < sizeof(lines->chunk);
	lines->chunk_size = got;
	lines->chunk_at = is_first && got >= 3 && !memcmp(lines->chunk, "\xef\xbb\xbf", 3) ? 3 : 0;
	return TN_OK;
}

/* The next byte, or -1 at the end. */
static tn_status next_byte(struct tn_text_lines *lines, int *byte, struct tn_error_info *error)
{
	if (lines->chunk_at == lines->chunk_size && !lines->ended) {
		const tn_status status = fill_chunk(lines, error);
		if (status)
			return status;
	}
	*byte = lines->chunk_at < lines->chunk_size ? lines->chunk[lines->chunk_at++] : -1;
	return TN_OK;
}

tn_status tn_text_lines_no_memory(const struct tn_text_lines *lines, struct tn_error_info *error)
{
	return tn_fail(error, TN_OUT_OF_MEMORY, lines->operation, "%s: line %zu: no memory",
		       tn_file_label(lines->path), lines->number);
}

static tn_status put(struct tn_text_lines *lines, int byte, struct tn_error_info *error)
{
	if (lines->length + 1 >= lines->capacity) {
		const size_t capacity = lines->capacity ? 2 * lines->capacity : 4096;
		if (lines->capacity >= TN_CSV_MAX_ROW)
			return tn_fail(error, TN_LIMIT, lines->operation,
				       "%s: line %zu: expected at most %u bytes, found more",
				       tn_file_label(lines->path), lines->number, TN_CSV_MAX_ROW);
		char *text = tn_mem_realloc(lines->text, capacity, 1);
		if (!text)
			return tn_text_lines_no_memory(lines, error);
		lines->text = text;
		lines->capacity = capacity;
	}
	if (byte == 0)
		return tn_fail(error, TN_FORMAT, lines->operation,
			       "%s: line %zu, column %zu: expected text, found byte 00",
			       tn_file_label(lines->path), lines->number, lines->length + 1);
	if (byte > 0)
		lines->text[lines->length++] = (char)byte;
	lines->text[lines->length] = '\0';
	return TN_OK;
}

tn_status tn_text_lines_next(struct tn_text_lines *lines, int *found, struct tn_error_info *error)
{
	int byte;
	lines->length = 0;
	tn_status status = next_byte(lines, &byte, error);
	if (!status && lines->after_return && byte == '\n')
		status = next_byte(lines, &byte, error);
	*found = !status && byte >= 0;
	lines->number += (size_t)*found;
	if (*found)
		status = put(lines, -1, error);
	while (!status && byte >= 0 && byte != '\n' && byte != '\r') {
		status = put(lines, byte, error);
		if (!status)
			status = next_byte(lines, &byte, error);
	}
	lines->after_return = byte == '\r';
	return status;
}

tn_status tn_text_lines_open(struct tn_text_lines *lines, const char *path, const char *operation,
			     struct tn_error_info *error)
{
	memset(lines, 0, sizeof(*lines));
	lines->path = path;
	lines->operation = operation;
	return tn_byte_stream_open(path, operation, &lines->stream, error);
}

void tn_text_lines_close(struct tn_text_lines *lines)
{
	tn_byte_stream_close(lines->stream);
	tn_mem_free(lines->text);
	lines->stream = NULL;
	lines->text = NULL;
}
