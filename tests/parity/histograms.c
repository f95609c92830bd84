/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Histograms of points, and rules for bins, against recorded NumPy results.
 */
#include "parity/numpy_calls.h"

static struct tn_histogramdd_options options_of(const struct call *c, const tn_array *weights)
{
	struct tn_histogramdd_options options = tn_histogramdd_defaults();
	options.n_bins = record_ints(c->record, "bins");
	options.ranges = c->numbers;
	options.weights = weights;
	options.density = (int)setting(c, "density");
	return options;
}
static tn_array *histogramdd(struct call *c)
{
	const struct tn_histogramdd_options options = options_of(c, c->y);
	return tn_histogramdd(c->x, &options, c->others);
}
static tn_array *histogram2d(struct call *c)
{
	const struct tn_histogramdd_options options = options_of(c, c->z);
	return tn_histogram2d(c->x, c->y, &options, c->others);
}
static tn_array *histogram2d_edges(struct call *c)
{
	const tn_array *edges[] = {c->z, c->w};
	struct tn_histogramdd_options options = options_of(c, NULL);
	options.edges = edges;
	return tn_histogram2d(c->x, c->y, &options, NULL);
}
static tn_array *histogram_bin_edges(struct call *c)
{
	return tn_histogram_bin_edges(c->x, (uint32_t)setting(c, "rule"), c->numbers);
}

static const struct call_row rows[] = {
	{"histogramdd", NULL, histogramdd},
	{"histogram2d", NULL, histogram2d},
	{"histogram2d_edges", NULL, histogram2d_edges},
	{"histogram_bin_edges", NULL, histogram_bin_edges},
};

const struct parity parity = {
	.claim = "has_numpys_histograms",
	.records = {{"histograms.txt", 159}},
	.check = check_call,
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.is_brief = parity_is_first_in_f32,
};
