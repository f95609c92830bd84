/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The functions that a printed program calls, as source.
 */
#ifndef TN_PROGRAM_PRELUDE_H
#define TN_PROGRAM_PRELUDE_H

#include <tenon/backend.h>

/* Implements tn_host's print_prelude. */
tn_status tn_print_prelude(const struct tn_print_args *args);

#endif
