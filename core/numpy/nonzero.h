/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The numbers of true elements.
 */
#ifndef TN_NUMPY_NONZERO_H
#define TN_NUMPY_NONZERO_H

#include "array/array.h"

/* i64: the row-major numbers of a's true elements, ascending.  n: how many are true, or -1: this
 * waits for the device to count them.  In the innermost scope; NULL with the error kept. */
tn_array *tn_true_numbers(const char *operation, const tn_array *a, int64_t n);
/* Indices along axis i of a shape, for row-major element numbers that are in range. */
tn_array *tn_unraveled(const char *operation, const tn_array *numbers, int rank,
		       const int64_t *shape, int i);

/* Begins the scope of n results (tn_scope_end_all), for which the caller must have room. */
tn_status tn_scope_begin_all(struct tn_runtime *runtime, const char *operation, int n,
			     tn_array **arrays);

#endif
