/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks and encodes characters of UTF-8 by the table of RFC 3629.  A character's length
 * follows from its first byte; its code tells whether it is overlong.
 */
#include "base/utf8.h"

/* The smallest code that needs that many bytes; smaller ones in that length are overlong. */
static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};

static size_t length_of_first(unsigned char byte)
{
	if (byte < 0x80)
		return 1;
	if (byte < 0xc0 || byte >= 0xf8)
		return 0;
	return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

size_t tn_utf8_length(const char *text, size_t size)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t length = size ? length_of_first(byte[0]) : 0;
	if (length < 2 || length > size)
		return length > size ? 0 : length;
	uint32_t code = byte[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte[i] & 0x3fu);
	}
	int legal = code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
	return legal ? length : 0;
}

size_t tn_utf8_prefix(const char *text, size_t size)
{
	size_t at = 0;
	for (size_t n = 1; n && at < size; at += n)
		n = tn_utf8_length(text + at, size - at);
	return at;
}

size_t tn_utf8_encode(uint32_t code, char *to)
{
	size_t length = 1;
	while (length < 4 && code >= least[length + 1])
		length++;
	if (length == 1) {
		to[0] = (char)code;
		return 1;
	}
	for (size_t i = length; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)((0xf00 >> length & 0xff) | code);
	return length;
}
