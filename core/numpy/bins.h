/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values in the intervals of a histogram.  In the caller's scope, with temporaries; nothing is
 * recorded.  NULL: an array is NULL, or the error is kept.
 */
#ifndef TN_NUMPY_BINS_H
#define TN_NUMPY_BINS_H

#include "array/array.h"

/* n intervals between n + 1 edges in ascending order.  Each has its lower edge, and the last one
 * its upper edge too. */
struct tn_bins {
	const char *operation;
	const tn_array *edges; /* a line */
	int64_t n;
	int is_uniform; /* edges at equal distances */
};

/* n + 1 edges at equal distances between range[0] and range[1]; NULL: the least and the greatest
 * element of the line a, or 0 and 1 if it has none.  One point is widened by 1/2 at both ends.  In
 * a's dtype, or f64 for integers.  n is less than INT64_MAX.  TN_INVALID_ARGUMENT: two are equal,
 * as index_check.h reports it. */
tn_array *tn_bins_edges(const char *operation, const tn_array *a, int64_t n, const double *range);
/* i64, for each element of a line: its interval, or n for those outside. */
tn_array *tn_bins_find(const struct tn_bins *bins, const tn_array *a);
/* For each place below `length`: the sum of the weights of a line, or NULL: how many there are,
 * i64. */
tn_array *tn_bins_sums(const tn_array *places, const tn_array *weights, int64_t length);
/* The same for each interval, from the elements: counted by the host where it reads them. */
tn_array *tn_bins_counts(const struct tn_bins *bins, const tn_array *a, const tn_array *weights);

#endif
