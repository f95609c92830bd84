/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs from text.  The parser's other files are parser_state.c (tokens and failures),
 * functions.c (the table of functions), calls.c (the types of their calls) and typing.c (operators
 * over typed and untyped terms).
 */
#ifndef TN_PROGRAM_PARSER_H
#define TN_PROGRAM_PARSER_H

#include "program/parser_state.h"

/* tn_program_parse, which also writes the dtype that each output has in the language to `results`
 * (NULL, or room for all): u64 where the program's value is an i64 with the same bits. */
tn_status tn_program_parse_typed(const char *text, const struct tn_program_names *names,
				 tn_program **program, tn_dtype *results,
				 struct tn_error_info *error) TN_CHECKED;

#endif
