/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values of 1, 2, 4 or 8 bytes as bit patterns of 64 bits, on hosts of either byte order, floating
 * values as theirs, and the two 16-bit formats, in forms without branches, so that loops vectorise.
 * <tenon/plugin.h> has the same for plugins.
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

/* The formats of 16 bits: exact to f32, to nearest with ties to even from it.
 *
 * f16 has a sign, 5 bits of exponent, whose bias goes from 15 to 127, and 10 of fraction; a
 * subnormal is its fraction times 2^-24. */
static inline float tn_f32_of_f16(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t magnitude = half & 0x7fff;
	uint32_t normal = (magnitude << 13) + (magnitude >= 0x7c00 ? 224u << 23 : 112u << 23);
	uint32_t subnormal = (uint32_t)tn_bits_of_f32((float)(int32_t)magnitude * 0x1p-24f);
	return tn_f32_of_bits(sign | (magnitude < 0x400 ? subnormal : normal));
}

/* Adding 1/2 to a number below 2^-14 rounds it to a multiple of 2^-24, half to even; 65520 and
 * above become infinite; a NaN is quiet, with the upper bits of its payload. */
static inline uint16_t tn_f16_of_f32(float x)
{
	uint32_t bits = (uint32_t)tn_bits_of_f32(x);
	uint32_t sign = bits >> 16 & 0x8000;
	uint32_t magnitude = bits & 0x7fffffff;
	uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
	uint32_t subnormal = (uint32_t)tn_bits_of_f32(tn_f32_of_bits(magnitude) + 0.5f) -
			     (uint32_t)tn_bits_of_f32(0.5f);
	uint32_t half = magnitude < 0x38800000 ? subnormal : normal;
	half = magnitude >= 0x477ff000 ? 0x7c00 : half;
	half = magnitude > 0x7f800000 ? (0x7e00 | (magnitude >> 13 & 0x1ff)) : half;
	return (uint16_t)(sign | half);
}

static inline float tn_f32_of_bf16(uint16_t brain)
{
	return tn_f32_of_bits((uint32_t)brain << 16);
}

static inline uint16_t tn_bf16_of_f32(float x)
{
	uint32_t bits = (uint32_t)tn_bits_of_f32(x);
	uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16 | 0x40) : rounded);
}

#endif
