/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The other direction of tn_take.
 */
#ifndef TN_ARRAY_TAKE_H
#define TN_ARRAY_TAKE_H

#include "array/array.h"

/* out[i, indices[j], k] += a[i, j, k], with i over the axes before `axis`, j over the elements of
 * `indices` (any shape) and k over the axes after; equal indices add up.  `a` has the shape that
 * tn_take(out, indices, axis) has.  Errors are kept. */
tn_status tn_scatter_add(tn_array *out, const tn_array *indices, int axis, const tn_array *a);

#endif
