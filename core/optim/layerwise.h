/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rules that adapt the learning rate of each weight to norms of the whole weight (LARS, LAMB).
 * Each weight begins at a multiple of TN_ARENA_ALIGNMENT elements, so that a row of as many
 * elements of the arena belongs to one weight, or to none.  The sums of squares of all weights are
 * four operations: a reduction along the rows, a sum of rows by weight (scatter_add), from zeros,
 * and back to the rows of each weight (take).
 */
#ifndef TN_OPTIM_LAYERWISE_H
#define TN_OPTIM_LAYERWISE_H

#include "optim/optimizer.h"

/* Makes optimizer->segments: the place in the arena's order of the weight of each row.  Errors are
 * kept. */
tn_status tn_layerwise_open(tn_optimizer *optimizer);

/* One step of all runs; its arrays belong to the innermost scope. */
struct tn_layerwise_step {
	tn_array *updates; /* arena: `d` of the rule with `prepare`, else the gradients */
	tn_array *squares; /* (2, rows): sums over the row's weight, of w and then of d */
};

/* The functions of a step, in this order; errors are kept. */
tn_status tn_layerwise_begin(const tn_optimizer *optimizer, struct tn_layerwise_step *step);
tn_status tn_layerwise_prepare(const tn_optimizer *optimizer, const struct tn_layerwise_step *step,
			       const struct tn_run *run, const struct tn_scalar *scalars);
tn_status tn_layerwise_norms(const tn_optimizer *optimizer, struct tn_layerwise_step *step);
tn_status tn_layerwise_update(const tn_optimizer *optimizer, const struct tn_layerwise_step *step,
			      const struct tn_run *run, const struct tn_scalar *scalars);

#endif
