/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rules that turn the request for a value into that for a simpler one.  They ask for no value but
 * constants: the builder follows the requests.
 */
#ifndef TN_PROGRAM_SIMPLIFY_H
#define TN_PROGRAM_SIMPLIFY_H

#include "program/value_table.h"

enum tn_simplification {
	TN_IS_SIMPLE,  /* no rule applies */
	TN_IS_VALUE,   /* *result, which exists */
	TN_BECOMES_OP, /* *value, which may be simplified again */
};

/* Applies one rule to an op over operands in their order. */
enum tn_simplification tn_simplify(struct tn_builder *builder, struct tn_instruction *value,
				   tn_value *result);

#endif
