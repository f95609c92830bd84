/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a gradient scaler was made with, for checkpoints.
 */
#ifndef TN_OPTIM_GRAD_SCALER_H
#define TN_OPTIM_GRAD_SCALER_H

#include <tenon/optim.h>

const tn_module *tn_grad_scaler_module(const tn_grad_scaler *scaler);
/* With the defaults; borrowed. */
const struct tn_grad_scaler_options *tn_grad_scaler_options_of(const tn_grad_scaler *scaler);
/* Gradients have been unscaled, and tn_grad_scaler_update was not called since. */
int tn_grad_scaler_is_within_step(const tn_grad_scaler *scaler);

#endif
