/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Binary search of all values at once: each step reads one element for every value, and takes as
 * many more elements as are known to precede it, halving from the highest power of two.
 */
#include "numpy/sorted_search.h"

#include <inttypes.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/take.h"

tn_status tn_sorted_check(const char *operation, const char *name, const tn_array *line)
{
	char text[TN_SHAPE_TEXT];
	if (tn_is_complex(line->dtype))
		return tn_runtime_fail(line->runtime, TN_DTYPE, operation,
				       "%s: expected real numbers, found %s", name,
				       tn_dtype_name(line->dtype));
	if (line->rank != 1)
		return tn_runtime_fail(line->runtime, TN_SHAPE, operation,
				       "%s: expected one axis, found shape %s", name,
				       tn_array_text(line, text));
	return TN_OK;
}

tn_array *tn_elements_at(const tn_array *line, const tn_array *places)
{
	if (!line || !places)
		return NULL;
	struct tn_runtime *runtime = line->runtime;
	tn_array *out = tn_array_make(runtime, tn_array_home(line), line->dtype, 1, places->shape);
	tn_status status = out ? TN_OK : runtime->report.status;
	if (out && out->size)
		status = tn_gather_run(runtime, TN_DO_TAKE, TN_SLOT_GATHER, line, places, out, 0);
	return tn_end(runtime, status, out);
}

/* `count` elements are before the value so far; the next one probed is a step further. */
static const struct tn_formula probe = {
	.text = "z = (count + step < length ? count + step : length) - 1",
	.inputs = "count",
	.scalars = "step length",
	.scalar_dtype = TN_I64};
static const struct tn_formula step_left = {
	.text = "z = count + step <= length"
		" && (probed < value || (value != value && probed == probed))"
		" ? count + step : count",
	.inputs = "count probed value",
	.scalars = "step length",
	.scalar_dtype = TN_I64};
static const struct tn_formula step_right = {
	.text = "z = count + step <= length"
		" && !(value < probed || (probed != probed && value == value))"
		" ? count + step : count",
	.inputs = "count probed value",
	.scalars = "step length",
	.scalar_dtype = TN_I64};

static tn_array *search_line(const char *operation, const tn_array *sorted, const tn_array *values,
			     int is_right)
{
	const struct tn_formula *step = is_right ? &step_right : &step_left;
	tn_array *count = tn_array_filled(sorted, TN_I64, 1, values->shape, 0);
	int64_t length = 1;
	if (!count || !values->size)
		return count;
	while (length <= sorted->size / 2)
		length *= 2;
	for (; sorted->size && length && count; length /= 2) {
		const double scalars[] = {(double)length, (double)sorted->size};
		const tn_array *so_far = count;
		const tn_array *places =
			tn_formula_operation(operation, &probe, TN_I64, &so_far, scalars);
		const tn_array *inputs[] = {so_far, tn_elements_at(sorted, places), values};
		count = tn_formula_operation(operation, step, TN_I64, inputs, scalars);
	}
	return count;
}

tn_array *tn_sorted_search(const char *operation, const tn_array *sorted, const tn_array *values,
			   int is_right)
{
	const int64_t all[] = {-1};
	if (!sorted || !values)
		return NULL;
	tn_dtype dtype = tn_result_type(sorted->dtype, values->dtype);
	/* Truth values have no order of their own. */
	dtype = dtype == TN_BOOL ? TN_U8 : dtype;
	if (sorted->dtype != dtype)
		sorted = tn_astype(sorted, dtype);
	const tn_array *line = tn_array_untracked(operation, tn_contiguous(sorted));
	const tn_array *wanted = values->dtype == dtype ? values : tn_astype(values, dtype);
	wanted = tn_array_untracked(operation, tn_reshape(wanted, 1, all));
	if (!line || !wanted)
		return NULL;
	return tn_reshape(search_line(operation, line, wanted, is_right), values->rank,
			  values->shape);
}

static tn_status check_search(const tn_array *a, const tn_array *v, const tn_array *sorter)
{
	char text[TN_SHAPE_TEXT];
	tn_status status = tn_sorted_check("searchsorted", "a", a);
	if (status)
		return status;
	if (tn_is_complex(v->dtype))
		return tn_runtime_fail(v->runtime, TN_DTYPE, "searchsorted",
				       "v: expected real numbers, found %s",
				       tn_dtype_name(v->dtype));
	if (sorter && (sorter->rank != 1 || sorter->size != a->size))
		return tn_runtime_fail(v->runtime, TN_SHAPE, "searchsorted",
				       "sorter: expected shape (%" PRId64 ",) of a, found %s",
				       a->size, tn_array_text(sorter, text));
	return TN_OK;
}

tn_array *tn_searchsorted(const tn_array *a, const tn_array *v, int right, const tn_array *sorter)
{
	const tn_array *all[] = {a, v, sorter};
	struct tn_runtime *runtime = tn_begin(sorter ? 3 : 2, all, "searchsorted");
	if (!runtime || check_search(a, v, sorter) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *sorted = sorter ? tn_take(a, sorter, 0, TN_RAISE) : a;
	return tn_scope_end(runtime->context, tn_sorted_search("searchsorted", sorted, v, right));
}

/* Bins in descending order are read backwards, and places counted from their other end: the device
 * decides, by the first bin and the last. */
static tn_array *bin_of(const tn_array *x, const tn_array *bins, int right)
{
	static const char operation[] = "digitize";
	static const struct tn_formula order = {
		.text = "z = first > last ? n - 1 - index(0) : index(0)",
		.inputs = "first last",
		.scalars = "n",
		.scalar_dtype = TN_I64};
	static const struct tn_formula turn = {.text = "z = first > last ? n - found : found",
					       .inputs = "first last found",
					       .scalars = "n",
					       .scalar_dtype = TN_I64};
	const int64_t n = bins->size;
	const double length = (double)n;
	const tn_array *line = tn_array_untracked(operation, tn_contiguous(bins));
	if (!n)
		return tn_sorted_search(operation, bins, x, !right);
	const tn_array *first = tn_squeeze(tn_slice(line, 0, 0, 1, 1), 0);
	const tn_array *last = tn_squeeze(tn_slice(line, 0, n - 1, n, 1), 0);
	const tn_array *ends[] = {tn_broadcast_to(first, 1, &n), last};
	const tn_array *places = tn_formula_operation(operation, &order, TN_I64, ends, &length);
	const tn_array *ascending = tn_elements_at(line, places);
	const tn_array *inputs[] = {first, last, tn_sorted_search(operation, ascending, x, !right)};
	return tn_formula_operation(operation, &turn, TN_I64, inputs, &length);
}

tn_array *tn_digitize(const tn_array *x, const tn_array *bins, int right)
{
	const tn_array *both[] = {x, bins};
	struct tn_runtime *runtime = tn_begin(2, both, "digitize");
	if (!runtime || tn_sorted_check("digitize", "bins", bins))
		return NULL;
	if (tn_is_complex(x->dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "digitize", "x: expected real numbers, found %s",
				tn_dtype_name(x->dtype));
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, bin_of(x, bins, right));
}
