/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Advances the parser by a token, and keeps its first failure with line, column and what was
 * expected.
 */
#include "program/parser_state.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

const char *tn_token_text(const struct tn_token *token, char *buffer, size_t size)
{
	int shown = token->length < 40 ? (int)token->length : 40;
	unsigned char first = (unsigned char)*token->start;
	if (token->kind == TN_TOKEN_END)
		snprintf(buffer, size, "the end of the text");
	else if (token->kind == TN_TOKEN_NEWLINE)
		snprintf(buffer, size, "the end of the line");
	else if (first < 0x20 || first > 0x7e)
		snprintf(buffer, size, "the byte 0x%02x", first);
	else
		snprintf(buffer, size, "'%.*s%s'", shown, token->start,
			 token->length > 40 ? "..." : "");
	return buffer;
}

struct tn_term tn_parse_fail(struct tn_parser *parser, const struct tn_token *token,
			     tn_status status, const char *format, ...)
{
	char text[400];
	va_list arguments;
	if (!parser->status) {
		if (parser->call)
			token = parser->call;
		va_start(arguments, format);
		vsnprintf(text, sizeof(text), format, arguments);
		va_end(arguments);
		parser->status =
			tn_fail(parser->error, status, TN_PARSE_OPERATION, "line %u, column %u: %s",
				token->line, token->column, text);
	}
	parser->token.kind = TN_TOKEN_END;
	return (struct tn_term){0};
}

struct tn_term tn_parse_expected(struct tn_parser *parser, const char *expected)
{
	char found[80];
	const struct tn_token *token = &parser->token;
	tn_token_text(token, found, sizeof(found));
	if (token->kind == TN_TOKEN_BAD)
		return tn_parse_fail(parser, token, TN_FORMAT, "%s %s; expected %s", found,
				     token->complaint, expected);
	return tn_parse_fail(parser, token, TN_FORMAT, "expected %s, found %s", expected, found);
}

void tn_parse_advance(struct tn_parser *parser)
{
	if (parser->status)
		return;
	do
		tn_lexer_next(&parser->lexer, &parser->token);
	while (parser->parentheses && parser->token.kind == TN_TOKEN_NEWLINE);
}

int tn_parse_sees(const struct tn_parser *parser, uint32_t symbol)
{
	return parser->token.kind == TN_TOKEN_SYMBOL && parser->token.symbol == symbol;
}
