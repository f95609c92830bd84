/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shares of a network's arena, one for each rank: what connects the ranks sets them, and optimizers
 * keep states of one (optim/shard.h).
 *
 * Shares are of whole rows of TN_ARENA_ALIGNMENT elements, the first size / n of them for each rank
 * and the few that remain for the last, so that the equal parts can be gathered in place.
 */
#ifndef TN_NN_SHARD_H
#define TN_NN_SHARD_H

#include "nn/module.h"

/* Elements [begin, end) of the arena. */
struct tn_share {
	int64_t begin;
	int64_t end;
};

/* Elements of a share but for the last rank's, which has those after n_ranks shares, too. */
static inline int64_t tn_share_each(int64_t size, uint32_t n_ranks)
{
	return size / TN_ARENA_ALIGNMENT / (int64_t)n_ranks * TN_ARENA_ALIGNMENT;
}

/* A rank's share of an arena of `size` elements. */
struct tn_share tn_share_of(int64_t size, uint32_t rank, uint32_t n_ranks);

/* Optimizers of a built module that are made from now on have a share of the state; n_ranks 0:
 * those made from now on have all of it, and sharded ones refuse to step (TN_STATE).  TN_STATE: the
 * module has not been built, or is part of another; TN_INVALID_ARGUMENT: no such rank.  Errors are
 * kept. */
tn_status tn_module_set_shard(tn_module *module, const struct tn_shard *shard);

#endif
