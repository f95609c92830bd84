/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The reverse of tn_take_along_axis.
 */
#ifndef TN_OPS_TAKE_ALONG_H
#define TN_OPS_TAKE_ALONG_H

#include "array/array.h"

/* out[.., indices[i, j, k], ..] += a[i, j, k] along the axis, equal places adding up; `a` and
 * `indices` have the shape that tn_take_along_axis(out, indices, axis) has.  `out` is row-major,
 * and indices are in range.  Errors are kept. */
tn_status tn_scatter_add_along_axis(tn_array *out, const tn_array *indices, int axis,
				    const tn_array *a);

#endif
