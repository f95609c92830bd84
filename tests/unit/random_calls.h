/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The distributions of <tenon/random.h> by name, with numbers as parameters, for tests.
 */
#ifndef TN_TESTS_RANDOM_CALLS_H
#define TN_TESTS_RANDOM_CALLS_H

#include <tenon/tenon.h>

#include "check.h"

typedef tn_array *real_of_1(tn_generator *, tn_dtype, int, const int64_t *, double);
typedef tn_array *real_of_2(tn_generator *, tn_dtype, int, const int64_t *, double, double);
typedef tn_array *count_of_1(tn_generator *, int, const int64_t *, double);

/* By the number of parameters; n: of tn_generator_sample, 0 for those that the device draws. */
static const struct random_name {
	const char *name;
	uint32_t n;
	uint32_t n_parameters;
	real_of_1 *real_1;
	real_of_2 *real_2;
	count_of_1 *count_1;
} random_names[] = {
	{"exponential", TN_DISTRIBUTION_EXPONENTIAL, 1, tn_generator_exponential, NULL, NULL},
	{"gamma", TN_DISTRIBUTION_GAMMA, 2, NULL, tn_generator_gamma, NULL},
	{"beta", TN_DISTRIBUTION_BETA, 2, NULL, tn_generator_beta, NULL},
	{"chisquare", TN_DISTRIBUTION_CHISQUARE, 1, tn_generator_chisquare, NULL, NULL},
	{"f", TN_DISTRIBUTION_F, 2, NULL, tn_generator_f, NULL},
	{"standard_t", TN_DISTRIBUTION_STANDARD_T, 1, tn_generator_standard_t, NULL, NULL},
	{"laplace", TN_DISTRIBUTION_LAPLACE, 2, NULL, tn_generator_laplace, NULL},
	{"logistic", TN_DISTRIBUTION_LOGISTIC, 2, NULL, tn_generator_logistic, NULL},
	{"gumbel", TN_DISTRIBUTION_GUMBEL, 2, NULL, tn_generator_gumbel, NULL},
	{"cauchy", TN_DISTRIBUTION_CAUCHY, 2, NULL, tn_generator_cauchy, NULL},
	{"lognormal", TN_DISTRIBUTION_LOGNORMAL, 2, NULL, tn_generator_lognormal, NULL},
	{"rayleigh", TN_DISTRIBUTION_RAYLEIGH, 1, tn_generator_rayleigh, NULL, NULL},
	{"weibull", TN_DISTRIBUTION_WEIBULL, 1, tn_generator_weibull, NULL, NULL},
	{"pareto", TN_DISTRIBUTION_PARETO, 1, tn_generator_pareto, NULL, NULL},
	{"power", TN_DISTRIBUTION_POWER, 1, tn_generator_power, NULL, NULL},
	{"wald", TN_DISTRIBUTION_WALD, 2, NULL, tn_generator_wald, NULL},
	{"triangular", TN_DISTRIBUTION_TRIANGULAR, 3, NULL, NULL, NULL},
	{"truncated_normal", TN_DISTRIBUTION_TRUNCATED_NORMAL, 4, NULL, NULL, NULL},
	{"binomial", TN_DISTRIBUTION_BINOMIAL, 2, NULL, NULL, NULL},
	{"poisson", TN_DISTRIBUTION_POISSON, 1, NULL, NULL, tn_generator_poisson},
	{"geometric", TN_DISTRIBUTION_GEOMETRIC, 1, NULL, NULL, tn_generator_geometric},
	{"negative_binomial", TN_DISTRIBUTION_NEGATIVE_BINOMIAL, 2, NULL, NULL, NULL},
	{"noncentral_chisquare", TN_DISTRIBUTION_NONCENTRAL_CHISQUARE, 2, NULL,
	 tn_generator_noncentral_chisquare, NULL},
	{"noncentral_f", TN_DISTRIBUTION_NONCENTRAL_F, 3, NULL, NULL, NULL},
	{"vonmises", TN_DISTRIBUTION_VONMISES, 2, NULL, tn_generator_vonmises, NULL},
	{"hypergeometric", TN_DISTRIBUTION_HYPERGEOMETRIC, 3, NULL, NULL, NULL},
	{"logseries", TN_DISTRIBUTION_LOGSERIES, 1, NULL, NULL, tn_generator_logseries},
	{"zipf", TN_DISTRIBUTION_ZIPF, 1, NULL, NULL, tn_generator_zipf},
	{"uniform", 0, 2, NULL, tn_generator_uniform, NULL},
	{"normal", 0, 2, NULL, tn_generator_normal, NULL},
	{"random", 0, 0, NULL, NULL, NULL},
	{"standard_normal", 0, 0, NULL, NULL, NULL},
	{"bernoulli", 0, 1, NULL, NULL, tn_generator_bernoulli},
	{"integers", 0, 3, NULL, NULL, NULL},
};
enum { RANDOM_NAMES = sizeof(random_names) / sizeof(random_names[0]) };

static inline const struct random_name *random_name_of(const char *name)
{
	size_t i = 0;
	while (i < RANDOM_NAMES && strcmp(random_names[i].name, name) != 0)
		i++;
	if (i == RANDOM_NAMES)
		fail_msg("the distribution %s is not known", name);
	return &random_names[i];
}

/* The dtype counts for those that have one; p is what the function takes after the shape. */
static inline tn_array *random_call(tn_generator *g, const char *name, tn_dtype dtype, int rank,
				    const int64_t *shape, const double *p)
{
	const struct random_name *row = random_name_of(name);
	if (row->real_1)
		return row->real_1(g, dtype, rank, shape, p[0]);
	if (row->real_2)
		return row->real_2(g, dtype, rank, shape, p[0], p[1]);
	if (row->count_1)
		return row->count_1(g, rank, shape, p[0]);
	if (!strcmp(name, "triangular"))
		return tn_generator_triangular(g, dtype, rank, shape, p[0], p[1], p[2]);
	if (!strcmp(name, "truncated_normal"))
		return tn_generator_truncated_normal(g, dtype, rank, shape, p[0], p[1], p[2], p[3]);
	if (!strcmp(name, "binomial"))
		return tn_generator_binomial(g, rank, shape, (int64_t)p[0], p[1]);
	if (!strcmp(name, "negative_binomial"))
		return tn_generator_negative_binomial(g, rank, shape, p[0], p[1]);
	if (!strcmp(name, "hypergeometric"))
		return tn_generator_hypergeometric(g, rank, shape, (int64_t)p[0], (int64_t)p[1],
						   (int64_t)p[2]);
	if (!strcmp(name, "noncentral_f"))
		return tn_generator_noncentral_f(g, dtype, rank, shape, p[0], p[1], p[2]);
	if (!strcmp(name, "random"))
		return tn_generator_random(g, dtype, rank, shape);
	if (!strcmp(name, "standard_normal"))
		return tn_generator_standard_normal(g, dtype, rank, shape);
	return tn_generator_integers(g, dtype, rank, shape, (int64_t)p[0], (int64_t)p[1],
				     p[2] != 0);
}

#endif
