/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NumPy's universal functions besides those of <tenon/array.h>: their names, dtypes and special
 * values; tn_ufunc(3) lists every departure.
 *
 * Element by element; two arrays broadcast.  Each is an element program or composed of some, on
 * every backend, and those of floating values have a gradient.  Where nothing else is said, bool
 * and integers narrower than 32 bits are computed in f32, wider ones in f64, and the result is
 * floating.  Complex arrays are taken where a comment says so.  Errors are those of
 * <tenon/array.h>:
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
/* tn_floor_divide, and in *remainder, unless it is NULL, tn_remainder (NULL on failure). */
TN_API tn_array *tn_divmod(const tn_array *a, const tn_array *b, tn_array **remainder);
/* The larger or smaller, and of a number and a NaN the number; bool stays bool. */
TN_API tn_array *tn_fmax(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_fmin(const tn_array *a, const tn_array *b);
/* min(max(a, low), high): high where low is above it, NaN where one of the three is; bool stays
 * bool.  The derivative with respect to a is 1 at both bounds. */
TN_API tn_array *tn_clip(const tn_array *a, const tn_array *low, const tn_array *high);

/* ---- Powers, exponentials and logarithms -----------------------------------------------------*/

TN_API tn_array *tn_hypot(const tn_array *a, const tn_array *b); /* sqrt(a^2 + b^2), no overflow */
TN_API tn_array *tn_cbrt(const tn_array *a);
TN_API tn_array *tn_float_power(const tn_array *a, const tn_array *b); /* a^b in f64, c128 */
TN_API tn_array *tn_exp2(const tn_array *a);                           /* also complex */
TN_API tn_array *tn_expm1(const tn_array *a); /* exp(a) - 1; also complex */
TN_API tn_array *tn_log2(const tn_array *a);  /* also complex */
TN_API tn_array *tn_log10(const tn_array *a); /* also complex */
TN_API tn_array *tn_log1p(const tn_array *a); /* log(1 + a); also complex */
/* log(exp(a) + exp(b)), and log2(2^a + 2^b), without overflow. */
TN_API tn_array *tn_logaddexp(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_logaddexp2(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_xlogy(const tn_array *a, const tn_array *b); /* a log(b), 0 where a is 0 */
TN_API tn_array *tn_logit(const tn_array *a);                    /* log(a / (1 - a)) */
TN_API tn_array *tn_erfc(const tn_array *a);                     /* 1 - erf(a) */

/* ---- Angles and hyperbolic functions ---------------------------------------------------------*/

TN_API tn_array *tn_tan(const tn_array *a);                        /* also complex */
TN_API tn_array *tn_arcsin(const tn_array *a);                     /* also complex */
TN_API tn_array *tn_arccos(const tn_array *a);                     /* also complex */
TN_API tn_array *tn_arctan(const tn_array *a);                     /* also complex */
TN_API tn_array *tn_arctan2(const tn_array *a, const tn_array *b); /* of the point (b, a) */
TN_API tn_array *tn_sinh(const tn_array *a);                       /* also complex */
TN_API tn_array *tn_cosh(const tn_array *a);                       /* also complex */
TN_API tn_array *tn_arcsinh(const tn_array *a);                    /* also complex */
TN_API tn_array *tn_arccosh(const tn_array *a);                    /* also complex */
TN_API tn_array *tn_arctanh(const tn_array *a);                    /* also complex */
TN_API tn_array *tn_deg2rad(const tn_array *a);
TN_API tn_array *tn_rad2deg(const tn_array *a);
TN_API tn_array *tn_radians(const tn_array *a); /* tn_deg2rad */
TN_API tn_array *tn_degrees(const tn_array *a); /* tn_rad2deg */
/* sin(pi a) / (pi a), 1 at 0; also complex. */
TN_API tn_array *tn_sinc(const tn_array *a);

/* ---- Rounding and signs ----------------------------------------------------------------------*/

TN_API tn_array *tn_trunc(const tn_array *a); /* toward 0; integers and bool are unchanged */
/* To nearest, ties to even; of complex numbers both parts; never an integer. */
TN_API tn_array *tn_rint(const tn_array *a);
TN_API tn_array *tn_copysign(const tn_array *a, const tn_array *b); /* |a| with b's sign */
TN_API tn_array *tn_fix(const tn_array *a);                         /* tn_trunc */
/* To `decimals` places after the point, or before it if below 0, with ties to even: a 10^decimals
 * is rounded and divided again.  Integers and bool, which are computed in f64, keep their dtype; of
 * complex numbers both parts are rounded.  TN_INVALID_ARGUMENT: |decimals| is above 300, or 38 for
 * f32 and narrower. */
TN_API tn_array *tn_around(const tn_array *a, int decimals);
/* 0 below 0, b at 0, 1 above. */
TN_API tn_array *tn_heaviside(const tn_array *a, const tn_array *b);

/* The real part if the imaginary parts of all numbers are below tol by size, or, if tol is above 1,
 * below tol units in the last place of 1 (NumPy's default is 100); else, and of a real array, the
 * whole.  A view.  Reads one truth value of a complex array: the host waits for it. */
TN_API tn_array *tn_real_if_close(const tn_array *a, double tol);

/* ---- What a floating number is made of -------------------------------------------------------
 * All results are exact.  The output argument of a function may be NULL; it receives NULL on
 * failure. */

/* The fraction, and the integral part, both with the sign of a: that of infinity is 0. */
TN_API tn_array *tn_modf(const tn_array *a, tn_array **integral);
/* The mantissa in [0.5, 1) by size, and the exponent (i32) of a = mantissa 2^exponent.  Zeros,
 * infinities and NaN are mantissas themselves, with exponent 0. */
TN_API tn_array *tn_frexp(const tn_array *a, tn_array **exponent);
/* a 2^exponent, rounded once.  TN_DTYPE: the exponents are u64, or not integers. */
TN_API tn_array *tn_ldexp(const tn_array *a, const tn_array *exponent);
/* The number after a on the way to b, in their common dtype, and the distance from a to the number
 * after it on the way to the infinity of its sign.  No gradients. */
TN_API tn_array *tn_nextafter(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_spacing(const tn_array *a);

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
/* How many bits of |a| are set: u8. */
TN_API tn_array *tn_bitwise_count(const tn_array *a);
/* The greatest common divisor, 0 of two zeros, and the least common multiple, 0 beside a zero;
 * neither is below 0 unless it wraps.  Bool gives i8. */
TN_API tn_array *tn_gcd(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_lcm(const tn_array *a, const tn_array *b);

#ifdef __cplusplus
}
#endif
#endif
