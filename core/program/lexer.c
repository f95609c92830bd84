/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Splits a program's text into tokens, with the line and column of each.
 */
#include "program/lexer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/float_modes.h"

int tn_starts_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int tn_continues_name(char c)
{
	return tn_starts_name(c) || is_digit(c);
}

void tn_lexer_init(struct tn_lexer *lexer, const char *text, locale_t locale)
{
	*lexer = (struct tn_lexer){text, text, 1, locale};
}

static void count_line(struct tn_lexer *lexer)
{
	lexer->line++;
	lexer->line_start = lexer->position;
}

/* Skips to the end of the line, but not the newline. */
static void skip_line(struct tn_lexer *lexer)
{
	while (*lexer->position && *lexer->position != '\n')
		lexer->position++;
}

/* Skips past the closing mark; 0, and nothing skipped, when there is none. */
static int skip_comment(struct tn_lexer *lexer)
{
	const struct tn_lexer start = *lexer;
	lexer->position += 2;
	while (*lexer->position) {
		if (lexer->position[0] == '*' && lexer->position[1] == '/') {
			lexer->position += 2;
			return 1;
		}
		if (*lexer->position++ == '\n')
			count_line(lexer);
	}
	*lexer = start;
	return 0;
}

/* Skips blanks and comments; newlines are tokens.  0: a comment has no end. */
static int skip_space(struct tn_lexer *lexer)
{
	for (;;) {
		const char *p = lexer->position;
		if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\f' || *p == '\v')
			lexer->position++;
		else if (*p == '#' || (p[0] == '/' && p[1] == '/'))
			skip_line(lexer);
		else if (p[0] == '/' && p[1] == '*') {
			if (!skip_comment(lexer))
				return 0;
		} else
			return 1;
	}
}

static void bad(struct tn_token *token, const char *complaint)
{
	token->kind = TN_TOKEN_BAD;
	token->complaint = complaint;
}

/* Is the number at p, which begins with a digit or a point, an integer? */
static int is_integer(const char *p, int *base)
{
	*base = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? 16 : 10;
	if (*base == 16)
		return !p[2 + strspn(p + 2, "0123456789abcdefABCDEF")] ||
		       !strchr(".pP", p[2 + strspn(p + 2, "0123456789abcdefABCDEF")]);
	size_t digits = strspn(p, "0123456789");
	return digits && (!p[digits] || !strchr(".eE", p[digits]));
}

static const char *read_integer(struct tn_token *token, int base)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(token->start, &end, base);
	token->kind = TN_TOKEN_INTEGER;
	token->integer = (int64_t)value;
	if (errno == ERANGE || (base == 10 && value > INT64_MAX))
		bad(token, "is too large for i64");
	return end;
}

static const char *read_real(struct tn_lexer *lexer, struct tn_token *token)
{
	struct tn_float_modes modes;
	char *end;
	token->kind = TN_TOKEN_REAL;
	tn_float_modes_standard(&modes);
	token->real = strtod_l(token->start, &end, lexer->locale);
	tn_float_modes_restore(&modes);
	if (isinf(token->real))
		bad(token, "is too large for f64");
	return end;
}

static void read_number(struct tn_lexer *lexer, struct tn_token *token)
{
	int base;
	const char *end = is_integer(token->start, &base) ? read_integer(token, base)
							  : read_real(lexer, token);
	if (tn_continues_name(*end) || *end == '.') {
		while (tn_continues_name(*end) || *end == '.')
			end++;
		bad(token, "is not a number (there are no suffixes: write f32(1.0), u32(1))");
	}
	token->length = (size_t)(end - token->start);
}

static const char symbols[][4] = {
	"<<=", ">>=", "**", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
	"*=",  "/=",  "%=", "&=", "|=", "^=", "+",  "-",  "*",  "/",  "%",  "<",  ">",
	"=",   "!",   "~",  "&",  "|",  "^",  "?",  ":",  "(",  ")",  ",",  ";",
};

static void symbol(struct tn_token *token)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		const char *s = symbols[i];
		if (strncmp(token->start, s, strlen(s)))
			continue;
		token->kind = TN_TOKEN_SYMBOL;
		token->length = strlen(s);
		token->symbol = TN_SYMBOL(s[0], s[1], s[1] ? s[2] : 0);
		return;
	}
	token->length = 1;
	bad(token, "is not part of the language");
}

void tn_lexer_next(struct tn_lexer *lexer, struct tn_token *token)
{
	memset(token, 0, sizeof(*token));
	int complete = skip_space(lexer);
	const char *start = lexer->position;
	token->start = start;
	token->line = lexer->line;
	token->column = (unsigned)(start - lexer->line_start) + 1;
	if (!complete) {
		token->length = 2;
		bad(token, "begins a comment that is never closed");
	}
	if (token->kind == TN_TOKEN_BAD)
		return;
	if (!*start)
		token->kind = TN_TOKEN_END;
	else if (*start == '\n') {
		token->kind = TN_TOKEN_NEWLINE;
		token->length = 1;
	} else if (tn_starts_name(*start)) {
		token->kind = TN_TOKEN_NAME;
		while (tn_continues_name(start[token->length]))
			token->length++;
	} else if (is_digit(*start) || (*start == '.' && is_digit(start[1])))
		read_number(lexer, token);
	else
		symbol(token);
	lexer->position += token->length;
	if (token->kind == TN_TOKEN_NEWLINE)
		count_line(lexer);
}
