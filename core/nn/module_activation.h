/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The epilogue of a layer: activation(y + residual).
 */
#ifndef TN_NN_MODULE_ACTIVATION_H
#define TN_NN_MODULE_ACTIVATION_H

#include "nn/module.h"

/* activation(module(x) + residual), in one step where the module can. */
tn_array *tn_module_forward_then(tn_module *module, const tn_array *x, const struct tn_then *then);
/* activation(y + residual); y is consumed, and may be NULL. */
tn_array *tn_then_finish(tn_array *y, const struct tn_then *then);

#endif
