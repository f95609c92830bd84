/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies a call with its programs deeply, into pages that become inaccessible after the call.  They
 * keep their addresses for a while, so that no other memory appears there while work is pending.
 */
#include "borrow.h"

#include <sys/mman.h>

#include "base/memory.h"
#include "loader/slot_contents.h"

enum { MOST_PROGRAMS = 2, MOST_SPOILED = 256 };

static size_t room(size_t size)
{
	return (size + 63) / 64 * 64;
}

/* Translates a pointer into one block to the same place in another. */
static void *moved(const void *pointer, const void *from, size_t size, void *to)
{
	uintptr_t at = (uintptr_t)pointer - (uintptr_t)from;
	return pointer && at <= size ? (unsigned char *)to + at : (void *)(uintptr_t)pointer;
}

/* The arguments point to operands and scalars in their own block. */
static struct tn_call *lend_args(int slot, const struct tn_call *copy, size_t size, void *to)
{
	void **words = to;
	memcpy(to, copy, size);
	for (size_t i = 0; i < tn_slots[slot].args_size / sizeof(*words); i++)
		words[i] = moved(words[i], copy, size, to);
	return to;
}

/* Puts a program and its bytes at *at. */
static const struct tn_program *lend_program(const struct tn_program *from, unsigned char **at)
{
	struct tn_program *program = (void *)*at;
	unsigned char *bytes = *at + room(sizeof(*program));
	memcpy(bytes, from->bytes, from->n_bytes);
	*program = *from;
	program->bytes = bytes;
	program->instructions = moved(from->instructions, from->bytes, from->n_bytes, bytes);
	program->constants = moved(from->constants, from->bytes, from->n_bytes, bytes);
	program->outputs = moved(from->outputs, from->bytes, from->n_bytes, bytes);
	*at = bytes + room(from->n_bytes);
	return program;
}

/* Where a call points to its programs; NULL: it has none, or not so many. */
static void list_programs(int slot, struct tn_call *args,
			  const struct tn_program **programs[MOST_PROGRAMS])
{
	struct tn_reduce_args *reduce = (void *)args;
	programs[0] = programs[1] = NULL;
	if (slot == TN_SLOT_MAP)
		programs[0] = &((struct tn_map_args *)(void *)args)->program;
	if (slot == TN_SLOT_REDUCE)
		programs[0] = &reduce->prologue;
	if (slot == TN_SLOT_REDUCE && reduce->epilogue)
		programs[1] = &reduce->epilogue;
}

int borrow(struct borrowed *borrowed, int slot, const void *args)
{
	const struct tn_program **programs[MOST_PROGRAMS];
	size_t size;
	struct tn_call *copy = tn_slot_copy((enum tn_slot)slot, args, &size);
	memset(borrowed, 0, sizeof(*borrowed));
	if (!copy)
		return 0;
	borrowed->size = room(size);
	list_programs(slot, copy, programs);
	for (int i = 0; i < MOST_PROGRAMS; i++)
		if (programs[i])
			borrowed->size +=
				room(sizeof(struct tn_program)) + room((*programs[i])->n_bytes);
	void *pages = mmap(NULL, borrowed->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages != MAP_FAILED) {
		unsigned char *at = (unsigned char *)pages + room(size);
		borrowed->args = lend_args(slot, copy, size, pages);
		list_programs(slot, borrowed->args, programs);
		for (int i = 0; i < MOST_PROGRAMS; i++)
			if (programs[i])
				*programs[i] = lend_program(*programs[i], &at);
	}
	tn_mem_free(copy);
	return borrowed->args != NULL;
}

void borrow_end(struct borrowed *borrowed)
{
	if (borrowed->args)
		munmap(borrowed->args, borrowed->size);
	borrowed->args = NULL;
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
	static struct borrowed spoiled[MOST_SPOILED];
	static unsigned turn;
	struct borrowed *oldest = &spoiled[turn++ % MOST_SPOILED];
	borrow_end(oldest);
	mprotect(borrowed->args, borrowed->size, PROT_NONE);
	*oldest = *borrowed;
	borrowed->args = NULL;
}
