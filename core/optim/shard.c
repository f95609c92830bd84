/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks a rank's share of the arena before a step, clips and slices runs to it, and gathers the
 * states of all shares.
 */
#include "optim/shard.h"

#include "array/array.h"
#include "capture/capture.h"
#include "optim/state.h"

tn_status tn_shard_open(tn_optimizer *optimizer)
{
	const tn_module *module = optimizer->module;
	const struct tn_shard *shard = &module->shard;
	optimizer->share = (struct tn_share){.begin = 0, .end = module->arena.size};
	if (!shard->n_ranks)
		return TN_OK;
	if (optimizer->rule->ratio)
		return tn_runtime_fail(module->runtime, TN_UNSUPPORTED, optimizer->rule->name,
				       "state sharded over %u ranks: expected a rule by elements, "
				       "found one that needs the norms of whole parameters",
				       shard->n_ranks);
	const struct tn_share share = tn_share_of(module->arena.size, shard->rank, shard->n_ranks);
	tn_array *values = tn_slice(module->arena.values, 0, share.begin, share.end, 1);
	if (!values)
		return module->runtime->error.status;
	optimizer->values = tn_array_hold(values);
	optimizer->share = share;
	optimizer->shard_rank = shard->rank;
	optimizer->n_shards = shard->n_ranks;
	return TN_OK;
}

/* Frees the gathered states. */
static void drop_gathered(tn_optimizer *optimizer)
{
	tn_state_forget_views(optimizer);
	for (size_t i = 0; i < TN_STATE_VIEWS; i++) {
		tn_array_unhold(optimizer->gathered[i]);
		optimizer->gathered[i] = NULL;
	}
	optimizer->is_gathered = 0;
}

void tn_shard_close(tn_optimizer *optimizer)
{
	drop_gathered(optimizer);
	tn_array_unhold(optimizer->values);
}

int tn_shard_clip(const tn_optimizer *optimizer, struct tn_run *run)
{
	const struct tn_share *share = &optimizer->share;
	if (run->begin < share->begin)
		run->begin = share->begin;
	if (run->end > share->end)
		run->end = share->end;
	return run->begin < run->end;
}

tn_array *tn_shard_slice(const tn_optimizer *optimizer, const tn_array *array,
			 const struct tn_run *run)
{
	const int64_t begin = optimizer->share.begin;
	return tn_slice(array, 0, run->begin - begin, run->end - begin, 1);
}

/* ---- Steps -----------------------------------------------------------------------------------*/

/* TN_STATE: the module no longer has the optimizer's share. */
static tn_status check_shard(const tn_optimizer *optimizer, const char *operation)
{
	const struct tn_shard *shard = &optimizer->module->shard;
	if (shard->rank == optimizer->shard_rank && shard->n_ranks == optimizer->n_shards)
		return TN_OK;
	if (!shard->n_ranks)
		return tn_runtime_fail(optimizer->module->runtime, TN_STATE, operation,
				       "the state is share %u of %u, and what connected the ranks "
				       "is gone",
				       optimizer->shard_rank, optimizer->n_shards);
	return tn_runtime_fail(optimizer->module->runtime, TN_STATE, operation,
			       "the state is share %u of %u, and this is now rank %u of %u",
			       optimizer->shard_rank, optimizer->n_shards, shard->rank,
			       shard->n_ranks);
}

tn_status tn_shard_before_step(tn_optimizer *optimizer)
{
	const char *operation = optimizer->rule->name;
	if (!optimizer->n_shards)
		return TN_OK;
	tn_status status =
		tn_capture_refuse(optimizer->module->runtime, operation, "a step of sharded state");
	if (!status)
		status = check_shard(optimizer, operation);
	return status ? status : tn_shard_take_back(optimizer);
}

tn_status tn_shard_after_step(const tn_optimizer *optimizer)
{
	const struct tn_shard *shard = &optimizer->module->shard;
	if (!optimizer->n_shards || !shard->gather)
		return TN_OK;
	return shard->gather(shard->user, optimizer->module->arena.values, "parameters");
}

/* ---- Gathered states -------------------------------------------------------------------------*/

/* The share's part of a gathered state, in the innermost scope. */
static tn_array *share_of_gathered(const tn_optimizer *optimizer, size_t i)
{
	return tn_slice(optimizer->gathered[i], 0, optimizer->share.begin, optimizer->share.end, 1);
}

tn_status tn_shard_take_back(tn_optimizer *optimizer)
{
	const tn_module *module = optimizer->module;
	const char *name;
	if (!optimizer->is_gathered)
		return TN_OK;
	tn_status status = tn_scope_begin(module->context);
	if (status)
		return status;
	for (size_t i = 0; i < tn_states_each(optimizer) && !status; i++) {
		const tn_array *from = share_of_gathered(optimizer, i);
		status = from ? tn_assign(tn_state_arena(optimizer, i, &name), from)
			      : module->runtime->error.status;
	}
	tn_scope_end(module->context, NULL);
	if (!status)
		drop_gathered(optimizer);
	return status;
}

static tn_status gather_one(tn_optimizer *optimizer, size_t i)
{
	const tn_module *module = optimizer->module;
	const struct tn_shard *shard = &module->shard;
	const char *name;
	const tn_array *own = tn_state_arena(optimizer, i, &name);
	tn_array *whole = tn_zeros(module->context, own->dtype, 1, &module->arena.size);
	if (!whole)
		return module->runtime->error.status;
	optimizer->gathered[i] = tn_array_hold(whole);
	tn_array *share = share_of_gathered(optimizer, i);
	tn_status status = share ? tn_assign(share, own) : module->runtime->error.status;
	if (!status && shard->gather)
		status = shard->gather(shard->user, whole, name);
	return status;
}

/* Makes the arrays on the module's device, regardless of the current one. */
tn_status tn_optimizer_gather_state(tn_optimizer *optimizer)
{
	static const char operation[] = "optimizer_gather_state";
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = optimizer->module->runtime;
	struct tn_device *current = rt->device;
	tn_status status = tn_runtime_ready(rt);
	if (status || !optimizer->n_shards)
		return status;
	status = tn_capture_refuse(rt, operation, "the exchange of states between ranks");
	if (!status)
		status = check_shard(optimizer, operation);
	if (!status)
		status = tn_shard_take_back(optimizer);
	if (!status)
		status = tn_scope_begin(optimizer->module->context);
	if (status)
		return status;
	rt->device = tn_array_home(optimizer->module->arena.values);
	for (size_t i = 0; i < tn_states_each(optimizer) && !status; i++)
		status = gather_one(optimizer, i);
	rt->device = current;
	tn_scope_end(optimizer->module->context, NULL);
	optimizer->is_gathered = !status;
	if (status)
		drop_gathered(optimizer);
	return status;
}
