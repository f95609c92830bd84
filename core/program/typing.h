/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operators over typed and untyped terms; each takes the token that errors point to.
 */
#ifndef TN_PROGRAM_TYPING_H
#define TN_PROGRAM_TYPING_H

#include "program/parser_state.h"

tn_dtype tn_term_dtype(const struct tn_parser *parser, struct tn_term term);
/* A value of that dtype, which is not a literal. */
struct tn_term tn_term_of(tn_value value, tn_dtype dtype);
/* Its dtype's name; "number" for a literal. */
const char *tn_term_type(const struct tn_parser *parser, struct tn_term term);
struct tn_term tn_literal_integer(struct tn_parser *parser, int64_t integer);
struct tn_term tn_literal_real(struct tn_parser *parser, double real);

/* The value as `dtype`; a literal must fit it. */
tn_value tn_term_as(struct tn_parser *parser, const struct tn_token *token, struct tn_term term,
		    tn_dtype dtype);
/* The same as an explicit cast: any value is accepted. */
tn_value tn_term_cast(struct tn_parser *parser, struct tn_term term, tn_dtype dtype);
/* The type of a literal on its own: i32 (i64 when it does not fit) or f32. */
struct tn_term tn_term_settle(struct tn_parser *parser, struct tn_term term);

/* Converts n terms to one dtype and returns it; all literals stay literals, of i64 or f64. */
tn_dtype tn_terms_unify(struct tn_parser *parser, const struct tn_token *token, int n,
			struct tn_term *terms);
/* The same, with integers and booleans converted to f32. */
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

#endif
