/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reverse mode over a straight line.  The program is first rebuilt, value by value; then, from the
 * last value to the first, the gradient g of each value y = op(a, b, c) is propagated to its
 * operands:
 *
 *     grad(a) += g * dy/da        and likewise for b and c
 *
 * The rules are PyTorch's (tools/autograd/derivatives.yaml, version 2), at kinks too.  The builder
 * removes what the chosen outputs do not need, so an unused gradient costs nothing.
 */
#include <tenon/program.h>
#include <tenon/status.h>

#include "base/error.h"
#include "base/options.h"
#include "base/quarantine.h"
#include "program/builder.h"
#include "program/cast.h"
#include "program/opcode.h"

#define OPERATION "program_differentiate"
#define NONE UINT16_MAX

struct tape {
	struct tn_builder builder;
	const struct tn_program *program;
	tn_value value[TN_PROGRAM_MAX_INSTRUCTIONS];    /* of each instruction */
	tn_value gradient[TN_PROGRAM_MAX_INSTRUCTIONS]; /* or NONE: 0 */
};

/* One instruction during the backward pass. */
struct step {
	struct tape *tape;
	const struct tn_instruction *instruction;
	tn_dtype dtype;
	tn_value g, y, a, b, c; /* its gradient, its value, its operands' values */
};

/* ---- Small words for the rules, all in the step's dtype */

static tn_value op1(const struct step *s, uint16_t op, tn_value a)
{
	return tn_build_op(&s->tape->builder, op, s->dtype, a, 0, 0);
}

static tn_value op2(const struct step *s, uint16_t op, tn_value a, tn_value b)
{
	return tn_build_op(&s->tape->builder, op, s->dtype, a, b, 0);
}

static tn_value number(const struct step *s, double value)
{
	return tn_build_number(&s->tape->builder, s->dtype, value);
}

static tn_value add(const struct step *s, tn_value a, tn_value b)
{
	return op2(s, TN_OP_ADD, a, b);
}

static tn_value sub(const struct step *s, tn_value a, tn_value b)
{
	return op2(s, TN_OP_SUB, a, b);
}

static tn_value mul(const struct step *s, tn_value a, tn_value b)
{
	return op2(s, TN_OP_MUL, a, b);
}

static tn_value divide(const struct step *s, tn_value a, tn_value b)
{
	return op2(s, TN_OP_DIV, a, b);
}

static tn_value neg(const struct step *s, tn_value a)
{
	return op1(s, TN_OP_NEG, a);
}

static tn_value compare(const struct step *s, uint16_t op, tn_value a, tn_value b)
{
	return tn_build_op(&s->tape->builder, op, TN_BOOL, a, b, 0);
}

static tn_value choose(const struct step *s, tn_value condition, tn_value yes, tn_value no)
{
	return tn_build_op(&s->tape->builder, TN_OP_SELECT, s->dtype, condition, yes, no);
}

/* grad(operand) += amount, where the operand has a gradient at all. */
static void send(const struct step *s, uint16_t operand, tn_value amount)
{
	struct tape *tape = s->tape;
	tn_dtype dtype = (tn_dtype)tape->program->instructions[operand].dtype;
	tn_value *gradient = &tape->gradient[operand];
	if (!tn_is_floating(dtype))
		return;
	if (*gradient == NONE)
		*gradient = amount;
	else
		*gradient = tn_build_op(&tape->builder, TN_OP_ADD, dtype, *gradient, amount, 0);
}

static void send_a(const struct step *s, tn_value amount)
{
	send(s, s->instruction->a, amount);
}

static void send_b(const struct step *s, tn_value amount)
{
	send(s, s->instruction->b, amount);
}

/* ---- The rules -------------------------------------------------------------------------------*/

/* y = a / b:   grad a = g / b,   grad b = -g (a / b) / b */
static void quotient(const struct step *s)
{
	send_a(s, divide(s, s->g, s->b));
	send_b(s, mul(s, neg(s, s->g), divide(s, s->y, s->b)));
}

/* y = a - b trunc(a / b):   grad a = g,   grad b = -g trunc(a / b) */
static void remainder_of(const struct step *s)
{
	send_a(s, s->g);
	send_b(s, mul(s, neg(s, s->g), op1(s, TN_OP_TRUNC, divide(s, s->a, s->b))));
}

/* The larger (smaller) operand takes g, equal ones take half each; with a NaN both take g. */
static void extreme(const struct step *s, uint16_t loses)
{
	tn_value zero = number(s, 0), half = mul(s, s->g, number(s, 0.5));
	tn_value share = choose(s, compare(s, TN_OP_EQ, s->a, s->b), half, s->g);
	send_a(s, choose(s, compare(s, loses, s->a, s->b), zero, share));
	send_b(s, choose(s, compare(s, loses, s->b, s->a), zero, share));
}

/* y = a^b:   grad a = g b a^(b-1), 0 where b = 0;   grad b = g y log a, 0 where a = 0 and b >= 0 */
static void power(const struct step *s)
{
	tn_value zero = number(s, 0), one = number(s, 1);
	tn_value slope = mul(s, s->b, op2(s, TN_OP_POW, s->a, sub(s, s->b, one)));
	send_a(s, choose(s, compare(s, TN_OP_EQ, s->b, zero), zero, mul(s, s->g, slope)));
	tn_value flat =
		tn_build_op(&s->tape->builder, TN_OP_AND, TN_BOOL, compare(s, TN_OP_EQ, s->a, zero),
			    compare(s, TN_OP_GE, s->b, zero), 0);
	tn_value growth = mul(s, s->y, op1(s, TN_OP_LOG, s->a));
	send_b(s, choose(s, flat, zero, mul(s, s->g, growth)));
}

/* y = atan2(a, b):   grad a = g b / (a^2 + b^2),   grad b = -g a / (a^2 + b^2);   0 at (0, 0) */
static void angle(const struct step *s)
{
	tn_value r2 = add(s, mul(s, s->a, s->a), mul(s, s->b, s->b));
	tn_value one = number(s, 1);
	tn_value is_origin = compare(s, TN_OP_EQ, r2, number(s, 0));
	tn_value inverse = divide(s, one, choose(s, is_origin, one, r2));
	send_a(s, mul(s, s->g, mul(s, s->b, inverse)));
	send_b(s, mul(s, s->g, neg(s, mul(s, s->a, inverse))));
}

static tn_value one_minus_square(const struct step *s, tn_value x)
{
	return sub(s, number(s, 1), mul(s, x, x));
}

/* dy/da of the functions of one argument, in terms of a and y. */
static tn_value slope(const struct step *s)
{
	const tn_value one = number(s, 1);
	switch (s->instruction->op) {
	case TN_OP_ABS: /* 0 at 0 */
		return op1(s, TN_OP_SIGN, s->a);
	case TN_OP_RSQRT: /* -1/2 y^3 */
		return mul(s, number(s, -0.5), mul(s, s->y, mul(s, s->y, s->y)));
	case TN_OP_EXP:
		return s->y;
	case TN_OP_EXP2:
		return mul(s, s->y, number(s, 0.69314718055994530942));
	case TN_OP_EXPM1: /* y + 1 loses a small exp(a) */
		return op1(s, TN_OP_EXP, s->a);
	case TN_OP_SIN:
		return op1(s, TN_OP_COS, s->a);
	case TN_OP_COS:
		return neg(s, op1(s, TN_OP_SIN, s->a));
	case TN_OP_TAN:
		return add(s, one, mul(s, s->y, s->y));
	case TN_OP_ASIN:
		return op1(s, TN_OP_RSQRT, one_minus_square(s, s->a));
	case TN_OP_ACOS:
		return neg(s, op1(s, TN_OP_RSQRT, one_minus_square(s, s->a)));
	case TN_OP_SINH:
		return op1(s, TN_OP_COSH, s->a);
	case TN_OP_COSH:
		return op1(s, TN_OP_SINH, s->a);
	case TN_OP_TANH:
		return one_minus_square(s, s->y);
	case TN_OP_ERF: /* 2 / sqrt(pi) exp(-a^2) */
		return mul(s, number(s, 1.12837916709551257390),
			   op1(s, TN_OP_EXP, neg(s, mul(s, s->a, s->a))));
	case TN_OP_SIGMOID:
		return mul(s, sub(s, one, s->y), s->y);
	default:
		return number(s, 0);
	}
}

/* dy/da = 1 / divisor */
static tn_value divisor(const struct step *s)
{
	const tn_value one = number(s, 1);
	switch (s->instruction->op) {
	case TN_OP_SQRT: /* infinite at 0 */
		return mul(s, number(s, 2), s->y);
	case TN_OP_LOG2:
		return mul(s, s->a, number(s, 0.69314718055994530942));
	case TN_OP_LOG1P:
		return add(s, s->a, one);
	case TN_OP_ATAN:
		return add(s, mul(s, s->a, s->a), one);
	default: /* log */
		return s->a;
	}
}

static void choice(const struct step *s)
{
	tn_value zero = number(s, 0);
	send_b(s, choose(s, s->a, s->g, zero));
	send(s, s->instruction->c, choose(s, s->a, zero, s->g));
}

/* Propagates the gradient of one value to its operands; other opcodes propagate nothing: sources,
 * rounding, sign, comparisons, bits and random numbers have derivative 0. */
static void propagate(const struct step *s)
{
	switch (s->instruction->op) {
	case TN_OP_ADD:
		send_a(s, s->g);
		send_b(s, s->g);
		return;
	case TN_OP_SUB:
		send_a(s, s->g);
		send_b(s, neg(s, s->g));
		return;
	case TN_OP_FMA:
		send(s, s->instruction->c, s->g);
		/* fall through */
	case TN_OP_MUL:
	case TN_OP_MUL_ROUNDED:
		send_a(s, mul(s, s->g, s->b));
		send_b(s, mul(s, s->g, s->a));
		return;
	case TN_OP_NEG:
		send_a(s, neg(s, s->g));
		return;
	case TN_OP_DIV:
		quotient(s);
		return;
	case TN_OP_REM:
		remainder_of(s);
		return;
	case TN_OP_MIN:
		extreme(s, TN_OP_GT);
		return;
	case TN_OP_MAX:
		extreme(s, TN_OP_LT);
		return;
	case TN_OP_POW:
		power(s);
		return;
	case TN_OP_ATAN2:
		angle(s);
		return;
	case TN_OP_SQRT:
	case TN_OP_LOG:
	case TN_OP_LOG2:
	case TN_OP_LOG1P:
	case TN_OP_ATAN:
		send_a(s, divide(s, s->g, divisor(s)));
		return;
	case TN_OP_ABS:
	case TN_OP_RSQRT:
	case TN_OP_EXP:
	case TN_OP_EXP2:
	case TN_OP_EXPM1:
	case TN_OP_SIN:
	case TN_OP_COS:
	case TN_OP_TAN:
	case TN_OP_ASIN:
	case TN_OP_ACOS:
	case TN_OP_SINH:
	case TN_OP_COSH:
	case TN_OP_TANH:
	case TN_OP_ERF:
	case TN_OP_SIGMOID:
		send_a(s, mul(s, s->g, slope(s)));
		return;
	case TN_OP_SELECT:
		choice(s);
		return;
	case TN_OP_CAST: /* between floating types; integers have no gradient */
		send_a(s, tn_build_cast(
				  &s->tape->builder,
				  (tn_dtype)s->tape->program->instructions[s->instruction->a].dtype,
				  s->g));
		return;
	default:
		return;
	}
}

/* ---- The walk --------------------------------------------------------------------------------*/

/* Rebuilds the program in the builder. */
static void rebuild(struct tape *tape)
{
	const struct tn_program *program = tape->program;
	struct tn_builder *builder = &tape->builder;
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *in = &program->instructions[i];
		tn_dtype dtype = (tn_dtype)in->dtype;
		if (in->op == TN_OP_CONSTANT)
			tape->value[i] =
				tn_build_constant(builder, dtype, program->constants[in->a]);
		else if (tn_op_is_source(in->op))
			tape->value[i] = tn_build_source(builder, in->op, dtype, in->a);
		else
			tape->value[i] = tn_build_op(builder, in->op, dtype, tape->value[in->a],
						     tape->value[in->b], tape->value[in->c]);
		tape->gradient[i] = NONE;
	}
}

/* The upstream gradients are the inputs after the program's own. */
static void seed(struct tape *tape)
{
	const struct tn_program *program = tape->program;
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		tn_dtype dtype = tn_program_output_dtype(program, j);
		uint16_t value = program->outputs[j];
		if (!tn_is_floating(dtype))
			continue;
		const struct step step = {.tape = tape, .dtype = dtype};
		send(&step, value,
		     tn_build_source(&tape->builder, TN_OP_INPUT, dtype, program->n_inputs + j));
	}
}

static void walk_back(struct tape *tape)
{
	const struct tn_program *program = tape->program;
	for (uint32_t i = program->n_instructions; i-- > 0;) {
		const struct tn_instruction *in = &program->instructions[i];
		const struct step step = {.tape = tape,
					  .instruction = in,
					  .dtype = (tn_dtype)in->dtype,
					  .g = tape->gradient[i],
					  .y = tape->value[i],
					  .a = tape->value[in->a],
					  .b = tape->value[in->b],
					  .c = tape->value[in->c]};
		if (step.g != NONE && !tn_op_is_source(in->op) && !tape->builder.status)
			propagate(&step);
	}
}

/* The gradient accumulated at a source; 0 where the source is never read or never reached. */
static tn_value gathered(struct tape *tape, uint16_t op, uint32_t number_of_source)
{
	const struct tn_program *program = tape->program;
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *in = &program->instructions[i];
		if (in->op != op || in->a != number_of_source)
			continue;
		if (tape->gradient[i] != NONE)
			return tape->gradient[i];
		return tn_build_number(&tape->builder, (tn_dtype)in->dtype, 0);
	}
	return tn_build_number(&tape->builder, TN_F32, 0);
}

static tn_status check_wanted(const char *what, uint32_t wanted, uint32_t n, tn_dtype dtype,
			      struct tn_error_info *error)
{
	if (wanted >= n)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "the gradient of %s %u is requested, but the program has %u", what,
			       wanted, n);
	if (dtype && !tn_is_floating(dtype))
		return tn_fail(error, TN_DTYPE, OPERATION,
			       "the gradient of %s %u is requested, which is %s; only floating "
			       "values have one",
			       what, wanted, tn_dtype_name(dtype));
	return TN_OK;
}

static tn_status check_limits(const struct tn_program *program,
			      const struct tn_program_wants *wants, struct tn_error_info *error)
{
	uint64_t n_wanted = (uint64_t)wants->n_inputs + wants->n_scalars;
	if (!n_wanted || (wants->n_inputs && !wants->inputs) ||
	    (wants->n_scalars && !wants->scalars))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "no gradient is requested");
	if (n_wanted > TN_PROGRAM_MAX_OUTPUTS)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%llu gradients are requested, at most %d fit one program; request "
			       "them in parts",
			       (unsigned long long)n_wanted, TN_PROGRAM_MAX_OUTPUTS);
	if (program->n_inputs + program->n_outputs > TN_PROGRAM_MAX_INPUTS)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%u inputs and the gradients of %u outputs are more than %d inputs",
			       program->n_inputs, program->n_outputs, TN_PROGRAM_MAX_INPUTS);
	return TN_OK;
}

tn_status tn_program_differentiate(const tn_program *program, const struct tn_program_wants *wants,
				   tn_program **gradient, struct tn_error_info *error)
{
	struct tn_program_wants own = tn_program_wants_defaults();
	tn_value outputs[TN_PROGRAM_MAX_OUTPUTS];
	uint32_t n = 0;
	if (!program || !wants || !gradient)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "program, wants and gradient must not be NULL");
	tn_status status = tn_quarantine_check(program, OPERATION, error);
	if (!status)
		status = tn_options_take(&own, sizeof(own), wants, "struct tn_program_wants",
					 OPERATION, error);
	if (!status)
		status = check_limits(program, &own, error);
	for (uint32_t k = 0; !status && k < own.n_inputs; k++)
		status = check_wanted("input", own.inputs[k], program->n_inputs,
				      tn_program_input_dtype(program, own.inputs[k]), error);
	for (uint32_t k = 0; !status && k < own.n_scalars; k++)
		status = check_wanted("scalar", own.scalars[k], program->n_scalars,
				      tn_program_scalar_dtype(program, own.scalars[k]), error);
	if (status)
		return status;
	struct tape tape = {.program = program};
	status = tn_builder_init(&tape.builder, OPERATION, error);
	if (status)
		return status;
	rebuild(&tape);
	seed(&tape);
	walk_back(&tape);
	for (uint32_t k = 0; k < own.n_inputs; k++)
		outputs[n++] = gathered(&tape, TN_OP_INPUT, own.inputs[k]);
	for (uint32_t k = 0; k < own.n_scalars; k++)
		outputs[n++] = gathered(&tape, TN_OP_SCALAR, own.scalars[k]);
	status = tn_builder_finish(&tape.builder, program->n_inputs + program->n_outputs,
				   program->n_scalars, n, outputs, gradient, error);
	tn_builder_release(&tape.builder);
	return status;
}
