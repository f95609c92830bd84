/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions and accumulations by universal functions.  The library's own reductions and scans
 * serve those that have one; the others are composed of calls.
 */
#include <string.h>

#include <tenon/statistics.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/ufunc_call.h"
#include "ops/axes.h"
#include "ops/combine.h"
#include "ops/copy.h"
#include "ops/reduce_axes.h"

struct fold {
	const tn_ufunc *ufunc;
	const char *name;
	enum tn_operation operation;
	const struct tn_element_fold *row;
	struct tn_runtime *runtime;
	struct tn_ufunc_options o;
	const tn_array *a; /* in the dtype of the loop */
};

/* ---- The dtype -------------------------------------------------------------------------------*/

/* 0: the function has no such reduction. */
static tn_dtype loop_of(const struct fold *fold, tn_dtype dtype)
{
	const int widens = fold->operation == TN_DO_ADD || fold->operation == TN_DO_MULTIPLY;
	const tn_dtype asked = fold->o.dtype;
	if (fold->row->in_bool)
		return asked && asked != TN_BOOL ? 0 : TN_BOOL;
	dtype = asked ? asked : widens ? tn_sum_type(dtype) : dtype;
	if (fold->ufunc->gives_bool)
		return dtype == TN_BOOL ? TN_BOOL : 0;
	dtype = tn_ufunc_loop(fold->ufunc, 1, &dtype);
	return asked && dtype != asked ? 0 : dtype;
}

static tn_status begin(struct fold *fold, const char *method, const tn_ufunc *ufunc,
		       const tn_array *a, const struct tn_ufunc_options *options)
{
	*fold = (struct fold){.ufunc = ufunc, .name = tn_ufunc_name(ufunc)};
	fold->runtime = tn_ufunc_begin(method, ufunc, 1, &a);
	if (!fold->runtime || tn_ufunc_take(fold->runtime, fold->name, options, &fold->o))
		return TN_PENDING_ERROR;
	fold->operation = tn_ufunc_operation(ufunc);
	fold->row = &tn_operations[fold->operation].fold;
	if (tn_ufunc_inputs(ufunc) != 2)
		return tn_runtime_fail(fold->runtime, TN_INVALID_ARGUMENT, fold->name,
				       "%s: expected a function of 2 arrays, found one of %d",
				       method, tn_ufunc_inputs(ufunc));
	const tn_dtype loop = loop_of(fold, a->dtype);
	if (!loop)
		return tn_runtime_fail(fold->runtime, TN_DTYPE, fold->name,
				       "%s: not defined for %s%s%s", method,
				       tn_dtype_name(a->dtype), fold->o.dtype ? " in " : "",
				       fold->o.dtype ? tn_dtype_name(fold->o.dtype) : "");
	if (fold->o.out) {
		const tn_array *all[] = {a, fold->o.out};
		tn_status status = tn_refuse_tracked(fold->runtime, fold->name, 2, all);
		if (!status)
			status = tn_array_writable(fold->runtime, fold->name, fold->o.out);
		if (status)
			return tn_end_into(fold->runtime, status);
	}
	tn_status status = tn_scope_begin(fold->runtime->context);
	if (status)
		return status;
	fold->a = tn_ufunc_cast(a, loop);
	return TN_OK;
}

/* Ends the scope; the result is a new array, or out. */
static tn_array *end(const struct fold *fold, const tn_array *given, tn_array *result)
{
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	tn_array *out = fold->o.out;
	if (result && !out) {
		if (result->storage == given->storage)
			result = tn_copy(result);
		return tn_scope_end(fold->runtime->context, result);
	}
	tn_status status = result ? TN_OK : TN_PENDING_ERROR;
	if (result && !tn_shape_equal(out->rank, out->shape, result->rank, result->shape))
		status = tn_runtime_fail(
			fold->runtime, TN_SHAPE, fold->name, "out: expected shape %s, found %s",
			tn_array_text(result, expected), tn_array_text(out, found));
	if (!status)
		status = tn_ufunc_store(fold->name, &fold->o, NULL, result);
	tn_scope_end(fold->runtime->context, NULL);
	return status ? NULL : out;
}

/* ---- Reductions ------------------------------------------------------------------------------*/

typedef tn_array *(*reduction)(const tn_array *a, int n, const int *axes, int keepdims);

static reduction known_reduction(enum tn_operation operation)
{
	switch (operation) {
	case TN_DO_ADD:
		return tn_sum;
	case TN_DO_MULTIPLY:
		return tn_prod;
	case TN_DO_MAXIMUM:
		return tn_max;
	case TN_DO_MINIMUM:
		return tn_min;
	case TN_DO_LOGICAL_AND:
		return tn_all;
	case TN_DO_LOGICAL_OR:
		return tn_any;
	default:
		return NULL;
	}
}

struct reduce {
	struct fold fold;
	int n, axes[TN_MAX_RANK];
	uint32_t mask;
	int64_t count; /* elements reduced to one */
	int rank;      /* without the reduced axes */
	int64_t shape[TN_MAX_RANK];
};

/* The identity in the dtype of the loop: all bits of an unsigned integer or bool for -1.  0: there
 * is none. */
static int identity_of(const struct fold *fold, tn_number *identity)
{
	const tn_dtype dtype = fold->a->dtype;
	if (!tn_ufunc_identity(fold->ufunc, identity))
		return 0;
	if (identity->dtype == TN_I64 && identity->i64 < 0 && dtype == TN_BOOL)
		*identity = tn_number_i64(1);
	else if (identity->dtype == TN_I64 && identity->i64 < 0 && tn_is_unsigned(dtype))
		*identity = tn_number_u64(UINT64_MAX >> (64 - 8 * tn_dtype_size(dtype)));
	return 1;
}

static int is_true(tn_number number)
{
	switch (number.dtype) {
	case TN_I64:
		return number.i64 != 0;
	case TN_U64:
		return number.u64 != 0;
	default:
		return number.f64 != 0 || (tn_is_complex(number.dtype) && number.imaginary != 0);
	}
}

/* What a reduction begins with: `initial`, else the identity; 0: neither. */
static int start_of(const struct fold *fold, tn_number *start)
{
	if (!fold->o.initial)
		return identity_of(fold, start);
	*start = *fold->o.initial;
	if (fold->a->dtype == TN_BOOL)
		*start = tn_number_i64(is_true(*start));
	return 1;
}

static tn_array *filled(const struct reduce *r, int rank, const int64_t *shape, tn_number value)
{
	return tn_array_filled_number(r->fold.a, r->fold.name, "initial", r->fold.a->dtype, rank,
				      shape, value);
}

static tn_status check_reduce(const struct reduce *r)
{
	const struct fold *fold = &r->fold;
	char shape[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	int64_t both[TN_MAX_RANK];
	int rank = fold->a->rank;
	tn_number start;
	if (!fold->row->is_reorderable && r->n > 1)
		return tn_runtime_fail(fold->runtime, TN_INVALID_ARGUMENT, fold->name,
				       "reduce: expected one axis, since the order of elements "
				       "counts, found %d",
				       r->n);
	const int has_start = start_of(fold, &start);
	if (fold->o.where && !has_start)
		return tn_runtime_fail(fold->runtime, TN_INVALID_ARGUMENT, fold->name,
				       "where: the function has no identity, expected `initial` "
				       "too");
	if (!r->count && !has_start)
		return tn_runtime_fail(fold->runtime, TN_SHAPE, fold->name,
				       "reduce: shape %s has no elements to reduce, and the "
				       "function no identity",
				       tn_array_text(fold->a, shape));
	if (!fold->o.where)
		return TN_OK;
	memcpy(both, fold->a->shape, sizeof(both));
	if (tn_shape_broadcast(&rank, both, fold->o.where->rank, fold->o.where->shape) &&
	    tn_shape_equal(rank, both, fold->a->rank, fold->a->shape))
		return TN_OK;
	return tn_runtime_fail(fold->runtime, TN_SHAPE, fold->name,
			       "where: expected a shape that broadcasts to %s, found %s",
			       tn_array_text(fold->a, shape), tn_array_text(fold->o.where, found));
}

/* The elements that `where` leaves out become one that changes nothing. */
static tn_array *reduce_pairs(const struct reduce *r)
{
	const struct fold *fold = &r->fold;
	const reduction known = known_reduction(fold->operation);
	const tn_array *a = fold->a;
	tn_array *out;
	tn_number start;
	if (fold->o.where && (identity_of(fold, &start) || start_of(fold, &start)))
		a = tn_where(fold->o.where, a, filled(r, 0, NULL, start));
	if (!a)
		return NULL;
	if (known)
		out = tn_ufunc_cast(known(a, r->n, r->axes, 0), a->dtype);
	else if (r->n == 0)
		out = tn_reshape(a, r->rank, r->shape);
	else
		out = tn_reshape(tn_combine_all(tn_axes_last(a, r->mask, r->count),
						tn_ufunc_combine, fold->ufunc),
				 r->rank, r->shape);
	/* As in NumPy, hypot of one element is its absolute value. */
	const int is_single = !known && r->count == 1 && identity_of(fold, &start);
	if (!fold->o.initial && !is_single)
		return out;
	if (fold->o.initial)
		start_of(fold, &start);
	return tn_ufunc_combine(fold->ufunc, filled(r, 0, NULL, start), out);
}

/* One element after another. */
static tn_array *reduce_in_order(const struct reduce *r)
{
	const struct fold *fold = &r->fold;
	const tn_array *where = fold->o.where;
	tn_number start;
	const int has_start = start_of(fold, &start);
	tn_array *so_far = has_start ? filled(r, r->rank, r->shape, start) : NULL;
	if (where)
		where = tn_broadcast_to(where, fold->a->rank, fold->a->shape);
	const int axis = r->n ? r->axes[0] : -1;
	for (int64_t i = 0; i < r->count; i++) {
		tn_array *before = so_far, *next, *keep = NULL;
		next = axis < 0 ? tn_reshape(fold->a, r->rank, r->shape)
				: tn_squeeze(tn_slice(fold->a, axis, i, i + 1, 1), axis);
		so_far = before ? tn_ufunc_combine(fold->ufunc, before, next) : next;
		if (where && axis < 0)
			so_far = tn_where(where, so_far, before);
		else if (where) {
			keep = tn_squeeze(tn_slice(where, axis, i, i + 1, 1), axis);
			so_far = tn_where(keep, so_far, before);
		}
		if (!so_far)
			return NULL;
		tn_array_discard(before);
		tn_array_discard(before ? next : NULL);
	}
	return so_far;
}

static tn_array *reduce(struct reduce *r, int keepdims)
{
	int64_t shape[TN_MAX_RANK];
	tn_number start;
	tn_array *out;
	int rank;
	if (!r->fold.a || check_reduce(r))
		return NULL;
	if (!r->count && start_of(&r->fold, &start))
		out = filled(r, r->rank, r->shape, start);
	else
		out = r->fold.row->is_reorderable ? reduce_pairs(r) : reduce_in_order(r);
	if (!keepdims)
		return out;
	tn_axes_shape(r->fold.a, r->mask, 1, &rank, shape);
	return tn_reshape(out, rank, shape);
}

tn_array *tn_ufunc_reduce(const tn_ufunc *ufunc, const tn_array *a, int n, const int *axes,
			  int keepdims, const struct tn_ufunc_options *options)
{
	struct reduce r = {.n = n};
	if (begin(&r.fold, "reduce", ufunc, a, options))
		return NULL;
	if (!r.fold.a || tn_axes_mask(a, r.fold.name, &r.n, axes, r.axes, &r.mask))
		return tn_scope_end(r.fold.runtime->context, NULL);
	r.count = tn_axes_shape(a, r.mask, 0, &r.rank, r.shape);
	return end(&r.fold, a, reduce(&r, keepdims));
}

/* ---- Accumulations ---------------------------------------------------------------------------*/

static tn_array *accumulate(const struct fold *fold, int axis)
{
	const tn_array *a = fold->a;
	const int is_real = !tn_is_complex(a->dtype);
	if (fold->operation == TN_DO_ADD)
		return tn_ufunc_cast(tn_cumsum(a, axis), a->dtype);
	if (fold->operation == TN_DO_MULTIPLY && is_real)
		return tn_ufunc_cast(tn_cumprod(a, axis), a->dtype);
	if (fold->operation == TN_DO_MAXIMUM)
		return tn_cummax(a, axis);
	if (fold->operation == TN_DO_MINIMUM)
		return tn_cummin(a, axis);
	tn_array *whole = tn_reshape(a, a->rank, a->shape);
	if (fold->row->is_reorderable)
		return tn_combine_scan(whole, axis, tn_ufunc_combine, fold->ufunc);
	return tn_combine_scan_in_order(whole, axis, tn_ufunc_combine, fold->ufunc);
}

tn_array *tn_ufunc_accumulate(const tn_ufunc *ufunc, const tn_array *a, int axis,
			      const struct tn_ufunc_options *options)
{
	struct fold fold;
	if (begin(&fold, "accumulate", ufunc, a, options))
		return NULL;
	tn_array *out = NULL;
	if (fold.o.where || fold.o.initial)
		tn_runtime_fail(fold.runtime, TN_INVALID_ARGUMENT, fold.name,
				"accumulate: has no `where` and no `initial`");
	else if (fold.a && !tn_axis_check(a, fold.name, "axis", &axis))
		out = accumulate(&fold, axis);
	return end(&fold, a, out);
}
