/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of distributions that the host draws.
 */
#ifndef TN_RANDOM_DISTRIBUTION_H
#define TN_RANDOM_DISTRIBUTION_H

#include <tenon/random.h>

#include "array/runtime.h"
#include "random/words.h"

enum { TN_MOST_PARAMETERS = 4 };

/* normal in f64: no public number, since tn_generator_normal draws other dtypes elsewhere. */
enum { TN_DISTRIBUTION_NORMAL = 0, TN_DISTRIBUTIONS = TN_DISTRIBUTION_ZIPF + 1 };

struct tn_distribution {
	const char *name; /* of the operation */
	double (*draw)(struct tn_words *words, const double *parameters);
	uint8_t n_parameters;
	uint8_t gives_integers;
	const char *parameters[TN_MOST_PARAMETERS];
	uint8_t ranges[TN_MOST_PARAMETERS];
};

extern const struct tn_distribution tn_distributions[TN_DISTRIBUTIONS];

/* Are the parameters of one number in range?  TN_INVALID_ARGUMENT, in runtime->report. */
tn_status tn_distribution_check(struct tn_runtime *runtime,
				const struct tn_distribution *distribution,
				const double *parameters);

#endif
