/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Functions of the C library, whose last bits differ from one library to another, by exactly
 * rounded operations alone: the same bits on every machine, for random numbers that the host draws.
 * Relative errors are below 4e-16 (tests/unit/program_exact.c).  No argument is NaN.
 */
#ifndef TN_PROGRAM_EXACT_H
#define TN_PROGRAM_EXACT_H

double tn_exact_exp(double x); /* 0 below -700 */
double tn_exact_log(double x); /* x > 0, finite */
/* exp(x) - 1 and log(1 + x), x > -1, also where the result is small; relative errors below 1e-15 */
double tn_exact_expm1(double x);
double tn_exact_log1p(double x);
double tn_exact_arccos(double x); /* |x| <= 1; the absolute error is below 1e-15 */
/* The standard normal quantile, 0 < p < 1: Wichura, Algorithm AS 241, Applied Statistics 37 (1988).
 * The relative error is below 1e-15. */
double tn_exact_normal(double p);

#endif
