/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Polynomials as lines of coefficients, the highest power first: NumPy's names and rules;
 * tn_polynomial(3) lists every departure.
 *
 * What <tenon/array.h> says of ownership, errors and threads holds here too.  Lengths do not depend
 * on values: leading zeros stay.  A polynomial that is not a line is TN_SHAPE.
 * All functions: [thread: one per context | may return before the result is ready | since 0.1],
 * but for tn_roots and tn_polyfit, which wait for the device: the host computes them, in f64, which
 * the ledger counts.  All others have gradients.
 */
#ifndef TENON_POLYNOMIAL_H
#define TENON_POLYNOMIAL_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values at x, of any shape, in the common dtype, by Horner's rule: a pass over x for each
 * coefficient.  A line without coefficients is 0. */
TN_API tn_array *tn_polyval(const tn_array *p, const tn_array *x);

TN_API tn_array *tn_polyadd(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_polysub(const tn_array *a, const tn_array *b);
/* TN_SHAPE: a line has no coefficients. */
TN_API tn_array *tn_polymul(const tn_array *a, const tn_array *b);
/* The quotient of a and b, and in *remainder, unless it is NULL, the remainder (NULL on failure),
 * in their common floating dtype, f64 for integers: of max(n - m + 1, 1) and min(m - 1, n)
 * coefficients, at least one, for n of a and m of b.  A b whose first coefficient is 0 gives
 * infinities and NaN.  TN_SHAPE: a line has no coefficients. */
TN_API tn_array *tn_polydiv(const tn_array *a, const tn_array *b, tn_array **remainder);

/* The m-th derivative, and the m-th integral with the constants k, the first integration's first;
 * one stands for all, and NULL for zeros.  Integrals of integers are f64.
 * TN_INVALID_ARGUMENT: m is below 0.  TN_SHAPE: k is not a line of 1 or m numbers. */
TN_API tn_array *tn_polyder(const tn_array *p, int m);
TN_API tn_array *tn_polyint(const tn_array *p, int m, const tn_array *k);

/* The polynomial with these zeros and the leading coefficient 1, in their dtype; bool gives i8. */
TN_API tn_array *tn_poly(const tn_array *zeros);
/* Its zeros, without leading coefficients of 0, in the order of their real parts and then of their
 * imaginary parts: c64 for f32, c64 and narrower dtypes, else c128.  Those of real polynomials are
 * real or pairs of conjugates.  No gradient (TN_STATE where one is wanted).
 * TN_INVALID_ARGUMENT: a coefficient is not finite.  TN_LIMIT: the method does not converge. */
TN_API tn_array *tn_roots(const tn_array *p);
/* The coefficients, degree + 1 of them, of the polynomial for which sum |w (y - polyval(x))|^2 is
 * least, over the places x, a line; y is a line of as many values, real or complex, or has a column
 * of them for each of several polynomials, which are columns of the result.  w are weights, NULL:
 * ones.  *residuals, unless residuals is NULL, receives those sums, f64, one for each polynomial
 * (NULL on failure).  In the common floating dtype of x and y, f64 for integers.  No gradient
 * (TN_STATE where one is wanted).  TN_SHAPE: shapes do not fit, or there are fewer places than
 * coefficients.  TN_DTYPE: x or w is complex.  TN_INVALID_ARGUMENT: degree is below 0, or the
 * places do not determine the polynomial. */
TN_API tn_array *tn_polyfit(const tn_array *x, const tn_array *y, int degree, const tn_array *w,
			    tn_array **residuals);

#ifdef __cplusplus
}
#endif
#endif
