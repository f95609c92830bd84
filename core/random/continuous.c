/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Draws real distributions from a stream of words, each from its published method or its inverse
 * distribution function.
 */
#include "random/continuous.h"

#include <math.h>

double tn_sample_normal(struct tn_words *words, const double *p)
{
	return p[0] + p[1] * tn_words_normal(words);
}

double tn_sample_exponential(struct tn_words *words, const double *p)
{
	return p[0] * tn_words_exponential(words);
}

double tn_sample_laplace(struct tn_words *words, const double *p)
{
	double distance = p[1] * tn_words_exponential(words);
	return tn_words_next(words) >> 31 ? p[0] + distance : p[0] - distance;
}

double tn_sample_logistic(struct tn_words *words, const double *p)
{
	double u = tn_words_uniform(words);
	return p[0] + p[1] * tn_exact_log(u / (1 - u));
}

double tn_sample_gumbel(struct tn_words *words, const double *p)
{
	return p[0] - p[1] * tn_exact_log(tn_words_exponential(words));
}

/* The divisor is never 0. */
double tn_sample_cauchy(struct tn_words *words, const double *p)
{
	double x = tn_words_normal(words);
	return p[0] + p[1] * (x / tn_words_normal(words));
}

double tn_sample_lognormal(struct tn_words *words, const double *p)
{
	return tn_exact_exp(p[0] + p[1] * tn_words_normal(words));
}

double tn_sample_rayleigh(struct tn_words *words, const double *p)
{
	return p[0] * sqrt(2 * tn_words_exponential(words));
}

double tn_sample_weibull(struct tn_words *words, const double *p)
{
	return tn_exact_exp(tn_exact_log(tn_words_exponential(words)) / p[0]);
}

double tn_sample_pareto(struct tn_words *words, const double *p)
{
	return tn_exact_expm1(tn_words_exponential(words) / p[0]);
}

double tn_sample_power(struct tn_words *words, const double *p)
{
	return tn_exact_exp(-tn_words_exponential(words) / p[0]);
}

/* J. Michael, W. Schucany, R. Haas: Generating random variates using transformations with multiple
 * roots.  The American Statistician 30 (1976).  The smaller root, without cancellation. */
double tn_sample_wald(struct tn_words *words, const double *p)
{
	double z = tn_words_normal(words), w = p[0] * z * z / (2 * p[1]);
	double root = 1 / (1 + w + sqrt(w * (w + 2))); /* of the mean */
	return tn_words_uniform(words) * (1 + root) <= 1 ? p[0] * root : p[0] / root;
}

/* D. Best, N. Fisher: Efficient simulation of the von Mises distribution.  Applied Statistics 28
 * (1979).  The cosine of a uniform angle comes from a point of the unit disc. */
static double angle_from_mean(struct tn_words *words, double kappa)
{
	const double r = 1 + sqrt(1 + 4 * kappa * kappa), rho = (r - sqrt(2 * r)) / (2 * kappa);
	const double s = kappa < 1e-5 ? 1 / kappa + kappa : (1 + rho * rho) / (2 * rho);
	for (;;) {
		double x = 2 * tn_words_uniform(words) - 1, y = 2 * tn_words_uniform(words) - 1;
		double square = x * x + y * y;
		if (square > 1)
			continue;
		double cosine = (x - y) * (x + y) / square, w = (1 + s * cosine) / (s + cosine);
		double distance = kappa * (s - w), v = tn_words_uniform(words);
		if (distance * (2 - distance) >= v || tn_exact_log(distance / v) + 1 >= distance)
			return tn_exact_arccos(fmin(fmax(w, -1), 1));
	}
}

/* In [-pi, pi].  A large kappa leaves a normal number. */
double tn_sample_vonmises(struct tn_words *words, const double *p)
{
	const double pi = 3.14159265358979323846, kappa = p[1];
	double angle;
	if (kappa < 1e-8)
		angle = pi * tn_words_uniform(words);
	else if (kappa > 1e6)
		angle = fabs(tn_words_normal(words)) / sqrt(kappa);
	else
		angle = angle_from_mean(words, kappa);
	angle = p[0] + (tn_words_next(words) >> 31 ? angle : -angle);
	angle -= 2 * pi * rint(angle / (2 * pi));
	return fmin(fmax(angle, -pi), pi);
}

double tn_sample_triangular(struct tn_words *words, const double *p)
{
	double u = tn_words_uniform(words), base = p[2] - p[0], rise = p[1] - p[0];
	if (u <= rise / base)
		return p[0] + sqrt(u * base) * sqrt(rise);
	return p[2] - sqrt((1 - u) * base) * sqrt(p[2] - p[1]);
}

/* ---- Truncated normal ------------------------------------------------------------------------
 * C. Robert: Simulation of truncated normal variables.  Statistics and Computing 5 (1995).
 */

/* In [a, b], a >= 0: exponential numbers beyond a, or uniform ones where the interval is short. */
static double draw_tail(struct tn_words *words, double a, double b)
{
	const double root = sqrt(a * a + 4), rate = (a + root) / 2;
	const int is_long = b - a > 2 / (a + root) * tn_exact_exp(0.5 - a / (a + root));
	for (;;) {
		double z, log_density;
		if (is_long) {
			z = a + tn_words_exponential(words) / rate;
			log_density = -(z - rate) * (z - rate) / 2;
		} else {
			z = a + (b - a) * tn_words_uniform(words);
			log_density = (a - z) * (a + z) / 2;
		}
		if (z <= b && tn_exact_log(tn_words_uniform(words)) <= log_density)
			return z;
	}
}

/* In [a, b], a < 0 < b. */
static double draw_middle(struct tn_words *words, double a, double b)
{
	const int is_long = b - a > 2.5066282746310002; /* sqrt(2 pi) */
	for (;;) {
		double z = is_long ? tn_words_normal(words) : a + (b - a) * tn_words_uniform(words);
		if (z < a || z > b)
			continue;
		if (is_long || tn_exact_log(tn_words_uniform(words)) <= -z * z / 2)
			return z;
	}
}

double tn_sample_truncated_normal(struct tn_words *words, const double *p)
{
	const double a = (p[2] - p[0]) / p[1], b = (p[3] - p[0]) / p[1];
	double z;
	if (a > 1e100) /* nothing lies further, and squares would overflow */
		return p[2];
	if (b < -1e100)
		return p[3];
	if (a >= 0)
		z = draw_tail(words, a, b);
	else if (b <= 0)
		z = -draw_tail(words, -b, -a);
	else
		z = draw_middle(words, a, b);
	return fmin(fmax(p[0] + p[1] * z, p[2]), p[3]);
}
