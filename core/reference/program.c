/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks an element program and runs it, one loop over a block for each instruction.
 */
#include "reference/program.h"

#include "program/cast.h"
#include "program/evaluate.h"
#include "program/opcode.h"
#include "program/program.h"

/* ---- Checks ----------------------------------------------------------------------------------*/

/* The exclusive bound of operand `a` of an instruction: of inputs, scalars, axes or values. */
static uint32_t range_of_a(const struct tn_program *program, uint16_t op, uint32_t rank,
			   uint32_t number)
{
	switch (op) {
	case TN_OP_INPUT:
		return program->n_inputs;
	case TN_OP_SCALAR:
		return program->n_scalars;
	case TN_OP_CONSTANT:
		return program->n_constants;
	case TN_OP_INDEX:
		return rank;
	case TN_OP_ELEMENT:
		return UINT32_MAX;
	default:
		return number;
	}
}

static tn_status check_instruction(const struct tn_call *call, const char *operation,
				   const struct tn_program *program, uint32_t number, uint32_t rank)
{
	const struct tn_instruction *instruction = &program->instructions[number];
	const struct tn_op_info *op = tn_op_information(instruction->op);
	if (!op->name)
		return tn_reference_fail(call, TN_UNSUPPORTED, operation,
					 "instruction %u: unknown opcode %u", number,
					 instruction->op);
	if (!tn_is_compute_dtype(instruction->dtype))
		return tn_reference_fail(call, TN_UNSUPPORTED, operation,
					 "instruction %u: programs cannot compute in dtype %u",
					 number, instruction->dtype);
	if (instruction->a >= range_of_a(program, instruction->op, rank, number) ||
	    (op->arity > 1 && instruction->b >= number) ||
	    (op->arity > 2 && instruction->c >= number))
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "instruction %u: an operand is out of range (%u, %u, %u)",
					 number, instruction->a, instruction->b, instruction->c);
	return TN_OK;
}

static tn_status check_scalar(const struct tn_call *call, const char *operation,
			      const struct tn_scalar *scalar, uint32_t number)
{
	if (!tn_compute_dtype(scalar->dtype) || scalar->on_device > 1)
		return tn_reference_fail(call, TN_UNSUPPORTED, operation,
					 "scalar %u: dtype %d, on_device %u", number, scalar->dtype,
					 scalar->on_device);
	if (scalar->on_device && !scalar->buffer && !(call->flags & TN_DRY_RUN))
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "scalar %u: buffer 0 is never a handle", number);
	return TN_OK;
}

tn_status tn_reference_check_program(const struct tn_call *call, const char *operation,
				     const struct tn_program *program,
				     const struct tn_scalar *scalars, uint32_t rank)
{
	tn_status status = tn_program_check_limits(program, operation, call->error);
	if (status)
		return status;
	if (program->n_outputs < 1)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "the program has no output");
	if (program->n_scalars && !scalars)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "scalars: expected %u, found NULL", program->n_scalars);
	for (uint32_t i = 0; !status && i < program->n_instructions; i++)
		status = check_instruction(call, operation, program, i, rank);
	for (uint32_t i = 0; !status && i < program->n_scalars; i++)
		status = check_scalar(call, operation, &scalars[i], i);
	for (uint32_t j = 0; !status && j < program->n_outputs; j++) {
		if (program->outputs[j] >= program->n_instructions)
			status = tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
						   "output %u is value %u of %u", j,
						   program->outputs[j], program->n_instructions);
	}
	return status;
}

tn_status tn_reference_check_storage(const struct tn_call *call, const char *operation,
				     const char *name, const struct tn_operand *operand)
{
	if (tn_compute_dtype(operand->dtype))
		return TN_OK;
	return tn_reference_fail(call, TN_UNSUPPORTED, operation,
				 "%s: programs cannot read or write dtype %d", name,
				 operand->dtype);
}

/* ---- Running ---------------------------------------------------------------------------------*/

static uint64_t scalar_bits(const struct tn_scalar *scalar)
{
	if (!scalar->on_device)
		return scalar->bits;
	return bits_load((const char *)(uintptr_t)scalar->buffer + scalar->offset,
			 tn_dtype_size(scalar->dtype));
}

/* Writes the values that are the same for all elements once: constants, and scalars cast to the
 * dtype of the instruction that reads them. */
static void fill_uniform(struct runner *runner, const struct tn_scalar *scalars)
{
	for (uint32_t i = 0; i < runner->program->n_instructions; i++) {
		const struct tn_instruction *instruction = &runner->program->instructions[i];
		uint64_t bits;
		if (instruction->op == TN_OP_CONSTANT)
			bits = runner->program->constants[instruction->a];
		else if (instruction->op == TN_OP_SCALAR)
			bits = tn_cast_bits(scalars[instruction->a].dtype, instruction->dtype,
					    scalar_bits(&scalars[instruction->a]));
		else
			continue;
		for (size_t e = 0; e < BLOCK; e++)
			runner->values[i][e] = bits;
	}
}

struct runner *tn_reference_runner(void *device, const struct tn_program *program,
				   const struct tn_scalar *scalars, uint32_t rank,
				   const int64_t *shape)
{
	const struct tn_host *host = ((struct reference_device *)device)->host;
	size_t row = sizeof(uint64_t[BLOCK]);
	struct runner *runner =
		host->alloc(host->context, sizeof(*runner) + program->n_instructions * row, 0);
	if (!runner)
		return NULL;
	runner->program = program;
	runner->rank = rank;
	runner->shape = shape;
	runner->values = (uint64_t(*)[BLOCK])(runner + 1);
	fill_uniform(runner, scalars);
	return runner;
}

/* value[e] := the input's element, cast to the instruction's dtype */
static void run_input(const struct block_input *input, tn_dtype dtype, uint64_t *value, size_t n)
{
	if (input->dtype == dtype) {
		memcpy(value, input->bits, n * sizeof(*value));
		return;
	}
	for (size_t e = 0; e < n; e++)
		value[e] = tn_cast_bits(input->dtype, dtype, input->bits[e]);
}

/* value[e] := the index along an axis of element number first + e */
static void run_index(const struct runner *runner, uint32_t axis, uint64_t first, uint64_t *value,
		      size_t n)
{
	uint64_t below = 1;
	for (uint32_t later = axis + 1; later < runner->rank; later++)
		below *= (uint64_t)runner->shape[later];
	for (size_t e = 0; e < n; e++)
		value[e] = (first + e) / below % (uint64_t)runner->shape[axis];
}

/* value[e] := op(a[e], b[e], c[e]); absent operands are value 0 and are ignored */
static void run_operation(struct runner *runner, uint32_t number, size_t n)
{
	const struct tn_instruction *instruction = &runner->program->instructions[number];
	int arity = tn_op_information(instruction->op)->arity;
	uint16_t typed = tn_op_typed_operand(instruction->op) ? instruction->b : instruction->a;
	tn_dtype operand_dtype = runner->program->instructions[typed].dtype;
	const uint64_t *a = runner->values[instruction->a];
	const uint64_t *b = runner->values[arity > 1 ? instruction->b : 0];
	const uint64_t *c = runner->values[arity > 2 ? instruction->c : 0];
	uint64_t *value = runner->values[number];
	for (size_t e = 0; e < n; e++)
		value[e] = tn_op_evaluate(instruction->op, instruction->dtype, operand_dtype, a[e],
					  b[e], c[e]);
}

static void run_instruction(struct runner *runner, uint32_t number, uint64_t first, size_t n)
{
	const struct tn_instruction *instruction = &runner->program->instructions[number];
	uint64_t *value = runner->values[number];
	switch (instruction->op) {
	case TN_OP_INPUT:
		run_input(&runner->inputs[instruction->a], instruction->dtype, value, n);
		return;
	case TN_OP_SCALAR:
	case TN_OP_CONSTANT:
		return; /* written by fill_uniform */
	case TN_OP_INDEX:
		run_index(runner, instruction->a, first, value, n);
		return;
	case TN_OP_ELEMENT:
		for (size_t e = 0; e < n; e++)
			value[e] = first + e;
		return;
	default:
		run_operation(runner, number, n);
	}
}

void tn_reference_run(struct runner *runner, uint64_t first, size_t n)
{
	for (uint32_t i = 0; i < runner->program->n_instructions; i++)
		run_instruction(runner, i, first, n);
}

const uint64_t *tn_reference_result(const struct runner *runner, uint32_t j)
{
	return runner->values[runner->program->outputs[j]];
}

tn_dtype tn_reference_result_dtype(const struct tn_program *program, uint32_t j)
{
	return program->instructions[program->outputs[j]].dtype;
}

void tn_reference_load_block(struct block_input *block, struct cursor *from, size_t n)
{
	size_t size = tn_dtype_size(from->operand->dtype);
	block->dtype = from->operand->dtype;
	for (size_t e = 0; e < n; e++, cursor_next(from))
		block->bits[e] = bits_load(from->at, size);
}

void tn_reference_store_block(struct cursor *to, const uint64_t *bits, tn_dtype dtype, size_t n)
{
	tn_dtype own = to->operand->dtype;
	size_t size = tn_dtype_size(own);
	for (size_t e = 0; e < n; e++, cursor_next(to))
		bits_store(to->at, size,
			   own == dtype ? bits[e] : tn_cast_bits(dtype, own, bits[e]));
}
