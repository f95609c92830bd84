/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks that comparisons within tolerances share.
 */
#ifndef TN_NUMPY_CLOSE_H
#define TN_NUMPY_CLOSE_H

#include "array/array.h"

int tn_shapes_broadcast(const tn_array *a, const tn_array *b);

/* TN_INVALID_ARGUMENT, kept: it is negative or not finite. */
tn_status tn_tolerance_check(struct tn_runtime *runtime, const char *operation, const char *name,
			     double value);

#endif
