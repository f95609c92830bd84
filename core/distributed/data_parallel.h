/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Data parallel training: for the trainer and the layers.
 */
#ifndef TN_DISTRIBUTED_DATA_PARALLEL_H
#define TN_DISTRIBUTED_DATA_PARALLEL_H

#include "autograd/gradient_ready.h"
#include "distributed/buckets.h"
#include "distributed/sharded.h"
#include "layers/sync_batch_norm.h"

struct tn_data_parallel {
	tn_module *module;
	tn_communicator *communicator;
	struct tn_data_parallel_options options;
	struct tn_gradient_hook hook;    /* of the module */
	struct tn_norm_ranks norm_ranks; /* of the module, with sync_batch_norm */
	struct tn_buckets buckets;
	double share;
	int holds;
	int is_begun;              /* a gradient of this step was complete */
	uint64_t step;             /* from 1, for labels */
	int64_t *has_some;         /* of each weight: its gradient holds something */
	struct tn_sharded sharded; /* zeroed unless it is asked for */
};

static inline uint32_t tn_data_parallel_rank(const struct tn_data_parallel *parallel)
{
	return tn_communicator_rank(parallel->communicator);
}
static inline uint32_t tn_data_parallel_size(const struct tn_data_parallel *parallel)
{
	return tn_communicator_size(parallel->communicator);
}

#endif
