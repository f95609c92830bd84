/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The beginning of forwards that are not tn_module_forward.
 */
#ifndef TN_NN_FORWARD_H
#define TN_NN_FORWARD_H

#include "nn/module.h"

/* Begins a forward of several inputs, which may be NULL: of an outermost module, watches the
 * trainable weights.  TN_STATE (kept): not built; frozen, and in training mode or with an input
 * that requires a gradient. */
tn_status tn_module_begin_forward(tn_module *module, size_t n_inputs,
				  const tn_array *const *inputs);

#endif
