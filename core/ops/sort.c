/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sorting along an axis: sorted elements, their indices, the first k.  A tape records it as
 * tn_take_along_axis.
 */
#include "ops/sort.h"

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/operand.h"
#include "dispatch/operations.h"
#include "dispatch/route.h"
#include "ops/axes.h"
#include "ops/formula.h"

/* One call; only wanted outputs are made. */
struct sorting {
	enum tn_operation operation;
	struct tn_runtime *runtime;
	const tn_array *a;
	int axis;
	int64_t k;
	int descending;
	tn_array *values;
	tn_array *indices;
};

static tn_status make_output(const struct sorting *s, tn_dtype dtype, tn_array **out)
{
	int64_t shape[TN_MAX_RANK];
	memcpy(shape, s->a->shape, sizeof(shape));
	shape[s->axis] = s->k;
	s->runtime->report.status = TN_OK;
	*out = tn_array_make(s->runtime, tn_array_home(s->a), dtype, s->a->rank, shape);
	if (*out)
		return TN_OK;
	return tn_report_status(s->runtime);
}

static tn_status route_sort(const struct sorting *s)
{
	struct tn_sort_args args = {.call = {.struct_size = sizeof(args)},
				    .descending = s->descending != 0,
				    .has_values = s->values != NULL,
				    .has_indices = s->indices != NULL};
	struct tn_route route = {.runtime = s->runtime,
				 .device = tn_array_home(s->a),
				 .operation = s->operation,
				 .slot = TN_SLOT_SORT,
				 .call = &args.call};
	struct tn_operand *operands[3] = {&args.input};
	uint32_t n = 1, axis = (uint32_t)s->axis;
	tn_operand_of(&args.input, s->a);
	if (s->values) {
		tn_operand_of(&args.values, s->values);
		operands[n++] = &args.values;
	}
	if (s->indices) {
		tn_operand_of(&args.indices, s->indices);
		operands[n++] = &args.indices;
	}
	/* Axes before the sorted one, and those after it, are merged where strides allow. */
	tn_operands_merge(operands, n, axis + 1, args.input.rank);
	args.axis = tn_operands_merge(operands, n, 0, axis);
	return tn_route_run(&route);
}

/* Checks the call, makes the wanted outputs, and sorts. */
static tn_status run_sorting(struct sorting *s, int wants_values, int wants_indices)
{
	const char *name = tn_operations[s->operation].name;
	struct tn_error_info *error = &s->runtime->report;
	tn_status status = TN_OK;
	if (tn_is_complex(s->a->dtype))
		return tn_fail(error, TN_DTYPE, name, "%s: complex numbers cannot be ordered",
			       tn_dtype_name(s->a->dtype));
	if (!tn_axis_normal(&s->axis, s->a->rank))
		return tn_fail(error, TN_INVALID_ARGUMENT, name, "axis %d: the array has rank %d",
			       s->axis, s->a->rank);
	if (s->k < 0)
		s->k = s->a->shape[s->axis];
	if (s->k > s->a->shape[s->axis])
		return tn_fail(error, TN_INVALID_ARGUMENT, name,
			       "k: expected 0 to %" PRId64
			       ", the length of axis %d, found %" PRId64,
			       s->a->shape[s->axis], s->axis, s->k);
	if (wants_values)
		status = make_output(s, s->a->dtype, &s->values);
	if (!status && wants_indices)
		status = make_output(s, TN_I64, &s->indices);
	if (status || !s->a->size || !s->k)
		return status;
	return route_sort(s);
}

static int is_recorded(const struct sorting *s)
{
	return tn_is_floating(s->a->dtype) && tn_wants_record(s->runtime, 1, &s->a);
}

static tn_status record_sorting(const struct sorting *s)
{
	const tn_array *inputs[] = {s->a, s->indices};
	struct tn_record record = {.kind = TN_RECORD_TAKE_ALONG_AXIS,
				   .operation = tn_operations[s->operation].name,
				   .axis = s->axis};
	return tn_record_made(s->runtime, &record, 2, inputs, s->values);
}

/* ---- Several keys, and complex numbers, which have two: the last one decides ------------------*/

static tn_array *by_real_key(const tn_array *earlier, const tn_array *key, int axis, int descending)
{
	if (!earlier)
		return tn_argsort(key, axis, descending);
	const tn_array *order =
		tn_argsort(tn_take_along_axis(key, earlier, axis), axis, descending);
	return tn_take_along_axis(earlier, order, axis);
}

/* NumPy's order: numbers by their real, then imaginary parts; then those whose imaginary part is
 * NaN, those whose real part is, and those of two NaN. */
static tn_array *by_complex_key(const char *operation, const tn_array *earlier, const tn_array *key,
				int axis, int descending)
{
	static const struct tn_formula kind = {
		.text = "z = (real == real ? 0 : 2) + (imag == imag ? 0 : 1)",
		.inputs = "real imag"};
	const tn_array *parts[] = {tn_real(key), tn_imag(key)};
	const tn_array *kinds = tn_formula_operation(operation, &kind, TN_U8, parts, NULL);
	const tn_array *keys[] = {parts[1], parts[0], kinds};
	tn_array *order = NULL;
	if (!kinds)
		return NULL;
	for (int i = 0; i < 3; i++) {
		order = by_real_key(i ? order : earlier, keys[i], axis, descending);
		if (!order)
			return NULL;
	}
	return order;
}

tn_array *tn_order_by(const char *operation, const tn_array *earlier, const tn_array *key, int axis,
		      int descending)
{
	const tn_array *untracked = tn_array_untracked(operation, key);
	if (!untracked)
		return NULL;
	return tn_is_complex(untracked->dtype)
		       ? by_complex_key(operation, earlier, untracked, axis, descending)
		       : by_real_key(earlier, untracked, axis, descending);
}

/* The indices that sort complex numbers, in the caller's scope. */
static tn_array *complex_order(const struct sorting *s)
{
	const char *name = tn_operations[s->operation].name;
	int axis = s->axis;
	if (tn_axis_check(s->a, name, "axis", &axis))
		return NULL;
	return tn_order_by(name, NULL, s->a, axis, s->descending);
}

static tn_array *sort_complex(const struct sorting *s)
{
	if (tn_scope_begin(s->runtime->context))
		return NULL;
	const tn_array *order = complex_order(s);
	return tn_scope_end(s->runtime->context,
			    order ? tn_take_along_axis(s->a, order, s->axis) : NULL);
}

static tn_array *argsort_complex(const struct sorting *s)
{
	if (tn_scope_begin(s->runtime->context))
		return NULL;
	return tn_scope_end(s->runtime->context, complex_order(s));
}

/* ---- The functions ---------------------------------------------------------------------------*/

tn_array *tn_sort(const tn_array *a, int axis, int descending)
{
	struct sorting s = {
		.operation = TN_DO_SORT, .a = a, .axis = axis, .k = -1, .descending = descending};
	tn_status status;
	s.runtime = tn_begin(1, &a, "sort");
	if (!s.runtime)
		return NULL;
	if (tn_is_complex(a->dtype))
		return sort_complex(&s);
	status = run_sorting(&s, 1, is_recorded(&s));
	if (!status && s.indices)
		status = record_sorting(&s);
	tn_array_discard(s.indices);
	return tn_end(s.runtime, status, s.values);
}

tn_array *tn_argsort(const tn_array *a, int axis, int descending)
{
	struct sorting s = {.operation = TN_DO_ARGSORT,
			    .a = a,
			    .axis = axis,
			    .k = -1,
			    .descending = descending};
	tn_status status;
	s.runtime = tn_begin(1, &a, "argsort");
	if (!s.runtime)
		return NULL;
	if (tn_is_complex(a->dtype))
		return argsort_complex(&s);
	status = run_sorting(&s, 0, 1);
	return tn_end(s.runtime, status, s.indices);
}

tn_array *tn_topk(const tn_array *a, int64_t k, int axis, int largest, tn_array **indices)
{
	struct sorting s = {
		.operation = TN_DO_TOPK, .a = a, .axis = axis, .k = k, .descending = largest};
	tn_status status;
	if (indices)
		*indices = NULL;
	s.runtime = tn_begin(1, &a, "topk");
	if (!s.runtime)
		return NULL;
	if (k < 0)
		status = tn_fail(&s.runtime->report, TN_INVALID_ARGUMENT, "topk",
				 "k: expected 0 or more, found %" PRId64, k);
	else
		status = run_sorting(&s, 1, indices || is_recorded(&s));
	if (!status && is_recorded(&s))
		status = record_sorting(&s);
	if (status || !indices)
		tn_array_discard(s.indices);
	else
		*indices = s.indices;
	return tn_end(s.runtime, status, s.values);
}
