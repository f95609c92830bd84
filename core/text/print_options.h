/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Print options, checked and complete.
 */
#ifndef TN_TEXT_PRINT_OPTIONS_H
#define TN_TEXT_PRINT_OPTIONS_H

#include <tenon/text.h>

#include "array/runtime.h"

/* *own := the caller's options, or NumPy's defaults where they have 0 or NULL; a precision of none
 * becomes 0.  Keeps the error. */
tn_status tn_print_options_take(struct tn_runtime *runtime, const char *operation,
				const struct tn_print_options *given, struct tn_print_options *own);

#endif
