/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Views: other shapes and strides over the same storage.
 */
#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "ops/copy.h"

/* Records a view and returns it. */
static tn_array *record_view(const tn_array *a, tn_array *view, struct tn_record *record)
{
	struct tn_runtime *runtime = a->runtime;
	tn_status status =
		view ? tn_record_made(runtime, record, 1, &a, view) : runtime->report.status;
	return tn_end(runtime, status, view);
}

static tn_array *refuse(struct tn_runtime *runtime)
{
	return tn_end(runtime, runtime->report.status, NULL);
}

/* ---- Reshape ---------------------------------------------------------------------------------*/

/* Replaces -1 by the length it stands for. */
static tn_status complete_shape(const tn_array *a, int rank, const int64_t *wanted, int64_t *shape)
{
	struct tn_error_info *error = &a->runtime->report;
	char from[TN_SHAPE_TEXT], to[TN_SHAPE_TEXT];
	int64_t size = 1;
	int open = -1;
	if (rank < 0 || rank > TN_MAX_RANK || (rank && !wanted))
		return tn_fail(error, TN_INVALID_ARGUMENT, "reshape",
			       "rank: expected 0 to %d with a shape, found %d", TN_MAX_RANK, rank);
	for (int i = 0; i < rank; i++) {
		shape[i] = wanted[i];
		if (wanted[i] == -1 && open < 0) {
			open = i;
		} else if (wanted[i] < 0 || (wanted[i] && size > INT64_MAX / wanted[i])) {
			return tn_fail(error, TN_INVALID_ARGUMENT, "reshape",
				       "shape[%d] is %" PRId64 "; one length may be -1", i,
				       wanted[i]);
		} else {
			size *= wanted[i];
		}
	}
	if (open >= 0 && size && a->size % size == 0) {
		shape[open] = a->size / size;
		return TN_OK;
	}
	if (open < 0 && size == a->size)
		return TN_OK;
	return tn_fail(error, TN_SHAPE, "reshape",
		       "%s with %" PRId64 " elements cannot be reshaped to %s",
		       tn_array_text(a, from), a->size, tn_shape_print(rank, wanted, to));
}

/* Strides for `shape` over a's elements in row-major order; 0 when there are none.  Groups of old
 * axes with as many elements as a group of new ones must have one common stride. */
static int view_strides(const tn_array *a, int rank, const int64_t *shape, int64_t *strides)
{
	int64_t old_shape[TN_MAX_RANK], old_strides[TN_MAX_RANK];
	int n_old = 0, old = 0, new = 0;
	if (a->size == 0 || a->contiguous) {
		tn_shape_compact(rank, shape, strides);
		return 1;
	}
	for (int i = 0; i < a->rank; i++) {
		if (a->shape[i] == 1)
			continue;
		old_shape[n_old] = a->shape[i];
		old_strides[n_old++] = a->strides[i];
	}
	while (old < n_old) {
		int64_t n = old_shape[old], m = 1;
		int old_end = old + 1, new_end = new;
		do {
			if (m < n)
				m *= shape[new_end++];
			else
				n *= old_shape[old_end++];
		} while (m != n);
		for (int i = old; i + 1 < old_end; i++) {
			if (old_strides[i] != old_strides[i + 1] * old_shape[i + 1])
				return 0;
		}
		for (int64_t i = new_end - 1, stride = old_strides[old_end - 1]; i >= new; i--) {
			strides[i] = stride;
			stride *= shape[i];
		}
		old = old_end;
		new = new_end;
	}
	for (; new < rank; new ++)
		strides[new] = 1;
	return 1;
}

tn_array *tn_reshape(const tn_array *a, int rank, const int64_t *wanted)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "reshape");
	struct tn_record record = {.kind = TN_RECORD_RESHAPE, .operation = "reshape"};
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK];
	tn_array *copy = NULL, *view;
	if (!runtime)
		return NULL;
	if (complete_shape(a, rank, wanted, shape))
		return refuse(runtime);
	if (view_strides(a, rank, shape, strides))
		return record_view(a, tn_array_view(a, rank, shape, strides, a->offset), &record);
	copy = tn_array_compact(runtime, a);
	if (!copy)
		return refuse(runtime);
	tn_shape_compact(rank, shape, strides);
	view = tn_array_view(copy, rank, shape, strides, copy->offset);
	tn_array_discard(copy);
	return record_view(a, view, &record);
}

tn_array *tn_expand_dims(const tn_array *a, int axis)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "expand_dims");
	struct tn_record record = {.kind = TN_RECORD_RESHAPE, .operation = "expand_dims"};
	int64_t shape[TN_MAX_RANK + 1], strides[TN_MAX_RANK + 1];
	if (!runtime)
		return NULL;
	if (a->rank == TN_MAX_RANK || !tn_axis_normal(&axis, a->rank + 1)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "expand_dims",
				"axis %d: the array has rank %d, and the limit is %d", axis,
				a->rank, TN_MAX_RANK);
		return NULL;
	}
	for (int i = 0, from = 0; i <= a->rank; i++) {
		shape[i] = i == axis ? 1 : a->shape[from];
		strides[i] = i == axis ? 1 : a->strides[from];
		from += i != axis;
	}
	return record_view(a, tn_array_view(a, a->rank + 1, shape, strides, a->offset), &record);
}

tn_array *tn_squeeze(const tn_array *a, int axis)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "squeeze");
	struct tn_record record = {.kind = TN_RECORD_RESHAPE, .operation = "squeeze"};
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK];
	if (!runtime)
		return NULL;
	if (!tn_axis_normal(&axis, a->rank)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "squeeze",
				"axis %d: the array has rank %d", axis, a->rank);
		return NULL;
	}
	if (a->shape[axis] != 1) {
		tn_runtime_fail(runtime, TN_SHAPE, "squeeze", "axis %d has length %" PRId64, axis,
				a->shape[axis]);
		return NULL;
	}
	for (int i = 0, to = 0; i < a->rank; i++) {
		if (i == axis)
			continue;
		shape[to] = a->shape[i];
		strides[to++] = a->strides[i];
	}
	return record_view(a, tn_array_view(a, a->rank - 1, shape, strides, a->offset), &record);
}

/* ---- Other views -----------------------------------------------------------------------------*/

tn_array *tn_transpose(const tn_array *a, const int *axes)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "transpose");
	struct tn_record record = {.kind = TN_RECORD_TRANSPOSE, .operation = "transpose"};
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK];
	uint32_t seen = 0;
	if (!runtime)
		return NULL;
	for (int i = 0; i < a->rank; i++) {
		int axis = axes ? axes[i] : a->rank - 1 - i;
		if (!tn_axis_normal(&axis, a->rank) || seen >> axis & 1) {
			tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "transpose",
					"axes[%d] is %d: expected each axis of rank %d once", i,
					axis, a->rank);
			return NULL;
		}
		seen |= 1u << axis;
		shape[i] = a->shape[axis];
		strides[i] = a->strides[axis];
		record.permutation[i] = axis;
	}
	record.n_axes = a->rank;
	return record_view(a, tn_array_view(a, a->rank, shape, strides, a->offset), &record);
}

/* Python's rule: an omitted or out-of-range end becomes the nearest valid one for the direction. */
static int64_t clip(int64_t index, int64_t length, int64_t step, int is_start)
{
	int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? length : length - 1;
	if (index == INT64_MIN)
		return (step > 0) == is_start ? lowest : highest;
	if (index < 0)
		index += length;
	if (index < lowest)
		return lowest;
	return index > highest ? highest : index;
}

tn_array *tn_slice(const tn_array *a, int axis, int64_t start, int64_t stop, int64_t step)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "slice");
	struct tn_record record = {.kind = TN_RECORD_SLICE, .operation = "slice", .step = step};
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK], length, n = 0;
	if (!runtime)
		return NULL;
	if (!tn_axis_normal(&axis, a->rank) || step == 0 || step == INT64_MIN) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "slice",
				"axis %d, step %" PRId64
				": the array has rank %d, and a step must not be 0",
				axis, step, a->rank);
		return NULL;
	}
	length = a->shape[axis];
	start = clip(start, length, step, 1);
	stop = clip(stop, length, step, 0);
	if (step > 0 && stop > start)
		n = (stop - start - 1) / step + 1;
	else if (step < 0 && start > stop)
		n = (start - stop - 1) / -step + 1;
	memcpy(shape, a->shape, sizeof(shape));
	memcpy(strides, a->strides, sizeof(strides));
	shape[axis] = n;
	/* A single element needs no step, and a large step must not overflow. */
	if (n > 1)
		strides[axis] *= step;
	record.axis = axis;
	record.start = start;
	return record_view(a,
			   tn_array_view(a, a->rank, shape, strides,
					 n ? a->offset + start * a->strides[axis] : a->offset),
			   &record);
}

tn_array *tn_broadcast_to(const tn_array *a, int rank, const int64_t *shape)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "broadcast_to");
	struct tn_record record = {.kind = TN_RECORD_BROADCAST, .operation = "broadcast_to"};
	int64_t strides[TN_MAX_RANK], fitted[TN_MAX_RANK], size;
	char from[TN_SHAPE_TEXT], to[TN_SHAPE_TEXT];
	int fitted_rank = rank;
	if (!runtime)
		return NULL;
	if (tn_shape_check(runtime, "broadcast_to", a->dtype, rank, shape, &size))
		return refuse(runtime);
	if (rank)
		memcpy(fitted, shape, (size_t)rank * sizeof(*shape));
	if (!tn_shape_broadcast(&fitted_rank, fitted, a->rank, a->shape) ||
	    !tn_shape_equal(fitted_rank, fitted, rank, shape)) {
		tn_runtime_fail(runtime, TN_SHAPE, "broadcast_to", "%s does not broadcast to %s",
				tn_array_text(a, from), tn_shape_print(rank, shape, to));
		return NULL;
	}
	tn_shape_broadcast_strides(a, rank, shape, strides);
	return record_view(a, tn_array_view(a, rank, fitted, strides, a->offset), &record);
}

static tn_status check_window(const tn_array *a, int n, const int64_t *window, const int *axes,
			      struct tn_record *record)
{
	struct tn_error_info *error = &a->runtime->report;
	if (n < 0 || (n && (!window || !axes)) || a->rank + n > TN_MAX_RANK)
		return tn_fail(error, TN_INVALID_ARGUMENT, "sliding_window_view",
			       "%d windows on rank %d: expected 0 to %d", n, a->rank,
			       TN_MAX_RANK - a->rank);
	for (int i = 0; i < n; i++) {
		int axis = axes[i];
		if (!tn_axis_normal(&axis, a->rank))
			return tn_fail(error, TN_INVALID_ARGUMENT, "sliding_window_view",
				       "axis %d: the array has rank %d", axis, a->rank);
		record->permutation[i] = axis;
	}
	return TN_OK;
}

tn_array *tn_sliding_window_view(const tn_array *a, int n, const int64_t *window, const int *axes)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "sliding_window_view");
	struct tn_record record = {
		.kind = TN_RECORD_WINDOW, .operation = "sliding_window_view", .n_axes = n};
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK];
	if (!runtime)
		return NULL;
	if (check_window(a, n, window, axes, &record))
		return refuse(runtime);
	memcpy(shape, a->shape, sizeof(shape));
	memcpy(strides, a->strides, sizeof(strides));
	for (int i = 0; i < n; i++) {
		int axis = record.permutation[i];
		if (window[i] < 1 || window[i] > shape[axis]) {
			tn_runtime_fail(runtime, TN_SHAPE, "sliding_window_view",
					"window[%d] is %" PRId64 ", axis %d has room for 1 to "
					"%" PRId64,
					i, window[i], axis, shape[axis]);
			return NULL;
		}
		shape[axis] -= window[i] - 1;
		shape[a->rank + i] = window[i];
		strides[a->rank + i] = a->strides[axis];
	}
	return record_view(a, tn_array_view(a, a->rank + n, shape, strides, a->offset), &record);
}
