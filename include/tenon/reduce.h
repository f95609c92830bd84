/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NumPy's reductions with their options: which elements count, an element more, the dtype.  The
 * reductions without are those of array.h and statistics.h, whose conventions hold here too.
 *
 * Gradients are those of the operations that a function is composed of; nothing waits for the
 * device.
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_REDUCE_H
#define TENON_REDUCE_H

#include <string.h>

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Options ---------------------------------------------------------------------------------*/

enum {
	TN_REDUCER_SUM = 0,
	TN_REDUCER_PROD = 1,
	TN_REDUCER_MEAN = 2,
	TN_REDUCER_VAR = 3,
	TN_REDUCER_STD = 4,
	TN_REDUCER_MAX = 5,
	TN_REDUCER_MIN = 6,
	TN_REDUCER_ANY = 7,
	TN_REDUCER_ALL = 8,
	TN_REDUCER_COUNT_NONZERO = 9,
};

/* Members that are 0 or NULL change nothing. */
struct tn_reduce_options {
	uint32_t struct_size;
	int keepdims;
	/* bool, of a shape that broadcasts to a's: elements where it is false do not count, and
	 * have no gradient. */
	const tn_array *where;
	/* An element more of every result: a sum, product, maximum or minimum begins with it.
	 * Converted to the result's dtype. */
	tn_number initial;
	/* Elements are converted to it first, and the result has it: of sums and products, if it is
	 * floating or complex of means, if floating of variances and standard deviations. */
	tn_dtype dtype;
	double correction; /* of variances and standard deviations; NumPy's ddof */
};
static inline struct tn_reduce_options tn_reduce_defaults(void)
{
	struct tn_reduce_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* The reduction TN_REDUCER_* of a over n axes (TN_ALL_AXES), as tn_sum, tn_prod, tn_mean, tn_var,
 * tn_std, tn_max, tn_min, tn_any, tn_all and tn_count_nonzero.  options may be NULL.  Where no
 * element counts a mean is NaN, and so is a variance without a positive divisor, or infinite.
 * TN_INVALID_ARGUMENT: there is no such reducer, an option is not for it, or max and min have a
 * `where` and no initial; an initial integer does not fit.  TN_SHAPE: where does not broadcast to
 * a; a maximum or minimum of no elements has no initial.  TN_DTYPE: where is not bool; dtype is
 * another; max or min of complex. */
TN_API tn_array *tn_reduce(const tn_array *a, uint32_t reducer, int n, const int *axes,
			   const struct tn_reduce_options *options);

/* ---- Running sums and products ---------------------------------------------------------------
 * Along an axis, or with TN_AXIS_NONE of all elements in row-major order. */

/* tn_cumsum and tn_cumprod in the forms of the Python array API.  dtype 0: that of tn_cumsum; else
 * elements are converted to it first, and the result has it.  With include_initial the sums begin
 * with 0, the products with 1, and are one longer.  TN_DTYPE: there is no such dtype. */
TN_API tn_array *tn_cumulative_sum(const tn_array *a, int axis, tn_dtype dtype,
				   int include_initial);
TN_API tn_array *tn_cumulative_prod(const tn_array *a, int axis, tn_dtype dtype,
				    int include_initial);

/* log sum exp of the elements so far, without overflow, in as many steps as the length of the axis
 * has bits.  TN_DTYPE: not floating. */
TN_API tn_array *tn_logcumsumexp(const tn_array *a, int axis);

#ifdef __cplusplus
}
#endif
#endif
