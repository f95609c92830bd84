/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Distributions of whole numbers, which are returned as doubles: infinity where none is so large.
 */
#ifndef TN_RANDOM_COUNTS_H
#define TN_RANDOM_COUNTS_H

#include "random/words.h"

/* Parameters in the order of tenon/random.h. */
double tn_sample_binomial(struct tn_words *words, const double *p);
double tn_sample_poisson(struct tn_words *words, const double *p);
double tn_sample_geometric(struct tn_words *words, const double *p);
double tn_sample_hypergeometric(struct tn_words *words, const double *p);
double tn_sample_logseries(struct tn_words *words, const double *p);
double tn_sample_zipf(struct tn_words *words, const double *p);
double tn_sample_negative_binomial(struct tn_words *words, const double *p);

#endif
