/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Expressions.  The parser's other files are parser_state.c (tokens and failures), functions.c
 * (calls, whose arguments are expressions again) and typing.c (operators over typed and untyped
 * terms).
 */
#ifndef TN_PROGRAM_PARSER_H
#define TN_PROGRAM_PARSER_H

#include "program/parser_state.h"

struct tn_term tn_parse_expression(struct tn_parser *parser);

#endif
