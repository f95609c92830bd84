/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels of one floating column.  The including file defines T, M(x) (the name of a function of
 * libm for T), NAME(x) and COLUMN, the name of the table.
 */
#include "interpret/block_common.h"

#include <math.h>

static void NAME(add)(BLOCK)
{
	BINARY(T, x + y);
}

static void NAME(sub)(BLOCK)
{
	BINARY(T, x - y);
}

static void NAME(mul)(BLOCK)
{
	BINARY(T, x * y);
}

static void NAME(div)(BLOCK)
{
	BINARY(T, x / y);
}

static void NAME(rem)(BLOCK)
{
	BINARY(T, M(fmod)(x, y));
}

static void NAME(neg)(BLOCK)
{
	UNARY(T, -x);
}

static void NAME(abs)(BLOCK)
{
	UNARY(T, M(fabs)(x));
}

/* NaN if either is NaN; of equal operands the second. */
static void NAME(min)(BLOCK)
{
	BINARY(T, ((x < y) | (x != x)) ? x : y);
}

static void NAME(max)(BLOCK)
{
	BINARY(T, ((x > y) | (x != x)) ? x : y);
}

static void NAME(fma)(BLOCK)
{
	TERNARY(T, M(fma)(x, y, z));
}

static void NAME(pow)(BLOCK)
{
	BINARY(T, M(pow)(x, y));
}

static void NAME(sqrt)(BLOCK)
{
	UNARY(T, M(sqrt)(x));
}

static void NAME(rsqrt)(BLOCK)
{
	UNARY(T, 1 / M(sqrt)(x));
}

static void NAME(floor)(BLOCK)
{
	UNARY(T, M(floor)(x));
}

static void NAME(ceil)(BLOCK)
{
	UNARY(T, M(ceil)(x));
}

static void NAME(round)(BLOCK)
{
	UNARY(T, M(rint)(x));
}

static void NAME(trunc)(BLOCK)
{
	UNARY(T, M(trunc)(x));
}

/* A zero of either sign gives 0. */
static void NAME(sign)(BLOCK)
{
	UNARY(T, x > 0 ? 1 : x < 0 ? -1 : x != x ? x : 0);
}

static void NAME(exp)(BLOCK)
{
	UNARY(T, M(exp)(x));
}

static void NAME(exp2)(BLOCK)
{
	UNARY(T, M(exp2)(x));
}

static void NAME(expm1)(BLOCK)
{
	UNARY(T, M(expm1)(x));
}

static void NAME(log)(BLOCK)
{
	UNARY(T, M(log)(x));
}

static void NAME(log2)(BLOCK)
{
	UNARY(T, M(log2)(x));
}

static void NAME(log1p)(BLOCK)
{
	UNARY(T, M(log1p)(x));
}

static void NAME(sin)(BLOCK)
{
	UNARY(T, M(sin)(x));
}

static void NAME(cos)(BLOCK)
{
	UNARY(T, M(cos)(x));
}

static void NAME(tan)(BLOCK)
{
	UNARY(T, M(tan)(x));
}

static void NAME(asin)(BLOCK)
{
	UNARY(T, M(asin)(x));
}

static void NAME(acos)(BLOCK)
{
	UNARY(T, M(acos)(x));
}

static void NAME(atan)(BLOCK)
{
	UNARY(T, M(atan)(x));
}

static void NAME(atan2)(BLOCK)
{
	BINARY(T, M(atan2)(x, y));
}

static void NAME(sinh)(BLOCK)
{
	UNARY(T, M(sinh)(x));
}

static void NAME(cosh)(BLOCK)
{
	UNARY(T, M(cosh)(x));
}

static void NAME(tanh)(BLOCK)
{
	UNARY(T, M(tanh)(x));
}

static void NAME(erf)(BLOCK)
{
	UNARY(T, M(erf)(x));
}

/* 1 / (1 + exp(-x)) in the form that does not overflow. */
static inline T NAME(logistic)(T x)
{
	T power = M(exp)(-M(fabs)(x));
	return (x < 0 ? power : 1) / (1 + power);
}

static void NAME(sigmoid)(BLOCK)
{
	UNARY(T, NAME(logistic)(x));
}

const tn_block_fn COLUMN[TN_OP_COUNT] = {
	[TN_OP_ADD] = NAME(add),       [TN_OP_SUB] = NAME(sub),
	[TN_OP_MUL] = NAME(mul),       [TN_OP_DIV] = NAME(div),
	[TN_OP_REM] = NAME(rem),       [TN_OP_NEG] = NAME(neg),
	[TN_OP_ABS] = NAME(abs),       [TN_OP_MIN] = NAME(min),
	[TN_OP_MAX] = NAME(max),       [TN_OP_FMA] = NAME(fma),
	[TN_OP_POW] = NAME(pow),       [TN_OP_SQRT] = NAME(sqrt),
	[TN_OP_RSQRT] = NAME(rsqrt),   [TN_OP_FLOOR] = NAME(floor),
	[TN_OP_CEIL] = NAME(ceil),     [TN_OP_ROUND] = NAME(round),
	[TN_OP_TRUNC] = NAME(trunc),   [TN_OP_SIGN] = NAME(sign),
	[TN_OP_EXP] = NAME(exp),       [TN_OP_EXP2] = NAME(exp2),
	[TN_OP_EXPM1] = NAME(expm1),   [TN_OP_LOG] = NAME(log),
	[TN_OP_LOG2] = NAME(log2),     [TN_OP_LOG1P] = NAME(log1p),
	[TN_OP_SIN] = NAME(sin),       [TN_OP_COS] = NAME(cos),
	[TN_OP_TAN] = NAME(tan),       [TN_OP_ASIN] = NAME(asin),
	[TN_OP_ACOS] = NAME(acos),     [TN_OP_ATAN] = NAME(atan),
	[TN_OP_ATAN2] = NAME(atan2),   [TN_OP_SINH] = NAME(sinh),
	[TN_OP_COSH] = NAME(cosh),     [TN_OP_TANH] = NAME(tanh),
	[TN_OP_ERF] = NAME(erf),       [TN_OP_SIGMOID] = NAME(sigmoid),
	[TN_OP_EQ] = NAME(eq),         [TN_OP_NE] = NAME(ne),
	[TN_OP_LT] = NAME(lt),         [TN_OP_LE] = NAME(le),
	[TN_OP_GT] = NAME(gt),         [TN_OP_GE] = NAME(ge),
	[TN_OP_SELECT] = NAME(select), [TN_OP_MUL_ROUNDED] = NAME(mul),
};
