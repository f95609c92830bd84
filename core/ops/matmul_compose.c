/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The sum over k of A[i, 0, k] B[0, j, k], both broadcast to (i, j, k) by strides of 0: nothing of
 * that size is made.
 */
#include "ops/matmul_compose.h"

#include "base/dtype.h"
#include "dispatch/operand.h"
#include "dispatch/programs.h"
#include "dispatch/route.h"
#include "ops/map.h"

static const struct tn_formula product = {.text = "z = a * b", .inputs = "a b"};
static const struct tn_formula scaled = {
	.text = "z = alpha * sum", .inputs = "sum", .scalars = "alpha"};
static const struct tn_formula added = {
	.text = "z = alpha * sum + beta * c", .inputs = "sum c", .scalars = "alpha beta"};

/* Of 32 bits and fewer: the product modulo 2^32 has all bits that the result keeps. */
static const struct tn_formula narrow_product = {.text = "z = i32(a) * i32(b)", .inputs = "a b"};
static const struct tn_formula integer_product = {.text = "z = i64(a) * i64(b)", .inputs = "a b"};
static const struct tn_formula integer_scaled = {
	.text = "z = alpha * sum", .inputs = "sum", .scalars = "alpha", .scalar_dtype = TN_I64};
static const struct tn_formula integer_added = {.text = "z = alpha * sum + beta * i64(c)",
						.inputs = "sum c",
						.scalars = "alpha beta",
						.scalar_dtype = TN_I64};

static void insert_axis(struct tn_operand *operand, uint32_t axis, int64_t length)
{
	for (uint32_t i = operand->rank++; i > axis; i--) {
		operand->shape[i] = operand->shape[i - 1];
		operand->strides[i] = operand->strides[i - 1];
	}
	operand->shape[axis] = length;
	operand->strides[axis] = 0;
}

static void move_axis_to_end(struct tn_operand *operand, uint32_t axis)
{
	int64_t length = operand->shape[axis], stride = operand->strides[axis];
	uint32_t last = operand->rank - 1;
	for (uint32_t i = axis; i < last; i++) {
		operand->shape[i] = operand->shape[i + 1];
		operand->strides[i] = operand->strides[i + 1];
	}
	operand->shape[last] = length;
	operand->strides[last] = stride;
}

tn_status tn_compose_matmul(void *argument)
{
	const struct tn_matmul_composition *composition = argument;
	struct tn_runtime *runtime = composition->runtime;
	const struct tn_matmul_args *args = composition->args;
	struct tn_operand inputs[] = {args->a, args->b}, c = args->c;
	struct tn_operand *all[] = {&inputs[0], &inputs[1], &c};
	int is_floating = tn_is_floating(c.dtype), adds = args->beta != 0;
	const double values[] = {args->alpha, args->beta};
	const tn_dtype factors[] = {inputs[0].dtype, inputs[1].dtype};
	tn_dtype accumulator = is_floating ? tn_compute_dtype(c.dtype) : TN_I64;
	const tn_dtype terms[] = {accumulator, c.dtype};
	struct tn_scalar scalars[2];
	struct tn_reduce_args reduce = {.call = {.struct_size = sizeof(reduce)},
					.inputs = inputs,
					.epilogue_inputs = &c,
					.outputs = &c,
					.epilogue_scalars = scalars,
					.n_reduced = 1,
					.n_values = 1,
					.combiners = {TN_REDUCE_SUM}};
	struct tn_route route = {.runtime = runtime,
				 .device = composition->device,
				 .operation = composition->operation,
				 .slot = TN_SLOT_REDUCE,
				 .call = &reduce.call};
	const struct tn_formula *epilogue;
	/* A: (..., m, k) to (..., m, n, k).  B: (..., k, n) to (..., m, n, k). */
	uint32_t m = c.rank - 2, n = c.rank - 1;
	insert_axis(&inputs[0], n, c.shape[n]);
	move_axis_to_end(&inputs[1], m);
	insert_axis(&inputs[1], m, c.shape[m]);
	tn_operands_merge(all, 3, 0, c.rank);
	tn_status status = tn_formula_program(runtime, "matmul",
					      is_floating                   ? &product
					      : tn_dtype_size(c.dtype) <= 4 ? &narrow_product
									    : &integer_product,
					      factors, &reduce.prologue);
	if (!status && (adds || args->alpha != 1)) {
		if (is_floating)
			epilogue = adds ? &added : &scaled;
		else
			epilogue = adds ? &integer_added : &integer_scaled;
		status = tn_formula_program(runtime, "matmul", epilogue, terms, &reduce.epilogue);
		if (!status)
			tn_scalars_of(reduce.epilogue, values, scalars);
	}
	return status ? status : tn_route_run(&route);
}
