/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The reverse of tn_take, and code shared with tn_take_along_axis and sorting.
 */
#ifndef TN_OPS_TAKE_H
#define TN_OPS_TAKE_H

#include "array/array.h"
#include "base/dtype.h"
#include "device/checks.h"
#include "dispatch/operations.h"
#include "loader/backend.h"

/* out[i, indices[j], k] += a[i, j, k], with i over the axes before `axis`, j over the elements of
 * `indices` (any shape) and k over the axes after; equal indices add up.  `a` has the shape that
 * tn_take(out, indices, axis) has, and the indices are in range.  Sums in f16 and bf16 are added up
 * in f32 and rounded once.  Errors are kept. */
tn_status tn_scatter_add(tn_array *out, const tn_array *indices, int axis, const tn_array *a);

/* The dtype of `out` in which sums of many elements of that dtype keep their digits: f32 for f16
 * and bf16, to which tn_scatter_add adds them too; else the dtype itself. */
static inline tn_dtype tn_total_dtype(tn_dtype dtype)
{
	return tn_is_narrow(dtype) ? TN_F32 : dtype;
}

/* Such a function, for real arrays. */
typedef tn_status (*tn_scatter_function)(tn_array *out, const tn_array *indices, int axis,
					 const tn_array *a);

/* Adds `a` to `out`; the parts of complex numbers one after the other. */
tn_status tn_scatter_parts(tn_scatter_function add, tn_array *out, const tn_array *indices,
			   int axis, const tn_array *a);

/* An array of that shape and of a's dtype: zeros, to which `a` is added; totals round once. */
tn_array *tn_scattered(tn_scatter_function add, int rank, const int64_t *shape,
		       const tn_array *indices, int axis, const tn_array *a);

/* tn_take of i32 or i64 indices along an axis, under any name, recorded.  check: the words of an
 * error for an index out of range; NULL: the indices have been checked, and those out of range read
 * as zero. */
tn_array *tn_take_checked(const tn_array *a, const tn_array *indices, int axis,
			  const char *operation, const struct tn_check *check);

/* The common dtype of n >= 1 arrays, in any order. */
tn_dtype tn_arrays_result_type(int n, const tn_array *const *arrays);

/* The rest fills runtime->report on failure. */

/* TN_DTYPE, TN_INVALID_ARGUMENT: indices are not i32 or i64, or `a` has no such axis. */
tn_status tn_indices_check(struct tn_runtime *runtime, const char *operation, const tn_array *a,
			   const tn_array *indices, int *axis);
/* A gather, or a scatter-add, which has the same arguments. */
tn_status tn_gather_run(struct tn_runtime *runtime, enum tn_operation operation, enum tn_slot slot,
			const tn_array *input, const tn_array *line, tn_array *output, int axis);

#endif
