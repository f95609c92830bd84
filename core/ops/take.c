/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements chosen by indices, and arrays put side by side.
 */
#include "ops/take.h"

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "ops/copy.h"
#include "ops/index_check.h"
#include "ops/layout.h"

/* ---- Take ------------------------------------------------------------------------------------*/

tn_status tn_indices_check(struct tn_runtime *runtime, const char *operation, const tn_array *a,
			   const tn_array *indices, int *axis)
{
	if (indices->dtype != TN_I32 && indices->dtype != TN_I64)
		return tn_fail(&runtime->report, TN_DTYPE, operation,
			       "indices: expected i32 or i64, found %s",
			       tn_dtype_name(indices->dtype));
	if (!tn_axis_normal(axis, a->rank))
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, operation,
			       "axis %d: the array has rank %d", *axis, a->rank);
	return TN_OK;
}

tn_status tn_gather_run(struct tn_runtime *runtime, enum tn_operation operation, enum tn_slot slot,
			const tn_array *input, const tn_array *line, tn_array *output, int axis)
{
	struct tn_gather_args args = {.call = {.struct_size = sizeof(args)},
				      .axis = (uint32_t)axis};
	struct tn_route route = {.runtime = runtime,
				 .device = tn_array_home(output),
				 .operation = operation,
				 .slot = slot,
				 .call = &args.call};
	tn_operand_of(&args.input, input);
	tn_operand_of(&args.indices, line);
	tn_operand_of(&args.output, output);
	return tn_route_run(&route);
}

/* check NULL: the indices have been checked. */
static tn_status gather(struct tn_runtime *runtime, const tn_array *a, const tn_array *indices,
			int axis, const struct tn_check *check, tn_array *out)
{
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK];
	const struct tn_index_range range = {.operation = TN_DO_TAKE,
					     .check = check,
					     .lowest = -a->shape[axis],
					     .limit = a->shape[axis]};
	tn_array *line, *flat;
	tn_status status;
	if (!out->size)
		return TN_OK;
	status = tn_indices_line(runtime, indices, &line);
	if (status)
		return status;
	if (check)
		status = tn_indices_in_range(runtime, &range, line);
	memcpy(shape, a->shape, sizeof(shape));
	shape[axis] = indices->size;
	tn_shape_compact(a->rank, shape, strides);
	flat = tn_array_view(out, a->rank, shape, strides, 0);
	if (!flat && !status)
		status = runtime->report.status;
	if (!status)
		status = tn_gather_run(runtime, TN_DO_TAKE, TN_SLOT_GATHER, a, line, flat, axis);
	tn_array_discard(flat);
	tn_array_discard(line);
	return status;
}

tn_array *tn_take_checked(const tn_array *a, const tn_array *indices, int axis,
			  const char *operation, const struct tn_check *check)
{
	const tn_array *inputs[] = {a, indices};
	struct tn_runtime *runtime = tn_begin(2, inputs, operation);
	struct tn_record record = {.kind = TN_RECORD_TAKE, .operation = operation};
	int64_t shape[2 * TN_MAX_RANK], size;
	tn_array *out = NULL;
	tn_status status;
	int rank = 0;
	if (!runtime)
		return NULL;
	status = tn_indices_check(runtime, operation, a, indices, &axis);
	if (status)
		return tn_end(runtime, status, NULL);
	for (int i = 0; i < a->rank; i++) {
		if (i != axis) {
			shape[rank++] = a->shape[i];
			continue;
		}
		memcpy(shape + rank, indices->shape, (size_t)indices->rank * sizeof(*shape));
		rank += indices->rank;
	}
	status = tn_shape_check(runtime, operation, a->dtype, rank, shape, &size);
	if (!status) {
		out = tn_array_make(runtime, tn_array_home(a), a->dtype, rank, shape);
		status = out ? gather(runtime, a, indices, axis, check, out)
			     : runtime->report.status;
	}
	record.axis = axis;
	if (!status && tn_is_inexact(a->dtype))
		status = tn_record_made(runtime, &record, 2, inputs, out);
	return tn_end(runtime, status, out);
}

/* By totals that are rounded once. */
static tn_status add_to_narrow(tn_array *out, const tn_array *indices, int axis, const tn_array *a)
{
	struct tn_runtime *runtime = out->runtime;
	tn_status status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	tn_array *total = tn_astype(tn_array_untracked("scatter_add", out), TN_F32);
	status = total ? tn_scatter_add(total, indices, axis, a) : runtime->error.status;
	if (!status)
		status = tn_end_into(runtime, tn_copy_run(runtime, TN_DO_SCATTER_ADD, out, total));
	if (!status)
		tn_array_touch(out);
	tn_scope_end(runtime->context, NULL);
	return status;
}

tn_status tn_scatter_add(tn_array *out, const tn_array *indices, int axis, const tn_array *a)
{
	const tn_array *all[] = {out, indices, a};
	tn_status status = tn_begin_into(3, all, "scatter_add");
	struct tn_runtime *runtime;
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK];
	tn_array *line = NULL, *listed = NULL, *compact = NULL;
	if (status)
		return status;
	runtime = out->runtime;
	status = tn_indices_check(runtime, "scatter_add", out, indices, &axis);
	if (!status)
		status = tn_array_writable(runtime, "scatter_add", out);
	if (!status && !a->contiguous) {
		compact = tn_array_compact(runtime, a);
		status = compact ? TN_OK : runtime->report.status;
		a = compact;
	}
	if (!status)
		status = tn_indices_line(runtime, indices, &line);
	if (!status) {
		memcpy(shape, out->shape, sizeof(shape));
		shape[axis] = indices->size;
		if (tn_shape_compact(out->rank, shape, strides) != a->size ||
		    (a->dtype != out->dtype && tn_total_dtype(a->dtype) != out->dtype))
			status = tn_fail(&runtime->report, TN_SHAPE, "scatter_add",
					 "a: expected one element of %s for each index",
					 tn_dtype_name(out->dtype));
	}
	if (!status && a->size && tn_is_narrow(out->dtype)) {
		tn_array_discard(line);
		status = add_to_narrow(out, indices, axis, a);
		tn_array_discard(compact);
		return status;
	}
	if (!status && a->size) {
		listed = tn_array_view(a, out->rank, shape, strides, a->offset);
		status = listed ? tn_gather_run(runtime, TN_DO_SCATTER_ADD, TN_SLOT_SCATTER_ADD,
						listed, line, out, axis)
				: runtime->report.status;
		if (!status)
			tn_array_touch(out);
	}
	tn_array_discard(listed);
	tn_array_discard(line);
	tn_array_discard(compact);
	return tn_end_into(runtime, status);
}

tn_status tn_scatter_parts(tn_scatter_function add, tn_array *out, const tn_array *indices,
			   int axis, const tn_array *a)
{
	if (!out || !tn_is_complex(out->dtype))
		return add(out, indices, axis, a);
	tn_status status = add(tn_real(out), indices, axis, tn_real(a));
	return status ? status : add(tn_imag(out), indices, axis, tn_imag(a));
}

tn_array *tn_scattered(tn_scatter_function add, int rank, const int64_t *shape,
		       const tn_array *indices, int axis, const tn_array *a)
{
	if (!a)
		return NULL;
	tn_array *total = tn_array_filled(a, tn_total_dtype(a->dtype), rank, shape, 0);
	if (!total || tn_scatter_parts(add, total, indices, axis, a)) {
		tn_array_destroy(total);
		return NULL;
	}
	if (total->dtype == a->dtype)
		return total;
	tn_array *rounded = tn_astype(total, a->dtype);
	tn_array_destroy(total);
	return rounded;
}

/* ---- Concatenate -----------------------------------------------------------------------------*/

tn_dtype tn_arrays_result_type(int n, const tn_array *const *arrays)
{
	uint32_t set = 0;
	for (int i = 0; i < n; i++)
		set |= 1u << arrays[i]->dtype;
	return tn_result_type_of(set);
}

static tn_status joined_shape(struct tn_runtime *runtime, int n, const tn_array *const *arrays,
			      tn_dtype dtype, int *axis, int64_t *shape)
{
	const tn_array *first = arrays[0];
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	int64_t size;
	if (!tn_axis_normal(axis, first->rank))
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, "concatenate",
			       "axis %d: the arrays have rank %d", *axis, first->rank);
	memcpy(shape, first->shape, sizeof(first->shape));
	for (int i = 1; i < n; i++) {
		const tn_array *next = arrays[i];
		int fits = next->rank == first->rank;
		for (int k = 0; fits && k < first->rank; k++)
			fits = k == *axis || next->shape[k] == first->shape[k];
		if (!fits)
			return tn_fail(&runtime->report, TN_SHAPE, "concatenate",
				       "cannot join array %d of shape %s to shape %s along axis %d",
				       i, tn_array_text(next, found),
				       tn_array_text(first, expected), *axis);
		if (next->shape[*axis] > INT64_MAX - shape[*axis])
			return tn_fail(&runtime->report, TN_LIMIT, "concatenate",
				       "axis %d: the sum of the lengths exceeds i64", *axis);
		shape[*axis] += next->shape[*axis];
	}
	return tn_shape_check(runtime, "concatenate", dtype, first->rank, shape, &size);
}

static tn_status copy_parts(struct tn_runtime *runtime, int n, const tn_array *const *arrays,
			    int axis, tn_array *out)
{
	int64_t offset = 0;
	for (int i = 0; i < n; i++) {
		tn_array *part = tn_array_view(out, out->rank, arrays[i]->shape, out->strides,
					       offset * out->strides[axis]);
		tn_status status = part ? tn_copy_run(runtime, TN_DO_COPY, part, arrays[i])
					: runtime->report.status;
		tn_array_discard(part);
		if (status)
			return status;
		offset += arrays[i]->shape[axis];
	}
	return TN_OK;
}

tn_array *tn_concatenate(int n, const tn_array *const *arrays, int axis)
{
	struct tn_record record = {.kind = TN_RECORD_CONCATENATE, .operation = "concatenate"};
	struct tn_runtime *runtime;
	int64_t shape[TN_MAX_RANK];
	tn_array *out = NULL;
	tn_status status;
	if (n < 1 || !arrays)
		return NULL;
	runtime = tn_begin((uint32_t)n, arrays, "concatenate");
	if (!runtime)
		return NULL;
	const tn_dtype dtype = tn_arrays_result_type(n, arrays);
	status = joined_shape(runtime, n, arrays, dtype, &axis, shape);
	if (!status) {
		out = tn_array_make_common(runtime, dtype, arrays[0]->rank, shape, (uint32_t)n,
					   arrays);
		status = out ? copy_parts(runtime, n, arrays, axis, out) : runtime->report.status;
	}
	record.axis = axis;
	if (!status && tn_is_inexact(out->dtype))
		status = tn_record_made(runtime, &record, (uint32_t)n, arrays, out);
	return tn_end(runtime, status, out);
}
