/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of opcodes.  A new opcode is a number in <tenon/backend.h>, a line here, a case in
 * evaluate.c, a kernel in block_floating.h or block_integer.h, a rule in differentiate.c, a
 * template in prelude.c and a paragraph in tenon-program(7).  One of floating types alone is a
 * function of the language by its name; others need a row in functions.c.
 */
#include "program/opcode.h"

#include <tenon/program.h>

#define NUMBERS (TN_TAKES_INTEGERS | TN_TAKES_FLOATS)
#define BITS (TN_TAKES_BOOL | TN_TAKES_INTEGERS)
#define ALL (TN_TAKES_BOOL | NUMBERS)
#define FLOATS TN_TAKES_FLOATS
#define INTEGERS TN_TAKES_INTEGERS
#define FUNCTION (FLOATS | TN_IS_INEXACT)
#define COMPARISON (ALL | TN_GIVES_BOOL)

static const struct tn_op_info table[TN_OP_COUNT] = {
	[TN_OP_INPUT] = {"input", 0, TN_IS_SOURCE, 0},
	[TN_OP_SCALAR] = {"scalar", 0, TN_IS_SOURCE, 0},
	[TN_OP_CONSTANT] = {"constant", 0, TN_IS_SOURCE, 0},
	[TN_OP_INDEX] = {"index", 0, TN_IS_SOURCE, 0},
	[TN_OP_ELEMENT] = {"element", 0, TN_IS_SOURCE, 0},
	[TN_OP_ADD] = {"add", 2, NUMBERS | TN_COMMUTES, 1},
	[TN_OP_SUB] = {"sub", 2, NUMBERS, 1},
	[TN_OP_MUL] = {"mul", 2, NUMBERS | TN_COMMUTES, 1},
	[TN_OP_DIV] = {"div", 2, NUMBERS, 3},
	[TN_OP_REM] = {"rem", 2, NUMBERS, 20},
	[TN_OP_NEG] = {"neg", 1, NUMBERS, 1},
	[TN_OP_ABS] = {"abs", 1, NUMBERS, 1},
	[TN_OP_MIN] = {"min", 2, NUMBERS, 1}, /* not commutative: of 0 and -0 it is the second */
	[TN_OP_MAX] = {"max", 2, NUMBERS, 1},
	[TN_OP_FMA] = {"fma", 3, FLOATS, 1},
	[TN_OP_POW] = {"pow", 2, FUNCTION, 20},
	[TN_OP_SQRT] = {"sqrt", 1, FLOATS, 3},
	[TN_OP_RSQRT] = {"rsqrt", 1, FUNCTION, 3},
	[TN_OP_FLOOR] = {"floor", 1, FLOATS, 1},
	[TN_OP_CEIL] = {"ceil", 1, FLOATS, 1},
	[TN_OP_ROUND] = {"round", 1, FLOATS, 1},
	[TN_OP_TRUNC] = {"trunc", 1, FLOATS, 1},
	[TN_OP_SIGN] = {"sign", 1, NUMBERS, 1},
	[TN_OP_MUL_ROUNDED] = {"mul_rounded", 2, FLOATS | TN_COMMUTES, 1},
	[TN_OP_EXP] = {"exp", 1, FUNCTION, 8},
	[TN_OP_EXP2] = {"exp2", 1, FUNCTION, 8},
	[TN_OP_EXPM1] = {"expm1", 1, FUNCTION, 8},
	[TN_OP_LOG] = {"log", 1, FUNCTION, 8},
	[TN_OP_LOG2] = {"log2", 1, FUNCTION, 8},
	[TN_OP_LOG1P] = {"log1p", 1, FUNCTION, 8},
	[TN_OP_SIN] = {"sin", 1, FUNCTION, 8},
	[TN_OP_COS] = {"cos", 1, FUNCTION, 8},
	[TN_OP_TAN] = {"tan", 1, FUNCTION, 8},
	[TN_OP_ASIN] = {"asin", 1, FUNCTION, 8},
	[TN_OP_ACOS] = {"acos", 1, FUNCTION, 8},
	[TN_OP_ATAN] = {"atan", 1, FUNCTION, 8},
	[TN_OP_ATAN2] = {"atan2", 2, FUNCTION, 8},
	[TN_OP_SINH] = {"sinh", 1, FUNCTION, 8},
	[TN_OP_COSH] = {"cosh", 1, FUNCTION, 8},
	[TN_OP_TANH] = {"tanh", 1, FUNCTION, 8},
	[TN_OP_ERF] = {"erf", 1, FUNCTION, 8},
	[TN_OP_SIGMOID] = {"sigmoid", 1, FUNCTION, 8},
	[TN_OP_EQ] = {"eq", 2, COMPARISON | TN_COMMUTES, 1},
	[TN_OP_NE] = {"ne", 2, COMPARISON | TN_COMMUTES, 1},
	[TN_OP_LT] = {"lt", 2, COMPARISON, 1},
	[TN_OP_LE] = {"le", 2, COMPARISON, 1},
	[TN_OP_GT] = {"gt", 2, COMPARISON, 1},
	[TN_OP_GE] = {"ge", 2, COMPARISON, 1},
	[TN_OP_AND] = {"and", 2, BITS | TN_COMMUTES, 1},
	[TN_OP_OR] = {"or", 2, BITS | TN_COMMUTES, 1},
	[TN_OP_XOR] = {"xor", 2, BITS | TN_COMMUTES, 1},
	[TN_OP_NOT] = {"not", 1, BITS, 1},
	[TN_OP_SHL] = {"shl", 2, INTEGERS, 1},
	[TN_OP_SHR] = {"shr", 2, INTEGERS, 1},
	[TN_OP_SELECT] = {"select", 3, ALL, 1},
	[TN_OP_CAST] = {"cast", 1, ALL, 1},
	[TN_OP_BITCAST] = {"bitcast", 1, NUMBERS, 1},
	[TN_OP_RANDOM] = {"random", 3, INTEGERS | TN_HAS_ONE_TYPE, 6},
	[TN_OP_NORMAL] = {"normal", 1, INTEGERS | TN_HAS_ONE_TYPE, 3},
};

const struct tn_op_info *tn_op_information(uint16_t op)
{
	return &table[op < TN_OP_COUNT ? op : 0];
}

int tn_op_is_source(uint16_t op)
{
	return (tn_op_information(op)->flags & TN_IS_SOURCE) != 0;
}

const char *tn_op_name(uint16_t op)
{
	const char *name = tn_op_information(op)->name;
	return name ? name : "unknown";
}
