/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sharded optimizer state, the first stage of S. Rajbhandari et al., "ZeRO: Memory Optimizations
 * Toward Training Trillion Parameter Models", SC 2020: of n ranks that train one network, each has
 * the states of one share of the arena and steps only that one.
 *
 *	tn_module_set_shard (nn/shard.h)
 *	                        before the optimizer is made: it then has states, masters and slow
 *	                        weights of the share's size, never larger ones
 *	tn_optimizer_step       expects in the share's part of the gradients the sum of all ranks;
 *	                        steps the share, then calls `gather` for the weights
 *	tn_optimizer_gather_state (tenon/optim.h)
 *	                        calls `gather` for each state, so that a checkpoint has them whole;
 *	                        the next step takes its share from there and frees the rest
 *
 * Every rank counts the steps of all weights.  Rules that need whole weights (LARS, LAMB) are
 * refused, as are steps within captured work.
 */
#ifndef TN_OPTIM_SHARD_H
#define TN_OPTIM_SHARD_H

#include "optim/optimizer.h"

/* Makes optimizer->share, and of a sharded one optimizer->values.  In the innermost scope; errors
 * are kept. */
tn_status tn_shard_open(tn_optimizer *optimizer);
void tn_shard_close(tn_optimizer *optimizer);

/* Leaves of a run what is in the share; 0: nothing. */
int tn_shard_clip(const tn_optimizer *optimizer, struct tn_run *run);
/* The run's part of an array of the share's size, in the innermost scope. */
tn_array *tn_shard_slice(const tn_optimizer *optimizer, const tn_array *array,
			 const struct tn_run *run);

/* Of a sharded optimizer, before and after the step of its share; of others they do nothing.  The
 * first takes the share from gathered states.  Errors are kept. */
tn_status tn_shard_before_step(tn_optimizer *optimizer);
tn_status tn_shard_after_step(const tn_optimizer *optimizer);
/* Takes the share from gathered states, if there are any. */
tn_status tn_shard_take_back(tn_optimizer *optimizer);

#endif
