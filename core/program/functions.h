/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The functions of the language: those that are one opcode, casts, sources, and those that are
 * formulas over other functions; and suggestions for unknown names.
 */
#ifndef TN_PROGRAM_FUNCTIONS_H
#define TN_PROGRAM_FUNCTIONS_H

#include "program/parser_state.h"

#define TN_MAX_ARGUMENTS 5

enum tn_call_kind {
	TN_CALL_FORMULA,
	TN_CALL_UNIFIED,  /* a formula over arguments of one type */
	TN_CALL_FLOATING, /* all arguments become one floating type; the result has it */
	TN_CALL_NUMBER,   /* all become one type of number */
	TN_CALL_ROUNDING, /* integers are unchanged */
	TN_CALL_FUSED,    /* fma: of integers a * b + c */
	TN_CALL_POWER,
	TN_CALL_CHOICE,
	TN_CALL_CAST,
	TN_CALL_BITCAST,
	TN_CALL_INDEX,
	TN_CALL_ELEMENT,
	TN_CALL_RANDOM,
	TN_CALL_NORMAL,   /* the normal number of (seed, stream, i) */
	TN_CALL_QUANTILE, /* that of a u32 */
};

struct tn_function {
	const char *name;
	uint8_t kind;        /* enum tn_call_kind */
	uint8_t n_arguments; /* of a formula: the number of parameters */
	uint16_t op;
	tn_dtype dtype;         /* of a cast */
	const char *parameters; /* of a formula: words */
	const char *formula;
};

/* The function of that name and number of arguments; else one of that name, or of name NULL. */
struct tn_function tn_function_find(const struct tn_token *name, int n_arguments);

/* Writes "; did you mean 'NAME'?" when the name of a variable, constant or function is similar,
 * else "". */
const char *tn_suggest(const struct tn_parser *parser, const struct tn_token *name, char *buffer,
		       size_t size);

#endif
