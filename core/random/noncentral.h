/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Distributions whose normal numbers have a mean.
 */
#ifndef TN_RANDOM_NONCENTRAL_H
#define TN_RANDOM_NONCENTRAL_H

#include "random/words.h"

/* Parameters in the order of tenon/random.h. */
double tn_sample_noncentral_chisquare(struct tn_words *words, const double *p);
double tn_sample_noncentral_f(struct tn_words *words, const double *p);

#endif
