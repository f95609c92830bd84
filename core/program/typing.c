/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Types of operators.  Typed terms are promoted by tn_promote.  A literal takes the type of the
 * other operand: an integer literal that of any number, a real one that of a floating value, and
 * f32 beside integers.  Operations on literals alone are computed once in i64 and f64, and stay
 * literals.
 */
#include "program/typing.h"

#include <float.h>
#include <math.h>

#include <tenon/status.h>

#include "program/cast.h"
#include "program/opcode.h"
#include "program/parser_state.h"
#include "program/sink.h"
#include "program/unsigned64.h"

tn_dtype tn_term_dtype(const struct tn_parser *parser, struct tn_term term)
{
	return term.is_u64 ? TN_U64 : tn_build_dtype(&parser->builder, term.value);
}

struct tn_term tn_term_of(tn_value value, tn_dtype dtype)
{
	return (struct tn_term){.value = value, .is_u64 = dtype == TN_U64};
}

const char *tn_term_type(const struct tn_parser *parser, struct tn_term term)
{
	if (term.is_literal)
		return tn_term_dtype(parser, term) == TN_I64 ? "an integer literal" : "a literal";
	return tn_dtype_name(tn_term_dtype(parser, term));
}

struct tn_term tn_literal_integer(struct tn_parser *parser, int64_t integer)
{
	return (struct tn_term){
		.value = tn_build_constant(&parser->builder, TN_I64, (uint64_t)integer),
		.is_literal = 1};
}

struct tn_term tn_literal_real(struct tn_parser *parser, double real)
{
	return (struct tn_term){
		.value = tn_build_constant(&parser->builder, TN_F64, tn_bits_of_f64(real)),
		.is_literal = 1};
}

static uint64_t bits_of(const struct tn_parser *parser, struct tn_term term)
{
	return parser->builder.bits[term.value];
}

static int is_real(const struct tn_parser *parser, struct tn_term term)
{
	return tn_is_floating(tn_term_dtype(parser, term));
}

/* Can the dtype represent the literal's value, up to rounding? */
static int fits(const struct tn_parser *parser, struct tn_term literal, tn_dtype dtype)
{
	int64_t integer = (int64_t)bits_of(parser, literal);
	if (is_real(parser, literal)) {
		double real = tn_f64_of_bits(bits_of(parser, literal));
		return dtype != TN_F32 || !isfinite(real) ||
		       isfinite(tn_f32_of_bits(
			       tn_cast_bits(TN_F64, TN_F32, bits_of(parser, literal))));
	}
	if (dtype == TN_I32)
		return integer >= INT32_MIN && integer <= INT32_MAX;
	if (dtype == TN_U32)
		return integer >= 0 && integer <= UINT32_MAX;
	return dtype != TN_U64 || integer >= 0;
}

tn_value tn_term_cast(struct tn_parser *parser, struct tn_term term, tn_dtype dtype)
{
	if (parser->status)
		return 0;
	if (term.is_u64)
		return dtype == TN_U64 ? term.value
				       : tn_u64_to(&parser->builder, dtype, term.value);
	if (dtype == TN_U64)
		return tn_u64_from(&parser->builder, term.value);
	return tn_build_cast(&parser->builder, dtype, term.value);
}

tn_value tn_term_as(struct tn_parser *parser, const struct tn_token *token, struct tn_term term,
		    tn_dtype dtype)
{
	if (parser->status)
		return 0;
	if (term.is_literal && !fits(parser, term, dtype)) {
		char text[64];
		struct tn_sink sink;
		tn_sink_init(&sink, text, sizeof(text));
		tn_sink_number(&sink, tn_term_dtype(parser, term), bits_of(parser, term));
		return tn_parse_fail(
			       parser, token, TN_DTYPE,
			       "the literal %s does not fit %s, the type of the other operand",
			       text, tn_dtype_name(dtype))
			.value;
	}
	return tn_term_cast(parser, term, dtype);
}

struct tn_term tn_term_settle(struct tn_parser *parser, struct tn_term term)
{
	if (parser->status || !term.is_literal)
		return term;
	tn_dtype dtype = is_real(parser, term)        ? TN_F32
			 : fits(parser, term, TN_I32) ? TN_I32
						      : TN_I64;
	return tn_term_of(tn_term_cast(parser, term, dtype), dtype);
}

/* The dtype of the typed terms among n, and whether there is a real literal. */
static tn_dtype typed_dtype(const struct tn_parser *parser, int n, const struct tn_term *terms,
			    int *has_real, int *has_literal)
{
	tn_dtype dtype = 0;
	*has_real = *has_literal = 0;
	for (int i = 0; i < n; i++) {
		if (terms[i].is_literal) {
			*has_literal = 1;
			*has_real |= is_real(parser, terms[i]);
			continue;
		}
		tn_dtype own = tn_term_dtype(parser, terms[i]);
		dtype = dtype ? tn_promote(dtype, own) : own;
	}
	return dtype;
}

static tn_dtype convert_all(struct tn_parser *parser, const struct tn_token *token, int n,
			    struct tn_term *terms, tn_dtype dtype, int is_literal)
{
	for (int i = 0; i < n; i++) {
		terms[i] = tn_term_of(tn_term_as(parser, token, terms[i], dtype), dtype);
		terms[i].is_literal = (uint8_t)is_literal;
	}
	return dtype;
}

tn_dtype tn_terms_unify(struct tn_parser *parser, const struct tn_token *token, int n,
			struct tn_term *terms)
{
	int has_real, has_literal;
	if (parser->status)
		return 0;
	tn_dtype dtype = typed_dtype(parser, n, terms, &has_real, &has_literal);
	if (!dtype)
		return convert_all(parser, token, n, terms, has_real ? TN_F64 : TN_I64, 1);
	if (has_literal && dtype == TN_BOOL)
		dtype = TN_I32;
	if (has_real && !tn_is_floating(dtype))
		dtype = TN_F32;
	return convert_all(parser, token, n, terms, dtype, 0);
}

tn_dtype tn_terms_unify_floating(struct tn_parser *parser, const struct tn_token *token, int n,
				 struct tn_term *terms)
{
	int has_real, has_literal;
	if (parser->status)
		return 0;
	tn_dtype dtype = typed_dtype(parser, n, terms, &has_real, &has_literal);
	if (!dtype)
		return convert_all(parser, token, n, terms, TN_F64, 1);
	return convert_all(parser, token, n, terms, tn_is_floating(dtype) ? dtype : TN_F32, 0);
}

struct tn_term tn_term_apply(struct tn_parser *parser, uint16_t op, int n,
			     const struct tn_term *terms)
{
	if (parser->status)
		return (struct tn_term){0};
	int gives_bool = (tn_op_information(op)->flags & TN_GIVES_BOOL) != 0;
	tn_dtype dtype = gives_bool ? TN_BOOL : tn_term_dtype(parser, terms[n - 1]);
	tn_value a = terms[0].value, b = n > 1 ? terms[1].value : 0, c = n > 2 ? terms[2].value : 0;
	tn_value value = terms[n - 1].is_u64 ? tn_u64_op(&parser->builder, op, a, b, c)
					     : tn_build_op(&parser->builder, op, dtype, a, b, c);
	struct tn_term result = tn_term_of(value, dtype);
	result.is_literal = gives_bool ? 0 : terms[0].is_literal;
	return result;
}

/* Booleans count as 0 and 1 in arithmetic. */
static void number_of_bool(struct tn_parser *parser, int n, struct tn_term *terms)
{
	if (parser->status || tn_term_dtype(parser, terms[0]) != TN_BOOL)
		return;
	for (int i = 0; i < n; i++)
		terms[i].value = tn_term_cast(parser, terms[i], TN_I32);
}

struct tn_term tn_type_unary(struct tn_parser *parser, const struct tn_token *token, uint16_t op,
			     struct tn_term a)
{
	unsigned flags = tn_op_information(op)->flags;
	if (parser->status)
		return a;
	if (!(flags & TN_TAKES_BOOL))
		number_of_bool(parser, 1, &a);
	if (!(flags & TN_TAKES_FLOATS) && is_real(parser, a))
		return tn_parse_fail(parser, token, TN_DTYPE,
				     "'~' takes integers or booleans, found %s",
				     tn_term_type(parser, a));
	return tn_term_apply(parser, op, 1, &a);
}

/* 1/2 between literals would be 0, which is rarely intended. */
static int loses_fraction(struct tn_parser *parser, uint16_t op, const struct tn_term *terms)
{
	if (op != TN_OP_DIV || !terms[0].is_literal || is_real(parser, terms[0]))
		return 0;
	int64_t a = (int64_t)bits_of(parser, terms[0]), b = (int64_t)bits_of(parser, terms[1]);
	return b == 0 || (b != -1 && a % b != 0);
}

static struct tn_term type_bits(struct tn_parser *parser, const struct tn_token *token, uint16_t op,
				struct tn_term *terms)
{
	int booleans = 0, reals = 0;
	for (int i = 0; i < 2 && !parser->status; i++) {
		booleans += tn_term_dtype(parser, terms[i]) == TN_BOOL;
		reals += is_real(parser, terms[i]);
	}
	if (reals || booleans == 1)
		return tn_parse_fail(parser, token, TN_DTYPE,
				     "'%.*s' takes two integers or two booleans, found %s and %s",
				     (int)token->length, token->start,
				     tn_term_type(parser, terms[0]),
				     tn_term_type(parser, terms[1]));
	tn_terms_unify(parser, token, 2, terms);
	return tn_term_apply(parser, op, 2, terms);
}

/* The result has the left operand's type; only the count's lowest bits matter. */
static struct tn_term type_shift(struct tn_parser *parser, const struct tn_token *token,
				 uint16_t op, struct tn_term *terms)
{
	number_of_bool(parser, 1, &terms[0]);
	number_of_bool(parser, 1, &terms[1]);
	if (!parser->status && (is_real(parser, terms[0]) || is_real(parser, terms[1])))
		return tn_parse_fail(parser, token, TN_DTYPE,
				     "'%.*s' takes integers, found %s and %s", (int)token->length,
				     token->start, tn_term_type(parser, terms[0]),
				     tn_term_type(parser, terms[1]));
	if (!terms[1].is_literal)
		terms[0] = tn_term_settle(parser, terms[0]);
	tn_dtype dtype = tn_term_dtype(parser, terms[0]);
	terms[1] = tn_term_of(tn_term_cast(parser, terms[1], dtype), dtype);
	return tn_term_apply(parser, op, 2, terms);
}

struct tn_term tn_type_binary(struct tn_parser *parser, const struct tn_token *token, uint16_t op,
			      struct tn_term a, struct tn_term b)
{
	struct tn_term terms[] = {a, b};
	if (parser->status)
		return a;
	if (op == TN_OP_SHL || op == TN_OP_SHR)
		return type_shift(parser, token, op, terms);
	if (op == TN_OP_AND || op == TN_OP_OR || op == TN_OP_XOR)
		return type_bits(parser, token, op, terms);
	if (tn_op_information(op)->flags & TN_GIVES_BOOL) {
		tn_terms_unify(parser, token, 2, terms);
		return tn_term_apply(parser, op, 2, terms);
	}
	tn_terms_unify(parser, token, 2, terms);
	number_of_bool(parser, 2, terms);
	if (!parser->status && loses_fraction(parser, op, terms))
		return tn_parse_fail(parser, token, TN_DTYPE,
				     "the integer literals do not divide evenly; write one of them "
				     "with a point, as in 1.0/2");
	return tn_term_apply(parser, op, 2, terms);
}

struct tn_term tn_type_logical(struct tn_parser *parser, const struct tn_token *token, uint16_t op,
			       struct tn_term a, struct tn_term b)
{
	(void)token;
	if (parser->status)
		return a;
	const struct tn_term terms[] = {{.value = tn_term_cast(parser, a, TN_BOOL)},
					{.value = tn_term_cast(parser, b, TN_BOOL)}};
	return tn_term_apply(parser, op, 2, terms);
}

struct tn_term tn_type_not(struct tn_parser *parser, const struct tn_token *token, struct tn_term a)
{
	(void)token;
	if (parser->status)
		return a;
	const struct tn_term truth = {.value = tn_term_cast(parser, a, TN_BOOL)};
	return tn_term_apply(parser, TN_OP_NOT, 1, &truth);
}

/* A select between literals is a literal when the condition is constant; else it needs a type. */
struct tn_term tn_type_select(struct tn_parser *parser, const struct tn_token *token,
			      struct tn_term condition, struct tn_term yes, struct tn_term no)
{
	struct tn_term terms[] = {yes, no};
	if (parser->status)
		return condition;
	tn_value truth = tn_term_cast(parser, condition, TN_BOOL);
	tn_terms_unify(parser, token, 2, terms);
	if (!parser->status && terms[0].is_literal &&
	    !tn_build_is_constant(&parser->builder, truth, NULL)) {
		terms[0] = tn_term_settle(parser, terms[0]);
		terms[1] = tn_term_settle(parser, terms[1]);
		tn_terms_unify(parser, token, 2, terms);
	}
	const struct tn_term all[] = {
		{.value = truth, .is_literal = terms[0].is_literal}, terms[0], terms[1]};
	return tn_term_apply(parser, TN_OP_SELECT, 3, all);
}

/* The constant exponent as a whole number; 0 when it is not one. */
static int whole_exponent(const struct tn_parser *parser, struct tn_term b, int64_t *exponent)
{
	if (!tn_build_is_constant(&parser->builder, b.value, NULL) || is_real(parser, b))
		return 0;
	*exponent = (int64_t)tn_cast_bits(tn_term_dtype(parser, b), TN_I64, bits_of(parser, b));
	return *exponent >= 0;
}

struct tn_term tn_type_power(struct tn_parser *parser, const struct tn_token *token,
			     struct tn_term a, struct tn_term b)
{
	struct tn_term terms[] = {a, b};
	int64_t exponent;
	if (parser->status)
		return a;
	if (is_real(parser, a) || is_real(parser, b)) {
		tn_terms_unify_floating(parser, token, 2, terms);
		return tn_term_apply(parser, TN_OP_POW, 2, terms);
	}
	if (!whole_exponent(parser, b, &exponent))
		return tn_parse_fail(parser, token, TN_DTYPE,
				     "the power of an integer takes a constant exponent of 0 or "
				     "more; convert the base first, as in f32(x)");
	number_of_bool(parser, 1, &a);
	/* a to the power of n >= 0 by squaring: integers, with wrap-around. */
	uint64_t n = (uint64_t)exponent;
	struct tn_builder *builder = &parser->builder;
	tn_dtype dtype = tn_build_dtype(builder, a.value);
	tn_value result = tn_build_constant(builder, dtype, 1), square = a.value;
	for (; n; n >>= 1) {
		if (n & 1)
			result = tn_build_op(builder, TN_OP_MUL, dtype, result, square, 0);
		if (n > 1)
			square = tn_build_op(builder, TN_OP_MUL, dtype, square, square, 0);
	}
	a.value = result;
	return a;
}
