/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The frame of the entries of tenon.linalg/1: checks, copies of matrices, and the loop over them.
 */
#include "reference/linalg.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/dtype.h"

/* ---- Elements --------------------------------------------------------------------------------*/

static double complex load(const char *at, tn_dtype dtype)
{
	float f[2] = {0, 0};
	double d[2] = {0, 0};
	if (dtype == TN_F32 || dtype == TN_C64) {
		memcpy(f, at, tn_dtype_size(dtype));
		return complex_of(f[0], f[1]);
	}
	memcpy(d, at, tn_dtype_size(dtype));
	return complex_of(d[0], d[1]);
}

static void store(char *at, tn_dtype dtype, double complex value)
{
	float f[2] = {(float)creal(value), (float)cimag(value)};
	double d[2] = {creal(value), cimag(value)};
	if (dtype == TN_F32 || dtype == TN_C64)
		memcpy(at, f, tn_dtype_size(dtype));
	else
		memcpy(at, d, tn_dtype_size(dtype));
}

/* The address of element (i, j) of matrix `number` of the batch. */
static char *place(const struct tn_operand *operand, int64_t number, int64_t i, int64_t j)
{
	int64_t element = number * operand->strides[0] + i * operand->strides[1] +
			  (operand->rank > 2 ? j * operand->strides[2] : 0);
	return (char *)(uintptr_t)(operand->buffer + operand->offset) +
	       element * (int64_t)tn_dtype_size(operand->dtype);
}

static void read_matrix(const struct tn_operand *from, int64_t number, struct matrix *to)
{
	for (int64_t j = 0; j < to->columns; j++)
		for (int64_t i = 0; i < to->rows; i++)
			column(to, j)[i] = load(place(from, number, i, j), from->dtype);
}

static void write_matrix(const struct tn_operand *to, int64_t number, const struct matrix *from)
{
	for (int64_t j = 0; j < from->columns; j++)
		for (int64_t i = 0; i < from->rows; i++)
			store(place(to, number, i, j), to->dtype, column(from, j)[i]);
}

int tn_reference_is_finite(const struct matrix *a, int is_lower)
{
	for (int64_t j = 0; j < a->columns; j++) {
		for (int64_t i = is_lower ? j : 0; i < a->rows; i++) {
			double complex z = column(a, j)[i];
			if (!isfinite(creal(z)) || !isfinite(cimag(z)))
				return 0;
		}
	}
	return 1;
}

double tn_reference_scale(const struct matrix *a)
{
	double largest = 0;
	for (int64_t i = 0; i < a->rows * a->columns; i++)
		largest = fmax(largest, fmax(fabs(creal(a->at[i])), fabs(cimag(a->at[i]))));
	int exponent = largest > 0 ? ilogb(largest) : 0;
	for (int64_t i = 0; i < a->rows * a->columns; i++)
		a->at[i] = complex_of(scalbn(creal(a->at[i]), -exponent),
				      scalbn(cimag(a->at[i]), -exponent));
	return scalbn(1, exponent);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

/* A column-major operand of that dtype and that many rows and columns. */
static tn_status check_matrix(const struct factoring *f, const char *name,
			      const struct tn_operand *operand, tn_dtype dtype, int64_t rows,
			      int64_t columns)
{
	const struct tn_call *call = &f->args.call;
	const int64_t shape[] = {f->batch, rows, columns};
	const int64_t *strides = operand->strides;
	tn_status status = tn_reference_check(call, f->operation, name, operand, READ);
	if (!status)
		status = tn_reference_check_shape(call, f->operation, name, operand, 3, shape);
	if (status)
		return status;
	if (operand->dtype != dtype)
		return tn_reference_fail(call, TN_UNSUPPORTED, f->operation,
					 "%s: expected dtype %d, found %d", name, dtype,
					 operand->dtype);
	if ((rows > 1 && strides[1] != 1) || (columns > 1 && strides[2] < rows))
		return tn_reference_fail(call, TN_UNSUPPORTED, f->operation,
					 "%s: expected columns without gaps, found strides %" PRId64
					 " and %" PRId64,
					 name, strides[1], strides[2]);
	return TN_OK;
}

static tn_status check_list(const struct factoring *f, const char *name,
			    const struct tn_operand *operand, tn_dtype dtype, uint32_t rank,
			    int64_t length)
{
	const int64_t shape[] = {f->batch, length};
	tn_status status = tn_reference_check(&f->args.call, f->operation, name, operand, READ);
	if (!status && operand->dtype != dtype)
		status = tn_reference_fail(&f->args.call, TN_UNSUPPORTED, f->operation,
					   "%s: expected dtype %d, found %d", name, dtype,
					   operand->dtype);
	return status ? status
		      : tn_reference_check_shape(&f->args.call, f->operation, name, operand, rank,
						 shape);
}

static tn_status check_flags(const struct tn_linalg_args *args, const char *operation)
{
	if (args->upper <= 1 && args->unit <= 1 && args->vectors <= 1 &&
	    args->transpose <= TN_TRANSPOSE_CONJUGATE)
		return TN_OK;
	return tn_reference_fail(&args->call, TN_INVALID_ARGUMENT, operation,
				 "upper, unit, vectors, transpose: expected 0 or 1, and 0 to 2, "
				 "found %u, %u, %u, %u",
				 args->upper, args->unit, args->vectors, args->transpose);
}

static tn_status check_a(struct factoring *f)
{
	const int is_square = (f->entry->has & HAS_SQUARE_A) != 0;
	const struct tn_operand *a = &f->args.a;
	tn_status status = tn_reference_check(&f->args.call, f->operation, "a", a, READ);
	if (status)
		return status;
	if (a->rank != 3 || (is_square && a->shape[1] != a->shape[2]))
		return tn_reference_fail(&f->args.call, TN_SHAPE, f->operation,
					 "a: expected (batch, %s)", is_square ? "n, n" : "m, n");
	if (a->dtype != TN_F32 && a->dtype != TN_F64 && a->dtype != TN_C64 && a->dtype != TN_C128)
		return tn_reference_fail(&f->args.call, TN_UNSUPPORTED, f->operation,
					 "a: dtype %d has no factorisations", a->dtype);
	f->batch = a->shape[0];
	f->m = a->shape[1];
	f->n = a->shape[2];
	f->k = f->m < f->n ? f->m : f->n;
	return check_matrix(f, "a", a, a->dtype, f->m, f->n);
}

/* The operands beside a: u and v complete or reduced. */
static tn_status check_others(const struct factoring *f)
{
	const struct tn_linalg_args *args = &f->args;
	const tn_dtype dtype = args->a.dtype;
	const uint32_t has = f->entry->has;
	const int is_eig = (has & HAS_COMPLEX_VALUES) != 0;
	const int is_svd = (has & HAS_U) && (has & HAS_V);
	tn_status status = TN_OK;
	if (has & HAS_B)
		status = check_matrix(f, "b", &args->b, dtype, f->m,
				      args->b.rank == 3 ? args->b.shape[2] : 1);
	if (!status && (has & HAS_U) && args->u.dtype)
		status = check_matrix(f, "u", &args->u, dtype, f->m,
				      args->u.shape[2] == f->m ? f->m : f->k);
	if (!status && (has & HAS_V) && args->v.dtype)
		status = check_matrix(f, "v", &args->v, is_eig ? tn_complex_dtype(dtype) : dtype,
				      args->v.shape[1] == f->n ? f->n : f->k, f->n);
	if (!status && is_svd && !args->u.dtype != !args->v.dtype)
		status = tn_reference_fail(&args->call, TN_UNSUPPORTED, f->operation,
					   "expected u and v, or neither");
	if (!status && is_eig && !args->vectors != !args->v.dtype)
		status = tn_reference_fail(&args->call, TN_UNSUPPORTED, f->operation,
					   "vectors: expected %d as v is %s, found %u",
					   args->v.dtype != 0, args->v.dtype ? "there" : "absent",
					   args->vectors);
	if (!status && (has & HAS_VALUES))
		status = check_list(f, "values", &args->values,
				    is_eig ? tn_complex_dtype(dtype) : tn_real_dtype(dtype), 2,
				    f->k);
	if (!status && (has & HAS_PIVOTS) && args->pivots.dtype)
		status = check_list(f, "pivots", &args->pivots, TN_I32, 2, f->k);
	if (!status && (has & HAS_PIVOTS) && args->permutation.dtype)
		status = check_list(f, "permutation", &args->permutation, TN_I32, 2, f->m);
	return status || !args->info.dtype ? status
					   : check_list(f, "info", &args->info, TN_I32, 1, 0);
}

/* ---- The loop --------------------------------------------------------------------------------*/

static struct matrix scratch(struct matrix like, double complex **at)
{
	like.at = *at;
	*at += like.rows * like.columns;
	return like;
}

/* Divides one allocation among the matrices; NULL: out of memory. */
static double *take_scratch(struct factoring *f)
{
	const struct tn_linalg_args *args = &f->args;
	const int64_t n_work = f->entry->work ? f->entry->work(f) : 0;
	struct matrix a = {f->m, f->n, NULL}, b = {f->m, 0, NULL}, u = {f->m, 0, NULL},
		      v = {0, f->n, NULL};
	if (args->b.dtype)
		b.columns = args->b.shape[2];
	if (args->u.dtype)
		u.columns = args->u.shape[2];
	if (args->v.dtype)
		v.rows = args->v.shape[1];
	const int64_t n = f->m * f->n + f->m * b.columns + f->m * u.columns + v.rows * f->n +
			  2 * f->k + n_work;
	double *numbers = tn_reference_numbers(f->device, 2 * (uint64_t)n);
	double complex *at = (double complex *)(void *)numbers;
	if (!numbers)
		return NULL;
	f->a = scratch(a, &at);
	f->b = scratch(b, &at);
	f->u = scratch(u, &at);
	f->v = scratch(v, &at);
	f->values = at;
	f->pivots = (int32_t *)(void *)(at + f->k);
	f->work = at + 2 * f->k;
	return numbers;
}

static void write_pivots(const struct factoring *f, int64_t number)
{
	const struct tn_operand *pivots = &f->args.pivots, *permutation = &f->args.permutation;
	for (int64_t i = 0; pivots->dtype && i < f->k; i++)
		memcpy(place(pivots, number, i, 0), &f->pivots[i], sizeof(int32_t));
	for (int64_t i = 0; permutation->dtype && i < f->m; i++)
		memcpy(place(permutation, number, i, 0), &(int32_t){(int32_t)i}, sizeof(int32_t));
	for (int64_t i = 0; permutation->dtype && i < f->k; i++) {
		char *one = place(permutation, number, i, 0);
		char *other = place(permutation, number, f->pivots[i], 0);
		int32_t first, second;
		memcpy(&first, one, sizeof(first));
		memcpy(&second, other, sizeof(second));
		memcpy(one, &second, sizeof(second));
		memcpy(other, &first, sizeof(first));
	}
}

static void write_values(const struct factoring *f, int64_t number)
{
	const struct tn_operand *values = &f->args.values;
	for (int64_t i = 0; i < f->k; i++)
		store(place(values, number, i, 0), values->dtype, f->values[i]);
}

static void factor_one(struct factoring *f, int64_t number)
{
	const struct tn_linalg_args *args = &f->args;
	const uint32_t has = f->entry->has;
	read_matrix(&args->a, number, &f->a);
	if (has & HAS_B)
		read_matrix(&args->b, number, &f->b);
	int32_t info = f->entry->factor(f);
	if (!(has & HAS_CONSTANT_A))
		write_matrix(&args->a, number, &f->a);
	if (has & HAS_B)
		write_matrix(&args->b, number, &f->b);
	if (args->u.dtype)
		write_matrix(&args->u, number, &f->u);
	if (args->v.dtype)
		write_matrix(&args->v, number, &f->v);
	if (has & HAS_VALUES)
		write_values(f, number);
	if (has & HAS_PIVOTS)
		write_pivots(f, number);
	if (args->info.dtype)
		memcpy(place(&args->info, number, 0, 0), &info, sizeof(info));
}

tn_status tn_reference_factor(void *device, const struct tn_linalg_args *theirs,
			      const struct entry *entry)
{
	const char *operation = entry->operation;
	struct factoring f = {.entry = entry, .operation = operation, .device = device};
	tn_status status = tn_reference_take(&f.args, sizeof(f.args), theirs, 0, operation);
	if (!status)
		status = check_flags(&f.args, operation);
	if (!status)
		status = check_a(&f);
	if (!status)
		status = check_others(&f);
	if (status || tn_reference_is_dry(&f.args.call))
		return status;
	double *numbers = take_scratch(&f);
	if (!numbers)
		return tn_reference_no_memory(&f.args.call, operation);
	for (int64_t number = 0; number < f.batch; number++)
		factor_one(&f, number);
	tn_reference_release(device, numbers);
	return TN_OK;
}
