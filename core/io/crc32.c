/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "io/crc32.h"

uint32_t tn_crc32(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint32_t table[256];
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	crc = ~crc;
	for (size_t i = 0; i < size; i++)
		crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
	return ~crc;
}
