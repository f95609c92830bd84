/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A state machine over the bytes of the stream.  Guarantees: the result does not depend on the
 * locale, no number overflows, and memory grows with the values read.
 */
#include "io/csv.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"
#include "io/stream.h"

#define OPERATION "CSV"
#define CHUNK 16384

struct parser {
	const char *path;
	struct tn_csv csv;
	size_t n_values;
	size_t capacity;
	size_t line;       /* from 1 */
	size_t byte;       /* of the line, from 1 */
	size_t in_row;     /* values of this row */
	int64_t magnitude; /* of the number being read */
	int negative;
	int digits;       /* was there a digit? */
	int after_return; /* after a carriage return: a line feed must follow */
};

static tn_status refuse(const struct parser *parser, const char *expected, int found,
			struct tn_error_info *error)
{
	char text[32] = "the end of the content";
	if (found >= 0)
		snprintf(text, sizeof(text), found > ' ' && found < 127 ? "'%c'" : "byte %02x",
			 (unsigned)found);
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: line %zu, column %zu: expected %s, found %s",
		       tn_file_label(parser->path), parser->line, parser->byte, expected, text);
}

static tn_status put_value(struct parser *parser, struct tn_error_info *error)
{
	if (parser->n_values == parser->capacity) {
		size_t capacity = parser->capacity ? 2 * parser->capacity : 4096;
		int32_t *values = NULL;
		if (parser->capacity >= TN_CSV_MAX_VALUES)
			return tn_fail(error, TN_LIMIT, OPERATION,
				       "%s: line %zu: expected at most %zu values, found more",
				       tn_file_label(parser->path), parser->line,
				       TN_CSV_MAX_VALUES);
		values = tn_mem_realloc(parser->csv.values, capacity, sizeof(*values));
		if (!values)
			return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
				       "%s: line %zu: no memory", tn_file_label(parser->path),
				       parser->line);
		parser->csv.values = values;
		parser->capacity = capacity;
	}
	int64_t value = parser->negative ? -parser->magnitude : parser->magnitude;
	parser->csv.values[parser->n_values++] = (int32_t)value;
	parser->in_row++;
	parser->magnitude = 0;
	parser->negative = 0;
	parser->digits = 0;
	return TN_OK;
}

static tn_status take_byte(struct parser *parser, unsigned char byte, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	if (parser->after_return && byte != '\n')
		return refuse(parser, "a line feed", byte, error);
	if (byte >= '0' && byte <= '9') {
		parser->magnitude = parser->magnitude * 10 + (byte - '0');
		parser->digits = 1;
		if (parser->magnitude <= INT32_MAX)
			return TN_OK;
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: line %zu, column %zu: expected a number of at most %d, found "
			       "more",
			       tn_file_label(parser->path), parser->line, parser->byte, INT32_MAX);
	}
	if (byte == '-' && !parser->digits && !parser->negative) {
		parser->negative = 1;
		return TN_OK;
	}
	if (!parser->digits && !parser->after_return)
		return refuse(parser, "a digit", byte, error);
	if (byte != ',' && byte != '\r' && byte != '\n')
		return refuse(parser, "a digit, a comma or the end of the line", byte, error);
	if (!parser->after_return)
		status = put_value(parser, error);
	parser->after_return = byte == '\r';
	if (status != TN_OK || byte != '\n')
		return status;
	if (parser->csv.n_rows == 0)
		parser->csv.n_columns = parser->in_row;
	if (parser->in_row != parser->csv.n_columns)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: line %zu: expected %zu values, as in line 1, found %zu",
			       tn_file_label(parser->path), parser->line, parser->csv.n_columns,
			       parser->in_row);
	parser->csv.n_rows++;
	parser->in_row = 0;
	return TN_OK;
}

tn_status tn_csv_read(const char *path, struct tn_csv *out, struct tn_error_info *error)
{
	struct tn_byte_stream *stream = NULL;
	struct parser parser = {.path = path, .line = 1, .byte = 1};
	unsigned char chunk[CHUNK];
	size_t got = CHUNK;
	tn_status status = tn_byte_stream_open(path, OPERATION, &stream, error);
	while (status == TN_OK && got == CHUNK) {
		status = tn_byte_stream_read(stream, chunk, CHUNK, &got, error);
		for (size_t i = 0; status == TN_OK && i < got; i++) {
			status = take_byte(&parser, chunk[i], error);
			parser.byte++;
			if (chunk[i] == '\n') {
				parser.line++;
				parser.byte = 1;
			}
		}
	}
	tn_byte_stream_close(stream);
	/* The last line may lack a line feed. */
	if (status == TN_OK && parser.byte > 1)
		status = take_byte(&parser, '\n', error);
	else if (status == TN_OK && !parser.csv.n_rows)
		status = refuse(&parser, "a row", -1, error);
	if (status == TN_OK)
		*out = parser.csv;
	else
		tn_csv_release(&parser.csv);
	return status;
}

void tn_csv_release(struct tn_csv *csv)
{
	tn_mem_free(csv->values);
	memset(csv, 0, sizeof(*csv));
}
