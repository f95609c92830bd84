/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * sinh, cosh and tanh of f32, over the whole range.
 */
#include "exp.h"
#include "variant.h"

/* For |x| < 1 an odd polynomial; otherwise, with h = e^|x| / 2 (so that it overflows only if the
 * result does): h - 1 / (4 h). */
static inline float sinh_one(float x)
{
	float a = magnitude(x), t = x * x;
	float p = 0x1.76771ep-19f;
	p = p * t + 0x1.a01c22p-13f;
	p = p * t + 0x1.1110eap-7f;
	p = p * t + 0x1.555556p-3f;
	float small = x + x * t * p;
	float h = exp_scaled(a, -1);
	float large = h - 0.25f / h;
	return a < 1.0f ? small : with_sign(large, x);
}

static inline float cosh_one(float x)
{
	float h = exp_scaled(magnitude(x), -1);
	return h + 0.25f / h;
}

/* With e = e^2|x| - 1: e / (e + 2).  From 10 on it is 1. */
static inline float tanh_one(float x)
{
	float a = magnitude(clamp(x, 10.0f));
	float e = expm1_unsigned(a + a);
	float value = a < 0x1p-13f ? a : e / (e + 2.0f);
	return with_sign(value, x);
}

#define NAME block_sinh
#define VALUE sinh_one
#include "loop1.h"
#define NAME block_cosh
#define VALUE cosh_one
#include "loop1.h"
#define NAME block_tanh
#define VALUE tanh_one
#include "loop1.h"

const struct cpu_row VARIANT(cpu_rows_hyperbolic)[] = {
	{TN_OP_SINH, TN_COLUMN_F32, block_sinh},
	{TN_OP_COSH, TN_COLUMN_F32, block_cosh},
	{TN_OP_TANH, TN_COLUMN_F32, block_tanh},
	{0},
};
