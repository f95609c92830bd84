/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Real distributions, mostly by the inverse of their distribution function.
 */
#ifndef TN_RANDOM_CONTINUOUS_H
#define TN_RANDOM_CONTINUOUS_H

#include "random/words.h"

/* Parameters in the order of tenon/random.h. */
double tn_sample_normal(struct tn_words *words, const double *p);
double tn_sample_exponential(struct tn_words *words, const double *p);
double tn_sample_laplace(struct tn_words *words, const double *p);
double tn_sample_logistic(struct tn_words *words, const double *p);
double tn_sample_gumbel(struct tn_words *words, const double *p);
double tn_sample_cauchy(struct tn_words *words, const double *p);
double tn_sample_lognormal(struct tn_words *words, const double *p);
double tn_sample_rayleigh(struct tn_words *words, const double *p);
double tn_sample_weibull(struct tn_words *words, const double *p);
double tn_sample_pareto(struct tn_words *words, const double *p);
double tn_sample_power(struct tn_words *words, const double *p);
double tn_sample_wald(struct tn_words *words, const double *p);
double tn_sample_vonmises(struct tn_words *words, const double *p);
double tn_sample_triangular(struct tn_words *words, const double *p);
double tn_sample_truncated_normal(struct tn_words *words, const double *p);

#endif
