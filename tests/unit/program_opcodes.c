/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The properties of every opcode; other numbers have none.
 */
#include "program/opcode.h"

#include <tenon/program.h>

#include "check.h"

/* One letter per flag, in the order of their bits. */
static const struct {
	char letter;
	unsigned flag;
} letters[] = {
	{'B', TN_TAKES_BOOL}, {'I', TN_TAKES_INTEGERS}, {'F', TN_TAKES_FLOATS},
	{'C', TN_COMMUTES},   {'G', TN_GIVES_BOOL},     {'S', TN_IS_SOURCE},
	{'X', TN_IS_INEXACT}, {'T', TN_HAS_ONE_TYPE},
};
enum { N_LETTERS = sizeof(letters) / sizeof(letters[0]) };

static const struct {
	uint16_t op;
	const char *name;
	int arity;
	const char *flags;
	int cost;
} rows[] = {
	{TN_OP_INPUT, "input", 0, "S", 0},
	{TN_OP_SCALAR, "scalar", 0, "S", 0},
	{TN_OP_CONSTANT, "constant", 0, "S", 0},
	{TN_OP_INDEX, "index", 0, "S", 0},
	{TN_OP_ELEMENT, "element", 0, "S", 0},
	{TN_OP_ADD, "add", 2, "IFC", 1},
	{TN_OP_SUB, "sub", 2, "IF", 1},
	{TN_OP_MUL, "mul", 2, "IFC", 1},
	{TN_OP_DIV, "div", 2, "IF", 3},
	{TN_OP_REM, "rem", 2, "IF", 20},
	{TN_OP_NEG, "neg", 1, "IF", 1},
	{TN_OP_ABS, "abs", 1, "IF", 1},
	{TN_OP_MIN, "min", 2, "IF", 1},
	{TN_OP_MAX, "max", 2, "IF", 1},
	{TN_OP_FMA, "fma", 3, "F", 1},
	{TN_OP_POW, "pow", 2, "FX", 20},
	{TN_OP_SQRT, "sqrt", 1, "F", 3},
	{TN_OP_RSQRT, "rsqrt", 1, "FX", 3},
	{TN_OP_FLOOR, "floor", 1, "F", 1},
	{TN_OP_CEIL, "ceil", 1, "F", 1},
	{TN_OP_ROUND, "round", 1, "F", 1},
	{TN_OP_TRUNC, "trunc", 1, "F", 1},
	{TN_OP_SIGN, "sign", 1, "IF", 1},
	{TN_OP_EXP, "exp", 1, "FX", 8},
	{TN_OP_EXP2, "exp2", 1, "FX", 8},
	{TN_OP_EXPM1, "expm1", 1, "FX", 8},
	{TN_OP_LOG, "log", 1, "FX", 8},
	{TN_OP_LOG2, "log2", 1, "FX", 8},
	{TN_OP_LOG1P, "log1p", 1, "FX", 8},
	{TN_OP_SIN, "sin", 1, "FX", 8},
	{TN_OP_COS, "cos", 1, "FX", 8},
	{TN_OP_TAN, "tan", 1, "FX", 8},
	{TN_OP_ASIN, "asin", 1, "FX", 8},
	{TN_OP_ACOS, "acos", 1, "FX", 8},
	{TN_OP_ATAN, "atan", 1, "FX", 8},
	{TN_OP_ATAN2, "atan2", 2, "FX", 8},
	{TN_OP_SINH, "sinh", 1, "FX", 8},
	{TN_OP_COSH, "cosh", 1, "FX", 8},
	{TN_OP_TANH, "tanh", 1, "FX", 8},
	{TN_OP_ERF, "erf", 1, "FX", 8},
	{TN_OP_SIGMOID, "sigmoid", 1, "FX", 8},
	{TN_OP_EQ, "eq", 2, "BIFCG", 1},
	{TN_OP_NE, "ne", 2, "BIFCG", 1},
	{TN_OP_LT, "lt", 2, "BIFG", 1},
	{TN_OP_LE, "le", 2, "BIFG", 1},
	{TN_OP_GT, "gt", 2, "BIFG", 1},
	{TN_OP_GE, "ge", 2, "BIFG", 1},
	{TN_OP_AND, "and", 2, "BIC", 1},
	{TN_OP_OR, "or", 2, "BIC", 1},
	{TN_OP_XOR, "xor", 2, "BIC", 1},
	{TN_OP_NOT, "not", 1, "BI", 1},
	{TN_OP_SHL, "shl", 2, "I", 1},
	{TN_OP_SHR, "shr", 2, "I", 1},
	{TN_OP_SELECT, "select", 3, "BIF", 1},
	{TN_OP_CAST, "cast", 1, "BIF", 1},
	{TN_OP_BITCAST, "bitcast", 1, "IF", 1},
	{TN_OP_RANDOM, "random", 3, "IT", 6},
	{TN_OP_NORMAL, "normal", 1, "IT", 3},
	{TN_OP_MUL_ROUNDED, "mul_rounded", 2, "FC", 1},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static unsigned flags_of(const char *text)
{
	unsigned flags = 0;
	for (int i = 0; i < N_LETTERS; i++) {
		if (strchr(text, letters[i].letter))
			flags |= letters[i].flag;
	}
	return flags;
}

static void every_opcode_has_its_row(void **state)
{
	(void)state;
	for (int i = 0; i < N_ROWS; i++) {
		const struct tn_op_info *info = tn_op_information(rows[i].op);
		assert_string_equal(tn_op_name(rows[i].op), rows[i].name);
		assert_int_equal(info->arity, rows[i].arity);
		assert_int_equal(info->flags, flags_of(rows[i].flags));
		assert_int_equal(info->cost, rows[i].cost);
		assert_int_equal(tn_op_is_source(rows[i].op), rows[i].flags[0] == 'S');
	}
}

/* Relations between columns, for future rows too. */
static void rows_agree_with_themselves(void **state)
{
	(void)state;
	for (uint16_t op = 0; op < TN_OP_COUNT; op++) {
		const struct tn_op_info *info = tn_op_information(op);
		if (!info->name)
			continue;
		assert_int_equal(info->arity == 0, tn_op_is_source(op));
		assert_int_equal(info->cost == 0, tn_op_is_source(op));
		assert_int_equal((info->flags & TN_TAKES_ANY) == 0, tn_op_is_source(op));
		if (info->flags & (TN_COMMUTES | TN_GIVES_BOOL))
			assert_int_equal(info->arity, 2);
	}
}

static void other_numbers_are_no_opcodes(void **state)
{
	int n = 0;
	(void)state;
	for (uint32_t op = 0; op <= UINT16_MAX; op++) {
		const struct tn_op_info *info = tn_op_information((uint16_t)op);
		if (info->name) {
			n++;
			continue;
		}
		assert_int_equal(info->arity, 0);
		assert_int_equal(info->flags, 0);
		assert_int_equal(info->cost, 0);
		assert_false(tn_op_is_source((uint16_t)op));
		assert_string_equal(tn_op_name((uint16_t)op), "unknown");
	}
	assert_int_equal(n, N_ROWS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_opcode_has_its_row),
		cmocka_unit_test(rows_agree_with_themselves),
		cmocka_unit_test(other_numbers_are_no_opcodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
