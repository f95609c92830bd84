/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values are hash-consed: equal values have one number, so an op over equal operands is found by
 * its five fields.  The finished program lists the values that the outputs need, in the order in
 * which a walk from the outputs, operands first, completes them.  That order depends on the
 * computation and not on the arrangement of the text; it also keeps the lifetime of intermediate
 * values short.
 */
#include "program/builder.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "program/evaluate.h"
#include "program/opcode.h"
#include "program/program.h"
#include "program/simplify.h"

tn_status tn_builder_init(struct tn_builder *builder, const char *operation,
			  struct tn_error_info *error)
{
	memset(builder, 0, sizeof(*builder));
	size_t bits = sizeof(uint64_t) * TN_BUILDER_MAX_VALUES;
	size_t values = sizeof(struct tn_instruction) * TN_BUILDER_MAX_VALUES;
	size_t slots = sizeof(uint16_t) * TN_BUILDER_SLOTS;
	char *memory = tn_mem_alloc(bits + values + slots);
	if (!memory)
		return tn_fail(error, TN_OUT_OF_MEMORY, operation,
			       "no host memory for a builder of %zu bytes", bits + values + slots);
	builder->memory = memory;
	builder->operation = operation;
	builder->bits = (uint64_t *)memory;
	builder->values = (struct tn_instruction *)(memory + bits);
	builder->slots = (uint16_t *)(memory + bits + values);
	memset(builder->slots, 0, slots);
	return TN_OK;
}

void tn_builder_release(struct tn_builder *builder)
{
	tn_mem_free(builder->memory);
	memset(builder, 0, sizeof(*builder));
}

static int all_constant(const struct tn_builder *builder, int arity, const tn_value *operands)
{
	for (int i = 0; i < arity; i++) {
		if (!tn_build_is_constant(builder, operands[i], NULL))
			return 0;
	}
	return 1;
}

/* Orders operands: constants right, else the older value left. */
static int in_order(const struct tn_builder *builder, tn_value a, tn_value b)
{
	int a_constant = tn_build_is_constant(builder, a, NULL);
	int b_constant = tn_build_is_constant(builder, b, NULL);
	return a_constant == b_constant ? a <= b : b_constant;
}

/* The operands of a commutative op are swapped into their order. */
static void order_operands(const struct tn_builder *builder, struct tn_instruction *value)
{
	if (!(tn_op_information(value->op)->flags & TN_COMMUTES) ||
	    in_order(builder, value->a, value->b))
		return;
	tn_value swap = value->a;
	value->a = value->b;
	value->b = swap;
}

/* Is the value one of constants?  *result is then what it evaluates to. */
static int is_folded(struct tn_builder *builder, const struct tn_instruction *value,
		     tn_value *result)
{
	const tn_value operands[] = {value->a, value->b, value->c};
	const uint64_t *bits = builder->bits;
	if (!all_constant(builder, tn_op_information(value->op)->arity, operands))
		return 0;
	tn_dtype typed = tn_build_dtype(builder, operands[tn_op_typed_operand(value->op)]);
	*result = tn_build_constant(builder, value->dtype,
				    tn_op_evaluate(value->op, value->dtype, typed, bits[value->a],
						   bits[value->b], bits[value->c]));
	return 1;
}

tn_value tn_build_op(struct tn_builder *builder, uint16_t op, tn_dtype dtype, tn_value a,
		     tn_value b, tn_value c)
{
	struct tn_instruction value = {.op = op, .dtype = (uint16_t)dtype, .a = a, .b = b, .c = c};
	enum tn_simplification outcome = TN_BECOMES_OP;
	tn_value result = 0;
	while (outcome == TN_BECOMES_OP && !builder->status) {
		order_operands(builder, &value);
		if (is_folded(builder, &value, &result))
			return result;
		outcome = tn_simplify(builder, &value, &result);
	}
	if (builder->status)
		return 0;
	return outcome == TN_IS_VALUE ? result : tn_value_intern(builder, value, 0);
}

tn_value tn_build_cast(struct tn_builder *builder, tn_dtype dtype, tn_value a)
{
	if (builder->status || tn_build_dtype(builder, a) == dtype)
		return a;
	return tn_build_op(builder, TN_OP_CAST, dtype, a, 0, 0);
}

/* The walk from the outputs.  `number` has a value's position in the program + 1. */
struct walk {
	const struct tn_builder *builder;
	uint16_t number[TN_BUILDER_MAX_VALUES];
	tn_value order[TN_BUILDER_MAX_VALUES];
	uint32_t n_ordered;
	tn_value stack[TN_BUILDER_MAX_VALUES];
};

/* The first operand that has no position yet, or -1. */
static int missing_operand(const struct walk *walk, tn_value number)
{
	const struct tn_instruction *value = &walk->builder->values[number];
	const tn_value operands[] = {value->a, value->b, value->c};
	for (int i = 0; i < tn_op_information(value->op)->arity; i++) {
		if (!walk->number[operands[i]])
			return operands[i];
	}
	return -1;
}

/* Operands are older than their user, so a path is never longer than the number of values. */
static void visit_operands(struct walk *walk, tn_value root)
{
	uint32_t depth = 0;
	if (walk->number[root])
		return;
	walk->stack[depth++] = root;
	while (depth) {
		tn_value top = walk->stack[depth - 1];
		int operand = missing_operand(walk, top);
		if (operand >= 0) {
			walk->stack[depth++] = (tn_value)operand;
			continue;
		}
		depth--;
		walk->order[walk->n_ordered++] = top;
		walk->number[top] = (uint16_t)walk->n_ordered;
	}
}

/* Fills parts->instructions and parts->constants; counts may exceed the limits, contents do not. */
static void emit_values(const struct walk *walk, struct tn_program_parts *parts)
{
	const struct tn_builder *builder = walk->builder;
	parts->n_instructions = walk->n_ordered;
	for (uint32_t i = 0; i < walk->n_ordered && i < TN_PROGRAM_MAX_INSTRUCTIONS; i++) {
		struct tn_instruction value = builder->values[walk->order[i]];
		int arity = tn_op_information(value.op)->arity;
		if (value.op == TN_OP_CONSTANT) {
			/* The position in the pool of distinct bit patterns. */
			uint64_t bits = builder->bits[walk->order[i]];
			uint32_t k = 0;
			while (k < parts->n_constants && parts->constants[k] != bits)
				k++;
			if (k == parts->n_constants && k < TN_PROGRAM_MAX_CONSTANTS)
				parts->constants[k] = bits;
			if (k == parts->n_constants)
				++parts->n_constants;
			value.a = (uint16_t)k;
		}
		if (arity > 0)
			value.a = (uint16_t)(walk->number[value.a] - 1);
		if (arity > 1)
			value.b = (uint16_t)(walk->number[value.b] - 1);
		if (arity > 2)
			value.c = (uint16_t)(walk->number[value.c] - 1);
		parts->instructions[i] = value;
	}
}

static tn_status check_limits(const struct tn_program_parts *parts, const char *operation,
			      struct tn_error_info *error)
{
	if (parts->n_instructions > TN_PROGRAM_MAX_INSTRUCTIONS)
		return tn_fail(
			error, TN_LIMIT, operation,
			"%u instructions remain after simplification, at most %d are allowed",
			parts->n_instructions, TN_PROGRAM_MAX_INSTRUCTIONS);
	if (parts->n_constants > TN_PROGRAM_MAX_CONSTANTS)
		return tn_fail(error, TN_LIMIT, operation,
			       "more than %d different constants are needed",
			       TN_PROGRAM_MAX_CONSTANTS);
	return TN_OK;
}

tn_status tn_builder_finish(struct tn_builder *builder, uint32_t n_inputs, uint32_t n_scalars,
			    uint32_t n_outputs, const tn_value *outputs,
			    struct tn_program **program, struct tn_error_info *error)
{
	if (builder->status)
		return tn_fail(error, builder->status, builder->operation,
			       "more than %d values before simplification", TN_BUILDER_MAX_VALUES);
	struct walk *walk = tn_mem_alloc(sizeof(*walk));
	if (!walk)
		return tn_fail(error, TN_OUT_OF_MEMORY, builder->operation,
			       "no host memory for %zu bytes", sizeof(*walk));
	struct tn_program_parts parts = {
		.n_inputs = n_inputs, .n_scalars = n_scalars, .n_outputs = n_outputs};
	walk->builder = builder;
	walk->n_ordered = 0;
	memset(walk->number, 0, sizeof(walk->number));
	for (uint32_t j = 0; j < n_outputs; j++) {
		visit_operands(walk, outputs[j]);
		parts.outputs[j] = (uint16_t)(walk->number[outputs[j]] - 1);
	}
	emit_values(walk, &parts);
	tn_status status = check_limits(&parts, builder->operation, error);
	if (!status)
		status = tn_program_create(&parts, builder->operation, program, error);
	tn_mem_free(walk);
	return status;
}
