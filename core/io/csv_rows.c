/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A state machine over the bytes of the stream.  Guarantees: memory is bounded by the limits of one
 * row, and no text contains a NUL.
 */
#include "io/csv_rows.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

#define OPERATION TN_CSV_OPERATION

static tn_status refuse(const struct tn_csv_rows *rows, const char *expected,
			struct tn_error_info *error)
{
	char found[32] = "the end of the content";
	if (rows->byte >= 0)
		snprintf(found, sizeof(found),
			 rows->byte > ' ' && rows->byte < 127 ? "'%c'" : "byte %02x",
			 (unsigned)rows->byte);
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: line %zu, column %zu: expected %s, found %s", tn_file_label(rows->path),
		       rows->line, rows->column, expected, found);
}

tn_status tn_csv_rows_no_memory(const struct tn_csv_rows *rows, struct tn_error_info *error)
{
	return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: line %zu: no memory",
		       tn_file_label(rows->path), rows->line);
}

static tn_status fill_chunk(struct tn_csv_rows *rows, struct tn_error_info *error)
{
	static const unsigned char byte_order_mark[3] = {0xef, 0xbb, 0xbf};
	size_t got = 0;
	int first = rows->line == 1 && rows->column == 0;
	tn_status status =
		tn_byte_stream_read(rows->stream, rows->chunk, sizeof(rows->chunk), &got, error);
	if (status)
		return status;
	rows->ended = got < sizeof(rows->chunk);
	rows->chunk_size = got;
	/* Spreadsheet programs begin UTF-8 with a mark, which is not part of the first field. */
	rows->chunk_at = first && got >= 3 && !memcmp(rows->chunk, byte_order_mark, 3) ? 3 : 0;
	return TN_OK;
}

static tn_status next_byte(struct tn_csv_rows *rows, struct tn_error_info *error)
{
	if (rows->chunk_at == rows->chunk_size && !rows->ended) {
		tn_status status = fill_chunk(rows, error);
		if (status)
			return status;
	}
	int last = rows->byte;
	rows->byte = rows->chunk_at < rows->chunk_size ? rows->chunk[rows->chunk_at++] : -1;
	if (last == '\n' || (last == '\r' && rows->byte != '\n')) {
		rows->line++;
		rows->column = 0;
	}
	if (last >= 0)
		rows->column++;
	return rows->byte ? TN_OK : refuse(rows, "text", error);
}

static tn_status put(struct tn_csv_rows *rows, int byte, struct tn_error_info *error)
{
	if (rows->text_length == rows->text_capacity) {
		size_t capacity = rows->text_capacity ? 2 * rows->text_capacity : 4096;
		if (rows->text_capacity >= TN_CSV_MAX_ROW)
			return tn_fail(error, TN_LIMIT, OPERATION,
				       "%s: line %zu: expected at most %u bytes in a row, found "
				       "more",
				       tn_file_label(rows->path), rows->line, TN_CSV_MAX_ROW);
		char *text = tn_mem_realloc(rows->text, capacity, 1);
		if (!text)
			return tn_csv_rows_no_memory(rows, error);
		rows->text = text;
		rows->text_capacity = capacity;
	}
	rows->text[rows->text_length++] = (char)byte;
	return TN_OK;
}

static tn_status add_field(struct tn_csv_rows *rows, struct tn_error_info *error)
{
	if (rows->n_fields == rows->field_capacity) {
		size_t capacity = rows->field_capacity ? 2 * rows->field_capacity : 64;
		if (rows->field_capacity >= TN_CSV_MAX_COLUMNS)
			return tn_fail(error, TN_LIMIT, OPERATION,
				       "%s: line %zu: expected at most %u fields in a row, found "
				       "more",
				       tn_file_label(rows->path), rows->line, TN_CSV_MAX_COLUMNS);
		struct tn_csv_field *fields =
			tn_mem_realloc(rows->fields, capacity, sizeof(*fields));
		if (!fields)
			return tn_csv_rows_no_memory(rows, error);
		rows->fields = fields;
		rows->field_capacity = capacity;
	}
	rows->fields[rows->n_fields++] = (struct tn_csv_field){.begin = rows->text_length};
	return TN_OK;
}

static int is_blank(const struct tn_csv_rows *rows, int byte)
{
	return (byte == ' ' || byte == '\t') && byte != rows->separator;
}

enum state { BEFORE, UNQUOTED, QUOTED, QUOTE_SEEN, AFTER_QUOTES, COMMENT };

static int is_line_end(int byte)
{
	return byte == '\n' || byte == '\r';
}

/* Takes one byte of a field.  *done: the field ends with this byte, which is a separator, the end
 * of a line or of the content. */
static tn_status take_byte(struct tn_csv_rows *rows, struct tn_csv_field *field, enum state *state,
			   int *done, struct tn_error_info *error)
{
	int byte = rows->byte;
	if (*state == BEFORE) {
		if (is_blank(rows, byte))
			return TN_OK;
		field->line = rows->line;
		field->column = rows->column;
		field->quoted = byte == rows->quote;
		*state = field->quoted ? QUOTED : UNQUOTED;
		if (field->quoted)
			return TN_OK;
	}
	if (*state == QUOTE_SEEN)
		*state = byte == rows->quote ? QUOTED : AFTER_QUOTES;
	else if (*state == QUOTED && byte == rows->quote) {
		*state = QUOTE_SEEN;
		return TN_OK;
	}
	if (*state == QUOTED && byte < 0)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: line %zu, column %zu: expected a quote at the end of this "
			       "field, found the end of the content",
			       tn_file_label(rows->path), field->line, field->column);
	if (*state == QUOTED)
		return put(rows, byte, error);
	*done = byte < 0 || is_line_end(byte) || (byte == rows->separator && *state != COMMENT);
	if (!*done && byte == rows->comment)
		*state = COMMENT;
	if (*done || *state == COMMENT)
		return TN_OK;
	if (*state == AFTER_QUOTES)
		return is_blank(rows, byte)
			       ? TN_OK
			       : refuse(rows, "a separator or the end of the line after the quotes",
					error);
	if (byte == rows->quote)
		return refuse(rows, "no quote within an unquoted field", error);
	return put(rows, byte, error);
}

static tn_status read_field(struct tn_csv_rows *rows, struct tn_error_info *error)
{
	enum state state = BEFORE;
	int done = 0;
	tn_status status = add_field(rows, error);
	if (status)
		return status;
	struct tn_csv_field *field = &rows->fields[rows->n_fields - 1];
	while (!status && !done) {
		int after_return = rows->byte == '\r' && state == BEFORE;
		status = next_byte(rows, error);
		/* A line feed that follows belongs to the end of the last line. */
		if (!status && after_return && rows->byte == '\n')
			status = next_byte(rows, error);
		if (!status)
			status = take_byte(rows, field, &state, &done, error);
	}
	if (status)
		return status;
	while (!field->quoted && rows->text_length > field->begin &&
	       is_blank(rows, rows->text[rows->text_length - 1]))
		rows->text_length--;
	field->length = rows->text_length - field->begin;
	return put(rows, '\0', error);
}

tn_status tn_csv_rows_next(struct tn_csv_rows *rows, int *found, struct tn_error_info *error)
{
	int empty;
	do {
		rows->n_fields = 0;
		rows->text_length = 0;
		do {
			tn_status status = read_field(rows, error);
			if (status)
				return status;
		} while (rows->byte == rows->separator);
		empty = rows->n_fields == 1 && !rows->fields[0].length && !rows->fields[0].quoted;
	} while (empty && rows->byte >= 0);
	*found = !empty;
	return TN_OK;
}

tn_status tn_csv_rows_open(struct tn_csv_rows *rows, const char *path,
			   const struct tn_csv_options *options, struct tn_error_info *error)
{
	memset(rows, 0, sizeof(*rows));
	rows->path = path;
	rows->separator = options->separator;
	rows->quote = options->quote;
	rows->comment = options->comment ? options->comment : -2;
	rows->line = 1;
	return tn_byte_stream_open(path, OPERATION, &rows->stream, error);
}

void tn_csv_rows_close(struct tn_csv_rows *rows)
{
	tn_byte_stream_close(rows->stream);
	tn_mem_free(rows->fields);
	tn_mem_free(rows->text);
	memset(rows, 0, sizeof(*rows));
}
