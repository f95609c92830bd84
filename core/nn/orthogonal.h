/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The orthonormal factor of a matrix.
 */
#ifndef TN_NN_ORTHOGONAL_H
#define TN_NN_ORTHOGONAL_H

#include <stdint.h>

/* Replaces the n columns of a (m >= n >= 1), each m adjacent numbers, by the Q of its factors Q R
 * with a diagonal of R that is not negative.  `q` has room for m n numbers, `signs` for n. */
void tn_orthogonalise(int64_t m, int64_t n, double *a, double *q, double *signs);

#endif
