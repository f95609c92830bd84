/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A text of JSON and a stack of open brackets.  Guarantees: what is taken has balanced brackets, is
 * UTF-8 (but for raw values), and reads the same in any locale.
 */
#include "base/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float_modes.h"
#include "base/utf8.h"

/* ---- Strings and numbers ---------------------------------------------------------------------*/

static void add_escape(struct tn_json_writer *writer, char byte)
{
	static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *place = writer->long_escapes ? NULL : strchr(special, byte);
	if (place)
		tn_text_format(&writer->text, "\\%c", letters[place - special]);
	else
		tn_text_format(&writer->text, writer->long_escapes ? "\\u%04x" : "\\u%04X",
			       (unsigned)byte);
}

static void add_quoted(struct tn_json_writer *writer, const char *string)
{
	size_t left = strlen(string);
	tn_text_add(&writer->text, "\"");
	while (left) {
		size_t length = tn_utf8_length(string, left);
		if (!length)
			tn_text_add(&writer->text, "?");
		else if (*string == '"' || *string == '\\' || (unsigned char)*string < ' ')
			add_escape(writer, *string);
		else
			tn_text_append(&writer->text, string, length);
		string += length ? length : 1;
		left -= length ? length : 1;
	}
	tn_text_add(&writer->text, "\"");
}

/* Puts one point in place of what the locale writes, which may be several bytes. */
static void replace_point(char *text)
{
	char *point = text + strspn(text, "0123456789+-e");
	size_t length = strcspn(point, "0123456789+-e");
	if (!length)
		return;
	*point = '.';
	memmove(point + 1, point + length, strlen(point + length) + 1);
}

void tn_json_number_text(char text[TN_JSON_NUMBER_SIZE], double value, int digits)
{
	int least = digits ? digits : 15, most = digits ? digits : 17;
	struct tn_float_modes modes;
	tn_float_modes_standard(&modes);
	for (int i = least; i <= most; i++) {
		snprintf(text, TN_JSON_NUMBER_SIZE, "%.*g", i, value);
		if (strtod(text, NULL) == value)
			break;
	}
	tn_float_modes_restore(&modes);
	replace_point(text);
}

/* ---- Brackets --------------------------------------------------------------------------------*/

static void new_line(struct tn_json_writer *writer)
{
	tn_text_format(&writer->text, "\n%*s", 2 * (int)writer->depth, "");
}

/* What stands between the items of a level, and before the first. */
static void separate(struct tn_json_writer *writer, struct tn_json_level *level)
{
	if (level->has_items)
		tn_text_add(&writer->text, ",");
	if (writer->style == TN_JSON_INDENTED)
		new_line(writer);
	else if (level->is_lines)
		tn_text_add(&writer->text, "\n");
	else if (level->has_items && writer->style == TN_JSON_SPACED)
		tn_text_add(&writer->text, " ");
	level->has_items = 1;
}

/* Everything before a value. */
static void begin_value(struct tn_json_writer *writer, const char *key)
{
	struct tn_json_level *level = writer->depth ? &writer->levels[writer->depth - 1] : NULL;
	if ((level && level->close == '}') != (key != NULL))
		writer->text.failed = 1;
	if (level)
		separate(writer, level);
	if (!key)
		return;
	add_quoted(writer, key);
	tn_text_add(&writer->text, writer->style == TN_JSON_PACKED ? ":" : ": ");
}

static void begin_level(struct tn_json_writer *writer, const char *key, const char *brackets,
			int is_lines)
{
	begin_value(writer, key);
	if (writer->depth == TN_JSON_MOST_LEVELS) {
		writer->text.failed = 1;
		return;
	}
	tn_text_append(&writer->text, brackets, 1);
	writer->levels[writer->depth++] =
		(struct tn_json_level){.close = brackets[1], .is_lines = (char)is_lines};
}

void tn_json_begin_object(struct tn_json_writer *writer, const char *key)
{
	begin_level(writer, key, "{}", 0);
}

void tn_json_begin_array(struct tn_json_writer *writer, const char *key)
{
	begin_level(writer, key, "[]", 0);
}

void tn_json_begin_lines(struct tn_json_writer *writer, const char *key)
{
	begin_level(writer, key, "[]", 1);
}

void tn_json_end(struct tn_json_writer *writer)
{
	if (!writer->depth || writer->text.failed) {
		writer->text.failed = 1;
		return;
	}
	const struct tn_json_level *level = &writer->levels[--writer->depth];
	if (writer->style == TN_JSON_INDENTED && level->has_items)
		new_line(writer);
	else if (level->is_lines && writer->style != TN_JSON_INDENTED)
		tn_text_add(&writer->text, level->has_items ? "\n" : "\n\n");
	tn_text_append(&writer->text, &level->close, 1);
}

/* ---- Values ----------------------------------------------------------------------------------*/

void tn_json_add_raw(struct tn_json_writer *writer, const char *key, const char *json)
{
	begin_value(writer, key);
	tn_text_add(&writer->text, json);
}

void tn_json_add_string(struct tn_json_writer *writer, const char *key, const char *string)
{
	begin_value(writer, key);
	if (string)
		add_quoted(writer, string);
	else
		tn_text_add(&writer->text, "null");
}

void tn_json_add_integer(struct tn_json_writer *writer, const char *key, int64_t value)
{
	begin_value(writer, key);
	tn_text_format(&writer->text, "%" PRId64, value);
}

void tn_json_add_unsigned(struct tn_json_writer *writer, const char *key, uint64_t value)
{
	begin_value(writer, key);
	tn_text_format(&writer->text, "%" PRIu64, value);
}

void tn_json_add_number(struct tn_json_writer *writer, const char *key, double value, int digits)
{
	char text[TN_JSON_NUMBER_SIZE] = "null";
	if (isfinite(value))
		tn_json_number_text(text, value, digits);
	tn_json_add_raw(writer, key, text);
}

void tn_json_add_bool(struct tn_json_writer *writer, const char *key, int value)
{
	tn_json_add_raw(writer, key, value ? "true" : "false");
}

/* ---- The writer ------------------------------------------------------------------------------*/

void tn_json_writer_init(struct tn_json_writer *writer, enum tn_json_style style)
{
	*writer = (struct tn_json_writer){.style = style};
	tn_text_init(&writer->text);
}

char *tn_json_writer_take(struct tn_json_writer *writer)
{
	writer->text.failed |= writer->depth > 0;
	return tn_text_take(&writer->text);
}
