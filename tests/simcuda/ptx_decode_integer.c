/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arithmetic of whole numbers, logic, shifts and fields of bits.  add, min and others that also
 * exist for floats are dispatched by type.
 */
#include <stdio.h>
#include <string.h>

#include "ptx_decode.h"
#include "ptx_decode_float.h"

/* NAME_KINDbits, with the kind used in the names of lane functions. */
static int emit(struct ptx_reader *reader, const char *stem, char kind, size_t bits, size_t size,
		int32_t d, int32_t a, int32_t b, int32_t c)
{
	char name[40];
	snprintf(name, sizeof name, "%s_%c%zu", stem, kind, bits);
	return ptx_lane_step(reader, name, size, d, a, b, c);
}

/* With carry: the flag is computed first and stored last, since a result may be its own operand. */
static int with_carry(struct ptx_reader *reader, const char *stem, const char *flag, size_t size,
		      int32_t d, int32_t a, int32_t b, int reads, int writes)
{
	int32_t carry = PTX_CARRY * PTX_SLOT, next = ptx_scratch(reader);
	int32_t in = reads ? carry : ptx_constant(reader, 0, 4);
	if (writes && !emit(reader, flag, 'b', size * 8, 4, next, a, b, in))
		return 0;
	if (!emit(reader, stem, 'b', size * 8, size, d, a, b, in))
		return 0;
	return !writes || ptx_lane_step(reader, "mov_b32", 4, carry, next, 0, 0);
}

static int add_sub(struct ptx_reader *reader)
{
	const char *stem = reader->now.part[0];
	int is_add = strncmp(stem, "add", 3) == 0, reads = stem[3] == 'c';
	if (!ptx_modifiers(reader, "rn rz rm rp ftz sat cc noftz") || !ptx_wants(reader, 3, 3))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	if (ptx_is_float(type))
		return ptx_float_arithmetic(reader, is_add ? "add" : "sub", 2);
	int32_t a = ptx_fetch(reader, 1, type->size, type);
	int32_t b = ptx_fetch(reader, 2, type->size, type);
	int32_t d = ptx_target(reader, 0, type->size, type->kind == 's');
	if (type->pair)
		return ptx_refuse(reader, "%s: unknown type", reader->now.text);
	if (reads || ptx_has(reader, "cc"))
		return with_carry(reader, is_add ? "addc" : "subc", is_add ? "carry" : "borrow",
				  type->size, d, a, b, reads, ptx_has(reader, "cc"));
	if (ptx_has(reader, "sat"))
		return emit(reader, is_add ? "addsat" : "subsat", type->kind, type->size * 8u,
			    type->size, d, a, b, 0);
	return emit(reader, is_add ? "add" : "sub", 'b', type->size * 8u, type->size, d, a, b, 0);
}

static int mul(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "rn rz rm rp ftz sat lo hi wide noftz") ||
	    !ptx_wants(reader, 3, 3))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	if (ptx_is_float(type))
		return ptx_float_arithmetic(reader, "mul", 2);
	size_t size = type->size * (ptx_has(reader, "wide") ? 2u : 1u);
	int32_t a = ptx_fetch(reader, 1, type->size, type);
	int32_t b = ptx_fetch(reader, 2, type->size, type);
	int32_t d = ptx_target(reader, 0, size, type->kind == 's');
	if (ptx_has(reader, "lo"))
		return emit(reader, "mul", 'b', size * 8, size, d, a, b, 0);
	return emit(reader, ptx_has(reader, "wide") ? "mulwide" : "mulhi", type->kind,
		    type->size * 8u, size, d, a, b, 0);
}

/* The addend of mad.wide has the width of the result. */
static int mad_parts(struct ptx_reader *reader, const struct ptx_type *type, size_t size, int reads)
{
	int writes = ptx_has(reader, "cc");
	int32_t a = ptx_fetch(reader, 1, type->size, type);
	int32_t b = ptx_fetch(reader, 2, type->size, type);
	int32_t c = ptx_fetch(reader, 3, size, type);
	int32_t d = ptx_target(reader, 0, size, type->kind == 's');
	int32_t product = ptx_scratch(reader);
	if (ptx_has(reader, "lo") && !reads && !writes)
		return emit(reader, "mad", 'b', size * 8, size, d, a, b, c);
	int fine = ptx_has(reader, "lo")
			   ? emit(reader, "mul", 'b', size * 8, size, product, a, b, 0)
			   : emit(reader, ptx_has(reader, "wide") ? "mulwide" : "mulhi", type->kind,
				  type->size * 8u, size, product, a, b, 0);
	if (!fine)
		return 0;
	if (reads || writes)
		return with_carry(reader, "addc", "carry", size, d, product, c, reads, writes);
	if (ptx_has(reader, "sat"))
		return emit(reader, "addsat", type->kind, size * 8, size, d, product, c, 0);
	return emit(reader, "add", 'b', size * 8, size, d, product, c, 0);
}

static int mad(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "rn rz rm rp ftz sat lo hi wide cc") || !ptx_wants(reader, 4, 4))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	if (ptx_is_float(type))
		return ptx_float_arithmetic(reader, "fma", 3);
	size_t size = type->size * (ptx_has(reader, "wide") ? 2u : 1u);
	return mad_parts(reader, type, size, strcmp(reader->now.part[0], "madc") == 0);
}

static int mul24(struct ptx_reader *reader)
{
	int is_mad = strcmp(reader->now.part[0], "mad24") == 0;
	if (!ptx_modifiers(reader, "lo hi") || !ptx_wants(reader, is_mad ? 4 : 3, is_mad ? 4 : 3))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	int32_t a = ptx_fetch(reader, 1, 4, type), b = ptx_fetch(reader, 2, 4, type);
	int32_t c = is_mad ? ptx_fetch(reader, 3, 4, type) : 0;
	int32_t d = ptx_target(reader, 0, 4, 0), product = is_mad ? ptx_scratch(reader) : d;
	if (!emit(reader, ptx_has(reader, "hi") ? "mul24hi" : "mul24lo", type->kind, 32, 4, product,
		  a, b, 0))
		return 0;
	return !is_mad || ptx_lane_step(reader, "add_b32", 4, d, product, c, 0);
}

/* Whole numbers: the same name and types for all operands. */
static int plain(struct ptx_reader *reader, unsigned count, char kind)
{
	const struct ptx_type *type = ptx_type_at(reader, 0);
	if (!ptx_wants(reader, count + 1, count + 1))
		return 0;
	int32_t s[3] = {0};
	for (unsigned i = 0; i < count; i++)
		s[i] = ptx_fetch(reader, i + 1, type->size, type);
	int32_t d = ptx_target(reader, 0, type->size, type->kind == 's');
	return emit(reader, reader->now.part[0], kind ? kind : type->kind, type->size * 8u,
		    type->size, d, s[0], s[1], s[2]);
}

static int div_rem(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "rn rz rm rp ftz approx full"))
		return 0;
	if (ptx_is_float(ptx_type_at(reader, 0)))
		return ptx_wants(reader, 3, 3) && ptx_float_arithmetic(reader, "div", 2);
	return plain(reader, 2, 0);
}

static int sad(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "") && plain(reader, 3, 0);
}

static int abs_neg(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "ftz"))
		return 0;
	if (ptx_is_float(ptx_type_at(reader, 0)))
		return ptx_wants(reader, 2, 2) && ptx_float_sign(reader, reader->now.part[0]);
	return plain(reader, 1, 0);
}

static int min_max(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "ftz NaN xorsign abs relu"))
		return 0;
	if (ptx_is_float(ptx_type_at(reader, 0)))
		return ptx_wants(reader, 3, 4) && ptx_float_extreme(reader, reader->now.part[0]);
	if (ptx_type_at(reader, 0)->pair || ptx_has(reader, "relu"))
		return ptx_refuse(reader, "%s: unknown type", reader->now.text);
	return plain(reader, 2, 0);
}

/* Predicates are logic of b32. */
static int logic(struct ptx_reader *reader)
{
	unsigned count = strcmp(reader->now.part[0], "not") == 0 ? 1 : 2;
	if (!ptx_modifiers(reader, "") || !ptx_wants(reader, count + 1, count + 1))
		return 0;
	if (ptx_type_at(reader, 0)->kind != 'p')
		return plain(reader, count, 'b');
	int32_t a = ptx_predicate(reader, ptx_top(reader, 1));
	int32_t b = count == 2 ? ptx_predicate(reader, ptx_top(reader, 2)) : 0;
	return emit(reader, reader->now.part[0], 'b', 32, 4, ptx_target(reader, 0, 4, 0), a, b, 0);
}

static int cnot(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "") && plain(reader, 1, 'b');
}

static int shift(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "") || !ptx_wants(reader, 3, 3))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	int is_left = strcmp(reader->now.part[0], "shl") == 0;
	int32_t a = ptx_fetch(reader, 1, type->size, type), b = ptx_fetch(reader, 2, 4, NULL);
	int32_t d = ptx_target(reader, 0, type->size, type->kind == 's');
	char kind = is_left ? 'b' : type->kind == 's' ? 's' : 'u';
	return emit(reader, reader->now.part[0], kind, type->size * 8u, type->size, d, a, b, 0);
}

/* A count of 32 bits from an operand of either width. */
static int count_bits(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "shiftamt") || !ptx_wants(reader, 2, 2))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	int find = strcmp(reader->now.part[0], "bfind") == 0;
	int32_t a = ptx_fetch(reader, 1, type->size, type), d = ptx_target(reader, 0, 4, 0);
	if (!emit(reader, reader->now.part[0], find ? type->kind : 'b', type->size * 8u, 4, d, a, 0,
		  0))
		return 0;
	return !ptx_has(reader, "shiftamt") ||
	       emit(reader, "bfindshift", 'b', type->size * 8u, 4, d, d, 0, 0);
}

static int brev(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "") && plain(reader, 1, 'b');
}

static int fns(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "") || !ptx_wants(reader, 4, 4))
		return 0;
	int32_t a = ptx_fetch(reader, 1, 4, NULL), b = ptx_fetch(reader, 2, 4, NULL);
	int32_t c = ptx_fetch(reader, 3, 4, NULL);
	return ptx_lane_step(reader, "fns_b32", 4, ptx_target(reader, 0, 4, 0), a, b, c);
}

static int bfe(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "") || !ptx_wants(reader, 4, 4))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	int32_t a = ptx_fetch(reader, 1, type->size, type);
	int32_t b = ptx_fetch(reader, 2, 4, NULL), c = ptx_fetch(reader, 3, 4, NULL);
	return emit(reader, "bfe", type->kind, type->size * 8u, type->size,
		    ptx_target(reader, 0, type->size, 0), a, b, c);
}

/* The fourth operand of the step just made. */
static int fourth(struct ptx_reader *reader, int32_t place)
{
	reader->module->steps[reader->module->step_count - 1].s[3] = place;
	return 1;
}

static int bfi(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "") || !ptx_wants(reader, 5, 5))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	int32_t a = ptx_fetch(reader, 1, type->size, type);
	int32_t b = ptx_fetch(reader, 2, type->size, type);
	int32_t c = ptx_fetch(reader, 3, 4, NULL), e = ptx_fetch(reader, 4, 4, NULL);
	int32_t d = ptx_target(reader, 0, type->size, 0);
	return emit(reader, "bfi", 'b', type->size * 8u, type->size, d, a, b, c) &&
	       fourth(reader, e);
}

static int lop3(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "") || !ptx_wants(reader, 5, 5))
		return 0;
	int32_t s[4];
	for (unsigned i = 0; i < 4; i++)
		s[i] = ptx_fetch(reader, i + 1, 4, NULL);
	return ptx_lane_step(reader, "lop3_b32", 4, ptx_target(reader, 0, 4, 0), s[0], s[1],
			     s[2]) &&
	       fourth(reader, s[3]);
}

static int prmt(struct ptx_reader *reader)
{
	static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
	char name[16] = "prmt_b32";
	if (!ptx_modifiers(reader, "f4e b4e rc8 ecl ecr rc16") || !ptx_wants(reader, 4, 4))
		return 0;
	for (size_t i = 0; i < 6; i++)
		if (ptx_has(reader, modes[i]))
			snprintf(name, sizeof name, "prmt_%s", modes[i]);
	int32_t a = ptx_fetch(reader, 1, 4, NULL), b = ptx_fetch(reader, 2, 4, NULL);
	int32_t c = ptx_fetch(reader, 3, 4, NULL);
	return ptx_lane_step(reader, name, 4, ptx_target(reader, 0, 4, 0), a, b, c);
}

static int shf(struct ptx_reader *reader)
{
	char name[16];
	if (!ptx_modifiers(reader, "l r wrap clamp") || !ptx_wants(reader, 4, 4))
		return 0;
	snprintf(name, sizeof name, "shf_%s_%s", ptx_has(reader, "l") ? "l" : "r",
		 ptx_has(reader, "wrap") ? "wrap" : "clamp");
	int32_t a = ptx_fetch(reader, 1, 4, NULL), b = ptx_fetch(reader, 2, 4, NULL);
	int32_t c = ptx_fetch(reader, 3, 4, NULL);
	return ptx_lane_step(reader, name, 4, ptx_target(reader, 0, 4, 0), a, b, c);
}

static int dot_product(struct ptx_reader *reader)
{
	char name[16];
	if (!ptx_modifiers(reader, "lo hi") || !ptx_wants(reader, 4, 4))
		return 0;
	snprintf(name, sizeof name, "%s%s_%c%c", reader->now.part[0],
		 ptx_has(reader, "lo")   ? "lo"
		 : ptx_has(reader, "hi") ? "hi"
					 : "",
		 ptx_type_at(reader, 0)->kind, ptx_type_at(reader, 1)->kind);
	int32_t a = ptx_fetch(reader, 1, 4, NULL), b = ptx_fetch(reader, 2, 4, NULL);
	int32_t c = ptx_fetch(reader, 3, 4, NULL);
	return ptx_lane_step(reader, name, 4, ptx_target(reader, 0, 4, 0), a, b, c);
}

static const struct ptx_opcode opcodes[] = {
	{"abs", abs_neg},      {"add", add_sub},     {"addc", add_sub},     {"and", logic},
	{"bfe", bfe},          {"bfi", bfi},         {"bfind", count_bits}, {"brev", brev},
	{"clz", count_bits},   {"cnot", cnot},       {"div", div_rem},      {"dp2a", dot_product},
	{"dp4a", dot_product}, {"fns", fns},         {"lop3", lop3},        {"mad", mad},
	{"mad24", mul24},      {"madc", mad},        {"max", min_max},      {"min", min_max},
	{"mul", mul},          {"mul24", mul24},     {"neg", abs_neg},      {"not", logic},
	{"or", logic},         {"popc", count_bits}, {"prmt", prmt},        {"rem", div_rem},
	{"sad", sad},          {"shf", shf},         {"shl", shift},        {"shr", shift},
	{"sub", add_sub},      {"subc", add_sub},    {"xor", logic},
};

const struct ptx_opcode_table ptx_integer_opcodes = {opcodes, sizeof opcodes / sizeof *opcodes};
