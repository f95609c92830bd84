/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls: functions that are one opcode, casts, sources, and functions that are formulas over other
 * functions, which are parsed like the program itself with the arguments in place of the names.
 */
#include "program/functions.h"

#include <stdio.h>
#include <string.h>

#include <tenon/status.h>

#include "base/name.h"
#include "base/words.h"
#include "program/cast.h"
#include "program/opcode.h"
#include "program/parser.h"
#include "program/parser_state.h"
#include "program/typing.h"

#define MAX_ARGUMENTS 5
/* Longer names are never similar to another. */
#define LONGEST 32

enum kind {
	FORMULA,
	UNIFIED,  /* a formula over arguments of one type */
	FLOATING, /* all arguments become one floating type; the result has it */
	NUMBER,   /* all become one type of number */
	ROUNDING, /* integers are unchanged */
	FUSED,    /* fma: of integers a * b + c */
	POWER,
	CHOICE,
	CAST,
	BITCAST,
	INDEX,
	ELEMENT,
	RANDOM,
	NORMAL,   /* the normal number of (seed, stream, i) */
	QUANTILE, /* that of a u32 */
};

struct function {
	const char *name;
	uint8_t kind;
	uint8_t n_arguments; /* of a formula: the number of parameters */
	uint16_t op;
	tn_dtype dtype;         /* of a cast */
	const char *parameters; /* of a formula: words */
	const char *formula;
};

static const struct function functions[] = {
	{.name = "abs", .kind = NUMBER, .n_arguments = 1, .op = TN_OP_ABS},
	{.name = "bitcast_f32", .kind = BITCAST, .n_arguments = 1, .dtype = TN_F32},
	{.name = "bitcast_i32", .kind = BITCAST, .n_arguments = 1, .dtype = TN_I32},
	{.name = "bitcast_u32", .kind = BITCAST, .n_arguments = 1, .dtype = TN_U32},
	{.name = "bool", .kind = CAST, .n_arguments = 1, .dtype = TN_BOOL},
	{.name = "ceil", .kind = ROUNDING, .n_arguments = 1, .op = TN_OP_CEIL},
	{.name = "element", .kind = ELEMENT},
	{.name = "f32", .kind = CAST, .n_arguments = 1, .dtype = TN_F32},
	{.name = "f64", .kind = CAST, .n_arguments = 1, .dtype = TN_F64},
	{.name = "floor", .kind = ROUNDING, .n_arguments = 1, .op = TN_OP_FLOOR},
	{.name = "fma", .kind = FUSED, .n_arguments = 3, .op = TN_OP_FMA},
	{.name = "i32", .kind = CAST, .n_arguments = 1, .dtype = TN_I32},
	{.name = "i64", .kind = CAST, .n_arguments = 1, .dtype = TN_I64},
	{.name = "index", .kind = INDEX, .n_arguments = 1},
	{.name = "max", .kind = NUMBER, .n_arguments = 2, .op = TN_OP_MAX},
	{.name = "min", .kind = NUMBER, .n_arguments = 2, .op = TN_OP_MIN},
	{.name = "normal", .kind = NORMAL, .n_arguments = 3, .op = TN_OP_NORMAL},
	{.name = "normal_quantile", .kind = QUANTILE, .n_arguments = 1, .op = TN_OP_NORMAL},
	{.name = "pow", .kind = POWER, .n_arguments = 2, .op = TN_OP_POW},
	{.name = "random", .kind = RANDOM, .n_arguments = 3, .op = TN_OP_RANDOM},
	{.name = "rem", .kind = NUMBER, .n_arguments = 2, .op = TN_OP_REM},
	{.name = "round", .kind = ROUNDING, .n_arguments = 1, .op = TN_OP_ROUND},
	{.name = "select", .kind = CHOICE, .n_arguments = 3, .op = TN_OP_SELECT},
	{.name = "sign", .kind = NUMBER, .n_arguments = 1, .op = TN_OP_SIGN},
	{.name = "trunc", .kind = ROUNDING, .n_arguments = 1, .op = TN_OP_TRUNC},
	{.name = "u32", .kind = CAST, .n_arguments = 1, .dtype = TN_U32},
	{.name = "u64", .kind = CAST, .n_arguments = 1, .dtype = TN_U64},
	{.name = "where", .kind = CHOICE, .n_arguments = 3, .op = TN_OP_SELECT},

	/* The derivative of the branch of a select that is not taken must be finite as well: 0
	 * times infinity would be NaN.  Hence the inner select of elu. */
	{.name = "clamp",
	 .parameters = "x low high",
	 .formula = "(x <= low ? low : x) >= high ? high : (x <= low ? low : x)"},
	{.name = "copysign",
	 .kind = UNIFIED,
	 .parameters = "x y",
	 .formula = "y < 0 || 1.0 / y < 0 ? -abs(x) : abs(x)"},
	{.name = "elu",
	 .parameters = "x alpha",
	 .formula = "x > 0 ? x : alpha * expm1(x > 0 ? 0 : x)"},
	{.name = "gelu",
	 .parameters = "x",
	 .formula = "0.5 * x * (1 + erf(x * 0.70710678118654752))"},
	{.name = "gelu_tanh",
	 .parameters = "x",
	 .formula = "0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)))"},
	/* By the larger: nothing overflows.  A divisor of 1 where both are 0, as for elu. */
	{.name = "hypot",
	 .parameters = "x y",
	 .formula =
		 "abs(x) == inf || abs(y) == inf ? inf : max(abs(x), abs(y)) * sqrt(1.0 + "
		 "square(min(abs(x), abs(y)) / (x == 0 && y == 0 ? 1.0 : max(abs(x), abs(y)))))"},
	{.name = "isfinite", .parameters = "x", .formula = "abs(x) < inf"},
	{.name = "isinf", .parameters = "x", .formula = "abs(x) == inf"},
	{.name = "isnan", .parameters = "x", .formula = "x != x"},
	{.name = "leaky_relu", .parameters = "x slope", .formula = "x > 0 ? x : slope * x"},
	{.name = "lerp", .parameters = "a b t", .formula = "a + t * (b - a)"},
	{.name = "log_sigmoid",
	 .parameters = "x",
	 .formula = "(x > 0 ? 0 : x) - log1p(exp(x > 0 ? -x : x))"},
	{.name = "mish", .parameters = "x", .formula = "x * tanh(softplus(x))"},
	{.name = "normal",
	 .parameters = "seed stream i mean deviation",
	 .formula = "mean + deviation * normal(seed, stream, i)"},
	{.name = "reciprocal", .parameters = "x", .formula = "1.0 / x"},
	{.name = "relu", .parameters = "x", .formula = "x <= 0 ? 0 : x"},
	{.name = "silu", .parameters = "x", .formula = "x * sigmoid(x)"},
	/* Without max and abs, whose kinks at 0 would show in its second derivative; so is
	 * log_sigmoid. */
	{.name = "softplus",
	 .parameters = "x",
	 .formula = "(x > 0 ? x : 0) + log1p(exp(x > 0 ? -x : x))"},
	{.name = "square", .parameters = "x", .formula = "x * x"},
	{.name = "uniform",
	 .parameters = "seed stream i",
	 .formula = "f32(random(seed, stream, i) >> 8) * 0x1p-24"},
	{.name = "uniform",
	 .parameters = "seed stream i low high",
	 .formula = "low + (high - low) * uniform(seed, stream, i)"},
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* An opcode of floating types alone is a function by its own name, unless it has a row in the
 * table. */
static struct function function_of(uint16_t op)
{
	const struct tn_op_info *info = tn_op_information(op);
	if ((info->flags & TN_TAKES_ANY) != TN_TAKES_FLOATS)
		return (struct function){.name = ""};
	return (struct function){
		.name = info->name, .n_arguments = info->arity, .kind = FLOATING, .op = op};
}

/* The k-th name of a function, rows first, then opcodes; names may repeat.  NULL: none. */
static const char *function_name(size_t k)
{
	if (k < N_FUNCTIONS)
		return functions[k].name;
	k -= N_FUNCTIONS;
	return k < TN_OP_COUNT ? function_of((uint16_t)k).name : NULL;
}

/* ---- The nearest known name to one that nothing has ------------------------------------------*/

struct nearest {
	char name[LONGEST + 1], best[LONGEST + 1];
	size_t distance; /* of the best; initially one above the limit for similar names */
};

static void consider(struct nearest *nearest, const char *name, size_t length)
{
	char known[LONGEST + 1];
	if (!length || length > LONGEST)
		return;
	snprintf(known, sizeof(known), "%.*s", (int)length, name);
	size_t edits = tn_name_distance(nearest->name, known);
	if (edits >= nearest->distance || edits >= length)
		return;
	memcpy(nearest->best, known, sizeof(known));
	nearest->distance = edits;
}

const char *tn_suggest(const struct tn_parser *parser, const struct tn_token *name, char *buffer,
		       size_t size)
{
	struct nearest nearest = {.distance = name->length > 4 ? 3 : 2};
	buffer[0] = '\0';
	if (name->length > LONGEST)
		return buffer;
	snprintf(nearest.name, sizeof(nearest.name), "%.*s", (int)name->length, name->start);
	for (uint32_t i = 0; i < parser->scope.n_bindings; i++) {
		const struct tn_binding *binding = &parser->scope.bindings[i];
		if (binding->is_set)
			consider(&nearest, binding->name, binding->length);
	}
	for (size_t k = 0; function_name(k); k++)
		consider(&nearest, function_name(k), strlen(function_name(k)));
	if (nearest.best[0])
		snprintf(buffer, size, "; did you mean '%s'?", nearest.best);
	return buffer;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static int has_name(const struct function *function, const struct tn_token *name)
{
	return strlen(function->name) == name->length &&
	       !memcmp(function->name, name->start, name->length);
}

/* The function of that name and number of arguments; else one of that name, or of name NULL. */
static struct function find_function(const struct tn_token *name, int n_arguments)
{
	struct function named = {.name = NULL};
	for (size_t k = 0; k < N_FUNCTIONS; k++) {
		if (!has_name(&functions[k], name))
			continue;
		named = functions[k];
		if (named.formula)
			named.n_arguments = (uint8_t)tn_count_words(named.parameters);
		if (named.n_arguments == n_arguments)
			return named;
	}
	for (uint16_t op = 0; op < TN_OP_COUNT && !named.name; op++) {
		const struct function function = function_of(op);
		if (has_name(&function, name))
			named = function;
	}
	return named;
}

/* Parses from '(' past ')'; returns the number of arguments. */
static int parse_arguments(struct tn_parser *parser, struct tn_term *arguments)
{
	int n = 0;
	parser->parentheses++;
	tn_parse_advance(parser);
	while (!parser->status && !(n == 0 && tn_parse_sees(parser, ')'))) {
		if (n == MAX_ARGUMENTS) {
			tn_parse_fail(parser, &parser->token, TN_FORMAT,
				      "no function takes more than %d arguments", MAX_ARGUMENTS);
			return n;
		}
		arguments[n++] = tn_parse_expression(parser);
		if (!tn_parse_sees(parser, ','))
			break;
		tn_parse_advance(parser);
	}
	if (!tn_parse_sees(parser, ')'))
		tn_parse_expected(parser, "',', ')' or an operator");
	parser->parentheses--;
	tn_parse_advance(parser);
	return n;
}

/* Parses the formula with its parameters bound to the arguments, then continues in the text. */
static struct tn_term call_formula(struct tn_parser *parser, const struct tn_token *name,
				   const struct function *function, const struct tn_term *arguments)
{
	const struct tn_parser outer = *parser;
	struct tn_binding bindings[MAX_ARGUMENTS];
	const char *parameter = function->parameters;
	for (int i = 0; i < function->n_arguments; i++) {
		bindings[i] = (struct tn_binding){.name = parameter,
						  .length = tn_word_length(parameter),
						  .kind = TN_BINDING_INPUT,
						  .is_set = 1,
						  .term = arguments[i]};
		parameter += bindings[i].length + 1;
	}
	parser->scope = (struct tn_bindings){bindings, function->n_arguments};
	parser->parentheses = 0;
	if (!parser->call)
		parser->call = name;
	tn_lexer_init(&parser->lexer, function->formula, outer.lexer.locale);
	tn_parse_advance(parser);
	struct tn_term term = tn_parse_expression(parser);
	parser->scope = outer.scope;
	parser->parentheses = outer.parentheses;
	parser->call = outer.call;
	parser->lexer = outer.lexer;
	if (!parser->status)
		parser->token = outer.token;
	return term;
}

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
				    const struct function *function, struct tn_term *arguments)
{
	tn_terms_unify_floating(parser, name, function->n_arguments, arguments);
	return tn_term_apply(parser, function->op, function->n_arguments, arguments);
}

static struct tn_term call_fused(struct tn_parser *parser, const struct tn_token *name,
				 const struct function *function, struct tn_term *arguments)
{
	if (tn_is_floating(tn_terms_unify(parser, name, 3, arguments)))
		return call_floating(parser, name, function, arguments);
	struct tn_term product =
		tn_type_binary(parser, name, TN_OP_MUL, arguments[0], arguments[1]);
	return tn_type_binary(parser, name, TN_OP_ADD, product, arguments[2]);
}

static struct tn_term type_call(struct tn_parser *parser, const struct tn_token *name,
				const struct function *function, struct tn_term *arguments)
{
	struct tn_builder *builder = &parser->builder;
	switch ((enum kind)function->kind) {
	case FLOATING:
		return call_floating(parser, name, function, arguments);
	case NUMBER:
		/* min, max, rem, abs, sign: as for the operators, booleans count as 0 and 1. */
		if (function->n_arguments == 2)
			return tn_type_binary(parser, name, function->op, arguments[0],
					      arguments[1]);
		return tn_type_unary(parser, name, function->op, arguments[0]);
	case ROUNDING:
		if (!tn_is_floating(tn_term_dtype(parser, arguments[0])))
			return arguments[0];
		return call_floating(parser, name, function, arguments);
	case FUSED:
		return call_fused(parser, name, function, arguments);
	case POWER:
		return tn_type_power(parser, name, arguments[0], arguments[1]);
	case CHOICE:
		return tn_type_select(parser, name, arguments[0], arguments[1], arguments[2]);
	case CAST:
		return tn_term_of(tn_term_cast(parser, arguments[0], function->dtype),
				  function->dtype);
	case BITCAST:
		return call_bitcast(parser, name, function->dtype, arguments[0]);
	case INDEX:
		return call_index(parser, name, arguments[0]);
	case ELEMENT:
		return (struct tn_term){.value =
						tn_build_source(builder, TN_OP_ELEMENT, TN_I64, 0)};
	case RANDOM:
		return call_random(parser, name, arguments);
	case NORMAL:
		return call_quantile(parser, name, call_random(parser, name, arguments));
	case QUANTILE:
		return call_quantile(parser, name, arguments[0]);
	case UNIFIED:
		tn_terms_unify(parser, name, function->n_arguments, arguments);
		return call_formula(parser, name, function, arguments);
	default:
		return call_formula(parser, name, function, arguments);
	}
}

struct tn_term tn_parse_call(struct tn_parser *parser, const struct tn_token *name)
{
	struct tn_term arguments[MAX_ARGUMENTS] = {{0}};
	char text[80], hint[80];
	tn_token_text(name, text, sizeof(text));
	if (!find_function(name, -1).name)
		return tn_parse_fail(parser, name, TN_NOT_FOUND, "unknown function %s%s", text,
				     tn_suggest(parser, name, hint, sizeof(hint)));
	int n = parse_arguments(parser, arguments);
	if (parser->status)
		return (struct tn_term){0};
	const struct function function = find_function(name, n);
	if (function.n_arguments != n)
		return tn_parse_fail(parser, name, TN_FORMAT, "%s takes %d arguments, found %d",
				     text, function.n_arguments, n);
	return type_call(parser, name, &function, arguments);
}
