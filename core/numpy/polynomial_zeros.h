/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Zeros of polynomials, on the host.
 */
#ifndef TN_NUMPY_POLYNOMIAL_ZEROS_H
#define TN_NUMPY_POLYNOMIAL_ZEROS_H

#include <complex.h>
#include <stdint.h>

/* zeros[0..degree) of the polynomial with finite coefficients p[0..degree], the highest power
 * first; neither the first nor the last is 0.  0: the method does not converge. */
int tn_polynomial_zeros(const double complex *p, int64_t degree, double complex *zeros);
/* By real parts, then imaginary ones. */
void tn_polynomial_sort(int64_t n, double complex *zeros);

#endif
