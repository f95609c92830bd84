/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The elements at positions along an axis that the host lists.
 */
#ifndef TN_NUMPY_HOST_INDICES_H
#define TN_NUMPY_HOST_INDICES_H

#include "array/array.h"

/* Room for n positions; NULL with the error kept. */
int64_t *tn_host_indices_make(struct tn_runtime *runtime, const char *operation, int64_t n);

/* The elements of a at n positions, each in range, along an axis, recorded.  Frees the positions.
 * NULL with the error kept. */
tn_array *tn_host_indices_take(const tn_array *a, const char *operation, int axis, int64_t n,
			       int64_t *positions);

#endif
