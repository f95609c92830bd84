/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Histograms of points: the intervals along each axis become one place in a table that has a place
 * more along each axis, for what is outside.
 */
#include <inttypes.h>
#include <math.h>
#include <tenon/manipulate.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/bins.h"
#include "numpy/sorted_search.h"
#include "ops/formula.h"

/* One call. */
struct grid {
	const char *operation;
	struct tn_runtime *runtime;
	struct tn_histogramdd_options options;
	const tn_array *sample;  /* (points, n), untracked */
	const tn_array *weights; /* f64, one for each point; NULL: 1 */
	int n;
	struct tn_bins axes[TN_MAX_RANK];
	tn_array *edges[TN_MAX_RANK]; /* of the axes */
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_sample(const struct grid *g, const tn_array *sample)
{
	char text[TN_SHAPE_TEXT];
	if (tn_is_complex(sample->dtype))
		return tn_runtime_fail(g->runtime, TN_DTYPE, g->operation,
				       "sample: expected real numbers, found %s",
				       tn_dtype_name(sample->dtype));
	if (sample->rank != 2 || sample->shape[1] < 1 || sample->shape[1] > TN_MAX_RANK)
		return tn_runtime_fail(g->runtime, TN_SHAPE, g->operation,
				       "sample: expected shape (points, 1 to %d), found %s",
				       TN_MAX_RANK, tn_array_text(sample, text));
	return TN_OK;
}

static tn_status take_weights(struct grid *g)
{
	const tn_array *weights = g->options.weights;
	char text[TN_SHAPE_TEXT];
	if (!weights)
		return TN_OK;
	if (tn_is_complex(weights->dtype))
		return tn_runtime_fail(g->runtime, TN_DTYPE, g->operation,
				       "weights: expected real numbers, found %s",
				       tn_dtype_name(weights->dtype));
	if (weights->rank != 1 || weights->size != g->sample->shape[0])
		return tn_runtime_fail(g->runtime, TN_SHAPE, g->operation,
				       "weights: expected shape (%" PRId64 ",), found %s",
				       g->sample->shape[0], tn_array_text(weights, text));
	tn_status status = tn_refuse_tracked(g->runtime, g->operation, 1, &weights);
	if (status)
		return tn_end_into(g->runtime, status);
	g->weights = tn_astype(weights, TN_F64);
	return g->weights ? TN_OK : TN_PENDING_ERROR;
}

/* Begins a call, in a scope that the caller ends if this succeeds. */
static tn_status begin(struct grid *g, const char *operation, const tn_array *sample,
		       const struct tn_histogramdd_options *options)
{
	*g = (struct grid){.operation = operation, .options = tn_histogramdd_defaults()};
	g->runtime = tn_begin(1, &sample, operation);
	if (!g->runtime || tn_runtime_take(g->runtime, &g->options, sizeof(g->options), options,
					   "struct tn_histogramdd_options", operation))
		return TN_PENDING_ERROR;
	const tn_array *both[] = {sample, g->options.weights};
	if (!tn_begin(both[1] ? 2 : 1, both, operation) || check_sample(g, sample))
		return TN_PENDING_ERROR;
	tn_status status = tn_scope_begin(g->runtime->context);
	if (status)
		return status;
	g->n = (int)sample->shape[1];
	/* Truth values have no distance: they are counted as 0 and 1. */
	g->sample = tn_array_untracked(
		operation, sample->dtype == TN_BOOL ? tn_astype(sample, TN_U8) : sample);
	if (g->sample && !take_weights(g))
		return TN_OK;
	tn_scope_end(g->runtime->context, NULL);
	return TN_PENDING_ERROR;
}

static tn_array *column(const struct grid *g, int axis)
{
	return tn_contiguous(tn_squeeze(tn_slice(g->sample, 1, axis, axis + 1, 1), 1));
}

/* Edges at equal distances. */
static tn_status make_edges(struct grid *g)
{
	for (int i = 0; i < g->n; i++) {
		const int64_t n_bins =
			g->options.n_bins ? g->options.n_bins[i] : tn_histogram_defaults().n_bins;
		const double *range = g->options.ranges ? g->options.ranges + 2 * i : NULL;
		if (n_bins < 1)
			return tn_runtime_fail(g->runtime, TN_INVALID_ARGUMENT, g->operation,
					       "n_bins[%d]: expected 1 or more, found %" PRId64, i,
					       n_bins);
		if (n_bins == INT64_MAX)
			return tn_runtime_fail(g->runtime, TN_LIMIT, g->operation,
					       "n_bins[%d]: %" PRId64
					       " bins have more edges than fit i64",
					       i, n_bins);
		if (range && !(isfinite(range[0]) && isfinite(range[1]) && range[0] <= range[1]))
			return tn_runtime_fail(g->runtime, TN_INVALID_ARGUMENT, g->operation,
					       "ranges[%d]: expected two finite numbers in "
					       "ascending order, found %g and %g",
					       i, range[0], range[1]);
		g->edges[i] = tn_bins_edges(g->operation, column(g, i), n_bins, range);
		if (!g->edges[i])
			return TN_PENDING_ERROR;
		g->axes[i] = (struct tn_bins){g->operation, g->edges[i], n_bins, 1};
	}
	return TN_OK;
}

/* Edges that are given. */
static tn_status take_edges(struct grid *g)
{
	if (tn_arrays_given((uint32_t)g->n, g->options.edges, g->operation))
		return TN_PENDING_ERROR;
	for (int i = 0; i < g->n; i++) {
		const tn_array *both[] = {g->sample, g->options.edges[i]};
		if (!tn_begin(2, both, g->operation) ||
		    tn_sorted_check(g->operation, "edges", both[1]))
			return TN_PENDING_ERROR;
		if (both[1]->size < 2)
			return tn_runtime_fail(g->runtime, TN_SHAPE, g->operation,
					       "edges[%d]: expected 2 or more, found %" PRId64, i,
					       both[1]->size);
		g->edges[i] = tn_array_untracked(g->operation, both[1]);
		if (!g->edges[i])
			return TN_PENDING_ERROR;
		g->axes[i] = (struct tn_bins){g->operation, g->edges[i], both[1]->size - 1, 0};
	}
	return TN_OK;
}

/* ---- Counts ----------------------------------------------------------------------------------*/

/* f64, of the table without what is outside. */
static tn_array *counts_of(const struct grid *g)
{
	static const struct tn_formula next = {.text = "z = so_far * length + place",
					       .inputs = "so_far place",
					       .scalars = "length",
					       .scalar_dtype = TN_I64};
	int64_t shape[TN_MAX_RANK], size;
	for (int i = 0; i < g->n; i++)
		shape[i] = g->axes[i].n + 1;
	tn_status status = tn_shape_check(g->runtime, g->operation, TN_F64, g->n, shape, &size);
	if (status)
		return tn_end(g->runtime, status, NULL);
	const tn_array *places = tn_bins_find(&g->axes[0], column(g, 0));
	for (int i = 1; i < g->n; i++) {
		const double length = (double)shape[i];
		const tn_array *both[] = {places, tn_bins_find(&g->axes[i], column(g, i))};
		places = tn_formula_operation(g->operation, &next, TN_I64, both, &length);
	}
	tn_array *table = tn_reshape(tn_bins_sums(places, g->weights, size), g->n, shape);
	for (int i = 0; i < g->n; i++)
		table = tn_slice(table, i, 0, g->axes[i].n, 1);
	return tn_astype(table, TN_F64);
}

static tn_array *density_of(const struct grid *g, tn_array *counts)
{
	tn_array *density = tn_divide(counts, tn_sum(counts, TN_ALL_AXES, NULL, 0));
	for (int i = 0; i < g->n; i++) {
		int64_t shape[TN_MAX_RANK];
		for (int k = 0; k < g->n; k++)
			shape[k] = k == i ? g->axes[i].n : 1;
		const tn_array *widths = tn_astype(tn_diff(g->axes[i].edges, 1, 0), TN_F64);
		density = tn_divide(density, tn_reshape(widths, g->n, shape));
	}
	return density;
}

static tn_array *finish(const struct grid *g, tn_array **edges)
{
	tn_array *counts = counts_of(g);
	if (g->options.density)
		counts = density_of(g, counts);
	for (int i = 0; i < g->n && edges && counts; i++) {
		tn_array_lift(g->edges[i]);
		edges[i] = g->edges[i];
	}
	return tn_scope_end(g->runtime->context, counts);
}

/* ---- The functions ---------------------------------------------------------------------------*/

static tn_array *histogram(const char *operation, const tn_array *sample,
			   const struct tn_histogramdd_options *options, tn_array **edges)
{
	struct grid g;
	if (begin(&g, operation, sample, options))
		return NULL;
	for (int i = 0; i < g.n && edges; i++)
		edges[i] = NULL;
	if (g.options.edges ? take_edges(&g) : make_edges(&g))
		return tn_scope_end(g.runtime->context, NULL);
	return finish(&g, edges);
}

tn_array *tn_histogramdd(const tn_array *sample, const struct tn_histogramdd_options *options,
			 tn_array **edges)
{
	return histogram("histogramdd", sample, options, edges);
}

/* Two lines as points. */
static tn_array *points_of(const char *operation, const tn_array *x, const tn_array *y)
{
	const tn_array *both[] = {x, y};
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	struct tn_runtime *runtime = tn_begin(2, both, operation);
	if (!runtime)
		return NULL;
	if (x->rank != 1 || y->rank != 1 || x->size != y->size) {
		tn_runtime_fail(runtime, TN_SHAPE, operation,
				"x, y: expected lines of one length, found %s and %s",
				tn_array_text(x, expected), tn_array_text(y, found));
		return NULL;
	}
	return tn_stack(2, both, 1);
}

tn_array *tn_histogram2d(const tn_array *x, const tn_array *y,
			 const struct tn_histogramdd_options *options, tn_array **edges)
{
	for (int i = 0; i < 2 && edges; i++)
		edges[i] = NULL;
	tn_array *points = points_of("histogram2d", x, y);
	tn_array *counts = histogram("histogram2d", points, options, edges);
	tn_array_discard(points);
	return counts;
}
