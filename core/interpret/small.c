/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Small maps over compact operands: no loops, no registers to choose; every value gets a block of
 * its own.  The general path would spend more on planning than the work takes here.
 */
#include "interpret/small.h"

#include <string.h>

#include "interpret/code.h"
#include "interpret/move.h"
#include "interpret/thread_memory.h"

#define MOST_ELEMENTS 256
#define MOST_VALUES 64
#define MOST_BYTES 49152
/* Most calls need no more, and take it from the stack. */
#define FEW_BYTES 8192

/* Row-major without gaps; the strides of axes of length 1 do not matter. */
static int is_compact(const struct tn_operand *operand)
{
	int64_t stride = 1;
	for (unsigned d = operand->rank; d-- > 0;) {
		if (operand->shape[d] != 1 && operand->strides[d] != stride)
			return 0;
		stride *= operand->shape[d];
	}
	return 1;
}

static void *address_of(const struct tn_operand *operand)
{
	return (void *)(operand->buffer + operand->offset);
}

static int count_elements(const struct tn_operand *operand)
{
	int64_t n = 1;
	for (unsigned d = 0; d < operand->rank; d++) {
		if (operand->shape[d] > MOST_ELEMENTS)
			return 0;
		n *= operand->shape[d];
		if (n > MOST_ELEMENTS)
			return 0;
	}
	return (int)n;
}

/* The output in which the last value is computed directly; NULL: none.  Nothing is read after
 * it. */
static void *last_output(const struct tn_code *code, const struct tn_map_args *args)
{
	const struct tn_program *program = code->program;
	unsigned last = code->n_values - 1;
	if (program->n_outputs != 1 || program->outputs[0] != last ||
	    code->value[last].arity == 0 || code->value[last].flags & TN_VALUE_UNIFORM ||
	    (uint32_t)args->outputs[0].dtype != code->value[last].dtype)
		return NULL;
	return address_of(&args->outputs[0]);
}

static int is_stored(const struct tn_code *code, unsigned i)
{
	for (unsigned j = 0; j < code->program->n_outputs; j++) {
		if (code->program->outputs[j] == i)
			return 1;
	}
	return 0;
}

/* Makes value i and returns its block. */
static void *make_value(const struct tn_code *code, const struct tn_map_args *args, unsigned i,
			void *const *block, void *slot, void *target, size_t n)
{
	const struct tn_value *value = &code->value[i];
	if (value->flags & TN_VALUE_UNIFORM) {
		if (value->flags & TN_VALUE_FILLED)
			tn_move_fill(slot, &code->uniform[i], value->size, n);
		return slot;
	}
	if (value->op == TN_OP_INPUT) {
		const struct tn_operand *operand = &args->inputs[value->a];
		tn_block_fn fn =
			tn_code_cast(code->kernels, (uint32_t)operand->dtype, value->dtype);
		if (fn) {
			fn(slot, address_of(operand), NULL, NULL, n);
			return slot;
		}
		if (!is_stored(code, i))
			return address_of(operand);
		/* An output may overlap it: keep a copy. */
		return memcpy(slot, address_of(operand), n * value->size);
	}
	void *dst = i + 1 == code->n_values && target ? target : slot;
	value->fn(dst, block[value->a], value->arity > 1 ? block[value->b] : NULL,
		  value->arity > 2 ? block[value->c] : NULL, n);
	return dst;
}

int tn_small_map(struct tn_code *code, const struct tn_map_args *args)
{
	const struct tn_program *program = code->program;
	_Alignas(64) unsigned char few[FEW_BYTES];
	void *block[MOST_VALUES];
	int n = count_elements(&args->outputs[0]);
	size_t slot = ((size_t)n * 8 + 63) / 64 * 64;
	if (!n || code->n_values > MOST_VALUES || code->n_values * slot > MOST_BYTES || code->axes)
		return 0;
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		if (!is_compact(&args->outputs[j]))
			return 0;
	}
	for (uint32_t k = 0; k < program->n_inputs; k++) {
		if (!is_compact(&args->inputs[k]))
			return 0;
	}
	const size_t bytes = code->n_values * slot;
	struct tn_thread_memory *memory = bytes > FEW_BYTES ? tn_thread_memory() : NULL;
	unsigned char *slots = bytes > FEW_BYTES ? tn_thread_memory_take(memory, bytes) : few;
	if (!slots)
		return 0;
	tn_code_analyse(code, NULL);
	tn_code_evaluate(code, NULL);
	void *target = last_output(code, args);
	for (unsigned i = 0; i < code->n_values; i++) {
		if (code->value[i].n_uses)
			block[i] = make_value(code, args, i, block, slots + i * slot, target,
					      (size_t)n);
	}
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		unsigned i = program->outputs[j];
		const struct tn_value *value = &code->value[i];
		const struct tn_operand *operand = &args->outputs[j];
		tn_block_fn fn =
			tn_code_cast(code->kernels, value->dtype, (uint32_t)operand->dtype);
		if (fn)
			fn(address_of(operand), block[i], NULL, NULL, (size_t)n);
		else if (block[i] != address_of(operand))
			memmove(address_of(operand), block[i], (size_t)n * value->size);
	}
	if (memory)
		tn_thread_memory_give(memory, bytes);
	return 1;
}
