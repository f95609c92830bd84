/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The tokens of a program's text.  Any bytes are accepted; invalid ones become a token of their own
 * kind, which the parser refuses with its position.
 */
#ifndef TN_PROGRAM_LEXER_H
#define TN_PROGRAM_LEXER_H

#include <locale.h>
#include <stddef.h>
#include <stdint.h>

enum tn_token_kind {
	TN_TOKEN_END,
	TN_TOKEN_NEWLINE,
	TN_TOKEN_NAME,
	TN_TOKEN_INTEGER,
	TN_TOKEN_REAL,
	TN_TOKEN_SYMBOL,
	TN_TOKEN_BAD, /* `complaint` has the reason */
};

/* A symbol of up to three characters as a number. */
#define TN_SYMBOL(a, b, c) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16)

struct tn_token {
	enum tn_token_kind kind;
	uint32_t symbol; /* TN_SYMBOL('<', '=', 0) */
	const char *start;
	size_t length;
	unsigned line, column; /* from 1; a column is a byte */
	int64_t integer;       /* hexadecimal: up to 64 bits, unchanged */
	double real;
	const char *complaint;
};

struct tn_lexer {
	const char *position; /* NUL-terminated */
	const char *line_start;
	unsigned line;
	locale_t locale; /* the "C" locale: '.' is the decimal point whatever the program's is */
};

void tn_lexer_init(struct tn_lexer *lexer, const char *text, locale_t locale);
void tn_lexer_next(struct tn_lexer *lexer, struct tn_token *token);

/* Is it an ASCII letter or '_', the start of a name?  Or, in the second, a digit as well? */
int tn_starts_name(char c);
int tn_continues_name(char c);

#endif
