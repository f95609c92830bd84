/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The limits of the activations' parameters.
 */
#ifndef TN_OPS_ACTIVATION_H
#define TN_OPS_ACTIVATION_H

#include "array/runtime.h"
#include "dispatch/operations.h"

/* TN_INVALID_ARGUMENT (kept): `values`, of the operation's scalars, are not allowed. */
tn_status tn_activation_values(struct tn_runtime *runtime, enum tn_operation operation,
			       const double *values);

#endif
