/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sums, maxima and minima in the order of the ranks.  Work goes by blocks that stay in the cache:
 * a block of the first rank's elements is widened, the others are combined with it one rank after
 * the other, and the block is stored.  Integers wrap.
 */
#include "communicator.h"

enum { BLOCK = 1024 }; /* elements */

static float float_of_bits(uint32_t bits)
{
	float x;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static uint32_t bits_of_float(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static float float_of_bf16(uint16_t x)
{
	return float_of_bits((uint32_t)x << 16);
}

static uint16_t bf16_of_float(float x)
{
	const uint32_t bits = bits_of_float(x);
	const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 | 0x40) : rounded);
}

/* A subnormal number's fraction is put behind 2^-14, which is then subtracted: no operand is
 * subnormal in f32, which processors are slow with. */
static float float_of_f16(uint16_t x)
{
	const uint32_t magnitude = (uint32_t)(x & 0x7fff) << 13;
	const uint32_t normal = magnitude + 0x38000000u;
	const uint32_t special = magnitude | 0x7f800000u; /* infinity or NaN */
	const uint32_t small = bits_of_float(float_of_bits(magnitude + 0x38800000u) - 0x1p-14f);
	const uint32_t finite = magnitude < 0x00800000u ? small : normal;
	const uint32_t bits = magnitude >= 0x0f800000u ? special : finite;
	return float_of_bits(bits | (uint32_t)(x & 0x8000) << 16);
}

/* To nearest, ties to even.  Adding a number whose last place is that of the result rounds a small
 * magnitude; a large one is rounded as an integer. */
static uint16_t f16_of_float(float x)
{
	const uint32_t bits = bits_of_float(x), sign = bits >> 16 & 0x8000;
	const uint32_t magnitude = bits & 0x7fffffffu;
	const uint32_t small = bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
	const uint32_t large = (magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13;
	const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
	const uint32_t finite = magnitude < 0x38800000u ? small : large;
	const uint32_t limited = magnitude >= 0x477ff000u ? 0x7c00 : finite;
	return (uint16_t)(sign | (magnitude > 0x7f800000u ? nan : limited));
}

#define TYPE float
#define STORED float
#define IS_FLOATING 1
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_f32
#include "combine_type.h"
#define TYPE float
#define STORED uint16_t
#define IS_FLOATING 1
#define WIDEN(x) float_of_f16(x)
#define NARROW(x) f16_of_float(x)
#define NAME combine_f16
#include "combine_type.h"
#define TYPE float
#define STORED uint16_t
#define IS_FLOATING 1
#define WIDEN(x) float_of_bf16(x)
#define NARROW(x) bf16_of_float(x)
#define NAME combine_bf16
#include "combine_type.h"
#define TYPE double
#define STORED double
#define IS_FLOATING 1
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_f64
#include "combine_type.h"
#define TYPE int32_t
#define STORED int32_t
#define IS_FLOATING 0
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_i32
#include "combine_type.h"
#define TYPE int64_t
#define STORED int64_t
#define IS_FLOATING 0
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_i64
#include "combine_type.h"
#define TYPE uint64_t
#define STORED uint64_t
#define IS_FLOATING 0
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_u64
#include "combine_type.h"

void communicator_combine(void *target, const void *const *sources, uint32_t n_sources, uint64_t n,
			  tn_dtype dtype, uint32_t combiner)
{
	switch (dtype) {
	case TN_F32:
		combine_f32(target, sources, n_sources, n, combiner);
		break;
	case TN_F16:
		combine_f16(target, sources, n_sources, n, combiner);
		break;
	case TN_BF16:
		combine_bf16(target, sources, n_sources, n, combiner);
		break;
	case TN_F64:
		combine_f64(target, sources, n_sources, n, combiner);
		break;
	case TN_I32:
		combine_i32(target, sources, n_sources, n, combiner);
		break;
	case TN_I64:
		combine_i64(target, sources, n_sources, n, combiner);
		break;
	default:
		combine_u64(target, sources, n_sources, n, combiner);
		break;
	}
}
