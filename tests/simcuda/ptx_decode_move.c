/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * mov with packing, comparisons, choices, and address conversions.
 */
#include <stdio.h>
#include <string.h>

#include "ptx_decode_convert.h"
#include "ptx_decode_float.h"

static const char *const comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
					  "lo",  "ls",  "hi",  "hs",  "equ", "neu",
					  "ltu", "leu", "gtu", "geu", "num", "nan"};

#define COMPARISON_WORDS "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"

/* {a, b} to one register: two at a time, from the lowest up. */
static int pack(struct ptx_reader *reader, size_t size)
{
	struct ptx_operand *vector = ptx_top(reader, 1);
	size_t part = vector->count ? size / vector->count : 0;
	char name[32];
	int32_t places[PTX_VECTOR];
	unsigned n = vector->count;
	if ((n != 2 && n != 4 && n != 8) || !part)
		return ptx_refuse(reader, "mov: a vector of %u parts", n);
	for (unsigned i = 0; i < n; i++)
		places[i] =
			ptx_fetch_operand(reader, &reader->operands[vector->first + i], part, NULL);
	for (; n > 1; n /= 2, part *= 2)
		for (unsigned i = 0; i < n; i += 2) {
			int32_t d = n == 2 ? ptx_target(reader, 0, size, 0) : ptx_scratch(reader);
			snprintf(name, sizeof name, "pack_%zu_%zu", part * 16, part * 8);
			if (!ptx_lane_step(reader, name, part * 2, d, places[i], places[i + 1], 0))
				return 0;
			places[i / 2] = d;
		}
	return 1;
}

/* The low and the high half of `place`, and so on until there are as many as the vector has. */
static int unpack(struct ptx_reader *reader, size_t size)
{
	struct ptx_operand *vector = ptx_top(reader, 0);
	unsigned count = vector->count;
	char name[48];
	int32_t places[PTX_VECTOR * 2] = {ptx_fetch(reader, 1, size, NULL)};
	if (count != 2 && count != 4 && count != 8)
		return ptx_refuse(reader, "mov: a vector of %u parts", count);
	for (unsigned n = 1; n < count; n *= 2, size /= 2) {
		if (size < 2)
			return ptx_refuse(reader, "mov: a vector of %u parts", count);
		for (unsigned i = n; i-- > 0;) {
			int32_t low = ptx_scratch(reader), high = ptx_scratch(reader);
			snprintf(name, sizeof name, "high_%zu_%zu", size * 4, size * 8);
			if (!ptx_resize_step(reader, low, size / 2, places[i], size, 0) ||
			    !ptx_lane_step(reader, name, size / 2, high, places[i], 0, 0))
				return 0;
			places[2 * i] = low;
			places[2 * i + 1] = high;
		}
	}
	for (unsigned i = 0; i < count; i++) {
		struct ptx_operand *part = &reader->operands[vector->first + i];
		if (part->kind == PTX_OPERAND_SINK)
			continue;
		int32_t d = ptx_target_operand(reader, part, size, 0);
		if (!ptx_resize_step(reader, d, size, places[i], size, 0))
			return 0;
	}
	return 1;
}

static int mov(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "") || !ptx_wants(reader, 2, 2))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	if (type->kind == 'p')
		return ptx_lane_step(reader, "mov_b32", 4, ptx_target(reader, 0, 4, 0),
				     ptx_predicate(reader, ptx_top(reader, 1)), 0, 0);
	if (ptx_top(reader, 1)->kind == PTX_OPERAND_VECTOR)
		return pack(reader, type->size);
	if (ptx_top(reader, 0)->kind == PTX_OPERAND_VECTOR)
		return unpack(reader, type->size);
	int32_t a = ptx_fetch(reader, 1, type->size, type);
	/* A clock advances with every read. */
	if (a == PTX_CLOCK * PTX_SLOT || a == PTX_CLOCK64 * PTX_SLOT)
		if (!ptx_action_step(reader, ptx_tick, NULL))
			return 0;
	int32_t d = ptx_target(reader, 0, type->size, type->kind == 's');
	return ptx_resize_step(reader, d, type->size, a, type->size, 0);
}

/* Unsigned comparisons have their own names, and integers are compared for equality as bits. */
static int compare_scalar(struct ptx_reader *reader, const char *comparison,
			  const struct ptx_type *type, int32_t d, int32_t a, int32_t b)
{
	char name[40];
	static const char *const renamed[][2] = {
		{"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
	for (size_t i = 0; i < 4; i++)
		if (strcmp(comparison, renamed[i][0]) == 0)
			comparison = renamed[i][1];
	char kind = type->kind;
	size_t bits = type->size * 8u;
	if (kind == 'h' || kind == 't') {
		a = ptx_widen(reader, kind, a);
		b = ptx_widen(reader, kind, b);
		kind = 'f';
		bits = 32;
	} else if (kind == 'f' && bits == 32) {
		a = ptx_flushed(reader, ptx_has(reader, "ftz"), a);
		b = ptx_flushed(reader, ptx_has(reader, "ftz"), b);
	} else if (kind != 'f' && (!strcmp(comparison, "eq") || !strcmp(comparison, "ne"))) {
		kind = 'b';
	} else if (kind == 'b') {
		kind = 'u';
	}
	snprintf(name, sizeof name, "%s_%c%zu", comparison, kind, bits);
	return ptx_lane_step(reader, name, 4, d, a, b, 0);
}

static const char *comparison_of(const struct ptx_reader *reader)
{
	for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
		if (ptx_has(reader, comparisons[i]))
			return comparisons[i];
	return "none";
}

/* t = comparison, joined with the predicate `c` by .and, .or or .xor;
 * the complement of t is joined too. */
static int join(struct ptx_reader *reader, int32_t d, int32_t t, const struct ptx_operand *c,
		int complement)
{
	const char *name = ptx_has(reader, "and")   ? "and_b32"
			   : ptx_has(reader, "or")  ? "or_b32"
			   : ptx_has(reader, "xor") ? "xor_b32"
						    : "mov_b32";
	if (complement) {
		int32_t opposite = ptx_scratch(reader);
		if (!ptx_lane_step(reader, "not_b32", 4, opposite, t, 0, 0))
			return 0;
		t = opposite;
	}
	return ptx_lane_step(reader, name, 4, d, t, c ? ptx_predicate(reader, c) : 0, 0);
}

/* p|q of f16x2: one predicate for each half. */
static int compare_pair(struct ptx_reader *reader, const struct ptx_type *type, int32_t low,
			int32_t high, int32_t a, int32_t b)
{
	const struct ptx_type *single = ptx_find_type(type->name, strlen(type->name) - 2);
	for (int i = 0; i < 2; i++) {
		int32_t x = ptx_scratch(reader), y = ptx_scratch(reader);
		const char *name = i ? "high_16_32" : "cut_16_32";
		if (!ptx_lane_step(reader, name, 2, x, a, 0, 0) ||
		    !ptx_lane_step(reader, name, 2, y, b, 0, 0) ||
		    !compare_scalar(reader, comparison_of(reader), single, i ? high : low, x, y))
			return 0;
	}
	return 1;
}

static int setp(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, COMPARISON_WORDS " and or xor ftz") || !ptx_wants(reader, 3, 4))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	struct ptx_operand *out = ptx_top(reader, 0), *first = out, *second = NULL;
	const struct ptx_operand *c = reader->now.operands == 4 ? ptx_top(reader, 3) : NULL;
	if (out->kind == PTX_OPERAND_PAIR) {
		first = &reader->operands[out->first];
		second = &reader->operands[out->first + 1];
	}
	int32_t a = ptx_fetch(reader, 1, type->size, type),
		b = ptx_fetch(reader, 2, type->size, type);
	int32_t t = ptx_scratch(reader), u = ptx_scratch(reader);
	int32_t p = ptx_target_operand(reader, first, 4, 0);
	int32_t q = second ? ptx_target_operand(reader, second, 4, 0) : 0;
	if (!c && !second && !type->pair)
		return compare_scalar(reader, comparison_of(reader), type, p, a, b);
	if (type->pair)
		return second && compare_pair(reader, type, t, u, a, b) &&
		       join(reader, p, t, c, 0) && join(reader, q, u, c, 0);
	return compare_scalar(reader, comparison_of(reader), type, t, a, b) &&
	       (!second || join(reader, u, t, c, 1)) && join(reader, p, t, c, 0) &&
	       (!second || ptx_lane_step(reader, "mov_b32", 4, q, u, 0, 0));
}

/* The value of "true" from set: 1.0 for floats, all bits for integers. */
static uint64_t truth(const struct ptx_type *type)
{
	return type->kind == 'h'   ? 0x3c003c00
	       : type->kind == 't' ? 0x3f803f80
	       : type->kind == 'f' ? 0x3f800000
				   : UINT32_MAX;
}

static int set_pair(struct ptx_reader *reader, const struct ptx_type *to,
		    const struct ptx_type *type)
{
	int32_t a = ptx_fetch(reader, 1, 4, type), b = ptx_fetch(reader, 2, 4, type);
	int32_t low = ptx_scratch(reader), high = ptx_scratch(reader);
	int32_t x = ptx_scratch(reader), y = ptx_scratch(reader), d = ptx_target(reader, 0, 4, 0);
	return compare_pair(reader, type, low, high, a, b) &&
	       ptx_lane_step(reader, "cut_16_32", 2, x, low, 0, 0) &&
	       ptx_lane_step(reader, "cut_16_32", 2, y, high, 0, 0) &&
	       ptx_lane_step(reader, "pack_32_16", 4, d, x, y, 0) &&
	       ptx_lane_step(reader, "and_b32", 4, d, d, ptx_constant(reader, truth(to), 4), 0);
}

static int set(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, COMPARISON_WORDS " and or xor ftz") || !ptx_wants(reader, 3, 4))
		return 0;
	const struct ptx_type *to = ptx_type_at(reader, 0), *type = ptx_type_at(reader, 1);
	if (type->pair)
		return set_pair(reader, to, type);
	int32_t a = ptx_fetch(reader, 1, type->size, type),
		b = ptx_fetch(reader, 2, type->size, type);
	int32_t t = ptx_scratch(reader), d = ptx_target(reader, 0, to->size, to->kind == 's');
	const struct ptx_operand *c = reader->now.operands == 4 ? ptx_top(reader, 3) : NULL;
	if (!compare_scalar(reader, comparison_of(reader), type, t, a, b) ||
	    !join(reader, t, t, c, 0) ||
	    !ptx_lane_step(reader, "and_b32", 4, t, t, ptx_constant(reader, truth(to), 4), 0))
		return 0;
	return ptx_resize_step(reader, d, to->size, t, 4, 0);
}

static int selp(struct ptx_reader *reader)
{
	char name[16];
	if (!ptx_modifiers(reader, "") || !ptx_wants(reader, 4, 4))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	int32_t a = ptx_fetch(reader, 1, type->size, type),
		b = ptx_fetch(reader, 2, type->size, type);
	snprintf(name, sizeof name, "selp_b%d", type->size * 8);
	return ptx_lane_step(reader, name, type->size,
			     ptx_target(reader, 0, type->size, type->kind == 's'), a, b,
			     ptx_predicate(reader, ptx_top(reader, 3)));
}

static int slct(struct ptx_reader *reader)
{
	char name[24];
	if (!ptx_modifiers(reader, "ftz") || !ptx_wants(reader, 4, 4))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0), *by = ptx_type_at(reader, 1);
	int32_t a = ptx_fetch(reader, 1, type->size, type),
		b = ptx_fetch(reader, 2, type->size, type);
	int32_t c = ptx_flushed(reader, ptx_has(reader, "ftz"), ptx_fetch(reader, 3, 4, by));
	snprintf(name, sizeof name, "slct_b%d_%s", type->size * 8, by->name);
	return ptx_lane_step(reader, name, type->size, ptx_target(reader, 0, type->size, 0), a, b,
			     c);
}

/* An offset in a window to a generic address, or back. */
static int cvta(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "to global shared local const param :: shared::cta") ||
	    !ptx_wants(reader, 2, 2))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	uint64_t window = ptx_has(reader, "local")   ? PTX_LOCAL_WINDOW
			  : ptx_has(reader, "param") ? PTX_PARAMETER_WINDOW
			  : ptx_has(reader, "shared") || ptx_has(reader, "shared::cta")
				  ? PTX_SHARED_WINDOW
				  : 0;
	int32_t a = ptx_fetch(reader, 1, type->size, type),
		d = ptx_target(reader, 0, type->size, 0);
	if (!window || type->size != 8)
		return ptx_resize_step(reader, d, type->size, a, type->size, 0);
	int to = ptx_has(reader, "to");
	return ptx_lane_step(reader, to ? "and_b64" : "or_b64", 8, d, a,
			     ptx_constant(reader, to ? 0xffffffff : window, 8), 0);
}

static const struct ptx_opcode opcodes[] = {
	{"cvt", ptx_decode_cvt},
	{"cvta", cvta},
	{"isspacep", ptx_decode_isspacep},
	{"mov", mov},
	{"selp", selp},
	{"set", set},
	{"setp", setp},
	{"slct", slct},
};

const struct ptx_opcode_table ptx_move_opcodes = {opcodes, sizeof opcodes / sizeof *opcodes};
