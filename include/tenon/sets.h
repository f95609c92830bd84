/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays as sets: their distinct elements, and the elements of two arrays.  NumPy's names and
 * rules, composed of the operations of array.h.
 *
 * Elements are those of a whole array of any shape, read in row-major order; two arrays are
 * compared in their common dtype.  Complex numbers are ordered by their real parts, then by their
 * imaginary parts.  -0 equals 0.  Results are lines in ascending order, with NaN behind all
 * numbers.
 *
 * The lengths of results depend on values: every function but tn_isin waits for the device, and
 * reads the number of elements that it is to return; the ledger counts these reads as work of the
 * host.  Gradients flow back to the first of equal
 * elements; indices, counts and truth values have none.  NULL in gives NULL out; a second result,
 * whose pointer may be NULL, belongs to the caller's scope and is NULL on failure.  Errors:
 *   TN_INVALID_ARGUMENT  there is no such axis
 *   TN_DEVICE            two arrays are on different devices or in different contexts
 * All functions: [thread: one per context | since 0.1].
 */
#ifndef TENON_SETS_H
#define TENON_SETS_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The distinct elements, or with an axis other than TN_AXIS_NONE the distinct sub-arrays along it,
 * ordered by their first element, then their second, and so on; their shape is a's but for the
 * axis.  With equal_nan 1, NumPy's default, all NaN are one element, complex ones included; with 0
 * every NaN is an element of its own.  All i64:
 *   *index    for each result, where a has it first
 *   *inverse  for each element of a, in a's shape, or each sub-array, in a line: which result it is
 *   *counts   for each result, how often a has it
 * An axis costs a sort for each element of a sub-array. */
TN_API tn_array *tn_unique(const tn_array *a, int axis, int equal_nan, tn_array **index,
			   tn_array **inverse, tn_array **counts);

/* bool, in a's shape: is the element among those of `test`, or with `invert` not among them?  A NaN
 * never is.  Does not wait. */
TN_API tn_array *tn_isin(const tn_array *a, const tn_array *test, int invert);

/* The distinct elements of both arrays. */
TN_API tn_array *tn_union1d(const tn_array *a, const tn_array *b);
/* The distinct elements that are in both; no NaN is.  assume_unique 1: each array has its elements
 * once, which saves sorting them.  *a_indices and *b_indices, i64, receive where a and b have them
 * first. */
TN_API tn_array *tn_intersect1d(const tn_array *a, const tn_array *b, int assume_unique,
				tn_array **a_indices, tn_array **b_indices);
/* The distinct elements of a that are not in b; with assume_unique 1 all of them, in a's order. */
TN_API tn_array *tn_setdiff1d(const tn_array *a, const tn_array *b, int assume_unique);
/* The distinct elements that are in one of both only; every NaN is. */
TN_API tn_array *tn_setxor1d(const tn_array *a, const tn_array *b, int assume_unique);

#ifdef __cplusplus
}
#endif
#endif
