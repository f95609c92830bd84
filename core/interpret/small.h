/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Small calls over compact operands.
 */
#ifndef TN_INTERPRET_SMALL_H
#define TN_INTERPRET_SMALL_H

#include "interpret/code.h"

/* Does the whole call when it is small and its operands are compact: 1 when it did. */
int tn_small_map(struct tn_code *code, const struct tn_map_args *args);

#endif
