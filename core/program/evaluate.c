/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One value at a time, written for correctness, not for speed.  Integers are computed in 64 bits
 * and truncated to their width: addition, subtraction and multiplication modulo 2^64 contain those
 * modulo 2^32, and i32 and u32 fit an int64_t exactly.  f32 is computed in f64 and rounded once
 * more.  That second rounding is harmless for + - * / and sqrt (Figueroa 1995: 53 >= 2 * 24 + 2); a
 * fused multiply-add has its own function.
 */
#include "program/evaluate.h"

#include <math.h>

#include "program/cast.h"
#include "program/opcode.h"
#include "program/random.h"

static uint64_t magnitude_of(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Rounds toward zero; division by zero gives 0; the one overflow wraps. */
static uint64_t quotient(int64_t a, int64_t b)
{
	if (b == 0)
		return 0;
	return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t remainder_of(int64_t a, int64_t b)
{
	return b == 0 || b == -1 ? 0 : (uint64_t)(a % b);
}

/* a, b and c hold the exact values; the caller truncates the result to its width of 32 or 64
 * bits. */
static uint64_t evaluate_integer(uint16_t op, unsigned width, int64_t a, int64_t b, int64_t c)
{
	unsigned count = (unsigned)b & (width - 1);
	switch (op) {
	case TN_OP_ADD:
		return (uint64_t)a + (uint64_t)b;
	case TN_OP_SUB:
		return (uint64_t)a - (uint64_t)b;
	case TN_OP_MUL:
		return (uint64_t)a * (uint64_t)b;
	case TN_OP_FMA:
		return (uint64_t)a * (uint64_t)b + (uint64_t)c;
	case TN_OP_DIV:
		return quotient(a, b);
	case TN_OP_REM:
		return remainder_of(a, b);
	case TN_OP_NEG:
		return 0 - (uint64_t)a;
	case TN_OP_ABS:
		return magnitude_of(a);
	case TN_OP_MIN:
		return (uint64_t)(a < b ? a : b);
	case TN_OP_MAX:
		return (uint64_t)(a > b ? a : b);
	case TN_OP_SIGN:
		return (uint64_t)(int64_t)((a > 0) - (a < 0));
	case TN_OP_AND:
		return (uint64_t)a & (uint64_t)b;
	case TN_OP_OR:
		return (uint64_t)a | (uint64_t)b;
	case TN_OP_XOR:
		return (uint64_t)a ^ (uint64_t)b;
	case TN_OP_NOT:
		return ~(uint64_t)a;
	case TN_OP_SHL:
		return (uint64_t)a << count;
	case TN_OP_SHR:
		return (uint64_t)(a >> count);
	default:
		return 0;
	}
}

/* 1 / (1 + exp(-x)), in the form that does not overflow. */
static double sigmoid(double x)
{
	if (x >= 0)
		return 1 / (1 + exp(-x));
	double power = exp(x);
	return power / (1 + power);
}

static double evaluate_function(uint16_t op, double a, double b)
{
	switch (op) {
	case TN_OP_EXP:
		return exp(a);
	case TN_OP_EXP2:
		return exp2(a);
	case TN_OP_EXPM1:
		return expm1(a);
	case TN_OP_LOG:
		return log(a);
	case TN_OP_LOG2:
		return log2(a);
	case TN_OP_LOG1P:
		return log1p(a);
	case TN_OP_SIN:
		return sin(a);
	case TN_OP_COS:
		return cos(a);
	case TN_OP_TAN:
		return tan(a);
	case TN_OP_ASIN:
		return asin(a);
	case TN_OP_ACOS:
		return acos(a);
	case TN_OP_ATAN:
		return atan(a);
	case TN_OP_ATAN2:
		return atan2(a, b);
	case TN_OP_SINH:
		return sinh(a);
	case TN_OP_COSH:
		return cosh(a);
	case TN_OP_TANH:
		return tanh(a);
	case TN_OP_ERF:
		return erf(a);
	case TN_OP_SIGMOID:
		return sigmoid(a);
	default:
		return 0;
	}
}

static double arithmetic(uint16_t op, double a, double b, double c)
{
	switch (op) {
	case TN_OP_ADD:
		return a + b;
	case TN_OP_SUB:
		return a - b;
	case TN_OP_MUL:
	case TN_OP_MUL_ROUNDED:
		return a * b;
	case TN_OP_DIV:
		return a / b;
	case TN_OP_REM:
		return fmod(a, b);
	case TN_OP_NEG:
		return -a;
	case TN_OP_ABS:
		return fabs(a);
	case TN_OP_MIN: /* of equal operands the second, so min(-0, 0) is 0 */
		return a < b || isnan(a) ? a : b;
	case TN_OP_MAX:
		return a > b || isnan(a) ? a : b;
	case TN_OP_FMA:
		return fma(a, b, c);
	case TN_OP_POW:
		return pow(a, b);
	case TN_OP_SQRT:
		return sqrt(a);
	case TN_OP_RSQRT:
		return 1 / sqrt(a);
	case TN_OP_FLOOR:
		return floor(a);
	case TN_OP_CEIL:
		return ceil(a);
	case TN_OP_ROUND:
		return rint(a); /* in the default rounding mode: half to even */
	case TN_OP_TRUNC:
		return trunc(a);
	case TN_OP_SIGN:
		return isnan(a) ? a : (double)((a > 0) - (a < 0));
	default:
		return evaluate_function(op, a, b);
	}
}

static uint64_t evaluate_floating(uint16_t op, tn_dtype dtype, uint64_t a, uint64_t b, uint64_t c)
{
	if (op == TN_OP_FMA && dtype == TN_F32)
		return tn_bits_of_f32(
			fmaf(tn_f32_of_bits(a), tn_f32_of_bits(b), tn_f32_of_bits(c)));
	int wide = dtype == TN_F64;
	double x = wide ? tn_f64_of_bits(a) : (double)tn_f32_of_bits(a);
	double y = wide ? tn_f64_of_bits(b) : (double)tn_f32_of_bits(b);
	double z = wide ? tn_f64_of_bits(c) : (double)tn_f32_of_bits(c);
	double value = arithmetic(op, x, y, z);
	return wide ? tn_bits_of_f64(value) : tn_bits_of_f32((float)value);
}

static int compare(uint16_t op, int less, int equal, int unordered)
{
	switch (op) {
	case TN_OP_EQ:
		return equal;
	case TN_OP_NE:
		return !equal;
	case TN_OP_LT:
		return less;
	case TN_OP_LE:
		return less || equal;
	case TN_OP_GT:
		return !less && !equal && !unordered;
	default:
		return !less && !unordered;
	}
}

/* The integer that the bits mean; booleans are 0 and 1. */
static int64_t integer_of(tn_dtype dtype, uint64_t bits)
{
	return (int64_t)tn_cast_bits(dtype, TN_I64, bits);
}

static uint64_t evaluate_boolean(uint16_t op, int a, int b)
{
	switch (op) {
	case TN_OP_AND:
		return a && b;
	case TN_OP_OR:
		return a || b;
	case TN_OP_XOR:
		return a != b;
	case TN_OP_NOT:
		return !a;
	default:
		return 0;
	}
}

uint64_t tn_op_evaluate(uint16_t op, tn_dtype dtype, tn_dtype operand_dtype, uint64_t a, uint64_t b,
			uint64_t c)
{
	if (tn_op_information(op)->flags & TN_GIVES_BOOL) {
		if (tn_is_floating(operand_dtype)) {
			double x = tn_f64_of_bits(tn_cast_bits(operand_dtype, TN_F64, a));
			double y = tn_f64_of_bits(tn_cast_bits(operand_dtype, TN_F64, b));
			return (uint64_t)compare(op, x < y, x == y, isnan(x) || isnan(y));
		}
		int64_t x = integer_of(operand_dtype, a), y = integer_of(operand_dtype, b);
		return (uint64_t)compare(op, x < y, x == y, 0);
	}
	switch (op) {
	case TN_OP_SELECT:
		return tn_cast_bits(dtype, dtype, (a & 0xff) ? b : c);
	case TN_OP_CAST:
		return tn_cast_bits(operand_dtype, dtype, a);
	case TN_OP_BITCAST:
		return a & UINT32_MAX;
	case TN_OP_RANDOM:
		return tn_random(a, b, c);
	case TN_OP_NORMAL:
		return tn_bits_of_f32(tn_normal((uint32_t)a));
	default:
		break;
	}
	if (tn_is_floating(dtype))
		return evaluate_floating(op, dtype, a, b, c);
	if (dtype == TN_BOOL)
		return evaluate_boolean(op, (a & 0xff) != 0, (b & 0xff) != 0);
	unsigned width = dtype == TN_I64 ? 64 : 32;
	uint64_t bits = evaluate_integer(op, width, integer_of(dtype, a), integer_of(dtype, b),
					 integer_of(dtype, c));
	return width == 64 ? bits : bits & UINT32_MAX;
}

void tn_evaluate_program(const struct tn_program *program, const uint64_t *inputs,
			 const uint64_t *scalars, const int64_t *index, int64_t element,
			 uint64_t *outputs)
{
	uint64_t value[TN_PROGRAM_MAX_INSTRUCTIONS];
	value[0] = 0; /* operands that an opcode does not have refer to it */
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *in = &program->instructions[i];
		switch (in->op) {
		case TN_OP_INPUT:
			value[i] = inputs[in->a];
			break;
		case TN_OP_SCALAR:
			value[i] = scalars[in->a];
			break;
		case TN_OP_CONSTANT:
			value[i] = program->constants[in->a];
			break;
		case TN_OP_INDEX:
			value[i] = (uint64_t)index[in->a];
			break;
		case TN_OP_ELEMENT:
			value[i] = (uint64_t)element;
			break;
		default: {
			uint16_t typed = in->op == TN_OP_SELECT ? in->b : in->a;
			value[i] = tn_op_evaluate(in->op, (tn_dtype)in->dtype,
						  (tn_dtype)program->instructions[typed].dtype,
						  value[in->a], value[in->b], value[in->c]);
		}
		}
	}
	for (uint32_t j = 0; j < program->n_outputs; j++)
		outputs[j] = value[program->outputs[j]];
}
