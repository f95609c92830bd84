/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * UTF-8 (RFC 3629).
 */
#ifndef TN_BASE_UTF8_H
#define TN_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The length of the character at `text`, 1 to 4 bytes; 0: `size` bytes contain no valid character
 * there.  Overlong forms, surrogates and codes above U+10FFFF are invalid. */
size_t tn_utf8_length(const char *text, size_t size);

/* The number of bytes before the first that is not UTF-8: `size` if there is none. */
size_t tn_utf8_prefix(const char *text, size_t size);

/* Writes the character to `to`, and returns its length, 1 to 4 bytes.  `code` must be valid. */
size_t tn_utf8_encode(uint32_t code, char *to);

#endif
