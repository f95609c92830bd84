/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "program.h"

#include "status.h"

/* ---- Checks ----------------------------------------------------------------------------------*/

enum { BOOLS = 1, INTEGERS = 2, FLOATS = 4, NUMBERS = INTEGERS | FLOATS, ALL = 7, COMPARES = 8 };

/* Of which dtypes each opcode makes values, or, of a comparison, takes them. */
static const uint8_t made[TN_OP_COUNT] = {
	[TN_OP_INPUT] = ALL,
	[TN_OP_SCALAR] = ALL,
	[TN_OP_CONSTANT] = ALL,
	[TN_OP_INDEX] = INTEGERS,
	[TN_OP_ELEMENT] = INTEGERS,
	[TN_OP_ADD] = NUMBERS,
	[TN_OP_SUB] = NUMBERS,
	[TN_OP_MUL] = NUMBERS,
	[TN_OP_DIV] = NUMBERS,
	[TN_OP_REM] = NUMBERS,
	[TN_OP_NEG] = NUMBERS,
	[TN_OP_ABS] = NUMBERS,
	[TN_OP_MIN] = NUMBERS,
	[TN_OP_MAX] = NUMBERS,
	[TN_OP_FMA] = FLOATS,
	[TN_OP_POW] = FLOATS,
	[TN_OP_SQRT] = FLOATS,
	[TN_OP_RSQRT] = FLOATS,
	[TN_OP_FLOOR] = FLOATS,
	[TN_OP_CEIL] = FLOATS,
	[TN_OP_ROUND] = FLOATS,
	[TN_OP_TRUNC] = FLOATS,
	[TN_OP_SIGN] = NUMBERS,
	[TN_OP_EXP] = FLOATS,
	[TN_OP_EXP2] = FLOATS,
	[TN_OP_EXPM1] = FLOATS,
	[TN_OP_LOG] = FLOATS,
	[TN_OP_LOG2] = FLOATS,
	[TN_OP_LOG1P] = FLOATS,
	[TN_OP_SIN] = FLOATS,
	[TN_OP_COS] = FLOATS,
	[TN_OP_TAN] = FLOATS,
	[TN_OP_ASIN] = FLOATS,
	[TN_OP_ACOS] = FLOATS,
	[TN_OP_ATAN] = FLOATS,
	[TN_OP_ATAN2] = FLOATS,
	[TN_OP_SINH] = FLOATS,
	[TN_OP_COSH] = FLOATS,
	[TN_OP_TANH] = FLOATS,
	[TN_OP_ERF] = FLOATS,
	[TN_OP_SIGMOID] = FLOATS,
	[TN_OP_EQ] = ALL | COMPARES,
	[TN_OP_NE] = ALL | COMPARES,
	[TN_OP_LT] = ALL | COMPARES,
	[TN_OP_LE] = ALL | COMPARES,
	[TN_OP_GT] = ALL | COMPARES,
	[TN_OP_GE] = ALL | COMPARES,
	[TN_OP_AND] = BOOLS | INTEGERS,
	[TN_OP_OR] = BOOLS | INTEGERS,
	[TN_OP_XOR] = BOOLS | INTEGERS,
	[TN_OP_NOT] = BOOLS | INTEGERS,
	[TN_OP_SHL] = INTEGERS,
	[TN_OP_SHR] = INTEGERS,
	[TN_OP_SELECT] = ALL,
	[TN_OP_CAST] = ALL,
	[TN_OP_BITCAST] = NUMBERS,
	[TN_OP_RANDOM] = INTEGERS,
	[TN_OP_NORMAL] = FLOATS,
};

static unsigned class_of(unsigned dtype)
{
	switch (dtype) {
	case TN_BOOL:
		return BOOLS;
	case TN_I32:
	case TN_U32:
	case TN_I64:
		return INTEGERS;
	case TN_F32:
	case TN_F64:
		return FLOATS;
	default:
		return 0;
	}
}

/* How many sources of that kind there are; 0 for an opcode that is no source. */
static uint32_t sources(const struct tn_program *program, uint16_t op)
{
	switch (op) {
	case TN_OP_INPUT:
		return program->n_inputs;
	case TN_OP_SCALAR:
		return program->n_scalars;
	case TN_OP_CONSTANT:
		return program->n_constants;
	case TN_OP_INDEX:
		return TN_MAX_RANK;
	case TN_OP_ELEMENT:
		return UINT16_MAX + 1u;
	default:
		return 0;
	}
}

/* Does instruction i stand on sound ground? */
static int is_sound(const struct tn_program *program, uint32_t i)
{
	const struct tn_instruction *in = &program->instructions[i];
	uint32_t n = sources(program, in->op);
	if (n)
		return in->a < n;
	return in->a < i && (in->b < i || in->b == 0) && (in->c < i || in->c == 0);
}

static tn_status check_instruction(const struct tn_call *call, const char *operation,
				   const struct tn_program *program, uint32_t i)
{
	const struct tn_instruction *in = &program->instructions[i];
	unsigned own = class_of(in->dtype);
	if (in->op >= TN_OP_COUNT || !made[in->op] || !own)
		return cuda_fail(call->error, TN_UNSUPPORTED, operation,
				 "instruction %u: opcode %u of dtype %u is not known here", i,
				 in->op, in->dtype);
	if (!is_sound(program, i))
		return cuda_fail(call->error, TN_INVALID_ARGUMENT, operation,
				 "instruction %u: it refers to what is not there", i);
	if (made[in->op] & COMPARES)
		own = class_of(program->instructions[in->a].dtype);
	if (!(own & made[in->op]))
		return cuda_fail(call->error, TN_UNSUPPORTED, operation,
				 "instruction %u: opcode %u does not make dtype %u", i, in->op,
				 in->dtype);
	return TN_OK;
}

tn_status cuda_check_program(const struct tn_call *call, const char *operation,
			     const struct tn_program *program)
{
	tn_status status = TN_OK;
	if (!program || !program->instructions || !program->outputs || !program->bytes ||
	    program->n_inputs > TN_PROGRAM_MAX_INPUTS || program->n_outputs == 0 ||
	    program->n_outputs > TN_PROGRAM_MAX_OUTPUTS ||
	    program->n_scalars > TN_PROGRAM_MAX_SCALARS ||
	    program->n_constants > TN_PROGRAM_MAX_CONSTANTS || program->n_instructions == 0 ||
	    program->n_instructions > TN_PROGRAM_MAX_INSTRUCTIONS)
		return cuda_fail(call->error, TN_INVALID_ARGUMENT, operation,
				 "no program, or one outside the limits");
	for (uint32_t i = 0; i < program->n_instructions && !status; i++)
		status = check_instruction(call, operation, program, i);
	for (uint32_t j = 0; j < program->n_outputs && !status; j++)
		if (program->outputs[j] >= program->n_instructions)
			status = cuda_fail(call->error, TN_INVALID_ARGUMENT, operation,
					   "output %u is value %u of %u", j, program->outputs[j],
					   program->n_instructions);
	return status;
}

tn_status cuda_check_scalars(const struct tn_call *call, const char *operation,
			     const struct tn_scalar *scalars, uint32_t n)
{
	if (n && !scalars)
		return cuda_fail(call->error, TN_INVALID_ARGUMENT, operation,
				 "the program has %u scalars, none are given", n);
	for (uint32_t s = 0; s < n; s++) {
		const struct tn_scalar *scalar = &scalars[s];
		struct tn_operand place = {
			.buffer = scalar->buffer, .offset = scalar->offset, .dtype = scalar->dtype};
		if (scalar->on_device > 1 || !(cuda_kind(scalar->dtype) & CUDA_REAL))
			return cuda_fail(call->error, TN_UNSUPPORTED, operation,
					 "scalar %u: dtype %d, on_device %u", s, (int)scalar->dtype,
					 scalar->on_device);
		if (!scalar->on_device) /* a value needs no place */
			continue;
		tn_status status =
			cuda_check_operand(call, operation, "scalar", s, &place, CUDA_READS);
		if (status)
			return status;
	}
	return TN_OK;
}

/* ---- Questions -------------------------------------------------------------------------------*/

tn_dtype cuda_source_dtype(const struct tn_program *program, uint16_t op, uint32_t number)
{
	for (uint32_t i = 0; i < program->n_instructions; i++)
		if (program->instructions[i].op == op && program->instructions[i].a == number)
			return (tn_dtype)program->instructions[i].dtype;
	return 0;
}

tn_dtype cuda_output_dtype(const struct tn_program *program, uint32_t number)
{
	return (tn_dtype)program->instructions[program->outputs[number]].dtype;
}

int cuda_program_uses(const struct tn_program *program, uint16_t op)
{
	for (uint32_t i = 0; i < program->n_instructions; i++)
		if (program->instructions[i].op == op)
			return 1;
	return 0;
}

/* ---- Printing --------------------------------------------------------------------------------*/

const char *cuda_value_type(tn_dtype dtype)
{
	return dtype == TN_BOOL ? "bool" : cuda_memory_type(dtype);
}

const char *cuda_memory_type(tn_dtype dtype)
{
	static const char *const types[16] = {
		[TN_BOOL] = "cu_bool", [TN_I8] = "cu_i8",     [TN_I16] = "cu_i16",
		[TN_I32] = "cu_i32",   [TN_I64] = "cu_i64",   [TN_U8] = "cu_u8",
		[TN_U16] = "cu_u16",   [TN_U32] = "cu_u32",   [TN_U64] = "cu_u64",
		[TN_F16] = "cu_f16",   [TN_BF16] = "cu_bf16", [TN_F32] = "cu_f32",
		[TN_F64] = "cu_f64",   [TN_C64] = "cu_u64",   [TN_C128] = "cu_u128"};
	return types[dtype];
}

void cuda_print_program(struct cuda_text *text, const struct tn_program *program,
			const char *prefix)
{
	const struct tn_host *host = text->host;
	const struct tn_print_args args = {
		.struct_size = sizeof(args), .dialect = TN_DIALECT_CUDA, .prefix = prefix};
	size_t length = host->print_program(host->context, program, &args, NULL, 0);
	char *to = cuda_text_reserve(text, length);
	if (to)
		text->length += host->print_program(host->context, program, &args, to, length + 1);
}
