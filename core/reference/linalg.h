/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches of matrices for the entries of tenon.linalg/1.  Each matrix is copied to compact
 * column-major memory of complex numbers in double precision, factored there, and rounded once when
 * it is copied back; so one text serves all four dtypes, and a real matrix stays real.
 */
#ifndef TN_REFERENCE_LINALG_H
#define TN_REFERENCE_LINALG_H

#include <complex.h>
#include <string.h>

#include "reference/view.h"

/* A matrix: element (i, j) is at[i + j * rows]. */
struct matrix {
	int64_t rows;
	int64_t columns;
	double complex *at;
};

/* One call: its checked arguments, and scratch memory for one matrix of each operand. */
struct factoring {
	struct tn_linalg_args args;
	const char *operation;
	void *device;
	int64_t m, n, k; /* of a; k = min(m, n) */
	int64_t batch;
	struct matrix a, b, u, v;
	double complex *values; /* k */
	int32_t *pivots;        /* k */
	double complex *work;   /* 2 max(m, n)^2 + 2 max(m, n) */
};

/* Which operands an entry has: those it must, and those it may. */
enum { HAS_B = 1, HAS_U = 2, HAS_V = 4, HAS_VALUES = 8, HAS_PIVOTS = 16 };

/* Takes and checks the arguments, runs `factor` on each matrix, whose result is its info, and
 * writes the operands that there are.  `is_square`: so must a be. */
tn_status tn_reference_factor(void *device, const struct tn_linalg_args *theirs,
			      const char *operation, uint32_t has, int is_square,
			      int32_t (*factor)(struct factoring *f));

/* Are all elements of the lower triangle, or of the whole matrix, finite? */
int tn_reference_is_finite(const struct matrix *a, int is_lower);

/* Divides the matrix by a power of two that makes its largest element about 1, and returns it. */
double tn_reference_scale(const struct matrix *a);

/* CMPLX of C11, which not every compiler has. */
static inline double complex complex_of(double real, double imaginary)
{
	const double parts[2] = {real, imaginary};
	double complex z;
	memcpy(&z, parts, sizeof(z));
	return z;
}

static inline double complex *column(const struct matrix *a, int64_t j)
{
	return a->at + j * a->rows;
}

static inline double square(double complex z)
{
	return creal(z) * creal(z) + cimag(z) * cimag(z);
}

#endif
