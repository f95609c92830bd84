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
	[TN_DISTRIBUTION_NORMAL] = {.name = "normal",
				    .draw = tn_sample_normal,
				    .n_parameters = 2,
				    .parameters = {"mean", "deviation"},
				    .ranges = {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_EXPONENTIAL] = {.name = "exponential",
					 .draw = tn_sample_exponential,
					 .n_parameters = 1,
					 .parameters = {"scale"},
					 .ranges = {NOT_NEGATIVE}},
	[TN_DISTRIBUTION_GAMMA] = {.name = "gamma",
				   .draw = tn_sample_gamma,
				   .n_parameters = 2,
				   .parameters = {"a", "scale"},
				   .ranges = {NOT_NEGATIVE, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_BETA] = {.name = "beta",
				  .draw = tn_sample_beta,
				  .n_parameters = 2,
				  .parameters = {"a", "b"},
				  .ranges = {POSITIVE, POSITIVE}},
	[TN_DISTRIBUTION_CHISQUARE] = {.name = "chisquare",
				       .draw = tn_sample_chisquare,
				       .n_parameters = 1,
				       .parameters = {"df"},
				       .ranges = {POSITIVE}},
	[TN_DISTRIBUTION_F] = {.name = "f",
			       .draw = tn_sample_f,
			       .n_parameters = 2,
			       .parameters = {"dfnum", "dfden"},
			       .ranges = {POSITIVE, POSITIVE}},
	[TN_DISTRIBUTION_STANDARD_T] = {.name = "standard_t",
					.draw = tn_sample_standard_t,
					.n_parameters = 1,
					.parameters = {"df"},
					.ranges = {POSITIVE}},
	[TN_DISTRIBUTION_LAPLACE] = {.name = "laplace",
				     .draw = tn_sample_laplace,
				     .n_parameters = 2,
				     .parameters = {"loc", "scale"},
				     .ranges = {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_LOGISTIC] = {.name = "logistic",
				      .draw = tn_sample_logistic,
				      .n_parameters = 2,
				      .parameters = {"loc", "scale"},
				      .ranges = {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_GUMBEL] = {.name = "gumbel",
				    .draw = tn_sample_gumbel,
				    .n_parameters = 2,
				    .parameters = {"loc", "scale"},
				    .ranges = {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_CAUCHY] = {.name = "cauchy",
				    .draw = tn_sample_cauchy,
				    .n_parameters = 2,
				    .parameters = {"loc", "scale"},
				    .ranges = {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_LOGNORMAL] = {.name = "lognormal",
				       .draw = tn_sample_lognormal,
				       .n_parameters = 2,
				       .parameters = {"mean", "sigma"},
				       .ranges = {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_RAYLEIGH] = {.name = "rayleigh",
				      .draw = tn_sample_rayleigh,
				      .n_parameters = 1,
				      .parameters = {"scale"},
				      .ranges = {NOT_NEGATIVE}},
	[TN_DISTRIBUTION_WEIBULL] = {.name = "weibull",
				     .draw = tn_sample_weibull,
				     .n_parameters = 1,
				     .parameters = {"a"},
				     .ranges = {POSITIVE}},
	[TN_DISTRIBUTION_PARETO] = {.name = "pareto",
				    .draw = tn_sample_pareto,
				    .n_parameters = 1,
				    .parameters = {"a"},
				    .ranges = {POSITIVE}},
	[TN_DISTRIBUTION_POWER] = {.name = "power",
				   .draw = tn_sample_power,
				   .n_parameters = 1,
				   .parameters = {"a"},
				   .ranges = {POSITIVE}},
	[TN_DISTRIBUTION_WALD] = {.name = "wald",
				  .draw = tn_sample_wald,
				  .n_parameters = 2,
				  .parameters = {"mean", "scale"},
				  .ranges = {POSITIVE, POSITIVE}},
	[TN_DISTRIBUTION_TRIANGULAR] = {.name = "triangular",
					.draw = tn_sample_triangular,
					.n_parameters = 3,
					.parameters = {"left", "mode", "right"},
					.ranges = {ANY, ANY, ANY}},
	[TN_DISTRIBUTION_TRUNCATED_NORMAL] = {.name = "truncated_normal",
					      .draw = tn_sample_truncated_normal,
					      .n_parameters = 4,
					      .parameters = {"mean", "deviation", "low", "high"},
					      .ranges = {ANY, POSITIVE, LIMIT, LIMIT}},
	[TN_DISTRIBUTION_BINOMIAL] = {.name = "binomial",
				      .draw = tn_sample_binomial,
				      .n_parameters = 2,
				      .gives_integers = 1,
				      .parameters = {"n", "p"},
				      .ranges = {COUNT, PROBABILITY}},
	[TN_DISTRIBUTION_POISSON] = {.name = "poisson",
				     .draw = tn_sample_poisson,
				     .n_parameters = 1,
				     .gives_integers = 1,
				     .parameters = {"lam"},
				     .ranges = {MEAN}},
	[TN_DISTRIBUTION_GEOMETRIC] = {.name = "geometric",
				       .draw = tn_sample_geometric,
				       .n_parameters = 1,
				       .gives_integers = 1,
				       .parameters = {"p"},
				       .ranges = {POSITIVE_PROBABILITY}},
	[TN_DISTRIBUTION_NEGATIVE_BINOMIAL] = {.name = "negative_binomial",
					       .draw = tn_sample_negative_binomial,
					       .n_parameters = 2,
					       .gives_integers = 1,
					       .parameters = {"n", "p"},
					       .ranges = {POSITIVE, POSITIVE_PROBABILITY}},
	[TN_DISTRIBUTION_NONCENTRAL_CHISQUARE] = {.name = "noncentral_chisquare",
						  .draw = tn_sample_noncentral_chisquare,
						  .n_parameters = 2,
						  .parameters = {"df", "nonc"},
						  .ranges = {POSITIVE, MEAN}},
	[TN_DISTRIBUTION_NONCENTRAL_F] = {.name = "noncentral_f",
					  .draw = tn_sample_noncentral_f,
					  .n_parameters = 3,
					  .parameters = {"dfnum", "dfden", "nonc"},
					  .ranges = {POSITIVE, POSITIVE, MEAN}},
	[TN_DISTRIBUTION_VONMISES] = {.name = "vonmises",
				      .draw = tn_sample_vonmises,
				      .n_parameters = 2,
				      .parameters = {"mu", "kappa"},
				      .ranges = {ANY, NOT_NEGATIVE}},
	[TN_DISTRIBUTION_HYPERGEOMETRIC] = {.name = "hypergeometric",
					    .draw = tn_sample_hypergeometric,
					    .n_parameters = 3,
					    .gives_integers = 1,
					    .parameters = {"ngood", "nbad", "nsample"},
					    .ranges = {COUNT, COUNT, COUNT}},
	[TN_DISTRIBUTION_LOGSERIES] = {.name = "logseries",
				       .draw = tn_sample_logseries,
				       .n_parameters = 1,
				       .gives_integers = 1,
				       .parameters = {"p"},
				       .ranges = {BELOW_1}},
	[TN_DISTRIBUTION_ZIPF] = {.name = "zipf",
				  .draw = tn_sample_zipf,
				  .n_parameters = 1,
				  .gives_integers = 1,
				  .parameters = {"a"},
				  .ranges = {ABOVE_1}},
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
