/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A context has a list of its replicas, which its own thread alone reads and changes: a run finds
 * its module without a lock.
 */
#include "nn/replica.h"

#include "array/array.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/quarantine.h"
#include "nn/arena.h"
#include "nn/copy.h"
#include "nn/freeze.h"
#include "nn/tree.h"

#define ENDED "the frozen network has been destroyed"

static const char operation[] = "frozen_run";

struct tn_replica {
	struct tn_replica *next;
	struct tn_frozen *frozen;
	tn_module *module;
};

/* ---- The end ---------------------------------------------------------------------------------*/

static void free_frozen(struct tn_frozen *frozen)
{
	for (size_t i = 0; frozen->values && i < frozen->n_values; i++)
		tn_shared_destroy(frozen->values[i]);
	tn_mem_free(frozen->values);
	tn_packs_destroy(frozen->packs);
	tn_module_destroy(frozen->structure);
	pthread_mutex_destroy(&frozen->mutex);
	tn_quarantine_end(frozen, ENDED);
}

tn_status tn_frozen_check(const struct tn_frozen *frozen, const char *call,
			  struct tn_error_info *error)
{
	if (!tn_quarantine_is_open || !atomic_load(&frozen->is_destroyed))
		return TN_OK;
	return tn_quarantine_report(call, ENDED, error);
}

void tn_frozen_leave(struct tn_frozen *frozen)
{
	if (atomic_fetch_sub(&frozen->n_users, 1) == 1)
		free_frozen(frozen);
}

static void destroy(struct tn_replica *replica)
{
	tn_module_destroy(replica->module);
	tn_frozen_leave(replica->frozen);
	tn_mem_free(replica);
}

static void release_all(struct tn_runtime *rt)
{
	while (rt->replicas) {
		struct tn_replica *replica = rt->replicas;
		rt->replicas = replica->next;
		destroy(replica);
	}
	rt->release_replicas = NULL;
}

/* ---- Making ----------------------------------------------------------------------------------*/

/* Arrays of the context over the shared values, in its innermost scope. */
static tn_status take_values(struct tn_runtime *rt, const struct tn_frozen *frozen,
			     tn_array **values)
{
	for (size_t i = 0; i < frozen->n_values; i++) {
		values[i] = tn_shared_array(rt->context, frozen->values[i]);
		if (!values[i])
			return rt->error.status;
	}
	return TN_OK;
}

/* Builds the module over the values. */
static tn_status build(tn_module *module, const struct tn_frozen *frozen, tn_array **values)
{
	struct tn_network_arena arena;
	tn_status status = tn_network_arena_over(module, values[0], &arena);
	if (status) {
		tn_network_arena_free(&arena);
		return status;
	}
	tn_network_arena_install(module, &arena);
	for (size_t i = 0; i < module->n_buffer_listing; i++)
		module->buffer_listing[i].buffer->value = tn_array_hold(values[1 + i]);
	tn_module_seal(module);
	return tn_module_freeze_shared(module, values + frozen->n_values - frozen->n_folds,
				       frozen->packs);
}

static tn_status fill(tn_module *module, const struct tn_frozen *frozen)
{
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_module_list(module);
	if (!status)
		status = tn_scope_begin(rt->context);
	if (status)
		return status;
	tn_array **values = tn_mem_zeroed(frozen->n_values, sizeof(tn_array *));
	status = values ? take_values(rt, frozen, values)
			: tn_runtime_no_memory(rt, operation, "a network's values");
	if (!status)
		status = build(module, frozen, values);
	tn_mem_free(values);
	tn_scope_end(rt->context, NULL);
	return status;
}

static tn_module *make_module(struct tn_runtime *rt, struct tn_frozen *frozen)
{
	pthread_mutex_lock(&frozen->mutex);
	tn_module *module = tn_module_copy_tree(rt->context, frozen->structure, &rt->report);
	pthread_mutex_unlock(&frozen->mutex);
	if (!module) {
		tn_runtime_keep(rt, &rt->report);
		return NULL;
	}
	if (!fill(module, frozen))
		return module;
	tn_module_destroy(module);
	return NULL;
}

/* Its arrays are not of the work that an observer records or captures. */
static tn_module *make_unobserved(struct tn_runtime *rt, struct tn_frozen *frozen)
{
	const struct tn_observer *observer = rt->observer;
	rt->observer = NULL;
	tn_module *module = make_module(rt, frozen);
	rt->observer = observer;
	return module;
}

static tn_module *add(struct tn_runtime *rt, struct tn_frozen *frozen)
{
	if (frozen->fork_generation != tn_fork_generation()) {
		tn_runtime_fail(rt, TN_FORKED, operation,
				"the network is that of the parent of this process");
		return NULL;
	}
	struct tn_replica *replica = tn_mem_zeroed(1, sizeof(*replica));
	if (!replica) {
		tn_runtime_no_memory(rt, operation, "a network");
		return NULL;
	}
	replica->module = make_unobserved(rt, frozen);
	if (!replica->module) {
		tn_mem_free(replica);
		return NULL;
	}
	replica->frozen = frozen;
	atomic_fetch_add(&frozen->n_users, 1);
	replica->next = rt->replicas;
	rt->replicas = replica;
	rt->release_replicas = release_all;
	return replica->module;
}

/* ---- Finding ---------------------------------------------------------------------------------*/

tn_module *tn_replica_module(struct tn_runtime *rt, struct tn_frozen *frozen)
{
	tn_module *found = NULL;
	if (tn_frozen_check(frozen, operation, &rt->report)) {
		tn_runtime_keep(rt, &rt->report);
		return NULL;
	}
	for (struct tn_replica **link = &rt->replicas; *link;) {
		struct tn_replica *replica = *link;
		if (replica->frozen == frozen) {
			found = replica->module;
		} else if (atomic_load(&replica->frozen->is_destroyed)) {
			*link = replica->next;
			destroy(replica);
			continue;
		}
		link = &replica->next;
	}
	return found ? found : add(rt, frozen);
}
