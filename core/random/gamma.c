/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * G. Marsaglia, W. Tsang: A simple method for generating gamma variables.  ACM TOMS 26 (2000).
 */
#include "random/gamma.h"

#include <math.h>

/* a >= 1 */
static double draw_large(struct tn_words *words, double a)
{
	const double d = a - 1.0 / 3, c = 1 / sqrt(9 * d);
	for (;;) {
		double x = tn_words_normal(words), root = 1 + c * x;
		if (root <= 0)
			continue;
		double v = root * root * root, u = tn_words_uniform(words);
		if (u < 1 - 0.0331 * (x * x) * (x * x) ||
		    tn_exact_log(u) < 0.5 * x * x + d * (1 - v + tn_exact_log(v)))
			return d * v;
	}
}

/* A number of shape a + 1 times a uniform one to the power of 1 / a has shape a. */
struct tn_log_gamma tn_sample_log_gamma(struct tn_words *words, double a)
{
	struct tn_log_gamma x = {0};
	if (a >= 1) {
		x.log = tn_exact_log(draw_large(words, a));
		return x;
	}
	double large = tn_exact_log(draw_large(words, a + 1));
	double exponential = tn_words_exponential(words);
	x.log = large - exponential / a;
	/* a is below 2^-1000 where this is needed. */
	x.depth = exponential / (a * 0x1p600);
	return x;
}

/* Is x less than y?  Of two equal ones, both 0, it does not matter. */
static int is_less(const struct tn_log_gamma *x, const struct tn_log_gamma *y)
{
	return x->log == y->log ? x->depth > y->depth : x->log < y->log;
}

double tn_sample_standard_gamma(struct tn_words *words, double a)
{
	if (a == 0)
		return 0;
	if (a >= 1)
		return draw_large(words, a);
	double large = draw_large(words, a + 1);
	return large * tn_exact_exp(-tn_words_exponential(words) / a);
}

double tn_sample_gamma(struct tn_words *words, const double *p)
{
	return p[1] * tn_sample_standard_gamma(words, p[0]);
}

/* By logarithms where both numbers could be 0. */
double tn_sample_beta(struct tn_words *words, const double *p)
{
	if (p[0] >= 1 && p[1] >= 1) {
		double x = draw_large(words, p[0]), y = draw_large(words, p[1]);
		return x / 2 / (x / 2 + y / 2); /* the sum of two finite ones may be infinite */
	}
	const struct tn_log_gamma x = tn_sample_log_gamma(words, p[0]);
	const struct tn_log_gamma y = tn_sample_log_gamma(words, p[1]);
	if (isinf(x.log) && isinf(y.log))
		return !is_less(&x, &y);
	double low = tn_exact_exp(x.log < y.log ? x.log - y.log : y.log - x.log); /* beside 1 */
	return x.log < y.log ? low / (1 + low) : 1 / (1 + low);
}

double tn_sample_chisquare(struct tn_words *words, const double *p)
{
	return 2 * tn_sample_standard_gamma(words, p[0] / 2);
}

double tn_sample_f(struct tn_words *words, const double *p)
{
	const struct tn_log_gamma x = tn_sample_log_gamma(words, p[0] / 2);
	const struct tn_log_gamma y = tn_sample_log_gamma(words, p[1] / 2);
	if (isinf(x.log) || isinf(y.log))
		return is_less(&x, &y) ? 0 : INFINITY;
	const double ratio = tn_exact_exp(x.log - y.log);
	return ratio == 0 || isinf(ratio) ? ratio : ratio * (p[1] / p[0]);
}

double tn_sample_standard_t(struct tn_words *words, const double *p)
{
	const double x = tn_words_normal(words), y = tn_sample_standard_gamma(words, p[0] / 2);
	return y == 0 ? x * INFINITY : x * sqrt(p[0] / 2 / y);
}
