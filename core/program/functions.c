/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of functions.
 */
#include "program/functions.h"

#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "base/words.h"
#include "program/opcode.h"

/* Longer names are never similar to another. */
#define LONGEST 32

static const struct tn_function functions[] = {
	{.name = "abs", .kind = TN_CALL_NUMBER, .n_arguments = 1, .op = TN_OP_ABS},
	{.name = "bitcast_f32", .kind = TN_CALL_BITCAST, .n_arguments = 1, .dtype = TN_F32},
	{.name = "bitcast_i32", .kind = TN_CALL_BITCAST, .n_arguments = 1, .dtype = TN_I32},
	{.name = "bitcast_u32", .kind = TN_CALL_BITCAST, .n_arguments = 1, .dtype = TN_U32},
	{.name = "bool", .kind = TN_CALL_CAST, .n_arguments = 1, .dtype = TN_BOOL},
	{.name = "ceil", .kind = TN_CALL_ROUNDING, .n_arguments = 1, .op = TN_OP_CEIL},
	{.name = "element", .kind = TN_CALL_ELEMENT},
	{.name = "f32", .kind = TN_CALL_CAST, .n_arguments = 1, .dtype = TN_F32},
	{.name = "f64", .kind = TN_CALL_CAST, .n_arguments = 1, .dtype = TN_F64},
	{.name = "floor", .kind = TN_CALL_ROUNDING, .n_arguments = 1, .op = TN_OP_FLOOR},
	{.name = "fma", .kind = TN_CALL_FUSED, .n_arguments = 3, .op = TN_OP_FMA},
	{.name = "i32", .kind = TN_CALL_CAST, .n_arguments = 1, .dtype = TN_I32},
	{.name = "i64", .kind = TN_CALL_CAST, .n_arguments = 1, .dtype = TN_I64},
	{.name = "index", .kind = TN_CALL_INDEX, .n_arguments = 1},
	{.name = "max", .kind = TN_CALL_NUMBER, .n_arguments = 2, .op = TN_OP_MAX},
	{.name = "min", .kind = TN_CALL_NUMBER, .n_arguments = 2, .op = TN_OP_MIN},
	{.name = "normal", .kind = TN_CALL_NORMAL, .n_arguments = 3, .op = TN_OP_NORMAL},
	{.name = "normal_quantile", .kind = TN_CALL_QUANTILE, .n_arguments = 1, .op = TN_OP_NORMAL},
	{.name = "pow", .kind = TN_CALL_POWER, .n_arguments = 2, .op = TN_OP_POW},
	{.name = "random", .kind = TN_CALL_RANDOM, .n_arguments = 3, .op = TN_OP_RANDOM},
	{.name = "rem", .kind = TN_CALL_NUMBER, .n_arguments = 2, .op = TN_OP_REM},
	{.name = "round", .kind = TN_CALL_ROUNDING, .n_arguments = 1, .op = TN_OP_ROUND},
	{.name = "select", .kind = TN_CALL_CHOICE, .n_arguments = 3, .op = TN_OP_SELECT},
	{.name = "sign", .kind = TN_CALL_NUMBER, .n_arguments = 1, .op = TN_OP_SIGN},
	{.name = "trunc", .kind = TN_CALL_ROUNDING, .n_arguments = 1, .op = TN_OP_TRUNC},
	{.name = "u32", .kind = TN_CALL_CAST, .n_arguments = 1, .dtype = TN_U32},
	{.name = "u64", .kind = TN_CALL_CAST, .n_arguments = 1, .dtype = TN_U64},
	{.name = "where", .kind = TN_CALL_CHOICE, .n_arguments = 3, .op = TN_OP_SELECT},

	/* The derivative of the branch of a select that is not taken must be finite as well: 0
	 * times infinity would be NaN.  Hence the inner select of elu. */
	{.name = "clamp",
	 .parameters = "x low high",
	 .formula = "(x <= low ? low : x) >= high ? high : (x <= low ? low : x)"},
	{.name = "copysign",
	 .kind = TN_CALL_UNIFIED,
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
static struct tn_function function_of(uint16_t op)
{
	const struct tn_op_info *info = tn_op_information(op);
	if ((info->flags & TN_TAKES_ANY) != TN_TAKES_FLOATS)
		return (struct tn_function){.name = ""};
	return (struct tn_function){
		.name = info->name, .n_arguments = info->arity, .kind = TN_CALL_FLOATING, .op = op};
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

/* ---- Look-up ---------------------------------------------------------------------------------*/

static int has_name(const struct tn_function *function, const struct tn_token *name)
{
	return strlen(function->name) == name->length &&
	       !memcmp(function->name, name->start, name->length);
}

struct tn_function tn_function_find(const struct tn_token *name, int n_arguments)
{
	struct tn_function named = {.name = NULL};
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
		const struct tn_function function = function_of(op);
		if (has_name(&function, name))
			named = function;
	}
	return named;
}
