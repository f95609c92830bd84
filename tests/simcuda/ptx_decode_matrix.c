/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * mma.sync of 16 x 8 results and ldmatrix of 8 x 8 matrices of 16-bit elements.
 */
#include <string.h>

#include "ptx_matrix.h"
#include "ptx_memory.h"

struct shape {
	const char *name;
	unsigned depth;
};

static const struct shape shapes[] = {
	{"m16n8k4", 4}, {"m16n8k8", 8}, {"m16n8k16", 16}, {"m16n8k32", 32}};

/* A vector of exactly that many registers of 32 bits. */
static int read_registers(struct ptx_reader *reader, unsigned index, unsigned count, int32_t *place,
			  int is_result)
{
	struct ptx_operand *vector = ptx_top(reader, index);
	unsigned first = reader->now.operand[index], found = 1;
	if (vector->kind == PTX_OPERAND_VECTOR) {
		first = vector->first;
		found = vector->count;
	}
	if (found != count)
		return ptx_refuse(reader, "%s: %u registers are expected, %u are found",
				  reader->now.text, count, found);
	for (unsigned i = 0; i < count; i++)
		place[i] =
			is_result
				? ptx_target_operand(reader, &reader->operands[first + i], 4, 0)
				: ptx_fetch_operand(reader, &reader->operands[first + i], 4, NULL);
	return !reader->refused;
}

static int check_types(struct ptx_reader *reader, const struct ptx_type *d,
		       const struct ptx_type *a, const struct ptx_type *b, const struct ptx_type *c)
{
	int whole = (a->kind == 's' || a->kind == 'u') && a->size == 1 && b->size == 1 &&
		    (b->kind == 's' || b->kind == 'u') && strcmp(d->name, "s32") == 0;
	int real = (a->kind == 'h' || a->kind == 't' || strcmp(a->name, "tf32") == 0) &&
		   a->kind == b->kind && (d->kind == 'f' || d->kind == 'h');
	if (whole || (real && (c->kind == 'f' || c->kind == 'h')))
		return 1;
	return ptx_refuse(reader, "%s: unknown types", reader->now.text);
}

/* mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c */
static int mma(struct ptx_reader *reader)
{
	struct ptx_mma *mma = ptx_keep(reader->module, sizeof *mma);
	if (!mma)
		return ptx_refuse(reader, "out of memory");
	if (!ptx_modifiers(reader, "sync aligned row col m16n8k4 m16n8k8 m16n8k16 m16n8k32") ||
	    !ptx_wants(reader, 4, 4))
		return 0;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if (ptx_has(reader, shapes[i].name))
			mma->depth = shapes[i].depth;
	if (reader->now.type_count != 4 || !mma->depth)
		return ptx_refuse(reader, "%s: unknown shape", reader->now.text);
	const struct ptx_type *const *types = reader->now.types;
	if (!check_types(reader, types[0], types[1], types[2], types[3]))
		return 0;
	mma->kind_a = types[1]->kind;
	mma->kind_b = types[2]->kind;
	mma->half_d = types[0]->kind == 'h';
	mma->half_c = types[3]->kind == 'h';
	mma->per_register = 4u / types[1]->size;
	mma->a_count = mma->depth * 16 / 32 / mma->per_register;
	mma->b_count = mma->depth * 8 / 32 / mma->per_register;
	if (mma->a_count < 2 || mma->a_count > 4 || !mma->b_count)
		return ptx_refuse(reader, "%s: unknown shape", reader->now.text);
	return read_registers(reader, 1, mma->a_count, mma->a, 0) &&
	       read_registers(reader, 2, mma->b_count, mma->b, 0) &&
	       read_registers(reader, 3, mma->half_c ? 2 : 4, mma->c, 0) &&
	       read_registers(reader, 0, mma->half_d ? 2 : 4, mma->d, 1) &&
	       ptx_action_step(reader, ptx_run_mma, mma) != NULL;
}

/* ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {..}, [address] */
static int ldmatrix(struct ptx_reader *reader)
{
	struct ptx_ldmatrix *load = ptx_keep(reader->module, sizeof *load);
	if (!load)
		return ptx_refuse(reader, "out of memory");
	if (!ptx_modifiers(reader, "sync aligned m8n8 x1 x2 x4 trans shared shared::cta") ||
	    !ptx_wants(reader, 2, 2))
		return 0;
	load->count = ptx_has(reader, "x4") ? 4 : ptx_has(reader, "x2") ? 2 : 1;
	load->transposed = (uint8_t)ptx_has(reader, "trans");
	load->access.space = ptx_has(reader, "shared") || ptx_has(reader, "shared::cta")
				     ? PTX_SHARED
				     : PTX_GENERIC;
	load->access.size = 16;
	load->access.count = 1;
	return ptx_read_access(reader, 1, &load->access) &&
	       read_registers(reader, 0, load->count, load->d, 1) &&
	       ptx_action_step(reader, ptx_load_matrix, load) != NULL;
}

static const struct ptx_opcode opcodes[] = {{"ldmatrix", ldmatrix}, {"mma", mma}};

const struct ptx_opcode_table ptx_matrix_opcodes = {opcodes, sizeof opcodes / sizeof *opcodes};
