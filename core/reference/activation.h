/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Activations: applied by products, convolutions and norms to their results before storing them.
 */
#ifndef TN_REFERENCE_ACTIVATION_H
#define TN_REFERENCE_ACTIVATION_H

#include "reference/view.h"

/* TN_UNSUPPORTED for an unknown one. */
tn_status tn_reference_check_activation(const struct tn_call *call, const char *operation,
					uint32_t activation);

double tn_reference_activate(uint32_t activation, double x);

/* Does the gradient pass where the activation's value is `result`?  For RELU and RELU6; 1 for
 * none. */
int tn_reference_passes(uint32_t activation, double result);

/* values[i] := activation(values[i] + residual[i]), without residual when it is NULL. */
void tn_reference_finish(uint32_t activation, double *values, const double *residual, uint64_t n);

#endif
