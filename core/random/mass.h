/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Probabilities of counts, without cancellation: C. Loader, Fast and accurate computation of
 * binomial probabilities (2000).
 */
#ifndef TN_RANDOM_MASS_H
#define TN_RANDOM_MASS_H

/* The logarithms of the probability of k, a whole number of 0 or more. */
double tn_mass_log_poisson(double k, double lam);             /* lam > 0 */
double tn_mass_log_binomial(double k, double n, double prob); /* k <= n; 0 < prob < 1 */

#endif
