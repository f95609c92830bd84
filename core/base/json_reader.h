/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * JSON (RFC 8259) read value by value, without a tree: the caller states what it expects next.  The
 * reader allocates nothing; strings are decoded in place, in the text itself, which therefore must
 * be writable and outlive them.
 */
#ifndef TN_BASE_JSON_READER_H
#define TN_BASE_JSON_READER_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/backend.h>

/* The deepest nesting of brackets that tn_json_skip accepts. */
#define TN_JSON_MAX_DEPTH 4

struct tn_json_reader {
	char *text;
	size_t size;
	size_t at;             /* the next byte */
	const char *operation; /* for errors, which also name ... */
	const char *where;     /* ... the file and ... */
	uint64_t base;         /* ... the offset of text[0] in it */
};

/* TN_FORMAT: `expected` was expected at the reader's position. */
tn_status tn_json_refuse(const struct tn_json_reader *reader, const char *expected,
			 struct tn_error_info *error);

/* Skips white space and returns the byte after it without consuming it; 0 at the end. */
char tn_json_peek(struct tn_json_reader *reader);

/* Consumes that byte after white space; `expected` names it in the error. */
tn_status tn_json_take(struct tn_json_reader *reader, char byte, const char *expected,
		       struct tn_error_info *error);

/* In an object or array, after the opening bracket and `n` items: consumes the comma before the
 * next item (*more = 1) or the closing bracket `close` (*more = 0). */
tn_status tn_json_more(struct tn_json_reader *reader, char close, size_t n, int *more,
		       struct tn_error_info *error);

/* A string: UTF-8, with a NUL only at its end. */
tn_status tn_json_string(struct tn_json_reader *reader, char **string, struct tn_error_info *error);
/* A string and the colon after it. */
tn_status tn_json_key(struct tn_json_reader *reader, char **key, struct tn_error_info *error);

/* An integer, without a fraction or an exponent. */
tn_status tn_json_integer(struct tn_json_reader *reader, int64_t *value,
			  struct tn_error_info *error);

/* Any number, to at least 13 digits, whatever the locale.  Infinite where a double overflows. */
tn_status tn_json_number(struct tn_json_reader *reader, double *value, struct tn_error_info *error);

/* Any value. */
tn_status tn_json_skip(struct tn_json_reader *reader, struct tn_error_info *error);

/* Nothing but spaces (0x20) may follow. */
tn_status tn_json_finish(const struct tn_json_reader *reader, struct tn_error_info *error);

#endif
