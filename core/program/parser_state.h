/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Where the parser reads: the token that is next, the names that it knows, and the first failure.
 *
 * The first failure is kept: tn_parse_fail records it and puts the end of the text where the parser
 * reads next, so that every loop ends by itself.
 */
#ifndef TN_PROGRAM_PARSER_STATE_H
#define TN_PROGRAM_PARSER_STATE_H

#include <tenon/program.h>

#include "program/builder.h"
#include "program/lexer.h"

/* A value, or a literal: an untyped number (a constant of i64 or f64) that takes its type from what
 * it meets. */
struct tn_term {
	tn_value value;
	uint16_t is_literal;
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
	int is_set; /* an output is, once it was assigned */
	struct tn_term term;
};

#define TN_MAX_BINDINGS 512
/* What its errors name. */
#define TN_PARSE_OPERATION "program_parse"

struct tn_bindings {
	struct tn_binding *bindings; /* outputs come first: once set, they hide inputs */
	uint32_t n_bindings;
};

struct tn_parser {
	struct tn_lexer lexer;
	struct tn_token token; /* what is read next */
	struct tn_builder builder;
	struct tn_bindings scope;
	struct tn_error_info *error;
	tn_status status;
	unsigned depth;              /* of the expression */
	unsigned parentheses;        /* open ones: newlines inside are blanks */
	const struct tn_token *call; /* inside the formula of a function: its name in the text */
};

/* Keeps the failure, if it is the first, with the token's place before the text. */
struct tn_term tn_parse_fail(struct tn_parser *parser, const struct tn_token *token,
			     tn_status status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* "expected EXPECTED, found TOKEN" at the token that is read next. */
struct tn_term tn_parse_expected(struct tn_parser *parser, const char *expected);
/* Reads the next token. */
void tn_parse_advance(struct tn_parser *parser);
/* Is the next token this symbol? */
int tn_parse_sees(const struct tn_parser *parser, uint32_t symbol);
/* The token as it stands in a message: 'name', the end of the line, ... */
const char *tn_token_text(const struct tn_token *token, char *buffer, size_t size);

#endif
