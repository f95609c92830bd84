/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch norms, for frozen networks.
 */
#ifndef TN_NN_MODULE_NORM_H
#define TN_NN_MODULE_NORM_H

#include "nn/module.h"

int tn_is_batch_norm2d(const tn_module *module);
/* The epsilon of a batch norm. */
double tn_batch_norm_epsilon(const tn_module *module);

#endif
