/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operands as written.
 */
#include <string.h>

#include "ptx_decode.h"

struct special_name {
	const char *name;
	enum ptx_special special;
	uint8_t size;
};

static const struct special_name special_names[] = {
	{"%tid.x", PTX_TID_X, 4},
	{"%tid.y", PTX_TID_Y, 4},
	{"%tid.z", PTX_TID_Z, 4},
	{"%ntid.x", PTX_NTID_X, 4},
	{"%ntid.y", PTX_NTID_Y, 4},
	{"%ntid.z", PTX_NTID_Z, 4},
	{"%ctaid.x", PTX_CTAID_X, 4},
	{"%ctaid.y", PTX_CTAID_Y, 4},
	{"%ctaid.z", PTX_CTAID_Z, 4},
	{"%nctaid.x", PTX_NCTAID_X, 4},
	{"%nctaid.y", PTX_NCTAID_Y, 4},
	{"%nctaid.z", PTX_NCTAID_Z, 4},
	{"%laneid", PTX_LANEID, 4},
	{"%warpid", PTX_WARPID, 4},
	{"%nwarpid", PTX_NWARPID, 4},
	{"%smid", PTX_SMID, 4},
	{"%nsmid", PTX_NSMID, 4},
	{"%gridid", PTX_GRIDID, 8},
	{"%clock", PTX_CLOCK, 4},
	{"%clock_hi", PTX_NOTHING, 4},
	{"%clock64", PTX_CLOCK64, 8},
	{"%globaltimer", PTX_CLOCK64, 8},
	{"%globaltimer_lo", PTX_CLOCK, 4},
	{"%lanemask_eq", PTX_LANEMASK_EQ, 4},
	{"%lanemask_le", PTX_LANEMASK_LE, 4},
	{"%lanemask_lt", PTX_LANEMASK_LT, 4},
	{"%lanemask_ge", PTX_LANEMASK_GE, 4},
	{"%lanemask_gt", PTX_LANEMASK_GT, 4},
	{"%dynamic_smem_size", PTX_DYNAMIC_SIZE, 4},
	{"%total_smem_size", PTX_TOTAL_SIZE, 4},
};

static int find_special(const char *name, size_t length, struct ptx_operand *operand)
{
	for (size_t i = 0; i < sizeof special_names / sizeof *special_names; i++) {
		const struct special_name *row = &special_names[i];
		if (strlen(row->name) != length || memcmp(row->name, name, length) != 0)
			continue;
		memset(operand, 0, sizeof *operand);
		operand->kind = PTX_OPERAND_REGISTER;
		operand->place = (int32_t)row->special * PTX_SLOT;
		operand->size = row->size;
		return 1;
	}
	return 0;
}

/* The number at the end of NAME12, if the register is declared as NAME<n>. */
static int numbered(const struct ptx_register *declared, const char *name, size_t length,
		    uint32_t *number)
{
	*number = 0;
	if (!declared->count)
		return declared->length == length && memcmp(declared->name, name, length) == 0;
	if (length <= declared->length || length > declared->length + 6 ||
	    memcmp(declared->name, name, declared->length) != 0)
		return 0;
	for (size_t i = declared->length; i < length; i++) {
		if (name[i] < '0' || name[i] > '9')
			return 0;
		*number = *number * 10 + (uint32_t)(name[i] - '0');
	}
	return *number < declared->count;
}

int ptx_find_register(struct ptx_reader *reader, const char *name, size_t length,
		      struct ptx_operand *operand)
{
	uint32_t number;
	for (size_t i = reader->register_count; i-- > 0;) {
		const struct ptx_register *declared = &reader->registers[i];
		if (!numbered(declared, name, length, &number))
			continue;
		memset(operand, 0, sizeof *operand);
		operand->kind = PTX_OPERAND_REGISTER;
		operand->size = declared->size;
		operand->predicate = declared->predicate;
		operand->place = declared->place +
				 (int32_t)(number * ptx_align(declared->size * PTX_LANES, 64));
		return 1;
	}
	return 0;
}

const struct ptx_symbol *ptx_find_symbol(const struct ptx_reader *reader, const char *name,
					 size_t length)
{
	for (size_t i = reader->symbol_count; i-- > 0;)
		if (strlen(reader->symbols[i].name) == length &&
		    memcmp(reader->symbols[i].name, name, length) == 0)
			return &reader->symbols[i];
	const struct ptx_module *module = reader->module;
	for (size_t i = module->symbol_count; i-- > 0;)
		if (strlen(module->symbols[i].name) == length &&
		    memcmp(module->symbols[i].name, name, length) == 0)
			return &module->symbols[i];
	return NULL;
}

/* -5, 0x10, 0f3F800000; the sign belongs to the number. */
static int read_number(struct ptx_reader *reader, struct ptx_operand *operand)
{
	int negative = ptx_accept(reader, '-');
	operand->kind = PTX_OPERAND_NUMBER;
	if (reader->lexer.token != PTX_INTEGER && reader->lexer.token != PTX_FLOAT)
		return ptx_refuse(reader, "a number is expected before '%.*s'",
				  (int)reader->lexer.length, reader->lexer.text);
	operand->number = reader->lexer.number;
	operand->floating = reader->lexer.token == PTX_FLOAT;
	operand->single = operand->floating && reader->lexer.single;
	if (negative && operand->floating)
		operand->number ^= 1ull << (operand->single ? 31 : 63);
	else if (negative)
		operand->number = 0 - operand->number;
	ptx_next_token(&reader->lexer);
	return 1;
}

/* name, name+4, name-4: a register, a variable, a function or a label. */
static int read_name(struct ptx_reader *reader, struct ptx_operand *operand)
{
	const char *text = reader->lexer.text;
	size_t length = reader->lexer.length;
	ptx_next_token(&reader->lexer);
	if (ptx_find_register(reader, text, length, operand) || find_special(text, length, operand))
		return 1;
	if (length == 1 && *text == '_') {
		operand->kind = PTX_OPERAND_SINK;
		return 1;
	}
	operand->kind = PTX_OPERAND_NAME;
	operand->text = text;
	operand->length = length;
	operand->symbol = ptx_find_symbol(reader, text, length);
	operand->function = ptx_find_function(reader->module, text, length);
	if (operand->symbol)
		operand->kind = PTX_OPERAND_SYMBOL;
	else if (*text == '%')
		return ptx_refuse(reader, "unknown register '%.*s'", (int)length, text);
	return 1;
}

static int read_offset(struct ptx_reader *reader, struct ptx_operand *operand)
{
	if (!ptx_is_sign(&reader->lexer, '+') && !ptx_is_sign(&reader->lexer, '-'))
		return 1;
	struct ptx_operand number = {0};
	(void)ptx_accept(reader, '+');
	if (!read_number(reader, &number))
		return 0;
	operand->offset = (int64_t)number.number;
	return 1;
}

/* [register+offset], [variable+offset], [number] */
static int read_address(struct ptx_reader *reader, struct ptx_operand *operand)
{
	struct ptx_operand base = {0};
	if (reader->lexer.token == PTX_WORD) {
		if (!read_name(reader, &base))
			return 0;
		*operand = base;
		if (base.kind == PTX_OPERAND_NAME)
			return ptx_refuse(reader, "unknown variable '%.*s'", (int)base.length,
					  base.text);
	} else {
		if (!read_number(reader, &base))
			return 0;
		operand->offset = (int64_t)base.number;
	}
	if (!read_offset(reader, operand))
		return 0;
	operand->kind = PTX_OPERAND_ADDRESS;
	return ptx_expect(reader, ']');
}

static int read_operand(struct ptx_reader *reader, unsigned *index, unsigned depth);

/* {a, b} or (a, b): the elements follow one another in the list of operands. */
static int read_elements(struct ptx_reader *reader, struct ptx_operand *operand, char close,
			 unsigned depth)
{
	unsigned list[PTX_VECTOR * 2], n = 0;
	while (!ptx_is_sign(&reader->lexer, close)) {
		if (n == sizeof list / sizeof *list || depth > 2)
			return ptx_refuse(reader, "too many elements");
		if (!read_operand(reader, &list[n++], depth + 1))
			return 0;
		if (!ptx_accept(reader, ','))
			break;
	}
	if (!ptx_expect(reader, close))
		return 0;
	if (reader->operand_count + n > PTX_OPERANDS)
		return ptx_refuse(reader, "too many operands");
	operand->first = reader->operand_count;
	operand->count = n;
	for (unsigned i = 0; i < n; i++)
		reader->operands[reader->operand_count++] = reader->operands[list[i]];
	return 1;
}

/* p|q */
static int read_second(struct ptx_reader *reader, unsigned index)
{
	if (reader->operand_count + 2 > PTX_OPERANDS)
		return ptx_refuse(reader, "too many operands");
	struct ptx_operand second = {0};
	if (reader->lexer.token != PTX_WORD || !read_name(reader, &second))
		return ptx_refuse(reader, "a second result is expected");
	unsigned first = reader->operand_count;
	reader->operands[first] = reader->operands[index];
	reader->operands[first + 1] = second;
	reader->operand_count += 2;
	struct ptx_operand pair = {.kind = PTX_OPERAND_PAIR, .first = first, .count = 2};
	reader->operands[index] = pair;
	return 1;
}

static int read_into(struct ptx_reader *reader, struct ptx_operand *operand, unsigned depth)
{
	if (ptx_accept(reader, '[')) {
		return read_address(reader, operand);
	}
	if (ptx_accept(reader, '{')) {
		operand->kind = PTX_OPERAND_VECTOR;
		return read_elements(reader, operand, '}', depth);
	}
	if (ptx_accept(reader, '(')) {
		operand->kind = PTX_OPERAND_LIST;
		return read_elements(reader, operand, ')', depth);
	}
	int negated = ptx_accept(reader, '!');
	if (reader->lexer.token == PTX_WORD) {
		int fine = read_name(reader, operand);
		operand->negated = (uint8_t)negated;
		return fine &&
		       (operand->kind != PTX_OPERAND_SYMBOL || read_offset(reader, operand));
	}
	return read_number(reader, operand);
}

static int read_operand(struct ptx_reader *reader, unsigned *index, unsigned depth)
{
	if (reader->operand_count == PTX_OPERANDS)
		return ptx_refuse(reader, "too many operands");
	*index = reader->operand_count++;
	struct ptx_operand operand;
	memset(&operand, 0, sizeof operand);
	if (!read_into(reader, &operand, depth))
		return 0;
	reader->operands[*index] = operand;
	return !ptx_accept(reader, '|') || read_second(reader, *index);
}

int ptx_read_operands(struct ptx_reader *reader)
{
	struct ptx_instruction *now = &reader->now;
	while (!ptx_is_sign(&reader->lexer, ';')) {
		if (now->operands == PTX_TOP)
			return ptx_refuse(reader, "an instruction has too many operands");
		if (!read_operand(reader, &now->operand[now->operands], 0))
			return 0;
		now->operands++;
		if (!ptx_accept(reader, ','))
			break;
	}
	return 1;
}
