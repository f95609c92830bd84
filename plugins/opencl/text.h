/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A text that grows: the source of a kernel, or the bytes that tell kernels apart.  After an allocation
 * fails it takes nothing more, and says so at the end.
 */
#ifndef OPENCL_TEXT_H
#define OPENCL_TEXT_H

#include "plugin.h"

struct opencl_text {
	const struct tn_host *host;
	char *data; /* NUL-terminated; NULL while it is empty */
	size_t length, capacity;
	int failed;
};

void opencl_text_free(struct opencl_text *text);
void opencl_text_clear(struct opencl_text *text);
void opencl_text_append(struct opencl_text *text, const void *data, size_t length);
void opencl_text_add(struct opencl_text *text, const char *words);
void opencl_text_format(struct opencl_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Room for so many bytes and a NUL behind the text; the caller writes them and says how many there are.
 * NULL: none. */
char *opencl_text_reserve(struct opencl_text *text, size_t length);

#endif
