/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * exp, exp2, expm1 and the logistic function of f32, over the whole range.
 */
#include "exp.h"
#include "variant.h"

static inline float exp_one(float x)
{
	return exp_scaled(x, 0);
}

/* 2^x = 2^k 2^r, k = nearest integer to x, r = x - k exact. */
static inline float exp2_one(float x)
{
	float inside = clamp(x, 152.0f);
	float rounded = inside + ROUND_F32;
	float r = inside - (rounded - ROUND_F32);
	float s = r * r;
	float low = 0x1.c6af76p-5f * r + 0x1.ebfbd8p-3f;
	float high = 0x1.5f0b82p-10f * r + 0x1.3b30ap-7f;
	high = 0x1.3fa206p-13f * s + high;
	low = high * s + low;
	float p = (0x1.62e43p-1f * r + 1.0f) + low * s;
	return scale(p,
		     (int32_t)(tn_plugin_bits_of_f32(rounded) - tn_plugin_bits_of_f32(ROUND_F32)));
}

/* Below 2^-25 e^x - 1 is x to within an ulp, and the sign of zero is kept. */
static inline float expm1_one(float x)
{
	float value = expm1_unsigned(x);
	return magnitude(x) < 0x1p-25f ? x : value;
}

/* With e = e^-|x|, which does not overflow: 1 / (1 + e), or e / (1 + e) for x < 0. */
static inline float sigmoid_of(float x, float e)
{
	return (x < 0 ? e : 1.0f) / (1.0f + e);
}

static inline float sigmoid_one(float x)
{
	return sigmoid_of(x, exp_scaled(-magnitude(x), 0));
}

static inline float sigmoid_ordinary(float x)
{
	return sigmoid_of(x, exp_ordinary(-magnitude(x)));
}

#define NAME block_exp
#define VALUE exp_one
#define FAST exp_ordinary
#define GUARD EXP_GUARD
#define LIMIT EXP_LIMIT
#include "loop1_guarded.h"
#define NAME block_exp2
#define VALUE exp2_one
#include "loop1.h"
#define NAME block_expm1
#define VALUE expm1_one
#include "loop1.h"
#define NAME block_sigmoid
#define VALUE sigmoid_one
#define FAST sigmoid_ordinary
#define GUARD EXP_GUARD
#define LIMIT EXP_LIMIT
#include "loop1_guarded.h"

const struct cpu_row VARIANT(cpu_rows_exponential)[] = {
	{TN_OP_EXP, TN_COLUMN_F32, block_exp},
	{TN_OP_EXP2, TN_COLUMN_F32, block_exp2},
	{TN_OP_EXPM1, TN_COLUMN_F32, block_expm1},
	{TN_OP_SIGMOID, TN_COLUMN_F32, block_sigmoid},
	{0},
};
