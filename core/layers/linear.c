/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * y = x w^T + b, over the last axis of x:
 *     dx = dy w,   dw = dy^T x,   db = sum over rows of dy
 */
#include "layers/linear.h"

#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "dispatch/operations.h"
#include "ops/matmul.h"

enum { X, W, BIAS };

/* A (..., n) array as (rows, n). */
static tn_array *as_rows(const tn_array *a)
{
	int64_t rows = 1;
	if (!a)
		return NULL;
	for (int i = 0; i < a->rank - 1; i++)
		rows *= a->shape[i];
	return tn_reshape(a, 2, (const int64_t[]){rows, a->shape[a->rank - 1]});
}

static tn_status check_operands(const tn_array *x, const tn_array *w, const tn_array *bias)
{
	struct tn_runtime *rt = x->runtime;
	if (x->dtype != w->dtype || (bias && bias->dtype != w->dtype))
		return tn_runtime_fail(rt, TN_DTYPE, "linear",
				       "expected x, w and bias of one type, found %s, %s and %s",
				       tn_dtype_name(x->dtype), tn_dtype_name(w->dtype),
				       bias ? tn_dtype_name(bias->dtype) : "no bias");
	if (x->rank < 1 || w->rank != 2 || x->shape[x->rank - 1] != w->shape[1])
		return tn_runtime_fail(
			rt, TN_SHAPE, "linear",
			"expected x (..., in) and w (out, in), found a last axis of %lld "
			"and w of rank %d with a last axis of %lld",
			(long long)(x->rank ? x->shape[x->rank - 1] : 0), w->rank,
			(long long)(w->rank ? w->shape[w->rank - 1] : 0));
	if (bias && (bias->rank != 1 || bias->shape[0] != w->shape[0]))
		return tn_runtime_fail(
			rt, TN_SHAPE, "linear",
			"expected a bias of %lld elements, found rank %d, %lld elements",
			(long long)w->shape[0], bias->rank, (long long)tn_array_size(bias));
	return TN_OK;
}

/* Runs the product with the rest of its run filled. */
static tn_array *forward(const tn_array *x, const tn_array *w, struct tn_matmul_run run)
{
	int64_t shape[TN_MAX_RANK];
	memcpy(shape, x->shape, (size_t)x->rank * sizeof(int64_t));
	shape[x->rank - 1] = w->shape[0];
	tn_array *rows = as_rows(x);
	if (!rows)
		return NULL;
	tn_array *y = tn_empty(tn_array_context(x), x->dtype, 2,
			       (const int64_t[]){rows->shape[0], w->shape[0]});
	run.operation = TN_DO_MATMUL;
	run.a = rows;
	run.b = w;
	run.transpose_b = 1;
	run.c = y;
	run.alpha = 1;
	if (!y || tn_matmul_kept(&run))
		return NULL;
	tn_array_destroy(rows);
	if (x->rank == 2)
		return y;
	tn_array *shaped = tn_reshape(y, x->rank, shape);
	tn_array_destroy(y);
	return shaped;
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const tn_array *x = node->saved[X].array, *w = node->saved[W].array;
	tn_array *rows = as_rows(dy);
	tn_status status = rows ? TN_OK : tn_runtime_status(tn_node_runtime(node));
	if (!status && tn_node_wants(node, X)) {
		tn_array *dx = tn_matmul(rows, w);
		status = tn_node_give(node, X, tn_reshape(dx, x->rank, x->shape));
	}
	if (!status && tn_node_wants(node, W)) {
		/* Directly into its target where it has one. */
		int accumulate = 0;
		tn_array *x_rows = as_rows(x), *dw = tn_node_target(node, W, &accumulate);
		double beta = accumulate ? 1.0 : 0.0;
		if (dw)
			status = tn_node_wrote(node, W,
					       tn_matmul_into(dw, rows, 1, x_rows, 0, 1.0, beta));
		else
			status = tn_node_give(node, W, tn_matmul(tn_transpose(rows, NULL), x_rows));
	}
	if (!status && tn_node_wants(node, BIAS))
		status = tn_node_give(node, BIAS, tn_sum(rows, 1, (const int[]){0}, 0));
	return status;
}

tn_array *tn_linear(const tn_array *x, const tn_array *w, const tn_array *bias)
{
	if (tn_arrays_given(2, (const tn_array *[]){x, w}, "linear") || check_operands(x, w, bias))
		return NULL;
	struct tn_suspension suspension = tn_tape_suspend(x);
	return tn_tape_resume(suspension, forward(x, w, (struct tn_matmul_run){.bias = bias}),
			      &(struct tn_node_request){.operation = "linear",
							.backward = backward,
							.is_twice = 1,
							.n_inputs = 3,
							.inputs = {x, w, bias},
							.n_saved = 2,
							.saved = {x, w}});
}

tn_array *tn_linear_activated(const tn_array *x, const tn_array *w, const tn_array *bias,
			      uint32_t activation, tn_array *packed)
{
	if (tn_arrays_given(2, (const tn_array *[]){x, w}, "linear") || check_operands(x, w, bias))
		return NULL;
	return forward(x, w,
		       (struct tn_matmul_run){.bias = bias,
					      .activation = activation,
					      .has_constants = 1,
					      .packed = packed});
}

tn_status tn_linear_prepack(const tn_array *x, const tn_array *w, tn_array **packed)
{
	*packed = NULL;
	const tn_array *inputs[] = {x, w};
	tn_status status = tn_begin_into(2, inputs, "matmul_prepack");
	if (!status)
		status = check_operands(x, w, NULL);
	if (status)
		return status;
	struct tn_runtime *rt = x->runtime;
	/* Any number of rows. */
	const int64_t a[] = {1, w->shape[1]}, c[] = {1, w->shape[0]};
	struct tn_matmul_run run = {.b = w, .transpose_b = 1, .alpha = 1, .has_constants = 1};
	tn_array *a_row = tn_array_make(rt, tn_array_home(w), w->dtype, 2, a);
	tn_array *c_row = a_row ? tn_array_make(rt, tn_array_home(w), w->dtype, 2, c) : NULL;
	run.a = a_row;
	run.c = c_row;
	status = c_row ? tn_matmul_prepack(rt, &run, packed) : rt->report.status;
	tn_array_discard(a_row);
	tn_array_discard(c_row);
	return tn_end_into(rt, status);
}
