/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The rows of the distributions that the host draws, and the check of their parameters.
 */
#include "random/distribution.h"

#include <math.h>

#include "random/continuous.h"
#include "random/counts.h"
#include "random/gamma.h"
#include "random/noncentral.h"

enum range {
	ANY,   /* finite */
	LIMIT, /* not NaN */
	NOT_NEGATIVE,
	POSITIVE,
	PROBABILITY,
	POSITIVE_PROBABILITY,
	COUNT,
	MEAN,
	ABOVE_1,
	BELOW_1,
};

static const char *const range_texts[] = {
	[ANY] = "a finite number",
	[LIMIT] = "a number",
	[NOT_NEGATIVE] = "a finite number of at least 0",
	[POSITIVE] = "a finite number above 0",
	[PROBABILITY] = "a number in [0, 1]",
	[POSITIVE_PROBABILITY] = "a number in (0, 1]",
	[COUNT] = "a whole number from 0 to 2^53",
	[MEAN] = "a number from 0 to 2^53",
	[ABOVE_1] = "a finite number above 1",
	[BELOW_1] = "a number in [0, 1)",
};

const struct tn_distribution tn_distributions[TN_DISTRIBUTIONS] = {
	[TN_DISTRIBUTION_NORMAL] =
		{"normal", tn_sample_normal, 2, 0, {"mean", "deviation"}, {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_EXPONENTIAL] =
		{"exponential", tn_sample_exponential, 1, 0, {"scale"}, {NOT_NEGATIVE}},
	[TN_DISTRIBUTION_GAMMA] =
		{"gamma", tn_sample_gamma, 2, 0, {"a", "scale"}, {NOT_NEGATIVE, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_BETA] = {"beta", tn_sample_beta, 2, 0, {"a", "b"}, {POSITIVE, POSITIVE}},
	[TN_DISTRIBUTION_CHISQUARE] = {"chisquare", tn_sample_chisquare, 1, 0, {"df"}, {POSITIVE}},
	[TN_DISTRIBUTION_F] = {"f", tn_sample_f, 2, 0, {"dfnum", "dfden"}, {POSITIVE, POSITIVE}},
	[TN_DISTRIBUTION_STANDARD_T] =
		{"standard_t", tn_sample_standard_t, 1, 0, {"df"}, {POSITIVE}},
	[TN_DISTRIBUTION_LAPLACE] =
		{"laplace", tn_sample_laplace, 2, 0, {"loc", "scale"}, {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_LOGISTIC] =
		{"logistic", tn_sample_logistic, 2, 0, {"loc", "scale"}, {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_GUMBEL] =
		{"gumbel", tn_sample_gumbel, 2, 0, {"loc", "scale"}, {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_CAUCHY] =
		{"cauchy", tn_sample_cauchy, 2, 0, {"loc", "scale"}, {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_LOGNORMAL] =
		{"lognormal", tn_sample_lognormal, 2, 0, {"mean", "sigma"}, {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_RAYLEIGH] =
		{"rayleigh", tn_sample_rayleigh, 1, 0, {"scale"}, {NOT_NEGATIVE}},
	[TN_DISTRIBUTION_WEIBULL] = {"weibull", tn_sample_weibull, 1, 0, {"a"}, {POSITIVE}},
	[TN_DISTRIBUTION_PARETO] = {"pareto", tn_sample_pareto, 1, 0, {"a"}, {POSITIVE}},
	[TN_DISTRIBUTION_POWER] = {"power", tn_sample_power, 1, 0, {"a"}, {POSITIVE}},
	[TN_DISTRIBUTION_WALD] =
		{"wald", tn_sample_wald, 2, 0, {"mean", "scale"}, {POSITIVE, POSITIVE}},
	[TN_DISTRIBUTION_TRIANGULAR] = {"triangular",
					tn_sample_triangular,
					3,
					0,
					{"left", "mode", "right"},
					{ANY, ANY, ANY}},
	[TN_DISTRIBUTION_TRUNCATED_NORMAL] = {"truncated_normal",
					      tn_sample_truncated_normal,
					      4,
					      0,
					      {"mean", "deviation", "low", "high"},
					      {ANY, POSITIVE, LIMIT, LIMIT}},
	[TN_DISTRIBUTION_BINOMIAL] =
		{"binomial", tn_sample_binomial, 2, 1, {"n", "p"}, {COUNT, PROBABILITY}},
	[TN_DISTRIBUTION_POISSON] = {"poisson", tn_sample_poisson, 1, 1, {"lam"}, {MEAN}},
	[TN_DISTRIBUTION_GEOMETRIC] =
		{"geometric", tn_sample_geometric, 1, 1, {"p"}, {POSITIVE_PROBABILITY}},
	[TN_DISTRIBUTION_NEGATIVE_BINOMIAL] = {"negative_binomial",
					       tn_sample_negative_binomial,
					       2,
					       1,
					       {"n", "p"},
					       {POSITIVE, POSITIVE_PROBABILITY}},
	[TN_DISTRIBUTION_NONCENTRAL_CHISQUARE] = {"noncentral_chisquare",
						  tn_sample_noncentral_chisquare,
						  2,
						  0,
						  {"df", "nonc"},
						  {POSITIVE, MEAN}},
	[TN_DISTRIBUTION_NONCENTRAL_F] = {"noncentral_f",
					  tn_sample_noncentral_f,
					  3,
					  0,
					  {"dfnum", "dfden", "nonc"},
					  {POSITIVE, POSITIVE, MEAN}},
	[TN_DISTRIBUTION_VONMISES] =
		{"vonmises", tn_sample_vonmises, 2, 0, {"mu", "kappa"}, {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_HYPERGEOMETRIC] = {"hypergeometric",
					    tn_sample_hypergeometric,
					    3,
					    1,
					    {"ngood", "nbad", "nsample"},
					    {COUNT, COUNT, COUNT}},
	[TN_DISTRIBUTION_LOGSERIES] = {"logseries", tn_sample_logseries, 1, 1, {"p"}, {BELOW_1}},
	[TN_DISTRIBUTION_ZIPF] = {"zipf", tn_sample_zipf, 1, 1, {"a"}, {ABOVE_1}},
};

static int is_in(enum range range, double value)
{
	switch (range) {
	case LIMIT:
		return !isnan(value);
	case NOT_NEGATIVE:
		return value >= 0 && isfinite(value);
	case POSITIVE:
		return value > 0 && isfinite(value);
	case PROBABILITY:
		return value >= 0 && value <= 1;
	case POSITIVE_PROBABILITY:
		return value > 0 && value <= 1;
	case COUNT:
		return value >= 0 && value <= 0x1p53 && value == floor(value);
	case MEAN:
		return value >= 0 && value <= 0x1p53;
	case ABOVE_1:
		return value > 1 && isfinite(value);
	case BELOW_1:
		return value >= 0 && value < 1;
	default:
		return isfinite(value);
	}
}

/* What the parameters must be together. */
static tn_status check_order(struct tn_runtime *runtime, const struct tn_distribution *d,
			     const double *p)
{
	if (d->draw == tn_sample_triangular &&
	    !(p[0] <= p[1] && p[1] <= p[2] && p[0] < p[2] && isfinite(p[2] - p[0])))
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, d->name,
			       "expected left <= mode <= right and left below right, found %g, %g "
			       "and %g",
			       p[0], p[1], p[2]);
	if (d->draw == tn_sample_hypergeometric && !(p[0] <= 0x1p53 - p[1] && p[2] <= p[0] + p[1]))
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, d->name,
			       "expected nsample of at most ngood + nbad, and these of at most "
			       "2^53, found %g, %g and %g",
			       p[2], p[0], p[1]);
	if (d->draw == tn_sample_truncated_normal && !(p[2] < p[3]))
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, d->name,
			       "expected low below high, found %g and %g", p[2], p[3]);
	return TN_OK;
}

tn_status tn_distribution_check(struct tn_runtime *runtime, const struct tn_distribution *d,
				const double *parameters)
{
	for (int i = 0; i < d->n_parameters; i++) {
		if (!is_in(d->ranges[i], parameters[i]))
			return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, d->name,
				       "%s: expected %s, found %g", d->parameters[i],
				       range_texts[d->ranges[i]], parameters[i]);
	}
	return check_order(runtime, d, parameters);
}
