/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The operands and scalars of a call, and copies of calls.
 */
#include "loader/slot_contents.h"

#include <string.h>

#include "base/memory.h"
#include "loader/slots.h"

static void list_operand(struct tn_slot_contents *contents, const struct tn_operand *operand,
			 uint32_t access, uint32_t number)
{
	uint32_t at = contents->n_operands++;
	contents->operands[at].operand = (struct tn_operand *)(uintptr_t)operand;
	contents->operands[at].access = access;
	contents->operands[at].number = number;
}

/* All those of an array, which are used. */
static void list_operands(struct tn_slot_contents *contents, const struct tn_operand *operands,
			  uint32_t n, uint32_t access)
{
	for (uint32_t i = 0; i < n; i++)
		list_operand(contents, &operands[i], access, contents->n_operands);
}

static void list_scalars(struct tn_slot_contents *contents, const struct tn_scalar *scalars,
			 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		contents->scalars[contents->n_scalars++] =
			(struct tn_scalar *)(uintptr_t)&scalars[i];
}

static uint32_t n_epilogue_inputs(const struct tn_reduce_args *args)
{
	return args->epilogue ? args->epilogue->n_inputs - args->n_values : 0;
}

static uint32_t n_epilogue_scalars(const struct tn_reduce_args *args)
{
	return args->epilogue ? args->epilogue->n_scalars : 0;
}

static uint32_t n_reduce_outputs(const struct tn_reduce_args *args)
{
	return args->epilogue ? args->epilogue->n_outputs : args->n_values;
}

static uint32_t access_of(uint32_t role, const struct tn_call *args)
{
	const void *any = args;
	int reads_too = 0;
	if (role == TN_STATISTICS)
		return ((const struct tn_norm_args *)any)->use_statistics ? TN_READS : TN_WRITES;
	if (role == TN_ACCUMULATES)
		reads_too = (args->flags & TN_ACCUMULATE) != 0;
	else if (role == TN_PRODUCT)
		reads_too = ((const struct tn_matmul_args *)any)->beta != 0;
	else
		return role & ~(uint32_t)TN_POINTED_TO;
	return reads_too ? TN_READS | TN_WRITES : TN_WRITES;
}

void tn_slot_list(enum tn_slot slot, struct tn_call *args, struct tn_slot_contents *contents)
{
	const struct tn_slot_operand *row = tn_slots[slot].operands;
	const void *any = args;
	contents->n_operands = contents->n_scalars = 0;
	for (uint32_t number = 0; row && row[number].role; number++) {
		const struct tn_operand *operand = tn_slot_operand_of(&row[number], args);
		if (operand)
			list_operand(contents, operand, access_of(row[number].role, args), number);
	}
	if (slot == TN_SLOT_MAP) {
		const struct tn_map_args *map = any;
		list_operands(contents, map->inputs, map->program->n_inputs, TN_READS);
		list_operands(contents, map->outputs, map->program->n_outputs, TN_WRITES);
		list_scalars(contents, map->scalars, map->program->n_scalars);
	} else if (slot == TN_SLOT_REDUCE) {
		const struct tn_reduce_args *reduce = any;
		list_operands(contents, reduce->inputs, reduce->prologue->n_inputs, TN_READS);
		list_operands(contents, reduce->epilogue_inputs, n_epilogue_inputs(reduce),
			      TN_READS);
		list_operands(contents, reduce->outputs, n_reduce_outputs(reduce), TN_WRITES);
		list_scalars(contents, reduce->scalars, reduce->prologue->n_scalars);
		list_scalars(contents, reduce->epilogue_scalars, n_epilogue_scalars(reduce));
	} else if (slot == TN_SLOT_FILL) {
		list_scalars(contents, &((const struct tn_fill_args *)any)->value, 1);
	}
}

/* ---- A copy of a call ------------------------------------------------------------------------*/

/* An array that a call points to. */
struct piece {
	const void *from;
	size_t size;
};

static size_t aligned(size_t size)
{
	return (size + 15) / 16 * 16;
}

/* Allocates the arguments and n more pieces of memory as one block of *total bytes; *places get
 * their addresses.  Arguments of an older version are extended by zeros. */
static void *copy_pieces(enum tn_slot slot, const struct tn_call *args, const struct piece *pieces,
			 size_t n, char **places, size_t *total)
{
	size_t size = tn_slots[slot].args_size;
	if (size < args->struct_size)
		size = args->struct_size;
	*total = aligned(size);
	for (size_t i = 0; i < n; i++)
		*total += aligned(pieces[i].size);
	char *copy = tn_mem_zeroed(1, *total);
	if (!copy)
		return NULL;
	memcpy(copy, args, args->struct_size);
	char *at = copy + aligned(size);
	for (size_t i = 0; i < n; i++) {
		if (pieces[i].size)
			memcpy(at, pieces[i].from, pieces[i].size);
		places[i] = at;
		at += aligned(pieces[i].size);
	}
	return copy;
}

static struct tn_call *copy_map(const struct tn_map_args *args, size_t *size)
{
	const struct tn_program *program = args->program;
	const struct piece pieces[] = {
		{args->inputs, program->n_inputs * sizeof(struct tn_operand)},
		{args->outputs, program->n_outputs * sizeof(struct tn_operand)},
		{args->scalars, program->n_scalars * sizeof(struct tn_scalar)}};
	char *places[3];
	struct tn_map_args *copy = copy_pieces(TN_SLOT_MAP, &args->call, pieces, 3, places, size);
	if (!copy)
		return NULL;
	copy->inputs = (void *)places[0];
	copy->outputs = (void *)places[1];
	copy->scalars = (void *)places[2];
	return &copy->call;
}

static struct tn_call *copy_reduce(const struct tn_reduce_args *args, size_t *size)
{
	const struct piece pieces[] = {
		{args->inputs, args->prologue->n_inputs * sizeof(struct tn_operand)},
		{args->epilogue_inputs, n_epilogue_inputs(args) * sizeof(struct tn_operand)},
		{args->outputs, n_reduce_outputs(args) * sizeof(struct tn_operand)},
		{args->scalars, args->prologue->n_scalars * sizeof(struct tn_scalar)},
		{args->epilogue_scalars, n_epilogue_scalars(args) * sizeof(struct tn_scalar)}};
	char *places[5];
	struct tn_reduce_args *copy =
		copy_pieces(TN_SLOT_REDUCE, &args->call, pieces, 5, places, size);
	if (!copy)
		return NULL;
	copy->inputs = (void *)places[0];
	copy->epilogue_inputs = (void *)places[1];
	copy->outputs = (void *)places[2];
	copy->scalars = (void *)places[3];
	copy->epilogue_scalars = (void *)places[4];
	return &copy->call;
}

static struct tn_call *copy_matmul(const struct tn_matmul_args *args, size_t *size)
{
	const struct piece pieces[] = {{args->a_scale, args->a_scale ? sizeof(*args->a_scale) : 0},
				       {args->b_scale, args->b_scale ? sizeof(*args->b_scale) : 0}};
	char *places[2];
	struct tn_matmul_args *copy =
		copy_pieces(TN_SLOT_MATMUL, &args->call, pieces, 2, places, size);
	if (!copy)
		return NULL;
	copy->a_scale = args->a_scale ? (void *)places[0] : NULL;
	copy->b_scale = args->b_scale ? (void *)places[1] : NULL;
	return &copy->call;
}

struct tn_call *tn_slot_copy(enum tn_slot slot, const struct tn_call *args, size_t *size)
{
	const void *any = args;
	size_t own;
	if (!size)
		size = &own;
	if (slot == TN_SLOT_MAP)
		return copy_map(any, size);
	if (slot == TN_SLOT_REDUCE)
		return copy_reduce(any, size);
	return slot == TN_SLOT_MATMUL ? copy_matmul(any, size)
				      : copy_pieces(slot, args, NULL, 0, NULL, size);
}
