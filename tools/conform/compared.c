/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values that are compared, through a context: counts, places and truth values that one rounding
 * more or less would change are those of the built-in backend, exactly.
 */
#include <tenon/manipulate.h>
#include <tenon/statistics.h>
#include <tenon/testing.h>

#include "layers.h"

enum { COUNT = 2000, MOST_RESULTS = 2 };

/* Numbers with one decimal, which lie on the edges of many intervals. */
static double tenth(size_t i)
{
	return (double)((int64_t)(i * 7919 % 101) - 50) / 10;
}

static tn_array *histogram(const tn_array *x, int64_t n_bins, const double *range, tn_array **edges)
{
	struct tn_histogram_options options = tn_histogram_defaults();
	options.n_bins = n_bins;
	options.range = range;
	return tn_histogram(x, &options, edges);
}

/* Each fills results, NULL after the last. */

static void between_extremes(const tn_array *x, tn_array **results)
{
	results[0] = histogram(x, 70, NULL, &results[1]);
}

static void in_a_range(const tn_array *x, tn_array **results)
{
	static const double range[] = {-4.9, 5};
	results[0] = histogram(x, 33, range, &results[1]);
}

/* At the bound of the tolerance: |y - x| is near 0.1 |x| + 0.01. */
static void at_a_bound(const tn_array *x, tn_array **results)
{
	const tn_array *y = tn_add(tn_affine(x, 1.1, 0), tn_affine(tn_sign(x), 0.01, 0));
	results[0] = tn_isclose(y, x, 0.1, 0.01, 0);
}

static void digitize(const tn_array *x, tn_array **results)
{
	const tn_array *edges = tn_linspace(tn_array_context(x), tn_array_dtype(x), -5, 5, 101, 1);
	results[0] = tn_digitize(x, edges, 0);
	results[1] = tn_searchsorted(edges, x, 1, NULL);
}

static void quantiles(const tn_array *x, tn_array **results)
{
	static const double q[] = {0.05, 0.31, 0.66, 0.98};
	const tn_array *all = tn_affine(x, 0.7, 0);
	results[0] = tn_quantile(all, 4, q, NULL);
	results[1] = tn_nanquantile(all, 4, q, NULL);
}

/* Whole numbers that a sum rounded once would miss. */
static void floors(const tn_array *x, tn_array **results)
{
	results[0] = tn_linspace(tn_array_context(x), TN_I64, 0.1, 400.1, COUNT + 1, 1);
}

static const struct compared {
	const char *name;
	void (*run)(const tn_array *x, tn_array **results);
} all[] = {
	{"histogram", between_extremes}, {"histogram in a range", in_a_range},
	{"isclose", at_a_bound},         {"digitize and searchsorted", digitize},
	{"quantile", quantiles},         {"linspace of integers", floors},
};

/* The results on one side; 0: the case has failed. */
static int run(struct kit *kit, tn_context *context, const struct compared *row, tn_dtype dtype,
	       const double *values, double **found, int64_t *sizes)
{
	tn_array *results[MOST_RESULTS] = {NULL};
	if (tn_scope_begin(context))
		kit_give_up(kit, "a scope: %s", tn_error_text(context));
	const tn_array *x = values_upload(kit, context, dtype, 1, (const int64_t[]){COUNT}, values);
	if (x)
		row->run(x, results);
	int done = x && results[0];
	for (int k = 0; k < MOST_RESULTS && done && results[k]; k++) {
		sizes[k] = tn_array_size(results[k]);
		found[k] = values_of(kit, results[k]);
		done = found[k] != NULL;
	}
	if (x && !results[0])
		kit_fail_context(kit, context, "failed");
	tn_scope_end(context, NULL);
	return done;
}

static void compare(struct kit *kit, const struct compared *row, tn_dtype dtype,
		    const double *values)
{
	double *found[MOST_RESULTS] = {NULL}, *expected[MOST_RESULTS] = {NULL};
	int64_t sizes[MOST_RESULTS] = {0};
	char routes[ROUTES_TEXT];
	kit_case(kit, KIT_CONTEXT, "%s of %s", row->name, tn_dtype_name(dtype));
	const int is_run = run(kit, kit_context(kit), row, dtype, values, found, sizes);
	kit_take_ledger(kit, kit_context(kit), routes);
	if (is_run && run(kit, kit_reference_context(kit), row, dtype, values, expected, sizes)) {
		for (int k = 0; k < MOST_RESULTS && found[k]; k++)
			values_compare(kit, k ? "second result" : "result", 1, &sizes[k], found[k],
				       expected[k], NULL, routes);
	}
	for (int k = 0; k < MOST_RESULTS; k++) {
		free(found[k]);
		free(expected[k]);
	}
	kit_pass(kit);
}

void check_compared(struct kit *kit)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64};
	if (kit_compute_dtype(kit, TN_FAMILY_MAP) != TN_F32)
		return kit_skip(kit, "it rounds f32 to a narrower type");
	for (size_t d = 0; d < sizeof(dtypes) / sizeof(dtypes[0]); d++) {
		double *values = numbers(COUNT);
		for (size_t i = 0; i < COUNT; i++)
			values[i] = tenth(i);
		values_round(kit, dtypes[d], values, COUNT);
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			compare(kit, &all[i], dtypes[d], values);
		free(values);
	}
}
