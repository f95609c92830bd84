/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Matrix products.  A backend takes at most four batch axes and matrices with a unit stride: batch
 * axes are merged, a batch of rows laid out like one tall matrix becomes one, and unsupported
 * layouts are copied first.
 */
#include "ops/matmul.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "ops/compose_matmul.h"
#include "ops/copy.h"
#include "ops/epilogue.h"
#include "ops/layout.h"
#include "ops/map.h"
#include "program/cast.h"

enum { MOST_BATCH_AXES = 4 };

/* ---- Operands --------------------------------------------------------------------------------*/

/* The last two axes swapped. */
static void transpose(struct tn_operand *operand)
{
	int64_t *shape = operand->shape + operand->rank - 2;
	int64_t *strides = operand->strides + operand->rank - 2;
	int64_t length = shape[0], stride = strides[0];
	shape[0] = shape[1];
	strides[0] = strides[1];
	shape[1] = length;
	strides[1] = stride;
}

/* Is one stride 1, and the other at least as large as that axis?  An axis of length 1 may have any
 * stride: it gets one that fits. */
static int fit_strides(struct tn_operand *operand)
{
	int64_t *shape = operand->shape + operand->rank - 2;
	int64_t *strides = operand->strides + operand->rank - 2;
	if (shape[1] == 1 && strides[0] == 1) {
		strides[1] = shape[0];
		return 1;
	}
	if (shape[1] == 1)
		strides[1] = 1;
	if (shape[0] == 1 && strides[1] == 1)
		strides[0] = shape[1];
	else if (shape[0] == 1)
		strides[0] = 1;
	return (strides[1] == 1 && strides[0] >= shape[1]) ||
	       (strides[0] == 1 && strides[1] >= shape[0]);
}

struct product {
	struct tn_runtime *runtime;
	const struct tn_matmul_run *run;
	struct tn_matmul_args args;
	tn_array *c_apart; /* a compact stand-in for C */
};

/* The operand of a matrix of A or B: batch axes broadcast to C's, the rest its own. */
static void set_operand(struct tn_operand *operand, const tn_array *array, const tn_array *c)
{
	int64_t shape[TN_MAX_RANK];
	memcpy(shape, c->shape, (size_t)c->rank * sizeof(*shape));
	memcpy(shape + c->rank - 2, array->shape + array->rank - 2, 2 * sizeof(*shape));
	tn_operand_broadcast(operand, array, c->rank, shape);
}

/* An operand of A or B that fits, after a copy if need be. */
static tn_status set_input(struct product *product, struct tn_operand *operand,
			   const tn_array *array, int is_transposed)
{
	const tn_array *c = product->run->c;
	set_operand(operand, array, c);
	if (tn_array_overlap(c, array) != TN_OVERLAP_NONE || !fit_strides(operand)) {
		array = tn_array_compact(product->runtime, array);
		if (!array)
			return product->runtime->report.status;
		set_operand(operand, array, c);
		fit_strides(operand);
	}
	if (is_transposed)
		transpose(operand);
	return TN_OK;
}

/* A batch of matrices A stacked in memory, times one B, is one product. */
static void fold_rows(struct tn_matmul_args *args)
{
	struct tn_operand *a = &args->a, *b = &args->b, *c = &args->c;
	if (a->rank != 3 || b->strides[0] != 0 || a->strides[2] != 1 || c->strides[2] != 1 ||
	    a->strides[0] != a->shape[1] * a->strides[1] ||
	    c->strides[0] != c->shape[1] * c->strides[1])
		return;
	a->shape[1] *= a->shape[0];
	c->shape[1] *= c->shape[0];
	for (int i = 0; i < 2; i++) {
		struct tn_operand *tall = i ? c : a;
		memmove(tall->shape, tall->shape + 1, 2 * sizeof(int64_t));
		memmove(tall->strides, tall->strides + 1, 2 * sizeof(int64_t));
		tall->rank = 2;
	}
	memmove(b->shape, b->shape + 1, 2 * sizeof(int64_t));
	memmove(b->strides, b->strides + 1, 2 * sizeof(int64_t));
	b->rank = 2;
}

static tn_status set_operands(struct product *product)
{
	const struct tn_matmul_run *run = product->run;
	struct tn_matmul_args *args = &product->args;
	struct tn_operand *all[] = {&args->c, &args->a, &args->b};
	tn_array *c = run->c, *apart;
	tn_status status = TN_OK;
	tn_operand_of(&args->c, c);
	if (!fit_strides(&args->c)) {
		apart = tn_array_make(product->runtime, tn_array_home(c), c->dtype, c->rank,
				      c->shape);
		product->c_apart = apart;
		if (!apart)
			return product->runtime->report.status;
		tn_operand_of(&args->c, apart);
		fit_strides(&args->c);
		if (run->beta != 0)
			status = tn_copy_run(product->runtime, TN_DO_COPY, apart, c);
	}
	if (!status)
		status = set_input(product, &args->a, run->a, run->transpose_a);
	if (!status)
		status = set_input(product, &args->b, run->b, run->transpose_b);
	if (status)
		return status;
	tn_operands_merge(all, 3, 0, args->c.rank - 2);
	fold_rows(args);
	return TN_OK;
}

/* ---- The call --------------------------------------------------------------------------------*/

/* Tries bias and activation in the same call; after TN_UNSUPPORTED they are a separate step. */
static tn_status multiply_with_epilogue(struct product *product, const struct tn_route *route)
{
	const struct tn_matmul_run *run = product->run;
	struct tn_matmul_args args = product->args;
	struct tn_route native = *route;
	if (args.c.rank > 2 + MOST_BATCH_AXES)
		return TN_UNSUPPORTED;
	args.has_bias = run->bias != NULL;
	args.activation = run->activation;
	if (run->bias)
		tn_operand_of(&args.bias, run->bias);
	native.call = &args.call;
	native.is_native_only = 1;
	return tn_route_run(&native);
}

/* For more batch axes than a backend takes: one call for each index of the leading ones. */
static tn_status multiply_batches(struct tn_matmul_args *args, struct tn_route *route)
{
	struct tn_operand *all[] = {&args->a, &args->b, &args->c};
	int64_t n = args->c.shape[0];
	tn_status status = TN_OK;
	for (int64_t i = 0; i < n && !status; i++) {
		struct tn_matmul_args outer = *args;
		for (int k = 0; k < 3; k++) {
			struct tn_operand *operand = all[k];
			uint32_t rest = operand->rank - 1;
			operand->offset += (uint64_t)(i * operand->strides[0] *
						      (int64_t)tn_dtype_size(operand->dtype));
			memmove(operand->shape, operand->shape + 1, rest * sizeof(int64_t));
			memmove(operand->strides, operand->strides + 1, rest * sizeof(int64_t));
			operand->rank = rest;
		}
		status = args->c.rank <= 2 + MOST_BATCH_AXES ? tn_route_run(route)
							     : multiply_batches(args, route);
		*args = outer;
	}
	return status;
}

/* K = 0: the product is 0, and beta C remains. */
static tn_status scale_c(struct tn_runtime *runtime, const struct tn_matmul_run *run)
{
	static const struct tn_short_program times = {"z = a * x", 1, 1, 0, 0};
	static const struct tn_short_program integer_times = {"z = a * i64(x)", 1, 1, 0, TN_I64};
	const tn_array *c = run->c;
	if (run->beta == 0)
		return tn_fill_run(runtime, run->operation, run->c, 0);
	return tn_short_map(runtime, run->operation,
			    tn_is_floating(c->dtype) ? &times : &integer_times, &c, &run->c,
			    &run->beta);
}

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
	if (tn_is_inexact(dtype) ||
	    (factor >= smallest && factor <= largest && factor == floor(factor)))
		return TN_OK;
	return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, name,
		       "%s: expected a whole number from %g to %g for %s, found %g", which,
		       smallest, largest, tn_dtype_name(dtype), factor);
}

static tn_status check_product(struct tn_runtime *runtime, const struct tn_matmul_run *run,
			       int64_t *k)
{
	const char *name = tn_ledger_at(runtime->ledger, run->operation)->operation;
	const tn_array *a = run->a, *b = run->b, *c = run->c;
	int ta = run->transpose_a != 0, tb = run->transpose_b != 0, rank;
	char text[3][TN_SHAPE_TEXT];
	int64_t batch[TN_MAX_RANK];
	tn_status status;
	if (a->rank < 2 || b->rank < 2 || c->rank < 2)
		goto misfit;
	rank = c->rank - 2;
	memcpy(batch, c->shape, (size_t)rank * sizeof(*batch));
	*k = a->shape[a->rank - 1 - ta];
	if (c->shape[rank] != a->shape[a->rank - 2 + ta] ||
	    c->shape[rank + 1] != b->shape[b->rank - 1 - tb] || *k != b->shape[b->rank - 2 + tb] ||
	    !tn_shape_broadcast(&rank, batch, a->rank - 2, a->shape) ||
	    !tn_shape_broadcast(&rank, batch, b->rank - 2, b->shape) ||
	    !tn_shape_equal(rank, batch, c->rank - 2, c->shape))
		goto misfit;
	status = check_dtypes(runtime, name, a, b, c);
	if (!status)
		status = check_factor(runtime, name, "alpha", run->alpha, c->dtype);
	if (!status)
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
	struct product product = {.runtime = runtime,
				  .run = run,
				  .args = {.call = {.struct_size = sizeof(product.args)},
					   .alpha = run->alpha,
					   .beta = run->beta}};
	struct tn_route route = {.runtime = runtime,
				 .device = tn_array_home(run->c),
				 .operation = run->operation,
				 .slot = TN_SLOT_MATMUL,
				 .call = &product.args.call};
	struct tn_matmul_composition composition = {.runtime = runtime,
						    .device = route.device,
						    .operation = run->operation,
						    .args = &product.args};
	int is_finished = 0; /* the backend has done bias and activation too */
	int64_t k = 0;
	tn_status status = check_product(runtime, run, &k);
	if (status || !run->c->size)
		return status;
	if (tn_is_complex(run->c->dtype))
		return tn_complex_matmul(runtime, run);
	status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	/* Every backend multiplies f32. */
	if (run->c->dtype != TN_F32) {
		route.compose = tn_compose_matmul;
		route.argument = &composition;
		route.needs = TN_NEEDS_REDUCE;
		route.dtype = run->c->dtype == TN_BOOL ? TN_I64 : run->c->dtype;
	}
	if (k) {
		status = set_operands(&product);
		if (!status && (run->bias || run->activation)) {
			status = multiply_with_epilogue(&product, &route);
			is_finished = !status;
			status = status == TN_UNSUPPORTED ? TN_OK : status;
		}
		if (!status && !is_finished)
			status = product.args.c.rank <= 2 + MOST_BATCH_AXES
					 ? tn_route_run(&route)
					 : multiply_batches(&product.args, &route);
		if (!status && product.c_apart)
			status = tn_copy_run(runtime, TN_DO_COPY, run->c, product.c_apart);
	} else {
		status = scale_c(runtime, run);
	}
	if (!status && !is_finished)
		status = tn_epilogue_run(runtime, run->c, run->bias, NULL, run->activation);
	if (!status)
		tn_array_touch(run->c);
	tn_scope_end(runtime->context, NULL);
	return status;
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
		tn_array_discard((tn_array *)(uintptr_t)run.a);
	if (run.b != b)
		tn_array_discard((tn_array *)(uintptr_t)run.b);
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

tn_status tn_matmul_epilogue(tn_array *c, const tn_array *a, int transpose_a, const tn_array *b,
			     int transpose_b, const tn_array *bias, uint32_t activation)
{
	const tn_array *all[] = {a, b, c, bias};
	struct tn_matmul_run run = {.operation = TN_DO_MATMUL,
				    .c = c,
				    .a = a,
				    .b = b,
				    .transpose_a = transpose_a,
				    .transpose_b = transpose_b,
				    .alpha = 1,
				    .bias = bias,
				    .activation = activation};
	tn_status status = tn_begin_into(bias ? 4 : 3, all, "matmul");
	return status ? status : tn_end_into(c->runtime, tn_matmul_run(c->runtime, &run));
}
