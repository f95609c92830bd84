/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Eigenvalues and singular values by LAPACK's xSYEVD, xHEEVD, xGESDD and xGEEV, some of which do
 * not return where an element is not finite: that is checked before.
 */
#include "linalg.h"

#include <math.h>
#include <string.h>

static int is_finite_run(const struct factoring *f, const char *at, int64_t n)
{
	const int64_t numbers = linalg_is_complex(f) ? 2 * n : n;
	const float *narrow = (const float *)(const void *)at;
	const double *wide = (const double *)(const void *)at;
	/* 0 times a number is NaN unless it is finite. */
	double sum = 0;
	for (int64_t i = 0; i < numbers; i++)
		sum += 0 * (linalg_real_size(f) == sizeof(*narrow) ? (double)narrow[i] : wide[i]);
	return sum == 0;
}

/* Of the lower triangle, or the whole matrix. */
static int is_finite(const struct factoring *f, const char *a, int is_lower)
{
	for (int64_t j = 0; j < f->n; j++) {
		const int64_t first = is_lower ? j : 0;
		if (!is_finite_run(f, a + (size_t)(j * f->lda + first) * f->size, f->m - first))
			return 0;
	}
	return 1;
}

/* ---- Hermitian matrices ----------------------------------------------------------------------*/

static void call_eigh(const struct factoring *f, const struct matrix *x, const int32_t *lwork,
		      const int32_t *lrwork, const int32_t *liwork, int32_t *info)
{
	const struct cpu_lapack *lapack = linalg_lapack(f);
	const char *job = f->args.vectors ? "V" : "N";
	int32_t *integers = (int32_t *)(void *)x->parts[LINALG_INTEGERS];
	if (linalg_is_complex(f))
		lapack->heevd[f->type - 2](job, "L", &f->n, x->a, &f->lda, x->values,
					   x->parts[LINALG_WORK], lwork, x->parts[LINALG_REAL_WORK],
					   lrwork, integers, liwork, info, 1, 1);
	else
		lapack->syevd[f->type](job, "L", &f->n, x->a, &f->lda, x->values,
				       x->parts[LINALG_WORK], lwork, integers, liwork, info, 1, 1);
}

static int plan_eigh(struct factoring *f)
{
	char work[16] = {0}, real_work[16] = {0}, integers[16] = {0};
	const struct matrix x = {.parts = {[LINALG_WORK] = work,
					   [LINALG_REAL_WORK] = real_work,
					   [LINALG_INTEGERS] = integers}};
	const int32_t ask = -1;
	int32_t info = 0;
	/* 2 n^2 and more. */
	if (f->n > 32000)
		return 1;
	call_eigh(f, &x, &ask, &ask, &ask, &info);
	memcpy(&f->liwork, integers, sizeof(f->liwork));
	if (info || linalg_take_size(f, work, &f->lwork) ||
	    (linalg_is_complex(f) && linalg_take_size(f, real_work, &f->lrwork)))
		return 1;
	f->parts[LINALG_WORK] = (uint64_t)f->lwork * f->size;
	f->parts[LINALG_REAL_WORK] = (uint64_t)f->lrwork * linalg_real_size(f);
	f->parts[LINALG_INTEGERS] = (uint64_t)f->liwork * sizeof(int32_t);
	return 0;
}

static int32_t factor_eigh(const struct factoring *f, const struct matrix *x)
{
	int32_t info = 0;
	if (!is_finite(f, x->a, 1))
		return LINALG_NOT_FINITE;
	call_eigh(f, x, &f->lwork, &f->lrwork, &f->liwork, &info);
	return info;
}

tn_status cpu_eigh(void *device, const struct tn_linalg_args *args)
{
	static const struct linalg_entry entry = {
		.is_square = 1, .has_values = 1, .plan = plan_eigh, .factor = factor_eigh};
	return cpu_linalg_run(device, args, "eigh", &entry);
}

/* ---- Singular values -------------------------------------------------------------------------*/

static void call_svd(const struct factoring *f, const struct matrix *x, const int32_t *lwork,
		     int32_t *info)
{
	const struct cpu_lapack *lapack = linalg_lapack(f);
	const struct tn_linalg_args *args = &f->args;
	const int is_full = args->u.dtype && (args->u.shape[2] > f->k || args->v.shape[1] > f->k);
	const char *job = !args->u.dtype ? "N" : is_full ? "A" : "S";
	const int32_t ldu = args->u.dtype ? f->ldu : 1, ldv = args->u.dtype ? f->ldv : 1;
	int32_t *integers = (int32_t *)(void *)x->parts[LINALG_INTEGERS];
	if (linalg_is_complex(f))
		lapack->gesdd_complex[f->type - 2](job, &f->m, &f->n, x->a, &f->lda, x->values,
						   x->u, &ldu, x->v, &ldv, x->parts[LINALG_WORK],
						   lwork, x->parts[LINALG_REAL_WORK], integers,
						   info, 1);
	else
		lapack->gesdd[f->type](job, &f->m, &f->n, x->a, &f->lda, x->values, x->u, &ldu,
				       x->v, &ldv, x->parts[LINALG_WORK], lwork, integers, info, 1);
}

/* The documented length of RWORK, which a query does not tell. */
static double real_work_of(const struct factoring *f)
{
	const double least = f->k, most = f->m > f->n ? f->m : f->n;
	if (!f->args.u.dtype)
		return 7 * least;
	return fmax(5 * least * least + 5 * least, 2 * most * least + 2 * least * least + least);
}

static int plan_svd(struct factoring *f)
{
	char work[16] = {0}, unused[16] = {0};
	const struct matrix x = {.parts = {[LINALG_WORK] = work,
					   [LINALG_REAL_WORK] = unused,
					   [LINALG_INTEGERS] = unused}};
	const int32_t ask = -1;
	int32_t info = 0;
	if (real_work_of(f) > INT32_MAX || !linalg_has_query(f->k))
		return 1;
	call_svd(f, &x, &ask, &info);
	if (info || linalg_take_size(f, work, &f->lwork))
		return 1;
	f->parts[LINALG_WORK] = (uint64_t)f->lwork * f->size;
	if (linalg_is_complex(f))
		f->parts[LINALG_REAL_WORK] = (uint64_t)real_work_of(f) * linalg_real_size(f);
	f->parts[LINALG_INTEGERS] = 8 * (uint64_t)f->k * sizeof(int32_t);
	return 0;
}

static int32_t factor_svd(const struct factoring *f, const struct matrix *x)
{
	int32_t info = 0;
	if (!is_finite(f, x->a, 0))
		return LINALG_NOT_FINITE;
	call_svd(f, x, &f->lwork, &info);
	return info;
}

tn_status cpu_svd(void *device, const struct tn_linalg_args *args)
{
	static const struct linalg_entry entry = {
		.has_u = 1, .has_v = 1, .has_values = 1, .plan = plan_svd, .factor = factor_svd};
	return cpu_linalg_run(device, args, "svd", &entry);
}

/* ---- Any square matrix -----------------------------------------------------------------------*/

/* Real matrices: TAU holds the real and the imaginary parts of the values, and after them the
 * vectors, in which a pair of conjugates has two columns for its real and imaginary parts. */
static void call_eig(const struct factoring *f, const struct matrix *x, const int32_t *lwork,
		     int32_t *info)
{
	const struct cpu_lapack *lapack = linalg_lapack(f);
	const char *job = f->args.vectors ? "V" : "N";
	const int32_t one = 1, ldv = f->args.vectors ? f->ldv : 1;
	char *numbers = x->parts[LINALG_TAU];
	if (linalg_is_complex(f))
		lapack->geev_complex[f->type - 2]("N", job, &f->n, x->a, &f->lda, x->values, NULL,
						  &one, x->v, &ldv, x->parts[LINALG_WORK], lwork,
						  x->parts[LINALG_REAL_WORK], info, 1, 1);
	else
		lapack->geev[f->type]("N", job, &f->n, x->a, &f->lda, numbers,
				      numbers + (size_t)f->n * f->size, NULL, &one,
				      numbers + 2 * (size_t)f->n * f->size, &f->n,
				      x->parts[LINALG_WORK], lwork, info, 1, 1);
}

static int plan_eig(struct factoring *f)
{
	char work[16] = {0}, unused[16] = {0};
	const struct matrix x = {
		.parts = {
			[LINALG_WORK] = work, [LINALG_TAU] = unused, [LINALG_REAL_WORK] = unused}};
	const int32_t ask = -1;
	const uint64_t n = (uint64_t)f->n;
	int32_t info = 0;
	if (!linalg_has_query(f->n))
		return 1;
	call_eig(f, &x, &ask, &info);
	if (info || linalg_take_size(f, work, &f->lwork))
		return 1;
	f->parts[LINALG_WORK] = (uint64_t)f->lwork * f->size;
	if (linalg_is_complex(f))
		f->parts[LINALG_REAL_WORK] = 2 * n * linalg_real_size(f);
	else
		f->parts[LINALG_TAU] = (2 * n + (f->args.vectors ? n * n : 0)) * f->size;
	return 0;
}

static void store(const struct factoring *f, void *to, int64_t at, const char *real,
		  const char *imaginary, int is_negative)
{
	const size_t size = linalg_real_size(f);
	char *element = (char *)to + (size_t)at * 2 * size;
	memcpy(element, real, size);
	if (!imaginary) {
		memset(element + size, 0, size);
	} else if (size == sizeof(float)) {
		float value;
		memcpy(&value, imaginary, size);
		value = is_negative ? -value : value;
		memcpy(element + size, &value, size);
	} else {
		double value;
		memcpy(&value, imaginary, size);
		value = is_negative ? -value : value;
		memcpy(element + size, &value, size);
	}
}

static int is_zero(const struct factoring *f, const char *number)
{
	float narrow;
	double wide;
	if (f->size == sizeof(narrow)) {
		memcpy(&narrow, number, sizeof(narrow));
		return narrow == 0;
	}
	memcpy(&wide, number, sizeof(wide));
	return wide == 0;
}

static void give_real(const struct factoring *f, const struct matrix *x)
{
	const size_t size = f->size, line = (size_t)f->n * size;
	const char *real = x->parts[LINALG_TAU], *imaginary = real + line;
	const char *vectors = imaginary + line;
	for (int64_t j = 0; j < f->n; j++)
		store(f, x->values, j, real + (size_t)j * size, imaginary + (size_t)j * size, 0);
	for (int64_t j = 0; j < f->n && x->v; j++) {
		const char *first = vectors + (size_t)j * line, *second = first + line;
		const int is_pair = !is_zero(f, imaginary + (size_t)j * size) && j + 1 < f->n;
		for (int64_t i = 0; i < f->n; i++) {
			const size_t at = (size_t)i * size;
			store(f, x->v, j * f->ldv + i, first + at, is_pair ? second + at : NULL, 0);
			if (is_pair)
				store(f, x->v, (j + 1) * f->ldv + i, first + at, second + at, 1);
		}
		j += is_pair;
	}
}

static int32_t factor_eig(const struct factoring *f, const struct matrix *x)
{
	int32_t info = 0;
	if (!is_finite(f, x->a, 0))
		return LINALG_NOT_FINITE;
	call_eig(f, x, &f->lwork, &info);
	if (!linalg_is_complex(f) && info >= 0)
		give_real(f, x);
	return info;
}

tn_status cpu_eig(void *device, const struct tn_linalg_args *args)
{
	static const struct linalg_entry entry = {.is_square = 1,
						  .has_v = 1,
						  .has_values = 1,
						  .is_eig = 1,
						  .plan = plan_eig,
						  .factor = factor_eig};
	return cpu_linalg_run(device, args, "eig", &entry);
}
