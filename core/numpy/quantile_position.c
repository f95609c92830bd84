/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See quantile_position.h.
 */
#include "numpy/quantile_position.h"

#include <math.h>
#include <stddef.h>
#include <tenon/statistics.h>

/* A method is discrete, or has NumPy's two constants of an interpolation. */
static const struct method {
	struct tn_quantile_method known;
	double alpha, beta;
} methods[] = {
	[TN_QUANTILE_LINEAR] = {{"linear", 0}, 1, 1},
	[TN_QUANTILE_INVERTED_CDF] = {{"inverted_cdf", 1}, 0, 0},
	[TN_QUANTILE_AVERAGED_INVERTED_CDF] = {{"averaged_inverted_cdf", 0}, 0, 1},
	[TN_QUANTILE_CLOSEST_OBSERVATION] = {{"closest_observation", 1}, 0, 0},
	[TN_QUANTILE_INTERPOLATED_INVERTED_CDF] = {{"interpolated_inverted_cdf", 0}, 0, 1},
	[TN_QUANTILE_HAZEN] = {{"hazen", 0}, 0.5, 0.5},
	[TN_QUANTILE_WEIBULL] = {{"weibull", 0}, 0, 0},
	[TN_QUANTILE_MEDIAN_UNBIASED] = {{"median_unbiased", 0}, 1 / 3.0, 1 / 3.0},
	[TN_QUANTILE_NORMAL_UNBIASED] = {{"normal_unbiased", 0}, 3 / 8.0, 3 / 8.0},
	[TN_QUANTILE_LOWER] = {{"lower", 1}, 0, 0},
	[TN_QUANTILE_HIGHER] = {{"higher", 1}, 0, 0},
	[TN_QUANTILE_MIDPOINT] = {{"midpoint", 0}, 1, 1},
	[TN_QUANTILE_NEAREST] = {{"nearest", 1}, 0, 0},
};

enum { N_METHODS = sizeof(methods) / sizeof(methods[0]) };

const struct tn_quantile_method *tn_quantile_method(uint32_t method)
{
	return method < N_METHODS ? &methods[method].known : NULL;
}

static double discrete_index(uint32_t method, double n, double q)
{
	const double index = n * q - (method == TN_QUANTILE_INVERTED_CDF ? 1 : 1.5);
	const double lower = floor(index);
	switch (method) {
	case TN_QUANTILE_LOWER:
		return floor((n - 1) * q);
	case TN_QUANTILE_HIGHER:
		return ceil((n - 1) * q);
	case TN_QUANTILE_NEAREST:
		return nearbyint((n - 1) * q);
	case TN_QUANTILE_INVERTED_CDF:
		return index == lower ? lower : lower + 1;
	default: /* the closest; of two the one that is even, counted from 1 */
		return index == lower && fmod(lower, 2) != 0 ? lower : lower + 1;
	}
}

static double interpolated_index(uint32_t method, double n, double q)
{
	const struct method *m = &methods[method];
	if (method == TN_QUANTILE_LINEAR || method == TN_QUANTILE_MIDPOINT)
		return (n - 1) * q;
	if (method == TN_QUANTILE_AVERAGED_INVERTED_CDF)
		return n * q - 1;
	return n * q + (m->alpha + q * (1 - m->alpha - m->beta)) - 1;
}

struct tn_quantile_position tn_quantile_position_of(uint32_t method, int64_t count, double q)
{
	const double n = (double)count;
	const int is_discrete = methods[method].known.is_discrete;
	const double index =
		is_discrete ? discrete_index(method, n, q) : interpolated_index(method, n, q);
	const double lower = fmin(fmax(floor(index), 0), n - 1);
	struct tn_quantile_position position = {.lower = (int64_t)lower,
						.upper = (int64_t)fmin(lower + 1, n - 1),
						.weight = index - floor(index),
						.is_element = is_discrete};
	if (index < 0)
		position.upper = position.lower;
	if (method == TN_QUANTILE_AVERAGED_INVERTED_CDF)
		position.weight = position.weight == 0 ? 0.5 : 1;
	else if (method == TN_QUANTILE_MIDPOINT)
		position.weight = position.weight == 0 ? 0 : 0.5;
	return position;
}
