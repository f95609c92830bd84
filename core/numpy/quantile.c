/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Medians and quantiles: the reduced axes sorted as one, and one or two positions of the order,
 * which the host computes since it knows the length.
 */
#include <inttypes.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "numpy/composed_reduction.h"
#include "numpy/host_indices.h"
#include "numpy/quantile_nan.h"
#include "numpy/quantile_position.h"
#include "numpy/select_kth.h"
#include "ops/formula.h"
#include "ops/reduce_axes.h"

/* ---- Values ----------------------------------------------------------------------------------*/

static tn_array *element(const tn_array *sorted, int64_t i)
{
	const int last = tn_array_rank(sorted) - 1;
	return tn_squeeze(tn_slice(sorted, last, i, i + 1, 1), last);
}

/* x, or NaN where the line has one, which is then its last element. */
static tn_array *unless_nan(const char *operation, const tn_array *x, const tn_array *last)
{
	static const struct tn_formula formula = {.text = "z = last == last ? x : nan",
						  .inputs = "x last"};
	const tn_array *inputs[] = {x, last};
	return tn_formula_operation(operation, &formula, tn_array_dtype(x), inputs, NULL);
}

/* Lines of `count` sorted elements at a position, in their dtype, or between elements in
 * `dtype`. */
static tn_array *value_at(const char *operation, const tn_array *sorted,
			  const struct tn_quantile_position *position, int64_t count,
			  tn_dtype dtype)
{
	/* From the nearer of the two, as in NumPy: both ends are exact.  Rounded alike everywhere:
	 * programs compare quantiles. */
	static const struct tn_formula up = {
		.text = "z = last == last ? lower + mul_rounded(upper - lower, weight) : nan",
		.inputs = "lower upper last",
		.scalars = "weight"};
	static const struct tn_formula down = {
		.text = "z = last == last ? upper - mul_rounded(upper - lower, weight) : nan",
		.inputs = "lower upper last",
		.scalars = "weight"};
	const tn_array *inputs[] = {element(sorted, position->lower),
				    element(sorted, position->upper), element(sorted, count - 1)};
	const int is_near = position->weight < 0.5;
	const double weight = is_near ? position->weight : 1 - position->weight;
	if (position->is_element)
		return tn_is_floating(tn_array_dtype(sorted))
			       ? unless_nan(operation, inputs[0], inputs[2])
			       : element(sorted, position->lower);
	for (int i = 0; i < 3; i++)
		inputs[i] =
			tn_array_dtype(sorted) == dtype ? inputs[i] : tn_astype(inputs[i], dtype);
	return tn_formula_operation(operation, is_near ? &up : &down, dtype, inputs, &weight);
}

static tn_dtype mean_dtype(const tn_array *a)
{
	return tn_is_floating(a->dtype) ? a->dtype : TN_F64;
}

static tn_status check_order(const struct tn_composed_reduction *r)
{
	if (tn_is_complex(r->a->dtype))
		return tn_runtime_fail(r->runtime, TN_DTYPE, r->operation,
				       "a: expected real numbers, found %s",
				       tn_dtype_name(r->a->dtype));
	return TN_OK;
}

/* ---- Quantiles -------------------------------------------------------------------------------*/

/* One call: n_q quantiles, of which each is q[i] / scale. */
struct quantiles {
	struct tn_composed_reduction r;
	struct tn_quantile_options options;
	int64_t n_q;
	const double *q;
	double scale;
	int skips_nan;
	const tn_array *counts; /* with skips_nan: how many elements of each line are numbers */
};

static tn_status check_quantiles(const struct quantiles *s)
{
	const struct tn_composed_reduction *r = &s->r;
	char text[TN_SHAPE_TEXT];
	tn_status status = check_order(r);
	if (status)
		return status;
	const struct tn_quantile_method *method = tn_quantile_method(s->options.method);
	if (!method)
		return tn_runtime_fail(r->runtime, TN_INVALID_ARGUMENT, r->operation,
				       "method: expected 0 to %d, found %" PRIu32,
				       TN_QUANTILE_NEAREST, s->options.method);
	if (r->a->dtype == TN_BOOL && !method->is_discrete)
		return tn_runtime_fail(r->runtime, TN_DTYPE, r->operation,
				       "a: expected numbers for the method %s, found bool",
				       method->name);
	if (!r->count && !s->skips_nan)
		return tn_runtime_fail(r->runtime, TN_SHAPE, r->operation,
				       "shape %s: expected at least one element",
				       tn_array_text(r->a, text));
	if (s->n_q < 1)
		return tn_runtime_fail(r->runtime, TN_INVALID_ARGUMENT, r->operation,
				       "n_q: expected 1 or more, or TN_SCALAR, found %" PRId64,
				       s->n_q);
	if (!s->q)
		return tn_runtime_fail(r->runtime, TN_INVALID_ARGUMENT, r->operation, "q is NULL");
	for (int64_t i = 0; i < s->n_q; i++) {
		if (!(s->q[i] >= 0 && s->q[i] <= s->scale))
			return tn_runtime_fail(r->runtime, TN_INVALID_ARGUMENT, r->operation,
					       "q: expected a number in [0, %g], found %g",
					       s->scale, s->q[i]);
	}
	return TN_OK;
}

static tn_array *quantile(const struct quantiles *s, const tn_array *sorted, int64_t i)
{
	if (!s->r.count) /* NaN */
		return tn_mean(s->r.a, s->r.n, s->r.axes, s->r.keepdims);
	if (s->counts)
		return tn_composed_reduction_result(
			&s->r, tn_quantile_counted(s->r.operation, sorted, s->counts,
						   s->options.method, s->q[i] / s->scale));
	const struct tn_quantile_position position =
		tn_quantile_position_of(s->options.method, s->r.count, s->q[i] / s->scale);
	tn_array *value =
		value_at(s->r.operation, sorted, &position, s->r.count, mean_dtype(s->r.a));
	return tn_composed_reduction_result(&s->r, value);
}

/* The lines of r, in order at the positions of all quantiles, and at the last, which has a NaN if
 * there is one. */
static tn_array *select_positions(const struct quantiles *s)
{
	const struct tn_composed_reduction *r = &s->r;
	int64_t *positions = tn_host_indices_make(r->runtime, r->operation, 2 * s->n_q + 1);
	if (!positions)
		return NULL;
	for (int64_t i = 0; i < s->n_q; i++) {
		const struct tn_quantile_position position =
			tn_quantile_position_of(s->options.method, r->count, s->q[i] / s->scale);
		positions[2 * i] = position.lower;
		positions[2 * i + 1] = position.upper;
	}
	positions[2 * s->n_q] = r->count - 1;
	tn_array *selected = tn_select_kth(r->operation, tn_axes_last(r->a, r->mask, r->count),
					   2 * s->n_q + 1, positions);
	tn_mem_free(positions);
	return selected;
}

/* The same, or with skips_nan whole lines in order, and their counts. */
static const tn_array *sort_lines(struct quantiles *s)
{
	/* Other dtypes have no NaN. */
	if (!s->r.count)
		return s->r.a;
	if (!s->skips_nan || !tn_is_floating(s->r.a->dtype))
		return select_positions(s);
	const tn_array *lines = tn_axes_last(s->r.a, s->r.mask, s->r.count);
	s->counts = tn_quantile_counts(s->r.operation, lines);
	return s->counts ? tn_sort(lines, -1, 0) : NULL;
}

/* All quantiles along a new first axis. */
static tn_array *quantiles_stacked(const struct quantiles *s, const tn_array *sorted)
{
	tn_array *all = NULL;
	for (int64_t i = 0; i < s->n_q; i++) {
		tn_array *next = tn_expand_dims(quantile(s, sorted, i), 0);
		const tn_array *both[] = {all, next};
		all = all ? tn_concatenate(2, both, 0) : next;
		if (!all)
			return NULL;
	}
	return all;
}

static tn_status take_options(struct quantiles *s, const tn_array *a, const char *operation,
			      const struct tn_quantile_options *options)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime)
		return TN_PENDING_ERROR;
	s->options = tn_quantile_defaults();
	return tn_runtime_take(runtime, &s->options, sizeof(s->options), options,
			       "struct tn_quantile_options", operation);
}

static tn_array *quantiles_of(struct quantiles *s, const char *operation, const tn_array *a,
			      const struct tn_quantile_options *options)
{
	const int is_one = s->n_q == TN_SCALAR;
	tn_array *result = NULL;
	if (take_options(s, a, operation, options) ||
	    tn_composed_reduction_begin(&s->r, operation, a, s->options.n_axes, s->options.axes,
					s->options.keepdims))
		return NULL;
	if (is_one)
		s->n_q = 1;
	if (!check_quantiles(s)) {
		const tn_array *sorted = sort_lines(s);
		result = is_one ? quantile(s, sorted, 0) : quantiles_stacked(s, sorted);
	}
	return tn_scope_end(s->r.runtime->context, result);
}

tn_array *tn_quantile(const tn_array *a, int64_t n_q, const double *q,
		      const struct tn_quantile_options *options)
{
	struct quantiles s = {.n_q = n_q, .q = q, .scale = 1};
	return quantiles_of(&s, "quantile", a, options);
}

tn_array *tn_percentile(const tn_array *a, int64_t n_q, const double *q,
			const struct tn_quantile_options *options)
{
	struct quantiles s = {.n_q = n_q, .q = q, .scale = 100};
	return quantiles_of(&s, "percentile", a, options);
}

tn_array *tn_nanquantile(const tn_array *a, int64_t n_q, const double *q,
			 const struct tn_quantile_options *options)
{
	struct quantiles s = {.n_q = n_q, .q = q, .scale = 1, .skips_nan = 1};
	return quantiles_of(&s, "nanquantile", a, options);
}

tn_array *tn_nanpercentile(const tn_array *a, int64_t n_q, const double *q,
			   const struct tn_quantile_options *options)
{
	struct quantiles s = {.n_q = n_q, .q = q, .scale = 100, .skips_nan = 1};
	return quantiles_of(&s, "nanpercentile", a, options);
}

/* ---- Median ----------------------------------------------------------------------------------*/

static tn_array *middle(const struct tn_composed_reduction *r)
{
	static const struct tn_formula mean = {
		.text = "z = last == last ? (lower + upper) / 2 : nan",
		.inputs = "lower upper last"};
	const tn_dtype dtype = mean_dtype(r->a);
	const int64_t half = r->count / 2;
	if (!r->count)
		return tn_mean(r->a, r->n, r->axes, r->keepdims);
	const int64_t positions[] = {half - (r->count > 1), half, r->count - 1};
	const tn_array *sorted =
		tn_select_kth(r->operation, tn_axes_last(r->a, r->mask, r->count), 3, positions);
	const tn_array *inputs[3];
	for (int i = 0; i < 3; i++) {
		inputs[i] = element(sorted, positions[i]);
		if (tn_array_dtype(inputs[i]) != dtype)
			inputs[i] = tn_astype(inputs[i], dtype);
	}
	tn_array *value = r->count % 2
				  ? unless_nan(r->operation, inputs[1], inputs[2])
				  : tn_formula_operation(r->operation, &mean, dtype, inputs, NULL);
	return tn_composed_reduction_result(r, value);
}

tn_array *tn_median(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, "median", a, n, axes, keepdims))
		return NULL;
	return tn_scope_end(r.runtime->context, check_order(&r) ? NULL : middle(&r));
}

static tn_array *middle_of_numbers(const struct tn_composed_reduction *r)
{
	const tn_array *lines = tn_axes_last(r->a, r->mask, r->count);
	const tn_array *counts = tn_quantile_counts(r->operation, lines);
	return tn_composed_reduction_result(
		r, tn_median_counted(r->operation, tn_sort(lines, -1, 0), counts));
}

tn_array *tn_nanmedian(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_composed_reduction r;
	tn_array *median = NULL;
	if (tn_composed_reduction_begin(&r, "nanmedian", a, n, axes, keepdims))
		return NULL;
	if (!check_order(&r))
		median = tn_is_floating(a->dtype) && r.count ? middle_of_numbers(&r) : middle(&r);
	return tn_scope_end(r.runtime->context, median);
}
