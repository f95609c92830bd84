/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A text that grows: the source of a kernel, or the bytes that tell kernels apart.  After an allocation
 * fails it takes nothing more, and says so at the end.
 */
#ifndef CUDA_TEXT_H
#define CUDA_TEXT_H

#include "plugin.h"

struct cuda_text {
	const struct tn_host *host;
	char *data; /* NUL-terminated; NULL while it is empty */
	size_t length, capacity;
	int failed;
};

void cuda_text_free(struct cuda_text *text);
void cuda_text_clear(struct cuda_text *text);
void cuda_text_append(struct cuda_text *text, const void *data, size_t length);
void cuda_text_add(struct cuda_text *text, const char *words);
void cuda_text_format(struct cuda_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Room for so many bytes and a NUL behind the text; the caller writes them and says how many there are.
 * NULL: none. */
char *cuda_text_reserve(struct cuda_text *text, size_t length);

#endif
