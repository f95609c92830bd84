/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copying a struct of options from a caller compiled against another version of it.  A later
 * version appends members and puts none into former padding.
 */
#ifndef TN_BASE_OPTIONS_H
#define TN_BASE_OPTIONS_H

#include "base/error.h"

/* Copies `given`, a `type` ("struct tn_sgd_options"), to `own`, which holds the defaults: members
 * beyond the end of `given` keep them, all members when it is NULL.  Both begin with a uint32_t
 * struct_size; own's becomes own_size.  On failure `own` is unchanged.
 * TN_INVALID_ARGUMENT: struct_size is not set: it is smaller than its own size.
 * TN_UNSUPPORTED: `given` is longer, and a byte beyond this version's members is not 0. */
tn_status tn_options_take(void *own, size_t own_size, const void *given, const char *type,
			  const char *operation, struct tn_error_info *error);

#endif
