/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * UTF-8 (RFC 3629), a character at a time.
 */
#ifndef TN_IO_UTF8_H
#define TN_IO_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the character at `text`, 1 to 4; 0: the first of `size` bytes begin none.  Overlong
 * forms, surrogates and what lies above U+10FFFF are none. */
size_t tn_utf8_length(const char *text, size_t size);

/* Writes the character to `to`, and returns its bytes, 1 to 4.  `code` is one that is legal. */
size_t tn_utf8_encode(uint32_t code, char *to);

#endif
