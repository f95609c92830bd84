/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Draws whole numbers: binomial, Poisson, geometric, hypergeometric and others.
 *
 * Small means: waiting times.  Large ones: transformed rejection, W. Hoermann, The generation of
 * binomial random variates, Journal of Statistical Computation and Simulation 46 (1993), BTRS, and
 * The transformed rejection method for generating Poisson random variables, Insurance: Mathematics
 * and Economics 12 (1993), PTRS.
 */
#include "random/counts.h"

#include <math.h>

#include "random/gamma.h"
#include "random/mass.h"

/* Above it nothing fits i64, and an accepted number is no more exact than the mean. */
#define LARGEST_MEAN 0x1p62

/* ---- Binomial --------------------------------------------------------------------------------*/

/* Trials between successes are geometric: how many successes are within n? */
static double few_successes(struct tn_words *words, double n, double prob)
{
	const double log_failure = tn_exact_log1p(-prob);
	double trials = 0, successes = -1;
	while (trials <= n) {
		trials += floor(tn_exact_log(tn_words_uniform(words)) / log_failure) + 1;
		successes++;
	}
	return successes;
}

/* prob <= 1/2, n prob >= 10 */
static double many_successes(struct tn_words *words, double n, double prob)
{
	const double deviation = sqrt(n * prob * (1 - prob));
	const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * prob;
	const double centre = n * prob + 0.5, inside = 0.92 - 4.2 / b;
	const double alpha = (2.83 + 5.1 / b) * deviation, mode = floor((n + 1) * prob);
	double log_mode = 1; /* not computed yet */
	for (;;) {
		double u = tn_words_uniform(words) - 0.5, v = tn_words_uniform(words);
		double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + centre);
		if (us >= 0.07 && v <= inside)
			return k;
		if (k < 0 || k > n)
			continue;
		if (log_mode > 0)
			log_mode = tn_mass_log_binomial(mode, n, prob);
		if (tn_exact_log(v * alpha / (a / (us * us) + b)) <=
		    tn_mass_log_binomial(k, n, prob) - log_mode)
			return k;
	}
}

double tn_sample_binomial(struct tn_words *words, const double *p)
{
	const double n = p[0], prob = p[1] > 0.5 ? 1 - p[1] : p[1];
	double k = 0;
	if (n > 0 && prob > 0)
		k = n * prob < 10 ? few_successes(words, n, prob) : many_successes(words, n, prob);
	return p[1] > 0.5 ? n - k : k;
}

/* ---- Poisson ---------------------------------------------------------------------------------*/

/* Events in the time lam, with exponential times between them. */
static double few_events(struct tn_words *words, double lam)
{
	const double limit = tn_exact_exp(-lam);
	double product = tn_words_uniform(words), events = 0;
	while (product > limit) {
		product *= tn_words_uniform(words);
		events++;
	}
	return events;
}

/* lam >= 10 */
static double many_events(struct tn_words *words, double lam)
{
	const double b = 0.931 + 2.53 * sqrt(lam), a = -0.059 + 0.02483 * b;
	const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
	const double inside = 0.9277 - 3.6224 / (b - 2);
	for (;;) {
		double u = tn_words_uniform(words) - 0.5, v = tn_words_uniform(words);
		double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + lam + 0.43);
		if (us >= 0.07 && v <= inside)
			return k;
		if (k < 0 || (us < 0.013 && v > us))
			continue;
		if (tn_exact_log(v * inverse_alpha / (a / (us * us) + b)) <=
		    tn_mass_log_poisson(k, lam))
			return k;
	}
}

double tn_sample_poisson(struct tn_words *words, const double *p)
{
	if (p[0] >= LARGEST_MEAN)
		return p[0];
	if (p[0] >= 10)
		return many_events(words, p[0]);
	return p[0] > 0 ? few_events(words, p[0]) : 0;
}

/* ---- Waiting times ---------------------------------------------------------------------------*/

double tn_sample_geometric(struct tn_words *words, const double *p)
{
	if (p[0] == 1)
		return 1;
	return ceil(tn_exact_log(tn_words_uniform(words)) / tn_exact_log1p(-p[0]));
}

/* Poisson numbers whose mean is a gamma number. */
double tn_sample_negative_binomial(struct tn_words *words, const double *p)
{
	const double mean = tn_sample_standard_gamma(words, p[0]) * ((1 - p[1]) / p[1]);
	return tn_sample_poisson(words, &mean);
}

/* A. Kemp: Efficient generation of logarithmically distributed pseudo-random variables.  Applied
 * Statistics 30 (1981), algorithm LK. */
double tn_sample_logseries(struct tn_words *words, const double *p)
{
	const double log_rest = tn_exact_log1p(-p[0]);
	const double v = tn_words_uniform(words);
	if (v >= p[0])
		return 1;
	const double q = -tn_exact_expm1(log_rest * tn_words_uniform(words));
	if (v <= q * q)
		return 1 + floor(tn_exact_log(v) / tn_exact_log(q));
	return v >= q ? 1 : 2;
}

/* L. Devroye: Non-uniform random variate generation (1986), X.6.1, with numbers up to 2^63. */
double tn_sample_zipf(struct tn_words *words, const double *p)
{
	const double log_2 = 0.69314718055994530942, rate = p[0] - 1;
	const double within = -tn_exact_expm1(-rate * 63 * log_2);
	if (rate > 500) /* 2 is less probable than 2^-500 */
		return 1;
	for (;;) {
		const double u = within * tn_words_uniform(words), v = tn_words_uniform(words);
		const double x = floor(tn_exact_exp(-tn_exact_log1p(-u) / rate));
		const double log_t = rate * tn_exact_log1p(1 / x);
		if (v * x * tn_exact_expm1(log_t) / tn_exact_expm1(rate * log_2) <=
		    tn_exact_exp(log_t - rate * log_2))
			return x;
	}
}

/* ---- Hypergeometric --------------------------------------------------------------------------*/

/* Of the probability of k marked ones among n out of `marked` and `others`. */
static double log_share(double k, double n, double marked, double others)
{
	const double share = n / (marked + others);
	return tn_mass_log_binomial(k, marked, share) + tn_mass_log_binomial(n - k, others, share);
}

/* One after another. */
static double few_marked(struct tn_words *words, double n, double marked, double others)
{
	double k = 0;
	while (n > 0) {
		const int is_marked = tn_words_uniform(words) * (marked + others) < marked;
		k += is_marked;
		marked -= is_marked;
		others -= !is_marked;
		n--;
	}
	return k;
}

/* E. Stadlober: The ratio of uniforms approach for generating discrete random variates.  Journal of
 * Computational and Applied Mathematics 31 (1990), HRUA*.  marked <= others, 10 < n <= half. */
static double many_marked(struct tn_words *words, double n, double marked, double others)
{
	const double all = marked + others, mean = n * (marked / all);
	const double variance = mean * (others / all) * ((all - n) / (all - 1));
	const double spread = sqrt(variance + 0.5);
	const double width = 1.7155277699214135 * spread + 0.8989161620588988;
	const double end = fmin(fmin(n, marked) + 1, floor(mean + 0.5 + 16 * spread));
	const double mode = floor((n + 1) * ((marked + 1) / (all + 2)));
	const double log_mode = log_share(mode, n, marked, others);
	for (;;) {
		const double u = tn_words_uniform(words), v = tn_words_uniform(words);
		const double x = mean + 0.5 + width * (v - 0.5) / u, k = floor(x);
		if (x < 0 || x >= end)
			continue;
		if (2 * tn_exact_log(u) <= log_share(k, n, marked, others) - log_mode)
			return k;
	}
}

/* The smaller of the two kinds is marked, and the smaller part of all is drawn. */
double tn_sample_hypergeometric(struct tn_words *words, const double *p)
{
	const double good = p[0], bad = p[1], rest = good + bad - p[2];
	const double n = fmin(p[2], rest), marked = fmin(good, bad), others = fmax(good, bad);
	double k = n > 10 && marked > 0 ? many_marked(words, n, marked, others)
					: few_marked(words, n, marked, others);
	if (good > bad)
		k = n - k;
	return n < p[2] ? good - k : k;
}
