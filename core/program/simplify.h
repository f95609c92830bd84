/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The interface of simplify.c for the builder.
 */
#ifndef TN_PROGRAM_SIMPLIFY_H
#define TN_PROGRAM_SIMPLIFY_H

#include "program/builder.h"

/* Returns 1 when op(a, b, c) is a value that needs no new instruction of that op; *result has
 * it. */
int tn_simplify(struct tn_builder *builder, uint16_t op, tn_dtype dtype, tn_value a, tn_value b,
		tn_value c, tn_value *result);

#endif
