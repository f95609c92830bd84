/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Anomaly mode: results and gradients are checked while runtime->anomaly is 1.
 */
#ifndef TN_AUTOGRAD_ANOMALY_H
#define TN_AUTOGRAD_ANOMALY_H

#include "array/array.h"

/* TN_NOT_FINITE (kept): an element of `a` is infinite or NaN.  It is output i of the operation, or
 * in backward the gradient of its input i; place: the module's path, or NULL.  TN_OK without an
 * array, and for integers. */
tn_status tn_anomaly_check(const tn_array *a, const char *operation, const char *place,
			   int is_backward, uint32_t i);

#endif
