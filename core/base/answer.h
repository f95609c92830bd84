/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Structs that the library fills for a caller compiled against another version of it: the caller
 * says how large its struct is, the library writes no more, and struct_size stays the caller's.
 */
#ifndef TN_BASE_ANSWER_H
#define TN_BASE_ANSWER_H

#include <stddef.h>

#include "base/error.h"

/* May `out`, a `type` ("struct tn_variable"), be filled?  For functions that do more than look.
 * TN_INVALID_ARGUMENT: it is NULL, or struct_size is not set: it is smaller than its own size. */
tn_status tn_answer_check(const void *out, size_t own_size, const char *type, const char *operation,
			  struct tn_error_info *error);

/* Copies `own` to `out`: the members that both have.  On failure, as in tn_answer_check, nothing is
 * written. */
tn_status tn_answer(void *out, const void *own, size_t own_size, const char *type,
		    const char *operation, struct tn_error_info *error);

#endif
