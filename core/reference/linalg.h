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

struct entry;

/* One call: its checked arguments, and scratch memory for one matrix of each operand. */
struct factoring {
	struct tn_linalg_args args;
	const struct entry *entry;
	const char *operation;
	void *device;
	int64_t m, n, k; /* of a; k = min(m, n) */
	int64_t batch;
	struct matrix a, b, u, v;
	double complex *values; /* k */
	int32_t *pivots;        /* k */
	double complex *work;   /* as many as the entry asks for */
};

/* What an entry has: operands, those it must and those it may; values and vectors v that are
 * complex whatever the dtype of a; and a matrix a that must be square, or that it only reads. */
enum {
	HAS_B = 1,
	HAS_U = 2,
	HAS_V = 4,
	HAS_VALUES = 8,
	HAS_PIVOTS = 16,
	HAS_COMPLEX_VALUES = 32,
	HAS_SQUARE_A = 64,
	HAS_CONSTANT_A = 128
};

/* What differs between the entries. */
struct entry {
	const char *operation;
	uint32_t has;
	int32_t (*factor)(struct factoring *f);     /* returns info */
	int64_t (*work)(const struct factoring *f); /* complex numbers; NULL: it needs none */
};

/* Takes and checks the arguments, factors each matrix, and writes the operands that there are. */
tn_status tn_reference_factor(void *device, const struct tn_linalg_args *theirs,
			      const struct entry *entry);

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
