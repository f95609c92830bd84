/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Special functions, with PyTorch's names (torch.special) and values; erfc, logit, sinc and xlogy
 * are in <tenon/ufunc.h>.
 *
 * Element by element; two arrays broadcast.  Bool and integers narrower than 32 bits are computed
 * in f32, wider ones in f64, and the result is floating.  Each is one element program, or composed
 * of a few, on every backend; tn_special(3) states the error of each.  All have a gradient where
 * nothing else is said.  Errors are those of <tenon/array.h>:
 *   TN_DTYPE   complex arrays     TN_SHAPE   the shapes do not broadcast
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_SPECIAL_H
#define TENON_SPECIAL_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Gamma function --------------------------------------------------------------------------*/

TN_API tn_array *tn_lgamma(const tn_array *a);  /* log |gamma(a)|; infinite at 0, -1, -2, ... */
TN_API tn_array *tn_digamma(const tn_array *a); /* its derivative; at 0 -inf, at -1, -2, ... NaN */
/* The derivative of tn_digamma of that order.  An order of 2 or more is NaN below 0, but infinite
 * at integers.  TN_INVALID_ARGUMENT: the order is not in [0, 30]. */
TN_API tn_array *tn_polygamma(int order, const tn_array *a);
/* log (gamma(a) gamma(b) / gamma(a + b)), by differences: see tn_special(3). */
TN_API tn_array *tn_betaln(const tn_array *a, const tn_array *b);
/* The logarithm of the multivariate gamma function of p dimensions: p (p - 1) log(pi) / 4 + sum
 * lgamma(a - i / 2) over i < p; NaN for a <= (p - 1) / 2.
 * TN_INVALID_ARGUMENT: p is not in [1, 100]. */
TN_API tn_array *tn_multigammaln(const tn_array *a, int p);
/* Hurwitz's zeta function, sum (b + k)^-a over k >= 0, for a > 1: infinite for a = 1 and where b is
 * 0, -1, -2, ...; NaN for a < 1 and at other b below 0.  The gradient with respect to a is 0. */
TN_API tn_array *tn_zeta(const tn_array *a, const tn_array *b);

/* ---- Error function and normal distribution --------------------------------------------------*/

TN_API tn_array *tn_erfcx(const tn_array *a);    /* exp(a^2) erfc(a) */
TN_API tn_array *tn_erfinv(const tn_array *a);   /* infinite at -1 and 1, NaN outside */
TN_API tn_array *tn_ndtr(const tn_array *a);     /* the area below a: (1 + erf(a / sqrt 2)) / 2 */
TN_API tn_array *tn_log_ndtr(const tn_array *a); /* its logarithm */
TN_API tn_array *tn_ndtri(const tn_array *a);    /* its inverse: infinite at 0 and 1, NaN outside */

/* ---- Bessel functions ------------------------------------------------------------------------*/

/* Of the first kind, of orders 0 and 1.  tn_bessel_j1 has no gradient. */
TN_API tn_array *tn_bessel_j0(const tn_array *a);
TN_API tn_array *tn_bessel_j1(const tn_array *a);
/* Modified, of the first kind, of orders 0 and 1; with e times exp(-|a|). */
TN_API tn_array *tn_i0(const tn_array *a);
TN_API tn_array *tn_i0e(const tn_array *a);
TN_API tn_array *tn_i1(const tn_array *a);
TN_API tn_array *tn_i1e(const tn_array *a);

/* ---- Entropy and logistic function -----------------------------------------------------------*/

TN_API tn_array *tn_entr(const tn_array *a); /* -a log(a); 0 at 0, -inf below */
/* a log(1 + b); 0 where a is 0 and b is not NaN. */
TN_API tn_array *tn_xlog1py(const tn_array *a, const tn_array *b);
TN_API tn_array *tn_expit(const tn_array *a); /* tn_sigmoid: 1 / (1 + exp(-a)) */

#ifdef __cplusplus
}
#endif
#endif
