/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What all decoders share: types, modifiers, operands and steps; and the search for an opcode.
 */
#include "ptx_decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ptx_type types[] = {
	{"pred", 'p', 4, 0}, {"b8", 'b', 1, 0},     {"b16", 'b', 2, 0},    {"b32", 'b', 4, 0},
	{"b64", 'b', 8, 0},  {"b128", 'b', 16, 0},  {"u8", 'u', 1, 0},     {"u16", 'u', 2, 0},
	{"u32", 'u', 4, 0},  {"u64", 'u', 8, 0},    {"s8", 's', 1, 0},     {"s16", 's', 2, 0},
	{"s32", 's', 4, 0},  {"s64", 's', 8, 0},    {"f16", 'h', 2, 0},    {"f16x2", 'h', 4, 1},
	{"bf16", 't', 2, 0}, {"bf16x2", 't', 4, 1}, {"f32", 'f', 4, 0},    {"f64", 'f', 8, 0},
	{"tf32", 'x', 4, 0}, {"e4m3x2", 'x', 2, 1}, {"e5m2x2", 'x', 2, 1},
};

static const struct ptx_opcode_table *const tables[] = {
	&ptx_integer_opcodes, &ptx_float_opcodes, &ptx_move_opcodes,   &ptx_memory_opcodes,
	&ptx_control_opcodes, &ptx_warp_opcodes,  &ptx_matrix_opcodes,
};

const struct ptx_type *ptx_find_type(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
			return &types[i];
	return NULL;
}

uint64_t ptx_float_bits(uint64_t bits, int single, const struct ptx_type *type)
{
	double wide;
	float narrow = ptx_from_bits((uint32_t)bits);
	memcpy(&wide, &bits, sizeof wide);
	if (type->size == 8 && single && type->kind == 'f') {
		wide = narrow;
		memcpy(&bits, &wide, sizeof bits);
	} else if (type->size == 4 && !single) {
		uint32_t out;
		narrow = (float)wide;
		memcpy(&out, &narrow, sizeof out);
		bits = out;
	}
	return bits;
}

int ptx_function_address(struct ptx_reader *reader, const char *name, size_t length,
			 uint64_t *value)
{
	for (size_t i = 0; i < reader->module->function_count; i++)
		if (reader->module->functions[i] ==
		    ptx_find_function(reader->module, name, length)) {
			*value = PTX_FUNCTION_WINDOW + 16 * i;
			return 1;
		}
	return 0;
}

static int is_allowed(const char *allowed, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = strstr(allowed, word); at; at = strstr(at + 1, word))
		if ((at == allowed || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return 1;
	return 0;
}

int ptx_modifiers(struct ptx_reader *reader, const char *allowed)
{
	struct ptx_instruction *now = &reader->now;
	now->type_count = 0;
	for (size_t i = 1; i < now->parts; i++) {
		const struct ptx_type *type = ptx_find_type(now->part[i], strlen(now->part[i]));
		if (type && now->type_count < 4)
			now->types[now->type_count++] = type;
		else if (type || !is_allowed(allowed, now->part[i]))
			return ptx_refuse(reader, "%s: unknown modifier '.%s'", now->text,
					  now->part[i]);
	}
	return 1;
}

int ptx_has(const struct ptx_reader *reader, const char *modifier)
{
	for (size_t i = 1; i < reader->now.parts; i++)
		if (strcmp(reader->now.part[i], modifier) == 0)
			return 1;
	return 0;
}

enum ptx_direction ptx_direction_of(const struct ptx_reader *reader)
{
	return ptx_has(reader, "rz")   ? PTX_ZERO
	       : ptx_has(reader, "rm") ? PTX_DOWN
	       : ptx_has(reader, "rp") ? PTX_UP
				       : PTX_NEAREST;
}

const struct ptx_type *ptx_type_at(const struct ptx_reader *reader, size_t index)
{
	static const struct ptx_type none = {"none", '?', 4, 0};
	return index < reader->now.type_count ? reader->now.types[index] : &none;
}

int ptx_wants(struct ptx_reader *reader, unsigned least, unsigned most)
{
	unsigned found = reader->now.operands;
	if (found >= least && found <= most)
		return 1;
	return ptx_refuse(reader, "%s: %u operands are expected, %u are found", reader->now.text,
			  least, found);
}

struct ptx_operand *ptx_top(struct ptx_reader *reader, unsigned index)
{
	return &reader->operands[reader->now.operand[index]];
}

int32_t ptx_scratch(struct ptx_reader *reader)
{
	if (reader->scratch_used == sizeof reader->scratch / sizeof *reader->scratch) {
		ptx_refuse(reader, "%s: needs too many places", reader->now.text);
		return 0;
	}
	if (reader->scratch_used == reader->scratch_made)
		reader->scratch[reader->scratch_made++] = ptx_new_place(reader, 16);
	return reader->scratch[reader->scratch_used++];
}

/* Places of numbers are negative.  A known number is found by its hash. */
int32_t ptx_constant(struct ptx_reader *reader, uint64_t value, size_t size)
{
	struct ptx_module *module = reader->module;
	if (size < 8)
		value &= (1ull << 8 * size) - 1;
	uint64_t hash = (value ^ value >> 32 ^ size) * 0x9e3779b97f4a7c15ull >> 54;
	uint32_t *known = &reader->constant_of[hash];
	/* The first slot is not used: place 0 is not a constant. */
	size_t at = module->constant_bytes ? module->constant_bytes : PTX_SLOT;
	if (*known && memcmp(module->constants + *known, &value, size) == 0 &&
	    memcmp(module->constants + *known + size, &value, size) == 0)
		return -(int32_t)*known;
	unsigned char *constants =
		ptx_grow(module->constants, &module->constant_capacity, at + PTX_SLOT, 1);
	if (!constants || at > INT32_MAX / 2) {
		ptx_refuse(reader, "out of memory");
		return 0;
	}
	module->constants = constants;
	memset(constants + at, 0, PTX_SLOT);
	for (size_t l = 0; l < PTX_LANES; l++)
		memcpy(constants + at + l * size, &value, size);
	module->constant_bytes = at + PTX_SLOT;
	*known = (uint32_t)at;
	return -(int32_t)at;
}

static int32_t fetch_number(struct ptx_reader *reader, const struct ptx_operand *operand,
			    size_t size, const struct ptx_type *type)
{
	uint64_t value = operand->number;
	static const struct ptx_type bits32 = {"b32", 'b', 4, 0}, bits64 = {"b64", 'b', 8, 0};
	if (operand->floating)
		value = ptx_float_bits(value, operand->single,
				       type        ? type
				       : size == 8 ? &bits64
						   : &bits32);
	if (type && type->kind == 'p')
		value = value ? UINT32_MAX : 0;
	return ptx_constant(reader, value, size);
}

static int32_t fetch_symbol(struct ptx_reader *reader, const struct ptx_operand *operand,
			    size_t size)
{
	uint64_t value = operand->symbol->offset + (uint64_t)operand->offset;
	if (!operand->symbol->is_extern)
		return ptx_constant(reader, value, size);
	int32_t place = ptx_scratch(reader);
	int32_t base = PTX_DYNAMIC_PLACE * PTX_SLOT;
	ptx_resize_step(reader, place, size, base, 8, 0);
	if (operand->offset)
		ptx_lane_step(reader, size == 8 ? "add_b64" : "add_b32", size, place, place,
			      ptx_constant(reader, (uint64_t)operand->offset, size), 0);
	return place;
}

int32_t ptx_fetch_operand(struct ptx_reader *reader, struct ptx_operand *operand, size_t size,
			  const struct ptx_type *type)
{
	uint64_t address;
	if (operand->kind == PTX_OPERAND_NUMBER)
		return fetch_number(reader, operand, size, type);
	if (operand->kind == PTX_OPERAND_SYMBOL)
		return fetch_symbol(reader, operand, size);
	if (operand->kind == PTX_OPERAND_NAME &&
	    ptx_function_address(reader, operand->text, operand->length, &address))
		return ptx_constant(reader, address, size);
	if (operand->kind == PTX_OPERAND_NAME)
		ptx_refuse(reader, "unknown name '%.*s'", (int)operand->length, operand->text);
	else if (operand->kind != PTX_OPERAND_REGISTER)
		ptx_refuse(reader, "%s: a register or a number is expected", reader->now.text);
	else if (operand->size < size)
		ptx_refuse(reader, "%s: an operand has %u bits, %u are expected", reader->now.text,
			   operand->size * 8u, (unsigned)size * 8);
	if (reader->refused || operand->size == size)
		return operand->place;
	int32_t place = ptx_scratch(reader);
	ptx_resize_step(reader, place, size, operand->place, operand->size, 0);
	return place;
}

int32_t ptx_fetch(struct ptx_reader *reader, unsigned index, size_t size,
		  const struct ptx_type *type)
{
	return ptx_fetch_operand(reader, ptx_top(reader, index), size, type);
}

int32_t ptx_target_operand(struct ptx_reader *reader, struct ptx_operand *operand, size_t size,
			   int sign)
{
	if (operand->kind == PTX_OPERAND_SINK)
		return ptx_scratch(reader);
	if (operand->kind != PTX_OPERAND_REGISTER || operand->place < PTX_FIRST_PLACE) {
		ptx_refuse(reader, "%s: the result must be a register", reader->now.text);
		return 0;
	}
	if (operand->size == size)
		return operand->place;
	if (operand->size < size || reader->pending_count == PTX_VECTOR) {
		ptx_refuse(reader, "%s: the result has %u bits, its register %u", reader->now.text,
			   (unsigned)size * 8, operand->size * 8u);
		return 0;
	}
	struct ptx_pending pending = {ptx_scratch(reader), operand->place, (uint8_t)size,
				      operand->size, (uint8_t)sign};
	reader->pending[reader->pending_count++] = pending;
	return pending.from;
}

int32_t ptx_target(struct ptx_reader *reader, unsigned index, size_t size, int sign)
{
	return ptx_target_operand(reader, ptx_top(reader, index), size, sign);
}

int32_t ptx_predicate(struct ptx_reader *reader, const struct ptx_operand *operand)
{
	if (operand->kind == PTX_OPERAND_NUMBER)
		return ptx_constant(reader, operand->number ? UINT32_MAX : 0, 4);
	if (operand->kind != PTX_OPERAND_REGISTER || !operand->predicate) {
		ptx_refuse(reader, "%s: a predicate is expected", reader->now.text);
		return 0;
	}
	if (!operand->negated)
		return operand->place;
	int32_t place = ptx_scratch(reader);
	ptx_lane_step(reader, "not_b32", 4, place, operand->place, 0, 0);
	return place;
}

struct ptx_step *ptx_step(struct ptx_reader *reader)
{
	struct ptx_module *module = reader->module;
	struct ptx_step *steps = ptx_grow(module->steps, &module->step_capacity,
					  module->step_count + 1, sizeof *steps);
	if (!steps) {
		ptx_refuse(reader, "out of memory");
		return NULL;
	}
	module->steps = steps;
	struct ptx_step *step = &steps[module->step_count];
	memset(step, 0, sizeof *step);
	step->index = (uint32_t)module->step_count++;
	step->guard = reader->now.guard;
	step->guard_not = (uint8_t)reader->now.guard_not;
	step->line = reader->now.line;
	return step;
}

int ptx_lane_step(struct ptx_reader *reader, const char *name, size_t size, int32_t d, int32_t a,
		  int32_t b, int32_t c)
{
	ptx_lanes lanes = ptx_find_lanes(name);
	if (!lanes)
		return ptx_refuse(reader, "%s: unknown operation (%s)", reader->now.text, name);
	struct ptx_step *step = ptx_step(reader);
	if (!step)
		return 0;
	step->lanes = lanes;
	step->size = (uint8_t)size;
	step->d = d;
	step->s[0] = a;
	step->s[1] = b;
	step->s[2] = c;
	return 1;
}

int ptx_round_step(struct ptx_reader *reader, const char *name, enum ptx_direction direction,
		   size_t size, int32_t d, int32_t a, int32_t b, int32_t c)
{
	if (!ptx_lane_step(reader, name, size, d, a, b, c))
		return 0;
	reader->module->steps[reader->module->step_count - 1].direction = (uint8_t)direction;
	return 1;
}

struct ptx_step *ptx_action_step(struct ptx_reader *reader, ptx_action action, const void *extra)
{
	struct ptx_step *step = ptx_step(reader);
	if (step) {
		step->action = action;
		step->extra = extra;
		step->counted = 1;
	}
	return step;
}

int ptx_resize_step(struct ptx_reader *reader, int32_t to, size_t to_size, int32_t from,
		    size_t from_size, int sign)
{
	char name[32];
	int wide = (int)to_size * 8, narrow = (int)from_size * 8;
	if (to_size == from_size)
		snprintf(name, sizeof name, "mov_b%d", wide);
	else
		snprintf(name, sizeof name, "%s_%d_%d",
			 to_size < from_size ? "cut"
			 : sign              ? "sign"
					     : "zero",
			 wide, narrow);
	return ptx_lane_step(reader, name, to_size, to, from, 0, 0);
}

int32_t ptx_widen(struct ptx_reader *reader, char kind, int32_t place)
{
	int32_t wide = ptx_scratch(reader);
	ptx_lane_step(reader, kind == 't' ? "widen_bf16" : "widen_f16", 4, wide, place, 0, 0);
	return wide;
}

int ptx_narrow(struct ptx_reader *reader, char kind, enum ptx_direction direction, int32_t d,
	       int32_t place)
{
	static const char *const names[2][4] = {{"half_rn", "half_rz", "half_rm", "half_rp"},
						{"bhalf_rn", "bhalf_rz", "bhalf_rm", "bhalf_rp"}};
	return ptx_lane_step(reader, names[kind == 't'][direction & 3], 2, d, place, 0, 0);
}

static const struct ptx_opcode *find_opcode(const char *stem)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (size_t j = 0; j < tables[i]->count; j++)
			if (strcmp(tables[i]->opcodes[j].stem, stem) == 0)
				return &tables[i]->opcodes[j];
	return NULL;
}

int ptx_knows(const char *stem)
{
	return find_opcode(stem) != NULL;
}

int ptx_decode(struct ptx_reader *reader)
{
	struct ptx_instruction *now = &reader->now;
	const struct ptx_opcode *opcode = find_opcode(now->part[0]);
	size_t first = reader->module->step_count;
	if (!opcode || !opcode->decode(reader))
		return ptx_refuse(reader, "%s: not understood", now->text);
	for (unsigned i = 0; i < reader->pending_count; i++) {
		const struct ptx_pending *p = &reader->pending[i];
		ptx_resize_step(reader, p->to, p->to_size, p->from, p->from_size, p->sign);
	}
	size_t last = reader->module->step_count;
	for (size_t i = first; i < last; i++)
		reader->module->steps[i].counted = i + 1 == last;
	return !reader->refused;
}
