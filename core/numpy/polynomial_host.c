/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the host computes of polynomials: zeros, and fits by least squares.
 */
#include <tenon/polynomial.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "numpy/polynomial.h"
#include "numpy/polynomial_zeros.h"
#include "ops/host_compute.h"

/* ---- Zeros -----------------------------------------------------------------------------------*/

static tn_status check_finite(const tn_array *p, const double complex *values)
{
	for (int64_t k = 0; k < p->size; k++) {
		if (!isfinite(creal(values[k])) || !isfinite(cimag(values[k])))
			return tn_runtime_fail(p->runtime, TN_INVALID_ARGUMENT, "roots",
					       "p: coefficient %" PRId64 " is not finite", k);
	}
	return TN_OK;
}

static tn_array *zeros_of(const tn_array *p, tn_dtype dtype, const double complex *values)
{
	int64_t first = 0, end = p->size;
	while (first < end && values[first] == 0)
		first++;
	const int64_t degree = end - first - 1;
	/* Trailing zeros are zeros at 0. */
	while (end > first && values[end - 1] == 0)
		end--;
	const int64_t n_found = end - first - 1, total = degree > 0 ? degree : 0;
	double complex *zeros = tn_mem_zeroed((size_t)total + 1, sizeof(*zeros));
	if (!zeros) {
		tn_runtime_no_memory(p->runtime, "roots", NULL);
		return NULL;
	}
	tn_array *result = NULL;
	if (n_found > 0 && !tn_polynomial_zeros(values + first, n_found, zeros)) {
		tn_runtime_fail(p->runtime, TN_LIMIT, "roots",
				"the zeros of degree %" PRId64 " do not converge", n_found);
	} else {
		tn_polynomial_sort(total, zeros);
		result = tn_host_compute_write(p, TN_C128, dtype, 1, &total, zeros);
	}
	tn_mem_free(zeros);
	return result;
}

tn_array *tn_roots(const tn_array *p)
{
	if (!p || tn_host_compute_begin("roots", 1, &p))
		return NULL;
	tn_context *context = tn_array_context(p);
	const tn_dtype loop = tn_result_type(p->dtype, TN_C64);
	tn_array *result = NULL;
	double complex *values = NULL;
	if (!tn_polynomial_check("roots", "p", p, 1))
		values = tn_host_compute_read("roots", p, TN_C128);
	if (values && !check_finite(p, values)) {
		result = zeros_of(p, loop, values);
		tn_host_compute_count("roots", p);
	}
	tn_mem_free(values);
	return tn_scope_end(context, result);
}

/* ---- Fits ------------------------------------------------------------------------------------*/

/* The rows of a system with n equations: columns of powers, then of right sides. */
struct fit {
	int64_t n, n_powers, n_sides;
	double *rows;   /* n of n_powers + n_sides numbers */
	double *scales; /* the lengths of the columns of powers, which become 1 */
};

static double *row_of(const struct fit *f, int64_t i)
{
	return f->rows + i * (f->n_powers + f->n_sides);
}

static void fill_rows(const struct fit *f, const double *x, const double *y, const double *w)
{
	for (int64_t i = 0; i < f->n; i++) {
		double *row = row_of(f, i), power = w ? w[i] : 1;
		for (int64_t k = 0; k < f->n_sides; k++)
			row[f->n_powers + k] = power * y[i * f->n_sides + k];
		for (int64_t k = f->n_powers - 1; k >= 0; k--) {
			row[k] = power;
			power *= x[i];
		}
	}
	for (int64_t k = 0; k < f->n_powers; k++) {
		f->scales[k] = 0;
		for (int64_t i = 0; i < f->n; i++)
			f->scales[k] = hypot(f->scales[k], row_of(f, i)[k]);
		for (int64_t i = 0; i < f->n && f->scales[k] > 0; i++)
			row_of(f, i)[k] /= f->scales[k];
	}
}

/* Householder's reflection that makes column k 0 below row k, applied to all columns from k on.
 * 0: the column depends on those before it. */
static int reflect(const struct fit *f, int64_t k)
{
	const int64_t n_columns = f->n_powers + f->n_sides;
	double size = 0, sum = 0;
	for (int64_t i = k; i < f->n; i++)
		size = hypot(size, row_of(f, i)[k]);
	if (!(size > (double)f->n * DBL_EPSILON))
		return 0;
	const double head = row_of(f, k)[k], diagonal = head > 0 ? -size : size;
	/* v = column - diagonal e; 2 / v.v = -1 / (diagonal v[k]). */
	const double first = head - diagonal, factor = -1 / (diagonal * first);
	for (int64_t j = k + 1; j < n_columns; j++) {
		sum = first * row_of(f, k)[j];
		for (int64_t i = k + 1; i < f->n; i++)
			sum += row_of(f, i)[k] * row_of(f, i)[j];
		sum *= factor;
		row_of(f, k)[j] -= sum * first;
		for (int64_t i = k + 1; i < f->n; i++)
			row_of(f, i)[j] -= sum * row_of(f, i)[k];
	}
	row_of(f, k)[k] = diagonal;
	return 1;
}

/* The first n_powers rows of the right sides become the solution.  0: it is not determined. */
static int solve(const struct fit *f)
{
	for (int64_t k = 0; k < f->n_powers; k++) {
		if (!reflect(f, k))
			return 0;
	}
	for (int64_t k = f->n_powers - 1; k >= 0; k--) {
		double *row = row_of(f, k);
		for (int64_t s = f->n_powers; s < f->n_powers + f->n_sides; s++) {
			for (int64_t j = k + 1; j < f->n_powers; j++)
				row[s] -= row[j] * row_of(f, j)[s];
			row[s] /= row[k];
		}
	}
	return 1;
}

static tn_status check_fit(const tn_array *x, const tn_array *y, int degree, const tn_array *w)
{
	char place_text[TN_SHAPE_TEXT], value_text[TN_SHAPE_TEXT];
	struct tn_runtime *runtime = x->runtime;
	if (tn_is_complex(x->dtype) || (w && tn_is_complex(w->dtype)))
		return tn_runtime_fail(
			runtime, TN_DTYPE, "polyfit", "x and w: expected real numbers, found %s",
			tn_dtype_name(w && tn_is_complex(w->dtype) ? w->dtype : x->dtype));
	if (degree < 0)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "polyfit",
				       "degree: expected 0 or more, found %d", degree);
	if (x->rank != 1 || y->rank < 1 || y->rank > 2 || y->shape[0] != x->size)
		return tn_runtime_fail(runtime, TN_SHAPE, "polyfit",
				       "x and y: expected a line and as many rows, found shapes %s "
				       "and %s",
				       tn_array_text(x, place_text), tn_array_text(y, value_text));
	if (w && !tn_shape_equal(w->rank, w->shape, 1, x->shape))
		return tn_runtime_fail(runtime, TN_SHAPE, "polyfit",
				       "w: expected shape %s of x, found %s",
				       tn_array_text(x, place_text), tn_array_text(w, value_text));
	if (x->size <= degree)
		return tn_runtime_fail(runtime, TN_SHAPE, "polyfit",
				       "x: expected at least degree + 1 = %" PRId64
				       " places, found %" PRId64,
				       (int64_t)degree + 1, x->size);
	return TN_OK;
}

/* The solution, of the powers by the sides, compact, unscaled, at the beginning of the rows. */
static void gather_solution(const struct fit *f)
{
	for (int64_t k = 0; k < f->n_powers; k++) {
		double *to = f->rows + k * f->n_sides;
		memmove(to, row_of(f, k) + f->n_powers, (size_t)f->n_sides * sizeof(*to));
		for (int64_t s = 0; s < f->n_sides; s++)
			to[s] /= f->scales[k];
	}
}

/* The sums of squares that the equations leave, of real sides, or of both parts of complex ones. */
static tn_array *residuals_of(const struct fit *f, const tn_array *y)
{
	const int64_t n_parts = tn_is_complex(y->dtype) ? 2 : 1, count = f->n_sides / n_parts;
	double *sums = tn_mem_zeroed((size_t)count + 1, sizeof(*sums));
	if (!sums) {
		tn_runtime_no_memory(y->runtime, "polyfit", NULL);
		return NULL;
	}
	for (int64_t i = f->n_powers; i < f->n; i++) {
		for (int64_t s = 0; s < f->n_sides; s++)
			sums[s / n_parts] += pow(row_of(f, i)[f->n_powers + s], 2);
	}
	tn_array *result = tn_host_compute_write(y, TN_F64, TN_F64, 1, &count, sums);
	tn_mem_free(sums);
	return result;
}

static tn_array *solution(const struct fit *f, const tn_array *x, const tn_array *y,
			  tn_array **residuals)
{
	const int64_t shape[] = {f->n_powers, y->rank > 1 ? y->shape[1] : 1};
	tn_dtype dtype = tn_result_type(x->dtype, y->dtype);
	dtype = tn_is_inexact(dtype) ? dtype : TN_F64;
	if (!solve(f)) {
		tn_runtime_fail(x->runtime, TN_INVALID_ARGUMENT, "polyfit",
				"x: the places and weights do not determine %" PRId64
				" coefficients",
				f->n_powers);
		return NULL;
	}
	tn_array *sums = residuals ? residuals_of(f, y) : NULL;
	gather_solution(f);
	tn_array *result = tn_host_compute_write(y, tn_is_complex(y->dtype) ? TN_C128 : TN_F64,
						 dtype, y->rank, shape, f->rows);
	if (residuals && (!sums || !result))
		return NULL;
	if (residuals) {
		tn_array_lift(sums);
		*residuals = sums;
	}
	return result;
}

static tn_array *fitted(const tn_array *x, const tn_array *y, int degree, const tn_array *w,
			tn_array **residuals)
{
	const int is_complex = tn_is_complex(y->dtype);
	struct fit f = {.n = x->size,
			.n_powers = (int64_t)degree + 1,
			.n_sides = (y->rank > 1 ? y->shape[1] : 1) * (is_complex ? 2 : 1)};
	const size_t n_columns = (size_t)(f.n_powers + f.n_sides);
	double *places = tn_host_compute_read("polyfit", x, TN_F64);
	double *values =
		places ? tn_host_compute_read("polyfit", y, is_complex ? TN_C128 : TN_F64) : NULL;
	double *weights = values && w ? tn_host_compute_read("polyfit", w, TN_F64) : NULL;
	tn_array *result = NULL;
	f.rows = tn_mem_zeroed((size_t)f.n * n_columns + 1, sizeof(*f.rows));
	f.scales = tn_mem_zeroed(n_columns, sizeof(*f.scales));
	if (!f.rows || !f.scales) {
		tn_runtime_no_memory(x->runtime, "polyfit", NULL);
	} else if (values && (weights || !w)) {
		fill_rows(&f, places, values, weights);
		result = solution(&f, x, y, residuals);
		tn_host_compute_count("polyfit", x);
	}
	tn_mem_free(places);
	tn_mem_free(values);
	tn_mem_free(weights);
	tn_mem_free(f.rows);
	tn_mem_free(f.scales);
	return result;
}

tn_array *tn_polyfit(const tn_array *x, const tn_array *y, int degree, const tn_array *w,
		     tn_array **residuals)
{
	const tn_array *all[] = {x, y, w};
	if (residuals)
		*residuals = NULL;
	if (tn_arrays_given(2, all, "polyfit") || tn_host_compute_begin("polyfit", w ? 3 : 2, all))
		return NULL;
	tn_array *result = NULL;
	if (!check_fit(x, y, degree, w))
		result = fitted(x, y, degree, w, residuals);
	return tn_scope_end(tn_array_context(x), result);
}
