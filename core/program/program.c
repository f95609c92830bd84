/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One allocation: the struct, then its canonical bytes
 *     u32 n_inputs, n_outputs, n_scalars, n_constants, n_instructions, 0
 *     u64 constants[n_constants]
 *     u16 outputs[TN_PROGRAM_MAX_OUTPUTS], unused ones 0
 *     struct tn_instruction instructions[n_instructions]
 * into which the struct's pointers point.
 */
#include "program/program.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/quarantine.h"
#include "program/cast.h"
#include "program/hash.h"
#include "program/opcode.h"

#define COUNTS_SIZE (6 * sizeof(uint32_t))
#define OUTPUTS_SIZE (TN_PROGRAM_MAX_OUTPUTS * sizeof(uint16_t))

tn_status tn_program_create(const struct tn_program_parts *parts, const char *operation,
			    struct tn_program **program, struct tn_error_info *error)
{
	const uint32_t counts[6] = {parts->n_inputs, parts->n_outputs, parts->n_scalars,
				    parts->n_constants, parts->n_instructions};
	size_t constants_size = parts->n_constants * sizeof(uint64_t);
	size_t instructions_size = parts->n_instructions * sizeof(struct tn_instruction);
	size_t n_bytes = COUNTS_SIZE + constants_size + OUTPUTS_SIZE + instructions_size;
	struct tn_program *made = tn_mem_alloc(sizeof(*made) + n_bytes);
	if (!made)
		return tn_fail(error, TN_OUT_OF_MEMORY, operation, "no host memory for %zu bytes",
			       sizeof(*made) + n_bytes);
	char *bytes = (char *)(made + 1);
	char *constants = bytes + COUNTS_SIZE;
	char *outputs = constants + constants_size;
	char *instructions = outputs + OUTPUTS_SIZE;
	memcpy(bytes, counts, COUNTS_SIZE);
	memcpy(constants, parts->constants, constants_size);
	memcpy(outputs, parts->outputs, OUTPUTS_SIZE);
	memcpy(instructions, parts->instructions, instructions_size);
	*made = (struct tn_program){
		.struct_size = sizeof(*made),
		.n_inputs = parts->n_inputs,
		.n_outputs = parts->n_outputs,
		.n_scalars = parts->n_scalars,
		.n_constants = parts->n_constants,
		.n_instructions = parts->n_instructions,
		.instructions = (const struct tn_instruction *)instructions,
		.constants = (const uint64_t *)constants,
		.outputs = (const uint16_t *)outputs,
		.bytes = bytes,
		.n_bytes = n_bytes,
	};
	tn_hash_bytes(bytes, n_bytes, made->hash);
	*program = made;
	return TN_OK;
}

void tn_program_destroy(tn_program *program)
{
	if (program && !tn_quarantine_check(program, "program_destroy", NULL))
		tn_quarantine_end(program, "the program has been destroyed");
}

/* 1: a handle has ended. */
static int has_ended(const tn_program *program, const char *operation)
{
	return tn_quarantine_check(program, operation, NULL) != TN_OK;
}

int tn_program_equal(const tn_program *a, const tn_program *b)
{
	if (has_ended(a, "program_equal") || has_ended(b, "program_equal"))
		return 0;
	return a->n_bytes == b->n_bytes && a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1] &&
	       !memcmp(a->bytes, b->bytes, a->n_bytes);
}

tn_dtype tn_program_output_dtype(const tn_program *program, uint32_t output)
{
	if (has_ended(program, "program_output_dtype") || output >= program->n_outputs)
		return 0;
	return (tn_dtype)program->instructions[program->outputs[output]].dtype;
}

/* The dtype of source `number`, which at most one instruction reads. */
static tn_dtype source_dtype(const tn_program *program, uint16_t op, uint32_t number)
{
	if (has_ended(program, "program_dtype"))
		return 0;
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *value = &program->instructions[i];
		if (value->op == op && value->a == number)
			return (tn_dtype)value->dtype;
	}
	return 0;
}

tn_dtype tn_program_input_dtype(const tn_program *program, uint32_t input)
{
	return source_dtype(program, TN_OP_INPUT, input);
}

tn_dtype tn_program_scalar_dtype(const tn_program *program, uint32_t scalar)
{
	return source_dtype(program, TN_OP_SCALAR, scalar);
}

int tn_program_has(const tn_program *program, uint16_t op)
{
	if (has_ended(program, "program_has"))
		return 0;
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		if (program->instructions[i].op == op)
			return 1;
	}
	return 0;
}

tn_status tn_program_check_limits(const struct tn_program *program, const char *operation,
				  struct tn_error_info *error)
{
	if (program->n_inputs <= TN_PROGRAM_MAX_INPUTS &&
	    program->n_outputs <= TN_PROGRAM_MAX_OUTPUTS &&
	    program->n_scalars <= TN_PROGRAM_MAX_SCALARS &&
	    program->n_constants <= TN_PROGRAM_MAX_CONSTANTS &&
	    program->n_instructions <= TN_PROGRAM_MAX_INSTRUCTIONS)
		return TN_OK;
	return tn_fail(error, TN_UNSUPPORTED, operation,
		       "a program of %u inputs, %u outputs, %u scalars, %u constants and "
		       "%u instructions exceeds the limits",
		       program->n_inputs, program->n_outputs, program->n_scalars,
		       program->n_constants, program->n_instructions);
}

static int is_whole(const struct tn_program *program)
{
	return program && program->instructions && program->outputs && program->bytes &&
	       (program->constants || !program->n_constants) && program->n_outputs >= 1 &&
	       program->n_instructions >= 1;
}

static int source_is_valid(const struct tn_program *program, const struct tn_instruction *value)
{
	switch (value->op) {
	case TN_OP_INPUT:
		return value->a < program->n_inputs;
	case TN_OP_SCALAR:
		return value->a < program->n_scalars;
	case TN_OP_CONSTANT:
		return value->a < program->n_constants;
	case TN_OP_INDEX:
		return value->a < TN_MAX_RANK && value->dtype == TN_I64;
	default:
		return value->dtype == TN_I64;
	}
}

static int takes(uint16_t op, tn_dtype dtype)
{
	unsigned flags = tn_op_information(op)->flags;
	if (dtype == TN_BOOL)
		return (flags & TN_TAKES_BOOL) != 0;
	return (flags & (tn_is_floating(dtype) ? TN_TAKES_FLOATS : TN_TAKES_INTEGERS)) != 0;
}

/* Do the types of the operands and of the result agree? */
static int types_fit(const struct tn_instruction *value, const tn_dtype *operands, int arity)
{
	tn_dtype dtype = (tn_dtype)value->dtype;
	switch (value->op) {
	case TN_OP_SELECT:
		return operands[0] == TN_BOOL && operands[1] == dtype && operands[2] == dtype;
	case TN_OP_CAST:
		return 1;
	case TN_OP_BITCAST:
		return tn_dtype_size(dtype) == 4 && tn_dtype_size(operands[0]) == 4;
	case TN_OP_RANDOM:
		return dtype == TN_U32 && operands[0] == TN_I64 && operands[1] == TN_I64 &&
		       operands[2] == TN_I64;
	case TN_OP_NORMAL:
		return dtype == TN_F32 && operands[0] == TN_U32;
	default:
		break;
	}
	for (int i = 1; i < arity; i++) {
		if (operands[i] != operands[0])
			return 0;
	}
	int gives_bool = (tn_op_information(value->op)->flags & TN_GIVES_BOOL) != 0;
	return dtype == (gives_bool ? TN_BOOL : operands[0]);
}

static int instruction_is_valid(const struct tn_program *program, uint32_t i)
{
	const struct tn_instruction *value = &program->instructions[i];
	const uint16_t numbers[] = {value->a, value->b, value->c};
	int arity = tn_op_information(value->op)->arity;
	tn_dtype operands[3] = {0};
	if (!tn_is_compute_dtype((tn_dtype)value->dtype) || value->reserved)
		return 0;
	if (tn_op_is_source(value->op))
		return source_is_valid(program, value);
	for (int k = 0; k < arity; k++) {
		if (numbers[k] >= i)
			return 0;
		operands[k] = (tn_dtype)program->instructions[numbers[k]].dtype;
	}
	for (int k = arity; k < 3; k++) {
		if (numbers[k])
			return 0;
	}
	return arity > 0 && takes(value->op, operands[tn_op_typed_operand(value->op)]) &&
	       types_fit(value, operands, arity);
}

/* The dtype in which each input and scalar is read; 0: not read. */
struct reads {
	uint16_t inputs[TN_PROGRAM_MAX_INPUTS];
	uint16_t scalars[TN_PROGRAM_MAX_SCALARS];
};

/* 0: this source is also read in another dtype. */
static int is_read_alike(struct reads *reads, const struct tn_instruction *value)
{
	uint16_t *dtype = value->op == TN_OP_INPUT    ? &reads->inputs[value->a]
			  : value->op == TN_OP_SCALAR ? &reads->scalars[value->a]
						      : NULL;
	if (!dtype)
		return 1;
	if (!*dtype)
		*dtype = value->dtype;
	return *dtype == value->dtype;
}

tn_status tn_program_check(const struct tn_program *program, uint32_t n_operations, uint64_t dtypes,
			   const char *operation, struct tn_error_info *error)
{
	struct reads reads = {{0}, {0}};
	if (!is_whole(program))
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "expected a program with instructions and outputs");
	tn_status status = tn_program_check_limits(program, operation, error);
	if (status)
		return status;
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *value = &program->instructions[i];
		if (value->op >= n_operations || !tn_op_information(value->op)->name ||
		    value->dtype >= 64 || !(dtypes >> value->dtype & 1))
			return tn_fail(error, TN_UNSUPPORTED, operation,
				       "instruction %u: opcode %u of dtype %u is not supported", i,
				       value->op, value->dtype);
		if (!instruction_is_valid(program, i) || !is_read_alike(&reads, value))
			return tn_fail(error, TN_INVALID_ARGUMENT, operation,
				       "instruction %u (%s of dtype %s) is not well formed", i,
				       tn_op_name(value->op), tn_dtype_name(value->dtype));
	}
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		if (program->outputs[j] >= program->n_instructions)
			return tn_fail(error, TN_INVALID_ARGUMENT, operation,
				       "output %u is value %u of %u", j, program->outputs[j],
				       program->n_instructions);
	}
	return TN_OK;
}
