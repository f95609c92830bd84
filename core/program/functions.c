/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of functions.
 */
#include "program/functions.h"

#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "program/opcode.h"

/* Longer names are never similar to another. */
#define LONGEST 32

static const struct tn_function functions[] = {
	{"abs", 1, TN_CALL_NUMBER, TN_OP_ABS, {0}, 0},
	{"bitcast_f32", 1, TN_CALL_BITCAST, TN_F32, {0}, 0},
	{"bitcast_i32", 1, TN_CALL_BITCAST, TN_I32, {0}, 0},
	{"bitcast_u32", 1, TN_CALL_BITCAST, TN_U32, {0}, 0},
	{"bool", 1, TN_CALL_CAST, TN_BOOL, {0}, 0},
	{"ceil", 1, TN_CALL_ROUNDING, TN_OP_CEIL, {0}, 0},
	{"element", 0, TN_CALL_ELEMENT, 0, {0}, 0},
	{"f32", 1, TN_CALL_CAST, TN_F32, {0}, 0},
	{"f64", 1, TN_CALL_CAST, TN_F64, {0}, 0},
	{"floor", 1, TN_CALL_ROUNDING, TN_OP_FLOOR, {0}, 0},
	{"fma", 3, TN_CALL_FUSED, TN_OP_FMA, {0}, 0},
	{"i32", 1, TN_CALL_CAST, TN_I32, {0}, 0},
	{"i64", 1, TN_CALL_CAST, TN_I64, {0}, 0},
	{"index", 1, TN_CALL_INDEX, 0, {0}, 0},
	{"max", 2, TN_CALL_NUMBER, TN_OP_MAX, {0}, 0},
	{"min", 2, TN_CALL_NUMBER, TN_OP_MIN, {0}, 0},
	{"normal", 3, TN_CALL_NORMAL, TN_OP_NORMAL, {0}, 0},
	{"normal_quantile", 1, TN_CALL_QUANTILE, TN_OP_NORMAL, {0}, 0},
	{"pow", 2, TN_CALL_POWER, TN_OP_POW, {0}, 0},
	{"random", 3, TN_CALL_RANDOM, TN_OP_RANDOM, {0}, 0},
	{"rem", 2, TN_CALL_NUMBER, TN_OP_REM, {0}, 0},
	{"round", 1, TN_CALL_ROUNDING, TN_OP_ROUND, {0}, 0},
	{"select", 3, TN_CALL_CHOICE, TN_OP_SELECT, {0}, 0},
	{"sign", 1, TN_CALL_NUMBER, TN_OP_SIGN, {0}, 0},
	{"trunc", 1, TN_CALL_ROUNDING, TN_OP_TRUNC, {0}, 0},
	{"u32", 1, TN_CALL_CAST, TN_U32, {0}, 0},
	{"u64", 1, TN_CALL_CAST, TN_U64, {0}, 0},
	{"where", 3, TN_CALL_CHOICE, TN_OP_SELECT, {0}, 0},

	/* The derivative of the branch of a select that is not taken must be finite as well: 0
	 * times infinity would be NaN.  Hence the inner select of elu. */
	{"clamp",
	 3,
	 TN_CALL_FORMULA,
	 0,
	 {"x", "low", "high"},
	 "(x <= low ? low : x) >= high ? high : (x <= low ? low : x)"},
	{"copysign", 2, TN_CALL_UNIFIED, 0, {"x", "y"}, "y < 0 || 1.0 / y < 0 ? -abs(x) : abs(x)"},
	{"elu", 2, TN_CALL_FORMULA, 0, {"x", "alpha"}, "x > 0 ? x : alpha * expm1(x > 0 ? 0 : x)"},
	{"gelu", 1, TN_CALL_FORMULA, 0, {"x"}, "0.5 * x * (1 + erf(x * 0.70710678118654752))"},
	{"gelu_tanh",
	 1,
	 TN_CALL_FORMULA,
	 0,
	 {"x"},
	 "0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)))"},
	/* By the larger: nothing overflows.  A divisor of 1 where both are 0, as for elu. */
	{"hypot",
	 2,
	 TN_CALL_FORMULA,
	 0,
	 {"x", "y"},
	 "abs(x) == inf || abs(y) == inf ? inf : max(abs(x), abs(y)) * sqrt(1.0 + "
	 "square(min(abs(x), abs(y)) / (x == 0 && y == 0 ? 1.0 : max(abs(x), abs(y)))))"},
	{"isfinite", 1, TN_CALL_FORMULA, 0, {"x"}, "abs(x) < inf"},
	{"isinf", 1, TN_CALL_FORMULA, 0, {"x"}, "abs(x) == inf"},
	{"isnan", 1, TN_CALL_FORMULA, 0, {"x"}, "x != x"},
	{"leaky_relu", 2, TN_CALL_FORMULA, 0, {"x", "slope"}, "x > 0 ? x : slope * x"},
	{"lerp", 3, TN_CALL_FORMULA, 0, {"a", "b", "t"}, "a + t * (b - a)"},
	{"log_sigmoid",
	 1,
	 TN_CALL_FORMULA,
	 0,
	 {"x"},
	 "(x > 0 ? 0 : x) - log1p(exp(x > 0 ? -x : x))"},
	{"mish", 1, TN_CALL_FORMULA, 0, {"x"}, "x * tanh(softplus(x))"},
	{"normal",
	 5,
	 TN_CALL_FORMULA,
	 0,
	 {"seed", "stream", "i", "mean", "deviation"},
	 "mean + deviation * normal(seed, stream, i)"},
	{"reciprocal", 1, TN_CALL_FORMULA, 0, {"x"}, "1.0 / x"},
	{"relu", 1, TN_CALL_FORMULA, 0, {"x"}, "x <= 0 ? 0 : x"},
	{"silu", 1, TN_CALL_FORMULA, 0, {"x"}, "x * sigmoid(x)"},
	/* Without max and abs, whose kinks at 0 would show in its second derivative; so is
	 * log_sigmoid. */
	{"softplus", 1, TN_CALL_FORMULA, 0, {"x"}, "(x > 0 ? x : 0) + log1p(exp(x > 0 ? -x : x))"},
	{"square", 1, TN_CALL_FORMULA, 0, {"x"}, "x * x"},
	{"uniform",
	 3,
	 TN_CALL_FORMULA,
	 0,
	 {"seed", "stream", "i"},
	 "f32(random(seed, stream, i) >> 8) * 0x1p-24"},
	{"uniform",
	 5,
	 TN_CALL_FORMULA,
	 0,
	 {"seed", "stream", "i", "low", "high"},
	 "low + (high - low) * uniform(seed, stream, i)"},
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
