/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arithmetic, comparison and selection of f32 and f64.
 */
#include "real.h"
#include "variant.h"

#define T float
#define OF(name) name##_f32
#define REAL(name) __builtin_##name##f
#include "floating_type.h"

#define T double
#define OF(name) name##_f64
#define REAL(name) __builtin_##name
#include "floating_type.h"

#define FROM double
#define TO double
#define NAME sqrt_f64
#define VALUE(x) __builtin_sqrt(x)
#include "loop1.h"
#define FROM double
#define TO double
#define NAME rsqrt_f64
#define VALUE(x) (1.0 / __builtin_sqrt(x))
#include "loop1.h"

const struct cpu_row VARIANT(cpu_rows_floating)[] = {
	{TN_OP_ADD, TN_COLUMN_F32, add_f32},
	{TN_OP_SUB, TN_COLUMN_F32, sub_f32},
	{TN_OP_MUL, TN_COLUMN_F32, mul_f32},
	{TN_OP_MUL_ROUNDED, TN_COLUMN_F32, mul_f32},
	{TN_OP_DIV, TN_COLUMN_F32, div_f32},
	{TN_OP_NEG, TN_COLUMN_F32, neg_f32},
	{TN_OP_ABS, TN_COLUMN_F32, abs_f32},
	{TN_OP_MIN, TN_COLUMN_F32, min_f32},
	{TN_OP_MAX, TN_COLUMN_F32, max_f32},
	{TN_OP_FLOOR, TN_COLUMN_F32, floor_f32},
	{TN_OP_CEIL, TN_COLUMN_F32, ceil_f32},
	{TN_OP_ROUND, TN_COLUMN_F32, round_f32},
	{TN_OP_TRUNC, TN_COLUMN_F32, trunc_f32},
	{TN_OP_SIGN, TN_COLUMN_F32, sign_f32},
	{TN_OP_EQ, TN_COLUMN_F32, eq_f32},
	{TN_OP_NE, TN_COLUMN_F32, ne_f32},
	{TN_OP_LT, TN_COLUMN_F32, lt_f32},
	{TN_OP_LE, TN_COLUMN_F32, le_f32},
	{TN_OP_GT, TN_COLUMN_F32, gt_f32},
	{TN_OP_GE, TN_COLUMN_F32, ge_f32},
	{TN_OP_SELECT, TN_COLUMN_F32, select_f32},
	{TN_OP_ADD, TN_COLUMN_F64, add_f64},
	{TN_OP_SUB, TN_COLUMN_F64, sub_f64},
	{TN_OP_MUL, TN_COLUMN_F64, mul_f64},
	{TN_OP_MUL_ROUNDED, TN_COLUMN_F64, mul_f64},
	{TN_OP_DIV, TN_COLUMN_F64, div_f64},
	{TN_OP_NEG, TN_COLUMN_F64, neg_f64},
	{TN_OP_ABS, TN_COLUMN_F64, abs_f64},
	{TN_OP_MIN, TN_COLUMN_F64, min_f64},
	{TN_OP_MAX, TN_COLUMN_F64, max_f64},
	{TN_OP_FLOOR, TN_COLUMN_F64, floor_f64},
	{TN_OP_CEIL, TN_COLUMN_F64, ceil_f64},
	{TN_OP_ROUND, TN_COLUMN_F64, round_f64},
	{TN_OP_TRUNC, TN_COLUMN_F64, trunc_f64},
	{TN_OP_SIGN, TN_COLUMN_F64, sign_f64},
	{TN_OP_EQ, TN_COLUMN_F64, eq_f64},
	{TN_OP_NE, TN_COLUMN_F64, ne_f64},
	{TN_OP_LT, TN_COLUMN_F64, lt_f64},
	{TN_OP_LE, TN_COLUMN_F64, le_f64},
	{TN_OP_GT, TN_COLUMN_F64, gt_f64},
	{TN_OP_GE, TN_COLUMN_F64, ge_f64},
	{TN_OP_SELECT, TN_COLUMN_F64, select_f64},
	{TN_OP_SQRT, TN_COLUMN_F64, sqrt_f64},
	{TN_OP_RSQRT, TN_COLUMN_F64, rsqrt_f64},
#if !defined(__x86_64__) || defined(__FMA__)
	{TN_OP_FMA, TN_COLUMN_F32, fma_f32},
	{TN_OP_FMA, TN_COLUMN_F64, fma_f64},
#endif
	{0},
};
