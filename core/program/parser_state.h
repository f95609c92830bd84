/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parser's state: the next token, the declared names, and the first failure.
 *
 * The first failure is kept: tn_parse_fail records it and makes the end of the text the next token,
 * so that every loop ends.
 */
#ifndef TN_PROGRAM_PARSER_STATE_H
#define TN_PROGRAM_PARSER_STATE_H

#include <tenon/program.h>

#include "program/builder.h"
#include "program/lexer.h"

/* A value, or a literal: an untyped number (a constant of i64 or f64) that takes its type from the
 * other operand. */
struct tn_term {
	tn_value value;
	uint8_t is_literal;
	uint8_t is_u64; /* the value is an i64 with the bits of a u64 (unsigned64.h) */
};

enum tn_binding_kind {
	TN_BINDING_OUTPUT,
	TN_BINDING_INPUT,
	TN_BINDING_SCALAR,
	TN_BINDING_LOCAL,
};

struct tn_binding {
	const char *name;
	size_t length;
	enum tn_binding_kind kind;
	int is_set; /* for outputs: after an assignment */
	struct tn_term term;
};

#define TN_MAX_BINDINGS 512
/* The operation that its errors name. */
#define TN_PARSE_OPERATION "program_parse"

struct tn_bindings {
	struct tn_binding *bindings; /* outputs first: once set, they hide inputs */
	uint32_t n_bindings;
};

struct tn_parser {
	struct tn_lexer lexer;
	struct tn_token token; /* the next token */
	struct tn_builder builder;
	struct tn_bindings scope;
	struct tn_error_info *error;
	tn_status status;
	unsigned depth;              /* of the expression */
	unsigned parentheses;        /* the number of open ones: newlines inside are blanks */
	const struct tn_token *call; /* inside a function's formula: its name in the text */
};

/* Keeps the failure, if it is the first, with the token's position before the text. */
struct tn_term tn_parse_fail(struct tn_parser *parser, const struct tn_token *token,
			     tn_status status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* "expected EXPECTED, found TOKEN" at the next token. */
struct tn_term tn_parse_expected(struct tn_parser *parser, const char *expected);
/* Reads the next token. */
void tn_parse_advance(struct tn_parser *parser);
/* Is the next token this symbol? */
int tn_parse_sees(const struct tn_parser *parser, uint32_t symbol);
/* The token as messages show it: 'name', the end of the line, ... */
const char *tn_token_text(const struct tn_token *token, char *buffer, size_t size);

#endif
