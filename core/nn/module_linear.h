/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Linear layers, for frozen networks.
 */
#ifndef TN_NN_MODULE_LINEAR_H
#define TN_NN_MODULE_LINEAR_H

#include "nn/module.h"
int tn_is_linear(const tn_module *module);
tn_array *tn_linear_frozen(tn_module *module, const tn_array *x, const struct tn_then *then);

#endif
