/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The rows of a CSV file (RFC 4180, see tn_csv_read), as texts.
 */
#ifndef TN_IO_CSV_ROWS_H
#define TN_IO_CSV_ROWS_H

#include <stddef.h>
#include <tenon/io.h>

#include "io/stream.h"

#define TN_CSV_OPERATION "CSV"

struct tn_csv_field {
	size_t begin;  /* of its text, in tn_csv_rows.text; a NUL follows the text */
	size_t length; /* without quotes, and without blanks round an unquoted field */
	size_t line;   /* where the field begins, from 1 */
	size_t column; /* its byte in that line, from 1 */
	int quoted;
};

/* A file, and its current row. */
struct tn_csv_rows {
	const char *path;
	struct tn_byte_stream *stream;
	int separator;
	int quote;
	int comment; /* below -1: none */
	struct tn_csv_field *fields;
	size_t n_fields;
	size_t field_capacity;
	char *text;
	size_t text_length;
	size_t text_capacity;
	size_t line; /* of `byte` */
	size_t column;
	int byte; /* the last that was read; -1: the end */
	size_t chunk_at;
	size_t chunk_size;
	int ended;
	unsigned char chunk[16384];
};

/* `path` is borrowed until tn_csv_rows_close, which is called after a failure too. */
tn_status tn_csv_rows_open(struct tn_csv_rows *rows, const char *path,
			   const struct tn_csv_options *options, struct tn_error_info *error);
void tn_csv_rows_close(struct tn_csv_rows *rows);

/* TN_OUT_OF_MEMORY, at the current line. */
tn_status tn_csv_rows_no_memory(const struct tn_csv_rows *rows, struct tn_error_info *error);
/* Reads the next row; *found is 0 at the end.  Empty lines and comments are skipped. */
tn_status tn_csv_rows_next(struct tn_csv_rows *rows, int *found, struct tn_error_info *error);

#endif
