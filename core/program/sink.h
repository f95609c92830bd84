/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Text output, piece by piece: to a function, or into a caller's buffer that may be too small.
 * Text that does not fit is counted but not stored, so the caller learns the total length.
 * Allocates nothing.
 */
#ifndef TN_PROGRAM_SINK_H
#define TN_PROGRAM_SINK_H

#include <stddef.h>
#include <tenon/types.h>

struct tn_sink {
	void (*write)(void *user, const char *text, size_t length); /* NULL: writes to buffer */
	void *user;
	char *buffer;
	size_t size;
	size_t length;
};

/* buffer may be NULL when size is 0. */
void tn_sink_init(struct tn_sink *sink, char *buffer, size_t size);
void tn_sink_add(struct tn_sink *sink, const char *text);
void tn_sink_append(struct tn_sink *sink, const char *text, size_t length);
/* At most 255 bytes per call. */
void tn_sink_format(struct tn_sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A value of a compute dtype in the fewest digits that reproduce it, with '.' in every locale: 1.5,
 * -0.0, 1e-45, inf, nan, true, -7. */
void tn_sink_number(struct tn_sink *sink, tn_dtype dtype, uint64_t bits);

#endif
