/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Order, besides tn_sort, tn_argsort and tn_topk of array.h, whose rules hold here too: axes
 * below 0 count from the end, -0 equals 0, a NaN is greater than any number and equals any other
 * NaN. NumPy's names and rules.
 *
 * Errors that many have, besides those of array.h:
 *   TN_INVALID_ARGUMENT  there is no such axis
 *   TN_SHAPE             shapes differ, or there is no element to choose
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_ORDER_H
#define TENON_ORDER_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Orders ----------------------------------------------------------------------------------*/

/* i64: the indices that sort by the last of n >= 1 keys, equal elements by the one before, and so
 * on, along an axis of their one shape (TN_SHAPE).  The order of equal elements stays. */
TN_API tn_array *tn_lexsort(int n, const tn_array *const *keys, int axis);
/* The elements in ascending order along the last axis, as complex numbers: c64 of bool, 8- and
 * 16-bit integers, f16, bf16, f32 and c64, else c128. */
TN_API tn_array *tn_sort_complex(const tn_array *a);

/* ---- Parts of an order -----------------------------------------------------------------------
 * Along an axis, or over all elements as a line (TN_AXIS_NONE), for n places kth, 0 or more or,
 * counted from the end, below 0. */

/* The elements, so that at each place is the one that a sorted array has there, behind those that
 * are not greater, before those that are not less; their order is otherwise not specified, and may
 * differ between devices.  Gradients flow back to the original positions.  TN_INVALID_ARGUMENT: n
 * is below 1, or there is no such place. */
TN_API tn_array *tn_partition(const tn_array *a, int n, const int64_t *kth, int axis);
/* i64: the indices of such an order. */
TN_API tn_array *tn_argpartition(const tn_array *a, int n, const int64_t *kth, int axis);

/* ---- Places of extremes ----------------------------------------------------------------------*/

/* tn_argmax and tn_argmin where NaN counts as -inf, or inf: of nothing but NaN, where NumPy fails,
 * the index is 0.  TN_SHAPE: over no elements.  TN_DTYPE: complex. */
TN_API tn_array *tn_nanargmax(const tn_array *a, int axis, int keepdims);
TN_API tn_array *tn_nanargmin(const tn_array *a, int axis, int keepdims);

#ifdef __cplusplus
}
#endif
#endif
