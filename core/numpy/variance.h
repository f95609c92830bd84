/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What variances are made of, with and without NaN.
 */
#ifndef TN_NUMPY_VARIANCE_H
#define TN_NUMPY_VARIANCE_H

#include "array/array.h"

/* The array in the dtype in which spreads are computed: f32 for f16 and bf16, f64 for integers and
 * bool, else itself. */
const tn_array *tn_variance_input(const tn_array *a);
/* |x - mean|^2, which is real; with skips_nan 0 where x is NaN. */
tn_array *tn_variance_square(const char *operation, const tn_array *x, const tn_array *mean,
			     int skips_nan);
/* sum / count, in the sum's dtype: 0 / 0 is NaN. */
tn_array *tn_variance_quotient(const char *operation, tn_array *sum, tn_array *count);
/* A spread of `a`, or with is_root its root, in the dtype of the result: f16 for f16, f64 for
 * integers and bool, real for complex numbers. */
tn_array *tn_variance_result(tn_array *spread, const tn_array *a, int is_root);

#endif
