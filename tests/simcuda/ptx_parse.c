/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A module: its declarations first, then the bodies of device functions, then those of kernels,
 * whose registers follow all others.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_reader.h"

int ptx_refuse(struct ptx_reader *reader, const char *format, ...)
{
	va_list list;
	if (reader->refused)
		return 0;
	reader->refused = 1;
	int n = snprintf(reader->message, reader->capacity, "line %u: ", reader->lexer.line);
	if (n < 0 || (size_t)n >= reader->capacity)
		return 0;
	va_start(list, format);
	vsnprintf(reader->message + n, reader->capacity - (size_t)n, format, list);
	va_end(list);
	return 0;
}

static struct ptx_function *declare_function(struct ptx_reader *reader, const char *name,
					     size_t length)
{
	struct ptx_module *module = reader->module;
	struct ptx_function *function = ptx_find_function(module, name, length);
	if (function)
		return function;
	struct ptx_function **list =
		realloc(module->functions, (module->function_count + 1) * sizeof *list);
	if (!list)
		return NULL;
	module->functions = list;
	function = ptx_keep(module, sizeof *function);
	if (!function)
		return NULL;
	function->name = ptx_keep_text(module, name, length);
	function->module = module;
	list[module->function_count++] = function;
	return function->name ? function : NULL;
}

/* (parameters): how many, and their bytes laid out one after another. */
static int read_parameters(struct ptx_reader *reader, struct ptx_parameter **parameters,
			   size_t *count, size_t *bytes)
{
	struct ptx_parameter list[256];
	size_t n = 0;
	*bytes = 0;
	memset(list, 0, sizeof list);
	if (!ptx_expect(reader, '('))
		return 0;
	while (!ptx_is_sign(&reader->lexer, ')')) {
		if (n == 256)
			return ptx_refuse(reader, "more than 256 parameters");
		if (!ptx_read_parameter(reader, &list[n++], bytes))
			return 0;
		if (!ptx_accept(reader, ','))
			break;
	}
	if (!ptx_expect(reader, ')'))
		return 0;
	*parameters = ptx_keep(reader->module, (n + 1) * sizeof **parameters);
	if (!*parameters)
		return ptx_refuse(reader, "out of memory");
	memcpy(*parameters, list, n * sizeof *list);
	*count = n;
	return 1;
}

/* From { to its }, which the body's own pass reads. */
static int skip_body(struct ptx_reader *reader)
{
	unsigned depth = 0;
	do {
		depth += (unsigned)ptx_is_sign(&reader->lexer, '{');
		depth -= (unsigned)ptx_is_sign(&reader->lexer, '}');
		if (reader->lexer.token == PTX_END)
			return ptx_refuse(reader, "a function's body has no end");
		ptx_next_token(&reader->lexer);
	} while (depth);
	return 1;
}

static int read_body_or_none(struct ptx_reader *reader, struct ptx_function *function)
{
	/* .maxntid 256, 1, 1 and similar affect only the assembler. */
	while (!ptx_is_sign(&reader->lexer, '{') && !ptx_is_sign(&reader->lexer, ';')) {
		if (reader->lexer.token == PTX_END)
			return ptx_refuse(reader, "a function without a body");
		ptx_next_token(&reader->lexer);
	}
	if (ptx_accept(reader, ';'))
		return 1;
	if (function->body)
		return ptx_refuse(reader, "%s has a second body", function->name);
	function->body = reader->lexer.text;
	function->body_line = reader->lexer.line;
	return skip_body(reader);
}

static int read_function(struct ptx_reader *reader, int is_entry)
{
	struct ptx_parameter *results = NULL, *parameters = NULL;
	size_t result_count = 0, parameter_count = 0, bytes = 0, parameter_bytes = 0;
	ptx_next_token(&reader->lexer);
	if (!is_entry && ptx_is_sign(&reader->lexer, '(') &&
	    !read_parameters(reader, &results, &result_count, &bytes))
		return 0;
	if (reader->lexer.token != PTX_WORD)
		return ptx_refuse(reader, "a function's name is expected");
	struct ptx_function *function =
		declare_function(reader, reader->lexer.text, reader->lexer.length);
	if (!function)
		return ptx_refuse(reader, "out of memory");
	ptx_next_token(&reader->lexer);
	if (ptx_is_sign(&reader->lexer, '(') &&
	    !read_parameters(reader, &parameters, &parameter_count, &parameter_bytes))
		return 0;
	function->is_entry = is_entry;
	function->parameters = parameters;
	function->parameter_count = parameter_count;
	function->parameter_bytes = parameter_bytes;
	function->results = results;
	function->result_count = result_count;
	return read_body_or_none(reader, function);
}

static int skip_to(struct ptx_reader *reader, char sign)
{
	while (!ptx_is_sign(&reader->lexer, sign)) {
		if (reader->lexer.token == PTX_END)
			return ptx_refuse(reader, "'%c' is expected", sign);
		ptx_next_token(&reader->lexer);
	}
	ptx_next_token(&reader->lexer);
	return 1;
}

/* .version 9.0, .target sm_90, .address_size 64, .file 1 "name": up to the next directive. */
static int skip_words(struct ptx_reader *reader)
{
	if (ptx_is_word(&reader->lexer, ".address_size")) {
		ptx_next_token(&reader->lexer);
		if (reader->lexer.token != PTX_INTEGER || reader->lexer.number != 64)
			return ptx_refuse(reader, "addresses have 64 bits");
	}
	do
		ptx_next_token(&reader->lexer);
	while (reader->lexer.token != PTX_DIRECTIVE && reader->lexer.token != PTX_END);
	return 1;
}

static int read_declaration(struct ptx_reader *reader)
{
	struct ptx_lexer *lexer = &reader->lexer;
	int is_extern = 0;
	while (ptx_is_word(lexer, ".visible") || ptx_is_word(lexer, ".extern") ||
	       ptx_is_word(lexer, ".weak") || ptx_is_word(lexer, ".common")) {
		is_extern |= ptx_is_word(lexer, ".extern");
		ptx_next_token(lexer);
	}
	if (ptx_is_word(lexer, ".entry"))
		return read_function(reader, 1);
	if (ptx_is_word(lexer, ".func"))
		return read_function(reader, 0);
	if (ptx_is_word(lexer, ".global"))
		return ptx_read_variable(reader, PTX_GLOBAL, is_extern);
	if (ptx_is_word(lexer, ".const"))
		return ptx_read_variable(reader, PTX_CONSTANT, is_extern);
	if (ptx_is_word(lexer, ".shared"))
		return ptx_read_variable(reader, PTX_SHARED, is_extern);
	if (ptx_is_word(lexer, ".section"))
		return skip_to(reader, '}');
	if (ptx_is_word(lexer, ".pragma"))
		return skip_to(reader, ';');
	if (ptx_is_word(lexer, ".version") || ptx_is_word(lexer, ".target") ||
	    ptx_is_word(lexer, ".address_size") || ptx_is_word(lexer, ".file"))
		return skip_words(reader);
	return ptx_refuse(reader, "unknown directive '%.*s'", (int)lexer->length, lexer->text);
}

static int read_declarations(struct ptx_reader *reader)
{
	ptx_next_token(&reader->lexer);
	while (reader->lexer.token != PTX_END)
		if (!read_declaration(reader))
			return 0;
	return 1;
}

/* The bodies of device functions come first: their registers precede those of any kernel. */
static int read_bodies(struct ptx_reader *reader)
{
	struct ptx_module *module = reader->module;
	size_t most_shared = 0;
	for (size_t i = 0; i < module->function_count; i++)
		if (!module->functions[i]->is_entry && module->functions[i]->body &&
		    !ptx_read_body(reader, module->functions[i]))
			return 0;
	int32_t places = reader->next_place;
	size_t local = reader->next_local, shared = reader->next_shared;
	most_shared = shared;
	for (size_t i = 0; i < module->function_count; i++) {
		if (!module->functions[i]->is_entry || !module->functions[i]->body)
			continue;
		reader->next_place = places;
		reader->next_local = local;
		reader->next_shared = shared;
		if (!ptx_read_body(reader, module->functions[i]))
			return 0;
		if (reader->next_shared > most_shared)
			most_shared = reader->next_shared;
	}
	module->shared_bytes = ptx_align(most_shared, 16);
	return 1;
}

static int list_kernels(struct ptx_reader *reader)
{
	struct ptx_module *module = reader->module;
	module->kernels = ptx_keep(module, (module->function_count + 1) * sizeof *module->kernels);
	if (!module->kernels)
		return ptx_refuse(reader, "out of memory");
	for (size_t i = 0; i < module->function_count; i++)
		if (module->functions[i]->is_entry && module->functions[i]->body)
			module->kernels[module->kernel_count++].function = module->functions[i];
	return 1;
}

static void release_reader(struct ptx_reader *reader)
{
	free(reader->scope_parent);
	free(reader->registers);
	free(reader->symbols);
	free(reader->labels);
	free(reader->fixups);
	free(reader);
}

static struct ptx_reader *make_reader(const char *text, size_t length, char *message,
				      size_t capacity)
{
	struct ptx_reader *reader = calloc(1, sizeof *reader);
	if (!reader)
		return NULL;
	reader->module = calloc(1, sizeof *reader->module);
	reader->message = message;
	reader->capacity = capacity;
	reader->next_place = PTX_FIRST_PLACE;
	if (reader->module)
		reader->module->grain = 4;
	if (reader->module)
		reader->module->text = ptx_keep_text(reader->module, text, length);
	if (!reader->module || !reader->module->text) {
		ptx_free(reader->module);
		release_reader(reader);
		return NULL;
	}
	ptx_lex_start(&reader->lexer, reader->module->text, strlen(reader->module->text), 1);
	return reader;
}

struct ptx_module *ptx_parse(const char *text, size_t length, char *message, size_t capacity)
{
	struct ptx_reader *reader = make_reader(text, length, message, capacity);
	if (!reader) {
		snprintf(message, capacity, "out of memory");
		return NULL;
	}
	struct ptx_module *module = reader->module;
	if (!read_declarations(reader) || !read_bodies(reader) || !list_kernels(reader)) {
		ptx_free(module);
		module = NULL;
	}
	release_reader(reader);
	return module;
}
