/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions and statistics: gradients against central differences in double, what is refused, who
 * owns second results, and a length that depends on values.  Numbers: tests/parity/statistics.
 */
#include "unit/formula_checks.h"
#include "test_context.h"

static const int last[] = {-1};

static tn_array *line(tn_dtype dtype, int64_t n)
{
	return tn_arange(context, dtype, 0, (double)n, 1);
}

static tn_array *matrix(tn_dtype dtype, int64_t rows, int64_t columns)
{
	return tn_reshape(line(dtype, rows * columns), 2, (int64_t[]){rows, columns});
}

/* ---- Gradients -------------------------------------------------------------------------------*/

static tn_array *f_var(const tn_array *x)
{
	return tn_var(x, 1, last, 1, 0);
}
static tn_array *f_std(const tn_array *x)
{
	return tn_std(x, TN_ALL_AXES, NULL, 0, 1);
}
static tn_array *f_ptp(const tn_array *x)
{
	return tn_ptp(x, 1, last, 0);
}
static tn_array *f_weighted_average(const tn_array *x)
{
	return tn_average(x, tn_square(x), 1, last, 0, NULL);
}
/* NaN in place of numbers below 0. */
static tn_array *with_nan(const tn_array *x)
{
	return tn_map("z = x < 0 ? nan : x * x", 1, (const char *[]){"x"}, &x, 0, NULL, NULL);
}
static tn_array *f_nansum(const tn_array *x)
{
	return tn_nansum(with_nan(x), 1, last, 0);
}
static tn_array *f_nanmean(const tn_array *x)
{
	return tn_nanmean(with_nan(x), 1, last, 0);
}
static tn_array *f_nanvar(const tn_array *x)
{
	return tn_nanvar(with_nan(x), TN_ALL_AXES, NULL, 1, 0);
}
static tn_array *f_nanmax(const tn_array *x)
{
	return tn_nanmax(with_nan(x), 1, last, 0);
}
static tn_array *f_nan_to_num(const tn_array *x)
{
	return tn_nan_to_num(x, 0, NULL, NULL);
}
static tn_array *f_diff(const tn_array *x)
{
	return tn_diff(x, 2, 1);
}
static tn_array *f_ediff1d(const tn_array *x)
{
	return tn_ediff1d(x, x, NULL);
}
static tn_array *f_gradient(const tn_array *x)
{
	return tn_gradient(x, 0.5, 0, 2);
}
static tn_array *f_trapezoid(const tn_array *x)
{
	return tn_trapezoid(x, tn_square(x), 1, 1);
}
static tn_array *f_median(const tn_array *x)
{
	return tn_median(x, 1, last, 0);
}
static tn_array *f_median_of_even(const tn_array *x)
{
	return tn_median(tn_slice(x, 1, 1, INT64_MIN, 1), 1, last, 0);
}
static tn_array *f_quantile(const tn_array *x)
{
	return tn_quantile(x, 2, (double[]){0.3, 0.9}, NULL);
}
static tn_array *f_cov(const tn_array *x)
{
	return tn_cov(x, NULL, 1, 1, NULL, NULL);
}
static tn_array *f_corrcoef(const tn_array *x)
{
	return tn_corrcoef(x, NULL, 1);
}

static const struct formula_row rows[] = {
	{"var", f_var},
	{"std", f_std},
	{"ptp", f_ptp},
	{"average", f_weighted_average},
	{"nansum", f_nansum},
	{"nanmean", f_nanmean},
	{"nanvar", f_nanvar},
	{"nanmax", f_nanmax},
	{"nan_to_num", f_nan_to_num},
	{"diff", f_diff},
	{"ediff1d", f_ediff1d},
	{"gradient", f_gradient},
	{"trapezoid", f_trapezoid},
	{"median", f_median},
	{"median of an even number", f_median_of_even},
	{"quantile", f_quantile},
	{"cov", f_cov},
	{"corrcoef", f_corrcoef},
};

static void gradients_are_those_of_central_differences(void **state)
{
	(void)state;
	formula_expect_gradients(context, sizeof(rows) / sizeof(rows[0]), rows);
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void expect_error(const tn_array *result, tn_status status, const char *operation,
			 const char *words)
{
	assert_refused(context, result, status, operation, words);
}

static void reductions_name_what_they_refuse(void **state)
{
	tn_array *x = matrix(TN_F32, 2, 3), *z = tn_astype(x, TN_C64), *none = line(TN_F32, 0);
	(void)state;
	expect_error(tn_any(x, 1, (int[]){2}, 0), TN_INVALID_ARGUMENT, "any", "found 2");
	expect_error(tn_all(x, 2, (int[]){1, -1}, 0), TN_INVALID_ARGUMENT, "all", "twice");
	expect_error(tn_var(x, 1, NULL, 0, 0), TN_INVALID_ARGUMENT, "var", "NULL");
	expect_error(tn_std(x, -2, NULL, 0, 0), TN_INVALID_ARGUMENT, "std", "-2");
	expect_error(tn_ptp(z, 1, last, 0), TN_DTYPE, "ptp", "c64");
	expect_error(tn_ptp(tn_astype(x, TN_BOOL), 1, last, 0), TN_DTYPE, "ptp", "bool");
	expect_error(tn_ptp(none, 1, last, 0), TN_SHAPE, "ptp", "(0,)");
	expect_error(tn_nanmax(none, 1, last, 0), TN_SHAPE, "nanmax", "(0,)");
	expect_error(tn_nanmin(z, 1, last, 0), TN_DTYPE, "nanmin", "c64");
	expect_error(tn_median(z, 1, last, 0), TN_DTYPE, "median", "c64");
	expect_error(tn_average(x, line(TN_F32, 2), 1, last, 0, NULL), TN_SHAPE, "average",
		     "found (2,)");
	expect_error(tn_average(x, line(TN_F32, 3), TN_ALL_AXES, NULL, 0, NULL), TN_SHAPE,
		     "average", "expected shape (2, 3)");
	assert_null(tn_var(NULL, 1, last, 0, 0));
	assert_null(tn_error(context));
}

static void quantiles_name_what_they_refuse(void **state)
{
	const tn_array *x = line(TN_F32, 4);
	const double half = 0.5, above = 1.5, nan = NAN;
	struct tn_quantile_options options = tn_quantile_defaults();
	(void)state;
	expect_error(tn_quantile(x, TN_SCALAR, &above, NULL), TN_INVALID_ARGUMENT, "quantile",
		     "[0, 1], found 1.5");
	expect_error(tn_percentile(x, TN_SCALAR, &nan, NULL), TN_INVALID_ARGUMENT, "percentile",
		     "[0, 100], found nan");
	expect_error(tn_quantile(x, 0, &half, NULL), TN_INVALID_ARGUMENT, "quantile", "found 0");
	expect_error(tn_quantile(x, TN_SCALAR, NULL, NULL), TN_INVALID_ARGUMENT, "quantile",
		     "q is NULL");
	expect_error(tn_quantile(line(TN_F32, 0), 1, &half, NULL), TN_SHAPE, "quantile", "(0,)");
	expect_error(tn_quantile(tn_astype(x, TN_BOOL), 1, &half, NULL), TN_DTYPE, "quantile",
		     "linear, found bool");
	options.method = 13;
	expect_error(tn_quantile(x, 1, &half, &options), TN_INVALID_ARGUMENT, "quantile",
		     "found 13");
	options = tn_quantile_defaults();
	options.n_axes = 1;
	expect_error(tn_quantile(x, 1, &half, &options), TN_INVALID_ARGUMENT, "quantile", "NULL");
	options.struct_size = 0;
	expect_error(tn_quantile(x, 1, &half, &options), TN_INVALID_ARGUMENT, "quantile",
		     "struct tn_quantile_options");
}

static void differences_name_what_they_refuse(void **state)
{
	tn_array *x = line(TN_F32, 2), *truth = tn_astype(x, TN_BOOL);
	(void)state;
	expect_error(tn_diff(x, -1, 0), TN_INVALID_ARGUMENT, "diff", "found -1");
	expect_error(tn_diff(tn_scalar_f32(context, 1), 1, 0), TN_INVALID_ARGUMENT, "diff",
		     "a 0-d array");
	expect_error(tn_ediff1d(truth, NULL, NULL), TN_DTYPE, "ediff1d", "bool");
	expect_error(tn_ediff1d(line(TN_I32, 2), x, NULL), TN_DTYPE, "ediff1d", "to_end");
	expect_error(tn_gradient(x, 1, 0, 2), TN_SHAPE, "gradient", "at least 3");
	expect_error(tn_gradient(x, 1, 0, 3), TN_INVALID_ARGUMENT, "gradient", "found 3");
	expect_error(tn_gradient(x, 0, 0, 1), TN_INVALID_ARGUMENT, "gradient", "spacing");
	expect_error(tn_gradient(truth, 1, 0, 1), TN_DTYPE, "gradient", "bool");
	expect_error(tn_trapezoid(x, line(TN_F32, 3), 1, 0), TN_SHAPE, "trapezoid", "found (3,)");
	expect_error(tn_trapezoid(x, NULL, 1, 1), TN_INVALID_ARGUMENT, "trapezoid", "found 1");
}

static void counts_name_what_they_refuse(void **state)
{
	tn_array *x = line(TN_F32, 4), *z = tn_astype(x, TN_C64), *i = line(TN_I32, 4);
	(void)state;
	expect_error(tn_searchsorted(matrix(TN_F32, 2, 2), x, 0, NULL), TN_SHAPE, "searchsorted",
		     "(2, 2)");
	expect_error(tn_searchsorted(x, z, 0, NULL), TN_DTYPE, "searchsorted", "c64");
	expect_error(tn_searchsorted(x, x, 0, line(TN_I64, 3)), TN_SHAPE, "searchsorted",
		     "found (3,)");
	expect_error(tn_digitize(x, z, 0), TN_DTYPE, "digitize", "bins");
	expect_error(tn_bincount(x, NULL, 0), TN_DTYPE, "bincount", "f32");
	expect_error(tn_bincount(tn_negative(i), NULL, 0), TN_INVALID_ARGUMENT, "bincount",
		     "found -3");
	expect_error(tn_bincount(i, NULL, -1), TN_INVALID_ARGUMENT, "bincount", "found -1");
	expect_error(tn_bincount(i, line(TN_F32, 3), 0), TN_SHAPE, "bincount", "found (3,)");
	expect_error(tn_bincount(matrix(TN_I32, 2, 2), NULL, 0), TN_SHAPE, "bincount", "(2, 2)");
}

/* There is no array with a count for each. */
static void extreme_values_are_not_counted(void **state)
{
	const struct {
		tn_dtype dtype;
		tn_number value;
		tn_status status;
		const char *found;
	} cases[] = {
		{TN_I64, tn_number_i64(INT64_MAX), TN_LIMIT, "9223372036854775807"},
		{TN_I64, tn_number_i64(INT64_MIN), TN_INVALID_ARGUMENT, "-9223372036854775808"},
		{TN_U64, tn_number_u64(INT64_MAX), TN_LIMIT, "9223372036854775807"},
		{TN_U64, tn_number_u64(UINT64_MAX), TN_LIMIT, "9223372036854775807"},
	};
	const int64_t one = 1;
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const tn_array *x =
			tn_full_number(context, cases[i / 2].dtype, 1, &one, cases[i / 2].value);
		expect_error(tn_bincount(x, i % 2 ? line(TN_F64, 1) : NULL, 0), cases[i / 2].status,
			     "bincount", cases[i / 2].found);
	}
}

static tn_array *histogram(const tn_array *a, int64_t n_bins, const double *range)
{
	struct tn_histogram_options options = tn_histogram_defaults();
	options.n_bins = n_bins;
	options.range = range;
	return tn_histogram(a, &options, NULL);
}

static void histograms_name_what_they_refuse(void **state)
{
	tn_array *x = line(TN_F32, 4), *z = tn_astype(x, TN_C64);
	struct tn_histogram_options options = tn_histogram_defaults();
	(void)state;
	expect_error(histogram(x, 0, NULL), TN_INVALID_ARGUMENT, "histogram",
		     "n_bins: expected 1 or more, found 0");
	expect_error(histogram(x, 2, (double[]){2, 1}), TN_INVALID_ARGUMENT, "histogram",
		     "2 and 1");
	expect_error(histogram(z, 2, NULL), TN_DTYPE, "histogram", "c64");
	options.edges = line(TN_F32, 1);
	expect_error(tn_histogram(x, &options, NULL), TN_SHAPE, "histogram",
		     "edges: expected 2 or more, found 1");
	options.weights = line(TN_F32, 3);
	expect_error(tn_histogram(x, &options, NULL), TN_SHAPE, "histogram",
		     "weights: expected shape (4,), found (3,)");
	options.struct_size = 0;
	expect_error(tn_histogram(x, &options, NULL), TN_INVALID_ARGUMENT, "histogram",
		     "struct tn_histogram_options");
	expect_error(tn_histogram_bin_edges(x, 8, NULL), TN_INVALID_ARGUMENT, "histogram_bin_edges",
		     "rule: expected 0 to 7, found 8");
	expect_error(tn_histogram_bin_edges(tn_log(tn_negative(x)), 0, NULL), TN_INVALID_ARGUMENT,
		     "histogram_bin_edges", "a: expected finite numbers");
	expect_error(tn_histogram_bin_edges(x, 0, (double[]){2, 1}), TN_INVALID_ARGUMENT,
		     "histogram_bin_edges", "2 and 1");
	expect_error(tn_histogram_bin_edges(z, 0, NULL), TN_DTYPE, "histogram_bin_edges", "c64");
	expect_error(tn_cov(x, line(TN_F32, 3), 1, 1, NULL, NULL), TN_SHAPE, "cov", "found 3");
	expect_error(tn_cov(x, NULL, 1, 1, x, NULL), TN_DTYPE, "cov", "fweights");
	expect_error(tn_cov(x, NULL, 1, 1, NULL, line(TN_F32, 3)), TN_SHAPE, "cov", "aweights");
	expect_error(tn_corrcoef(tn_expand_dims(matrix(TN_F32, 2, 2), 0), NULL, 1), TN_SHAPE,
		     "corrcoef", "x: expected at most 2 axes, found shape (1, 2, 2)");
}

/* Of points, with one thing that is wrong. */
static tn_array *histogramdd(const tn_array *sample, const int64_t *n_bins, const double *ranges,
			     const tn_array *weights)
{
	struct tn_histogramdd_options options = tn_histogramdd_defaults();
	options.n_bins = n_bins;
	options.ranges = ranges;
	options.weights = weights;
	return tn_histogramdd(sample, &options, NULL);
}

static void histograms_of_points_name_what_they_refuse(void **state)
{
	tn_array *x = line(TN_F32, 4), *points = matrix(TN_F32, 4, 2), *made[2] = {x, x};
	const tn_array *edges[] = {x, line(TN_F32, 1)};
	struct tn_histogramdd_options options = tn_histogramdd_defaults();
	(void)state;
	expect_error(histogramdd(x, NULL, NULL, NULL), TN_SHAPE, "histogramdd",
		     "sample: expected shape (points, 1 to 16), found (4,)");
	expect_error(histogramdd(points, NULL, (double[]){1, 0, 0, 1}, NULL), TN_INVALID_ARGUMENT,
		     "histogramdd", "ranges[0]: expected two finite numbers");
	expect_error(histogramdd(points, NULL, NULL, line(TN_F32, 3)), TN_SHAPE, "histogramdd",
		     "weights: expected shape (4,), found (3,)");
	expect_error(histogramdd(tn_astype(points, TN_C64), NULL, NULL, NULL), TN_DTYPE,
		     "histogramdd", "c64");
	expect_error(tn_histogram2d(x, line(TN_F32, 3), NULL, NULL), TN_SHAPE, "histogram2d",
		     "found (4,) and (3,)");
	options.n_bins = (const int64_t[]){2, 0};
	expect_error(tn_histogramdd(points, &options, made), TN_INVALID_ARGUMENT, "histogramdd",
		     "n_bins[1]: expected 1 or more, found 0");
	assert_null(made[0]);
	options.edges = edges;
	expect_error(tn_histogramdd(points, &options, NULL), TN_SHAPE, "histogramdd",
		     "edges[1]: expected 2 or more, found 1");
	edges[1] = NULL;
	expect_error(tn_histogramdd(points, &options, NULL), TN_INVALID_ARGUMENT, "histogramdd",
		     "NULL");
	options.struct_size = 0;
	expect_error(tn_histogramdd(points, &options, NULL), TN_INVALID_ARGUMENT, "histogramdd",
		     "struct tn_histogramdd_options");
}

static void weights_that_want_a_gradient_are_refused(void **state)
{
	tn_array *x = line(TN_I32, 4), *weights = line(TN_F64, 4);
	(void)state;
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, weights));
	tn_array *result = tn_bincount(x, weights, 0);
	tn_tape_end(tape);
	expect_error(result, TN_STATE, "bincount", "");
}

/* ---- bf16, which NumPy lacks -----------------------------------------------------------------*/

static void expect_equal(const tn_array *narrow, const tn_array *wide)
{
	double largest;
	assert_int_equal(tn_array_dtype(narrow), TN_BF16);
	const tn_array *difference =
		tn_subtract(tn_astype(narrow, TN_F32), tn_astype(tn_astype(wide, TN_BF16), TN_F32));
	assert_ok(tn_item(tn_max(tn_abs(difference), TN_ALL_AXES, NULL, 0), &largest));
	assert_close(largest, 0, 0);
}

static void results_in_bf16_are_rounded_from_f32(void **state)
{
	const tn_array *wide = tn_astype(
		tn_astype(tn_random_normal(context, 2, (int64_t[]){4, 9}, 0, 3), TN_BF16), TN_F32);
	const tn_array *narrow = tn_astype(wide, TN_BF16);
	tn_array *wide_edges, *narrow_edges;
	double q[] = {0.1, 0.5, 0.77};
	(void)state;
	expect_equal(tn_var(narrow, 1, last, 1, 0), tn_var(wide, 1, last, 1, 0));
	expect_equal(tn_nanstd(narrow, 1, last, 1, 0), tn_nanstd(wide, 1, last, 1, 0));
	expect_equal(tn_median(narrow, 1, last, 0), tn_median(wide, 1, last, 0));
	expect_equal(tn_quantile(narrow, 3, q, NULL), tn_quantile(wide, 3, q, NULL));
	expect_equal(tn_diff(narrow, 1, 1), tn_diff(wide, 1, 1));
	assert_non_null(tn_histogram(wide, NULL, &wide_edges));
	assert_non_null(tn_histogram(narrow, NULL, &narrow_edges));
	expect_equal(narrow_edges, wide_edges);
}

/* ---- Second results --------------------------------------------------------------------------*/

static void second_results_live_in_the_callers_scope(void **state)
{
	tn_array *x = matrix(TN_F32, 2, 3), *sums, *edges;
	struct tn_histogram_options options = tn_histogram_defaults();
	double value;
	options.n_bins = 5;
	(void)state;
	tn_array *average = tn_average(x, line(TN_F32, 3), 1, last, 0, &sums);
	tn_array *counts = tn_histogram(x, &options, &edges);
	assert_ok(tn_item(tn_sum(average, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 5.0 / 3 + 14.0 / 3, 1e-6);
	assert_ok(tn_item(tn_sum(sums, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 6, 0);
	assert_ok(tn_item(tn_sum(counts, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 6, 0);
	assert_ok(tn_item(tn_sum(edges, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 15, 0);
	options.edges = edges;
	edges = NULL;
	assert_non_null(tn_histogram(x, &options, &edges));
	assert_true(edges != options.edges);
	assert_ok(tn_item(tn_sum(edges, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 15, 0);
	sums = edges = x;
	assert_null(tn_average(x, NULL, 1, (int[]){5}, 0, &sums));
	assert_null(sums);
	tn_error_clear(context);
	options.edges = NULL;
	options.n_bins = -1;
	assert_null(tn_histogram(x, &options, &edges));
	assert_null(edges);
	tn_error_clear(context);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, context_setup, context_teardown)
	const struct CMUnitTest tests[] = {
		TEST(gradients_are_those_of_central_differences),
		TEST(reductions_name_what_they_refuse),
		TEST(quantiles_name_what_they_refuse),
		TEST(differences_name_what_they_refuse),
		TEST(counts_name_what_they_refuse),
		TEST(extreme_values_are_not_counted),
		TEST(histograms_name_what_they_refuse),
		TEST(histograms_of_points_name_what_they_refuse),
		TEST(weights_that_want_a_gradient_are_refused),
		TEST(results_in_bf16_are_rounded_from_f32),
		TEST(second_results_live_in_the_callers_scope),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
