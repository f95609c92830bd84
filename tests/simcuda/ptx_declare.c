/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Declarations: registers, variables with their first values, parameters.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx_decode.h"
#include "ptx_reader.h"

#define MOST_BYTES ((size_t)1 << 30)

/* The tokens between the space and the name of a variable. */
struct shape {
	const struct ptx_type *type;
	size_t alignment, vector;
};

size_t ptx_align(size_t offset, size_t alignment)
{
	return (offset + alignment - 1) / alignment * alignment;
}

int ptx_accept(struct ptx_reader *reader, char sign)
{
	if (!ptx_is_sign(&reader->lexer, sign))
		return 0;
	ptx_next_token(&reader->lexer);
	return 1;
}

int ptx_expect(struct ptx_reader *reader, char sign)
{
	if (ptx_accept(reader, sign))
		return 1;
	return ptx_refuse(reader, "'%c' is expected before '%.*s'", sign, (int)reader->lexer.length,
			  reader->lexer.text);
}

static int read_alignment(struct ptx_reader *reader, struct shape *shape)
{
	ptx_next_token(&reader->lexer);
	size_t n = (size_t)reader->lexer.number;
	if (reader->lexer.token != PTX_INTEGER || n == 0 || n > 256 || (n & (n - 1)))
		return ptx_refuse(reader, "an alignment is a power of two");
	shape->alignment = n;
	ptx_next_token(&reader->lexer);
	return 1;
}

/* .align 8 .v4 .f32, and hints about a pointer that change nothing. */
static int read_shape(struct ptx_reader *reader, struct shape *shape)
{
	struct ptx_lexer *lexer = &reader->lexer;
	memset(shape, 0, sizeof *shape);
	shape->vector = 1;
	while (lexer->token == PTX_DIRECTIVE) {
		if (ptx_is_word(lexer, ".align")) {
			if (!read_alignment(reader, shape))
				return 0;
			continue;
		}
		if (ptx_is_word(lexer, ".v2") || ptx_is_word(lexer, ".v4"))
			shape->vector = (size_t)(lexer->text[2] - '0');
		else if (ptx_is_word(lexer, ".attribute"))
			return ptx_refuse(reader, "unknown: .attribute of a variable");
		else if (ptx_find_type(lexer->text + 1, lexer->length - 1))
			shape->type = ptx_find_type(lexer->text + 1, lexer->length - 1);
		else if (!ptx_is_word(lexer, ".ptr") && !ptx_is_word(lexer, ".global") &&
			 !ptx_is_word(lexer, ".shared") && !ptx_is_word(lexer, ".const") &&
			 !ptx_is_word(lexer, ".local"))
			return ptx_refuse(reader, "unknown type '%.*s'", (int)lexer->length,
					  lexer->text);
		ptx_next_token(lexer);
	}
	if (!shape->type)
		return ptx_refuse(reader, "a type is expected");
	if (!shape->alignment)
		shape->alignment = shape->type->size * shape->vector;
	return 1;
}

/* [4][5] after a name; `[]` is 0 elements. */
static int read_extent(struct ptx_reader *reader, const struct shape *shape, size_t *bytes)
{
	size_t elements = shape->vector;
	while (ptx_accept(reader, '[')) {
		size_t n = 0;
		if (reader->lexer.token == PTX_INTEGER) {
			n = (size_t)reader->lexer.number;
			ptx_next_token(&reader->lexer);
		}
		if (n > MOST_BYTES || elements * n > MOST_BYTES)
			return ptx_refuse(reader, "a variable is too large");
		elements *= n;
		if (!ptx_expect(reader, ']'))
			return 0;
	}
	*bytes = elements * shape->type->size;
	return 1;
}

static int add_register(struct ptx_reader *reader, const struct ptx_type *type)
{
	struct ptx_register *list = ptx_grow(reader->registers, &reader->register_capacity,
					     reader->register_count + 1, sizeof *list);
	if (!list)
		return ptx_refuse(reader, "out of memory");
	reader->registers = list;
	struct ptx_register *made = &list[reader->register_count];
	memset(made, 0, sizeof *made);
	made->name = reader->lexer.text;
	made->length = reader->lexer.length;
	made->size = type->kind == 'p' ? 4 : type->size;
	made->predicate = type->kind == 'p';
	made->scope = reader->scope;
	ptx_next_token(&reader->lexer);
	if (ptx_accept(reader, '<')) {
		uint64_t n = reader->lexer.number;
		if (reader->lexer.token != PTX_INTEGER || n == 0 || n > 100000)
			return ptx_refuse(reader, "a number of registers is expected");
		made->count = (uint32_t)n;
		ptx_next_token(&reader->lexer);
		if (!ptx_expect(reader, '>'))
			return 0;
	}
	uint32_t many = made->count ? made->count : 1;
	reader->function->registers += many;
	made->place = ptx_new_place(reader, made->size);
	for (uint32_t i = 1; i < many; i++)
		ptx_new_place(reader, made->size);
	reader->register_count++;
	return !reader->refused;
}

/* .reg .b32 %r<5>, x; */
int ptx_read_registers(struct ptx_reader *reader)
{
	ptx_next_token(&reader->lexer);
	struct shape shape;
	if (!read_shape(reader, &shape))
		return 0;
	if (shape.vector != 1)
		return ptx_refuse(reader, "unknown: registers that are vectors");
	do {
		if (reader->lexer.token != PTX_WORD)
			return ptx_refuse(reader, "a register's name is expected");
		if (!add_register(reader, shape.type))
			return 0;
	} while (ptx_accept(reader, ','));
	return ptx_expect(reader, ';');
}

int ptx_add_symbol(struct ptx_reader *reader, const struct ptx_symbol *symbol)
{
	struct ptx_module *module = reader->module;
	int local = reader->function != NULL;
	size_t count = local ? reader->symbol_count : module->symbol_count;
	struct ptx_symbol *list =
		ptx_grow(local ? reader->symbols : module->symbols,
			 local ? &reader->symbol_capacity : &module->symbol_capacity, count + 1,
			 sizeof *list);
	if (!list)
		return ptx_refuse(reader, "out of memory");
	list[count] = *symbol;
	list[count].scope = reader->scope;
	if (local) {
		reader->symbols = list;
		reader->symbol_count++;
	} else {
		module->symbols = list;
		module->symbol_count++;
	}
	return 1;
}

/* The address of a variable or a function, as a number in another's first value. */
static int address_of(struct ptx_reader *reader, uint64_t *value)
{
	struct ptx_lexer *lexer = &reader->lexer;
	int generic = ptx_is_word(lexer, "generic");
	if (generic) {
		ptx_next_token(lexer);
		if (!ptx_expect(reader, '('))
			return 0;
	}
	const struct ptx_symbol *symbol = ptx_find_symbol(reader, lexer->text, lexer->length);
	if (symbol)
		*value = symbol->offset +
			 (symbol->space == PTX_SHARED && generic ? PTX_SHARED_WINDOW : 0);
	else if (!ptx_function_address(reader, lexer->text, lexer->length, value))
		return ptx_refuse(reader, "unknown name '%.*s'", (int)lexer->length, lexer->text);
	ptx_next_token(lexer);
	if (generic && !ptx_expect(reader, ')'))
		return 0;
	if (ptx_accept(reader, '+')) {
		*value += lexer->number;
		ptx_next_token(lexer);
	}
	return 1;
}

static int read_value(struct ptx_reader *reader, const struct ptx_type *type, uint64_t *value)
{
	struct ptx_lexer *lexer = &reader->lexer;
	int negative = ptx_accept(reader, '-');
	if (lexer->token == PTX_WORD)
		return address_of(reader, value);
	if (lexer->token != PTX_INTEGER && lexer->token != PTX_FLOAT)
		return ptx_refuse(reader, "a number is expected");
	*value = lexer->number;
	if (lexer->token == PTX_FLOAT)
		*value = ptx_float_bits(lexer->number, lexer->single, type);
	if (negative)
		*value = lexer->token == PTX_FLOAT ? *value ^ 1ull << (type->size * 8 - 1)
						   : 0 - *value;
	ptx_next_token(lexer);
	return 1;
}

static int read_values(struct ptx_reader *reader, const struct ptx_type *type, unsigned char *data,
		       size_t size, size_t *at, unsigned depth)
{
	if (ptx_accept(reader, '{')) {
		if (depth > 8)
			return ptx_refuse(reader, "first values are nested too deep");
		while (!ptx_is_sign(&reader->lexer, '}')) {
			if (!read_values(reader, type, data, size, at, depth + 1))
				return 0;
			if (!ptx_accept(reader, ','))
				break;
		}
		return ptx_expect(reader, '}');
	}
	uint64_t value;
	if (!read_value(reader, type, &value))
		return 0;
	if (size - *at < type->size)
		return ptx_refuse(reader, "more first values than elements");
	memcpy(data + *at, &value, type->size < 8 ? type->size : 8);
	*at += type->size;
	return 1;
}

static int place_variable(struct ptx_reader *reader, const char *name, size_t length, size_t bytes,
			  struct ptx_symbol *symbol)
{
	struct ptx_module *module = reader->module;
	struct ptx_variable *list = ptx_grow(module->variables, &module->variable_capacity,
					     module->variable_count + 1, sizeof *list);
	if (!list)
		return ptx_refuse(reader, "out of memory");
	module->variables = list;
	struct ptx_variable *variable = &list[module->variable_count];
	variable->name = ptx_keep_text(module, name, length);
	variable->data = ptx_keep(module, bytes < 256 ? 256 : bytes);
	variable->size = bytes;
	if (!variable->name || !variable->data)
		return ptx_refuse(reader, "out of memory");
	module->variable_count++;
	symbol->offset = (uint64_t)(uintptr_t)variable->data;
	return 1;
}

static int place_symbol(struct ptx_reader *reader, const struct shape *shape, size_t bytes,
			struct ptx_symbol *symbol)
{
	size_t *next = symbol->space == PTX_SHARED ? &reader->next_shared : &reader->next_local;
	symbol->size = bytes;
	if (symbol->is_extern)
		return 1;
	if (symbol->space == PTX_GLOBAL || symbol->space == PTX_CONSTANT)
		return place_variable(reader, symbol->name, strlen(symbol->name), bytes, symbol);
	*next = ptx_align(*next, shape->alignment);
	symbol->offset = *next;
	*next += bytes;
	return *next < MOST_BYTES || ptx_refuse(reader, "local or shared memory is too large");
}

/* .global .align 4 .u32 x = 7, y[3] = {1, 2, 3}; */
int ptx_read_variable(struct ptx_reader *reader, enum ptx_space space, int is_extern)
{
	struct shape shape;
	ptx_next_token(&reader->lexer);
	if (!read_shape(reader, &shape))
		return 0;
	do {
		size_t bytes = 0, at = 0;
		struct ptx_symbol symbol = {.space = space,
					    .is_extern = is_extern && space == PTX_SHARED};
		if (reader->lexer.token != PTX_WORD)
			return ptx_refuse(reader, "a variable's name is expected");
		symbol.name =
			ptx_keep_text(reader->module, reader->lexer.text, reader->lexer.length);
		ptx_next_token(&reader->lexer);
		if (!symbol.name || !read_extent(reader, &shape, &bytes) ||
		    !place_symbol(reader, &shape, bytes, &symbol) ||
		    !ptx_add_symbol(reader, &symbol))
			return ptx_refuse(reader, "out of memory");
		if (ptx_accept(reader, '=')) {
			if (space != PTX_GLOBAL && space != PTX_CONSTANT)
				return ptx_refuse(reader, "%s has a first value", symbol.name);
			if (!read_values(reader, shape.type,
					 (unsigned char *)(uintptr_t)symbol.offset, bytes, &at, 0))
				return 0;
		}
	} while (ptx_accept(reader, ','));
	return ptx_expect(reader, ';');
}

/* .param .align 8 .b8 name[32] */
int ptx_read_parameter(struct ptx_reader *reader, struct ptx_parameter *parameter, size_t *bytes)
{
	struct shape shape;
	if (!ptx_is_word(&reader->lexer, ".param"))
		return ptx_refuse(reader, "'.param' is expected before '%.*s'",
				  (int)reader->lexer.length, reader->lexer.text);
	ptx_next_token(&reader->lexer);
	if (!read_shape(reader, &shape))
		return 0;
	if (reader->lexer.token != PTX_WORD)
		return ptx_refuse(reader, "a parameter's name is expected");
	parameter->name = ptx_keep_text(reader->module, reader->lexer.text, reader->lexer.length);
	if (!parameter->name)
		return ptx_refuse(reader, "out of memory");
	ptx_next_token(&reader->lexer);
	if (!read_extent(reader, &shape, &parameter->size))
		return 0;
	parameter->offset = ptx_align(*bytes, shape.alignment);
	*bytes = parameter->offset + parameter->size;
	return *bytes < 65536 || ptx_refuse(reader, "parameters are too large");
}

/* .param in a body: parameters or results of a call, in the thread's local memory. */
int ptx_read_local_parameter(struct ptx_reader *reader)
{
	struct ptx_parameter parameter;
	reader->next_local = ptx_align(reader->next_local, 16);
	size_t bytes = 0;
	do {
		if (!ptx_read_parameter(reader, &parameter, &bytes))
			return 0;
		struct ptx_symbol symbol = {.name = parameter.name,
					    .space = PTX_LOCAL,
					    .offset = reader->next_local + parameter.offset,
					    .size = parameter.size};
		if (!ptx_add_symbol(reader, &symbol))
			return 0;
	} while (ptx_accept(reader, ','));
	reader->next_local += bytes;
	return ptx_expect(reader, ';');
}
