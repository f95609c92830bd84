/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How a struct of options is taken from a caller that may know another version of it.  A later
 * version appends members; none of them lies in what was padding before.
 */
#ifndef TN_BASE_OPTIONS_H
#define TN_BASE_OPTIONS_H

#include "base/error.h"

/* Copies `given`, a `type` ("struct tn_sgd_options"), to `own`, which holds the defaults: they stay
 * where `given` is shorter, and everywhere when it is NULL.  Both begin with a uint32_t
 * struct_size; own's becomes own_size.  On failure `own` is untouched.
 * TN_INVALID_ARGUMENT: struct_size is not set, that is smaller than itself.
 * TN_UNSUPPORTED: `given` is longer, and something is set beyond what this version knows. */
tn_status tn_options_take(void *own, size_t own_size, const void *given, const char *type,
			  const char *operation, struct tn_error_info *error);

#endif
