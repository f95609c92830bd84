/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See borrow.h.
 */
#include "borrow.h"

/* The operands that stand in the arguments of each slot; a list ends with 0, where the call is. */
static const size_t in_matmul[] = {
	offsetof(struct tn_matmul_args, a), offsetof(struct tn_matmul_args, b),
	offsetof(struct tn_matmul_args, c), offsetof(struct tn_matmul_args, bias), 0};
static const size_t in_fill[] = {offsetof(struct tn_fill_args, output), 0};
static const size_t in_copy[] = {offsetof(struct tn_copy_args, input),
				 offsetof(struct tn_copy_args, output), 0};
static const size_t in_gather[] = {offsetof(struct tn_gather_args, input),
				   offsetof(struct tn_gather_args, indices),
				   offsetof(struct tn_gather_args, output), 0};
static const size_t in_sort[] = {offsetof(struct tn_sort_args, input),
				 offsetof(struct tn_sort_args, values),
				 offsetof(struct tn_sort_args, indices), 0};
static const size_t in_scan[] = {offsetof(struct tn_scan_args, input),
				 offsetof(struct tn_scan_args, output), 0};
static const size_t in_conv2d[] = {
	offsetof(struct tn_conv2d_args, x),        offsetof(struct tn_conv2d_args, w),
	offsetof(struct tn_conv2d_args, y),        offsetof(struct tn_conv2d_args, bias),
	offsetof(struct tn_conv2d_args, residual), 0};
static const size_t in_pool2d[] = {offsetof(struct tn_pool2d_args, x),
				   offsetof(struct tn_pool2d_args, y),
				   offsetof(struct tn_pool2d_args, index), 0};
static const size_t in_norm[] = {offsetof(struct tn_norm_args, x),
				 offsetof(struct tn_norm_args, y),
				 offsetof(struct tn_norm_args, w),
				 offsetof(struct tn_norm_args, b),
				 offsetof(struct tn_norm_args, mean),
				 offsetof(struct tn_norm_args, rstd),
				 offsetof(struct tn_norm_args, dx),
				 offsetof(struct tn_norm_args, dw),
				 offsetof(struct tn_norm_args, db),
				 offsetof(struct tn_norm_args, residual),
				 offsetof(struct tn_norm_args, result),
				 offsetof(struct tn_norm_args, dresidual),
				 0};
static const size_t in_softmax[] = {
	offsetof(struct tn_softmax_args, x), offsetof(struct tn_softmax_args, y),
	offsetof(struct tn_softmax_args, dy), offsetof(struct tn_softmax_args, dx), 0};
static const size_t in_cross_entropy[] = {
	offsetof(struct tn_cross_entropy_args, x),   offsetof(struct tn_cross_entropy_args, labels),
	offsetof(struct tn_cross_entropy_args, lse), offsetof(struct tn_cross_entropy_args, loss),
	offsetof(struct tn_cross_entropy_args, dx),  0};

static const size_t *operands_in(int slot)
{
	switch (slot) {
	case TN_SLOT_MATMUL:
		return in_matmul;
	case TN_SLOT_FILL:
		return in_fill;
	case TN_SLOT_COPY:
		return in_copy;
	case TN_SLOT_GATHER:
	case TN_SLOT_SCATTER_ADD:
		return in_gather;
	case TN_SLOT_SORT:
		return in_sort;
	case TN_SLOT_SCAN:
		return in_scan;
	case TN_SLOT_CONV2D_FORWARD:
	case TN_SLOT_CONV2D_INPUT_GRADIENT:
	case TN_SLOT_CONV2D_WEIGHT_GRADIENT:
		return in_conv2d;
	case TN_SLOT_POOL2D_FORWARD:
	case TN_SLOT_POOL2D_BACKWARD:
		return in_pool2d;
	case TN_SLOT_BATCH_NORM_FORWARD:
	case TN_SLOT_BATCH_NORM_BACKWARD:
	case TN_SLOT_LAYER_NORM_FORWARD:
	case TN_SLOT_LAYER_NORM_BACKWARD:
	case TN_SLOT_GROUP_NORM_FORWARD:
	case TN_SLOT_GROUP_NORM_BACKWARD:
		return in_norm;
	case TN_SLOT_SOFTMAX_FORWARD:
	case TN_SLOT_SOFTMAX_BACKWARD:
		return in_softmax;
	case TN_SLOT_CROSS_ENTROPY_FORWARD:
	case TN_SLOT_CROSS_ENTROPY_BACKWARD:
		return in_cross_entropy;
	default:
		return NULL;
	}
}

/* A pointer into the bytes of the one program becomes one into those of the other. */
static const void *moved(const void *pointer, const struct tn_program *from, const void *bytes)
{
	uintptr_t at = (uintptr_t)pointer - (uintptr_t)from->bytes;
	return pointer && at <= from->n_bytes ? (const unsigned char *)bytes + at : pointer;
}

static const struct tn_program *lend_program(struct borrowed_program *own,
					     const struct tn_program *from)
{
	if (!from)
		return NULL;
	own->program = *from;
	own->bytes = malloc(from->n_bytes + 1);
	if (!own->bytes)
		return NULL;
	memcpy(own->bytes, from->bytes, from->n_bytes);
	own->program.bytes = own->bytes;
	own->program.instructions = moved(from->instructions, from, own->bytes);
	own->program.constants = moved(from->constants, from, own->bytes);
	own->program.outputs = moved(from->outputs, from, own->bytes);
	return &own->program;
}

static const struct tn_operand *lend_operands(struct tn_operand *own, const struct tn_operand *from,
					      uint32_t n)
{
	if (n)
		memcpy(own, from, n * sizeof(*own));
	return own;
}

static const struct tn_scalar *lend_scalars(struct tn_scalar *own, const struct tn_scalar *from,
					    uint32_t n)
{
	if (n)
		memcpy(own, from, n * sizeof(*own));
	return own;
}

static int borrow_map(struct borrowed *b)
{
	struct tn_map_args *args = &b->args.map;
	const struct tn_program *program = args->program;
	args->program = lend_program(&b->program[0], program);
	args->inputs = lend_operands(b->inputs, args->inputs, program->n_inputs);
	args->outputs = lend_operands(b->outputs, args->outputs, program->n_outputs);
	args->scalars = lend_scalars(b->scalars[0], args->scalars, program->n_scalars);
	return args->program != NULL;
}

static int borrow_reduce(struct borrowed *b)
{
	struct tn_reduce_args *args = &b->args.reduce;
	const struct tn_program *prologue = args->prologue, *epilogue = args->epilogue;
	uint32_t n_outputs = epilogue ? epilogue->n_outputs : args->n_values;
	args->prologue = lend_program(&b->program[0], prologue);
	args->epilogue = lend_program(&b->program[1], epilogue);
	args->inputs = lend_operands(b->inputs, args->inputs, prologue->n_inputs);
	args->outputs = lend_operands(b->outputs, args->outputs, n_outputs);
	args->scalars = lend_scalars(b->scalars[0], args->scalars, prologue->n_scalars);
	if (!args->prologue || !args->epilogue != !epilogue)
		return 0;
	if (!epilogue)
		return 1;
	args->epilogue_inputs = lend_operands(b->epilogue_inputs, args->epilogue_inputs,
					      epilogue->n_inputs - args->n_values);
	args->epilogue_scalars =
		lend_scalars(b->scalars[1], args->epilogue_scalars, epilogue->n_scalars);
	return 1;
}

int borrow(struct borrowed *borrowed, int slot, const void *args)
{
	const struct tn_call *call = args;
	memset(borrowed, 0, sizeof(*borrowed));
	memcpy(&borrowed->args, args, call->struct_size);
	if (slot == TN_SLOT_MAP)
		return borrow_map(borrowed);
	return slot == TN_SLOT_REDUCE ? borrow_reduce(borrowed) : 1;
}

void borrow_end(struct borrowed *borrowed)
{
	free(borrowed->program[0].bytes);
	free(borrowed->program[1].bytes);
}

static void clear(struct tn_operand *operands, int n)
{
	for (int i = 0; i < n; i++)
		operands[i].buffer = 0;
}

void borrow_clear_handles(struct borrowed *borrowed, int slot)
{
	const size_t *at = operands_in(slot);
	for (; at && *at; at++)
		clear((struct tn_operand *)(void *)(borrowed->args.room + *at), 1);
	clear(borrowed->inputs, TN_PROGRAM_MAX_INPUTS);
	clear(borrowed->epilogue_inputs, TN_PROGRAM_MAX_INPUTS);
	clear(borrowed->outputs, TN_PROGRAM_MAX_OUTPUTS);
	for (int i = 0; i < TN_PROGRAM_MAX_SCALARS; i++)
		borrowed->scalars[0][i].buffer = borrowed->scalars[1][i].buffer = 0;
	if (slot == TN_SLOT_FILL)
		borrowed->args.fill.value.buffer = 0;
}

void borrow_spoil(struct borrowed *borrowed)
{
	struct borrowed_program kept[2] = {borrowed->program[0], borrowed->program[1]};
	for (int i = 0; i < 2; i++)
		if (kept[i].bytes)
			memset(kept[i].bytes, 0x5c, kept[i].program.n_bytes);
	memset(borrowed, 0x5c, sizeof(*borrowed));
	borrowed->program[0].bytes = kept[0].bytes;
	borrowed->program[1].bytes = kept[1].bytes;
}
