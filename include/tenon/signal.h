/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sampled signals: interpolation, convolution, phases, windows, and the cross product.  NumPy's
 * names and rules; tn_signal(3) lists every departure.
 *
 * What <tenon/array.h> says of ownership, errors and threads holds here too.  Nothing waits for the
 * device.  All functions of arrays have the gradients of the operations that they are composed of.
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_SIGNAL_H
#define TENON_SIGNAL_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values at x, of any shape, of the function that is linear between the places xp, which rise,
 * where it has the values fp: lines of one length of at least 1.  Before the first place it is
 * *left, after the last *right; NULL: the value there.  period, unless it is 0: x and xp are taken
 * modulo period, xp in any order, and left and right are not read.  All are computed in their
 * common floating dtype, f64 for integers; fp may be complex.  Places that do not rise give any
 * values.  TN_SHAPE: xp and fp are not lines of one length.  TN_DTYPE: x or xp is complex.
 * TN_INVALID_ARGUMENT: period is NaN or infinite. */
TN_API tn_array *tn_interp(const tn_array *x, const tn_array *xp, const tn_array *fp,
			   const double *left, const double *right, double period);
/* Phases along an axis without jumps: to each element that differs from the one before by more than
 * half a period the multiple of the period is added that makes it differ by less, unless the
 * difference is below discont, NumPy's default for which, half a period, 0 stands for.  Integers
 * give f64.  TN_DTYPE: complex.  TN_INVALID_ARGUMENT: no such axis, or the period is not above 0
 * and finite. */
TN_API tn_array *tn_unwrap(const tn_array *a, double discont, int axis, double period);

/* ---- Convolution -----------------------------------------------------------------------------*/

/* Of lines of n and m elements, the results at ... */
enum tn_convolve_mode {
	TN_CONVOLVE_FULL,  /* all places where they overlap: n + m - 1 */
	TN_CONVOLVE_SAME,  /* the middle ones: max(n, m) */
	TN_CONVOLVE_VALID, /* those where one lies in the other: max(n, m) - min(n, m) + 1 */
};

/* sum a[i] v[k - i] over i, and sum a[k + i] conj(v[i]) over i, in the common dtype.  A product of
 * windows of the longer line and the shorter one; where the product copies them, that takes the
 * memory of the result times the shorter line.  Where the lines do not overlap it multiplies by
 * zeros, so that an infinity or NaN there gives NaN.
 * TN_SHAPE: not two lines with elements.  TN_INVALID_ARGUMENT: there is no such mode. */
TN_API tn_array *tn_convolve(const tn_array *a, const tn_array *v, uint32_t mode);
TN_API tn_array *tn_correlate(const tn_array *a, const tn_array *v, uint32_t mode);

/* ---- Products --------------------------------------------------------------------------------*/

/* The cross product of vectors of 3 or 2 elements along an axis, the others of which broadcast; a
 * missing third element is 0.  Of two vectors of 2 elements it is the third element alone, without
 * the axis.  TN_SHAPE: other lengths, or axes that do not broadcast.  TN_DTYPE: bool.
 * TN_INVALID_ARGUMENT: there is no such axis. */
TN_API tn_array *tn_cross(const tn_array *a, const tn_array *b, int axis);

/* ---- Windows ---------------------------------------------------------------------------------
 * n weights, symmetric, of a floating dtype; 1 for n = 1.  With c = cos(2 pi i / (n - 1)):
 * TN_INVALID_ARGUMENT: n is below 0.  TN_DTYPE: dtype is not floating. */

TN_API tn_array *tn_bartlett(tn_context *context, tn_dtype dtype, int64_t n); /* a triangle */
TN_API tn_array *tn_blackman(tn_context *context, tn_dtype dtype, int64_t n);
TN_API tn_array *tn_hamming(tn_context *context, tn_dtype dtype, int64_t n); /* 0.54 - 0.46 c */
TN_API tn_array *tn_hanning(tn_context *context, tn_dtype dtype, int64_t n); /* 0.5 - 0.5 c */
/* I0(beta sqrt(1 - t^2)) / I0(beta) for t from -1 to 1. */
TN_API tn_array *tn_kaiser(tn_context *context, tn_dtype dtype, int64_t n, double beta);

#ifdef __cplusplus
}
#endif
#endif
