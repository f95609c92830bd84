/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gamma numbers of scale 1, and those made of them.
 */
#ifndef TN_RANDOM_GAMMA_H
#define TN_RANDOM_GAMMA_H

#include "random/words.h"

double tn_sample_standard_gamma(struct tn_words *words, double a); /* a >= 0; 0 gives 0 */
/* Its logarithm, which is finite where a small `a` makes the number itself 0.  Where a smaller one
 * makes both logarithms -inf, the number of less depth is infinitely many times the other. */
struct tn_log_gamma {
	double log, depth;
};
struct tn_log_gamma tn_sample_log_gamma(struct tn_words *words, double a); /* a > 0 */

/* Parameters in the order of tenon/random.h. */
double tn_sample_gamma(struct tn_words *words, const double *p);
double tn_sample_beta(struct tn_words *words, const double *p);
double tn_sample_chisquare(struct tn_words *words, const double *p);
double tn_sample_f(struct tn_words *words, const double *p);
double tn_sample_standard_t(struct tn_words *words, const double *p);

#endif
