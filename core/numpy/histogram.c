/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Counts of values: by themselves, and by intervals.  Ones or weights are added up at the places.
 */
#include <inttypes.h>
#include <math.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/bins.h"
#include "numpy/sorted_search.h"
#include "ops/formula.h"
#include "ops/host_read.h"
#include "ops/index_check.h"

static tn_status check_weights(const char *operation, const tn_array *a, const tn_array *weights)
{
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (!weights)
		return TN_OK;
	if (tn_is_complex(weights->dtype))
		return tn_runtime_fail(a->runtime, TN_DTYPE, operation,
				       "weights: expected real numbers, found %s",
				       tn_dtype_name(weights->dtype));
	if (!tn_shape_equal(weights->rank, weights->shape, a->rank, a->shape))
		return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
				       "weights: expected shape %s, found %s",
				       tn_array_text(a, expected), tn_array_text(weights, found));
	tn_status status = tn_refuse_tracked(a->runtime, operation, 1, &weights);
	return status ? tn_end_into(a->runtime, status) : TN_OK;
}

static struct tn_runtime *begin(const char *operation, const tn_array *a, const tn_array *weights)
{
	const tn_array *both[] = {a, weights};
	struct tn_runtime *runtime = tn_begin(weights ? 2 : 1, both, operation);
	if (!runtime || check_weights(operation, a, weights))
		return NULL;
	return runtime;
}

/* ---- By value --------------------------------------------------------------------------------*/

static tn_status check_bincount(const tn_array *x, int64_t minlength)
{
	char text[TN_SHAPE_TEXT];
	if (x->dtype != TN_BOOL && !tn_is_integer(x->dtype))
		return tn_runtime_fail(x->runtime, TN_DTYPE, "bincount",
				       "x: expected integers or bool, found %s",
				       tn_dtype_name(x->dtype));
	if (x->rank != 1)
		return tn_runtime_fail(x->runtime, TN_SHAPE, "bincount",
				       "x: expected one axis, found shape %s",
				       tn_array_text(x, text));
	if (minlength < 0)
		return tn_runtime_fail(x->runtime, TN_INVALID_ARGUMENT, "bincount",
				       "minlength: expected 0 or more, found %" PRId64, minlength);
	return TN_OK;
}

/* Raises *length above all values of x, which are at least 0: waits for the device. */
static tn_status measure(const tn_array *x, int64_t *length)
{
	tn_number least, largest;
	if (!x)
		return TN_PENDING_ERROR;
	if (!x->size)
		return TN_OK;
	tn_status status = tn_host_read_number("bincount", tn_min(x, TN_ALL_AXES, NULL, 0), &least);
	if (!status)
		status = tn_host_read_number("bincount", tn_max(x, TN_ALL_AXES, NULL, 0), &largest);
	if (status)
		return status;
	if (least.i64 < 0)
		return tn_runtime_fail(x->runtime, TN_INVALID_ARGUMENT, "bincount",
				       "x: expected values of 0 or more, found %" PRId64,
				       least.i64);
	if (largest.i64 == INT64_MAX)
		return tn_runtime_fail(x->runtime, TN_LIMIT, "bincount",
				       "x: counts up to %" PRId64 " do not fit an array",
				       largest.i64);
	if (largest.i64 >= *length)
		*length = largest.i64 + 1;
	return TN_OK;
}

tn_array *tn_bincount(const tn_array *x, const tn_array *weights, int64_t minlength)
{
	struct tn_runtime *runtime = begin("bincount", x, weights);
	if (!runtime || check_bincount(x, minlength) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *places =
		x->dtype == TN_BOOL ? tn_astype(x, TN_I64) : tn_indices_signed("bincount", "x", x);
	const tn_array *w = weights ? tn_astype(weights, TN_F64) : NULL;
	tn_array *sums = NULL;
	if (!measure(places, &minlength) && (w || !weights))
		sums = tn_bins_sums(places, w, minlength);
	return tn_scope_end(runtime->context, sums);
}

/* ---- By interval -----------------------------------------------------------------------------*/

/* One call: values and weights as lines. */
struct histogram {
	struct tn_bins bins;
	const tn_array *a, *weights;
	tn_dtype sum_dtype; /* of the result */
};

/* Sums as a probability density. */
static tn_array *density_of(const struct histogram *h, const tn_array *sums)
{
	static const struct tn_formula density = {.text = "z = f64(sum) / f64(width) / f64(total)",
						  .inputs = "sum width total"};
	const tn_array *inputs[] = {sums, tn_diff(h->bins.edges, 1, 0),
				    tn_sum(sums, TN_ALL_AXES, NULL, 0)};
	return tn_formula_operation(h->bins.operation, &density, TN_F64, inputs, NULL);
}

static tn_status take_values(struct histogram *h, const tn_array *a, const tn_array *weights)
{
	const int64_t all[] = {-1};
	if (tn_is_complex(a->dtype))
		return tn_runtime_fail(a->runtime, TN_DTYPE, h->bins.operation,
				       "a: expected real numbers, found %s",
				       tn_dtype_name(a->dtype));
	/* Truth values have no distance: they are counted as 0 and 1. */
	h->a = tn_reshape(tn_array_untracked(h->bins.operation,
					     a->dtype == TN_BOOL ? tn_astype(a, TN_U8) : a),
			  1, all);
	if (weights) {
		/* As NumPy: sums of many small numbers do not fit their own dtype. */
		h->sum_dtype = weights->dtype;
		h->weights = tn_reshape(tn_astype(weights, TN_F64), 1, all);
	}
	return h->a && (h->weights || !weights) ? TN_OK : TN_PENDING_ERROR;
}

static tn_array *finish(const struct histogram *h, int density)
{
	tn_array *sums = tn_bins_counts(&h->bins, h->a, h->weights);
	if (density)
		return density_of(h, sums);
	/* Sums of integers wrap, those of i64 and u64 near their limits excepted. */
	if (h->weights && tn_is_integer(h->sum_dtype) && h->sum_dtype != TN_U64)
		sums = tn_astype(sums, TN_I64);
	return h->weights ? tn_astype(sums, h->sum_dtype) : sums;
}

static tn_status check_edges(const tn_array *a, const tn_array *edges)
{
	const tn_array *both[] = {a, edges};
	if (!tn_begin(2, both, "histogram") || tn_sorted_check("histogram", "edges", edges))
		return TN_PENDING_ERROR;
	if (edges->size < 2)
		return tn_runtime_fail(a->runtime, TN_SHAPE, "histogram",
				       "edges: expected 2 or more, found %" PRId64, edges->size);
	return TN_OK;
}

static tn_status check_bins(const tn_array *a, const struct tn_histogram_options *options)
{
	const double *range = options->range;
	if (options->edges)
		return check_edges(a, options->edges);
	if (options->n_bins < 1)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "histogram",
				       "n_bins: expected 1 or more, found %" PRId64,
				       options->n_bins);
	if (options->n_bins == INT64_MAX)
		return tn_runtime_fail(a->runtime, TN_LIMIT, "histogram",
				       "n_bins: %" PRId64 " bins have more edges than fit i64",
				       options->n_bins);
	if (range && !(isfinite(range[0]) && isfinite(range[1]) && range[0] <= range[1]))
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "histogram",
				       "range: expected two finite numbers in ascending order, "
				       "found %g and %g",
				       range[0], range[1]);
	return TN_OK;
}

/* *edges receives those of the bins. */
static tn_array *histogram(const tn_array *a, const struct tn_histogram_options *options,
			   tn_array **edges)
{
	const int is_uniform = !options->edges;
	struct histogram h = {.bins = {.operation = "histogram", .is_uniform = is_uniform}};
	if (take_values(&h, a, options->weights))
		return NULL;
	h.bins.n = is_uniform ? options->n_bins : options->edges->size - 1;
	*edges = is_uniform ? tn_bins_edges("histogram", h.a, h.bins.n, options->range)
			    : tn_array_untracked("histogram", options->edges);
	h.bins.edges = *edges;
	return finish(&h, options->density);
}

tn_array *tn_histogram(const tn_array *a, const struct tn_histogram_options *given,
		       tn_array **edges)
{
	struct tn_histogram_options options = tn_histogram_defaults();
	tn_array *results[2] = {NULL};
	if (edges)
		*edges = NULL;
	struct tn_runtime *runtime = tn_begin(1, &a, "histogram");
	if (!runtime || tn_runtime_take(runtime, &options, sizeof(options), given,
					"struct tn_histogram_options", "histogram"))
		return NULL;
	if (!begin("histogram", a, options.weights) || check_bins(a, &options) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	results[0] = histogram(a, &options, &results[1]);
	tn_scope_end_all(runtime->context, TN_OK, edges ? 2 : 1, results);
	if (edges)
		*edges = results[1];
	return results[0];
}
