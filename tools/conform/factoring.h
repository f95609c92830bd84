/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A call of tenon.linalg/1 with its drawn matrices, and the judgement on what it returns.
 */
#ifndef TN_TOOLS_CONFORM_FACTORING_H
#define TN_TOOLS_CONFORM_FACTORING_H

#include <complex.h>

#include "base/dtype.h"
#include "slots.h"

/* Matrices that are drawn: nothing special; rows and columns of falling size; of half the rank;
 * with equal singular values; so small, or large, that squares of their elements are 0 or infinite;
 * and of subnormal numbers alone. */
enum content { PLAIN, GRADED, DEFICIENT, MULTIPLE, TINY, LARGE, SUBNORMAL, CONTENTS };

enum { MOST_MATRICES = 136 };

/* On the host, compact: element (i, j) is at[i + j * rows]. */
struct matrix {
	int64_t rows;
	int64_t columns;
	double complex *at;
};

struct factoring {
	struct kit *kit;
	int slot;
	tn_dtype dtype;
	enum content content;
	int64_t batch, m, n, r, gap;
	int64_t k;     /* min(m, n) */
	int64_t place; /* from 1: where the middle one of the matrices fails; 0: none does */
	uint32_t upper, unit, transpose;
	uint32_t vectors; /* of eigh, eig and svd; of lu: pivots and permutation */
	uint32_t full;
	struct array a, b, u, v, values, pivots, permutation, info;
	struct array *all[8];
	size_t n_all;
	struct matrix before_a[MOST_MATRICES], before_b[MOST_MATRICES];
};

/* CMPLX of C11, which not every compiler has. */
static inline double complex complex_of(double real, double imaginary)
{
	const double parts[2] = {real, imaginary};
	double complex z;
	memcpy(&z, parts, sizeof(z));
	return z;
}

static inline double complex *at(const struct matrix *a, int64_t i, int64_t j)
{
	return a->at + i + j * a->rows;
}

static inline int has_b(const struct factoring *f)
{
	return f->slot == TN_SLOT_SOLVE || f->slot == TN_SLOT_SOLVE_TRIANGULAR;
}

static inline int has_values(const struct factoring *f)
{
	return f->slot == TN_SLOT_EIGH || f->slot == TN_SLOT_SVD || f->slot == TN_SLOT_EIG;
}

/* Zeroed; ends the program if there is none.  The caller frees. */
double complex *matrix_memory(int64_t rows, int64_t columns);
/* A matrix of a batch, from and to the array's image.  The caller frees at. */
struct matrix matrix_read(const struct array *array, int64_t number);
void matrix_write(const struct array *array, int64_t number, const struct matrix *a);
/* c := op(a) op(b), the conjugate transpose where asked for; c is neither. */
void multiply(const struct matrix *c, const struct matrix *a, int a_adjoint, const struct matrix *b,
	      int b_adjoint);

/* Fails the case if the results for that matrix break a promise. */
void factoring_judge(struct factoring *f, int64_t number);

#endif
