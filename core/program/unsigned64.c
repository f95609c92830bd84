/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Builds u64 comparisons, shifts, divisions and conversions from operations on i64.  Division is
 * that of H. S. Warren, Hacker's Delight, section 9-3 (divide half of the dividend, double,
 * correct by one).
 */
#include "program/unsigned64.h"

#include "base/dtype.h"

static tn_value integer(struct tn_builder *b, int64_t value)
{
	return tn_build_constant(b, TN_I64, (uint64_t)value);
}

static tn_value op2(struct tn_builder *b, uint16_t op, tn_value x, tn_value y)
{
	return tn_build_op(b, op, TN_I64, x, y, 0);
}

/* Maps the order of u64 to that of i64. */
static tn_value flip(struct tn_builder *b, tn_value a)
{
	return op2(b, TN_OP_XOR, a, integer(b, INT64_MIN));
}

static tn_value compare(struct tn_builder *b, uint16_t op, tn_value x, tn_value y)
{
	return tn_build_op(b, op, TN_BOOL, flip(b, x), flip(b, y), 0);
}

static tn_value choose(struct tn_builder *b, tn_value condition, tn_value yes, tn_value no)
{
	return tn_build_op(b, TN_OP_SELECT, TN_I64, condition, yes, no);
}

/* The arithmetic shift, without the copies of the sign that it moves in. */
static tn_value shift_right(struct tn_builder *b, tn_value a, tn_value count)
{
	tn_value signs = op2(b, TN_OP_SHR, integer(b, INT64_MIN), count);
	signs = op2(b, TN_OP_SHL, signs, integer(b, 1));
	tn_value kept = tn_build_op(b, TN_OP_NOT, TN_I64, signs, 0, 0);
	return op2(b, TN_OP_AND, op2(b, TN_OP_SHR, a, count), kept);
}

/* Division by 0 gives 0. */
static tn_value divide(struct tn_builder *b, tn_value x, tn_value y)
{
	tn_value zero = integer(b, 0), one = integer(b, 1);
	/* y >= 2^63: the quotient is 0 or 1. */
	tn_value is_large = tn_build_op(b, TN_OP_LT, TN_BOOL, y, zero, 0);
	tn_value of_large = choose(b, compare(b, TN_OP_GE, x, y), one, zero);
	tn_value half = op2(b, TN_OP_DIV, shift_right(b, x, one), y);
	tn_value quotient = op2(b, TN_OP_SHL, half, one);
	tn_value rest = op2(b, TN_OP_SUB, x, op2(b, TN_OP_MUL, quotient, y));
	tn_value correction = choose(b, compare(b, TN_OP_GE, rest, y), one, zero);
	quotient = choose(b, is_large, of_large, op2(b, TN_OP_ADD, quotient, correction));
	tn_value by_zero = tn_build_op(b, TN_OP_EQ, TN_BOOL, y, zero, 0);
	return choose(b, by_zero, zero, quotient);
}

tn_value tn_u64_op(struct tn_builder *b, uint16_t op, tn_value x, tn_value y, tn_value z)
{
	tn_value zero = integer(b, 0);
	switch (op) {
	case TN_OP_DIV:
		return divide(b, x, y);
	case TN_OP_REM: {
		tn_value product = op2(b, TN_OP_MUL, divide(b, x, y), y);
		tn_value by_zero = tn_build_op(b, TN_OP_EQ, TN_BOOL, y, zero, 0);
		return choose(b, by_zero, zero, op2(b, TN_OP_SUB, x, product));
	}
	case TN_OP_SHR:
		return shift_right(b, x, y);
	case TN_OP_MIN:
		return choose(b, compare(b, TN_OP_LT, x, y), x, y);
	case TN_OP_MAX:
		return choose(b, compare(b, TN_OP_GT, x, y), x, y);
	case TN_OP_ABS:
		return x;
	case TN_OP_SIGN:
		return choose(b, tn_build_op(b, TN_OP_NE, TN_BOOL, x, zero, 0), integer(b, 1),
			      zero);
	case TN_OP_LT:
	case TN_OP_LE:
	case TN_OP_GT:
	case TN_OP_GE:
		return compare(b, op, x, y);
	case TN_OP_EQ:
	case TN_OP_NE:
		return tn_build_op(b, op, TN_BOOL, x, y, 0);
	default: /* sums, products, bits: the same for both */
		return tn_build_op(b, op, TN_I64, x, y, z);
	}
}

tn_value tn_u64_from(struct tn_builder *b, tn_value a)
{
	tn_dtype from = tn_build_dtype(b, a);
	if (!tn_is_floating(from))
		return tn_build_cast(b, TN_I64, a);
	/* The cast to i64 saturates: the values from 2^63 on are moved below it and back. */
	tn_value limit = tn_build_number(b, from, 0x1p63);
	tn_value is_large = tn_build_op(b, TN_OP_GE, TN_BOOL, a, limit, 0);
	tn_value below = tn_build_op(b, TN_OP_SUB, from, a, limit, 0);
	tn_value large = flip(b, tn_build_cast(b, TN_I64, below));
	tn_value small = op2(b, TN_OP_MAX, tn_build_cast(b, TN_I64, a), integer(b, 0));
	return choose(b, is_large, large, small);
}

tn_value tn_u64_to(struct tn_builder *b, tn_dtype dtype, tn_value a)
{
	if (!tn_is_floating(dtype))
		return tn_build_cast(b, dtype, a);
	/* From 2^63 on: half of the value, whose last bit stands for the bits below it, so that the
	 * one rounding is right; doubling is exact. */
	tn_value one = integer(b, 1);
	tn_value is_large = tn_build_op(b, TN_OP_LT, TN_BOOL, a, integer(b, 0), 0);
	tn_value half = op2(b, TN_OP_OR, shift_right(b, a, one), op2(b, TN_OP_AND, a, one));
	tn_value rounded = tn_build_cast(b, dtype, choose(b, is_large, half, a));
	tn_value doubled = tn_build_op(b, TN_OP_ADD, dtype, rounded, rounded, 0);
	return tn_build_op(b, TN_OP_SELECT, dtype, is_large, doubled, rounded);
}
