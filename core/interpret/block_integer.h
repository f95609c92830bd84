/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels of one integer column.  The including file defines T, its unsigned type U, WIDTH,
 * IS_SIGNED, NAME(x) and COLUMN, the name of the table.  Sums and products are computed in U, where
 * they wrap.
 */
#include "interpret/block_common.h"

static void NAME(add)(BLOCK)
{
	BINARY(T, (U)x + (U)y);
}

static void NAME(sub)(BLOCK)
{
	BINARY(T, (U)x - (U)y);
}

static void NAME(mul)(BLOCK)
{
	BINARY(T, (U)x * (U)y);
}

/* Rounds toward zero; division by zero gives 0; the one quotient that overflows wraps. */
static inline T NAME(quotient)(T x, T y)
{
	if (y == 0)
		return 0;
	if (IS_SIGNED && y == (T)-1)
		return (T)(0 - (U)x);
	return x / y;
}

static inline T NAME(remainder)(T x, T y)
{
	if (y == 0 || (IS_SIGNED && y == (T)-1))
		return 0;
	return x % y;
}

static void NAME(div)(BLOCK)
{
	BINARY(T, NAME(quotient)(x, y));
}

static void NAME(rem)(BLOCK)
{
	BINARY(T, NAME(remainder)(x, y));
}

static void NAME(neg)(BLOCK)
{
	UNARY(T, 0 - (U)x);
}

static void NAME(abs)(BLOCK)
{
#if IS_SIGNED
	UNARY(T, x < 0 ? 0 - (U)x : (U)x);
#else
	UNARY(T, x);
#endif
}

static void NAME(sign)(BLOCK)
{
#if IS_SIGNED
	UNARY(T, (x > 0) - (x < 0));
#else
	UNARY(T, x > 0);
#endif
}

static void NAME(min)(BLOCK)
{
	BINARY(T, x < y ? x : y);
}

static void NAME(max)(BLOCK)
{
	BINARY(T, x > y ? x : y);
}

static void NAME (and)(BLOCK)
{
	BINARY(T, x & y);
}

static void NAME(or)(BLOCK)
{
	BINARY(T, x | y);
}

static void NAME (xor)(BLOCK)
{
	BINARY(T, x ^ y);
}

static void NAME(not )(BLOCK)
{
	UNARY(T, ~x);
}

static void NAME(shl)(BLOCK)
{
	BINARY(T, (U)x << ((U)y & (WIDTH - 1)));
}

static void NAME(shr)(BLOCK)
{
	BINARY(T, x >> ((U)y & (WIDTH - 1)));
}

const tn_block_fn COLUMN[TN_OP_COUNT] = {
	[TN_OP_ADD] = NAME(add),   [TN_OP_SUB] = NAME(sub),       [TN_OP_MUL] = NAME(mul),
	[TN_OP_DIV] = NAME(div),   [TN_OP_REM] = NAME(rem),       [TN_OP_NEG] = NAME(neg),
	[TN_OP_ABS] = NAME(abs),   [TN_OP_MIN] = NAME(min),       [TN_OP_MAX] = NAME(max),
	[TN_OP_SIGN] = NAME(sign), [TN_OP_EQ] = NAME(eq),         [TN_OP_NE] = NAME(ne),
	[TN_OP_LT] = NAME(lt),     [TN_OP_LE] = NAME(le),         [TN_OP_GT] = NAME(gt),
	[TN_OP_GE] = NAME(ge),     [TN_OP_AND] = NAME(and),       [TN_OP_OR] = NAME(or),
	[TN_OP_XOR] = NAME(xor),   [TN_OP_NOT] = NAME(not ),      [TN_OP_SHL] = NAME(shl),
	[TN_OP_SHR] = NAME(shr),   [TN_OP_SELECT] = NAME(select),
};
