/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A growing string, and the filter that makes a text one printable line of UTF-8.
 */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"

void tn_text_init(struct tn_text *text)
{
	memset(text, 0, sizeof(*text));
}

/* Makes room for `more` bytes and the NUL. */
static int reserve(struct tn_text *text, size_t more)
{
	size_t needed = text->length + more + 1;
	if (text->failed || needed < more)
		return 0;
	if (needed <= text->capacity)
		return 1;
	if (text->most && needed > text->most) {
		text->failed = 1;
		return 0;
	}
	size_t capacity = needed < 64 ? 64 : needed + needed / 2;
	if (text->most && capacity > text->most)
		capacity = text->most;
	char *data = tn_mem_realloc(text->data, capacity, 1);
	if (!data) {
		text->failed = 1;
		return 0;
	}
	text->data = data;
	text->capacity = capacity;
	return 1;
}

void tn_text_append(struct tn_text *text, const char *data, size_t length)
{
	if (!reserve(text, length))
		return;
	memcpy(text->data + text->length, data, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void tn_text_add(struct tn_text *text, const char *string)
{
	tn_text_append(text, string, strlen(string));
}

void tn_text_format(struct tn_text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0) {
		text->failed = 1;
		return;
	}
	if (!reserve(text, (size_t)length))
		return;
	va_start(arguments, format);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
	va_end(arguments);
	text->length += (size_t)length;
}

char *tn_text_take(struct tn_text *text)
{
	if (!text->data)
		tn_text_append(text, "", 0);
	if (text->failed) {
		tn_text_release(text);
		return NULL;
	}
	char *data = text->data;
	tn_text_init(text);
	return data;
}

void tn_text_release(struct tn_text *text)
{
	tn_mem_free(text->data);
	tn_text_init(text);
}

/* The length of the character at s if it is printable, else 0. */
static size_t printable(const char *s)
{
	const unsigned char first = (unsigned char)s[0], second = (unsigned char)s[1];
	size_t length = tn_utf8_length(s, strnlen(s, 4));
	/* U+0080 to U+009F are control characters. */
	int is_control = first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0);
	return is_control ? 0 : length;
}

void tn_text_make_printable(char *text)
{
	for (char *s = text; *s;) {
		size_t length = printable(s);
		if (!length) {
			*s = *s == '\n' || *s == '\t' ? ' ' : '?';
			length = 1;
		}
		s += length;
	}
}
