/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies a call with its programs deeply, and spoils the copy after the call.
 */
#include "borrow.h"
#include "base/memory.h"
#include "loader/slot_contents.h"

/* Translates a pointer into one program's bytes to the same place in the other's. */
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

int borrow(struct borrowed *borrowed, int slot, const void *args)
{
	memset(borrowed, 0, sizeof(*borrowed));
	borrowed->args = tn_slot_copy((enum tn_slot)slot, args, &borrowed->size);
	if (!borrowed->args)
		return 0;
	if (slot == TN_SLOT_MAP) {
		struct tn_map_args *map = (void *)borrowed->args;
		map->program = lend_program(&borrowed->program[0], map->program);
		return map->program != NULL;
	}
	if (slot == TN_SLOT_REDUCE) {
		struct tn_reduce_args *reduce = (void *)borrowed->args;
		int has_epilogue = reduce->epilogue != NULL;
		reduce->prologue = lend_program(&borrowed->program[0], reduce->prologue);
		reduce->epilogue = lend_program(&borrowed->program[1], reduce->epilogue);
		return reduce->prologue && (!has_epilogue || reduce->epilogue);
	}
	return 1;
}

void borrow_end(struct borrowed *borrowed)
{
	free(borrowed->program[0].bytes);
	free(borrowed->program[1].bytes);
	tn_mem_free(borrowed->args);
}

void borrow_clear_handles(struct borrowed *borrowed, int slot)
{
	struct tn_slot_contents contents;
	tn_slot_list((enum tn_slot)slot, borrowed->args, &contents);
	for (uint32_t i = 0; i < contents.n_operands; i++)
		contents.operands[i].operand->buffer = 0;
	for (uint32_t i = 0; i < contents.n_scalars; i++)
		contents.scalars[i]->buffer = 0;
}

void borrow_spoil(struct borrowed *borrowed)
{
	for (int i = 0; i < 2; i++) {
		struct borrowed_program *own = &borrowed->program[i];
		if (own->bytes)
			memset(own->bytes, 0x5c, own->program.n_bytes);
		memset(&own->program, 0x5c, sizeof(own->program));
	}
	memset(borrowed->args, 0x5c, borrowed->size);
}
