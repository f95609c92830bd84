/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The body of a function: scopes, labels, instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx_control.h"
#include "ptx_decode.h"

#define MOST_PLACES (1 << 28)
#define MOST_DEPTH 64

/* The place of a new register; places are whole vectors apart. */
int32_t ptx_new_place(struct ptx_reader *reader, size_t size)
{
	size_t bytes = ptx_align(size * PTX_LANES, 64);
	int32_t place = reader->next_place;
	if (place > MOST_PLACES) {
		ptx_refuse(reader, "too many registers");
		return place;
	}
	reader->next_place += (int32_t)bytes;
	return place;
}

int ptx_in_scope(const struct ptx_reader *reader, uint32_t scope, uint32_t from)
{
	while (from > scope)
		from = reader->scope_parent[from];
	return from == scope;
}

static int open_scope(struct ptx_reader *reader)
{
	uint32_t *parents = ptx_grow(reader->scope_parent, &reader->scope_capacity,
				     reader->scopes + 1, sizeof *parents);
	if (!parents)
		return ptx_refuse(reader, "out of memory");
	reader->scope_parent = parents;
	if (++reader->depth > MOST_DEPTH)
		return ptx_refuse(reader, "scopes are nested too deep");
	parents[reader->scopes] = reader->scope;
	reader->scope = (uint32_t)reader->scopes++;
	return 1;
}

/* Names of this scope are dropped; labels stay, for earlier jumps. */
static void close_scope(struct ptx_reader *reader)
{
	while (reader->register_count &&
	       reader->registers[reader->register_count - 1].scope == reader->scope)
		reader->register_count--;
	while (reader->symbol_count &&
	       reader->symbols[reader->symbol_count - 1].scope == reader->scope)
		reader->symbol_count--;
	reader->scope = reader->scope_parent[reader->scope];
	reader->depth--;
}

static int add_label(struct ptx_reader *reader, const char *name, size_t length)
{
	struct ptx_label *list = ptx_grow(reader->labels, &reader->label_capacity,
					  reader->label_count + 1, sizeof *list);
	if (!list)
		return ptx_refuse(reader, "out of memory");
	reader->labels = list;
	struct ptx_label label = {.name = name,
				  .length = length,
				  .scope = reader->scope,
				  .step = (uint32_t)reader->module->step_count};
	list[reader->label_count++] = label;
	return 1;
}

static int same_name(const char *a, size_t length_a, const char *b, size_t length_b)
{
	return length_a == length_b && memcmp(a, b, length_a) == 0;
}

/* The innermost label of that name that can be seen from there. */
static const struct ptx_label *find_label(const struct ptx_reader *reader,
					  const struct ptx_fixup *fixup)
{
	const struct ptx_label *best = NULL;
	for (size_t i = 0; i < reader->label_count; i++) {
		const struct ptx_label *label = &reader->labels[i];
		if (same_name(label->name, label->length, fixup->name, fixup->length) &&
		    ptx_in_scope(reader, label->scope, fixup->scope) &&
		    (!best || label->scope > best->scope))
			best = label;
	}
	return best;
}

static int resolve(struct ptx_reader *reader)
{
	for (size_t i = 0; i < reader->fixup_count; i++) {
		const struct ptx_fixup *fixup = &reader->fixups[i];
		const struct ptx_label *label = find_label(reader, fixup);
		if (!label) {
			reader->lexer.line = fixup->line;
			return ptx_refuse(reader, "unknown label '%.*s'", (int)fixup->length,
					  fixup->name);
		}
		*fixup->target = label->step;
	}
	return 1;
}

/* The names of a thread's own parameters and results in a device function's body, and in a
 * kernel's. */
static int add_parameters(struct ptx_reader *reader, struct ptx_parameter *list, size_t count,
			  size_t bytes)
{
	struct ptx_function *function = reader->function;
	reader->next_local = ptx_align(reader->next_local, 16);
	for (size_t i = 0; i < count; i++) {
		struct ptx_symbol symbol = {.name = list[i].name,
					    .space = function->is_entry ? PTX_PARAMETER : PTX_LOCAL,
					    .offset = list[i].offset,
					    .size = list[i].size};
		if (!function->is_entry)
			symbol.offset = list[i].offset += reader->next_local;
		if (!ptx_add_symbol(reader, &symbol))
			return 0;
	}
	reader->next_local += function->is_entry ? 0 : bytes;
	return 1;
}

static size_t bytes_of(const struct ptx_parameter *list, size_t count)
{
	return count ? list[count - 1].offset + list[count - 1].size : 0;
}

static void start(struct ptx_reader *reader, struct ptx_function *function)
{
	const char *end = reader->module->text + strlen(reader->module->text);
	ptx_lex_start(&reader->lexer, function->body, (size_t)(end - function->body),
		      function->body_line);
	ptx_next_token(&reader->lexer);
	reader->function = function;
	reader->scopes = 0;
	reader->scope = 0;
	reader->depth = 0;
	reader->register_count = reader->symbol_count = reader->label_count = 0;
	reader->fixup_count = 0;
	reader->scratch_made = 0;
	function->entry = (uint32_t)reader->module->step_count;
}

static int skip_statement(struct ptx_reader *reader)
{
	while (!ptx_is_sign(&reader->lexer, ';')) {
		if (reader->lexer.token == PTX_END)
			return ptx_refuse(reader, "';' is expected");
		ptx_next_token(&reader->lexer);
	}
	ptx_next_token(&reader->lexer);
	return 1;
}

/* .loc 1 12 5, function_name $L__info, inlined_at 1 3 4: to the end of its line. */
static int skip_line(struct ptx_reader *reader)
{
	while (reader->lexer.at < reader->lexer.end && *reader->lexer.at != '\n')
		reader->lexer.at++;
	ptx_next_token(&reader->lexer);
	return 1;
}

static int read_directive(struct ptx_reader *reader)
{
	struct ptx_lexer *lexer = &reader->lexer;
	if (ptx_is_word(lexer, ".reg"))
		return ptx_read_registers(reader);
	if (ptx_is_word(lexer, ".param"))
		return ptx_read_local_parameter(reader);
	if (ptx_is_word(lexer, ".local"))
		return ptx_read_variable(reader, PTX_LOCAL, 0);
	if (ptx_is_word(lexer, ".shared"))
		return ptx_read_variable(reader, PTX_SHARED, 0);
	if (ptx_is_word(lexer, ".extern")) {
		ptx_next_token(lexer);
		return ptx_is_word(lexer, ".shared") ? ptx_read_variable(reader, PTX_SHARED, 1)
						     : ptx_refuse(reader, "unknown: .extern");
	}
	if (ptx_is_word(lexer, ".pragma") || ptx_is_word(lexer, ".callprototype"))
		return skip_statement(reader);
	if (ptx_is_word(lexer, ".branchtargets"))
		return ptx_read_targets(reader, reader->labels + reader->label_count - 1);
	if (ptx_is_word(lexer, ".loc"))
		return skip_line(reader);
	return ptx_refuse(reader, "unknown directive '%.*s'", (int)lexer->length, lexer->text);
}

/* @%p or @!%p */
static int read_guard(struct ptx_reader *reader)
{
	struct ptx_operand operand;
	ptx_next_token(&reader->lexer);
	reader->now.guard_not = ptx_accept(reader, '!');
	if (reader->lexer.token != PTX_WORD ||
	    !ptx_find_register(reader, reader->lexer.text, reader->lexer.length, &operand) ||
	    !operand.predicate)
		return ptx_refuse(reader, "'%.*s' is no predicate", (int)reader->lexer.length,
				  reader->lexer.text);
	reader->now.guard = operand.place;
	ptx_next_token(&reader->lexer);
	return 1;
}

static int split_opcode(struct ptx_reader *reader)
{
	struct ptx_instruction *now = &reader->now;
	if (reader->lexer.length >= sizeof now->text)
		return ptx_refuse(reader, "an opcode is too long");
	memcpy(now->text, reader->lexer.text, reader->lexer.length);
	now->text[reader->lexer.length] = '\0';
	memcpy(now->split, now->text, sizeof now->split);
	now->parts = 0;
	for (char *at = now->split; at; at = strchr(at, '.')) {
		if (*at == '.')
			*at++ = '\0';
		if (now->parts == PTX_PARTS)
			return ptx_refuse(reader, "an opcode has too many parts");
		now->part[now->parts++] = at;
	}
	return 1;
}

static int read_instruction(struct ptx_reader *reader)
{
	memset(&reader->now, 0, sizeof reader->now);
	reader->now.line = reader->lexer.line;
	reader->operand_count = reader->scratch_used = reader->pending_count = 0;
	if (ptx_is_sign(&reader->lexer, '@') && !read_guard(reader))
		return 0;
	if (reader->lexer.token != PTX_WORD)
		return ptx_refuse(reader, "an opcode is expected before '%.*s'",
				  (int)reader->lexer.length, reader->lexer.text);
	if (!split_opcode(reader))
		return 0;
	if (!ptx_knows(reader->now.part[0]))
		return ptx_refuse(reader, "unknown opcode '%s'", reader->now.text);
	ptx_next_token(&reader->lexer);
	if (!ptx_read_operands(reader) || !ptx_decode(reader))
		return 0;
	reader->function->instructions++;
	return ptx_expect(reader, ';');
}

/* A name with a colon is a label, any other begins an instruction. */
static int read_word(struct ptx_reader *reader)
{
	struct ptx_lexer saved = reader->lexer;
	ptx_next_token(&reader->lexer);
	if (ptx_accept(reader, ':'))
		return add_label(reader, saved.text, saved.length);
	reader->lexer = saved;
	return read_instruction(reader);
}

static int read_statement(struct ptx_reader *reader)
{
	if (ptx_accept(reader, '{'))
		return open_scope(reader);
	if (ptx_accept(reader, ';'))
		return 1;
	if (reader->lexer.token == PTX_DIRECTIVE)
		return read_directive(reader);
	if (reader->lexer.token == PTX_WORD)
		return read_word(reader);
	return read_instruction(reader);
}

int ptx_read_body(struct ptx_reader *reader, struct ptx_function *function)
{
	start(reader, function);
	ptx_next_token(&reader->lexer);
	if (!open_scope(reader) ||
	    !add_parameters(reader, function->parameters, function->parameter_count,
			    function->parameter_bytes) ||
	    !add_parameters(reader, function->results, function->result_count,
			    bytes_of(function->results, function->result_count)))
		return 0;
	while (reader->depth) {
		if (ptx_is_sign(&reader->lexer, '}')) {
			close_scope(reader);
			if (reader->depth)
				ptx_next_token(&reader->lexer);
		} else if (!read_statement(reader)) {
			return 0;
		}
	}
	/* Running off the end leaves the function. */
	memset(&reader->now, 0, sizeof reader->now);
	reader->now.line = reader->lexer.line;
	if (!ptx_action_step(reader, ptx_return, NULL) || !resolve(reader))
		return 0;
	function->end = (uint32_t)reader->module->step_count;
	function->register_bytes = (uint32_t)reader->next_place;
	function->local_bytes = reader->next_local;
	function->shared_bytes = reader->next_shared;
	reader->function = NULL;
	reader->scope = 0;
	return 1;
}
