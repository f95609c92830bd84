/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * LU and systems by LAPACK's xGETRF, xGETRS and xTRTRS.  OpenBLAS's multiply by inverses of pivots,
 * which are infinite where a pivot is subnormal: matrices of numbers so small are scaled by a power
 * of two, and a triangular system with such a number on its diagonal is solved here.
 */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg.h"

/* ---- Elements --------------------------------------------------------------------------------*/

static char *element(const struct factoring *f, void *a, int64_t i, int64_t j)
{
	return (char *)a + (size_t)(i + j * f->lda) * f->size;
}

static double complex load(const struct factoring *f, const char *at)
{
	float narrow[2] = {0, 0};
	double wide[2] = {0, 0};
	double complex z;
	memcpy(linalg_real_size(f) == sizeof(float) ? (void *)narrow : wide, at, f->size);
	for (int i = 0; i < 2 && linalg_real_size(f) == sizeof(float); i++)
		wide[i] = narrow[i];
	memcpy(&z, wide, sizeof(z));
	return z;
}

static void store(const struct factoring *f, char *at, double complex z)
{
	const float narrow[2] = {(float)creal(z), (float)cimag(z)};
	const double wide[2] = {creal(z), cimag(z)};
	memcpy(at, linalg_real_size(f) == sizeof(float) ? (const void *)narrow : wide, f->size);
}

static int is_zero(const struct factoring *f, const char *at)
{
	return load(f, at) == 0;
}

/* n numbers, one after the other, times 2^exponent. */
static void scale(const struct factoring *f, char *at, int64_t n, int exponent)
{
	const int64_t numbers = linalg_is_complex(f) ? 2 * n : n;
	float *narrow = (float *)(void *)at;
	double *wide = (double *)(void *)at;
	for (int64_t i = 0; i < numbers; i++) {
		if (linalg_real_size(f) == sizeof(*narrow))
			narrow[i] = ldexpf(narrow[i], exponent);
		else
			wide[i] = ldexp(wide[i], exponent);
	}
}

/* The largest real or imaginary part of column j; infinite if one is not finite. */
static double largest_of(const struct factoring *f, const char *column)
{
	const int64_t numbers = linalg_is_complex(f) ? 2 * (int64_t)f->m : f->m;
	const float *narrow = (const float *)(const void *)column;
	const double *wide = (const double *)(const void *)column;
	double largest = 0;
	for (int64_t i = 0; i < numbers; i++) {
		const double size =
			fabs(linalg_real_size(f) == sizeof(*narrow) ? (double)narrow[i] : wide[i]);
		if (!(size <= largest))
			largest = isnan(size) ? (double)INFINITY : size;
	}
	return largest;
}

/* Multiplies a matrix whose elements are all subnormal, or nearly, by a power of two.  Returns its
 * exponent; 0: the matrix is left as it is. */
static int scale_up(const struct factoring *f, char *a)
{
	const int is_narrow = linalg_real_size(f) == sizeof(float);
	const double small = is_narrow ? FLT_MIN / FLT_EPSILON : DBL_MIN / DBL_EPSILON;
	const int exponent = is_narrow ? 80 : 600;
	for (int64_t j = 0; j < f->n; j++) {
		if (!(largest_of(f, element(f, a, 0, j)) < small))
			return 0;
	}
	for (int64_t j = 0; j < f->n; j++)
		scale(f, element(f, a, 0, j), f->m, exponent);
	return exponent;
}

/* ---- LU --------------------------------------------------------------------------------------*/

static int plan_pivots(struct factoring *f)
{
	f->parts[LINALG_PIVOTS] = (uint64_t)f->k * sizeof(int32_t);
	return 0;
}

static void give_pivots(const struct factoring *f, const struct matrix *x, const int32_t *pivots)
{
	for (int32_t i = 0; x->pivots && i < f->k; i++)
		x->pivots[i] = pivots[i] - 1;
	for (int32_t i = 0; x->permutation && i < f->m; i++)
		x->permutation[i] = i;
	for (int32_t i = 0; x->permutation && i < f->k; i++) {
		int32_t row = x->permutation[i];
		x->permutation[i] = x->permutation[pivots[i] - 1];
		x->permutation[pivots[i] - 1] = row;
	}
}

/* The place of the first 0 on U's diagonal, from 1; 0: there is none. */
static int32_t find_zero(const struct factoring *f, const struct matrix *x)
{
	for (int64_t j = 0; j < f->k; j++) {
		if (is_zero(f, element(f, x->a, j, j)))
			return (int32_t)j + 1;
	}
	return 0;
}

/* U of a matrix that was scaled, as far as it is not 0 below the smallest number. */
static int32_t unscale_u(const struct factoring *f, const struct matrix *x, int exponent)
{
	for (int64_t j = 0; j < f->n && exponent; j++) {
		const int64_t rows = j + 1 < f->m ? j + 1 : f->m;
		scale(f, element(f, x->a, 0, j), rows, -exponent);
	}
	return exponent ? find_zero(f, x) : 0;
}

static int32_t factor_lu(const struct factoring *f, const struct matrix *x)
{
	int32_t info = 0, *pivots = (int32_t *)(void *)x->parts[LINALG_PIVOTS];
	const int exponent = scale_up(f, x->a);
	linalg_lapack(f)->getrf[f->type](&f->m, &f->n, x->a, &f->lda, pivots, &info);
	const int32_t zero = unscale_u(f, x, exponent);
	give_pivots(f, x, pivots);
	return zero ? zero : info;
}

tn_status cpu_lu(void *device, const struct tn_linalg_args *args)
{
	static const struct linalg_entry entry = {
		.has_pivots = 1, .plan = plan_pivots, .factor = factor_lu};
	return cpu_linalg_run(device, args, "lu", &entry);
}

/* ---- Systems ---------------------------------------------------------------------------------*/

static int32_t factor_solve(const struct factoring *f, const struct matrix *x)
{
	int32_t info = 0, *pivots = (int32_t *)(void *)x->parts[LINALG_PIVOTS];
	const int exponent = scale_up(f, x->a);
	linalg_lapack(f)->getrf[f->type](&f->m, &f->n, x->a, &f->lda, pivots, &info);
	if (!info)
		linalg_lapack(f)->getrs[f->type]("N", &f->n, &f->n_right, x->a, &f->lda, pivots,
						 x->b, &f->ldb, &info, 1);
	for (int64_t j = 0; j < f->n_right && exponent; j++)
		scale(f, (char *)x->b + (size_t)(j * f->ldb) * f->size, f->n, exponent);
	const int32_t zero = unscale_u(f, x, exponent);
	return zero ? zero : info;
}

tn_status cpu_solve(void *device, const struct tn_linalg_args *args)
{
	static const struct linalg_entry entry = {
		.is_square = 1, .has_b = 1, .plan = plan_pivots, .factor = factor_solve};
	return cpu_linalg_run(device, args, "solve", &entry);
}

/* Element (i, j) of what `transpose` makes of a. */
static double complex element_of(const struct factoring *f, const struct matrix *x, int64_t i,
				 int64_t j)
{
	if (f->args.transpose == TN_TRANSPOSE_NONE)
		return load(f, element(f, x->a, i, j));
	const double complex z = load(f, element(f, x->a, j, i));
	return f->args.transpose == TN_TRANSPOSE_CONJUGATE ? conj(z) : z;
}

/* One column of b by one unknown after the other, with divisions. */
static void substitute(const struct factoring *f, const struct matrix *x, char *b)
{
	const int is_upper = (int)f->args.upper ^ (f->args.transpose != TN_TRANSPOSE_NONE);
	for (int64_t step = 0; step < f->n; step++) {
		const int64_t j = is_upper ? f->n - 1 - step : step;
		const int64_t first = is_upper ? 0 : j + 1, end = is_upper ? j : f->n;
		const double complex value =
			load(f, b + (size_t)j * f->size) / element_of(f, x, j, j);
		store(f, b + (size_t)j * f->size, value);
		for (int64_t i = first; i < end; i++) {
			char *at = b + (size_t)i * f->size;
			store(f, at, load(f, at) - element_of(f, x, i, j) * value);
		}
	}
}

static int has_small_diagonal(const struct factoring *f, const struct matrix *x)
{
	const double smallest = linalg_real_size(f) == sizeof(float) ? FLT_MIN : DBL_MIN;
	for (int64_t j = 0; j < f->n && !f->args.unit; j++) {
		const double complex z = load(f, element(f, x->a, j, j));
		if (z != 0 && fabs(creal(z)) < smallest && fabs(cimag(z)) < smallest)
			return 1;
	}
	return 0;
}

static int32_t factor_triangular(const struct factoring *f, const struct matrix *x)
{
	static const char *const transposes[] = {"N", "T", "C"};
	const struct tn_linalg_args *args = &f->args;
	int32_t info = 0;
	if (has_small_diagonal(f, x)) {
		info = find_zero(f, x);
		for (int64_t j = 0; j < f->n_right && !info; j++)
			substitute(f, x, (char *)x->b + (size_t)(j * f->ldb) * f->size);
		return info;
	}
	linalg_lapack(f)->trtrs[f->type](args->upper ? "U" : "L", transposes[args->transpose],
					 args->unit ? "U" : "N", &f->n, &f->n_right, x->a, &f->lda,
					 x->b, &f->ldb, &info, 1, 1, 1);
	return info;
}

tn_status cpu_solve_triangular(void *device, const struct tn_linalg_args *args)
{
	static const struct linalg_entry entry = {
		.is_square = 1, .keeps_a = 1, .has_b = 1, .factor = factor_triangular};
	return cpu_linalg_run(device, args, "solve_triangular", &entry);
}
