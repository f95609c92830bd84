/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Where a number that is not finite came from.
 */
#ifndef TN_TRAIN_NOT_FINITE_H
#define TN_TRAIN_NOT_FINITE_H

#include "train/steps.h"

/* Writes what was not finite first in the last batch to `text`: a field, a parameter, or an
 * operation with its module, found by running forward and backward again in anomaly mode.  No error
 * is kept.  The weights are still those before the step. */
void tn_not_finite_find(const struct tn_steps *steps, char *text, size_t size);

/* Are all parameters and buffers finite?  No error is kept. */
int tn_network_is_finite(const tn_module *module);

#endif
