/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values of 1, 2, 4 or 8 bytes as bit patterns of 64 bits, on hosts of either byte order, and
 * floating values as theirs.
 */
#ifndef TN_BASE_BITS_H
#define TN_BASE_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A value's bits at any address, in the low bytes; `size` is 1, 2, 4 or 8. */
static inline uint64_t bits_load(const void *at, size_t size)
{
	uint8_t b1;
	uint16_t b2;
	uint32_t b4;
	uint64_t b8;
	switch (size) {
	case 1:
		memcpy(&b1, at, 1);
		return b1;
	case 2:
		memcpy(&b2, at, 2);
		return b2;
	case 4:
		memcpy(&b4, at, 4);
		return b4;
	default:
		memcpy(&b8, at, 8);
		return b8;
	}
}

static inline void bits_store(void *at, size_t size, uint64_t bits)
{
	uint8_t b1 = (uint8_t)bits;
	uint16_t b2 = (uint16_t)bits;
	uint32_t b4 = (uint32_t)bits;
	switch (size) {
	case 1:
		memcpy(at, &b1, 1);
		return;
	case 2:
		memcpy(at, &b2, 2);
		return;
	case 4:
		memcpy(at, &b4, 4);
		return;
	default:
		memcpy(at, &bits, 8);
	}
}

/* Between bit patterns and C's types. */
static inline float tn_f32_of_bits(uint64_t bits)
{
	uint32_t word = (uint32_t)bits;
	float value;
	memcpy(&value, &word, sizeof(value));
	return value;
}

static inline uint64_t tn_bits_of_f32(float value)
{
	uint32_t word;
	memcpy(&word, &value, sizeof(word));
	return word;
}

static inline double tn_f64_of_bits(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint64_t tn_bits_of_f64(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#endif
