/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements written by number, by mask and along a diagonal.
 */
#include <tenon/index.h>

#include <inttypes.h>

#include "array/make.h"

#include "array/handle.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/index_bounds.h"
#include "numpy/nonzero.h"
#include "numpy/put_axis.h"
#include "ops/axes.h"
#include "ops/index_formula.h"
#include "ops/take.h"
#include "ops/take_along.h"
#include "program/cast.h"

static tn_status begin(const char *operation, tn_array *a, const tn_array *second,
		       const tn_array *values)
{
	const tn_array *all[] = {a, values, second};
	tn_status status = tn_begin_into(second ? 3 : 2, all, operation);
	if (!status)
		status = tn_put_check(operation, a, values);
	return status ? status : tn_scope_begin(a->runtime->context);
}

static tn_status end(const tn_array *a, tn_status status)
{
	tn_scope_end(a->runtime->context, NULL);
	return status;
}

/* Element numbers[i] of `a` := values[i], both in lines. */
static tn_status put_numbers(const char *operation, tn_array *a, const tn_array *numbers,
			     int is_unique, const tn_array *values)
{
	tn_array *line = tn_line_borrow(operation, a);
	if (!line || !numbers || !values)
		return a->runtime->error.status;
	if (!tn_storages_are_apart(values->storage, line->storage))
		values = tn_copy(values);
	if (!values)
		return a->runtime->error.status;
	const struct tn_put put = {.operation = operation,
				   .target = line,
				   .numbers = numbers,
				   .is_unique = is_unique,
				   .values = values,
				   .mode = TN_PUT_ASSIGN};
	tn_status status = tn_put_run(&put);
	return status ? status : tn_line_return(a, line);
}

/* ---- By number -------------------------------------------------------------------------------*/

static tn_status put(tn_array *a, const tn_array *indices, const tn_array *values, uint32_t bounds)
{
	static const struct tn_check check = {"put", "index", "a has size"};
	const int64_t all[] = {-1};
	const tn_array *bounded =
		tn_index_bounded(&check, "indices", indices, -a->size, a->size, bounds);
	if (!bounded)
		return a->runtime->error.status;
	if (!values->size || !bounded->size)
		return TN_OK;
	return put_numbers("put", a, tn_reshape(bounded, 1, all), 0,
			   tn_values_cycle("put", values, a->dtype, bounded->size));
}

tn_status tn_put(tn_array *a, const tn_array *indices, const tn_array *values, uint32_t bounds)
{
	const tn_array *all[] = {a, indices, values};
	tn_status status = tn_begin_into(3, all, "put");
	if (!status)
		status = begin("put", a, indices, values);
	return status ? status : end(a, put(a, indices, values, bounds));
}

static tn_status put_along(tn_array *a, const tn_array *indices, const tn_array *values, int axis)
{
	static const char operation[] = "put_along_axis";
	static const struct tn_check check = {operation, "index", "the axis has length"};
	struct tn_runtime *runtime = a->runtime;
	const int64_t all[] = {-1}, length = a->shape[axis];
	tn_array *numbers = NULL;
	const tn_array *bounded =
		tn_index_bounded(&check, "indices", indices, -length, length, TN_RAISE);
	const tn_array *fitted =
		tn_values_fit(operation, "values", values, a->dtype, indices->rank, indices->shape);
	if (!bounded || !fitted)
		return runtime->error.status;
	if (!bounded->size)
		return TN_OK;
	tn_status status = tn_along_numbers(runtime, a, bounded, axis, 1, &numbers);
	if (status)
		return tn_end_into(runtime, status);
	return put_numbers(operation, a, numbers, 0, tn_reshape(fitted, 1, all));
}

tn_status tn_put_along_axis(tn_array *a, const tn_array *indices, const tn_array *values, int axis)
{
	static const char operation[] = "put_along_axis";
	const tn_array *all[] = {a, indices, values};
	tn_status status = tn_begin_into(3, all, operation);
	if (!status)
		status = tn_axis_check(a, operation, "axis", &axis);
	if (!status)
		status = tn_end_into(a->runtime,
				     tn_along_check(a->runtime, operation, a, indices, axis));
	if (!status)
		status = begin(operation, a, indices, values);
	return status ? status : end(a, put_along(a, indices, values, axis));
}

/* ---- By mask ---------------------------------------------------------------------------------*/

static tn_status begin_masked(const char *operation, tn_array *a, const tn_array *mask,
			      const tn_array *values)
{
	const tn_array *all[] = {a, mask, values};
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	tn_status status = tn_begin_into(3, all, operation);
	if (status)
		return status;
	if (mask->size != a->size)
		return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
				       "mask: shape %s has another size than a's %s",
				       tn_array_text(mask, found), tn_array_text(a, expected));
	return begin(operation, a, mask, values);
}

static tn_status place(tn_array *a, const tn_array *mask, const tn_array *values)
{
	const tn_array *numbers = tn_true_numbers("place", mask, -1);
	if (!numbers)
		return a->runtime->error.status;
	if (!numbers->size)
		return TN_OK;
	if (!values->size)
		return tn_runtime_fail(a->runtime, TN_SHAPE, "place",
				       "values: expected at least one for %" PRId64
				       " elements, found none",
				       numbers->size);
	return put_numbers("place", a, numbers, 1,
			   tn_values_cycle("place", values, a->dtype, numbers->size));
}

tn_status tn_place(tn_array *a, const tn_array *mask, const tn_array *values)
{
	tn_status status = begin_masked("place", a, mask, values);
	return status ? status : end(a, place(a, mask, values));
}

/* `a` becomes the elements, of its shape and dtype, where the mask is true. */
static tn_status assign_where(const char *operation, tn_array *a, const tn_array *mask,
			      const tn_array *elements)
{
	const tn_array *now = tn_array_untracked(operation, a);
	const tn_array *next = tn_where(mask, elements, now);
	return next ? tn_assign(a, next) : a->runtime->error.status;
}

static tn_status put_masked(tn_array *a, const tn_array *mask, const tn_array *values)
{
	if (!values->size)
		return TN_OK;
	const tn_array *line = tn_values_cycle("putmask", values, a->dtype, a->size);
	return assign_where("putmask", a, tn_reshape(mask, a->rank, a->shape),
			    tn_reshape(line, a->rank, a->shape));
}

tn_status tn_putmask(tn_array *a, const tn_array *mask, const tn_array *values)
{
	tn_status status = begin_masked("putmask", a, mask, values);
	return status ? status : end(a, put_masked(a, mask, values));
}

/* ---- Copyto ----------------------------------------------------------------------------------*/

static tn_status check_copy(const tn_array *out, const tn_array *a, const tn_array *where)
{
	struct tn_runtime *runtime = out->runtime;
	if (tn_handle_check(a->runtime, "copyto") ||
	    (where && tn_handle_check(where->runtime, "copyto")))
		return TN_STATE;
	if (a->runtime != runtime || (where && where->runtime != runtime))
		return tn_runtime_fail(runtime, TN_DEVICE, "copyto",
				       "%s belongs to another context than out",
				       a->runtime != runtime ? "a" : "where");
	if (!tn_is_same_kind(a->dtype, out->dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, "copyto",
				       "a: %s is of a higher kind than out's %s: a lower kind "
				       "needs tn_astype",
				       tn_dtype_name(a->dtype), tn_dtype_name(out->dtype));
	if (where && where->dtype != TN_BOOL)
		return tn_runtime_fail(runtime, TN_DTYPE, "copyto",
				       "where: expected bool, found %s",
				       tn_dtype_name(where->dtype));
	return tn_put_check("copyto", out, a);
}

/* An argument of that name on out's device, in out's shape and that dtype. */
static tn_array *fit_to(const tn_array *out, const char *argument, const tn_array *a,
			tn_dtype dtype)
{
	struct tn_device *home = tn_array_home(out);
	const tn_array *here = tn_array_home(a) == home ? a : tn_to(a, home);
	return here ? tn_values_fit("copyto", argument, here, dtype, out->rank, out->shape) : NULL;
}

static tn_status copy_where(tn_array *out, const tn_array *a, const tn_array *where)
{
	const tn_array *fitted = fit_to(out, "a", a, out->dtype);
	if (!fitted)
		return out->runtime->error.status;
	if (!where)
		return tn_assign(out, fitted);
	const tn_array *mask = fit_to(out, "where", where, TN_BOOL);
	return mask ? assign_where("copyto", out, mask, fitted) : out->runtime->error.status;
}

tn_status tn_copyto(tn_array *out, const tn_array *a, const tn_array *where)
{
	const tn_array *first = out;
	tn_status status = tn_arrays_given(2, (const tn_array *[]){out, a}, "copyto");
	if (!status)
		status = tn_begin_into(1, &first, "copyto");
	if (!status)
		status = check_copy(out, a, where);
	if (!status)
		status = tn_scope_begin(out->runtime->context);
	return status ? status : end(out, copy_where(out, a, where));
}

/* ---- Diagonals -------------------------------------------------------------------------------*/

static tn_status check_diagonal(const tn_array *a)
{
	char text[TN_SHAPE_TEXT];
	int fits = a->rank >= 2;
	for (int i = 1; i < a->rank && a->rank > 2; i++)
		fits &= a->shape[i] == a->shape[0];
	if (fits)
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_SHAPE, "fill_diagonal",
			       "a: expected a matrix, or more axes of one length, found shape %s",
			       tn_array_text(a, text));
}

static tn_status fill_first_diagonal(tn_array *a, const tn_array *values)
{
	int64_t n = a->shape[0], stride = 0;
	for (int i = 0; i < a->rank; i++) {
		n = a->shape[i] < n ? a->shape[i] : n;
		stride += a->strides[i];
	}
	tn_array *diagonal = tn_array_view(a, 1, &n, &stride, a->offset);
	if (!diagonal)
		return tn_end_into(a->runtime, a->runtime->report.status);
	const tn_array *cycle = tn_values_cycle("fill_diagonal", values, a->dtype, n);
	return cycle ? tn_assign(diagonal, cycle) : a->runtime->error.status;
}

/* In row-major order, the next element of the diagonal is always as far. */
static tn_status fill_wrapped(tn_array *a, const tn_array *values)
{
	static const struct tn_formula number = {
		.text = "z = index(0) * step", .scalars = "step", .scalar_dtype = TN_I64};
	const double step = (double)(a->shape[1] + 1);
	const int64_t n = a->size ? (a->size - 1) / (a->shape[1] + 1) + 1 : 0;
	if (!n)
		return TN_OK;
	const tn_array *numbers = tn_index_formula_make(tn_array_home(a), "fill_diagonal", TN_I64,
							1, &n, &number, &step);
	return put_numbers("fill_diagonal", a, numbers, 1,
			   tn_values_cycle("fill_diagonal", values, a->dtype, n));
}

static tn_status fill_diagonal(tn_array *a, const tn_array *values, int wrap)
{
	if (!values->size)
		return tn_runtime_fail(a->runtime, TN_SHAPE, "fill_diagonal",
				       "values: expected at least one, found none");
	if (wrap && a->rank == 2 && a->shape[0] > a->shape[1])
		return fill_wrapped(a, values);
	return fill_first_diagonal(a, values);
}

tn_status tn_fill_diagonal(tn_array *a, const tn_array *values, int wrap)
{
	const tn_array *both[] = {a, values};
	tn_status status = tn_begin_into(2, both, "fill_diagonal");
	if (!status)
		status = check_diagonal(a);
	if (!status)
		status = begin("fill_diagonal", a, NULL, values);
	return status ? status : end(a, fill_diagonal(a, values, wrap));
}
