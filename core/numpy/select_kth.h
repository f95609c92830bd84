/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements at positions of an order, without sorting the others where the host can select them.
 */
#ifndef TN_NUMPY_SELECT_KTH_H
#define TN_NUMPY_SELECT_KTH_H

#include "array/array.h"

/* A copy of real elements in which each of n positions, all in range, along the last axis has what
 * a sorted array has there, behind those that are not greater and before those that are not less.
 * The host selects where it can read the array now and nothing is recorded or captured; everywhere
 * else the array is sorted.  NULL: a is NULL, or the error is kept. */
tn_array *tn_select_kth(const char *operation, const tn_array *a, int64_t n,
			const int64_t *positions);

#endif
