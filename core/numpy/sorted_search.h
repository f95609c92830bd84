/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Places in sorted arrays.
 */
#ifndef TN_NUMPY_SORTED_SEARCH_H
#define TN_NUMPY_SORTED_SEARCH_H

#include "array/array.h"

/* i64, in the shape of `values`: how many elements of the line `sorted` are less than each value,
 * or with is_right not greater; NaN is the greatest.  Neither is complex; both are compared in
 * their common dtype.  In the caller's scope, with temporaries; errors are kept. */
tn_array *tn_sorted_search(const char *operation, const tn_array *sorted, const tn_array *values,
			   int is_right);
/* The elements of a line at places, i64, that are in range: nothing checks them.  Nothing is
 * recorded. */
tn_array *tn_elements_at(const tn_array *line, const tn_array *places);
/* TN_SHAPE, TN_DTYPE: the array is no line, or complex; the error is kept. */
tn_status tn_sorted_check(const char *operation, const char *name, const tn_array *line);

#endif
