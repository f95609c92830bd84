/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradient hooks: Lasso and noise, added to the gradients of a run before its update.
 */
#ifndef TN_OPTIM_HOOKS_H
#define TN_OPTIM_HOOKS_H

#include "optim/optimizer.h"

/* The noise's standard deviation at a step, from 1; 0 without noise. */
double tn_noise_deviation(const struct tn_gradient_hooks *hooks, uint64_t step);

/* Runs the hooks on a run's gradients.  `random` is the seed and the stream of this step, and
 * `deviation` the scalar of tn_noise_deviation; both are read only with noise.  On failure the report
 * is filled. */
tn_status tn_hooks_run(const tn_optimizer *optimizer, const struct tn_run *run,
		       const tn_array *weights, tn_array *gradients,
		       const struct tn_scalar random[2], struct tn_scalar deviation);

#endif
