/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Matrix products: checks, dtypes, vectors as matrices.
 */
#include "ops/matmul.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "array/watch.h"
#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "dispatch/operations.h"
#include "ops/complex_matmul.h"
#include "ops/copy.h"
#include "ops/epilogue.h"
#include "ops/layout.h"
#include "ops/matmul_real.h"
#include "program/cast.h"

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_dtypes(struct tn_runtime *runtime, const char *name, const tn_array *a,
			      const tn_array *b, const tn_array *c)
{
	if (a->dtype == b->dtype && a->dtype == c->dtype)
		return TN_OK;
	return tn_fail(&runtime->report, TN_DTYPE, name, "expected one type, found %s, %s and %s",
		       tn_dtype_name(a->dtype), tn_dtype_name(b->dtype), tn_dtype_name(c->dtype));
}

/* The factors of an integer product: whole, and exact as a double; of bool, 0 or 1. */
static tn_status check_factor(struct tn_runtime *runtime, const char *name, const char *which,
			      double factor, tn_dtype dtype)
{
	double largest = dtype == TN_BOOL ? 1 : 0x1p53;
	double smallest = dtype == TN_BOOL ? 0 : -0x1p53;
	if (factor >= smallest && factor <= largest && factor == floor(factor))
		return TN_OK;
	return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, name,
		       "%s: expected a whole number from %g to %g for %s, found %g", which,
		       smallest, largest, tn_dtype_name(dtype), factor);
}

static tn_status check_product(struct tn_runtime *runtime, const struct tn_matmul_run *run)
{
	const char *name = tn_ledger_row_of(runtime->ledger, run->operation)->operation;
	const tn_array *a = run->a, *b = run->b, *c = run->c;
	int ta = run->transpose_a != 0, tb = run->transpose_b != 0, rank;
	char text[3][TN_SHAPE_TEXT];
	int64_t batch[TN_MAX_RANK];
	tn_status status;
	if (a->rank < 2 || b->rank < 2 || c->rank < 2)
		goto misfit;
	rank = c->rank - 2;
	memcpy(batch, c->shape, (size_t)rank * sizeof(*batch));
	if (c->shape[rank] != a->shape[a->rank - 2 + ta] ||
	    c->shape[rank + 1] != b->shape[b->rank - 1 - tb] ||
	    a->shape[a->rank - 1 - ta] != b->shape[b->rank - 2 + tb] ||
	    !tn_shape_broadcast(&rank, batch, a->rank - 2, a->shape) ||
	    !tn_shape_broadcast(&rank, batch, b->rank - 2, b->shape) ||
	    !tn_shape_equal(rank, batch, c->rank - 2, c->shape))
		goto misfit;
	status = check_dtypes(runtime, name, a, b, c);
	if (!status && !tn_is_inexact(c->dtype))
		status = check_factor(runtime, name, "alpha", run->alpha, c->dtype);
	if (!status && !tn_is_inexact(c->dtype))
		status = check_factor(runtime, name, "beta", run->beta, c->dtype);
	if (status)
		return status;
	if (run->bias && (run->bias->rank != 1 || run->bias->shape[0] != c->shape[rank + 1] ||
			  run->bias->dtype != c->dtype))
		return tn_fail(&runtime->report, TN_SHAPE, name,
			       "bias: expected %" PRId64 " elements of %s, found shape %s of %s",
			       c->shape[rank + 1], tn_dtype_name(c->dtype),
			       tn_array_text(run->bias, text[0]), tn_dtype_name(run->bias->dtype));
	status = tn_activation_check(runtime, name, run->activation, TN_ACTIVATION_GELU);
	return status ? status : tn_array_writable(runtime, name, c);
misfit:
	return tn_fail(&runtime->report, TN_SHAPE, name,
		       "%s%s times %s%s does not give a matrix of shape %s",
		       tn_array_text(a, text[0]), ta ? "^T" : "", tn_array_text(b, text[1]),
		       tb ? "^T" : "", tn_array_text(c, text[2]));
}

tn_status tn_matmul_run(struct tn_runtime *runtime, const struct tn_matmul_run *run)
{
	tn_status status = check_product(runtime, run);
	if (status || !run->c->size)
		return status;
	tn_watch_multiplied(
		runtime, run->c->size * run->a->shape[run->a->rank - (run->transpose_a ? 2 : 1)]);
	return tn_is_complex(run->c->dtype) ? tn_complex_matmul(runtime, run)
					    : tn_matmul_real(runtime, run);
}

/* ---- Public functions ------------------------------------------------------------------------*/

/* A view of a vector as a matrix of one row or column, else the array itself. */
static const tn_array *as_matrix(const tn_array *a, int is_column)
{
	int64_t shape[2], strides[2];
	if (a->rank != 1)
		return a;
	shape[is_column] = 1;
	strides[is_column] = 1;
	shape[!is_column] = a->shape[0];
	strides[!is_column] = a->strides[0];
	return tn_array_view(a, 2, shape, strides, a->offset);
}

/* The result's shape with both matrix axes; those added for vectors are then removed. */
static tn_status result_shape(struct tn_runtime *runtime, const tn_array *a, const tn_array *b,
			      int *rank, int64_t *shape)
{
	char left[TN_SHAPE_TEXT], right[TN_SHAPE_TEXT];
	int64_t size;
	*rank = a->rank - 2;
	memcpy(shape, a->shape, (size_t)*rank * sizeof(*shape));
	if (a->shape[a->rank - 1] != b->shape[b->rank - 2] ||
	    !tn_shape_broadcast(rank, shape, b->rank - 2, b->shape))
		return tn_fail(&runtime->report, TN_SHAPE, "matmul",
			       "cannot multiply shapes %s and %s", tn_array_text(a, left),
			       tn_array_text(b, right));
	shape[(*rank)++] = a->shape[a->rank - 2];
	shape[(*rank)++] = b->shape[b->rank - 1];
	return tn_shape_check(runtime, "matmul", a->dtype, *rank, shape, &size);
}

static void drop_axis(tn_array *c, int axis)
{
	c->rank--;
	for (int i = axis; i < c->rank; i++)
		c->shape[i] = c->shape[i + 1];
	tn_shape_compact(c->rank, c->shape, c->strides);
}

/* Of arrays of two dtypes: both are converted to their common one. */
static tn_array *multiply_promoted(struct tn_runtime *runtime, const tn_array *a, const tn_array *b)
{
	tn_dtype dtype = tn_result_type(a->dtype, b->dtype);
	tn_context *context = runtime->context;
	if (tn_scope_begin(context))
		return NULL;
	return tn_scope_end(context, tn_matmul(a->dtype == dtype ? a : tn_astype(a, dtype),
					       b->dtype == dtype ? b : tn_astype(b, dtype)));
}

tn_array *tn_matmul(const tn_array *a, const tn_array *b)
{
	const tn_array *inputs[] = {a, b};
	struct tn_runtime *runtime = tn_begin(2, inputs, "matmul");
	struct tn_matmul_run run = {.operation = TN_DO_MATMUL, .alpha = 1};
	struct tn_record record = {.kind = TN_RECORD_MATMUL, .operation = "matmul"};
	int64_t shape[TN_MAX_RANK];
	int rank;
	tn_status status;
	if (!runtime)
		return NULL;
	if (a->dtype != b->dtype)
		return multiply_promoted(runtime, a, b);
	if (!a->rank || !b->rank) {
		status = tn_fail(&runtime->report, TN_SHAPE, "matmul",
				 "a single element is not a matrix: use multiply");
		return tn_end(runtime, status, NULL);
	}
	run.a = as_matrix(a, 0);
	run.b = as_matrix(b, 1);
	status = run.a && run.b ? result_shape(runtime, run.a, run.b, &rank, shape)
				: runtime->report.status;
	if (!status) {
		run.c = tn_array_make(runtime, tn_array_home(a), a->dtype, rank, shape);
		status = run.c ? tn_matmul_run(runtime, &run) : runtime->report.status;
	}
	if (run.c && b->rank == 1)
		drop_axis(run.c, run.c->rank - 1);
	if (run.c && a->rank == 1)
		drop_axis(run.c, run.c->rank - 1 - (b->rank != 1));
	if (run.a != a)
		tn_array_discard(tn_array_const_cast(run.a));
	if (run.b != b)
		tn_array_discard(tn_array_const_cast(run.b));
	if (!status && tn_is_inexact(a->dtype))
		status = tn_record_made(runtime, &record, 2, inputs, run.c);
	return tn_end(runtime, status, run.c);
}

/* The product in the dtype that is common to all three, which is then stored as C's. */
static tn_status multiply_converted(struct tn_runtime *runtime, struct tn_matmul_run run)
{
	tn_dtype result = tn_result_type(run.a->dtype, run.b->dtype);
	tn_dtype dtype = tn_result_type(result, run.c->dtype);
	tn_array *c = run.c, *a, *b;
	tn_status status;
	if (!tn_is_same_kind(result, c->dtype))
		return tn_fail(&runtime->report, TN_DTYPE, "matmul",
			       "the result is %s, the output %s: a lower kind needs tn_astype",
			       tn_dtype_name(result), tn_dtype_name(c->dtype));
	status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	a = tn_array_make_like(run.a, dtype);
	b = a ? tn_array_make_like(run.b, dtype) : NULL;
	run.c = b ? tn_array_make_like(c, dtype) : NULL;
	status = run.c ? tn_copy_run(runtime, TN_DO_COPY, a, run.a) : runtime->report.status;
	if (!status)
		status = tn_copy_run(runtime, TN_DO_COPY, b, run.b);
	if (!status && run.beta != 0)
		status = tn_copy_run(runtime, TN_DO_COPY, run.c, c);
	run.a = a;
	run.b = b;
	if (!status)
		status = tn_matmul_run(runtime, &run);
	if (!status)
		status = tn_copy_run(runtime, TN_DO_COPY, c, run.c);
	tn_scope_end(runtime->context, NULL);
	return status;
}

tn_status tn_matmul_into(tn_array *c, const tn_array *a, int transpose_a, const tn_array *b,
			 int transpose_b, double alpha, double beta)
{
	const tn_array *all[] = {a, b, c};
	struct tn_matmul_run run = {.operation = TN_DO_MATMUL,
				    .c = c,
				    .a = a,
				    .b = b,
				    .transpose_a = transpose_a,
				    .transpose_b = transpose_b,
				    .alpha = alpha,
				    .beta = beta};
	tn_status status = tn_begin_into(3, all, "matmul");
	if (status)
		return status;
	status = tn_refuse_tracked(c->runtime, "matmul", 2, all);
	if (!status)
		status = a->dtype == c->dtype && b->dtype == c->dtype
				 ? tn_matmul_run(c->runtime, &run)
				 : multiply_converted(c->runtime, run);
	return tn_end_into(c->runtime, status);
}

tn_status tn_matmul_kept(const struct tn_matmul_run *run)
{
	const tn_array *all[] = {run->a, run->b, run->c, run->bias};
	tn_status status = tn_begin_into(run->bias ? 4 : 3, all, "matmul");
	return status ? status : tn_end_into(run->c->runtime, tn_matmul_run(run->c->runtime, run));
}

tn_status tn_matmul_epilogue(tn_array *c, const tn_array *a, int transpose_a, const tn_array *b,
			     int transpose_b, const tn_array *bias, uint32_t activation)
{
	return tn_matmul_kept(&(struct tn_matmul_run){.operation = TN_DO_MATMUL,
						      .c = c,
						      .a = a,
						      .b = b,
						      .transpose_a = transpose_a,
						      .transpose_b = transpose_b,
						      .alpha = 1,
						      .bias = bias,
						      .activation = activation});
}
