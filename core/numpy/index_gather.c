/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Computes the number in memory of every element that an index chooses, for a gather without a
 * copy of the array.
 */
#include "numpy/index_gather.h"

#include "array/make.h"
#include "array/shape.h"
#include "ops/formula.h"
#include "ops/index_formula.h"

static int64_t indexed_size(const struct tn_index_selection *chosen)
{
	int64_t size = 1;
	for (int i = 0; i < chosen->n_indexed; i++)
		size *= chosen->view->shape[chosen->first + i];
	return size;
}

int tn_index_gather_pays(const struct tn_index_selection *chosen, int64_t factor)
{
	const tn_array *view = chosen->view;
	const int64_t size = indexed_size(chosen);
	int64_t stride = 0;
	if (!view->size || chosen->numbers->size > size / factor)
		return 0;
	/* `stride` is the one with which the axis before merges. */
	for (int i = chosen->first + chosen->n_indexed - 1; i >= chosen->first; i--) {
		if (view->shape[i] == 1)
			continue;
		if (stride && view->strides[i] != stride)
			return 1;
		stride = view->strides[i] * view->shape[i];
	}
	return 0;
}

/* Places in a line, whose length stands for a number out of range.  First the one from which the
 * places of a number within the indexed axes are counted. */
static const struct tn_formula start = {.text = "z = i64(number) >= size ? length : first",
					.inputs = "number",
					.scalars = "size length first",
					.scalar_dtype = TN_I64};
/* Adds an indexed axis, behind which lie n_after of the elements that are numbered. */
static const struct tn_formula add_indexed = {
	.text = "z = place >= length ? place : "
		"place + i64(number) / n_after % axis_length * stride",
	.inputs = "number place",
	.scalars = "n_after length axis_length stride",
	.scalar_dtype = TN_I64};
/* Adds a kept axis. */
static const struct tn_formula add_kept = {
	.text = "z = place >= length ? place : place + i * stride",
	.inputs = "i place",
	.scalars = "stride length",
	.scalar_dtype = TN_I64};
static const struct tn_formula index_along = {.text = "z = index(0)"};

/* A line whose elements lie along the axis before n_after others. */
static tn_array *lay_before(const tn_array *line, int n_after)
{
	int64_t shape[TN_MAX_RANK] = {0};
	if (!line)
		return NULL;
	shape[0] = line->size;
	for (int i = 1; i <= n_after; i++)
		shape[i] = 1;
	return tn_reshape(line, n_after + 1, shape);
}

/* Places of the first kept elements, one for each choice. */
static tn_array *place_choices(const char *operation, const struct tn_index_selection *chosen,
			       int64_t first, int64_t length)
{
	const tn_array *view = chosen->view, *numbers = chosen->numbers;
	const int64_t size = indexed_size(chosen);
	const double begin[] = {(double)size, (double)length, (double)first};
	tn_array *places = tn_formula_operation(operation, &start, TN_I64, &numbers, begin);
	int64_t after = 1;
	for (int i = chosen->first + chosen->n_indexed - 1; i >= chosen->first && places; i--) {
		const tn_array *inputs[] = {numbers, places};
		const double scalars[] = {(double)after, (double)length, (double)view->shape[i],
					  (double)view->strides[i]};
		places = tn_formula_operation(operation, &add_indexed, TN_I64, inputs, scalars);
		after *= view->shape[i];
	}
	return places;
}

/* Adds a kept axis to the places, which have n_after axes behind it. */
static tn_array *add_axis(const char *operation, const tn_array *view, int axis, int n_after,
			  const tn_array *places, int64_t length)
{
	const double scalars[] = {(double)view->strides[axis], (double)length};
	tn_array *indices = tn_index_formula_make(tn_array_home(view), operation, TN_I64, 1,
						  &view->shape[axis], &index_along, NULL);
	const tn_array *inputs[] = {lay_before(indices, n_after), places};
	return tn_formula_operation(operation, &add_kept, TN_I64, inputs, scalars);
}

tn_status tn_index_gather_make(const char *operation, const struct tn_index_selection *chosen,
			       struct tn_index_gather *gather)
{
	const tn_array *view = chosen->view;
	const int64_t all[] = {-1}, one = 1;
	const int end = chosen->first + chosen->n_indexed, n_after = view->rank - end;
	int64_t low, high;
	tn_shape_extent(view->rank, view->shape, view->strides, &low, &high);
	const int64_t length = high - low + 1;
	gather->line = tn_array_view(view, 1, &length, &one, view->offset + low);
	if (!gather->line)
		return tn_end_into(view->runtime, view->runtime->report.status);
	tn_array *places = lay_before(place_choices(operation, chosen, -low, length), n_after);
	for (int axis = view->rank - 1; axis >= end; axis--)
		places = add_axis(operation, view, axis, view->rank - 1 - axis, places, length);
	for (int axis = chosen->first - 1; axis >= 0; axis--)
		places = add_axis(operation, view, axis, chosen->first - axis + n_after, places,
				  length);
	gather->numbers = tn_reshape(places, 1, all);
	return gather->numbers ? TN_OK : view->runtime->error.status;
}
