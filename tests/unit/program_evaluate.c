/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The edge cases that tenon-program(7) names for each opcode, and the casts.
 */
#include "base/bits.h"
#include "program/opcode.h"
#include "unit/program_fixture.h"

#define I32_MIN (-2147483648.0)
#define I64_MIN (-9223372036854775808.0)

/* op over operands of `dtype`; the result has it too, or is bool for comparisons. */
struct expectation {
	uint16_t op;
	tn_dtype dtype;
	double a, b, c, result;
};

static int same(double found, double expected)
{
	if (isnan(found) || isnan(expected))
		return isnan(found) && isnan(expected);
	return found == expected && signbit(found) == signbit(expected);
}

static void check_all(const struct expectation *cases, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const struct expectation *e = &cases[k];
		tn_dtype dtype = e->dtype;
		tn_dtype result = tn_op_information(e->op)->flags & TN_GIVES_BOOL ? TN_BOOL : dtype;
		uint64_t bits =
			tn_op_evaluate(e->op, result, dtype, bits_of_number(dtype, e->a),
				       bits_of_number(dtype, e->b), bits_of_number(dtype, e->c));
		if (same(number_of_bits(result, bits), e->result))
			continue;
		print_error("%s(%g, %g, %g) in %s: expected %.17g, found %.17g\n",
			    tn_op_name(e->op), e->a, e->b, e->c, tn_dtype_name(dtype), e->result,
			    number_of_bits(result, bits));
		fail();
	}
}

#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof(cases[0]))

static void integers_wrap_and_never_trap(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{TN_OP_ADD, TN_I32, 2147483647, 1, 0, I32_MIN},
		{TN_OP_SUB, TN_I32, I32_MIN, 1, 0, 2147483647},
		{TN_OP_MUL, TN_I32, 65536, 65536, 0, 0},
		{TN_OP_ADD, TN_U32, 4294967295.0, 1, 0, 0},
		{TN_OP_SUB, TN_U32, 0, 1, 0, 4294967295.0},
		{TN_OP_MUL, TN_I64, 4294967296.0, 4294967296.0, 0, 0},
		{TN_OP_SUB, TN_I64, I64_MIN, 0, 0, I64_MIN},
		{TN_OP_DIV, TN_I32, 7, 0, 0, 0},
		{TN_OP_DIV, TN_I32, -7, 2, 0, -3},
		{TN_OP_DIV, TN_I32, I32_MIN, -1, 0, I32_MIN},
		{TN_OP_DIV, TN_I64, I64_MIN, -1, 0, I64_MIN},
		{TN_OP_DIV, TN_U32, 4294967295.0, 4294967295.0, 0, 1},
		{TN_OP_DIV, TN_U32, 4294967294.0, 4294967295.0, 0, 0},
		{TN_OP_DIV, TN_U32, 5, 0, 0, 0},
		{TN_OP_REM, TN_I32, -7, 3, 0, -1},
		{TN_OP_REM, TN_I32, 7, -3, 0, 1},
		{TN_OP_REM, TN_I32, 7, 0, 0, 0},
		{TN_OP_REM, TN_I64, I64_MIN, -1, 0, 0},
		{TN_OP_REM, TN_U32, 4294967295.0, 10, 0, 5},
		{TN_OP_NEG, TN_I32, I32_MIN, 0, 0, I32_MIN},
		{TN_OP_NEG, TN_U32, 1, 0, 0, 4294967295.0},
		{TN_OP_ABS, TN_I32, I32_MIN, 0, 0, I32_MIN},
		{TN_OP_ABS, TN_I64, -5, 0, 0, 5},
		{TN_OP_ABS, TN_U32, 4294967295.0, 0, 0, 4294967295.0},
		{TN_OP_MIN, TN_U32, 4294967295.0, 1, 0, 1},
		{TN_OP_MAX, TN_I32, -1, 1, 0, 1},
		{TN_OP_SIGN, TN_I64, I64_MIN, 0, 0, -1},
		{TN_OP_SIGN, TN_U32, 4294967295.0, 0, 0, 1},
		{TN_OP_SIGN, TN_I32, 0, 0, 0, 0},
	};
	CHECK_ALL(cases);
}

static void shift_counts_are_modulo_the_width(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{TN_OP_SHL, TN_I32, 1, 31, 0, I32_MIN},
		{TN_OP_SHL, TN_I32, 3, 32, 0, 3},
		{TN_OP_SHL, TN_I32, 3, -31, 0, 6},
		{TN_OP_SHR, TN_I32, -8, 1, 0, -4},
		{TN_OP_SHR, TN_I32, -1, 31, 0, -1},
		{TN_OP_SHR, TN_I32, -8, 33, 0, -4},
		{TN_OP_SHR, TN_U32, 4294967295.0, 31, 0, 1},
		{TN_OP_SHL, TN_U32, 3, 31, 0, 2147483648.0},
		{TN_OP_SHL, TN_I64, 1, 63, 0, I64_MIN},
		{TN_OP_SHL, TN_I64, 3, 64, 0, 3},
		{TN_OP_SHR, TN_I64, I64_MIN, 63, 0, -1},
		{TN_OP_SHR, TN_I64, 8, -61, 0, 1},
	};
	CHECK_ALL(cases);
}

static void bits_and_booleans(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{TN_OP_AND, TN_I32, -1, 12, 0, 12},
		{TN_OP_OR, TN_U32, 2147483648.0, 1, 0, 2147483649.0},
		{TN_OP_XOR, TN_I64, -1, 5, 0, -6},
		{TN_OP_NOT, TN_I32, 0, 0, 0, -1},
		{TN_OP_NOT, TN_U32, 0, 0, 0, 4294967295.0},
		{TN_OP_NOT, TN_BOOL, 1, 0, 0, 0},
		{TN_OP_NOT, TN_BOOL, 0, 0, 0, 1},
		{TN_OP_AND, TN_BOOL, 1, 0, 0, 0},
		{TN_OP_OR, TN_BOOL, 1, 0, 0, 1},
		{TN_OP_XOR, TN_BOOL, 1, 1, 0, 0},
		{TN_OP_LT, TN_BOOL, 0, 1, 0, 1},
		{TN_OP_EQ, TN_BOOL, 1, 1, 0, 1},
	};
	CHECK_ALL(cases);
}

static void floating_arithmetic_is_ieee(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{TN_OP_ADD, TN_F32, 0.1, 0.2, 0, (double)(0.1f + 0.2f)},
		{TN_OP_ADD, TN_F32, -0.0, 0.0, 0, 0.0},
		{TN_OP_ADD, TN_F32, -0.0, -0.0, 0, -0.0},
		{TN_OP_MUL, TN_F32, 1e-30, 1e-15, 0, (double)(1e-30f * 1e-15f)}, /* subnormal */
		{TN_OP_MUL, TN_F32, 1e30, 1e30, 0, INFINITY},
		{TN_OP_MUL_ROUNDED, TN_F32, 1 + 0x1p-12, 1 + 0x1p-12, 0, 1 + 0x1p-11},
		{TN_OP_DIV, TN_F32, 1, 0.0, 0, INFINITY},
		{TN_OP_DIV, TN_F32, 1, -0.0, 0, -INFINITY},
		{TN_OP_DIV, TN_F32, 0, 0, 0, NAN},
		{TN_OP_DIV, TN_F32, 1, 3, 0, (double)(1.0f / 3.0f)},
		{TN_OP_REM, TN_F32, -7.5, 2, 0, -1.5},
		{TN_OP_REM, TN_F32, -4, 2, 0, -0.0},
		{TN_OP_REM, TN_F64, 7, INFINITY, 0, 7},
		{TN_OP_REM, TN_F32, 7, 0, 0, NAN},
		{TN_OP_NEG, TN_F32, 0.0, 0, 0, -0.0},
		{TN_OP_ABS, TN_F32, -0.0, 0, 0, 0.0},
		/* (1 + 2^-12)^2 - 1 - 2^-11 is 2^-24; the product rounded first loses it. */
		{TN_OP_FMA, TN_F32, 1 + 0x1p-12, 1 + 0x1p-12, -1 - 0x1p-11, 0x1p-24},
		/* 1 + 2^-24 + 2^-60: above a tie of f32, and the tie itself once it was in f64. */
		{TN_OP_FMA, TN_F32, 1 + 0x1p-12, (1 - 0x1p-12 + 0x1p-24) * 0x1p-24, 1, 1 + 0x1p-23},
		{TN_OP_FMA, TN_F64, 1e308, 10, -INFINITY, -INFINITY},
		{TN_OP_SQRT, TN_F32, 2, 0, 0, (double)1.41421354f},
		{TN_OP_SQRT, TN_F32, -0.0, 0, 0, -0.0},
		{TN_OP_SQRT, TN_F32, -1, 0, 0, NAN},
		{TN_OP_RSQRT, TN_F32, 4, 0, 0, 0.5},
		{TN_OP_RSQRT, TN_F32, 0.0, 0, 0, INFINITY},
		{TN_OP_RSQRT, TN_F32, -0.0, 0, 0, -INFINITY},
		{TN_OP_RSQRT, TN_F32, -1, 0, 0, NAN},
	};
	CHECK_ALL(cases);
}

static void nan_wins_min_and_max_and_the_second_of_equals(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{TN_OP_MIN, TN_F32, NAN, 1, 0, NAN},
		{TN_OP_MIN, TN_F32, 1, NAN, 0, NAN},
		{TN_OP_MAX, TN_F32, NAN, 1, 0, NAN},
		{TN_OP_MAX, TN_F32, 1, NAN, 0, NAN},
		{TN_OP_MAX, TN_F64, -INFINITY, NAN, 0, NAN},
		{TN_OP_MIN, TN_F32, -0.0, 0.0, 0, 0.0},
		{TN_OP_MIN, TN_F32, 0.0, -0.0, 0, -0.0},
		{TN_OP_MAX, TN_F32, 0.0, -0.0, 0, -0.0},
		{TN_OP_MAX, TN_F32, -0.0, 0.0, 0, 0.0},
		{TN_OP_MIN, TN_F64, 1, 2, 0, 1},
		{TN_OP_MAX, TN_F64, 1, INFINITY, 0, INFINITY},
	};
	CHECK_ALL(cases);
}

static void rounding_and_sign(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{TN_OP_FLOOR, TN_F32, -0.5, 0, 0, -1},
		{TN_OP_FLOOR, TN_F32, -0.0, 0, 0, -0.0},
		{TN_OP_CEIL, TN_F32, -0.5, 0, 0, -0.0},
		{TN_OP_CEIL, TN_F64, 1.2, 0, 0, 2},
		{TN_OP_ROUND, TN_F32, 0.5, 0, 0, 0},
		{TN_OP_ROUND, TN_F32, 1.5, 0, 0, 2},
		{TN_OP_ROUND, TN_F32, 2.5, 0, 0, 2},
		{TN_OP_ROUND, TN_F32, -2.5, 0, 0, -2},
		{TN_OP_ROUND, TN_F32, -0.3, 0, 0, -0.0},
		{TN_OP_TRUNC, TN_F32, -1.9, 0, 0, -1},
		{TN_OP_ROUND, TN_F32, 8388609, 0, 0, 8388609},
		{TN_OP_FLOOR, TN_F32, NAN, 0, 0, NAN},
		{TN_OP_TRUNC, TN_F32, INFINITY, 0, 0, INFINITY},
		{TN_OP_SIGN, TN_F32, NAN, 0, 0, NAN},
		{TN_OP_SIGN, TN_F32, -0.0, 0, 0, 0.0},
		{TN_OP_SIGN, TN_F32, -INFINITY, 0, 0, -1},
		{TN_OP_SIGN, TN_F64, 1e-320, 0, 0, 1},
	};
	CHECK_ALL(cases);
}

/* C99's Annex F, which the functions follow. */
static void functions_at_their_special_points(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{TN_OP_EXP, TN_F32, 0, 0, 0, 1},
		{TN_OP_EXP, TN_F32, -INFINITY, 0, 0, 0},
		{TN_OP_EXP, TN_F32, 89, 0, 0, INFINITY},
		{TN_OP_EXP, TN_F32, -104, 0, 0, 0},
		{TN_OP_EXP, TN_F32, NAN, 0, 0, NAN},
		{TN_OP_EXP2, TN_F32, -149, 0, 0, 0x1p-149},
		{TN_OP_EXP2, TN_F32, 10, 0, 0, 1024},
		{TN_OP_EXPM1, TN_F32, -0.0, 0, 0, -0.0},
		{TN_OP_EXPM1, TN_F32, -INFINITY, 0, 0, -1},
		{TN_OP_LOG, TN_F32, 0, 0, 0, -INFINITY},
		{TN_OP_LOG, TN_F32, 1, 0, 0, 0},
		{TN_OP_LOG, TN_F32, -1, 0, 0, NAN},
		{TN_OP_LOG, TN_F32, INFINITY, 0, 0, INFINITY},
		{TN_OP_LOG2, TN_F32, 0x1p-149, 0, 0, -149},
		{TN_OP_LOG1P, TN_F32, -1, 0, 0, -INFINITY},
		{TN_OP_LOG1P, TN_F32, -0.0, 0, 0, -0.0},
		{TN_OP_SIN, TN_F32, -0.0, 0, 0, -0.0},
		{TN_OP_SIN, TN_F32, INFINITY, 0, 0, NAN},
		{TN_OP_COS, TN_F32, 0, 0, 0, 1},
		{TN_OP_TAN, TN_F32, 0, 0, 0, 0},
		{TN_OP_ASIN, TN_F32, 2, 0, 0, NAN},
		{TN_OP_ACOS, TN_F32, 1, 0, 0, 0},
		{TN_OP_ATAN, TN_F64, INFINITY, 0, 0, 1.57079632679489661923},
		{TN_OP_ATAN2, TN_F64, 0, -0.0, 0, 3.14159265358979323846},
		{TN_OP_ATAN2, TN_F64, -0.0, 0, 0, -0.0},
		{TN_OP_ATAN2, TN_F64, INFINITY, INFINITY, 0, 0.78539816339744830962},
		{TN_OP_SINH, TN_F32, 100, 0, 0, INFINITY},
		{TN_OP_COSH, TN_F32, -100, 0, 0, INFINITY},
		{TN_OP_TANH, TN_F32, INFINITY, 0, 0, 1},
		{TN_OP_TANH, TN_F32, -0.0, 0, 0, -0.0},
		{TN_OP_ERF, TN_F32, -INFINITY, 0, 0, -1},
		{TN_OP_SIGMOID, TN_F32, 0, 0, 0, 0.5},
		{TN_OP_SIGMOID, TN_F32, -INFINITY, 0, 0, 0},
		{TN_OP_SIGMOID, TN_F32, INFINITY, 0, 0, 1},
		{TN_OP_SIGMOID, TN_F64, -800, 0, 0, 0},
		{TN_OP_SIGMOID, TN_F32, NAN, 0, 0, NAN},
		{TN_OP_POW, TN_F32, NAN, 0, 0, 1},
		{TN_OP_POW, TN_F32, 1, NAN, 0, 1},
		{TN_OP_POW, TN_F32, 0, -1, 0, INFINITY},
		{TN_OP_POW, TN_F32, -0.0, -1, 0, -INFINITY},
		{TN_OP_POW, TN_F32, -2, 3, 0, -8},
		{TN_OP_POW, TN_F32, -2, 0.5, 0, NAN},
		{TN_OP_POW, TN_F32, -1, INFINITY, 0, 1},
	};
	CHECK_ALL(cases);
}

static void comparisons_with_nan_are_false_but_for_ne(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{TN_OP_EQ, TN_F32, NAN, NAN, 0, 0},
		{TN_OP_NE, TN_F32, NAN, NAN, 0, 1},
		{TN_OP_LT, TN_F32, NAN, 1, 0, 0},
		{TN_OP_LE, TN_F32, NAN, 1, 0, 0},
		{TN_OP_GT, TN_F32, NAN, 1, 0, 0},
		{TN_OP_GE, TN_F32, 1, NAN, 0, 0},
		{TN_OP_EQ, TN_F64, -0.0, 0.0, 0, 1},
		{TN_OP_LT, TN_F64, -0.0, 0.0, 0, 0},
		{TN_OP_GE, TN_F32, 2, 2, 0, 1},
		{TN_OP_GT, TN_F32, 2, 2, 0, 0},
		{TN_OP_LT, TN_U32, 1, 4294967295.0, 0, 1},
		{TN_OP_LT, TN_I32, -1, 1, 0, 1},
		{TN_OP_GT, TN_I64, 1, I64_MIN, 0, 1},
	};
	CHECK_ALL(cases);
}

static void choices_bitcasts_and_random_numbers(void **state)
{
	(void)state;
	const uint64_t one = tn_bits_of_f32(1), nan = 0x7fc12345;
	assert_int_equal(tn_op_evaluate(TN_OP_SELECT, TN_F32, TN_F32, 1, nan, one), nan);
	assert_int_equal(tn_op_evaluate(TN_OP_SELECT, TN_F32, TN_F32, 0, nan, one), one);
	assert_int_equal(tn_op_evaluate(TN_OP_BITCAST, TN_U32, TN_F32, nan, 0, 0), nan);
	assert_int_equal(tn_op_evaluate(TN_OP_BITCAST, TN_F32, TN_I32, 0xffffffff80000000, 0, 0),
			 0x80000000);
	/* Philox4x32-10's published vector: counter and key 0 (Random123, kat_vectors). */
	assert_int_equal(tn_op_evaluate(TN_OP_RANDOM, TN_U32, TN_I64, 0, 0, 0), 0x6627e8d5);
	assert_int_equal(tn_op_evaluate(TN_OP_RANDOM, TN_U32, TN_I64, 0, 0, 1), 0xe169c58d);
	assert_int_equal(tn_op_evaluate(TN_OP_RANDOM, TN_U32, TN_I64, 0, 0, 2), 0xbc57ac4c);
	assert_int_equal(tn_op_evaluate(TN_OP_RANDOM, TN_U32, TN_I64, 0, 0, 3), 0x9b00dbd8);
	/* The quantile is odd: words w and ~w give opposite numbers. */
	uint64_t low = tn_op_evaluate(TN_OP_NORMAL, TN_F32, TN_U32, 1234567, 0, 0);
	uint64_t high = tn_op_evaluate(TN_OP_NORMAL, TN_F32, TN_U32, ~UINT32_C(1234567), 0, 0);
	assert_int_equal(low ^ high, 0x80000000);
}

static void what_no_opcode_is_gives_zero(void **state)
{
	(void)state;
	assert_int_equal(tn_op_evaluate(999, TN_F32, TN_F32, 1, 1, 1), 0);
	assert_int_equal(tn_op_evaluate(TN_OP_ADD, TN_BOOL, TN_BOOL, 1, 1, 1), 0);
	assert_int_equal(tn_op_evaluate(TN_OP_EXP, TN_I32, TN_I32, 1, 1, 1), 0);
	assert_string_equal(tn_op_name(999), "unknown");
	assert_string_equal(tn_op_name(TN_OP_SELECT), "select");
}

/* ---- Casts -----------------------------------------------------------------------------------*/

struct conversion {
	tn_dtype from, to;
	double value, result;
};

static void casts_saturate_wrap_and_round(void **state)
{
	(void)state;
	static const struct conversion cases[] = {
		{TN_F32, TN_I32, 2147483648.0, 2147483647},
		{TN_F32, TN_I32, -1e20, I32_MIN},
		{TN_F32, TN_I32, NAN, 0},
		{TN_F32, TN_I32, -1.9, -1},
		{TN_F32, TN_U32, -5, 0},
		{TN_F32, TN_U32, 1e20, 4294967295.0},
		{TN_F64, TN_I64, 1e300, 9223372036854775807.0},
		{TN_F64, TN_I64, -INFINITY, I64_MIN},
		{TN_F32, TN_I8, 300, 127},
		{TN_F32, TN_I8, -300, -128},
		{TN_F32, TN_U8, 300, 255},
		{TN_F32, TN_U8, -1, 0},
		{TN_F32, TN_U8, 2.9, 2},
		{TN_F32, TN_U16, 70000, 65535},
		{TN_F32, TN_I16, -70000, -32768},
		{TN_F64, TN_U64, 1e30, 18446744073709551615.0},
		{TN_I32, TN_I8, 300, 44},
		{TN_I32, TN_U8, -1, 255},
		{TN_I32, TN_U32, -1, 4294967295.0},
		{TN_U32, TN_I32, 4294967295.0, -1},
		{TN_I64, TN_I32, 4294967297.0, 1},
		{TN_I8, TN_I64, -1, -1},
		{TN_I32, TN_F32, 16777217, 16777216},
		{TN_I64, TN_F64, 9007199254740993.0, 9007199254740992.0},
		{TN_U64, TN_F32, 18446744073709551615.0, 18446744073709551616.0},
		{TN_F32, TN_BOOL, NAN, 1},
		{TN_F32, TN_BOOL, -0.0, 0},
		{TN_F32, TN_BOOL, 1e-45, 1},
		{TN_I32, TN_BOOL, -3, 1},
		{TN_BOOL, TN_F32, 1, 1},
		{TN_F64, TN_F32, 1e300, INFINITY},
		{TN_F64, TN_F32, 0.1, (double)0.1f},
		{TN_F64, TN_F32, NAN, NAN},
		{TN_F32, TN_F16, 65519, 65504},
		{TN_F32, TN_F16, 65520, INFINITY},
		{TN_F32, TN_F16, 1 + 0x1p-11, 1},
		{TN_F32, TN_F16, 1 + 3 * 0x1p-11, 1 + 0x1p-9},
		{TN_F32, TN_F16, 0x1p-24, 0x1p-24},
		{TN_F32, TN_F16, 0x1p-25, 0},
		{TN_F32, TN_F16, 3 * 0x1p-26, 0x1p-24},
		{TN_F32, TN_F16, -NAN, NAN},
		{TN_F32, TN_BF16, 1 + 0x1p-8, 1},
		{TN_F32, TN_BF16, 1 + 3 * 0x1p-8, 1 + 0x1p-6},
		{TN_F32, TN_BF16, 3.4e38, INFINITY},
		{TN_F32, TN_BF16, NAN, NAN},
		{TN_I32, TN_F16, 100000, INFINITY},
		/* By way of f32: 1 + 2^-11 + 2^-40 is the tie once it is f32. */
		{TN_F64, TN_F16, 1 + 0x1p-11 + 0x1p-40, 1},
	};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const struct conversion *c = &cases[k];
		uint64_t bits = tn_cast_bits(c->from, c->to, bits_of_number(c->from, c->value));
		double found = number_of_bits(c->to, bits);
		if (same(found, c->result) || (found == 0 && c->result == 0))
			continue;
		fail_msg("%s %.17g to %s: expected %.17g, found %.17g", tn_dtype_name(c->from),
			 c->value, tn_dtype_name(c->to), c->result, found);
	}
	assert_int_equal(tn_cast_bits(TN_C64, TN_F32, 1), 0);
	assert_int_equal(tn_cast_bits(TN_F32, 77, 1), 0);
}

/* The nearest f16 is the one of both neighbours that is nearer, the even one at a tie. */
static void every_half_comes_back_and_midpoints_go_to_even(void **state)
{
	(void)state;
	for (uint32_t half = 0; half < 0x7c00; half++) {
		float value = tn_f32_of_f16((uint16_t)half);
		float next = tn_f32_of_f16((uint16_t)(half + 1));
		assert_int_equal(tn_f16_of_f32(value), half);
		assert_int_equal(tn_f16_of_f32(-value), half | 0x8000);
		if (half + 1 == 0x7c00)
			break;
		float middle = (value + next) / 2;
		assert_int_equal(tn_f16_of_f32(middle), half + (half & 1));
		assert_int_equal(tn_f16_of_f32(nextafterf(middle, 0)), half);
		assert_int_equal(tn_f16_of_f32(nextafterf(middle, 1e9f)), half + 1);
	}
	for (uint32_t brain = 0; brain < 0x7f80; brain++) {
		float value = tn_f32_of_bf16((uint16_t)brain);
		assert_int_equal(tn_bf16_of_f32(value), brain);
		assert_int_equal(tn_bf16_of_f32(-value), brain | 0x8000);
	}
	assert_true(isnan(tn_f32_of_f16(tn_f16_of_f32(NAN))));
	assert_true(isnan(tn_f32_of_bf16(tn_bf16_of_f32(tn_f32_of_bits(0x7f800001)))));
	assert_true(isinf(tn_f32_of_f16(0xfc00)));
}

static void dtypes_meet_as_in_numpy_and_pytorch(void **state)
{
	(void)state;
	static const struct {
		tn_dtype a, b, result;
	} cases[] = {
		{TN_BOOL, TN_BOOL, TN_BOOL}, {TN_BOOL, TN_U8, TN_U8},  {TN_I8, TN_U8, TN_I16},
		{TN_I8, TN_I32, TN_I32},     {TN_U8, TN_I32, TN_I32},  {TN_U16, TN_I8, TN_I32},
		{TN_I32, TN_U32, TN_I64},    {TN_U32, TN_I64, TN_I64}, {TN_U64, TN_I8, TN_I64},
		{TN_U8, TN_U32, TN_U32},     {TN_I64, TN_F16, TN_F16}, {TN_U64, TN_F32, TN_F32},
		{TN_F16, TN_BF16, TN_F32},   {TN_F16, TN_F32, TN_F32}, {TN_BF16, TN_F64, TN_F64},
		{TN_F32, TN_F32, TN_F32},    {TN_C64, TN_F32, 0},      {0, TN_F32, 0},
	};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		assert_int_equal(tn_promote(cases[k].a, cases[k].b), cases[k].result);
		assert_int_equal(tn_promote(cases[k].b, cases[k].a), cases[k].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_wrap_and_never_trap),
		cmocka_unit_test(shift_counts_are_modulo_the_width),
		cmocka_unit_test(bits_and_booleans),
		cmocka_unit_test(floating_arithmetic_is_ieee),
		cmocka_unit_test(nan_wins_min_and_max_and_the_second_of_equals),
		cmocka_unit_test(rounding_and_sign),
		cmocka_unit_test(functions_at_their_special_points),
		cmocka_unit_test(comparisons_with_nan_are_false_but_for_ne),
		cmocka_unit_test(choices_bitcasts_and_random_numbers),
		cmocka_unit_test(what_no_opcode_is_gives_zero),
		cmocka_unit_test(casts_saturate_wrap_and_round),
		cmocka_unit_test(every_half_comes_back_and_midpoints_go_to_even),
		cmocka_unit_test(dtypes_meet_as_in_numpy_and_pytorch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
