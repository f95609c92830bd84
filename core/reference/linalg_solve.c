/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cholesky and LU factorisation, and systems with triangular matrices (Golub and Van Loan, Matrix
 * Computations, 4.2.5, 3.4.3 and 3.1.2).
 */
#include <math.h>

#include "reference/linalg.h"

/* ---- Cholesky --------------------------------------------------------------------------------*/

/* L[i][j] = (a[i][j] - sum over l < j of L[i][l] conj(L[j][l])) / L[j][j], column by column. */
static int32_t cholesky(struct factoring *f)
{
	const struct matrix *a = &f->a;
	for (int64_t j = 0; j < f->n; j++) {
		double complex *own = column(a, j);
		for (int64_t i = 0; i < j; i++)
			own[i] = 0;
		for (int64_t l = 0; l < j; l++) {
			const double complex *before = column(a, l);
			for (int64_t i = j; i < f->n; i++)
				own[i] -= before[i] * conj(before[j]);
		}
		double pivot = creal(own[j]);
		if (!(pivot > 0))
			return (int32_t)j + 1;
		own[j] = sqrt(pivot);
		for (int64_t i = j + 1; i < f->n; i++)
			own[i] /= creal(own[j]);
	}
	return 0;
}

tn_status tn_reference_cholesky(void *device, const struct tn_linalg_args *args)
{
	static const struct entry entry = {"cholesky", HAS_SQUARE_A, cholesky, NULL};
	return tn_reference_factor(device, args, &entry);
}

/* ---- LU --------------------------------------------------------------------------------------*/

static double size_of(double complex z)
{
	return fabs(creal(z)) + fabs(cimag(z));
}

/* The row of the largest element in column j, from row j on. */
static int64_t find_pivot(const struct matrix *a, int64_t j)
{
	int64_t best = j;
	for (int64_t i = j + 1; i < a->rows; i++) {
		if (size_of(column(a, j)[i]) > size_of(column(a, j)[best]))
			best = i;
	}
	return best;
}

static void exchange_rows(const struct matrix *a, int64_t one, int64_t other)
{
	for (int64_t j = 0; j < a->columns && one != other; j++) {
		double complex element = column(a, j)[one];
		column(a, j)[one] = column(a, j)[other];
		column(a, j)[other] = element;
	}
}

static int32_t lu(struct factoring *f)
{
	const struct matrix *a = &f->a;
	int32_t info = 0;
	for (int64_t l = 0; l < f->k; l++) {
		double complex *own = column(a, l);
		int64_t pivot = find_pivot(a, l);
		f->pivots[l] = (int32_t)pivot;
		if (own[pivot] == 0) {
			info = info ? info : (int32_t)l + 1;
			continue;
		}
		exchange_rows(a, l, pivot);
		for (int64_t i = l + 1; i < f->m; i++)
			own[i] /= own[l];
		for (int64_t j = l + 1; j < f->n; j++) {
			double complex factor = column(a, j)[l];
			for (int64_t i = l + 1; i < f->m && factor != 0; i++)
				column(a, j)[i] -= own[i] * factor;
		}
	}
	return info;
}

tn_status tn_reference_lu(void *device, const struct tn_linalg_args *args)
{
	static const struct entry entry = {"lu", HAS_PIVOTS, lu, NULL};
	return tn_reference_factor(device, args, &entry);
}

/* ---- Systems ---------------------------------------------------------------------------------*/

/* A triangular matrix, or what `transpose` makes of it. */
struct triangle {
	const struct matrix *a;
	int is_upper; /* after the transposition */
	uint32_t transpose;
	int unit;
};

static double complex element(const struct triangle *t, int64_t i, int64_t j)
{
	if (t->transpose == TN_TRANSPOSE_NONE)
		return column(t->a, j)[i];
	double complex z = column(t->a, i)[j];
	return t->transpose == TN_TRANSPOSE_CONJUGATE ? conj(z) : z;
}

/* x := t^-1 x, by substitution of one unknown after the other. */
static void substitute(const struct triangle *t, double complex *x)
{
	const int64_t n = t->a->rows;
	for (int64_t step = 0; step < n; step++) {
		int64_t j = t->is_upper ? n - 1 - step : step;
		if (!t->unit)
			x[j] /= element(t, j, j);
		for (int64_t i = t->is_upper ? 0 : j + 1; i < (t->is_upper ? j : n); i++)
			x[i] -= element(t, i, j) * x[j];
	}
}

static int32_t solve_triangular(struct factoring *f)
{
	const struct tn_linalg_args *args = &f->args;
	struct triangle t = {.a = &f->a,
			     .is_upper = args->upper ^ (args->transpose != TN_TRANSPOSE_NONE),
			     .transpose = args->transpose,
			     .unit = (int)args->unit};
	for (int64_t j = 0; j < f->n && !t.unit; j++) {
		if (column(&f->a, j)[j] == 0)
			return (int32_t)j + 1;
	}
	for (int64_t j = 0; j < f->b.columns; j++)
		substitute(&t, column(&f->b, j));
	return 0;
}

tn_status tn_reference_solve_triangular(void *device, const struct tn_linalg_args *args)
{
	static const struct entry entry = {
		"solve_triangular", HAS_B | HAS_SQUARE_A | HAS_CONSTANT_A, solve_triangular, NULL};
	return tn_reference_factor(device, args, &entry);
}

static int32_t solve(struct factoring *f)
{
	const struct triangle lower = {.a = &f->a, .unit = 1}, upper = {.a = &f->a, .is_upper = 1};
	int32_t info = lu(f);
	if (info)
		return info;
	for (int64_t l = 0; l < f->k; l++)
		exchange_rows(&f->b, l, f->pivots[l]);
	for (int64_t j = 0; j < f->b.columns; j++) {
		substitute(&lower, column(&f->b, j));
		substitute(&upper, column(&f->b, j));
	}
	return 0;
}

tn_status tn_reference_solve(void *device, const struct tn_linalg_args *args)
{
	static const struct entry entry = {"solve", HAS_B | HAS_SQUARE_A, solve, NULL};
	return tn_reference_factor(device, args, &entry);
}
