/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Computes a rank's share of an arena, and sets it on a built module for optimizers made later.
 */
#include "nn/shard.h"

#include "nn/tree.h"

struct tn_share tn_share_of(int64_t size, uint32_t rank, uint32_t n_ranks)
{
	const int64_t each = tn_share_each(size, n_ranks);
	const struct tn_share share = {.begin = (int64_t)rank * each,
				       .end = ((int64_t)rank + 1) * each};
	return rank + 1 == n_ranks ? (struct tn_share){share.begin, size} : share;
}

tn_status tn_module_set_shard(tn_module *module, const struct tn_shard *shard)
{
	static const char operation[] = "module_set_shard";
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_module_check_network(module, operation);
	if (status)
		return status;
	if (shard->n_ranks && shard->rank >= shard->n_ranks)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "expected a rank below %u, found %u", shard->n_ranks,
				       shard->rank);
	module->shard = *shard;
	return TN_OK;
}
