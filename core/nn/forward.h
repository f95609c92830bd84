/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The beginning and the end of forwards that are not tn_module_forward.
 */
#ifndef TN_NN_FORWARD_H
#define TN_NN_FORWARD_H

#include "nn/module.h"

/* Begins a forward of several inputs, which may be NULL: of an outermost module, watches the
 * trainable weights.  TN_STATE (kept): not built; frozen, and in training mode or with an input
 * that requires a gradient. */
tn_status tn_module_begin_forward(tn_module *module, size_t n_inputs,
				  const tn_array *const *inputs);

/* Ends it: calls the forward hook, and records y so that backward calls the other.  Returns y, or
 * an array in its place; NULL: an error is kept. */
tn_array *tn_module_end_forward(tn_module *module, const tn_array *x, tn_array *y);

#endif
