/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Quantiles of lines along the last axis, which have as many elements as are not NaN.  In the
 * caller's scope, with temporaries; NULL: an array is NULL, or the error is kept.
 */
#ifndef TN_NUMPY_QUANTILE_NAN_H
#define TN_NUMPY_QUANTILE_NAN_H

#include "array/array.h"

/* i64, for each line: how many elements are not NaN. */
tn_array *tn_quantile_counts(const char *operation, const tn_array *lines);
/* One element for each line, sorted with NaN behind: a quantile, or the median, of its numbers; NaN
 * where there is none.  Recorded. */
tn_array *tn_quantile_counted(const char *operation, const tn_array *sorted, const tn_array *counts,
			      uint32_t method, double q);
tn_array *tn_median_counted(const char *operation, const tn_array *sorted, const tn_array *counts);

#endif
