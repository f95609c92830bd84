/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Medians and quantiles: the reduced axes sorted as one, and one or two places of the order, which
 * the host computes in f64 since it knows the length.
 */
#include <inttypes.h>
#include <math.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "ops/reduced.h"
#include "ops/formula.h"
#include "ops/places.h"
#include "ops/select.h"

/* Where a quantile of `count` sorted elements lies: at `lower`, or between it and `upper`, `weight`
 * of the way. */
struct place {
	int64_t lower, upper;
	double weight;
	int is_element; /* exactly at `lower`: nothing is computed */
};

/* ---- Places ----------------------------------------------------------------------------------*/

/* A method is discrete, or has NumPy's two constants of an interpolation. */
static const struct method {
	const char *name;
	int is_discrete;
	double alpha, beta;
} methods[] = {
	[TN_QUANTILE_LINEAR] = {"linear", 0, 1, 1},
	[TN_QUANTILE_INVERTED_CDF] = {"inverted_cdf", 1, 0, 0},
	[TN_QUANTILE_AVERAGED_INVERTED_CDF] = {"averaged_inverted_cdf", 0, 0, 1},
	[TN_QUANTILE_CLOSEST_OBSERVATION] = {"closest_observation", 1, 0, 0},
	[TN_QUANTILE_INTERPOLATED_INVERTED_CDF] = {"interpolated_inverted_cdf", 0, 0, 1},
	[TN_QUANTILE_HAZEN] = {"hazen", 0, 0.5, 0.5},
	[TN_QUANTILE_WEIBULL] = {"weibull", 0, 0, 0},
	[TN_QUANTILE_MEDIAN_UNBIASED] = {"median_unbiased", 0, 1 / 3.0, 1 / 3.0},
	[TN_QUANTILE_NORMAL_UNBIASED] = {"normal_unbiased", 0, 3 / 8.0, 3 / 8.0},
	[TN_QUANTILE_LOWER] = {"lower", 1, 0, 0},
	[TN_QUANTILE_HIGHER] = {"higher", 1, 0, 0},
	[TN_QUANTILE_MIDPOINT] = {"midpoint", 0, 1, 1},
	[TN_QUANTILE_NEAREST] = {"nearest", 1, 0, 0},
};

enum { N_METHODS = sizeof(methods) / sizeof(methods[0]) };

static double discrete_index(uint32_t method, double n, double q)
{
	const double index = n * q - (method == TN_QUANTILE_INVERTED_CDF ? 1 : 1.5);
	const double lower = floor(index);
	switch (method) {
	case TN_QUANTILE_LOWER:
		return floor((n - 1) * q);
	case TN_QUANTILE_HIGHER:
		return ceil((n - 1) * q);
	case TN_QUANTILE_NEAREST:
		return nearbyint((n - 1) * q);
	case TN_QUANTILE_INVERTED_CDF:
		return index == lower ? lower : lower + 1;
	default: /* the closest; of two the one that is even, counted from 1 */
		return index == lower && fmod(lower, 2) != 0 ? lower : lower + 1;
	}
}

static double interpolated_index(uint32_t method, double n, double q)
{
	const struct method *m = &methods[method];
	if (method == TN_QUANTILE_LINEAR || method == TN_QUANTILE_MIDPOINT)
		return (n - 1) * q;
	if (method == TN_QUANTILE_AVERAGED_INVERTED_CDF)
		return n * q - 1;
	return n * q + (m->alpha + q * (1 - m->alpha - m->beta)) - 1;
}

static struct place place_of(uint32_t method, int64_t count, double q)
{
	const double n = (double)count;
	const int is_discrete = methods[method].is_discrete;
	const double index =
		is_discrete ? discrete_index(method, n, q) : interpolated_index(method, n, q);
	const double lower = fmin(fmax(floor(index), 0), n - 1);
	struct place place = {.lower = (int64_t)lower,
			      .upper = (int64_t)fmin(lower + 1, n - 1),
			      .weight = index - floor(index),
			      .is_element = is_discrete};
	if (index < 0)
		place.upper = place.lower;
	if (method == TN_QUANTILE_AVERAGED_INVERTED_CDF)
		place.weight = place.weight == 0 ? 0.5 : 1;
	else if (method == TN_QUANTILE_MIDPOINT)
		place.weight = place.weight == 0 ? 0 : 0.5;
	return place;
}

/* ---- Values ----------------------------------------------------------------------------------*/

static tn_array *element(const tn_array *sorted, int64_t i)
{
	const int last = tn_array_rank(sorted) - 1;
	return tn_squeeze(tn_slice(sorted, last, i, i + 1, 1), last);
}

/* x, or NaN where the line has one, which is then its last element. */
static tn_array *unless_nan(const char *operation, const tn_array *x, const tn_array *last)
{
	static const struct tn_short_program program = {"z = y == y ? x : nan", 2, 0, 0, 0};
	const tn_array *inputs[] = {x, last};
	return tn_formula(operation, &program, tn_array_dtype(x), inputs, NULL);
}

/* Lines of `count` sorted elements at a place, in their dtype, or between elements in `dtype`. */
static tn_array *value_at(const char *operation, const tn_array *sorted, const struct place *place,
			  int64_t count, tn_dtype dtype)
{
	/* From the nearer of the two, as in NumPy: both ends are exact. */
	static const struct tn_short_program up = {"z = c == c ? x + (y - x) * a : nan", 3, 1, 0,
						   0};
	static const struct tn_short_program down = {"z = c == c ? y - (y - x) * a : nan", 3, 1, 0,
						     0};
	const tn_array *inputs[] = {element(sorted, place->lower), element(sorted, place->upper),
				    element(sorted, count - 1)};
	const int is_near = place->weight < 0.5;
	const double weight = is_near ? place->weight : 1 - place->weight;
	if (place->is_element)
		return tn_is_floating(tn_array_dtype(sorted))
			       ? unless_nan(operation, inputs[0], inputs[2])
			       : element(sorted, place->lower);
	for (int i = 0; i < 3; i++)
		inputs[i] =
			tn_array_dtype(sorted) == dtype ? inputs[i] : tn_astype(inputs[i], dtype);
	return tn_formula(operation, is_near ? &up : &down, dtype, inputs, &weight);
}

static tn_dtype mean_dtype(const tn_array *a)
{
	return tn_is_floating(a->dtype) ? a->dtype : TN_F64;
}

static tn_status check_order(const struct tn_reduced *r)
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
	struct tn_reduced r;
	uint32_t method;
	int64_t n_q;
	const double *q;
	double scale;
};

static tn_status check_quantiles(const struct quantiles *s)
{
	const struct tn_reduced *r = &s->r;
	char text[TN_SHAPE_TEXT];
	tn_status status = check_order(r);
	if (status)
		return status;
	if (s->method >= N_METHODS)
		return tn_runtime_fail(r->runtime, TN_INVALID_ARGUMENT, r->operation,
				       "method: expected 0 to %d, found %" PRIu32, N_METHODS - 1,
				       s->method);
	if (r->a->dtype == TN_BOOL && !methods[s->method].is_discrete)
		return tn_runtime_fail(r->runtime, TN_DTYPE, r->operation,
				       "a: expected numbers for the method %s, found bool",
				       methods[s->method].name);
	if (!r->count)
		return tn_runtime_fail(r->runtime, TN_SHAPE, r->operation,
				       "shape %s: expected at least one element",
				       tn_array_text(r->a, text));
	if (s->n_q < 1 || !s->q)
		return tn_runtime_fail(r->runtime, TN_INVALID_ARGUMENT, r->operation,
				       "q: expected a list of n_q >= 1 numbers, found n_q %" PRId64
				       "%s",
				       s->n_q, s->q ? "" : " and NULL");
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
	const struct place place = place_of(s->method, s->r.count, s->q[i] / s->scale);
	tn_array *value = value_at(s->r.operation, sorted, &place, s->r.count, mean_dtype(s->r.a));
	return tn_reduced_result(&s->r, value);
}

/* The lines of r, in order at the places of all quantiles, and at the last, which has a NaN if
 * there is one. */
static tn_array *select_places(const struct quantiles *s)
{
	const struct tn_reduced *r = &s->r;
	int64_t *places = tn_places_make(r->runtime, r->operation, 2 * s->n_q + 1);
	if (!places)
		return NULL;
	for (int64_t i = 0; i < s->n_q; i++) {
		const struct place place = place_of(s->method, r->count, s->q[i] / s->scale);
		places[2 * i] = place.lower;
		places[2 * i + 1] = place.upper;
	}
	places[2 * s->n_q] = r->count - 1;
	tn_array *selected = tn_select(r->operation, tn_axes_last(r->a, r->mask, r->count),
				       2 * s->n_q + 1, places);
	tn_mem_free(places);
	return selected;
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

static tn_array *quantiles_of(struct quantiles *s, int is_list, const char *operation,
			      const tn_array *a, int n, const int *axes, int keepdims)
{
	tn_array *result = NULL;
	if (tn_reduced_begin(&s->r, operation, a, n, axes, keepdims))
		return NULL;
	if (!check_quantiles(s)) {
		tn_array *sorted = select_places(s);
		result = is_list ? quantiles_stacked(s, sorted) : quantile(s, sorted, 0);
	}
	return tn_scope_end(s->r.runtime->context, result);
}

tn_array *tn_quantile(const tn_array *a, double q, uint32_t method, int n, const int *axes,
		      int keepdims)
{
	struct quantiles s = {.method = method, .n_q = 1, .q = &q, .scale = 1};
	return quantiles_of(&s, 0, "quantile", a, n, axes, keepdims);
}

tn_array *tn_percentile(const tn_array *a, double q, uint32_t method, int n, const int *axes,
			int keepdims)
{
	struct quantiles s = {.method = method, .n_q = 1, .q = &q, .scale = 100};
	return quantiles_of(&s, 0, "percentile", a, n, axes, keepdims);
}

tn_array *tn_quantiles(const tn_array *a, int64_t n_q, const double *q, uint32_t method, int n,
		       const int *axes, int keepdims)
{
	struct quantiles s = {.method = method, .n_q = n_q, .q = q, .scale = 1};
	return quantiles_of(&s, 1, "quantiles", a, n, axes, keepdims);
}

tn_array *tn_percentiles(const tn_array *a, int64_t n_q, const double *q, uint32_t method, int n,
			 const int *axes, int keepdims)
{
	struct quantiles s = {.method = method, .n_q = n_q, .q = q, .scale = 100};
	return quantiles_of(&s, 1, "percentiles", a, n, axes, keepdims);
}

/* ---- Median ----------------------------------------------------------------------------------*/

static tn_array *middle(const struct tn_reduced *r)
{
	static const struct tn_short_program mean = {"z = c == c ? (x + y) / 2 : nan", 3, 0, 0, 0};
	const tn_dtype dtype = mean_dtype(r->a);
	const int64_t half = r->count / 2;
	if (!r->count)
		return tn_mean(r->a, r->n, r->axes, r->keepdims);
	const int64_t places[] = {half - (r->count > 1), half, r->count - 1};
	const tn_array *sorted =
		tn_select(r->operation, tn_axes_last(r->a, r->mask, r->count), 3, places);
	const tn_array *inputs[3];
	for (int i = 0; i < 3; i++) {
		inputs[i] = element(sorted, places[i]);
		if (tn_array_dtype(inputs[i]) != dtype)
			inputs[i] = tn_astype(inputs[i], dtype);
	}
	tn_array *value = r->count % 2 ? unless_nan(r->operation, inputs[1], inputs[2])
				       : tn_formula(r->operation, &mean, dtype, inputs, NULL);
	return tn_reduced_result(r, value);
}

tn_array *tn_median(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_reduced r;
	if (tn_reduced_begin(&r, "median", a, n, axes, keepdims))
		return NULL;
	return tn_scope_end(r.runtime->context, check_order(&r) ? NULL : middle(&r));
}
