/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * JSON (RFC 8259) written value by value into a growing text:
 *
 *	struct tn_json_writer json;
 *	tn_json_writer_init(&json, TN_JSON_SPACED);
 *	tn_json_begin_object(&json, NULL);
 *	tn_json_add_integer(&json, "epoch", 3);
 *	tn_json_end(&json);
 *	char *text = tn_json_writer_take(&json);     {"epoch": 3}
 *
 * Every value takes the key it has in the object around it, NULL in an array and at the top.  After
 * a failure (no memory, brackets nested too deeply, a key where none belongs) later calls do
 * nothing, so that the caller checks once, at the end.
 */
#ifndef TN_BASE_JSON_WRITER_H
#define TN_BASE_JSON_WRITER_H

#include <stdint.h>

#include "base/text.h"

enum tn_json_style {
	TN_JSON_PACKED,   /* {"a":[1,2]} */
	TN_JSON_SPACED,   /* {"a": [1, 2]} */
	TN_JSON_INDENTED, /* a line for each value, two blanks for each level */
};

/* The deepest nesting of brackets. */
#define TN_JSON_MOST_LEVELS 16

/* An object or array that was begun. */
struct tn_json_level {
	char close; /* its closing bracket */
	char has_items;
	char is_lines; /* as tn_json_begin_lines has it */
};

struct tn_json_writer {
	struct tn_text
		text; /* `most` may be set; between values at the top, append what you like */
	enum tn_json_style style;
	int long_escapes; /* set it for \u0022 and \u000a instead of \" and \n */
	uint32_t depth;
	struct tn_json_level levels[TN_JSON_MOST_LEVELS];
};

void tn_json_writer_init(struct tn_json_writer *writer, enum tn_json_style style);
void tn_json_begin_object(struct tn_json_writer *writer, const char *key);
void tn_json_begin_array(struct tn_json_writer *writer, const char *key);
/* An array whose items stand on a line each, written with the style. */
void tn_json_begin_lines(struct tn_json_writer *writer, const char *key);
/* Ends the innermost object or array. */
void tn_json_end(struct tn_json_writer *writer);

/* NULL is null.  Bytes that are not UTF-8 become question marks. */
void tn_json_add_string(struct tn_json_writer *writer, const char *key, const char *string);
void tn_json_add_integer(struct tn_json_writer *writer, const char *key, int64_t value);
void tn_json_add_unsigned(struct tn_json_writer *writer, const char *key, uint64_t value);
/* As tn_json_number_text has it; null if it is not finite. */
void tn_json_add_number(struct tn_json_writer *writer, const char *key, double value, int digits);
void tn_json_add_bool(struct tn_json_writer *writer, const char *key, int value);
/* A value that is JSON already. */
void tn_json_add_raw(struct tn_json_writer *writer, const char *key, const char *json);

/* The text, owned by the caller (tn_mem_free); NULL after a failure or inside brackets.  Empties
 * the writer's text. */
char *tn_json_writer_take(struct tn_json_writer *writer);

/* A finite number with that many significant digits; 0: the fewest of 15 to 17 that give the same
 * double.  The decimal point is one in any locale. */
enum { TN_JSON_NUMBER_SIZE = 40 };
void tn_json_number_text(char text[TN_JSON_NUMBER_SIZE], double value, int digits);

#endif
