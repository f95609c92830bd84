/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cuda_text_free(struct cuda_text *text)
{
	cuda_free(text->host, text->data);
	text->data = NULL;
	text->length = text->capacity = 0;
}

void cuda_text_clear(struct cuda_text *text)
{
	text->length = 0;
	text->failed = 0;
}

char *cuda_text_reserve(struct cuda_text *text, size_t length)
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
		cuda_free(text->host, text->data);
		text->data = data;
		text->capacity = capacity;
	}
	return text->data + text->length;
}

void cuda_text_append(struct cuda_text *text, const void *data, size_t length)
{
	char *to = cuda_text_reserve(text, length);
	if (!to)
		return;
	if (length)
		memcpy(to, data, length);
	to[length] = 0;
	text->length += length;
}

void cuda_text_add(struct cuda_text *text, const char *words)
{
	cuda_text_append(text, words, strlen(words));
}

void cuda_text_format(struct cuda_text *text, const char *format, ...)
{
	char line[512];
	va_list list;
	va_start(list, format);
	int length = vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	if (length < 0 || (size_t)length >= sizeof(line))
		text->failed = 1;
	else
		cuda_text_append(text, line, (size_t)length);
}
