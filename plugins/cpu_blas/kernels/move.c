/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Moving elements by their size: fill, strided rows, and bands of a transposed copy.
 */
#include <string.h>

#include "variant.h"

/* Elements of 16 bytes. */
struct wide {
	uint64_t part[2];
};

#define T uint8_t
#define NAME(function) function##_8
#include "move_type.h"
#define T uint16_t
#define NAME(function) function##_16
#include "move_type.h"
#define T uint32_t
#define NAME(function) function##_32
#include "move_type.h"
#define T uint64_t
#define NAME(function) function##_64
#include "move_type.h"
#define T struct wide
#define NAME(function) function##_128
#include "move_type.h"

/* memset writes large blocks without reading their lines first. */
static int is_zero(const unsigned char *value, size_t size)
{
	unsigned any = 0;
	for (size_t i = 0; i < size; i++)
		any |= value[i];
	return !any;
}

void VARIANT(cpu_fill)(void *out, const void *value, size_t size, size_t n)
{
	if (is_zero(value, size)) {
		memset(out, 0, size * n);
		return;
	}
	switch (size) {
	case 1:
		memset(out, *(const uint8_t *)value, n);
		return;
	case 2:
		fill_16(out, value, n);
		return;
	case 4:
		fill_32(out, value, n);
		return;
	case 8:
		fill_64(out, value, n);
		return;
	default:
		fill_128(out, value, n);
	}
}

void VARIANT(cpu_copy_strided)(char *out, int64_t to, const char *in, int64_t from, size_t size,
			       size_t n)
{
	switch (size) {
	case 1:
		strided_8(out, to, in, from, n);
		return;
	case 2:
		strided_16(out, to, in, from, n);
		return;
	case 4:
		strided_32(out, to, in, from, n);
		return;
	case 8:
		strided_64(out, to, in, from, n);
		return;
	default:
		strided_128(out, to, in, from, n);
	}
}

/* A block of 32 bytes, which compilers move in one or two instructions. */
struct block {
	unsigned char bytes[32];
};

static inline void copy_block(char *out, const char *in)
{
	struct block block;
	memcpy(&block, in, sizeof(block));
	memcpy(out, &block, sizeof(block));
}

/* Rows of 32 to 512 bytes, inline: the last block overlaps the one before it. */
static inline void copy_short_row(char *out, const char *in, size_t bytes)
{
	size_t i = 0;
	for (; i + sizeof(struct block) <= bytes; i += sizeof(struct block))
		copy_block(out + i, in + i);
	if (i < bytes)
		copy_block(out + bytes - sizeof(struct block), in + bytes - sizeof(struct block));
}

/* Rows of fewer than 32 bytes, by words that overlap. */
static inline void copy_tiny_row(char *out, const char *in, size_t bytes)
{
	uint64_t first, last;
	uint32_t small;
	if (bytes >= 8) {
		for (size_t i = 8; i < bytes; i += 8) {
			memcpy(&first, in + i - 8, 8);
			memcpy(out + i - 8, &first, 8);
		}
		memcpy(&last, in + bytes - 8, 8);
		memcpy(out + bytes - 8, &last, 8);
	} else if (bytes == 4) {
		memcpy(&small, in, 4);
		memcpy(out, &small, 4);
	} else {
		for (size_t i = 0; i < bytes; i++)
			out[i] = in[i];
	}
}

void VARIANT(cpu_copy_rows)(char *out, int64_t out_down, const char *in, int64_t in_down,
			    size_t bytes, size_t n)
{
	if (out == in) /* the exact view of the input */
		return;
	for (; n > 0; n--, out += out_down, in += in_down) {
		if (bytes > 512)
			memcpy(out, in, bytes);
		else if (bytes >= sizeof(struct block))
			copy_short_row(out, in, bytes);
		else
			copy_tiny_row(out, in, bytes);
	}
}

void VARIANT(cpu_copy_band)(char *out, int64_t out_down, int64_t out_across, const char *in,
			    int64_t in_down, int64_t in_across, size_t size, size_t rows,
			    size_t columns)
{
	if (size == 4 && out_across == 1 && in_down == 1) {
		VARIANT(cpu_turn_band)
		(out, out_down, in, in_across, (int64_t)rows, (int64_t)columns);
		return;
	}
	switch (size) {
	case 1:
		band_8(out, out_down, out_across, in, in_down, in_across, rows, columns);
		return;
	case 2:
		band_16(out, out_down, out_across, in, in_down, in_across, rows, columns);
		return;
	case 4:
		band_32(out, out_down, out_across, in, in_down, in_across, rows, columns);
		return;
	case 8:
		band_64(out, out_down, out_across, in, in_down, in_across, rows, columns);
		return;
	default:
		band_128(out, out_down, out_across, in, in_down, in_across, rows, columns);
	}
}
