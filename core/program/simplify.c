/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Identities that preserve every bit of the result for every operand, including NaN, infinities and
 * both zeros (a NaN's payload does not count).  So x + 0.0 stays, because -0 + 0 is 0, while x +
 * -0.0 and x - 0.0 become x.  Constants are the right operands of commutative opcodes.
 */
#include "program/simplify.h"

#include <math.h>

#include "program/cast.h"
#include "program/opcode.h"

/* The requested value, with its operands looked up. */
struct request {
	struct tn_builder *builder;
	uint16_t op;
	tn_dtype dtype;
	tn_value a, b, c;
};

/* Is the value a constant, bit for bit `number` in its dtype? */
static int is_number(const struct tn_builder *builder, tn_value value, double number)
{
	uint64_t bits;
	if (!tn_build_is_constant(builder, value, &bits))
		return 0;
	tn_dtype dtype = tn_build_dtype(builder, value);
	return bits == tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(number));
}

/* An integer with all bits set, or true? */
static int is_ones(const struct tn_builder *builder, tn_value value)
{
	return is_number(builder, value,
			 tn_build_dtype(builder, value) == TN_U32 ? 0x1p32 - 1 : -1);
}

static const struct tn_instruction *made_by(const struct request *r, tn_value value, uint16_t op)
{
	const struct tn_instruction *maker = &r->builder->values[value];
	return maker->op == op ? maker : NULL;
}

/* What a rule makes of a request. */
struct simplified {
	tn_value value;           /* TN_IS_VALUE */
	struct tn_instruction op; /* TN_BECOMES_OP */
};

/* Answers `value`. */
static enum tn_simplification is(tn_value value, struct simplified *result)
{
	result->value = value;
	return TN_IS_VALUE;
}

static enum tn_simplification becomes_of_three(const struct request *r, uint16_t op, tn_value a,
					       tn_value b, tn_value c, struct simplified *result)
{
	result->op = (struct tn_instruction){
		.op = op, .dtype = (uint16_t)r->dtype, .a = a, .b = b, .c = c};
	return TN_BECOMES_OP;
}

static enum tn_simplification becomes(const struct request *r, uint16_t op, tn_value a, tn_value b,
				      struct simplified *result)
{
	return becomes_of_three(r, op, a, b, 0, result);
}

static enum tn_simplification is_constant_of(const struct request *r, double number,
					     struct simplified *result)
{
	return is(tn_build_number(r->builder, r->dtype, number), result);
}

static enum tn_simplification simplify_add(const struct request *r, struct simplified *result)
{
	const struct tn_instruction *negated = made_by(r, r->b, TN_OP_NEG);
	if (is_number(r->builder, r->b, -0.0)) /* also 0 of an integer */
		return is(r->a, result);
	if (negated)
		return becomes(r, TN_OP_SUB, r->a, negated->a, result);
	negated = made_by(r, r->a, TN_OP_NEG);
	if (negated)
		return becomes(r, TN_OP_SUB, r->b, negated->a, result);
	return TN_IS_SIMPLE;
}

static enum tn_simplification simplify_sub(const struct request *r, struct simplified *result)
{
	const struct tn_instruction *negated = made_by(r, r->b, TN_OP_NEG);
	if (is_number(r->builder, r->b, 0.0))
		return is(r->a, result);
	if (is_number(r->builder, r->a, -0.0))
		return becomes(r, TN_OP_NEG, r->b, 0, result);
	if (negated)
		return becomes(r, TN_OP_ADD, r->a, negated->a, result);
	if (r->a == r->b && tn_is_integer(r->dtype))
		return is_constant_of(r, 0, result);
	return TN_IS_SIMPLE;
}

static enum tn_simplification simplify_mul(const struct request *r, struct simplified *result)
{
	const struct tn_instruction *left = made_by(r, r->a, TN_OP_NEG);
	const struct tn_instruction *right = made_by(r, r->b, TN_OP_NEG);
	if (is_number(r->builder, r->b, 1))
		return is(r->a, result);
	if (r->dtype != TN_U32 && is_number(r->builder, r->b, -1))
		return becomes(r, TN_OP_NEG, r->a, 0, result);
	if (tn_is_integer(r->dtype) && is_number(r->builder, r->b, 0))
		return is(r->b, result);
	if (left && right)
		return becomes(r, TN_OP_MUL, left->a, right->a, result);
	return TN_IS_SIMPLE;
}

/* A power of two whose reciprocal is a normal number: x / c = x * (1 / c), both rounded once. */
static int has_exact_reciprocal(const struct request *r, tn_value value, double *reciprocal)
{
	uint64_t bits;
	int exponent;
	if (!tn_is_floating(r->dtype) || !tn_build_is_constant(r->builder, value, &bits))
		return 0;
	double number = tn_f64_of_bits(tn_cast_bits(r->dtype, TN_F64, bits));
	if (!isfinite(number) || fabs(frexp(number, &exponent)) != 0.5)
		return 0;
	*reciprocal = 1 / number;
	return exponent > -100 && exponent < 100;
}

static enum tn_simplification simplify_div(const struct request *r, struct simplified *result)
{
	double reciprocal;
	if (is_number(r->builder, r->b, 1))
		return is(r->a, result);
	if (r->dtype != TN_U32 && is_number(r->builder, r->b, -1))
		return becomes(r, TN_OP_NEG, r->a, 0, result);
	if (tn_is_integer(r->dtype) && is_number(r->builder, r->b, 0))
		return is(r->b, result);
	if (has_exact_reciprocal(r, r->b, &reciprocal))
		return becomes(r, TN_OP_MUL, r->a,
			       tn_build_number(r->builder, r->dtype, reciprocal), result);
	return TN_IS_SIMPLE;
}

static enum tn_simplification simplify_rem(const struct request *r, struct simplified *result)
{
	if (!tn_is_integer(r->dtype))
		return TN_IS_SIMPLE;
	if (is_number(r->builder, r->b, 0) || is_number(r->builder, r->b, 1))
		return is_constant_of(r, 0, result);
	return TN_IS_SIMPLE;
}

static enum tn_simplification simplify_fma(const struct request *r, struct simplified *result)
{
	struct tn_builder *builder = r->builder;
	if (is_number(builder, r->c, -0.0))
		return becomes(r, TN_OP_MUL, r->a, r->b, result);
	if (is_number(builder, r->a, 1))
		return becomes(r, TN_OP_ADD, r->b, r->c, result);
	if (is_number(builder, r->b, 1))
		return becomes(r, TN_OP_ADD, r->a, r->c, result);
	return TN_IS_SIMPLE;
}

/* pow(x, 0) is 1 for every x, NaN too; pow(x, -1) and pow(x, 2) are rounded once either way. */
static enum tn_simplification simplify_pow(const struct request *r, struct simplified *result)
{
	struct tn_builder *builder = r->builder;
	if (is_number(builder, r->b, 0.0) || is_number(builder, r->b, -0.0) ||
	    is_number(builder, r->a, 1))
		return is_constant_of(r, 1, result);
	if (is_number(builder, r->b, 1))
		return is(r->a, result);
	if (is_number(builder, r->b, 2))
		return becomes(r, TN_OP_MUL, r->a, r->a, result);
	if (is_number(builder, r->b, -1))
		return becomes(r, TN_OP_DIV, tn_build_number(builder, r->dtype, 1), r->a, result);
	return TN_IS_SIMPLE;
}

static enum tn_simplification simplify_neg(const struct request *r, struct simplified *result)
{
	const struct tn_instruction *inner = made_by(r, r->a, TN_OP_NEG);
	return inner ? is(inner->a, result) : TN_IS_SIMPLE;
}

static enum tn_simplification simplify_abs(const struct request *r, struct simplified *result)
{
	const struct tn_instruction *inner = made_by(r, r->a, TN_OP_NEG);
	if (r->dtype == TN_U32 || made_by(r, r->a, TN_OP_ABS))
		return is(r->a, result);
	return inner ? becomes(r, TN_OP_ABS, inner->a, 0, result) : TN_IS_SIMPLE;
}

static int is_rounding(uint16_t op)
{
	return op == TN_OP_FLOOR || op == TN_OP_CEIL || op == TN_OP_ROUND || op == TN_OP_TRUNC;
}

/* Rounding of a value that is a whole number, infinite or NaN. */
static enum tn_simplification simplify_rounding(const struct request *r, struct simplified *result)
{
	const struct tn_instruction *inner = &r->builder->values[r->a];
	int whole = is_rounding(inner->op) || inner->op == TN_OP_SIGN;
	if (inner->op == TN_OP_CAST)
		whole = !tn_is_floating(tn_build_dtype(r->builder, inner->a));
	return whole ? is(r->a, result) : TN_IS_SIMPLE;
}

static enum tn_simplification simplify_sign(const struct request *r, struct simplified *result)
{
	return made_by(r, r->a, TN_OP_SIGN) ? is(r->a, result) : TN_IS_SIMPLE;
}

/* Operands of floating type may be NaN, which equals nothing. */
static enum tn_simplification simplify_comparison(const struct request *r,
						  struct simplified *result)
{
	if (r->a != r->b || tn_is_floating(tn_build_dtype(r->builder, r->a)))
		return TN_IS_SIMPLE;
	return is_constant_of(r, r->op == TN_OP_EQ || r->op == TN_OP_LE || r->op == TN_OP_GE,
			      result);
}

static enum tn_simplification simplify_and(const struct request *r, struct simplified *result)
{
	if (r->a == r->b || is_ones(r->builder, r->b))
		return is(r->a, result);
	return is_number(r->builder, r->b, 0) ? is(r->b, result) : TN_IS_SIMPLE;
}

static enum tn_simplification simplify_or(const struct request *r, struct simplified *result)
{
	if (r->a == r->b || is_number(r->builder, r->b, 0))
		return is(r->a, result);
	return is_ones(r->builder, r->b) ? is(r->b, result) : TN_IS_SIMPLE;
}

static enum tn_simplification simplify_xor(const struct request *r, struct simplified *result)
{
	if (r->a == r->b)
		return is_constant_of(r, 0, result);
	if (is_number(r->builder, r->b, 0))
		return is(r->a, result);
	return is_ones(r->builder, r->b) ? becomes(r, TN_OP_NOT, r->a, 0, result) : TN_IS_SIMPLE;
}

/* The comparison that is true where this one is false, or 0: with NaN only == and != have an
 * opposite. */
static uint16_t opposite(const struct tn_builder *builder, const struct tn_instruction *value)
{
	int is_ordered = !tn_is_floating(tn_build_dtype(builder, value->a));
	switch (value->op) {
	case TN_OP_EQ:
		return TN_OP_NE;
	case TN_OP_NE:
		return TN_OP_EQ;
	case TN_OP_LT:
		return is_ordered ? TN_OP_GE : 0;
	case TN_OP_LE:
		return is_ordered ? TN_OP_GT : 0;
	case TN_OP_GT:
		return is_ordered ? TN_OP_LE : 0;
	case TN_OP_GE:
		return is_ordered ? TN_OP_LT : 0;
	default:
		return 0;
	}
}

static enum tn_simplification simplify_not(const struct request *r, struct simplified *result)
{
	const struct tn_instruction inner = r->builder->values[r->a];
	if (inner.op == TN_OP_NOT)
		return is(inner.a, result);
	uint16_t other = opposite(r->builder, &inner);
	return other ? becomes(r, other, inner.a, inner.b, result) : TN_IS_SIMPLE;
}

/* Counts are modulo the width. */
static enum tn_simplification simplify_shift(const struct request *r, struct simplified *result)
{
	uint64_t bits;
	unsigned width = 8 * (unsigned)tn_dtype_size(r->dtype);
	if (tn_build_is_constant(r->builder, r->b, &bits) && !(bits & (width - 1)))
		return is(r->a, result);
	return TN_IS_SIMPLE;
}

static enum tn_simplification simplify_select(const struct request *r, struct simplified *result)
{
	struct tn_builder *builder = r->builder;
	uint64_t condition;
	if (r->b == r->c)
		return is(r->b, result);
	if (tn_build_is_constant(builder, r->a, &condition))
		return is(condition ? r->b : r->c, result);
	const struct tn_instruction *negated = made_by(r, r->a, TN_OP_NOT);
	if (negated)
		return becomes_of_three(r, TN_OP_SELECT, negated->a, r->c, r->b, result);
	if (r->dtype != TN_BOOL)
		return TN_IS_SIMPLE;
	if (is_number(builder, r->b, 1) && is_number(builder, r->c, 0))
		return is(r->a, result);
	if (is_number(builder, r->b, 0) && is_number(builder, r->c, 1))
		return becomes(r, TN_OP_NOT, r->a, 0, result);
	return TN_IS_SIMPLE;
}

/* Does every value of `from` have a value of `to` that converts back to it? */
static int widens(tn_dtype from, tn_dtype to)
{
	switch (from) {
	case TN_BOOL:
		return 1;
	case TN_I32:
		return to == TN_I64 || to == TN_F64 || to == TN_U32;
	case TN_U32:
		return to == TN_I64 || to == TN_F64 || to == TN_I32;
	case TN_F32:
		return to == TN_F64;
	default:
		return 0;
	}
}

/* Round trips, and conversions of 0 and 1 through another type. */
static enum tn_simplification simplify_cast(const struct request *r, struct simplified *result)
{
	const struct tn_instruction *inner = made_by(r, r->a, TN_OP_CAST);
	if (!inner)
		return TN_IS_SIMPLE;
	tn_dtype first = tn_build_dtype(r->builder, inner->a);
	tn_dtype middle = tn_build_dtype(r->builder, r->a);
	if (first == r->dtype && widens(first, middle))
		return is(inner->a, result);
	if (first == TN_BOOL)
		return becomes(r, TN_OP_CAST, inner->a, 0, result);
	return TN_IS_SIMPLE;
}

static enum tn_simplification simplify_bitcast(const struct request *r, struct simplified *result)
{
	const struct tn_instruction *inner = made_by(r, r->a, TN_OP_BITCAST);
	if (tn_build_dtype(r->builder, r->a) == r->dtype)
		return is(r->a, result);
	return inner ? becomes(r, TN_OP_BITCAST, inner->a, 0, result) : TN_IS_SIMPLE;
}

static enum tn_simplification simplify_extreme(const struct request *r, struct simplified *result)
{
	return r->a == r->b ? is(r->a, result) : TN_IS_SIMPLE;
}

enum tn_simplification tn_simplify(struct tn_builder *builder, struct tn_instruction *value,
				   tn_value *result)
{
	static enum tn_simplification (*const rules[TN_OP_COUNT])(const struct request *,
								  struct simplified *) = {
		[TN_OP_ADD] = simplify_add,         [TN_OP_SUB] = simplify_sub,
		[TN_OP_MUL] = simplify_mul,         [TN_OP_DIV] = simplify_div,
		[TN_OP_REM] = simplify_rem,         [TN_OP_NEG] = simplify_neg,
		[TN_OP_ABS] = simplify_abs,         [TN_OP_MIN] = simplify_extreme,
		[TN_OP_MAX] = simplify_extreme,     [TN_OP_FMA] = simplify_fma,
		[TN_OP_POW] = simplify_pow,         [TN_OP_FLOOR] = simplify_rounding,
		[TN_OP_CEIL] = simplify_rounding,   [TN_OP_ROUND] = simplify_rounding,
		[TN_OP_TRUNC] = simplify_rounding,  [TN_OP_SIGN] = simplify_sign,
		[TN_OP_EQ] = simplify_comparison,   [TN_OP_NE] = simplify_comparison,
		[TN_OP_LT] = simplify_comparison,   [TN_OP_LE] = simplify_comparison,
		[TN_OP_GT] = simplify_comparison,   [TN_OP_GE] = simplify_comparison,
		[TN_OP_AND] = simplify_and,         [TN_OP_OR] = simplify_or,
		[TN_OP_XOR] = simplify_xor,         [TN_OP_NOT] = simplify_not,
		[TN_OP_SHL] = simplify_shift,       [TN_OP_SHR] = simplify_shift,
		[TN_OP_SELECT] = simplify_select,   [TN_OP_CAST] = simplify_cast,
		[TN_OP_BITCAST] = simplify_bitcast,
	};
	const struct request request = {builder,  value->op, value->dtype,
					value->a, value->b,  value->c};
	struct simplified simplified = {0};
	if (value->op >= TN_OP_COUNT || !rules[value->op])
		return TN_IS_SIMPLE;
	const enum tn_simplification outcome = rules[value->op](&request, &simplified);
	if (outcome == TN_IS_VALUE)
		*result = simplified.value;
	if (outcome == TN_BECOMES_OP)
		*value = simplified.op;
	return outcome;
}
