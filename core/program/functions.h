/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls of functions, and suggestions for unknown names.
 */
#ifndef TN_PROGRAM_FUNCTIONS_H
#define TN_PROGRAM_FUNCTIONS_H

#include "program/parser_state.h"

/* Reads the arguments of a call of `name` and types it; the next token is '('. */
struct tn_term tn_parse_call(struct tn_parser *parser, const struct tn_token *name);

/* Writes "; did you mean 'NAME'?" when the name of a variable, constant or function is similar,
 * else "". */
const char *tn_suggest(const struct tn_parser *parser, const struct tn_token *name, char *buffer,
		       size_t size);

#endif
