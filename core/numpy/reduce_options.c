/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions of the elements that count, from an initial one, in a given dtype: an element that
 * does not count becomes one that changes nothing.
 */
#include <inttypes.h>
#include <tenon/reduce.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/options.h"
#include "numpy/composed_reduction.h"
#include "numpy/variance.h"
#include "ops/copy.h"
#include "ops/formula.h"

/* What each reduction takes. */
enum takes_dtype { NO_DTYPE, FLOATING_DTYPE, INEXACT_DTYPE, ANY_DTYPE };
static const struct {
	const char *name;
	enum takes_dtype takes_dtype;
	int takes_initial, has_order, takes_correction;
} kinds[] = {
	[TN_REDUCER_SUM] = {.name = "sum", .takes_dtype = ANY_DTYPE, .takes_initial = 1},
	[TN_REDUCER_PROD] = {.name = "prod", .takes_dtype = ANY_DTYPE, .takes_initial = 1},
	[TN_REDUCER_MEAN] = {.name = "mean", .takes_dtype = INEXACT_DTYPE},
	[TN_REDUCER_VAR] = {.name = "var", .takes_dtype = FLOATING_DTYPE, .takes_correction = 1},
	[TN_REDUCER_STD] = {.name = "std", .takes_dtype = FLOATING_DTYPE, .takes_correction = 1},
	[TN_REDUCER_MAX] = {.name = "max", .takes_initial = 1, .has_order = 1},
	[TN_REDUCER_MIN] = {.name = "min", .takes_initial = 1, .has_order = 1},
	[TN_REDUCER_ANY] = {.name = "any"},
	[TN_REDUCER_ALL] = {.name = "all"},
	[TN_REDUCER_COUNT_NONZERO] = {.name = "count_nonzero"},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* One call; its errors name the operation by `kinds`. */
struct reduction {
	struct tn_composed_reduction r;
	uint32_t kind;
	struct tn_reduce_options options;
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status refuse(const struct reduction *c, const char *option)
{
	return tn_runtime_fail(c->r.runtime, TN_INVALID_ARGUMENT, c->r.operation,
			       "options: %s is not for this reduction", option);
}

static tn_status check_where(const struct reduction *c)
{
	const tn_array *where = c->options.where, *a = c->r.a;
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	int64_t shape[TN_MAX_RANK];
	int rank = a->rank;
	const tn_array *both[] = {a, where};
	if (!tn_begin(2, both, c->r.operation))
		return TN_PENDING_ERROR;
	if (where->dtype != TN_BOOL)
		return tn_runtime_fail(c->r.runtime, TN_DTYPE, c->r.operation,
				       "where: expected bool, found %s",
				       tn_dtype_name(where->dtype));
	memcpy(shape, a->shape, sizeof(shape));
	if (!tn_shape_broadcast(&rank, shape, where->rank, where->shape) ||
	    !tn_shape_equal(rank, shape, a->rank, a->shape))
		return tn_runtime_fail(c->r.runtime, TN_SHAPE, c->r.operation,
				       "where: expected a shape that broadcasts to %s, found %s",
				       tn_array_text(a, expected), tn_array_text(where, found));
	if (kinds[c->kind].has_order && !c->options.initial.dtype)
		return tn_runtime_fail(c->r.runtime, TN_INVALID_ARGUMENT, c->r.operation,
				       "where: expected initial beside it, the result where no "
				       "element counts");
	return TN_OK;
}

static tn_status check_dtype(const struct reduction *c)
{
	static const char *const expected[] = {[FLOATING_DTYPE] = "a floating type",
					       [INEXACT_DTYPE] = "a floating or complex type",
					       [ANY_DTYPE] = "an element type"};
	const tn_dtype dtype = c->options.dtype;
	const enum takes_dtype takes = kinds[c->kind].takes_dtype;
	const int is_known = tn_dtype_size(dtype) != 0;
	if (is_known && (takes == ANY_DTYPE || tn_is_floating(dtype) ||
			 (takes == INEXACT_DTYPE && tn_is_complex(dtype))))
		return TN_OK;
	return tn_runtime_fail(c->r.runtime, TN_DTYPE, c->r.operation,
			       "dtype: expected %s, found %s", expected[takes],
			       is_known ? tn_dtype_name(dtype) : "none");
}

static tn_status check(const struct reduction *c)
{
	const struct tn_reduce_options *o = &c->options;
	const int has_order = kinds[c->kind].has_order;
	tn_status status = TN_OK;
	if (o->initial.dtype && !kinds[c->kind].takes_initial)
		return refuse(c, "initial");
	if (o->dtype && kinds[c->kind].takes_dtype == NO_DTYPE)
		return refuse(c, "dtype");
	if (o->correction != 0 && !kinds[c->kind].takes_correction)
		return refuse(c, "correction");
	if (o->dtype)
		status = check_dtype(c);
	if (!status && o->where)
		status = check_where(c);
	if (!status && has_order && (!o->initial.dtype || tn_is_complex(c->r.a->dtype)))
		status = tn_composed_reduction_check_order(&c->r);
	return status;
}

/* ---- Elements --------------------------------------------------------------------------------*/

/* x where elements count, and `other` elsewhere. */
static const tn_array *counted(const struct reduction *c, const tn_array *x, const tn_array *other)
{
	return c->options.where ? tn_where(c->options.where, x, other) : x;
}

static tn_array *constant(const struct reduction *c, tn_dtype dtype, double value)
{
	return tn_array_filled(c->r.a, dtype, 0, NULL, value);
}

/* The initial element, 0-d. */
static tn_array *initial(const struct reduction *c, tn_dtype dtype)
{
	struct tn_runtime *runtime = c->r.runtime;
	struct tn_value_bits bits;
	tn_array *one = constant(c, dtype, 0);
	if (!one)
		return NULL;
	tn_status status = tn_number_bits(runtime, c->r.operation, "initial", c->options.initial,
					  dtype, &bits);
	if (!status)
		status = tn_fill_bits(runtime, TN_DO_FILL, one, &bits);
	return tn_end(runtime, status, one);
}

/* How many count for each result, i64. */
static tn_array *count_of(const struct reduction *c, int keepdims)
{
	const tn_array *where = tn_broadcast_to(c->options.where, c->r.a->rank, c->r.a->shape);
	return tn_sum(where, c->r.n, c->r.axes, keepdims);
}

/* ---- The reductions --------------------------------------------------------------------------*/

static tn_array *sum_or_product(const struct reduction *c)
{
	const int is_sum = c->kind == TN_REDUCER_SUM;
	const struct tn_reduce_options *o = &c->options;
	const tn_array *x = o->dtype ? tn_astype(c->r.a, o->dtype) : c->r.a;
	x = x ? counted(c, x, o->where ? constant(c, x->dtype, !is_sum) : NULL) : NULL;
	tn_array *result = (is_sum ? tn_sum : tn_prod)(x, c->r.n, c->r.axes, o->keepdims);
	if (result && o->initial.dtype)
		result = (is_sum ? tn_add : tn_multiply)(result, initial(c, result->dtype));
	return result && o->dtype && result->dtype != o->dtype ? tn_astype(result, o->dtype)
							       : result;
}

static tn_array *extreme(const struct reduction *c)
{
	const int is_max = c->kind == TN_REDUCER_MAX;
	const struct tn_composed_reduction *r = &c->r;
	const tn_array *first = c->options.initial.dtype ? initial(c, r->a->dtype) : NULL;
	if (c->options.initial.dtype && !r->count)
		return tn_contiguous(tn_broadcast_to(first, r->rank, r->shape));
	const tn_array *x = counted(c, r->a, first);
	tn_array *result = (is_max ? tn_max : tn_min)(x, r->n, r->axes, r->keepdims);
	return first ? (is_max ? tn_maximum : tn_minimum)(result, first) : result;
}

/* The mean of x, of a dtype in which spreads are computed. */
static tn_array *mean_of(const struct reduction *c, const tn_array *x, int keepdims)
{
	if (!c->options.where)
		return tn_mean(x, c->r.n, c->r.axes, keepdims);
	const tn_array *y = x ? counted(c, x, constant(c, x->dtype, 0)) : NULL;
	return tn_variance_quotient(c->r.operation, tn_sum(y, c->r.n, c->r.axes, keepdims),
				    count_of(c, keepdims));
}

static tn_array *mean(const struct reduction *c, const tn_array *a)
{
	return tn_variance_result(mean_of(c, tn_variance_input(a), c->r.keepdims), a, 0);
}

/* An element that does not count becomes the mean, so that its derivative is 0 too. */
static tn_array *spread(const struct reduction *c, const tn_array *a)
{
	static const struct tn_formula quotient = {
		.text = "divisor = count - correction; z = sum / (divisor > 0 ? divisor : 0)",
		.inputs = "sum count",
		.scalars = "correction"};
	const struct tn_composed_reduction *r = &c->r;
	const int is_root = c->kind == TN_REDUCER_STD;
	const double correction = c->options.correction;
	if (!c->options.where)
		return (is_root ? tn_std : tn_var)(a, r->n, r->axes, correction, r->keepdims);
	const tn_array *x = tn_variance_input(a);
	const tn_array *center = mean_of(c, x, 1);
	const tn_array *square =
		center ? tn_variance_square(r->operation, counted(c, x, center), center, 0) : NULL;
	const tn_array *both[] = {tn_sum(square, r->n, r->axes, r->keepdims),
				  count_of(c, r->keepdims)};
	tn_array *variance = tn_formula_operation(r->operation, &quotient, tn_array_dtype(both[0]),
						  both, &correction);
	return tn_variance_result(variance, a, is_root);
}

static tn_array *truth(const struct reduction *c)
{
	const struct tn_composed_reduction *r = &c->r;
	const tn_array *x = tn_astype(r->a, TN_BOOL);
	x = counted(c, x, constant(c, TN_BOOL, c->kind == TN_REDUCER_ALL));
	if (c->kind == TN_REDUCER_COUNT_NONZERO)
		return tn_count_nonzero(x, r->n, r->axes, r->keepdims);
	return (c->kind == TN_REDUCER_ALL ? tn_all : tn_any)(x, r->n, r->axes, r->keepdims);
}

static tn_array *reduced(const struct reduction *c)
{
	const tn_dtype dtype = c->options.dtype;
	const tn_array *a = c->r.a;
	switch (c->kind) {
	case TN_REDUCER_SUM:
	case TN_REDUCER_PROD:
		return sum_or_product(c);
	case TN_REDUCER_MAX:
	case TN_REDUCER_MIN:
		return extreme(c);
	case TN_REDUCER_MEAN:
	case TN_REDUCER_VAR:
	case TN_REDUCER_STD:
		a = dtype && dtype != a->dtype ? tn_astype(a, dtype) : a;
		if (!a)
			return NULL;
		return c->kind == TN_REDUCER_MEAN ? mean(c, a) : spread(c, a);
	default:
		return truth(c);
	}
}

tn_array *tn_reduce(const tn_array *a, uint32_t reducer, int n, const int *axes,
		    const struct tn_reduce_options *options)
{
	struct reduction c = {.kind = reducer};
	struct tn_runtime *runtime = tn_begin(1, &a, "reduce");
	if (!runtime)
		return NULL;
	if (reducer >= N_KINDS) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "reduce",
				"reducer: expected 0 to %d, found %" PRIu32, N_KINDS - 1, reducer);
		return NULL;
	}
	tn_status status = tn_options_take(&c.options, sizeof(c.options), options,
					   "struct tn_reduce_options", "reduce", &runtime->report);
	if (status) {
		tn_end_into(runtime, status);
		return NULL;
	}
	if (tn_composed_reduction_begin(&c.r, kinds[reducer].name, a, n, axes, c.options.keepdims))
		return NULL;
	return tn_scope_end(runtime->context, check(&c) ? NULL : reduced(&c));
}
