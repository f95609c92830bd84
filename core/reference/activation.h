/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a product, a convolution or a norm does to its results before it stores them.
 */
#ifndef TN_REFERENCE_ACTIVATION_H
#define TN_REFERENCE_ACTIVATION_H

#include "reference/view.h"

/* TN_UNSUPPORTED for an unknown one. */
tn_status tn_reference_check_activation(const struct tn_call *call, const char *operation,
					uint32_t activation);

double tn_reference_activate(uint32_t activation, double x);

/* Does a gradient pass where the activation gave `result`?  RELU and RELU6 alone; 1 without one. */
int tn_reference_passes(uint32_t activation, double result);

/* values[i] := activation(values[i]), or (values[i] + residual[i]) where there is a residual. */
void tn_reference_finish(uint32_t activation, double *values, const double *residual, uint64_t n);

#endif
