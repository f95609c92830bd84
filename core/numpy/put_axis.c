/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Assigns, adds or takes extremes where numbers say.  Some backends do all of it (scatter); others
 * add where numbers say, in the order of the numbers, and everything else is made of that.  Numbers
 * are sorted, so that equal ones are neighbours in their order, and the last of them stands for
 * all.  To its element, as an integer of as many bits, is added what makes it the new value:
 * exactly, since integers wrap; to all others nothing.
 */
#include "numpy/put_axis.h"

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/complex_parts.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/index_formula.h"
#include "ops/map.h"
#include "ops/scatter.h"
#include "ops/take.h"

/* A real array's elements as signed integers of their width. */
static tn_array *bits_of(const tn_array *a)
{
	static const tn_dtype integers[] = {[1] = TN_I8, [2] = TN_I16, [4] = TN_I32, [8] = TN_I64};
	tn_array *view = tn_array_view(a, a->rank, a->shape, a->strides, a->offset);
	if (view)
		view->dtype = integers[tn_dtype_size(a->dtype)];
	return tn_end(a->runtime, view ? TN_OK : a->runtime->report.status, view);
}

/* A line along that axis of an array. */
static tn_array *lay_along(const tn_array *line, const tn_array *a, int axis)
{
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < a->rank - axis; i++)
		shape[i] = i ? 1 : line->size;
	return tn_reshape(line, a->rank - axis, shape);
}

/* ---- Assignment ------------------------------------------------------------------------------*/

/* The target's element becomes the value where `stands`, of the values' number of axes, is true;
 * NULL: everywhere. */
static tn_status assign_real(const struct tn_put *put, const tn_array *target,
			     const tn_array *values, const tn_array *stands)
{
	static const struct tn_formula difference = {.text = "z = value - now",
						     .inputs = "value now"};
	static const struct tn_formula chosen = {
		.text = "z = bool(stands) ? value - now : value - value",
		.inputs = "value now stands"};
	tn_array *bits = bits_of(target);
	const tn_array *inputs[] = {bits_of(values), NULL, stands};
	inputs[1] = tn_take_checked(bits, put->numbers, put->axis, put->operation, NULL);
	if (!bits)
		return target->runtime->error.status;
	const tn_array *change = tn_formula_operation(
		put->operation, stands ? &chosen : &difference, bits->dtype, inputs, NULL);
	return change ? tn_scatter_add(bits, put->numbers, put->axis, change)
		      : target->runtime->error.status;
}

/* In one call of the backend: numbers that do not stand become ones out of range. */
static tn_status assign_at_once(const struct tn_put *put, const tn_array *stands)
{
	static const struct tn_formula chosen = {.text = "z = bool(stands) ? i64(number) : length",
						 .inputs = "number stands",
						 .scalars = "length",
						 .scalar_dtype = TN_I64};
	const tn_array *inputs[] = {put->numbers, stands}, *numbers = put->numbers;
	const double length = (double)put->target->shape[put->axis];
	if (!tn_can_scatter(put->target))
		return TN_UNSUPPORTED;
	if (stands)
		numbers = tn_formula_operation(put->operation, &chosen, TN_I64, inputs, &length);
	return numbers ? tn_scatter(put->target, numbers, put->axis, put->values, TN_SCATTER_SET)
		       : put->target->runtime->error.status;
}

/* stands: bool, for each number; NULL: all are written. */
static tn_status assign(const struct tn_put *put, const tn_array *stands)
{
	tn_status once = assign_at_once(put, stands);
	if (once != TN_UNSUPPORTED)
		return once;
	if (stands)
		stands = lay_along(stands, put->target, put->axis);
	if (!stands && put->target->runtime->error.status)
		return put->target->runtime->error.status;
	struct tn_complex_parts to = {0}, from = {0};
	tn_status status = tn_complex_parts_add(&to, put->target);
	if (!status)
		status = tn_complex_parts_add(&from, put->values);
	status = tn_end_into(put->target->runtime, status);
	for (uint32_t k = 0; k < to.n && !status; k++)
		status = assign_real(put, to.arrays[k], from.arrays[k], stands);
	tn_complex_parts_release(&from);
	tn_complex_parts_release(&to);
	return status;
}

/* ---- Equal numbers ---------------------------------------------------------------------------*/

/* bool, for sorted numbers: is it the last of equal ones? */
static const tn_array *last_of_equals(const tn_array *sorted)
{
	static const struct tn_formula differ = {.text = "z = x != y", .inputs = "x y"};
	struct tn_runtime *runtime = sorted->runtime;
	tn_array *last = tn_array_filled(sorted, TN_BOOL, 1, sorted->shape, 1);
	tn_array *but_one = tn_slice(last, 0, 0, sorted->size - 1, 1);
	const tn_array *inputs[] = {tn_slice(sorted, 0, 0, sorted->size - 1, 1),
				    tn_slice(sorted, 0, 1, sorted->size, 1)};
	if (!but_one || !inputs[0] || !inputs[1])
		return NULL;
	tn_status status =
		tn_formula_map(runtime, TN_DO_NOT_EQUAL, &differ, inputs, &but_one, NULL);
	return tn_end_into(runtime, status) ? NULL : last;
}

static tn_array *extreme_of(enum tn_index_mode mode, const tn_array *a, const tn_array *b)
{
	return mode == TN_PUT_MIN ? tn_minimum(a, b) : tn_maximum(a, b);
}

/* The extreme of each value and those before it with the same number: of 2, 4, 8, ... of them. */
static const tn_array *join_equals(const struct tn_put *put, const tn_array *sorted)
{
	const tn_array *values = put->values;
	const int axis = put->axis;
	for (int64_t step = 1; step < sorted->size && values; step *= 2) {
		const int64_t n = sorted->size;
		const tn_array *equal = tn_equal(tn_slice(sorted, 0, step, n, 1),
						 tn_slice(sorted, 0, 0, n - step, 1));
		const tn_array *own = tn_slice(values, axis, step, n, 1);
		const tn_array *before = tn_slice(values, axis, 0, n - step, 1);
		const tn_array *joined = extreme_of(put->mode, own, before);
		if (!equal || !joined)
			return NULL;
		const tn_array *parts[] = {tn_slice(values, axis, 0, step, 1),
					   tn_where(lay_along(equal, values, axis), joined, own)};
		values = tn_concatenate(2, parts, axis);
	}
	return values;
}

/* With sorted numbers, and the values in their order, extremes among equal ones. */
static tn_status put_sorted(struct tn_put *put)
{
	const tn_array *order = tn_argsort(put->numbers, 0, 0);
	const tn_array *sorted = tn_take_checked(put->numbers, order, 0, put->operation, NULL);
	put->values = tn_take_checked(put->values, order, put->axis, put->operation, NULL);
	if (!sorted || !put->values)
		return put->target->runtime->error.status;
	put->numbers = sorted;
	if (put->mode != TN_PUT_ASSIGN) {
		put->values = join_equals(put, sorted);
		const tn_array *now =
			tn_take_checked(put->target, sorted, put->axis, put->operation, NULL);
		put->values = extreme_of(put->mode, now, put->values);
	}
	const tn_array *last = last_of_equals(sorted);
	return last && put->values ? assign(put, last) : put->target->runtime->error.status;
}

/* ---- Modes -----------------------------------------------------------------------------------*/

static tn_status add(const struct tn_put *put)
{
	struct tn_complex_parts to = {0}, from = {0};
	tn_status status = tn_complex_parts_add(&to, put->target);
	if (!status)
		status = tn_complex_parts_add(&from, put->values);
	status = tn_end_into(put->target->runtime, status);
	for (uint32_t k = 0; k < to.n && !status; k++)
		status = tn_scatter_add(to.views[k] ? to.views[k] : put->target, put->numbers,
					put->axis, from.arrays[k]);
	tn_complex_parts_release(&from);
	tn_complex_parts_release(&to);
	return status;
}

/* The extreme of all values with a number and the target's, in one call of the backend, which does
 * not order complex numbers or truth values. */
static tn_status extremes_at_once(const struct tn_put *put)
{
	const tn_dtype dtype = put->target->dtype;
	if (dtype == TN_BOOL || tn_is_complex(dtype))
		return TN_UNSUPPORTED;
	return tn_scatter(put->target, put->numbers, put->axis, put->values,
			  put->mode == TN_PUT_MIN ? TN_SCATTER_MIN : TN_SCATTER_MAX);
}

tn_status tn_put_run(const struct tn_put *put)
{
	struct tn_put own = *put;
	if (!put->values->size)
		return TN_OK;
	/* The sum of truth values is their larger one. */
	if (put->mode == TN_PUT_ADD && put->target->dtype == TN_BOOL)
		own.mode = TN_PUT_MAX;
	if (own.mode == TN_PUT_ADD)
		return add(&own);
	if (own.mode != TN_PUT_ASSIGN) {
		tn_status status = extremes_at_once(&own);
		if (status != TN_UNSUPPORTED)
			return status;
	}
	if (!put->is_unique && put->numbers->size > 1)
		return put_sorted(&own);
	if (own.mode != TN_PUT_ASSIGN) {
		const tn_array *now =
			tn_take_checked(put->target, put->numbers, put->axis, put->operation, NULL);
		own.values = extreme_of(own.mode, now, put->values);
	}
	return own.values ? assign(&own, NULL) : put->target->runtime->error.status;
}

/* ---- Arguments -------------------------------------------------------------------------------*/

tn_status tn_put_check(const char *operation, const tn_array *a, const tn_array *values)
{
	tn_status status = tn_array_writable(a->runtime, operation, a);
	if (!status && values)
		status = tn_refuse_tracked(a->runtime, operation, 1, &values);
	return tn_end_into(a->runtime, status);
}

tn_array *tn_line_borrow(const char *operation, tn_array *a)
{
	const int64_t all[] = {-1};
	return tn_reshape(tn_array_untracked(operation, a), 1, all);
}

tn_status tn_line_return(tn_array *a, tn_array *line)
{
	if (line->storage == a->storage)
		return TN_OK;
	const tn_array *changed = tn_reshape(line, a->rank, a->shape);
	return changed ? tn_assign(a, changed) : a->runtime->error.status;
}

static const tn_array *converted(const tn_array *values, tn_dtype dtype)
{
	return values->dtype == dtype ? values : tn_astype(values, dtype);
}

tn_array *tn_values_cycle(const char *operation, const tn_array *values, tn_dtype dtype, int64_t n)
{
	static const struct tn_formula place = {
		.text = "z = index(0) % length", .scalars = "length", .scalar_dtype = TN_I64};
	const int64_t all[] = {-1};
	tn_array *line = tn_reshape(converted(values, dtype), 1, all);
	if (!line || line->size == n)
		return line;
	if (line->size > n)
		return tn_slice(line, 0, 0, n, 1);
	const double length = (double)line->size;
	const tn_array *places = tn_index_formula_make(tn_array_home(values), operation, TN_I64, 1,
						       &n, &place, &length);
	return tn_take_checked(line, places, 0, operation, NULL);
}

tn_array *tn_values_fit(const char *operation, const char *argument, const tn_array *values,
			tn_dtype dtype, int rank, const int64_t *shape)
{
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	int64_t fitted[TN_MAX_RANK];
	int n_more = 0, fitted_rank = rank;
	while (values->rank - n_more > rank && values->shape[n_more] == 1)
		n_more++;
	for (int i = 0; i < rank; i++)
		fitted[i] = shape[i];
	if (!tn_shape_broadcast(&fitted_rank, fitted, values->rank - n_more,
				values->shape + n_more) ||
	    !tn_shape_equal(fitted_rank, fitted, rank, shape)) {
		tn_runtime_fail(values->runtime, TN_SHAPE, operation,
				"%s: shape %s does not broadcast to %s", argument,
				tn_array_text(values, found),
				tn_shape_print(rank, shape, expected));
		return NULL;
	}
	const tn_array *fewer = converted(values, dtype);
	if (n_more)
		fewer = tn_reshape(fewer, values->rank - n_more, values->shape + n_more);
	return tn_broadcast_to(fewer, rank, shape);
}
