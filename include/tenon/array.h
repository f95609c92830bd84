/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays: NumPy's names and rules, on the device of their context.
 *
 * Shapes have up to 16 axes; strides are in elements.  Broadcasting follows NumPy, and so do the
 * dtypes of results (NumPy 2, NEP 50); tn_array(3) lists them with every departure.  An array that
 * a function makes belongs to the innermost open scope of its context (counted: tn_keep,
 * tn_array_destroy).  Array arguments are borrowed.  On failure a function returns NULL and the
 * context keeps the error:
 *   TN_SHAPE   shapes do not match     TN_DTYPE    dtypes do not match
 *   TN_DEVICE  operands are on different devices or in different contexts
 *   TN_OUT_OF_MEMORY, TN_UNSUPPORTED (TENON_FALLBACK forbids the only route), TN_BACKEND_FAILURE,
 *   TN_DEVICE_LOST, TN_FORKED.
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 *
 * In place: an output may overlap inputs in any way; the result is as if they had been read before.
 * It must not address an element twice, as a broadcast view does (TN_INVALID_ARGUMENT).  While a
 * tape records, functions that write to an existing array reject inputs that require a derivative
 * (TN_STATE), because the write could not be recorded; the version of a storage detects changes of
 * a saved array.
 */
#ifndef TENON_ARRAY_H
#define TENON_ARRAY_H

#include <tenon/context.h>
#include <tenon/number.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Making arrays ---------------------------------------------------------------------------*/

/* Uninitialised, zeros, ones, or `value` converted to dtype, on the current device.  shape has
 * `rank` lengths of 0 or more; an array of rank 0 has a single element. */
TN_API tn_array *tn_empty(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape);
TN_API tn_array *tn_zeros(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape);
TN_API tn_array *tn_ones(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape);
TN_API tn_array *tn_full(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape,
			 double value);
TN_API tn_array *tn_full_number(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape,
				tn_number value);
/* 0-d, of dtype f32. */
TN_API tn_array *tn_scalar_f32(tn_context *context, float value);
/* start, start + step, ... below stop (above, for a negative step): ceil((stop - start) / step).
 * TN_INVALID_ARGUMENT: the step is 0, or an element does not fit the dtype, an integer. */
TN_API tn_array *tn_arange(tn_context *context, tn_dtype dtype, double start, double stop,
			   double step);
/* The same, computed in integers if all three numbers are: exact up to the ends of i64 and u64.
 * TN_INVALID_ARGUMENT: the step is 0, or an element does not fit the dtype. */
TN_API tn_array *tn_arange_number(tn_context *context, tn_dtype dtype, tn_number start,
				  tn_number stop, tn_number step);
/* A copy of compact row-major host data. */
TN_API tn_array *tn_from_host(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape,
			      const void *data);

/* f32 from the context's random state: uniform in [low, high), or normal with mean and standard
 * deviation; the same bits on every backend.  Each call uses the next stream.  Parameters are
 * rounded to f32. */
TN_API tn_array *tn_random_uniform(tn_context *context, int rank, const int64_t *shape, double low,
				   double high);
TN_API tn_array *tn_random_normal(tn_context *context, int rank, const int64_t *shape, double mean,
				  double deviation);

/* Releases a reference: the array is freed with the last one; inside a scope it leaves the scope.
 * Takes NULL. */
TN_API void tn_array_destroy(tn_array *array);

/* ---- Queries ---------------------------------------------------------------------------------
 * These work while an error is kept.  NULL gives 0 or NULL. */

TN_API int tn_array_rank(const tn_array *array);
TN_API const int64_t *tn_array_shape(const tn_array *array);   /* borrowed, valid like the array */
TN_API const int64_t *tn_array_strides(const tn_array *array); /* borrowed, valid like the array */
TN_API int64_t tn_array_size(const tn_array *array);           /* elements */
TN_API tn_dtype tn_array_dtype(const tn_array *array);
TN_API tn_device *tn_array_device(const tn_array *array);
TN_API tn_context *tn_array_context(const tn_array *array);

/* ---- Between host and device -----------------------------------------------------------------*/

/* Writes all elements, compact and row-major, to `data` of exactly `size_bytes`; returns when they
 * have arrived.  TN_INVALID_ARGUMENT: another size.  Errors are kept by the context, as for all
 * functions below. */
TN_API TN_CHECKED tn_status tn_to_host(const tn_array *array, void *data, size_t size_bytes);
/* Overwrites all elements from compact row-major host data. */
TN_API tn_status tn_assign_host(tn_array *array, const void *data, size_t size_bytes);
/* The value of a one-element array as double; an i64 or u64 of more than 53 bits is rounded.
 * TN_SHAPE: more or fewer elements.  TN_DTYPE: complex. */
TN_API TN_CHECKED tn_status tn_item(const tn_array *array, double *value);
/* The same, exactly: i64 for bool and signed integers, u64, f64, or c128. */
TN_API TN_CHECKED tn_status tn_item_number(const tn_array *array, tn_number *value);
/* The array on another device of the same context (itself, referenced, if it is already there). */
TN_API tn_array *tn_to(const tn_array *array, tn_device *device);

/* ---- Copies and conversions ------------------------------------------------------------------*/

/* A compact, row-major copy. */
TN_API tn_array *tn_copy(const tn_array *a);
/* The array itself, referenced, if it is row-major without gaps; else such a copy. */
TN_API tn_array *tn_contiguous(const tn_array *a);
/* The same for images (N, C, H, W) in the channels-last layout; the shape does not change.
 * TN_SHAPE: the rank is not 4. */
TN_API tn_array *tn_channels_last(const tn_array *a);
/* Converted by the rules of the cast (tenon-program(7)); a copy even if the dtypes are equal. */
TN_API tn_array *tn_astype(const tn_array *a, tn_dtype dtype);
/* out[...] = a, broadcast and converted.  `out` may be a view. */
TN_API tn_status tn_assign(tn_array *out, const tn_array *a);
/* out[...] = value */
TN_API tn_status tn_fill(tn_array *out, double value);
TN_API tn_status tn_fill_number(tn_array *out, tn_number value);

/* In place of an axis, for functions that say so: all elements in row-major order. */
enum { TN_AXIS_NONE = INT32_MIN };

/* ---- Views: they share the storage -----------------------------------------------------------*/

/* One length may be -1.  A copy if the strides do not allow a view. */
TN_API tn_array *tn_reshape(const tn_array *a, int rank, const int64_t *shape);
/* Axis i of the result is axis axes[i] of a; axes NULL reverses them. */
TN_API tn_array *tn_transpose(const tn_array *a, const int *axes);
/* a[start:stop:step] along one axis, with Python's rules for negative and open ends (INT64_MIN). */
TN_API tn_array *tn_slice(const tn_array *a, int axis, int64_t start, int64_t stop, int64_t step);
TN_API tn_array *tn_broadcast_to(const tn_array *a, int rank, const int64_t *shape);
TN_API tn_array *tn_expand_dims(const tn_array *a, int axis);
TN_API tn_array *tn_squeeze(const tn_array *a, int axis); /* TN_SHAPE: its length is not 1 */
/* NumPy's: windows of `window[i]` along axes[i], appended as new last axes. */
TN_API tn_array *tn_sliding_window_view(const tn_array *a, int n, const int64_t *window,
					const int *axes);

/* ---- Element by element ----------------------------------------------------------------------
 * Each is one element program; <tenon/ufunc.h> has more.  The _into forms write to an existing
 * array of the broadcast shape. */

TN_API tn_array *tn_add(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_subtract(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_multiply(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_divide(const tn_array *a, const tn_array *b); /* integers give f64 */
/* Integers give integers, which wrap; an exponent below 0 gives 1 / a^-b truncated toward zero. */
TN_API tn_array *tn_power(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_maximum(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_minimum(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_equal(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_not_equal(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_less(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_less_equal(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_greater(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_greater_equal(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_where(const tn_array *condition, const tn_array *a, const tn_array *b);

/* out := a op b.  TN_SHAPE: the broadcast shape of a and b is not that of out.  TN_DTYPE: the
 * result's kind (bool, unsigned, signed, floating, in this order) is above that of out, as f32 is
 * above i32 (NumPy's casting="same_kind"); cast it by name with tn_astype and tn_assign. */
TN_API tn_status tn_add_into(tn_array *out, const tn_array *a, const tn_array *b);
TN_API tn_status tn_subtract_into(tn_array *out, const tn_array *a, const tn_array *b);
TN_API tn_status tn_multiply_into(tn_array *out, const tn_array *a, const tn_array *b);

TN_API tn_array *tn_negative(const tn_array *a);
TN_API tn_array *tn_abs(const tn_array *a);  /* of complex numbers real */
TN_API tn_array *tn_sign(const tn_array *a); /* of complex numbers a / |a| */
TN_API tn_array *tn_square(const tn_array *a);
TN_API tn_array *tn_sqrt(const tn_array *a);
TN_API tn_array *tn_exp(const tn_array *a);
TN_API tn_array *tn_log(const tn_array *a);
TN_API tn_array *tn_sin(const tn_array *a);
TN_API tn_array *tn_cos(const tn_array *a);
TN_API tn_array *tn_tanh(const tn_array *a);
TN_API tn_array *tn_erf(const tn_array *a);
TN_API tn_array *tn_sigmoid(const tn_array *a);
TN_API tn_array *tn_relu(const tn_array *a);
TN_API tn_array *tn_relu6(const tn_array *a);     /* min(max(a, 0), 6) */
TN_API tn_array *tn_silu(const tn_array *a);      /* a sigmoid(a) */
TN_API tn_array *tn_hardswish(const tn_array *a); /* a relu6(a + 3) / 6 */
TN_API tn_array *tn_gelu(const tn_array *a);      /* a (1 + erf(a / sqrt 2)) / 2 */
/* a (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))) / 2 */
TN_API tn_array *tn_gelu_tanh(const tn_array *a);
/* a where that is above 0, else negative_slope a; PyTorch's default slope is 0.01. */
TN_API tn_array *tn_leaky_relu(const tn_array *a, double negative_slope);
/* The same with slopes that are trained: weight has one element, or one per channel, axis 1.
 * TN_SHAPE. */
TN_API tn_array *tn_prelu(const tn_array *a, const tn_array *weight);
/* a where that is above 0, else alpha (exp(a) - 1), or for celu alpha (exp(a / alpha) - 1);
 * PyTorch's default alpha is 1.  TN_INVALID_ARGUMENT: celu with alpha 0. */
TN_API tn_array *tn_elu(const tn_array *a, double alpha);
TN_API tn_array *tn_celu(const tn_array *a, double alpha);
TN_API tn_array *tn_selu(const tn_array *a); /* 1.0507009873554805 elu(a, 1.6732632423543773) */
/* log(1 + exp(beta a)) / beta, or a where beta a is above the threshold; PyTorch's defaults are 1
 * and 20.  TN_INVALID_ARGUMENT: beta is 0. */
TN_API tn_array *tn_softplus(const tn_array *a, double beta, double threshold);
TN_API tn_array *tn_mish(const tn_array *a);        /* a tanh(log(1 + exp(a))) */
TN_API tn_array *tn_softsign(const tn_array *a);    /* a / (1 + |a|) */
TN_API tn_array *tn_log_sigmoid(const tn_array *a); /* log(sigmoid(a)), finite for any finite a */
TN_API tn_array *tn_hardsigmoid(const tn_array *a); /* relu6(a + 3) / 6 */
/* min(max(a, low), high), with a derivative of 0 at both; PyTorch's defaults are -1 and 1.
 * TN_INVALID_ARGUMENT: low is not below high. */
TN_API tn_array *tn_hardtanh(const tn_array *a, double low, double high);
TN_API tn_array *tn_floor(const tn_array *a);
TN_API tn_array *tn_ceil(const tn_array *a);
TN_API tn_array *tn_round(const tn_array *a); /* of complex numbers both parts */
/* Complex numbers: c64 has parts of f32, c128 of f64.  A real array is its own real part and
 * conjugate, and has an imaginary part of 0.  Parts are views, but for that one. */
TN_API tn_array *tn_complex(const tn_array *real, const tn_array *imaginary);
TN_API tn_array *tn_real(const tn_array *a);
TN_API tn_array *tn_imag(const tn_array *a);
TN_API tn_array *tn_conj(const tn_array *a);
TN_API tn_array *tn_angle(const tn_array *a); /* in radians, [-pi, pi] */
/* alpha * a + beta */
TN_API tn_array *tn_affine(const tn_array *a, double alpha, double beta);

/* A user's element program over n inputs: one output, of the inputs' broadcast shape.  The names of
 * the inputs and scalars are given in order; the output is the name assigned last:
 *
 *     tn_array *z = tn_map("z = a*x + y", 2, (const char *[]){"x", "y"},
 *                          (const tn_array *[]){x, y}, 1, (const char *[]){"a"}, (double[]){2.0});
 *
 * A recorded program of 16 inputs has no gradient, whose program would read one input more:
 * tn_tape_backward fails with TN_LIMIT.  TN_FORMAT: the text is not a valid program; the error
 * gives line, column and what was expected. */
TN_API tn_array *tn_map(const char *text, int n_inputs, const char *const *names,
			const tn_array *const *inputs, int n_scalars,
			const char *const *scalar_names, const double *scalars);
/* The same with scalars of the numbers' own dtypes: i64, u64, or floating as above.  TN_DTYPE: a
 * number is complex. */
TN_API tn_array *tn_map_number(const char *text, int n_inputs, const char *const *names,
			       const tn_array *const *inputs, int n_scalars,
			       const char *const *scalar_names, const tn_number *scalars);

/* ---- Reductions ------------------------------------------------------------------------------
 * Over the n axes in `axes` (negative ones count from the end); an empty list reduces nothing.  n =
 * TN_ALL_AXES means all axes; `axes` is then not read, and may be NULL, which for another n is
 * TN_INVALID_ARGUMENT.  With keepdims the reduced axes remain with length 1.  Sums and products of
 * bools and signed integers are i64, of unsigned ones u64, means of both f64; everything else has
 * a's dtype.  max and min propagate NaN.  Over no elements, a sum is 0, a product 1, a mean NaN, a
 * logsumexp -inf; max, min, argmax and argmin fail with TN_SHAPE. */

enum { TN_ALL_AXES = -1 };

TN_API tn_array *tn_sum(const tn_array *a, int n, const int *axes, int keepdims);
TN_API tn_array *tn_mean(const tn_array *a, int n, const int *axes, int keepdims);
TN_API tn_array *tn_prod(const tn_array *a, int n, const int *axes, int keepdims);
TN_API tn_array *tn_max(const tn_array *a, int n, const int *axes, int keepdims);
TN_API tn_array *tn_min(const tn_array *a, int n, const int *axes, int keepdims);
/* i64: the index of the first of equal elements, or of the first NaN, along one axis; TN_AXIS_NONE:
 * of all elements in row-major order. */
TN_API tn_array *tn_argmax(const tn_array *a, int axis, int keepdims);
TN_API tn_array *tn_argmin(const tn_array *a, int axis, int keepdims);
/* log sum exp, without overflow. */
TN_API tn_array *tn_logsumexp(const tn_array *a, int n, const int *axes, int keepdims);

/* ---- Products, indexing ----------------------------------------------------------------------*/

/* NumPy's matmul: the last two axes are matrices, the others broadcast; one-dimensional operands
 * are a row (a) and a column (b) whose axis is removed.  The result has their common dtype.  f16
 * and bf16 are summed in f32; integers wrap modulo 2^width; of bool, a sum is the logical or. */
TN_API tn_array *tn_matmul(const tn_array *a, const tn_array *b);
/* c := alpha op(a) op(b) + beta c; op transposes the last two axes if its flag is 1.  For integers
 * alpha and beta are whole numbers of at most 2^53, for bool 0 or 1 (TN_INVALID_ARGUMENT). */
TN_API tn_status tn_matmul_into(tn_array *c, const tn_array *a, int transpose_a, const tn_array *b,
				int transpose_b, double alpha, double beta);
/* What becomes of an index that is out of range. */
enum tn_bounds {
	TN_RAISE = 0, /* it is an error; where nothing else is said, one below 0 counts from the
			 end */
	TN_WRAP = 1,  /* its remainder modulo the length */
	TN_CLIP = 2,  /* the nearest one in range: 0 for those below 0 */
};

/* The elements of a at `indices`, integers of any dtype and shape, along one axis, which the axes
 * of indices replace; TN_AXIS_NONE: of a reshaped to one axis.  bounds (enum tn_bounds) is the rule
 * for indices that are out of range.  TN_INVALID_ARGUMENT: one is, and the rule is TN_RAISE.  On a
 * device that is asynchronous, or whose memory the host cannot read, the next call that waits for
 * the current stream (tn_to_host, tn_item, tn_synchronize, ...) reports this instead, with the name
 * of this operation; the element reads as zero. */
TN_API tn_array *tn_take(const tn_array *a, const tn_array *indices, int axis, uint32_t bounds);
/* n >= 1 arrays, joined along an existing axis; the result has their common dtype. */
TN_API tn_array *tn_concatenate(int n, const tn_array *const *arrays, int axis);
/* One element of a for each index along the axis: for the last of three axes, y[i, j, k] = a[i, j,
 * indices[i, j, k]].  indices (integers of any dtype, negative ones count from the end) has a's
 * shape, except for the axis, which may have any length (TN_SHAPE).  TN_INVALID_ARGUMENT: as in
 * tn_take. */
TN_API tn_array *tn_take_along_axis(const tn_array *a, const tn_array *indices, int axis);

/* ---- Order -----------------------------------------------------------------------------------
 * Along one axis (negative ones count from the end), each line separately.  Sorting is stable,
 * ascending and descending.  -0 equals 0; a NaN is greater than any number and equals any other
 * NaN.  Complex numbers are ordered by their real, then by their imaginary parts; behind them come
 * those with a NaN in the imaginary part, in the real part, in both.  Gradients flow back to the
 * original positions.  TN_INVALID_ARGUMENT: there is no such axis. */

/* The elements in ascending order, or descending if `descending` is 1. */
TN_API tn_array *tn_sort(const tn_array *a, int axis, int descending);
/* i64: the original indices; tn_take_along_axis(a, tn_argsort(a, axis, 0), axis) is sorted. */
TN_API tn_array *tn_argsort(const tn_array *a, int axis, int descending);
/* The k largest elements, the largest first, or with largest 0 the k smallest, the smallest first;
 * *indices, unless indices is NULL, receives their original indices (i64; NULL on failure).
 * TN_DTYPE: complex.  TN_INVALID_ARGUMENT: k is below 0 or above the axis's length. */
TN_API tn_array *tn_topk(const tn_array *a, int64_t k, int axis, int largest, tn_array **indices);

/* ---- Running reductions ----------------------------------------------------------------------
 * Along one axis (negative ones count from the end): y[j] combines the elements 0 to j of its line.
 * Sums and products have the dtypes of tn_sum and tn_prod, with f32 accumulators for f16 and bf16;
 * extremes have a's dtype, and are NaN from the first NaN on.  The same call gives the same bits
 * for any number of threads.  The gradient of an extreme goes to the last of equal elements so far.
 * TN_DTYPE: extremes of complex numbers.  TN_INVALID_ARGUMENT: there is no such axis. */

TN_API tn_array *tn_cumsum(const tn_array *a, int axis);
TN_API tn_array *tn_cumprod(const tn_array *a, int axis);
TN_API tn_array *tn_cummax(const tn_array *a, int axis);
TN_API tn_array *tn_cummin(const tn_array *a, int axis);

#ifdef __cplusplus
}
#endif
#endif
