/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The types of calls.
 */
#ifndef TN_PROGRAM_CALLS_H
#define TN_PROGRAM_CALLS_H

#include "program/functions.h"

/* The value of a call of a function that is no formula. */
struct tn_term tn_type_call(struct tn_parser *parser, const struct tn_token *name,
			    const struct tn_function *function, struct tn_term *arguments);

#endif
