/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The tolerances of comparisons.
 */
#ifndef TN_OPS_TOLERANCE_H
#define TN_OPS_TOLERANCE_H

#include "array/array.h"

/* TN_INVALID_ARGUMENT, kept: it is negative or not finite. */
tn_status tn_tolerance_check(struct tn_runtime *runtime, const char *operation, const char *name,
			     double value);

#endif
