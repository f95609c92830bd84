/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A growing string, and the filter that makes a text one printable line of UTF-8.
 */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

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
	size_t capacity = needed < 64 ? 64 : needed + needed / 2;
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

/* The length of the UTF-8 sequence at s when it is a whole, printable character, else 0.
 * Source: RFC 3629, section 4. */
static size_t printable(const unsigned char *s)
{
	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	size_t length = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	if (s[0] < 0xc2 || !length)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	/* U+0080 to U+009F are control characters. */
	return s[0] == 0xc2 && s[1] < 0xa0 ? 0 : length;
}

void tn_text_make_printable(char *text)
{
	unsigned char *s = (unsigned char *)text;
	while (*s) {
		size_t length = printable(s);
		if (!length) {
			*s = *s == '\n' || *s == '\t' ? ' ' : '?';
			length = 1;
		}
		s += length;
	}
}
