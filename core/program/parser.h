/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the files of the parser share: parser.c (statements and expressions), typing.c (operators over
 * typed and untyped terms) and functions.c (calls).
 *
 * The first failure is kept: tn_parse_fail records it and puts the end of the text where the parser
 * reads next, so that every loop ends by itself.
 */
#ifndef TN_PROGRAM_PARSER_H
#define TN_PROGRAM_PARSER_H

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

struct tn_scope {
	struct tn_binding *bindings; /* outputs come first: once set, they hide inputs */
	uint32_t n_bindings;
};

struct tn_parser {
	struct tn_lexer lexer;
	struct tn_token token; /* what is read next */
	struct tn_builder builder;
	struct tn_scope scope;
	struct tn_error_info *error;
	tn_status status;
	unsigned depth;              /* of the expression */
	unsigned parentheses;        /* open ones: newlines inside are blanks */
	const struct tn_token *call; /* inside the formula of a function: its name in the text */
};

/* ---- parser.c */

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
struct tn_term tn_parse_expression(struct tn_parser *parser);
/* The token as it stands in a message: 'name', the end of the line, ... */
const char *tn_token_text(const struct tn_token *token, char *buffer, size_t size);

/* ---- typing.c: each takes the token to blame */

tn_dtype tn_term_dtype(const struct tn_parser *parser, struct tn_term term);
/* Its dtype's name; "number" for a literal. */
const char *tn_term_type(const struct tn_parser *parser, struct tn_term term);
struct tn_term tn_literal_integer(struct tn_parser *parser, int64_t integer);
struct tn_term tn_literal_real(struct tn_parser *parser, double real);

/* The value as `dtype`; a literal must fit it. */
tn_value tn_term_as(struct tn_parser *parser, const struct tn_token *token, struct tn_term term,
		    tn_dtype dtype);
/* The same as an explicit cast does it: nothing has to fit. */
tn_value tn_term_cast(struct tn_parser *parser, struct tn_term term, tn_dtype dtype);
/* A literal in its own right: i32 (i64 when it does not fit) or f32. */
struct tn_term tn_term_settle(struct tn_parser *parser, struct tn_term term);

/* Brings n terms to one dtype and gives it; all literals stay literals, of i64 or f64. */
tn_dtype tn_terms_unify(struct tn_parser *parser, const struct tn_token *token, int n,
			struct tn_term *terms);
/* The same, with integers and booleans going to f32. */
tn_dtype tn_terms_unify_floating(struct tn_parser *parser, const struct tn_token *token, int n,
				 struct tn_term *terms);
/* op over n unified terms; the result has their dtype, or bool for a comparison. */
struct tn_term tn_term_apply(struct tn_parser *parser, uint16_t op, int n,
			     const struct tn_term *terms);

struct tn_term tn_type_unary(struct tn_parser *parser, const struct tn_token *token, uint16_t op,
			     struct tn_term a);
/* Arithmetic, comparison, bits and shifts. */
struct tn_term tn_type_binary(struct tn_parser *parser, const struct tn_token *token, uint16_t op,
			      struct tn_term a, struct tn_term b);
/* && and ||: of the operands' truth. */
struct tn_term tn_type_logical(struct tn_parser *parser, const struct tn_token *token, uint16_t op,
			       struct tn_term a, struct tn_term b);
struct tn_term tn_type_not(struct tn_parser *parser, const struct tn_token *token,
			   struct tn_term a);
struct tn_term tn_type_select(struct tn_parser *parser, const struct tn_token *token,
			      struct tn_term condition, struct tn_term yes, struct tn_term no);
struct tn_term tn_type_power(struct tn_parser *parser, const struct tn_token *token,
			     struct tn_term a, struct tn_term b);

/* ---- functions.c */

/* Reads the arguments of a call of `name` and types it; the next token is '('. */
struct tn_term tn_parse_call(struct tn_parser *parser, const struct tn_token *name);
/* The k-th name of a function, or NULL; names may repeat. */
const char *tn_function_name(size_t k);

/* ---- suggest.c */

/* Writes "; did you mean 'NAME'?" when a known name, constant or function is near, else "". */
const char *tn_suggest(const struct tn_parser *parser, const struct tn_token *name, char *buffer,
		       size_t size);

#endif
