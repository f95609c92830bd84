/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How many bins a histogram should have, by NumPy's estimators of their width.  The host reads what
 * an estimator needs of the values.
 */
#include <inttypes.h>
#include <math.h>
#include <tenon/statistics.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "base/dtype.h"
#include "numpy/bins.h"
#include "numpy/nonzero.h"
#include "ops/formula.h"
#include "ops/host_read.h"

/* One call: n >= 1 values in f64 between two ends. */
struct values {
	struct tn_runtime *runtime;
	const tn_array *x;
	double n, spread; /* the greatest less the least of them */
	double range[2];
};

static const char operation[] = "histogram_bin_edges";

/* ---- Widths ----------------------------------------------------------------------------------
 * 0: of one bin.  On failure the error is kept. */

static tn_status sum_of_squares(const struct values *v, int64_t bins, double *sum)
{
	struct tn_histogram_options options = tn_histogram_defaults();
	options.n_bins = bins;
	options.range = v->range;
	tn_status status = tn_scope_begin(v->runtime->context);
	if (status)
		return status;
	const tn_array *counts = tn_histogram(v->x, &options, NULL);
	const tn_array *squares = tn_square(tn_astype(counts, TN_F64));
	status = tn_host_read_item(operation, tn_sum(squares, TN_ALL_AXES, NULL, 0), sum);
	tn_scope_end(v->runtime->context, NULL);
	return status;
}

/* The width of the histogram whose estimated error, by cross-validation, is the least. */
static tn_status width_by_stone(const struct values *v, double *width)
{
	const int64_t root = (int64_t)sqrt(v->n), most = root > 100 ? root : 100;
	double least = INFINITY;
	*width = 0;
	for (int64_t bins = 1; bins <= most && v->n > 1 && v->spread > 0; bins++) {
		double sum;
		tn_status status = sum_of_squares(v, bins, &sum);
		if (status)
			return status;
		const double risk =
			(2 - (v->n + 1) * sum / (v->n * v->n)) * (double)bins / v->spread;
		if (risk < least) {
			least = risk;
			*width = v->spread / (double)bins;
		}
	}
	return TN_OK;
}

static tn_status width_by_doane(const struct values *v, double *width)
{
	static const struct tn_formula cube = {.text = "t = (x - mean) / sigma; z = t * t * t",
					       .inputs = "x mean sigma"};
	const double n = v->n;
	double deviation, skew;
	const tn_array *inputs[] = {v->x, tn_mean(v->x, TN_ALL_AXES, NULL, 0),
				    tn_std(v->x, TN_ALL_AXES, NULL, 0, 0)};
	*width = 0;
	tn_status status = tn_host_read_item(operation, inputs[2], &deviation);
	if (status || n <= 2 || !(deviation > 0))
		return status;
	status = tn_host_read_item(
		operation,
		tn_mean(tn_formula_operation(operation, &cube, TN_F64, inputs, NULL), TN_ALL_AXES,
			NULL, 0),
		&skew);
	const double unit = sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
	*width = v->spread / (1 + log2(n) + log2(1 + fabs(skew) / unit));
	return status;
}

static tn_status width_by_quartiles(const struct values *v, double *width)
{
	double quartiles[2];
	const tn_array *both = tn_percentile(v->x, 2, (const double[]){25, 75}, NULL);
	tn_status status = tn_host_read(operation, both, quartiles, sizeof(quartiles));
	*width = status ? 0 : 2 * (quartiles[1] - quartiles[0]) * pow(v->n, -1 / 3.0);
	return status;
}

static tn_status width_by_deviation(const struct values *v, double *width)
{
	double deviation;
	tn_status status =
		tn_host_read_item(operation, tn_std(v->x, TN_ALL_AXES, NULL, 0, 0), &deviation);
	*width = status ? 0 : pow(24 * sqrt(acos(-1)) / v->n, 1 / 3.0) * deviation;
	return status;
}

static tn_status width_of(const struct values *v, uint32_t rule, double *width)
{
	const double sturges = v->spread / (log2(v->n) + 1), root = v->spread / sqrt(v->n);
	tn_status status;
	switch (rule) {
	case TN_BINS_FD:
		return width_by_quartiles(v, width);
	case TN_BINS_DOANE:
		return width_by_doane(v, width);
	case TN_BINS_SCOTT:
		return width_by_deviation(v, width);
	case TN_BINS_STONE:
		return width_by_stone(v, width);
	case TN_BINS_RICE:
		/* As NumPy; where the root is whole, a last place decides about a bin. */
		*width = v->spread / (2 * pow(v->n, 1 / 3.0));
		return TN_OK;
	case TN_BINS_STURGES:
		*width = sturges;
		return TN_OK;
	case TN_BINS_SQRT:
		*width = root;
		return TN_OK;
	default: /* TN_BINS_AUTO: of quartiles, within limits */
		status = width_by_quartiles(v, width);
		*width = fmin(fmax(*width, root / 2), sturges);
		return status;
	}
}

/* ---- Edges -----------------------------------------------------------------------------------*/

static tn_status least_and_greatest(const tn_array *x, double ends[2])
{
	tn_status status = tn_host_read_item(operation, tn_min(x, TN_ALL_AXES, NULL, 0), &ends[0]);
	return status ? status
		      : tn_host_read_item(operation, tn_max(x, TN_ALL_AXES, NULL, 0), &ends[1]);
}

/* Those in the range. */
static const tn_array *within(const tn_array *x, const double *range)
{
	static const struct tn_formula inside = {
		.text = "z = x >= low && x <= high", .inputs = "x", .scalars = "low high"};
	const tn_array *is_inside = tn_formula_operation(operation, &inside, TN_BOOL, &x, range);
	const tn_array *places = tn_true_numbers(operation, is_inside, -1);
	return places ? tn_take(x, places, 0, TN_RAISE) : NULL;
}

/* The values of a line as the estimators take them; n 0 if there are none. */
static tn_status read_values(struct values *v, const tn_array *line, const double *range)
{
	double ends[2];
	const tn_array *x = tn_astype(line, TN_F64);
	v->x = range ? within(x, range) : x;
	if (!v->x)
		return TN_PENDING_ERROR;
	v->n = (double)v->x->size;
	if (!v->x->size)
		return TN_OK;
	tn_status status = least_and_greatest(v->x, ends);
	if (status)
		return status;
	v->spread = ends[1] - ends[0];
	for (int i = 0; i < 2; i++)
		v->range[i] = range ? range[i] : ends[i];
	if (!isfinite(v->range[0]) || !isfinite(v->range[1]))
		return tn_runtime_fail(v->runtime, TN_INVALID_ARGUMENT, operation,
				       "a: expected finite numbers, found some from %g to %g",
				       v->range[0], v->range[1]);
	if (v->range[0] == v->range[1]) {
		v->range[0] -= 0.5;
		v->range[1] += 0.5;
	}
	return TN_OK;
}

static tn_status count_bins(const struct values *v, uint32_t rule, int is_integer, int64_t *bins)
{
	double width = 0;
	*bins = 1;
	tn_status status = v->n > 0 ? width_of(v, rule, &width) : TN_OK;
	if (status || !(width > 0))
		return status;
	if (is_integer && width < 1)
		width = 1;
	const double count = ceil((v->range[1] - v->range[0]) / width);
	if (!(count < 0x1p53))
		return tn_runtime_fail(v->runtime, TN_LIMIT, operation,
				       "a: expected a spread of fewer bins, found %g", count);
	*bins = count < 1 ? 1 : (int64_t)count;
	return TN_OK;
}

static tn_status check(const tn_array *a, uint32_t rule, const double *range)
{
	if (tn_is_complex(a->dtype))
		return tn_runtime_fail(a->runtime, TN_DTYPE, operation,
				       "a: expected real numbers, found %s",
				       tn_dtype_name(a->dtype));
	if (rule > TN_BINS_SQRT)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				       "rule: expected 0 to %d, found %" PRIu32, TN_BINS_SQRT,
				       rule);
	if (range && !(isfinite(range[0]) && isfinite(range[1]) && range[0] <= range[1]))
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				       "range: expected two finite numbers in ascending order, "
				       "found %g and %g",
				       range[0], range[1]);
	return TN_OK;
}

tn_array *tn_histogram_bin_edges(const tn_array *a, uint32_t rule, const double *range)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	struct values v = {.runtime = runtime};
	tn_array *edges = NULL;
	int64_t bins;
	if (!runtime || check(a, rule, range) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *line = tn_reshape(tn_array_untracked(operation, a), 1, &a->size);
	if (line && line->dtype == TN_BOOL)
		line = tn_astype(line, TN_U8);
	if (line && !read_values(&v, line, range) &&
	    !count_bins(&v, rule, tn_is_integer(a->dtype), &bins))
		edges = tn_bins_edges(operation, line, bins, range);
	return tn_scope_end(runtime->context, edges);
}
