/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers in files: unaligned loads, and byte order reversal of arrays.
 */
#ifndef TN_IO_BYTES_H
#define TN_IO_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/types.h>

static inline uint32_t tn_load_u32_be(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint32_t tn_load_u16_le(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t tn_load_u32_le(const unsigned char *p)
{
	return tn_load_u16_le(p) | tn_load_u16_le(p + 2) << 16;
}

static inline uint64_t tn_load_u64_le(const unsigned char *p)
{
	uint64_t value = 0;
	for (int i = 7; i >= 0; i--)
		value = value << 8 | p[i];
	return value;
}

static inline void tn_store_u64_le(unsigned char *p, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

static inline int tn_host_is_little_endian(void)
{
	const union {
		uint16_t word;
		unsigned char byte[2];
	} probe = {.word = 1};
	return probe.byte[0];
}

/* The size of the unit whose bytes are reversed: of one part for complex numbers. */
size_t tn_dtype_word_size(tn_dtype dtype);

/* Reverses the bytes of each of `count` words of `size` bytes. */
void tn_reverse_words(void *data, size_t count, size_t size);

/* *bytes := product of shape times element_size; 0 when a length is negative or it overflows. */
int tn_shape_bytes(const int64_t *shape, uint32_t rank, uint64_t element_size, uint64_t *bytes);

/* Writes "(2, 3)" and a NUL, cut off at `size`; returns text. */
const char *tn_shape_text(const int64_t *shape, uint32_t rank, char *text, size_t size);

/* TN_FORMAT: one of n bools is neither 0 nor 1. */
tn_status tn_bools_check(const char *operation, const char *label, const unsigned char *data,
			 uint64_t n, struct tn_error_info *error);

#endif
