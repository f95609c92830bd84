/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements beside their equals.
 */
#ifndef TN_NUMPY_DISTINCT_H
#define TN_NUMPY_DISTINCT_H

#include "array/array.h"

/* Rows, or elements of a line, that are sorted along axis 0.  All functions here: in the caller's
 * scope, with temporaries; what depends on NULL is NULL, with the error kept. */
struct tn_distinct {
	const char *operation;
	const tn_array *sorted;   /* recorded */
	const tn_array *order;    /* i64: where they were; NULL unless needed */
	const tn_array *is_first; /* bool: does it differ from the one before? */
	const tn_array *starts;   /* i64: the places of those that do; NULL: tn_distinct_find */
};

/* bool: does row i + 1 of sorted rows differ from row i?  With equal_nan all NaN are equal. */
tn_array *tn_distinct_differs(const char *operation, const tn_array *sorted, int equal_nan);

/* Sorts the rows, of one or two axes, and compares them. */
tn_status tn_distinct_sort(struct tn_distinct *d, const char *operation, const tn_array *rows,
			   int equal_nan, int needs_order);
/* Finds the starts: waits for the device. */
tn_status tn_distinct_find(struct tn_distinct *d);

/* The distinct rows; where they were first; how many there were; needs the starts, and the second
 * one the order. */
tn_array *tn_distinct_rows(const struct tn_distinct *d);
tn_array *tn_distinct_index(const struct tn_distinct *d);
tn_array *tn_distinct_counts(const struct tn_distinct *d);
/* i64: the number of each row, as it was before sorting, among the distinct ones; needs the
 * order. */
tn_array *tn_distinct_inverse(const struct tn_distinct *d);

#endif
