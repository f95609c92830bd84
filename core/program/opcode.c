/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of opcodes.  A new opcode is one line here, one case in evaluate.c, one rule in
 * differentiate.c, one line in printer.c and one paragraph in tenon-program(7).
 */
#include "program/opcode.h"

#include <tenon/program.h>

#define NUMBERS (TN_TAKES_INTEGERS | TN_TAKES_FLOATS)
#define BITS (TN_TAKES_BOOL | TN_TAKES_INTEGERS)
#define ALL (TN_TAKES_BOOL | NUMBERS)
#define FLOATS TN_TAKES_FLOATS
#define INTEGERS TN_TAKES_INTEGERS

static const struct tn_op_info table[TN_OP_COUNT] = {
	[TN_OP_INPUT] = {"input", 0, 0},
	[TN_OP_SCALAR] = {"scalar", 0, 0},
	[TN_OP_CONSTANT] = {"constant", 0, 0},
	[TN_OP_INDEX] = {"index", 0, 0},
	[TN_OP_ELEMENT] = {"element", 0, 0},
	[TN_OP_ADD] = {"add", 2, NUMBERS | TN_COMMUTES},
	[TN_OP_SUB] = {"sub", 2, NUMBERS},
	[TN_OP_MUL] = {"mul", 2, NUMBERS | TN_COMMUTES},
	[TN_OP_DIV] = {"div", 2, NUMBERS},
	[TN_OP_REM] = {"rem", 2, NUMBERS},
	[TN_OP_NEG] = {"neg", 1, NUMBERS},
	[TN_OP_ABS] = {"abs", 1, NUMBERS},
	[TN_OP_MIN] = {"min", 2, NUMBERS}, /* not commutative: of 0 and -0 it is the second */
	[TN_OP_MAX] = {"max", 2, NUMBERS},
	[TN_OP_FMA] = {"fma", 3, FLOATS},
	[TN_OP_POW] = {"pow", 2, FLOATS},
	[TN_OP_SQRT] = {"sqrt", 1, FLOATS},
	[TN_OP_RSQRT] = {"rsqrt", 1, FLOATS},
	[TN_OP_FLOOR] = {"floor", 1, FLOATS},
	[TN_OP_CEIL] = {"ceil", 1, FLOATS},
	[TN_OP_ROUND] = {"round", 1, FLOATS},
	[TN_OP_TRUNC] = {"trunc", 1, FLOATS},
	[TN_OP_SIGN] = {"sign", 1, NUMBERS},
	[TN_OP_EXP] = {"exp", 1, FLOATS},
	[TN_OP_EXP2] = {"exp2", 1, FLOATS},
	[TN_OP_EXPM1] = {"expm1", 1, FLOATS},
	[TN_OP_LOG] = {"log", 1, FLOATS},
	[TN_OP_LOG2] = {"log2", 1, FLOATS},
	[TN_OP_LOG1P] = {"log1p", 1, FLOATS},
	[TN_OP_SIN] = {"sin", 1, FLOATS},
	[TN_OP_COS] = {"cos", 1, FLOATS},
	[TN_OP_TAN] = {"tan", 1, FLOATS},
	[TN_OP_ASIN] = {"asin", 1, FLOATS},
	[TN_OP_ACOS] = {"acos", 1, FLOATS},
	[TN_OP_ATAN] = {"atan", 1, FLOATS},
	[TN_OP_ATAN2] = {"atan2", 2, FLOATS},
	[TN_OP_SINH] = {"sinh", 1, FLOATS},
	[TN_OP_COSH] = {"cosh", 1, FLOATS},
	[TN_OP_TANH] = {"tanh", 1, FLOATS},
	[TN_OP_ERF] = {"erf", 1, FLOATS},
	[TN_OP_SIGMOID] = {"sigmoid", 1, FLOATS},
	[TN_OP_EQ] = {"eq", 2, ALL | TN_COMMUTES | TN_GIVES_BOOL},
	[TN_OP_NE] = {"ne", 2, ALL | TN_COMMUTES | TN_GIVES_BOOL},
	[TN_OP_LT] = {"lt", 2, ALL | TN_GIVES_BOOL},
	[TN_OP_LE] = {"le", 2, ALL | TN_GIVES_BOOL},
	[TN_OP_GT] = {"gt", 2, ALL | TN_GIVES_BOOL},
	[TN_OP_GE] = {"ge", 2, ALL | TN_GIVES_BOOL},
	[TN_OP_AND] = {"and", 2, BITS | TN_COMMUTES},
	[TN_OP_OR] = {"or", 2, BITS | TN_COMMUTES},
	[TN_OP_XOR] = {"xor", 2, BITS | TN_COMMUTES},
	[TN_OP_NOT] = {"not", 1, BITS},
	[TN_OP_SHL] = {"shl", 2, INTEGERS},
	[TN_OP_SHR] = {"shr", 2, INTEGERS},
	[TN_OP_SELECT] = {"select", 3, ALL},
	[TN_OP_CAST] = {"cast", 1, ALL},
	[TN_OP_BITCAST] = {"bitcast", 1, NUMBERS},
	[TN_OP_RANDOM] = {"random", 3, INTEGERS},
	[TN_OP_NORMAL] = {"normal", 1, INTEGERS},
};

const struct tn_op_info *tn_op_information(uint16_t op)
{
	return &table[op < TN_OP_COUNT ? op : 0];
}

int tn_op_is_source(uint16_t op)
{
	return op >= TN_OP_INPUT && op <= TN_OP_ELEMENT;
}

const char *tn_op_name(uint16_t op)
{
	const char *name = tn_op_information(op)->name;
	return name ? name : "unknown";
}
