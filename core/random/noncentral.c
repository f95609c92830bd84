/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Draws noncentral chi-square and F numbers.
 */
#include "random/noncentral.h"

#include <math.h>

#include "random/counts.h"
#include "random/gamma.h"

/* A normal number with a mean, squared, or a Poisson number of degrees of freedom more. */
double tn_sample_noncentral_chisquare(struct tn_words *words, const double *p)
{
	if (p[0] > 1) {
		const double z = tn_words_normal(words) + sqrt(p[1]);
		return 2 * tn_sample_standard_gamma(words, (p[0] - 1) / 2) + z * z;
	}
	const double mean = p[1] / 2, more = tn_sample_poisson(words, &mean);
	return 2 * tn_sample_standard_gamma(words, p[0] / 2 + more);
}

double tn_sample_noncentral_f(struct tn_words *words, const double *p)
{
	const double x = tn_sample_noncentral_chisquare(words, (const double[]){p[0], p[2]});
	const double y = 2 * tn_sample_standard_gamma(words, p[1] / 2);
	return x > 0 ? x / p[0] / (y / p[1]) : 0; /* y may be too small for a double, and 0 */
}
