/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products of real matrices.  A backend takes at most four batch axes and matrices with a unit
 * stride: batch axes are merged, a batch of rows laid out like one tall matrix becomes one, and
 * unsupported layouts are copied first.
 */
#include "ops/matmul_real.h"

#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "device/open.h"
#include "device/turn.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "ops/copy.h"
#include "ops/epilogue.h"
#include "ops/map.h"
#include "ops/matmul_compose.h"
#include "ops/packing.h"

enum { MOST_BATCH_AXES = 4 };

/* Operands of struct tn_matmul_args, for hints. */
enum { MATMUL_B = 1, MATMUL_BIAS = 3 };

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

static uint64_t hints_of(const struct tn_matmul_run *run)
{
	return run->has_constants ? TN_HINT_CONSTANT(MATMUL_B) | TN_HINT_CONSTANT(MATMUL_BIAS) : 0;
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
	if (run->packed)
		args.packed = tn_packed_of(run->packed);
	native.call = &args.call;
	native.is_native_only = 1;
	return tn_route_run(&native);
}

/* With a packed B alone: only on the device's own backend, which packed it. */
static tn_status multiply_packed(struct product *product, const struct tn_route *route)
{
	struct tn_route native = *route;
	product->args.packed = tn_packed_of(product->run->packed);
	native.is_native_only = 1;
	tn_status status = tn_route_run(&native);
	product->args.packed = (struct tn_packed){0};
	return status;
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
	static const struct tn_formula times = {
		.text = "z = beta * c", .inputs = "c", .scalars = "beta"};
	static const struct tn_formula integer_times = {.text = "z = beta * i64(c)",
							.inputs = "c",
							.scalars = "beta",
							.scalar_dtype = TN_I64};
	const tn_array *c = run->c;
	if (run->beta == 0)
		return tn_fill_run(runtime, run->operation, run->c, 0);
	return tn_formula_map(runtime, run->operation,
			      tn_is_floating(c->dtype) ? &times : &integer_times, &c, &run->c,
			      &run->beta);
}

tn_status tn_matmul_real(struct tn_runtime *runtime, const struct tn_matmul_run *run)
{
	struct product product = {
		.runtime = runtime,
		.run = run,
		.args = {.call = {.struct_size = sizeof(product.args), .hints = hints_of(run)},
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
	int is_finished = 0;   /* the backend has done bias and activation too */
	int is_multiplied = 0; /* the backend has done all but these */
	int64_t k = run->a->shape[run->a->rank - (run->transpose_a ? 2 : 1)];
	tn_status status = tn_scope_begin(runtime->context);
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
		if (!status && !is_finished && run->packed) {
			status = multiply_packed(&product, &route);
			is_multiplied = !status;
			status = status == TN_UNSUPPORTED ? TN_OK : status;
		}
		if (!status && !is_finished && !is_multiplied)
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

static tn_status call_prepack(struct tn_device *device, const struct tn_call *call, uint64_t *size)
{
	const struct tn_matmul_args *args = (const struct tn_matmul_args *)(const void *)call;
	return tn_turn_end(
		device, device->backend->compute.matmul_prepack(tn_turn_begin(device), args, size));
}

tn_status tn_matmul_prepack(struct tn_runtime *runtime, const struct tn_matmul_run *run,
			    tn_array **packed)
{
	struct tn_device *device = tn_array_home(run->c);
	struct product product = {
		.runtime = runtime,
		.run = run,
		.args = {.call = {.struct_size = sizeof(product.args), .hints = hints_of(run)},
			 .alpha = run->alpha,
			 .beta = run->beta}};
	const struct tn_packing packing = {.runtime = runtime,
					   .device = device,
					   .operation = TN_DO_MATMUL_PREPACK,
					   .call = &product.args.call,
					   .packed = &product.args.packed,
					   .entry = call_prepack};
	*packed = NULL;
	tn_status status = tn_device_ready(device, &runtime->report);
	if (status || !run->c->size || !run->b->size ||
	    !tn_backend_has(device->backend, TN_SLOT_MATMUL_PREPACK))
		return status;
	status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	status = set_operands(&product);
	if (!status && product.args.c.rank <= 2 + MOST_BATCH_AXES)
		status = tn_packing_run(&packing, packed);
	*packed = tn_scope_end(runtime->context, *packed);
	return status;
}
