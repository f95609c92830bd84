/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolutions, for frozen networks.
 */
#ifndef TN_NN_MODULE_CONV2D_H
#define TN_NN_MODULE_CONV2D_H

#include "nn/module.h"
int tn_is_conv2d(const tn_module *module);
/* Runs a frozen layer: activation(layer(x) + residual) in as few calls as possible. */
tn_array *tn_conv2d_frozen(tn_module *module, const tn_array *x, const struct tn_then *then);

#endif
