/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * CRC-32, eight bytes at a time by tables.
 */
#include "io/crc32.h"

#include "io/bytes.h"

/* Bytes looked up at a time ("slicing by eight", Kounavis and Berry 2005). */
#define SLICES 8

/* tables[k][b]: the checksum's change by byte b and k zeros after it. */
static void make_tables(uint32_t tables[SLICES][256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t word = i;
		for (int bit = 0; bit < 8; bit++)
			word = word >> 1 ^ (word & 1 ? 0xedb88320u : 0);
		tables[0][i] = word;
	}
	for (int k = 1; k < SLICES; k++) {
		for (uint32_t i = 0; i < 256; i++)
			tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 255];
	}
}

uint32_t tn_crc32(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint32_t tables[SLICES][256];
	make_tables(tables);
	crc = ~crc;
	for (; size >= SLICES; size -= SLICES, bytes += SLICES) {
		uint32_t low = crc ^ tn_load_u32_le(bytes), high = tn_load_u32_le(bytes + 4);
		crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^
		      tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^ tables[3][high & 255] ^
		      tables[2][high >> 8 & 255] ^ tables[1][high >> 16 & 255] ^
		      tables[0][high >> 24];
	}
	for (size_t i = 0; i < size; i++)
		crc = crc >> 8 ^ tables[0][(crc ^ bytes[i]) & 255];
	return ~crc;
}
