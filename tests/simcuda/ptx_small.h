/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One number of 16 or 8 bits at a time.  Shared by the lane functions and the matrix instructions.
 */
#ifndef SIMCUDA_PTX_SMALL_H
#define SIMCUDA_PTX_SMALL_H

#include <stdint.h>
#include <string.h>

enum ptx_direction { PTX_NEAREST, PTX_ZERO, PTX_DOWN, PTX_UP, PTX_AWAY };

static inline float ptx_from_bits(uint32_t bits)
{
	float x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* 1 if `rest`, the bits truncated below `half` * 2, rounds a magnitude up; `last` is the last bit
 * kept. */
static inline uint32_t ptx_round_up(uint32_t rest, uint32_t half, uint32_t last, uint32_t negative,
				    enum ptx_direction direction)
{
	switch (direction) {
	case PTX_NEAREST:
		return rest > half || (rest == half && last);
	case PTX_AWAY:
		return rest >= half;
	case PTX_DOWN:
		return negative && rest;
	case PTX_UP:
		return !negative && rest;
	default:
		return 0;
	}
}

/* The result for a magnitude above all finite ones. */
static inline uint32_t ptx_overflow(uint32_t infinity, uint32_t negative,
				    enum ptx_direction direction)
{
	int away = direction == PTX_NEAREST || direction == PTX_AWAY ||
		   (direction == PTX_UP && !negative) || (direction == PTX_DOWN && negative);
	return away ? infinity : infinity - 1;
}

/* The bits of an f32 to those of a smaller format with `mantissa` bits, the exponent's bias `bias`,
 * and infinity at `infinity`; no NaN. */
static inline uint32_t ptx_shrink(uint32_t bits, int mantissa, int bias, uint32_t infinity,
				  enum ptx_direction direction)
{
	uint32_t negative = bits >> 31, size = bits & 0x7fffffff;
	if (size == 0x7f800000)
		return infinity;
	int exponent = (int)(size >> 23) - 127 + bias;
	uint32_t whole = (size & 0x7fffff) | (size >> 23 ? 0x800000u : 0);
	int drop = 23 - mantissa + (exponent < 1 ? 1 - exponent : 0);
	if (drop > 30)
		drop = 30;
	uint32_t rest = whole & ((1u << drop) - 1);
	uint32_t kept = whole >> drop;
	if (exponent > 1)
		kept += (uint32_t)(exponent - 1) << mantissa;
	kept += ptx_round_up(rest, 1u << (drop - 1), kept & 1, negative, direction);
	return kept >= infinity ? ptx_overflow(infinity, negative, direction) : kept;
}

static inline uint16_t ptx_half(uint32_t bits, enum ptx_direction direction)
{
	if ((bits & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	return (uint16_t)(ptx_shrink(bits, 10, 15, 0x7c00, direction) | (bits >> 16 & 0x8000));
}

static inline uint16_t ptx_bhalf(uint32_t bits, enum ptx_direction direction)
{
	if ((bits & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	uint32_t kept = bits >> 16 & 0x7fff;
	kept += ptx_round_up(bits & 0xffff, 0x8000, kept & 1, bits >> 31, direction);
	if (kept >= 0x7f80 && (bits & 0x7fffffff) != 0x7f800000)
		kept = ptx_overflow(0x7f80, bits >> 31, direction);
	return (uint16_t)(kept | (bits >> 16 & 0x8000));
}

static inline uint32_t ptx_tf32(uint32_t bits, enum ptx_direction direction)
{
	if ((bits & 0x7fffffff) >= 0x7f800000)
		return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
	uint32_t up = ptx_round_up(bits & 0x1fff, 0x1000, bits >> 13 & 1, bits >> 31, direction);
	return ((bits >> 13) + up) << 13;
}

static inline uint32_t ptx_widen_half(uint16_t x)
{
	uint32_t sign = (uint32_t)(x & 0x8000) << 16, size = x & 0x7fff;
	uint32_t bits;
	if (size >= 0x7c00)
		return sign | 0x7f800000 | (size & 0x3ff) << 13;
	if (size >= 0x400)
		return sign | (size + 0x1c000) << 13;
	float f = (float)size * 0x1p-24f;
	memcpy(&bits, &f, sizeof bits);
	return sign | bits;
}

/* e4m3 has no infinity: larger values become 448, as .satfinite requires. */
static inline uint8_t ptx_e4m3(uint32_t bits)
{
	uint32_t sign = bits >> 24 & 0x80;
	if ((bits & 0x7fffffff) > 0x7f800000)
		return 0x7f;
	uint32_t kept = ptx_shrink(bits, 3, 7, 0x80, PTX_NEAREST);
	return (uint8_t)((kept > 0x7e ? 0x7e : kept) | sign);
}

static inline uint8_t ptx_e5m2(uint32_t bits)
{
	uint32_t sign = bits >> 24 & 0x80;
	if ((bits & 0x7fffffff) > 0x7f800000)
		return 0x7f;
	uint32_t kept = ptx_shrink(bits, 2, 15, 0x7c, PTX_NEAREST);
	return (uint8_t)((kept > 0x7b ? 0x7b : kept) | sign);
}

static inline float ptx_widen_e4m3(uint8_t x)
{
	uint32_t sign = (uint32_t)(x & 0x80) << 24, size = x & 0x7f;
	if (size == 0x7f)
		return ptx_from_bits(0x7fffffff);
	if (size < 8)
		return (sign ? -1.0f : 1.0f) * (float)size * 0x1p-9f;
	return ptx_from_bits(sign | (size + (120u << 3)) << 20);
}

#endif
