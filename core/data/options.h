/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How options of a caller built with another version of a struct are taken.
 */
#ifndef TN_DATA_OPTIONS_H
#define TN_DATA_OPTIONS_H

#include <string.h>

#include "base/error.h"

/* Copies `given` (which begins with its struct_size, or is NULL) to `own`, zero where it is shorter.
 * TN_UNSUPPORTED: it is longer, and something is set that is not known here. */
static inline tn_status tn_take_options(void *own, size_t own_size, const void *given,
					const char *operation, struct tn_error_info *error)
{
	if (!given) {
		memset(own, 0, own_size);
		return TN_OK;
	}
	if (tn_arguments_take(own, own_size, given) == TN_OK)
		return TN_OK;
	return tn_fail(error, TN_UNSUPPORTED, operation,
		       "options set what this version does not know, beyond their first %zu bytes",
		       own_size);
}

#endif
