/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions and statistics against recorded NumPy numbers.
 */
#include "parity/numpy_calls.h"

/* ---- The functions ---------------------------------------------------------------------------*/

static tn_array *var(struct call *c)
{
	return tn_var(c->x, c->n, c->axes, c->numbers[0], c->keepdims);
}
static tn_array *std(struct call *c)
{
	return tn_std(c->x, c->n, c->axes, c->numbers[0], c->keepdims);
}
static tn_array *nanvar(struct call *c)
{
	return tn_nanvar(c->x, c->n, c->axes, c->numbers[0], c->keepdims);
}
static tn_array *nanstd(struct call *c)
{
	return tn_nanstd(c->x, c->n, c->axes, c->numbers[0], c->keepdims);
}
static tn_array *average(struct call *c)
{
	return tn_average(c->x, c->y, c->n, c->axes, c->keepdims, &c->others[0]);
}
static tn_array *nan_to_num(struct call *c)
{
	const int has_all = c->n_numbers == 3;
	return tn_nan_to_num(c->x, c->numbers[0], has_all ? &c->numbers[1] : NULL,
			     has_all ? &c->numbers[2] : NULL);
}
static tn_array *diff(struct call *c)
{
	return tn_diff(c->x, setting(c, "n"), (int)setting(c, "axis"));
}
static tn_array *ediff1d(struct call *c)
{
	return tn_ediff1d(c->x, c->y, c->z);
}
static tn_array *gradient(struct call *c)
{
	return tn_gradient(c->x, c->numbers[0], (int)setting(c, "axis"), (int)setting(c, "order"));
}
static tn_array *trapezoid(struct call *c)
{
	return tn_trapezoid(c->x, c->y, c->numbers[0], (int)setting(c, "axis"));
}

static tn_array *quantile(struct call *c)
{
	const struct tn_quantile_options options = quantile_options(c);
	return tn_quantile(c->x, TN_SCALAR, c->numbers, &options);
}
static tn_array *percentile(struct call *c)
{
	const struct tn_quantile_options options = quantile_options(c);
	return tn_percentile(c->x, TN_SCALAR, c->numbers, &options);
}
static tn_array *quantiles(struct call *c)
{
	const struct tn_quantile_options options = quantile_options(c);
	return tn_quantile(c->x, (int64_t)c->n_numbers, c->numbers, &options);
}
static tn_array *percentiles(struct call *c)
{
	const struct tn_quantile_options options = quantile_options(c);
	return tn_percentile(c->x, (int64_t)c->n_numbers, c->numbers, &options);
}
static tn_array *cov(struct call *c)
{
	return tn_cov(c->x, c->y, (int)setting(c, "rowvar"), c->numbers[0], c->z, c->w);
}
static tn_array *corrcoef(struct call *c)
{
	return tn_corrcoef(c->x, c->y, (int)setting(c, "rowvar"));
}
static tn_array *searchsorted(struct call *c)
{
	return tn_searchsorted(c->x, c->y, (int)setting(c, "right"), c->z);
}
static tn_array *digitize(struct call *c)
{
	return tn_digitize(c->x, c->y, (int)setting(c, "right"));
}
static tn_array *bincount(struct call *c)
{
	return tn_bincount(c->x, c->y, setting(c, "minlength"));
}
static tn_array *histogram(struct call *c)
{
	struct tn_histogram_options options = tn_histogram_defaults();
	options.n_bins = (int64_t)c->numbers[0];
	options.range = c->n_numbers > 1 ? c->numbers + 1 : NULL;
	options.weights = c->y;
	options.density = (int)setting(c, "density");
	return tn_histogram(c->x, &options, &c->others[0]);
}
static tn_array *histogram_edges(struct call *c)
{
	struct tn_histogram_options options = tn_histogram_defaults();
	options.edges = c->z;
	options.weights = c->y;
	options.density = (int)setting(c, "density");
	return tn_histogram(c->x, &options, NULL);
}

static const struct call_row rows[] = {
	{"any", tn_any, NULL},
	{"all", tn_all, NULL},
	{"count_nonzero", tn_count_nonzero, NULL},
	{"var", NULL, var},
	{"std", NULL, std},
	{"ptp", tn_ptp, NULL},
	{"average", NULL, average},
	{"nansum", tn_nansum, NULL},
	{"nanprod", tn_nanprod, NULL},
	{"nanmean", tn_nanmean, NULL},
	{"nanmax", tn_nanmax, NULL},
	{"nanmin", tn_nanmin, NULL},
	{"nanvar", NULL, nanvar},
	{"nanstd", NULL, nanstd},
	{"nan_to_num", NULL, nan_to_num},
	{"diff", NULL, diff},
	{"ediff1d", NULL, ediff1d},
	{"gradient", NULL, gradient},
	{"trapezoid", NULL, trapezoid},
	{"median", tn_median, NULL},
	{"quantile", NULL, quantile},
	{"percentile", NULL, percentile},
	{"quantiles", NULL, quantiles},
	{"percentiles", NULL, percentiles},
	{"cov", NULL, cov},
	{"corrcoef", NULL, corrcoef},
	{"searchsorted", NULL, searchsorted},
	{"digitize", NULL, digitize},
	{"bincount", NULL, bincount},
	{"histogram", NULL, histogram},
	{"histogram_edges", NULL, histogram_edges},
};

const struct parity parity = {
	.claim = "has_numpys_statistics",
	.records = {{"statistics.txt", 1417}},
	.check = check_call,
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.is_brief = parity_is_first_in_f32,
};
