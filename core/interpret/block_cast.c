/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The conversions between storage dtypes.  The two 16-bit formats have branch-free forms of
 * dtype.c's functions, bit for bit the same, so that loops vectorise.
 */
#include "interpret/block.h"

#include <string.h>

#include "program/cast.h"

#define BLOCK void *dst, const void *a, const void *b, const void *c, size_t n

static inline uint32_t word_of(float x)
{
	uint32_t word;
	memcpy(&word, &x, sizeof(word));
	return word;
}

static inline float float_of(uint32_t word)
{
	float x;
	memcpy(&x, &word, sizeof(x));
	return x;
}

/* The exponent's bias goes from 15 to 127; a subnormal is its fraction times 2^-24. */
static inline float f32_of_f16(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t magnitude = half & 0x7fff;
	uint32_t normal = (magnitude << 13) + (magnitude >= 0x7c00 ? 224u << 23 : 112u << 23);
	uint32_t subnormal = word_of((float)(int32_t)magnitude * 0x1p-24f);
	return float_of(sign | (magnitude < 0x400 ? subnormal : normal));
}

/* Adding 1/2 to a number below 2^-14 rounds it to a multiple of 2^-24, half to even. */
static inline uint16_t f16_of_f32(float x)
{
	uint32_t bits = word_of(x);
	uint32_t sign = bits >> 16 & 0x8000;
	uint32_t magnitude = bits & 0x7fffffff;
	uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
	uint32_t subnormal = word_of(float_of(magnitude) + 0.5f) - word_of(0.5f);
	uint32_t half = magnitude < 0x38800000 ? subnormal : normal;
	half = magnitude >= 0x477ff000 ? 0x7c00 : half;
	half = magnitude > 0x7f800000 ? (0x7e00 | (magnitude >> 13 & 0x1ff)) : half;
	return (uint16_t)(sign | half);
}

static inline float f32_of_bf16(uint16_t brain)
{
	return float_of((uint32_t)brain << 16);
}

static inline uint16_t bf16_of_f32(float x)
{
	uint32_t bits = word_of(x);
	uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16 | 0x40) : rounded);
}

#define FROM uint8_t
#define VALUE uint8_t
#define LOAD(x) (uint8_t)((x) != 0)
#define IS_FLOATING 0
#define NAME(x) bool_##x
#include "interpret/block_cast.h"

#define FROM int8_t
#define VALUE int8_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) i8_##x
#include "interpret/block_cast.h"

#define FROM int16_t
#define VALUE int16_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) i16_##x
#include "interpret/block_cast.h"

#define FROM int32_t
#define VALUE int32_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) i32_##x
#include "interpret/block_cast.h"

#define FROM int64_t
#define VALUE int64_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) i64_##x
#include "interpret/block_cast.h"

#define FROM uint8_t
#define VALUE uint8_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) u8_##x
#include "interpret/block_cast.h"

#define FROM uint16_t
#define VALUE uint16_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) u16_##x
#include "interpret/block_cast.h"

#define FROM uint32_t
#define VALUE uint32_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) u32_##x
#include "interpret/block_cast.h"

#define FROM uint64_t
#define VALUE uint64_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) u64_##x
#include "interpret/block_cast.h"

#define FROM uint16_t
#define VALUE float
#define LOAD(x) f32_of_f16(x)
#define IS_FLOATING 1
#define NAME(x) f16_##x
#include "interpret/block_cast.h"

#define FROM uint16_t
#define VALUE float
#define LOAD(x) f32_of_bf16(x)
#define IS_FLOATING 1
#define NAME(x) bf16_##x
#include "interpret/block_cast.h"

#define FROM float
#define VALUE float
#define LOAD(x) (x)
#define IS_FLOATING 1
#define NAME(x) f32_##x
#include "interpret/block_cast.h"

#define FROM double
#define VALUE double
#define LOAD(x) (x)
#define IS_FLOATING 1
#define NAME(x) f64_##x
#include "interpret/block_cast.h"

static const tn_block_fn *const rows[TN_DTYPES] = {
	[TN_BOOL] = bool_casts, [TN_I8] = i8_casts,   [TN_I16] = i16_casts,   [TN_I32] = i32_casts,
	[TN_I64] = i64_casts,   [TN_U8] = u8_casts,   [TN_U16] = u16_casts,   [TN_U32] = u32_casts,
	[TN_U64] = u64_casts,   [TN_F16] = f16_casts, [TN_BF16] = bf16_casts, [TN_F32] = f32_casts,
	[TN_F64] = f64_casts,
};

tn_block_fn tn_block_cast(uint32_t from, uint32_t to)
{
	if (from >= TN_DTYPES || to >= TN_DTYPES || from == to || !rows[from])
		return NULL;
	return rows[from][to];
}
