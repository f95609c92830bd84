/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Accumulators: the dtype, the identity and the kernels of each value of a reduction.
 */
#include "interpret/reduce.h"

#include <math.h>
#include <string.h>

uint32_t tn_reduce_dtype(const struct tn_reduce_plan *plan, unsigned v)
{
	uint32_t combiner = plan->accumulator[v].combiner;
	uint32_t dtype = plan->prologue.value[plan->prologue.program->outputs[v]].dtype;
	int floating = dtype == TN_F32 || dtype == TN_F64;
	return floating && combiner <= TN_REDUCE_MIN ? dtype : TN_I64;
}

/* The bits of the value that changes nothing. */
static uint64_t identity_of(uint32_t combiner, uint32_t dtype)
{
	double floating = combiner == TN_REDUCE_SUM       ? 0
			  : combiner == TN_REDUCE_PRODUCT ? 1
			  : combiner == TN_REDUCE_MAX     ? -(double)INFINITY
							  : (double)INFINITY;
	int64_t integer = combiner == TN_REDUCE_SUM       ? 0
			  : combiner == TN_REDUCE_PRODUCT ? 1
			  : combiner == TN_REDUCE_MAX     ? INT64_MIN
							  : INT64_MAX;
	uint64_t bits = 0;
	float narrow = (float)floating;
	if (dtype == TN_F32)
		memcpy(&bits, &narrow, sizeof(narrow));
	else if (dtype == TN_F64)
		memcpy(&bits, &floating, sizeof(floating));
	else
		memcpy(&bits, &integer, sizeof(integer));
	return bits;
}

void tn_reduce_make_accumulator(struct tn_reduce_plan *plan, unsigned v,
				const struct tn_block_kernels *kernels)
{
	static const uint16_t opcode[] = {[TN_REDUCE_SUM] = TN_OP_ADD,
					  [TN_REDUCE_PRODUCT] = TN_OP_MUL,
					  [TN_REDUCE_MAX] = TN_OP_MAX,
					  [TN_REDUCE_MIN] = TN_OP_MIN};
	struct tn_accumulator *acc = &plan->accumulator[v];
	uint32_t value = plan->prologue.value[plan->prologue.program->outputs[v]].dtype;
	uint32_t dtype = tn_reduce_dtype(plan, v);
	int value_column = tn_block_column(value);
	acc->column = tn_block_column(dtype);
	acc->size = (uint32_t)tn_dtype_size((tn_dtype)dtype);
	acc->value_size = (uint32_t)tn_dtype_size((tn_dtype)value);
	acc->levels = acc->combiner == TN_REDUCE_SUM && dtype != TN_I64 ? LEVELS : 1;
	acc->extreme = NULL;
	if (acc->combiner > TN_REDUCE_MIN) {
		int largest = acc->combiner == TN_REDUCE_ARGMAX;
		acc->extreme = tn_extreme_kernels(value_column, largest);
		acc->fold = tn_code_fold(kernels, largest ? TN_REDUCE_MAX : TN_REDUCE_MIN,
					 value_column);
		return;
	}
	acc->identity = identity_of(acc->combiner, dtype);
	acc->widen = tn_code_cast(kernels, value, dtype);
	acc->combine = tn_code_operation(kernels, opcode[acc->combiner], acc->column);
	acc->fold = tn_code_fold(kernels, acc->combiner, acc->column);
	acc->fold_rows = tn_block_fold_rows(acc->combiner, acc->column);
	acc->multiply = tn_code_operation(kernels, TN_OP_MUL, acc->column);
	acc->multiply_add = tn_code_contraction(kernels, acc->column);
}

int tn_reduce_has_extremes(const struct tn_reduce_plan *plan)
{
	for (uint32_t v = 0; v < plan->n_values; v++) {
		if (plan->accumulator[v].combiner > TN_REDUCE_MIN)
			return 1;
	}
	return 0;
}

const struct tn_program *tn_reduce_identity(struct tn_reduce_plan *plan)
{
	struct tn_program *program = &plan->identity;
	for (uint32_t v = 0; v < plan->n_values; v++) {
		plan->identity_code[v] =
			(struct tn_instruction){.op = TN_OP_INPUT,
						.dtype = (uint16_t)tn_reduce_dtype(plan, v),
						.a = (uint16_t)v};
		plan->identity_outputs[v] = v;
	}
	*program = (struct tn_program){.n_inputs = plan->n_values,
				       .n_outputs = plan->n_values,
				       .n_instructions = plan->n_values,
				       .instructions = plan->identity_code,
				       .outputs = plan->identity_outputs};
	return program;
}
