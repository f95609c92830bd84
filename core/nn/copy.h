/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies of the structure of a network.
 */
#ifndef TN_NN_COPY_H
#define TN_NN_COPY_H

#include "nn/module.h"

/* A tree of the same classes, states, names, parameters and buffers, as before building: without
 * values, hooks and what freezing made.  Without a context (NULL) it serves only to be copied and
 * destroyed, from any thread.  Reads nothing of the module's context.  On failure NULL, with
 * `error` filled: TN_UNSUPPORTED, TN_OUT_OF_MEMORY. */
tn_module *tn_module_copy_tree(tn_context *context, const tn_module *module,
			       struct tn_error_info *error);

#endif
