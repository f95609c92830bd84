/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Running sums, products and extremes along an axis.
 */
#include "ops/scan.h"

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/operand.h"
#include "dispatch/operations.h"
#include "dispatch/route.h"
#include "ops/combine.h"
#include "ops/complex_parts.h"

struct scan {
	enum tn_operation operation;
	struct tn_runtime *runtime;
	const tn_array *a;
	int axis;
	uint32_t combiner;
	int is_reverse;
	int is_exclusive;
};

static tn_dtype accumulator_of(tn_dtype dtype)
{
	if (dtype == TN_F64 || dtype == TN_U64)
		return dtype;
	return tn_is_floating(dtype) ? TN_F32 : TN_I64;
}

static tn_dtype result_dtype(const struct scan *scan)
{
	int is_extreme = scan->combiner == TN_REDUCE_MAX || scan->combiner == TN_REDUCE_MIN;
	return is_extreme ? scan->a->dtype : tn_sum_type(scan->a->dtype);
}

static tn_status scan_real(const struct scan *scan, const tn_array *a, tn_array *out)
{
	struct tn_scan_args args = {.call = {.struct_size = sizeof(args)},
				    .combiner = scan->combiner,
				    .reverse = scan->is_reverse != 0,
				    .exclusive = scan->is_exclusive != 0,
				    .accumulator = accumulator_of(a->dtype)};
	struct tn_operand *operands[] = {&args.input, &args.output};
	struct tn_route route = {.runtime = scan->runtime,
				 .device = tn_array_home(out),
				 .operation = scan->operation,
				 .slot = TN_SLOT_SCAN,
				 .call = &args.call};
	tn_operand_of(&args.input, a);
	tn_operand_of(&args.output, out);
	/* Sums of unsigned dtypes are u64, with the bits of their i64 accumulators. */
	if (args.output.dtype == TN_U64)
		args.output.dtype = args.accumulator;
	tn_operands_merge(operands, 2, (uint32_t)scan->axis + 1, args.input.rank);
	args.axis = tn_operands_merge(operands, 2, 0, (uint32_t)scan->axis);
	return tn_route_run(&route);
}

static tn_status run_scan(struct scan *scan, tn_array **out)
{
	const tn_array *a = scan->a;
	struct tn_error_info *error = &scan->runtime->report;
	const char *name = tn_operations[scan->operation].name;
	struct tn_complex_parts in = {0}, to = {0};
	if (tn_is_complex(a->dtype) && scan->combiner != TN_REDUCE_SUM)
		return tn_fail(error, TN_DTYPE, name, "not defined for %s",
			       tn_dtype_name(a->dtype));
	if (!tn_axis_normal(&scan->axis, a->rank))
		return tn_fail(error, TN_INVALID_ARGUMENT, name, "axis %d: the array has rank %d",
			       scan->axis, a->rank);
	error->status = TN_OK;
	*out = tn_array_make(scan->runtime, tn_array_home(a), result_dtype(scan), a->rank,
			     a->shape);
	if (!*out)
		return error->status ? error->status : TN_OUT_OF_MEMORY;
	if (!a->size)
		return TN_OK;
	if (!tn_is_complex(a->dtype))
		return scan_real(scan, a, *out);
	tn_status status = tn_complex_parts_add(&in, a);
	if (!status)
		status = tn_complex_parts_add(&to, *out);
	for (uint32_t k = 0; k < to.n && !status; k++)
		status = scan_real(scan, in.arrays[k], to.views[k]);
	tn_complex_parts_release(&in);
	tn_complex_parts_release(&to);
	return status;
}

/* A recorded forward scan. */
static tn_array *scan_forward(enum tn_operation operation, uint32_t combiner,
			      enum tn_record_kind kind, const tn_array *a, int axis)
{
	struct scan scan = {.operation = operation, .a = a, .axis = axis, .combiner = combiner};
	struct tn_record record = {.kind = kind, .operation = tn_operations[operation].name};
	tn_array *out = NULL;
	tn_status status;
	scan.runtime = tn_begin(1, &a, record.operation);
	if (!scan.runtime)
		return NULL;
	status = run_scan(&scan, &out);
	record.axis = scan.axis;
	if (!status && tn_is_inexact(a->dtype))
		status = tn_record_made(scan.runtime, &record, 1, &a, out);
	return tn_end(scan.runtime, status, out);
}

tn_array *tn_cumsum(const tn_array *a, int axis)
{
	return scan_forward(TN_DO_CUMSUM, TN_REDUCE_SUM, TN_RECORD_CUMSUM, a, axis);
}

static tn_array *multiply_two(const void *user, const tn_array *x, const tn_array *y)
{
	(void)user;
	return tn_multiply(x, y);
}

static tn_array *complex_cumprod(const tn_array *a, int axis)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "cumprod");
	if (!runtime)
		return NULL;
	if (!tn_axis_normal(&axis, a->rank)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "cumprod",
				"axis %d: the array has rank %d", axis, a->rank);
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	tn_array *first = a->shape[axis] > 1 ? tn_reshape(a, a->rank, a->shape) : tn_copy(a);
	return tn_scope_end(runtime->context, tn_combine_scan(first, axis, multiply_two, NULL));
}

tn_array *tn_cumprod(const tn_array *a, int axis)
{
	if (a && tn_is_complex(a->dtype))
		return complex_cumprod(a, axis);
	return scan_forward(TN_DO_CUMPROD, TN_REDUCE_PRODUCT, TN_RECORD_CUMPROD, a, axis);
}

tn_array *tn_cummax(const tn_array *a, int axis)
{
	return scan_forward(TN_DO_CUMMAX, TN_REDUCE_MAX, TN_RECORD_CUMULATIVE_EXTREMUM, a, axis);
}

tn_array *tn_cummin(const tn_array *a, int axis)
{
	return scan_forward(TN_DO_CUMMIN, TN_REDUCE_MIN, TN_RECORD_CUMULATIVE_EXTREMUM, a, axis);
}

tn_array *tn_scan(const tn_array *a, int axis, uint32_t combiner, int is_reverse, int is_exclusive)
{
	static const enum tn_operation operations[] = {
		[TN_REDUCE_SUM] = TN_DO_CUMSUM,
		[TN_REDUCE_PRODUCT] = TN_DO_CUMPROD,
		[TN_REDUCE_MAX] = TN_DO_CUMMAX,
		[TN_REDUCE_MIN] = TN_DO_CUMMIN,
	};
	struct scan scan = {.operation = operations[combiner],
			    .a = a,
			    .axis = axis,
			    .combiner = combiner,
			    .is_reverse = is_reverse,
			    .is_exclusive = is_exclusive};
	tn_array *out = NULL;
	tn_status status;
	scan.runtime = tn_begin(1, &a, tn_operations[scan.operation].name);
	if (!scan.runtime)
		return NULL;
	status = run_scan(&scan, &out);
	return tn_end(scan.runtime, status, out);
}
