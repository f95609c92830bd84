/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * log, log2 and log1p of f32, over the whole range.
 */
#include "log.h"
#include "variant.h"

/* log2 x = k + (f + tail) log2 e, the factor in two parts: f times the first is exact, since it has
 * 12 bits and f keeps its upper 12. */
static inline float log2_sum(struct log_parts parts)
{
	float f = parts.f, tail = log_tail(f);
	float sum = f + tail;
	float high = tn_plugin_f32_of_bits(tn_plugin_bits_of_f32(sum) & 0xfffff000u);
	float low = (f - high) + tail;
	float value = low * 0x1.715476p0f + high * 0x1.1d94aep-14f;
	value = value + high * 0x1.715p0f;
	return parts.k + value;
}

static inline float log_ordinary(float x)
{
	return log_sum(log_split(tn_plugin_bits_of_f32(x)));
}

static inline float log2_one(float x)
{
	return log_ends(log2_sum(log_reduce(x)), x);
}

static inline float log2_ordinary(float x)
{
	return log2_sum(log_split(tn_plugin_bits_of_f32(x)));
}

/* Positive normal numbers. */
#define LOG_GUARD(bits) ((bits)-0x00800000u)
#define LOG_LIMIT (0x7f7fffffu - 0x00800000u)

/* u = 1 + x rounded, and its rounding error c = x - (u - 1) exactly; log u + c / u, where the
 * division becomes a multiplication by the power of two in u: f + c 2^-k. */
static inline float log1p_one(float x)
{
	float u = 1.0f + x;
	float c = x - (u - 1.0f);
	struct log_parts parts = log_reduce(u);
	float inverse = tn_plugin_f32_of_bits((uint32_t)(127 - (int32_t)parts.k) << 23);
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
