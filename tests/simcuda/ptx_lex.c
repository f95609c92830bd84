/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Splits PTX text into words, numbers and signs.
 */
#include "ptx_lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void ptx_lex_start(struct ptx_lexer *lexer, const char *text, size_t length, uint32_t line)
{
	memset(lexer, 0, sizeof *lexer);
	lexer->at = text;
	lexer->end = text + length;
	lexer->line = line;
}

static char peek(const struct ptx_lexer *lexer, size_t ahead)
{
	return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static void skip_comment(struct ptx_lexer *lexer)
{
	lexer->at += 2;
	while (lexer->at < lexer->end && !(peek(lexer, 0) == '*' && peek(lexer, 1) == '/')) {
		lexer->line += *lexer->at == '\n';
		lexer->at++;
	}
	lexer->at += lexer->at < lexer->end ? 2 : 0;
}

static void skip_space(struct ptx_lexer *lexer)
{
	while (lexer->at < lexer->end) {
		if (peek(lexer, 0) == '/' && peek(lexer, 1) == '/') {
			while (lexer->at < lexer->end && *lexer->at != '\n')
				lexer->at++;
		} else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '*') {
			skip_comment(lexer);
		} else if (isspace((unsigned char)*lexer->at)) {
			lexer->line += *lexer->at == '\n';
			lexer->at++;
		} else {
			return;
		}
	}
}

static int in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* A word: names, joined by dots and double colons. */
static enum ptx_token word(struct ptx_lexer *lexer)
{
	lexer->at++;
	for (;;) {
		if (in_name(peek(lexer, 0)))
			lexer->at++;
		else if (peek(lexer, 0) == '.' && in_name(peek(lexer, 1)))
			lexer->at++;
		else if (peek(lexer, 0) == ':' && peek(lexer, 1) == ':')
			lexer->at += 2;
		else
			break;
	}
	return PTX_WORD;
}

static enum ptx_token directive(struct ptx_lexer *lexer)
{
	lexer->at++;
	while (in_name(peek(lexer, 0)) || (peek(lexer, 0) == ':' && peek(lexer, 1) == ':'))
		lexer->at += in_name(peek(lexer, 0)) ? 1 : 2;
	return lexer->at - lexer->text > 1 ? PTX_DIRECTIVE : PTX_BAD;
}

static int digit_of(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? (tolower((unsigned char)c) - 'a') + 10
					    : 99;
}

/* Reads digits of a base; returns their number. */
static size_t digits(struct ptx_lexer *lexer, unsigned base)
{
	const char *start = lexer->at;
	lexer->number = 0;
	while ((unsigned)digit_of(peek(lexer, 0)) < base) {
		lexer->number = lexer->number * base + (unsigned)digit_of(peek(lexer, 0));
		lexer->at++;
	}
	return (size_t)(lexer->at - start);
}

static enum ptx_token hexadecimal_float(struct ptx_lexer *lexer)
{
	lexer->single = tolower((unsigned char)peek(lexer, 1)) == 'f';
	lexer->at += 2;
	return digits(lexer, 16) == (lexer->single ? 8u : 16u) ? PTX_FLOAT : PTX_BAD;
}

static enum ptx_token decimal_float(struct ptx_lexer *lexer)
{
	char copy[64];
	size_t length = 0;
	lexer->at = lexer->text;
	while (length < sizeof copy - 1 &&
	       (isalnum((unsigned char)peek(lexer, 0)) || peek(lexer, 0) == '.'))
		copy[length++] = *lexer->at++;
	copy[length] = '\0';
	char *end;
	double value = strtod(copy, &end);
	memcpy(&lexer->number, &value, sizeof value);
	lexer->single = 0;
	return *end ? PTX_BAD : PTX_FLOAT;
}

static enum ptx_token number(struct ptx_lexer *lexer)
{
	char second = (char)tolower((unsigned char)peek(lexer, 1));
	if (peek(lexer, 0) == '0' && (second == 'f' || second == 'd'))
		return hexadecimal_float(lexer);
	unsigned base = 10;
	if (peek(lexer, 0) == '0' && (second == 'x' || second == 'b')) {
		base = second == 'x' ? 16 : 2;
		lexer->at += 2;
	} else if (peek(lexer, 0) == '0' && isdigit((unsigned char)second)) {
		base = 8;
	}
	size_t count = digits(lexer, base);
	if (base == 10 && peek(lexer, 0) == '.' && isdigit((unsigned char)peek(lexer, 1)))
		return decimal_float(lexer);
	if (peek(lexer, 0) == 'U')
		lexer->at++;
	return count ? PTX_INTEGER : PTX_BAD;
}

static enum ptx_token string(struct ptx_lexer *lexer)
{
	lexer->at++;
	while (lexer->at < lexer->end && *lexer->at != '"') {
		lexer->line += *lexer->at == '\n';
		lexer->at++;
	}
	if (lexer->at >= lexer->end)
		return PTX_BAD;
	lexer->at++;
	return PTX_STRING;
}

static enum ptx_token scan(struct ptx_lexer *lexer)
{
	char c = peek(lexer, 0);
	if (isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%')
		return word(lexer);
	if (c == '.')
		return directive(lexer);
	if (isdigit((unsigned char)c))
		return number(lexer);
	if (c == '"')
		return string(lexer);
	if (!c || !strchr("()[]{},;:|@!+-=<>", c))
		return PTX_BAD;
	lexer->at++;
	return PTX_SIGN;
}

enum ptx_token ptx_next_token(struct ptx_lexer *lexer)
{
	skip_space(lexer);
	lexer->text = lexer->at;
	lexer->length = 0;
	if (lexer->at >= lexer->end)
		return lexer->token = PTX_END;
	lexer->token = scan(lexer);
	if (lexer->token == PTX_BAD && lexer->at == lexer->text)
		lexer->at++;
	lexer->length = (size_t)(lexer->at - lexer->text);
	return lexer->token;
}

int ptx_is_sign(const struct ptx_lexer *lexer, char sign)
{
	return lexer->token == PTX_SIGN && lexer->text[0] == sign;
}

int ptx_is_word(const struct ptx_lexer *lexer, const char *word)
{
	return (lexer->token == PTX_WORD || lexer->token == PTX_DIRECTIVE) &&
	       strlen(word) == lexer->length && memcmp(lexer->text, word, lexer->length) == 0;
}
