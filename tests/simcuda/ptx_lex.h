/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Words of PTX text.
 */
#ifndef SIMCUDA_PTX_LEX_H
#define SIMCUDA_PTX_LEX_H

#include <stddef.h>
#include <stdint.h>

enum ptx_token {
	PTX_END,
	PTX_WORD,      /* an identifier, or an opcode with its dots */
	PTX_DIRECTIVE, /* .word */
	PTX_INTEGER,
	PTX_FLOAT, /* 0f, 0d or a decimal with a point */
	PTX_STRING,
	PTX_SIGN, /* one character */
	PTX_BAD,
};

struct ptx_lexer {
	const char *at, *end;
	uint32_t line; /* of the token */
	enum ptx_token token;
	const char *text;
	size_t length;
	uint64_t number; /* of an integer, or the bits of a float */
	int single;      /* the float has 32 bits */
};

void ptx_lex_start(struct ptx_lexer *lexer, const char *text, size_t length, uint32_t line);
enum ptx_token ptx_next_token(struct ptx_lexer *lexer);
int ptx_is_sign(const struct ptx_lexer *lexer, char sign);
int ptx_is_word(const struct ptx_lexer *lexer, const char *word);

#endif
