/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A growing string.  After a failed allocation, or one beyond its bound, later appends do nothing,
 * so that the caller checks once, at the end.
 */
#ifndef TN_BASE_TEXT_H
#define TN_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

struct tn_text {
	char *data; /* NUL-terminated once something was appended; may be NULL before */
	size_t length;
	size_t capacity;
	size_t most; /* bytes with the NUL; 0: as many as memory has */
	int failed;
};

void tn_text_init(struct tn_text *text);
void tn_text_append(struct tn_text *text, const char *data, size_t length);
void tn_text_add(struct tn_text *text, const char *string);
void tn_text_format(struct tn_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The string, owned by the caller (tn_mem_free), or NULL after a failure; empties `text`. */
char *tn_text_take(struct tn_text *text);
void tn_text_release(struct tn_text *text);

/* Turns a text from an untrusted source into one printable line of the same length: bytes that are
 * not printable UTF-8 become '?', newlines and tabs become blanks. */
void tn_text_make_printable(char *text);

#endif
