/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Jacobi's methods (Golub and Van Loan, Matrix Computations, 8.5 and 8.6.3): eigenvalues of a
 * Hermitian matrix by rotations of its rows and columns, and singular values by rotations of the
 * columns alone, until these are orthogonal.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "reference/linalg.h"

enum { SWEEPS = 60 };

/* The rotation that makes [p, off; conj(off), q] diagonal: the columns (x, y) of a matrix become
 * (c x - s phase y, s x + c phase y). */
struct rotation {
	double c;
	double s;
	double complex phase;
};

static struct rotation rotation_of(double p, double q, double complex off)
{
	double size = cabs(off), zeta = (q - p) / (2 * size);
	double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
	double c = 1 / hypot(1, t);
	return (struct rotation){.c = c, .s = c * t, .phase = conj(off) / size};
}

static void rotate(struct rotation r, double complex *x, double complex *y, int64_t n, int64_t step)
{
	for (int64_t i = 0; i < n; i++) {
		double complex first = x[i * step], second = r.phase * y[i * step];
		x[i * step] = r.c * first - r.s * second;
		y[i * step] = r.s * first + r.c * second;
	}
}

static void identity(const struct matrix *a)
{
	memset(a->at, 0, (size_t)(a->rows * a->columns) * sizeof(*a->at));
	for (int64_t i = 0; i < a->rows; i++)
		column(a, i)[i] = 1;
}

static void exchange_columns(const struct matrix *a, int64_t one, int64_t other)
{
	for (int64_t i = 0; i < a->rows; i++) {
		double complex element = column(a, one)[i];
		column(a, one)[i] = column(a, other)[i];
		column(a, other)[i] = element;
	}
}

/* Sorts the real values, rising or falling, and the columns of both matrices with them. */
static void sort(double complex *values, int64_t n, int falling, const struct matrix *a,
		 const struct matrix *b)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t first = i;
		for (int64_t j = i + 1; j < n; j++) {
			double own = creal(values[j]), best = creal(values[first]);
			first = (falling ? own > best : own < best) ? j : first;
		}
		if (first == i)
			continue;
		double complex value = values[i];
		values[i] = values[first];
		values[first] = value;
		exchange_columns(a, i, first);
		if (b)
			exchange_columns(b, i, first);
	}
}

/* ---- Eigenvalues -----------------------------------------------------------------------------*/

/* One sweep; returns how many elements were rotated away. */
static int64_t sweep_hermitian(const struct matrix *a, const struct matrix *vectors)
{
	const int64_t n = a->rows;
	int64_t count = 0;
	for (int64_t p = 0; p < n; p++) {
		for (int64_t q = p + 1; q < n; q++) {
			double complex off = column(a, q)[p];
			/* The largest element is about 1. */
			if (cabs(off) < DBL_EPSILON * 0x1p-10)
				continue;
			struct rotation r =
				rotation_of(creal(column(a, p)[p]), creal(column(a, q)[q]), off);
			struct rotation adjoint = {r.c, r.s, conj(r.phase)};
			rotate(r, column(a, p), column(a, q), n, 1);
			rotate(adjoint, a->at + p, a->at + q, n, n);
			rotate(r, column(vectors, p), column(vectors, q), n, 1);
			column(a, q)[p] = column(a, p)[q] = 0;
			count++;
		}
	}
	return count;
}

/* The vectors. */
static int64_t work_of_eigh(const struct factoring *f)
{
	return f->n * f->n;
}

static int32_t eigh(struct factoring *f)
{
	const struct matrix *a = &f->a;
	const struct matrix vectors = {f->n, f->n, f->work};
	int sweeps = 0;
	if (!tn_reference_is_finite(a, 1))
		return -1;
	for (int64_t j = 0; j < f->n; j++) {
		column(a, j)[j] = creal(column(a, j)[j]);
		for (int64_t i = 0; i < j; i++)
			column(a, j)[i] = conj(column(a, i)[j]);
	}
	const double unit = tn_reference_scale(a);
	identity(&vectors);
	while (sweep_hermitian(a, &vectors)) {
		if (++sweeps == SWEEPS)
			return 1;
	}
	for (int64_t j = 0; j < f->n; j++)
		f->values[j] = unit * creal(column(a, j)[j]);
	sort(f->values, f->n, 0, &vectors, NULL);
	memcpy(a->at, vectors.at, (size_t)(f->n * f->n) * sizeof(*a->at));
	return 0;
}

tn_status tn_reference_eigh(void *device, const struct tn_linalg_args *args)
{
	static const struct entry entry = {"eigh", HAS_VALUES | HAS_SQUARE_A, eigh, work_of_eigh};
	return tn_reference_factor(device, args, &entry);
}

/* ---- Singular values -------------------------------------------------------------------------*/

/* Columns this much shorter than the longest are 0. */
#define SHORTEST 1e-150

static double norm_of(const double complex *x, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += square(x[i]);
	return sqrt(sum);
}

/* x^H y */
static double complex product(const double complex *x, const double complex *y, int64_t n)
{
	double complex sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += conj(x[i]) * y[i];
	return sum;
}

/* One sweep over the pairs of the first n columns; returns how many were not orthogonal. */
static int64_t sweep_columns(const struct matrix *left, const struct matrix *right)
{
	const int64_t n = right->columns;
	int64_t count = 0;
	for (int64_t p = 0; p < n; p++) {
		for (int64_t q = p + 1; q < n; q++) {
			double complex *x = column(left, p), *y = column(left, q);
			double first = norm_of(x, left->rows), second = norm_of(y, left->rows);
			double complex off = product(x, y, left->rows);
			if (first < SHORTEST || second < SHORTEST ||
			    cabs(off) <= DBL_EPSILON * first * second)
				continue;
			struct rotation r = rotation_of(first * first, second * second, off);
			rotate(r, x, y, left->rows, 1);
			rotate(r, column(right, p), column(right, q), n, 1);
			count++;
		}
	}
	return count;
}

/* x minus its parts along the columns that have length 1, twice for rounding; its norm. */
static double orthogonalise(const struct matrix *left, const unsigned char *is_made,
			    double complex *x)
{
	for (int pass = 0; pass < 2; pass++) {
		for (int64_t j = 0; j < left->columns; j++) {
			double complex part =
				is_made[j] ? product(column(left, j), x, left->rows) : 0;
			for (int64_t i = 0; i < left->rows && is_made[j]; i++)
				x[i] -= part * column(left, j)[i];
		}
	}
	return norm_of(x, left->rows);
}

static void divide(double complex *x, double by, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		x[i] /= by;
}

/* The columns that are 0 become unit vectors orthogonal to all others: what is left of one of the
 * axes, the squares of which add up to the number of missing columns. */
static void complete(const struct matrix *left, unsigned char *is_made)
{
	int64_t axis = 0;
	for (int64_t j = 0; j < left->columns; j++) {
		double complex *x = column(left, j);
		double rest = 0;
		while (!is_made[j] && rest * rest * (double)left->rows < 0.5) {
			memset(x, 0, (size_t)left->rows * sizeof(*x));
			x[axis++ % left->rows] = 1;
			rest = orthogonalise(left, is_made, x);
		}
		if (!is_made[j])
			divide(x, rest, left->rows);
		is_made[j] = 1;
	}
}

/* The lengths of the first n columns, sorted, and columns of length 1. */
static void normalise(struct factoring *f, const struct matrix *left, const struct matrix *right,
		      double unit)
{
	unsigned char *is_made = (unsigned char *)(right->at + right->rows * right->columns);
	for (int64_t j = 0; j < right->columns; j++)
		f->values[j] = norm_of(column(left, j), left->rows);
	const struct matrix sorted = {left->rows, right->columns, left->at};
	sort(f->values, right->columns, 1, &sorted, right);
	for (int64_t j = 0; j < left->columns; j++) {
		double length = j < right->columns ? creal(f->values[j]) : 0;
		is_made[j] = length >= SHORTEST;
		if (is_made[j])
			divide(column(left, j), length, left->rows);
		if (j < right->columns)
			f->values[j] = unit * length;
	}
	complete(left, is_made);
}

/* to := from, or its conjugate transpose, as far as `to` goes. */
static void give(const struct matrix *to, const struct matrix *from, int is_adjoint)
{
	for (int64_t j = 0; j < to->columns; j++)
		for (int64_t i = 0; i < to->rows; i++)
			column(to, j)[i] =
				is_adjoint ? conj(column(from, i)[j]) : column(from, j)[i];
}

/* The columns of `left`: those that are wanted, and at least k. */
static int64_t columns_of_left(const struct factoring *f)
{
	if (!f->args.u.dtype)
		return f->k;
	return f->m < f->n ? f->args.v.shape[1] : f->args.u.shape[2];
}

/* `left`, `right`, and a byte for each column of `left`. */
static int64_t work_of_svd(const struct factoring *f)
{
	const int64_t most = f->m > f->n ? f->m : f->n, columns = columns_of_left(f);
	return most * columns + f->k * f->k + columns / (int64_t)sizeof(double complex) + 1;
}

/* A wide matrix is turned: a^H = left diag(values) right^H. */
static int32_t svd(struct factoring *f)
{
	const int is_wide = f->m < f->n, wants = f->args.u.dtype != 0;
	const int64_t most = is_wide ? f->n : f->m;
	struct matrix left = {most, f->k, f->work};
	const struct matrix right = {f->k, f->k, f->work + most * columns_of_left(f)};
	int sweeps = 0;
	if (!tn_reference_is_finite(&f->a, 0))
		return -1;
	give(&left, &f->a, is_wide);
	const double unit = tn_reference_scale(&left);
	identity(&right);
	while (sweep_columns(&left, &right)) {
		if (++sweeps == SWEEPS)
			return 1;
	}
	if (wants)
		left.columns = columns_of_left(f);
	normalise(f, &left, &right, unit);
	if (!wants)
		return 0;
	give(&f->u, is_wide ? &right : &left, 0);
	give(&f->v, is_wide ? &left : &right, 1);
	return 0;
}

tn_status tn_reference_svd(void *device, const struct tn_linalg_args *args)
{
	static const struct entry entry = {"svd", HAS_U | HAS_V | HAS_VALUES, svd, work_of_svd};
	return tn_reference_factor(device, args, &entry);
}
