/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch norm in training whose statistics are those of the samples of several ranks.
 */
#ifndef TN_LAYERS_SYNC_BATCH_NORM_H
#define TN_LAYERS_SYNC_BATCH_NORM_H

#include <tenon/autograd.h>

/* How the ranks exchange numbers. */
struct tn_norm_ranks {
	uint32_t n_ranks;
	/* all has n numbers of each rank, those of rank 0 first; waits for all ranks.  Errors are
	 * kept. */
	tn_status (*gather)(void *user, size_t n, const double *own, double *all);
	void *user;
};

/* tn_batch_norm_of_ranks (batch_norm.h) in training on ranks, with options that are complete
 * and checked: mean and variance in forward, and the two sums of backward, by one exchange each, on
 * the host.  It has no second derivative. */
tn_array *tn_sync_batch_norm(const tn_array *x, const tn_array *w, const tn_array *b,
			     const struct tn_batch_norm_options *options,
			     const struct tn_norm_ranks *ranks);

#endif
