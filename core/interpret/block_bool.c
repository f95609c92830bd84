/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kernels of TN_BOOL: bytes that are 0 or 1, and remain so.
 */
#define T uint8_t
#define NAME(x) x##_bool
#include "interpret/block_common.h"

static void and_bool(BLOCK)
{
	BINARY(T, x & y);
}

static void or_bool(BLOCK)
{
	BINARY(T, x | y);
}

static void not_bool(BLOCK)
{
	UNARY(T, x ^ 1);
}

const tn_block_fn tn_block_bool[TN_OP_COUNT] = {
	[TN_OP_EQ] = eq_bool,   [TN_OP_NE] = ne_bool,         [TN_OP_LT] = lt_bool,
	[TN_OP_LE] = le_bool,   [TN_OP_GT] = gt_bool,         [TN_OP_GE] = ge_bool,
	[TN_OP_AND] = and_bool, [TN_OP_OR] = or_bool,         [TN_OP_XOR] = ne_bool,
	[TN_OP_NOT] = not_bool, [TN_OP_SELECT] = select_bool,
};
