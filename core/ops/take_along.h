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

/* The rest fills runtime->report on failure. */

/* TN_SHAPE: indices have not a's shape, but for the axis. */
tn_status tn_along_check(struct tn_runtime *runtime, const char *operation, const tn_array *a,
			 const tn_array *indices, int axis);
/* *line := the number of the element of `a` for each index, of i32 or i64; for tn_put (is_put) 0 or
 * more.  One out of range is out of range there.  In the innermost scope, with temporaries. */
tn_status tn_along_numbers(struct tn_runtime *runtime, const tn_array *a, const tn_array *indices,
			   int axis, int is_put, tn_array **line);

#endif
