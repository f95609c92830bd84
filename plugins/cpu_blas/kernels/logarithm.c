/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * log, log2 and log1p of f32, over the whole range.
 *
 *     x = 2^k m,  sqrt(1/2) <= m < sqrt(2),  f = m - 1 (exact),  log x = k ln 2 + log(1 + f)
 *
 * log(1 + f) = f - f^2 / 2 + f^3 P(f), a minimax fit with relative error 2^-27.
 */
#include "real.h"
#include "variant.h"

#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f
#define SQRT_HALF_BITS 0x3f3504f3u

struct log_parts {
	float f, k;
};

/* Of a normal positive number. */
static inline struct log_parts log_split(uint32_t bits)
{
	uint32_t moved = bits - SQRT_HALF_BITS;
	float m = from_bits((moved & 0x7fffffu) + SQRT_HALF_BITS);
	struct log_parts parts = {m - 1.0f, (float)((int32_t)moved >> 23)};
	return parts;
}

/* Numbers below the normal ones are made normal first. */
static inline struct log_parts log_reduce(float x)
{
	int tiny = x < 0x1p-126f;
	struct log_parts parts = log_split(bits_of(tiny ? x * 0x1p23f : x));
	parts.k -= tiny ? 23.0f : 0.0f;
	return parts;
}

/* log(1 + f) - f, f in [sqrt(1/2) - 1, sqrt(2) - 1]. */
static inline float log_tail(float f)
{
	float s = f * f;
	float a = 0x1.555554p-2f * f - 0.5f;
	float b = 0x1.99a028p-3f * f - 0x1.000228p-2f;
	float c = 0x1.22d788p-3f * f - 0x1.54720cp-3f;
	float d = 0x1.056c98p-3f * f - 0x1.0d853ap-3f;
	d = -0x1.38de36p-4f * s + d;
	float low = b * s + a, high = d * s + c;
	return (high * (s * s) + low) * s;
}

/* The values at the ends: 0 gives -inf, less a NaN, inf itself, a NaN itself. */
static inline float log_ends(float value, float x)
{
	float infinity = from_bits(0x7f800000u), nan = from_bits(0x7fc00000u);
	value = x < infinity ? value : x;
	value = x < 0 ? nan : value;
	return x == 0 ? -infinity : value;
}

static inline float log_sum(struct log_parts parts)
{
	float low = log_tail(parts.f) + parts.k * LN2_LOW;
	return parts.k * LN2_HIGH + (parts.f + low);
}

/* log2 x = k + (f + tail) log2 e, the factor in two parts: f times the first is exact, since it has
 * 12 bits and f keeps its upper 12. */
static inline float log2_sum(struct log_parts parts)
{
	float f = parts.f, tail = log_tail(f);
	float sum = f + tail;
	float high = from_bits(bits_of(sum) & 0xfffff000u);
	float low = (f - high) + tail;
	float value = low * 0x1.715476p0f + high * 0x1.1d94aep-14f;
	value = value + high * 0x1.715p0f;
	return parts.k + value;
}

static inline float log_one(float x)
{
	return log_ends(log_sum(log_reduce(x)), x);
}

static inline float log_ordinary(float x)
{
	return log_sum(log_split(bits_of(x)));
}

static inline float log2_one(float x)
{
	return log_ends(log2_sum(log_reduce(x)), x);
}

static inline float log2_ordinary(float x)
{
	return log2_sum(log_split(bits_of(x)));
}

/* Positive normal numbers. */
#define LOG_GUARD(bits) ((bits)-0x00800000u)
#define LOG_LIMIT (0x7f7fffffu - 0x00800000u)

/* u = 1 + x rounded, and its rounding c = x - (u - 1) exactly; log u + c / u, with the division made
 * one by the power of two in u: f + c 2^-k. */
static inline float log1p_one(float x)
{
	float u = 1.0f + x;
	float c = x - (u - 1.0f);
	struct log_parts parts = log_reduce(u);
	float inverse = from_bits((uint32_t)(127 - (int32_t)parts.k) << 23);
	float f = parts.f + (u < 0x1p100f ? c * inverse : 0.0f);
	float low = log_tail(f) + parts.k * LN2_LOW;
	float value = log_ends(parts.k * LN2_HIGH + (f + low), u);
	return magnitude(x) < 0x1p-25f ? x : value;
}

#define NAME block_log
#define VALUE log_one
#define FAST log_ordinary
#define GUARD LOG_GUARD
#define LIMIT LOG_LIMIT
#include "loop1_guarded.h"
#define NAME block_log2
#define VALUE log2_one
#define FAST log2_ordinary
#define GUARD LOG_GUARD
#define LIMIT LOG_LIMIT
#include "loop1_guarded.h"
#define NAME block_log1p
#define VALUE log1p_one
#include "loop1.h"

const struct cpu_row VARIANT(cpu_rows_logarithm)[] = {
	{TN_OP_LOG, TN_COLUMN_F32, block_log},
	{TN_OP_LOG2, TN_COLUMN_F32, block_log2},
	{TN_OP_LOG1P, TN_COLUMN_F32, block_log1p},
	{0},
};
