/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Probabilities of Poisson and binomial counts by Loader's saddle point: the error of Stirling's
 * formula and the deviance.
 */
#include "random/mass.h"

#include <math.h>

#include "program/exact.h"

#define LOG_2_PI 1.8378770664093454836

/* log k! - log(sqrt(2 pi k) (k / e)^k): the error of Stirling's formula, 0 for 0. */
static double stirling_error(double k)
{
	static const double small[16] = {
		0.0,
		0.08106146679532725822,
		0.041340695955409294094,
		0.027677925684998339149,
		0.020790672103765093112,
		0.016644691189821192163,
		0.013876128823070747999,
		0.011896709945891770095,
		0.010411265261972096497,
		0.0092554621827127329177,
		0.0083305634333628712565,
		0.007573675487951840795,
		0.0069428401072095298657,
		0.0064089941880042070684,
		0.0059513701127588477356,
		0.005554733551962801371,
	};
	if (k < 16)
		return small[(int)k];
	const double s = 1 / (k * k);
	return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - s / 1188) * s) * s) * s) / k;
}

/* k log(k / mean) + mean - k */
static double deviance(double k, double mean)
{
	const double difference = k - mean;
	if (fabs(difference) >= 0.1 * (k + mean))
		return k * tn_exact_log(k / mean) - difference;
	/* A series in v, in which the difference does not cancel. */
	const double v = difference / (k + mean);
	double sum = difference * v, power = 2 * k * v;
	for (int n = 3; n < 1000; n += 2) {
		power *= v * v;
		const double next = sum + power / n;
		if (next == sum)
			break;
		sum = next;
	}
	return sum;
}

double tn_mass_log_poisson(double k, double lam)
{
	if (k == 0)
		return -lam;
	return -0.5 * (LOG_2_PI + tn_exact_log(k)) - stirling_error(k) - deviance(k, lam);
}

double tn_mass_log_binomial(double k, double n, double prob)
{
	const double rest = n - k;
	if (k == 0)
		return n * tn_exact_log1p(-prob);
	if (rest == 0)
		return n * tn_exact_log(prob);
	return stirling_error(n) - stirling_error(k) - stirling_error(rest) -
	       deviance(k, n * prob) - deviance(rest, n * (1 - prob)) -
	       0.5 * (LOG_2_PI + tn_exact_log(k) + tn_exact_log(rest / n));
}
