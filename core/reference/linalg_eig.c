/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Eigenvalues of any square matrix: Hessenberg's form by reflections, Schur's form by the QR
 * algorithm with single shifts in complex arithmetic (Golub and Van Loan, Matrix Computations, 7.4
 * and 7.5), and the vectors by substitution.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "reference/linalg.h"

/* Steps without an eigenvalue found, after which the iteration is given up. */
enum { STEPS = 100, UNUSUAL = 10 };

/* a = z h z^H, where h becomes triangular. */
struct schur {
	struct matrix h;
	struct matrix z;
	double complex *c; /* the rotations of a step */
	double complex *s;
};

/* v^H v = 2 and (I - v v^H) x has zeros but in its first element; 0: x has them already. */
static int reflector(double complex *v, const double complex *x, int64_t n)
{
	double largest = 0, rest = 0, sum = 0;
	for (int64_t i = 0; i < n; i++)
		largest = fmax(largest, fmax(fabs(creal(x[i])), fabs(cimag(x[i]))));
	for (int64_t i = 0; i < n && largest > 0; i++) {
		v[i] = x[i] / largest;
		sum += square(v[i]);
		rest += i ? square(v[i]) : 0;
	}
	if (!(rest > 0))
		return 0;
	double size = cabs(v[0]);
	v[0] += size > 0 ? v[0] / size * sqrt(sum) : sqrt(sum);
	double factor = sqrt(2 / (rest + square(v[0])));
	for (int64_t i = 0; i < n; i++)
		v[i] *= factor;
	return 1;
}

static void reflect_columns(const struct matrix *a, const double complex *v, int64_t first)
{
	for (int64_t j = 0; j < a->columns; j++) {
		double complex sum = 0, *x = column(a, j);
		for (int64_t i = first; i < a->rows; i++)
			sum += conj(v[i - first]) * x[i];
		for (int64_t i = first; i < a->rows; i++)
			x[i] -= sum * v[i - first];
	}
}

static void reflect_rows(const struct matrix *a, const double complex *v, int64_t first)
{
	for (int64_t i = 0; i < a->rows; i++) {
		double complex sum = 0;
		for (int64_t j = first; j < a->columns; j++)
			sum += column(a, j)[i] * v[j - first];
		for (int64_t j = first; j < a->columns; j++)
			column(a, j)[i] -= sum * conj(v[j - first]);
	}
}

static void make_hessenberg(const struct schur *s)
{
	const int64_t n = s->h.rows;
	for (int64_t j = 0; j + 2 < n; j++) {
		double complex *x = column(&s->h, j) + j + 1;
		if (!reflector(s->c, x, n - j - 1))
			continue;
		reflect_columns(&s->h, s->c, j + 1);
		reflect_rows(&s->h, s->c, j + 1);
		reflect_rows(&s->z, s->c, j + 1);
		memset(x + 1, 0, (size_t)(n - j - 2) * sizeof(*x));
	}
}

/* The first row of the block that ends with row `last`; elements beside its corner become 0. */
static int64_t block_start(const struct matrix *h, int64_t last, double norm)
{
	for (int64_t i = last; i > 0; i--) {
		double complex *below = &column(h, i - 1)[i];
		double around = cabs(column(h, i - 1)[i - 1]) + cabs(column(h, i)[i]);
		if (cabs(*below) <= DBL_EPSILON * (around > 0 ? around : norm)) {
			*below = 0;
			return i;
		}
	}
	return 0;
}

/* The eigenvalue of the last two rows and columns of the block that is nearer to its corner. */
static double complex shift_of(const struct matrix *h, int64_t last, int step)
{
	double complex a = column(h, last - 1)[last - 1], b = column(h, last)[last - 1];
	double complex c = column(h, last - 1)[last], d = column(h, last)[last];
	if (step % UNUSUAL == 0)
		return d + cabs(c);
	double complex half = (a - d) / 2, root = csqrt(half * half + b * c);
	if (creal(conj(half) * root) < 0)
		root = -root;
	double complex sum = half + root;
	return sum == 0 ? d : d - b * c / sum;
}

/* x, y := c x + s y, -conj(s) x + conj(c) y */
static void rotate(double complex c, double complex s, double complex *x, double complex *y)
{
	double complex first = *x;
	*x = c * first + s * *y;
	*y = -conj(s) * first + conj(c) * *y;
}

/* One step on rows and columns first to last: h - shift = Q R, h := R Q + shift. */
static void step(const struct schur *schur, int64_t first, int64_t last, double complex shift)
{
	const struct matrix *h = &schur->h;
	const int64_t n = h->rows;
	for (int64_t i = first; i <= last; i++)
		column(h, i)[i] -= shift;
	for (int64_t i = first; i < last; i++) {
		double complex x = column(h, i)[i], y = column(h, i)[i + 1];
		double length = hypot(cabs(x), cabs(y));
		schur->c[i] = length > 0 ? x / length : 1;
		schur->s[i] = length > 0 ? y / length : 0;
		for (int64_t j = i; j < n; j++)
			rotate(conj(schur->c[i]), conj(schur->s[i]), &column(h, j)[i],
			       &column(h, j)[i + 1]);
	}
	for (int64_t i = first; i < last; i++) {
		for (int64_t j = 0; j <= i + 1; j++)
			rotate(schur->c[i], schur->s[i], &column(h, i)[j], &column(h, i + 1)[j]);
		for (int64_t j = 0; j < n; j++)
			rotate(schur->c[i], schur->s[i], &column(&schur->z, i)[j],
			       &column(&schur->z, i + 1)[j]);
	}
	for (int64_t i = first; i <= last; i++)
		column(h, i)[i] += shift;
}

static double norm_of(const double complex *x, int64_t n)
{
	double norm = 0;
	for (int64_t i = 0; i < n; i++)
		norm = hypot(norm, cabs(x[i]));
	return norm;
}

/* 0, or the number of values that were not found. */
static int32_t make_triangular(const struct schur *schur)
{
	const double norm = norm_of(schur->h.at, schur->h.rows * schur->h.rows);
	int steps = 0;
	for (int64_t last = schur->h.rows - 1; last > 0;) {
		int64_t first = block_start(&schur->h, last, norm);
		if (first == last) {
			last--;
			steps = 0;
			continue;
		}
		if (++steps > STEPS)
			return (int32_t)last + 1;
		step(schur, first, last, shift_of(&schur->h, last, steps));
	}
	return 0;
}

/* The vector of value `number`: x of the triangular matrix, then v = z x of length 1. */
static void make_vector(const struct schur *schur, int64_t number, double norm, double complex *v)
{
	const struct matrix *h = &schur->h;
	double complex *x = schur->c, value = column(h, number)[number];
	const double least = norm > 0 ? DBL_EPSILON * norm : DBL_MIN;
	x[number] = 1;
	for (int64_t i = number - 1; i >= 0; i--) {
		double complex sum = 0, gap = column(h, i)[i] - value;
		for (int64_t j = i + 1; j <= number; j++)
			sum += column(h, j)[i] * x[j];
		x[i] = -sum / (cabs(gap) < least ? least : gap);
		double size = cabs(x[i]);
		for (int64_t j = i; j <= number && size > 1e100; j++)
			x[j] /= size;
	}
	memset(v, 0, (size_t)h->rows * sizeof(*v));
	for (int64_t j = 0; j <= number; j++)
		for (int64_t i = 0; i < h->rows; i++)
			v[i] += column(&schur->z, j)[i] * x[j];
	double length = norm_of(v, h->rows);
	for (int64_t i = 0; i < h->rows; i++)
		v[i] /= length;
}

/* Schur's vectors, and the rotations of a step. */
static int64_t work_of_eig(const struct factoring *f)
{
	return f->n * f->n + 2 * f->n;
}

static int32_t eig(struct factoring *f)
{
	const int64_t n = f->n;
	struct schur schur = {
		.h = f->a, .z = {n, n, f->work}, .c = f->work + n * n, .s = f->work + n * n + n};
	if (!tn_reference_is_finite(&f->a, 0))
		return -1;
	const double unit = tn_reference_scale(&f->a);
	memset(schur.z.at, 0, (size_t)(n * n) * sizeof(*schur.z.at));
	for (int64_t i = 0; i < n; i++)
		column(&schur.z, i)[i] = 1;
	make_hessenberg(&schur);
	int32_t info = make_triangular(&schur);
	if (info)
		return info;
	for (int64_t i = 0; i < n; i++)
		f->values[i] = unit * column(&schur.h, i)[i];
	const double norm = norm_of(schur.h.at, n * n);
	for (int64_t i = 0; i < n && f->args.v.dtype; i++)
		make_vector(&schur, i, norm, column(&f->v, i));
	return 0;
}

tn_status tn_reference_eig(void *device, const struct tn_linalg_args *args)
{
	static const struct entry entry = {
		"eig", HAS_V | HAS_VALUES | HAS_COMPLEX_VALUES | HAS_SQUARE_A, eig, work_of_eig};
	return tn_reference_factor(device, args, &entry);
}
