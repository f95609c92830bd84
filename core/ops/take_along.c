/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements chosen by an index for each of them: indices along an axis become element numbers, which
 * gather from, or scatter into, the array as one line.
 */
#include "ops/take_along.h"

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/copy.h"
#include "ops/index_check.h"
#include "ops/map.h"
#include "ops/take.h"

/* An index along the axis becomes the element's number; out of range it is `size`, how many there
 * are, and stays out of range. */
static const struct tn_formula number = {
	.text = "i = i64(indices); place = i < 0 ? i + length : i\n"
		"z = place < 0 || place >= length ? size"
		" : (index(0) * length + place) * inner + index(2)",
	.inputs = "indices",
	.scalars = "length inner size",
	.scalar_dtype = TN_I64};

tn_status tn_along_numbers(struct tn_runtime *runtime, const tn_array *a, const tn_array *indices,
			   int axis, int is_put, tn_array **line)
{
	int64_t outer = 1, inner = 1;
	tn_array *flat, *numbers;
	const tn_array *inputs[1];
	tn_status status = tn_indices_line(runtime, indices, line);
	for (int i = 0; i < axis; i++)
		outer *= a->shape[i];
	for (int i = axis + 1; i < a->rank; i++)
		inner *= a->shape[i];
	if (status || (outer == 1 && inner == 1 && !is_put))
		return status;
	int64_t shape[3] = {outer, indices->shape[axis], inner}, strides[3];
	double scalars[] = {(double)a->shape[axis], (double)inner, (double)a->size};
	tn_shape_compact(3, shape, strides);
	flat = tn_array_view(*line, 3, shape, strides, (*line)->offset);
	numbers = tn_array_make(runtime, tn_array_home(a), TN_I64, 3, shape);
	if (!flat || !numbers)
		return tn_report_status(runtime);
	inputs[0] = flat;
	runtime->depth++;
	status = tn_formula_map(runtime, TN_DO_TAKE_ALONG_AXIS, &number, inputs, &numbers, scalars);
	runtime->depth--;
	if (status)
		return status;
	return tn_indices_line(runtime, numbers, line);
}

/* All elements of a row-major array in a line. */
static tn_array *line_of(const tn_array *a)
{
	const int64_t one = 1;
	return tn_array_view(a, 1, &a->size, &one, a->offset);
}

/* Between `a` as a line and `listed`, with an element for each index.  A scope of its own frees the
 * temporaries. */
static tn_status move_in_scope(struct tn_runtime *runtime, enum tn_slot slot, const tn_array *a,
			       const tn_array *indices, int axis, const tn_array *listed)
{
	tn_context *context = runtime->context;
	tn_array *numbers, *all, *chosen;
	tn_status status;
	if (!listed->size)
		return TN_OK;
	status = tn_scope_begin(context);
	if (status)
		return status;
	if (slot == TN_SLOT_GATHER && !a->contiguous)
		a = tn_array_compact(runtime, a);
	if (slot != TN_SLOT_GATHER && !listed->contiguous)
		listed = tn_array_compact(runtime, listed);
	all = a ? line_of(a) : NULL;
	chosen = listed ? line_of(listed) : NULL;
	status = all && chosen ? tn_along_numbers(runtime, a, indices, axis, 0, &numbers)
			       : tn_report_status(runtime);
	if (!status && slot == TN_SLOT_GATHER)
		status = tn_gather_run(runtime, TN_DO_TAKE_ALONG_AXIS, slot, all, numbers, chosen,
				       0);
	else if (!status)
		status = tn_gather_run(runtime, TN_DO_SCATTER_ADD, slot, chosen, numbers, all, 0);
	tn_scope_end(context, NULL);
	return status;
}

tn_status tn_along_check(struct tn_runtime *runtime, const char *operation, const tn_array *a,
			 const tn_array *indices, int axis)
{
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	int fits = a->rank == indices->rank;
	for (int i = 0; fits && i < a->rank; i++)
		fits = i == axis || a->shape[i] == indices->shape[i];
	if (fits)
		return TN_OK;
	return tn_fail(&runtime->report, TN_SHAPE, operation,
		       "indices of shape %s do not fit %s along axis %d",
		       tn_array_text(indices, found), tn_array_text(a, expected), axis);
}

static const struct tn_check check = {"take_along_axis", "index", "the axis has length"};

/* indices of i32 or i64 */
static tn_array *take_along(const tn_array *a, const tn_array *indices, int axis)
{
	const tn_array *inputs[] = {a, indices};
	struct tn_runtime *runtime = tn_begin(2, inputs, "take_along_axis");
	struct tn_record record = {.kind = TN_RECORD_TAKE_ALONG_AXIS,
				   .operation = "take_along_axis"};
	tn_array *out = NULL;
	tn_status status;
	if (!runtime)
		return NULL;
	status = tn_indices_check(runtime, "take_along_axis", a, indices, &axis);
	if (!status)
		status = tn_along_check(runtime, "take_along_axis", a, indices, axis);
	if (!status) {
		const struct tn_index_range range = {.operation = TN_DO_TAKE_ALONG_AXIS,
						     .check = &check,
						     .lowest = -a->shape[axis],
						     .limit = a->shape[axis]};
		status = tn_indices_in_range(runtime, &range, indices);
	}
	if (!status) {
		runtime->report.status = TN_OK;
		out = tn_array_make(runtime, tn_array_home(a), a->dtype, indices->rank,
				    indices->shape);
		status = out ? move_in_scope(runtime, TN_SLOT_GATHER, a, indices, axis, out)
			     : tn_report_status(runtime);
	}
	record.axis = axis;
	if (!status && tn_is_inexact(a->dtype))
		status = tn_record_made(runtime, &record, 2, inputs, out);
	return tn_end(runtime, status, out);
}

tn_array *tn_take_along_axis(const tn_array *a, const tn_array *indices, int axis)
{
	if (!a || !indices || indices->dtype == TN_I32 || indices->dtype == TN_I64)
		return take_along(a, indices, axis);
	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){a, indices}, check.operation);
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *numbers = tn_indices_signed(check.operation, "indices", indices);
	return tn_scope_end(runtime->context, numbers ? take_along(a, numbers, axis) : NULL);
}

tn_status tn_scatter_add_along_axis(tn_array *out, const tn_array *indices, int axis,
				    const tn_array *a)
{
	const tn_array *all[] = {out, indices, a};
	tn_status status = tn_begin_into(3, all, "scatter_add");
	if (status)
		return status;
	struct tn_runtime *runtime = out->runtime;
	/* The parts of complex numbers are not contiguous. */
	tn_array *compact = out->contiguous ? out : tn_array_compact(runtime, out);
	status = compact ? move_in_scope(runtime, TN_SLOT_SCATTER_ADD, compact, indices, axis, a)
			 : tn_report_status(runtime);
	if (!status && compact != out)
		status = tn_copy_run(runtime, TN_DO_SCATTER_ADD, out, compact);
	if (!status)
		tn_array_touch(out);
	if (compact != out)
		tn_array_discard(compact);
	return tn_end_into(runtime, status);
}
