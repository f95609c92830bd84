/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NumPy's universal functions beside those of <tenon/array.h>: their names, dtypes and special
 * values; tn_ufunc(3) lists every departure.
 *
 * Element by element; two arrays broadcast.  Each is one element program, on every backend, and
 * those of floating values have a gradient.  Where nothing else is said, bool and integers narrower
 * than 32 bits are computed in f32, wider ones in f64, and the result is floating.  Complex arrays
 * are taken where a comment says so.  Errors are those of <tenon/array.h>:
 *   TN_DTYPE   the function does not take that dtype     TN_SHAPE   the shapes do not broadcast
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_UFUNC_H
#define TENON_UFUNC_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Arithmetic ------------------------------------------------------------------------------
 * Of the common dtype, integers included; bool gives i8.  A division of integers by 0 gives 0. */

TN_API tn_array *tn_reciprocal(const tn_array *a); /* 1 / a, of integers too; also complex */
TN_API tn_array *tn_positive(const tn_array *a);   /* a copy; TN_DTYPE: bool; also complex */
TN_API tn_array *tn_fabs(const tn_array *a);       /* |a|, floating */
/* floor(a / b), and a - b floor(a / b), which has the sign of b (Python's // and %). */
TN_API tn_array *tn_floor_divide(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_remainder(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_fmod(const tn_array *a, const tn_array *b); /* with the sign of a, as in C */
/* The larger or smaller, and of a number and a NaN the number; bool stays bool. */
TN_API tn_array *tn_fmax(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_fmin(const tn_array *a, const tn_array *b);
/* min(max(a, low), high): high where low is above it, NaN where one of the three is; bool stays
 * bool.  The derivative with respect to a is 1 at both bounds. */
TN_API tn_array *tn_clip(const tn_array *a, const tn_array *low, const tn_array *high);

/* ---- Powers, exponentials and logarithms -----------------------------------------------------*/

TN_API tn_array *tn_hypot(const tn_array *a, const tn_array *b); /* sqrt(a^2 + b^2), no overflow */
TN_API tn_array *tn_cbrt(const tn_array *a);
TN_API tn_array *tn_float_power(const tn_array *a, const tn_array *b); /* a^b in f64 */
TN_API tn_array *tn_exp2(const tn_array *a);
TN_API tn_array *tn_expm1(const tn_array *a); /* exp(a) - 1 */
TN_API tn_array *tn_log2(const tn_array *a);
TN_API tn_array *tn_log10(const tn_array *a);
TN_API tn_array *tn_log1p(const tn_array *a); /* log(1 + a) */
/* log(exp(a) + exp(b)), and log2(2^a + 2^b), without overflow. */
TN_API tn_array *tn_logaddexp(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_logaddexp2(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_xlogy(const tn_array *a, const tn_array *b); /* a log(b), 0 where a is 0 */
TN_API tn_array *tn_logit(const tn_array *a);                    /* log(a / (1 - a)) */
TN_API tn_array *tn_erfc(const tn_array *a);                     /* 1 - erf(a) */

/* ---- Angles and hyperbolic functions ---------------------------------------------------------*/

TN_API tn_array *tn_tan(const tn_array *a); /* also complex */
TN_API tn_array *tn_arcsin(const tn_array *a);
TN_API tn_array *tn_arccos(const tn_array *a);
TN_API tn_array *tn_arctan(const tn_array *a);
TN_API tn_array *tn_arctan2(const tn_array *a, const tn_array *b); /* of the point (b, a) */
TN_API tn_array *tn_sinh(const tn_array *a);                       /* also complex */
TN_API tn_array *tn_cosh(const tn_array *a);                       /* also complex */
TN_API tn_array *tn_arcsinh(const tn_array *a);
TN_API tn_array *tn_arccosh(const tn_array *a);
TN_API tn_array *tn_arctanh(const tn_array *a);
TN_API tn_array *tn_deg2rad(const tn_array *a);
TN_API tn_array *tn_rad2deg(const tn_array *a);
TN_API tn_array *tn_radians(const tn_array *a); /* tn_deg2rad */
TN_API tn_array *tn_degrees(const tn_array *a); /* tn_rad2deg */
TN_API tn_array *tn_sinc(const tn_array *a);    /* sin(pi a) / (pi a), 1 at 0 */

/* ---- Rounding and signs ----------------------------------------------------------------------*/

TN_API tn_array *tn_trunc(const tn_array *a); /* toward 0; integers and bool are unchanged */
TN_API tn_array *tn_rint(const tn_array *a);  /* to nearest, ties to even; always floating */
TN_API tn_array *tn_copysign(const tn_array *a, const tn_array *b); /* |a| with b's sign */
/* 0 below 0, b at 0, 1 above. */
TN_API tn_array *tn_heaviside(const tn_array *a, const tn_array *b);

/* ---- Tests: the result is bool ---------------------------------------------------------------*/

TN_API tn_array *tn_signbit(const tn_array *a); /* of -0 too; of any NaN false */
/* Of any dtype; a complex number is NaN or infinite if one of its parts is. */
TN_API tn_array *tn_isnan(const tn_array *a);
TN_API tn_array *tn_isinf(const tn_array *a);
TN_API tn_array *tn_isfinite(const tn_array *a);
/* Of any dtype: all but 0 is true, NaN too. */
TN_API tn_array *tn_logical_and(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_logical_or(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_logical_xor(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_logical_not(const tn_array *a);

/* ---- Bits ------------------------------------------------------------------------------------
 * Of bool and integers.  TN_DTYPE: another dtype, also the f64 that is common to u64 and i64. */

TN_API tn_array *tn_bitwise_and(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_bitwise_or(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_bitwise_xor(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_invert(const tn_array *a); /* ~a; of bool the logical not */
/* Bool gives i8.  A count below 0, or of the width or more, shifts all bits out: 0, or -1 for a
 * right shift of a negative number. */
TN_API tn_array *tn_left_shift(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_right_shift(const tn_array *a, const tn_array *b);

#ifdef __cplusplus
}
#endif
#endif
