/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rules that adapt the learning rate of each weight to norms of the whole weight (LARS, LAMB).
 * Each weight begins at a multiple of TN_ARENA_ALIGNMENT elements, so that a row of as many
 * elements of the arena belongs to one weight.  The sums of squares of all weights are a reduction
 * along the rows and sums of the rows by weight (row_sums.h); a gather takes the ratios of the
 * weights back to their rows.
 */
#ifndef TN_OPTIM_LAYERWISE_H
#define TN_OPTIM_LAYERWISE_H

#include "optim/optimizer.h"

/* Makes optimizer->segments, the place in the arena's order of the weight of each row, and
 * optimizer->row_sums.  Errors are kept. */
tn_status tn_layerwise_open(tn_optimizer *optimizer);

/* One step of all runs; its arrays belong to the innermost scope. */
struct tn_layerwise_step {
	tn_array *updates; /* arena: `d` of the rule with `prepare`, else the gradients */
	tn_array *squares; /* (2, weights), a view: the sums of the squares of w, and of d */
	tn_array *ratios;  /* (weights) */
	tn_array *spread;  /* (rows): the ratio of the row's weight */
};

/* The functions of a step, in this order; errors are kept. */
tn_status tn_layerwise_begin(const tn_optimizer *optimizer, struct tn_layerwise_step *step);
tn_status tn_layerwise_prepare(const tn_optimizer *optimizer, const struct tn_layerwise_step *step,
			       const struct tn_run *run, const struct tn_scalar *scalars);
tn_status tn_layerwise_sums(const tn_optimizer *optimizer, struct tn_layerwise_step *step);
tn_status tn_layerwise_ratio(const tn_optimizer *optimizer, const struct tn_layerwise_step *step,
			     const struct tn_run *run, const struct tn_scalar *scalars);
tn_status tn_layerwise_spread(const tn_optimizer *optimizer, struct tn_layerwise_step *step);
tn_status tn_layerwise_update(const tn_optimizer *optimizer, const struct tn_layerwise_step *step,
			      const struct tn_run *run, const struct tn_scalar *scalars);

#endif
