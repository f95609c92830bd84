/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void opencl_text_free(struct opencl_text *text)
{
	opencl_free(text->host, text->data);
	text->data = NULL;
	text->length = text->capacity = 0;
}

void opencl_text_clear(struct opencl_text *text)
{
	text->length = 0;
	text->failed = 0;
}

char *opencl_text_reserve(struct opencl_text *text, size_t length)
{
	size_t needed = text->length + length + 1;
	if (text->failed)
		return NULL;
	if (needed > text->capacity) {
		size_t capacity = needed < 2048 ? 4096 : 2 * needed;
		char *data = text->host->alloc(text->host->context, capacity, 0);
		if (!data) {
			text->failed = 1;
			return NULL;
		}
		if (text->length)
			memcpy(data, text->data, text->length);
		opencl_free(text->host, text->data);
		text->data = data;
		text->capacity = capacity;
	}
	return text->data + text->length;
}

void opencl_text_append(struct opencl_text *text, const void *data, size_t length)
{
	char *to = opencl_text_reserve(text, length);
	if (!to)
		return;
	if (length)
		memcpy(to, data, length);
	to[length] = 0;
	text->length += length;
}

void opencl_text_add(struct opencl_text *text, const char *words)
{
	opencl_text_append(text, words, strlen(words));
}

void opencl_text_format(struct opencl_text *text, const char *format, ...)
{
	char line[512];
	va_list list;
	va_start(list, format);
	int length = vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	if (length < 0 || (size_t)length >= sizeof(line))
		text->failed = 1;
	else
		opencl_text_append(text, line, (size_t)length);
}
