/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions and statistics: NumPy's names and rules, composed of the operations of array.h.
 *
 * The conventions are those of array.h: `axes` lists n axes, n = TN_ALL_AXES means all, keepdims
 * keeps reduced axes with length 1; NULL in gives NULL out, and the context keeps the first error.
 * Nothing but tn_bincount and tn_histogram_bin_edges waits for the device.  Gradients are those of
 * the operations that a function is composed of.  Errors that many have:
 *   TN_INVALID_ARGUMENT  there is no such axis, or it is given twice
 *   TN_DTYPE             the function does not take that dtype
 *   TN_SHAPE             shapes do not fit, or there are too few elements
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_STATISTICS_H
#define TENON_STATISTICS_H

#include <string.h>

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Truth -----------------------------------------------------------------------------------
 * Of any dtype; an element is true unless it is 0, and NaN is true. */

/* bool: is any, is every element true?  Over no elements: no, and yes. */
TN_API tn_array *tn_any(const tn_array *a, int n, const int *axes, int keepdims);
TN_API tn_array *tn_all(const tn_array *a, int n, const int *axes, int keepdims);
/* i64: how many are true. */
TN_API tn_array *tn_count_nonzero(const tn_array *a, int n, const int *axes, int keepdims);

/* ---- Means and spread ------------------------------------------------------------------------
 * Floating and complex arrays keep their dtype, and of integers and bool the result is f64; f16 and
 * bf16 are computed in f32. */

/* sum |a - mean|^2 / max(N - correction, 0) over N elements, in two passes, and its square root;
 * real also of complex numbers.  NumPy's default for the correction, its ddof, is 0.  With a
 * divisor of 0 the result is NaN or infinite. */
TN_API tn_array *tn_var(const tn_array *a, int n, const int *axes, double correction, int keepdims);
TN_API tn_array *tn_std(const tn_array *a, int n, const int *axes, double correction, int keepdims);
/* max - min, in a's dtype, in which integers wrap.  TN_DTYPE: bool or complex.  TN_SHAPE: over no
 * elements. */
TN_API tn_array *tn_ptp(const tn_array *a, int n, const int *axes, int keepdims);
/* NumPy's average: sum weights a / sum weights, in the common dtype of both, and of f64 if `a` is
 * an integer or bool.  weights has a's shape, or, with listed axes, their lengths in their order
 * (TN_SHAPE); NULL: the mean.  *sum_of_weights, unless sum_of_weights is NULL, receives the
 * divisors, in the shape of the result (NULL on failure).  Weights that add up to 0 give NaN or
 * infinity, where NumPy fails. */
TN_API tn_array *tn_average(const tn_array *a, const tn_array *weights, int n, const int *axes,
			    int keepdims, tn_array **sum_of_weights);

/* ---- Without NaN -----------------------------------------------------------------------------
 * The reductions of these names without the elements that are NaN; integers and bool have none.  A
 * complex number is NaN if one of its parts is. */

TN_API tn_array *tn_nansum(const tn_array *a, int n, const int *axes, int keepdims);
TN_API tn_array *tn_nanprod(const tn_array *a, int n, const int *axes, int keepdims);
/* NaN where no element is left. */
TN_API tn_array *tn_nanmean(const tn_array *a, int n, const int *axes, int keepdims);
/* NaN where no element is left.  TN_DTYPE: complex.  TN_SHAPE: over no elements. */
TN_API tn_array *tn_nanmax(const tn_array *a, int n, const int *axes, int keepdims);
TN_API tn_array *tn_nanmin(const tn_array *a, int n, const int *axes, int keepdims);
/* As tn_var and tn_std, but NaN where no more elements are left than the correction. */
TN_API tn_array *tn_nanvar(const tn_array *a, int n, const int *axes, double correction,
			   int keepdims);
TN_API tn_array *tn_nanstd(const tn_array *a, int n, const int *axes, double correction,
			   int keepdims);
/* The running sums and products along the axis (TN_AXIS_NONE: of all elements in row-major order)
 * with 0, or 1, for NaN. */
TN_API tn_array *tn_nancumsum(const tn_array *a, int axis);
TN_API tn_array *tn_nancumprod(const tn_array *a, int axis);
/* A copy with `nan` for NaN, *posinf for infinity and *neginf for -infinity; NULL: the largest
 * finite number of the dtype, and its negative.  Each part of a complex number by itself. */
TN_API tn_array *tn_nan_to_num(const tn_array *a, double nan, const double *posinf,
			       const double *neginf);

/* ---- Neighbours along an axis ----------------------------------------------------------------
 * Axes below 0 count from the end. */

/* a[i + 1] - a[i], n times; of bool whether they differ.  tn_concatenate puts NumPy's prepend and
 * append around `a`.  TN_INVALID_ARGUMENT: n is below 0. */
TN_API tn_array *tn_diff(const tn_array *a, int64_t n, int axis);
/* The differences of all elements as a line, after to_begin and before to_end, which may be NULL.
 * TN_DTYPE: bool, or an end's kind is above a's. */
TN_API tn_array *tn_ediff1d(const tn_array *a, const tn_array *to_end, const tn_array *to_begin);
/* The derivative along the axis, whose elements are `spacing` apart: (a[i + 1] - a[i - 1]) /
 * (2 spacing), and at the ends differences of that order, 1 or 2.  Integers give f64.
 * TN_SHAPE: fewer than edge_order + 1 elements.  TN_DTYPE: bool.
 * TN_INVALID_ARGUMENT: another edge_order, or spacing 0. */
TN_API tn_array *tn_gradient(const tn_array *a, double spacing, int axis, int edge_order);
/* The integral along the axis, which is removed, by the trapezoidal rule: sum (x[i + 1] - x[i])
 * (y[i] + y[i + 1]) / 2.  x has y's shape, or is a line along the axis (TN_SHAPE); NULL: elements
 * are dx apart. */
TN_API tn_array *tn_trapezoid(const tn_array *y, const tn_array *x, double dx, int axis);

/* ---- Order statistics ------------------------------------------------------------------------
 * NaN where a line has one.  The places are computed by the host in f64.  TN_DTYPE: complex. */

/* The middle element, or the mean of the two; integers and bool give f64.  NaN over no elements. */
TN_API tn_array *tn_median(const tn_array *a, int n, const int *axes, int keepdims);

/* NumPy's methods, by their names there.  The discrete ones give elements, in a's dtype; the others
 * interpolate, with a result of f64 for integers. */
enum {
	TN_QUANTILE_LINEAR = 0,       /* NumPy's default */
	TN_QUANTILE_INVERTED_CDF = 1, /* discrete */
	TN_QUANTILE_AVERAGED_INVERTED_CDF = 2,
	TN_QUANTILE_CLOSEST_OBSERVATION = 3, /* discrete */
	TN_QUANTILE_INTERPOLATED_INVERTED_CDF = 4,
	TN_QUANTILE_HAZEN = 5,
	TN_QUANTILE_WEIBULL = 6,
	TN_QUANTILE_MEDIAN_UNBIASED = 7,
	TN_QUANTILE_NORMAL_UNBIASED = 8,
	TN_QUANTILE_LOWER = 9,   /* discrete */
	TN_QUANTILE_HIGHER = 10, /* discrete */
	TN_QUANTILE_MIDPOINT = 11,
	TN_QUANTILE_NEAREST = 12, /* discrete */
};

/* In place of a number of quantiles: q points to one, and the result has no axis for it. */
enum { TN_SCALAR = -1 };

struct tn_quantile_options {
	uint32_t struct_size;
	uint32_t method; /* TN_QUANTILE_... */
	int n_axes;      /* default TN_ALL_AXES */
	int keepdims;    /* 1: the reduced axes remain with length 1 */
	const int *axes;
};
static inline struct tn_quantile_options tn_quantile_defaults(void)
{
	struct tn_quantile_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.n_axes = TN_ALL_AXES;
	return options;
}

/* For each of n_q >= 1 numbers q in [0, 1], along a new first axis, the element below which a share
 * q of the others lies; a percentile is the same for q / 100.  With n_q = TN_SCALAR, of the one *q,
 * without that axis.  options may be NULL.  TN_INVALID_ARGUMENT: q is outside, or there is no such
 * method.  TN_SHAPE: over no elements.  TN_DTYPE: bool with a method that interpolates. */
TN_API tn_array *tn_quantile(const tn_array *a, int64_t n_q, const double *q,
			     const struct tn_quantile_options *options);
TN_API tn_array *tn_percentile(const tn_array *a, int64_t n_q, const double *q,
			       const struct tn_quantile_options *options);

/* The same of the elements that are not NaN; NaN where there is none. */
TN_API tn_array *tn_nanmedian(const tn_array *a, int n, const int *axes, int keepdims);
TN_API tn_array *tn_nanquantile(const tn_array *a, int64_t n_q, const double *q,
				const struct tn_quantile_options *options);
TN_API tn_array *tn_nanpercentile(const tn_array *a, int64_t n_q, const double *q,
				  const struct tn_quantile_options *options);

/* ---- Covariance ------------------------------------------------------------------------------
 * f64, or c128 of complex arrays.  The arrays have at most 2 axes (TN_SHAPE): a row for each
 * variable, or with rowvar 0 a column; y, which may be NULL, has more variables.  Results have no
 * axes of length 1: of one variable they are 0-d. */

/* sum (m_i - mean m_i) conj(m_j - mean m_j) / max(N - ddof, 0) over N observations; NumPy's default
 * ddof is 1.  fweights (integers, how often) and aweights (how much) have one number of 0 or more
 * for each observation, or are NULL.  TN_SHAPE: the numbers of observations differ. */
TN_API tn_array *tn_cov(const tn_array *m, const tn_array *y, int rowvar, double ddof,
			const tn_array *fweights, const tn_array *aweights);
/* The covariances divided by both standard deviations, in [-1, 1]. */
TN_API tn_array *tn_corrcoef(const tn_array *x, const tn_array *y, int rowvar);

/* ---- Counting --------------------------------------------------------------------------------
 * Nothing here has a gradient: weights that require one are TN_STATE.  TN_DTYPE: complex. */

/* i64, in v's shape: the first place in the line `a`, which is sorted, where v would keep the
 * order, or with `right` the last one; NaN is the greatest.  sorter, unless it is NULL, has the
 * indices that sort `a`, as tn_argsort gives them. */
TN_API tn_array *tn_searchsorted(const tn_array *a, const tn_array *v, int right,
				 const tn_array *sorter);
/* i64, in x's shape: the i for which bins[i - 1] <= x < bins[i], or with `right` bins[i - 1] < x <=
 * bins[i]; the same for bins in descending order.  Bins in no order give any places. */
TN_API tn_array *tn_digitize(const tn_array *x, const tn_array *bins, int right);
/* i64: how often each of 0, 1, ... is in the line x, up to its largest element and at least for
 * minlength numbers; or f64, the sums of the weights, which have x's shape.  The length depends on
 * the values: this waits for the device.  TN_INVALID_ARGUMENT: an element or minlength is below 0.
 * TN_DTYPE: x is neither of integers nor of bool.  TN_LIMIT: an element is so large that an array
 * cannot count up to it. */
TN_API tn_array *tn_bincount(const tn_array *x, const tn_array *weights, int64_t minlength);

struct tn_histogram_options {
	uint32_t struct_size;
	int density;             /* 1: a probability density, whose integral is 1 */
	int64_t n_bins;          /* intervals of equal length; default 10 */
	const double *range;     /* where they begin and end; NULL: at a's extremes */
	const tn_array *edges;   /* 2 or more in ascending order, in place of n_bins and range */
	const tn_array *weights; /* in a's shape; NULL: each element counts 1 */
};
static inline struct tn_histogram_options tn_histogram_defaults(void)
{
	struct tn_histogram_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.n_bins = 10;
	return options;
}

/* How many elements of `a`, of any shape, are in each interval between two neighbouring edges.  It
 * has its lower edge, the last one also its upper edge.  Counts are i64; with weights, sums in
 * their dtype; a density is f64.  *edges, unless edges is NULL, receives the edges; those at equal
 * distances are in a's dtype, f64 for integers (NULL on failure).  options may be NULL.  NaN and
 * infinity without a range, an error in NumPy, give edges that are NaN and no counts of use.
 * TN_INVALID_ARGUMENT: n_bins is below 1, the range not finite or descending, or the bins so narrow
 * that edges would be equal, reported as tn_take reports indices.  TN_SHAPE: fewer than 2 edges, or
 * weights of another shape. */
TN_API tn_array *tn_histogram(const tn_array *a, const struct tn_histogram_options *options,
			      tn_array **edges);

struct tn_histogramdd_options {
	uint32_t struct_size;
	int density;
	const int64_t *n_bins;        /* for each axis; NULL: 10 along every one */
	const double *ranges;         /* two numbers for each axis; NULL: its extremes */
	const tn_array *const *edges; /* for each axis, in place of n_bins and ranges */
	const tn_array *weights;      /* one number for each point */
};
static inline struct tn_histogramdd_options tn_histogramdd_defaults(void)
{
	struct tn_histogramdd_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* Histograms of points: sample has shape (points, n), n at most 16, and the result, f64, an axis
 * for each of n coordinates.  The rest is as for tn_histogram; edges, unless NULL, has room for n
 * arrays. */
TN_API tn_array *tn_histogramdd(const tn_array *sample,
				const struct tn_histogramdd_options *options, tn_array **edges);
/* The same of the points (x[i], y[i]) of two lines. */
TN_API tn_array *tn_histogram2d(const tn_array *x, const tn_array *y,
				const struct tn_histogramdd_options *options, tn_array **edges);

/* NumPy's estimators of a histogram's bins, by their names there. */
enum {
	TN_BINS_AUTO = 0,
	TN_BINS_FD = 1, /* Freedman and Diaconis: the quartiles */
	TN_BINS_DOANE = 2,
	TN_BINS_SCOTT = 3,
	TN_BINS_STONE = 4, /* the best of many histograms */
	TN_BINS_RICE = 5,
	TN_BINS_STURGES = 6,
	TN_BINS_SQRT = 7,
};

/* The edges of a histogram whose number of bins the rule TN_BINS_* finds from the values, which are
 * those in the range if there is one; f64 for integers.  Waits for the device.
 * TN_INVALID_ARGUMENT: no such rule, a range as above, or values that are not finite. */
TN_API tn_array *tn_histogram_bin_edges(const tn_array *a, uint32_t rule, const double *range);

#ifdef __cplusplus
}
#endif
#endif
