/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Types the calls of functions that are not formulas: index, casts of bits, random numbers,
 * quantiles, floating and fused functions.
 */
#include "program/calls.h"

#include <tenon/status.h>

#include "program/cast.h"
#include "program/typing.h"

static struct tn_term call_index(struct tn_parser *parser, const struct tn_token *name,
				 struct tn_term axis)
{
	uint64_t number;
	if (!axis.is_literal || tn_term_dtype(parser, axis) != TN_I64 ||
	    !tn_build_is_constant(&parser->builder, axis.value, &number) || number >= TN_MAX_RANK)
		return tn_parse_fail(parser, name, TN_FORMAT,
				     "index() takes the number of an axis, 0 to %d, as a literal",
				     TN_MAX_RANK - 1);
	tn_value value = tn_build_source(&parser->builder, TN_OP_INDEX, TN_I64, (uint32_t)number);
	return (struct tn_term){.value = value};
}

static struct tn_term call_bitcast(struct tn_parser *parser, const struct tn_token *name,
				   tn_dtype dtype, struct tn_term a)
{
	/* A literal has the type that it has on its own; hexadecimal may fill 32 bits. */
	uint64_t bits;
	if (a.is_literal && tn_build_is_constant(&parser->builder, a.value, &bits) &&
	    tn_term_dtype(parser, a) == TN_I64 && bits <= UINT32_MAX)
		a = (struct tn_term){.value = tn_build_constant(&parser->builder, TN_U32, bits)};
	a = tn_term_settle(parser, a);
	tn_dtype from = tn_term_dtype(parser, a);
	if (from == TN_BOOL || tn_dtype_size(from) != 4)
		return tn_parse_fail(parser, name, TN_DTYPE,
				     "a bitcast takes i32, u32 or f32, found %s",
				     tn_dtype_name(from));
	return (struct tn_term){
		.value = tn_build_op(&parser->builder, TN_OP_BITCAST, dtype, a.value, 0, 0)};
}

/* Seed, stream and number are i64; reals are refused. */
static struct tn_term call_random(struct tn_parser *parser, const struct tn_token *name,
				  const struct tn_term *arguments)
{
	tn_value values[3];
	for (int i = 0; i < 3; i++) {
		tn_dtype dtype = tn_term_dtype(parser, arguments[i]);
		if (!tn_is_integer(dtype))
			return tn_parse_fail(
				parser, name, TN_DTYPE,
				"expected integers as seed, stream and number, found %s",
				tn_term_type(parser, arguments[i]));
		values[i] = tn_term_cast(parser, arguments[i], TN_I64);
	}
	tn_value word = tn_build_op(&parser->builder, TN_OP_RANDOM, TN_U32, values[0], values[1],
				    values[2]);
	return (struct tn_term){.value = word};
}

static struct tn_term call_quantile(struct tn_parser *parser, const struct tn_token *name,
				    struct tn_term word)
{
	tn_dtype dtype = tn_term_dtype(parser, word);
	if (parser->status)
		return word;
	if (!tn_is_integer(dtype))
		return tn_parse_fail(parser, name, TN_DTYPE,
				     "expected an integer as the word, found %s",
				     tn_term_type(parser, word));
	tn_value value = tn_term_cast(parser, word, TN_U32);
	return (struct tn_term){
		.value = tn_build_op(&parser->builder, TN_OP_NORMAL, TN_F32, value, 0, 0)};
}

static struct tn_term call_floating(struct tn_parser *parser, const struct tn_token *name,
				    const struct tn_function *function, struct tn_term *arguments)
{
	tn_terms_unify_floating(parser, name, function->n_arguments, arguments);
	return tn_term_apply(parser, function->op, function->n_arguments, arguments);
}

static struct tn_term call_fused(struct tn_parser *parser, const struct tn_token *name,
				 const struct tn_function *function, struct tn_term *arguments)
{
	if (tn_is_floating(tn_terms_unify(parser, name, 3, arguments)))
		return call_floating(parser, name, function, arguments);
	struct tn_term product =
		tn_type_binary(parser, name, TN_OP_MUL, arguments[0], arguments[1]);
	return tn_type_binary(parser, name, TN_OP_ADD, product, arguments[2]);
}

struct tn_term tn_type_call(struct tn_parser *parser, const struct tn_token *name,
			    const struct tn_function *function, struct tn_term *arguments)
{
	struct tn_builder *builder = &parser->builder;
	switch ((enum tn_call_kind)function->kind) {
	case TN_CALL_FLOATING:
		return call_floating(parser, name, function, arguments);
	case TN_CALL_NUMBER:
		/* min, max, rem, abs, sign: as for the operators, booleans count as 0 and 1. */
		if (function->n_arguments == 2)
			return tn_type_binary(parser, name, function->op, arguments[0],
					      arguments[1]);
		return tn_type_unary(parser, name, function->op, arguments[0]);
	case TN_CALL_ROUNDING:
		if (!tn_is_floating(tn_term_dtype(parser, arguments[0])))
			return arguments[0];
		return call_floating(parser, name, function, arguments);
	case TN_CALL_FUSED:
		return call_fused(parser, name, function, arguments);
	case TN_CALL_POWER:
		return tn_type_power(parser, name, arguments[0], arguments[1]);
	case TN_CALL_CHOICE:
		return tn_type_select(parser, name, arguments[0], arguments[1], arguments[2]);
	case TN_CALL_CAST:
		return tn_term_of(tn_term_cast(parser, arguments[0], function->dtype),
				  function->dtype);
	case TN_CALL_BITCAST:
		return call_bitcast(parser, name, function->dtype, arguments[0]);
	case TN_CALL_INDEX:
		return call_index(parser, name, arguments[0]);
	case TN_CALL_ELEMENT:
		return (struct tn_term){.value =
						tn_build_source(builder, TN_OP_ELEMENT, TN_I64, 0)};
	case TN_CALL_RANDOM:
		return call_random(parser, name, arguments);
	case TN_CALL_NORMAL:
		return call_quantile(parser, name, call_random(parser, name, arguments));
	case TN_CALL_QUANTILE:
		return call_quantile(parser, name, arguments[0]);
	default: /* formulas are the parser's */
		return (struct tn_term){0};
	}
}
