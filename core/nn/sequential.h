/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chains and residual blocks.
 */
#ifndef TN_NN_SEQUENTIAL_H
#define TN_NN_SEQUENTIAL_H

#include "nn/module.h"

/* The next member of a chain at or after number i, or NULL; *i becomes its number. */
tn_module *tn_chain_member(const tn_module *chain, size_t *i);
int tn_is_chain(const tn_module *module); /* or a residual block */

#endif
