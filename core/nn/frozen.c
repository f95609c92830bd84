/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Frozen networks that several threads run at once, each in a context of its own:
 *
 *	tn_frozen_create    copies the structure, and shares the arena, buffers and folded weights
 *	tn_frozen_run       finds the context's replica (replica.c), or makes it
 *	  the first for     records the calls (freeze.c) with the packed weights that others have
 *	  a shape of x      made, or makes them for others (packs.c)
 *	  later ones        repeat the calls, with x and y where they are
 *	tn_frozen_destroy   the memory goes with the last replica: when its context is closed or
 *	                    runs another network
 */
#include <tenon/frozen.h>

#include "array/array.h"
#include "array/make.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/threads.h"
#include "capture/capture.h"
#include "nn/copy.h"
#include "nn/freeze.h"
#include "nn/replica.h"
#include "nn/tree.h"

/* ---- Sharing ---------------------------------------------------------------------------------*/

static tn_status check_module(const tn_module *module, const char *operation)
{
	if (!module->frozen)
		return tn_runtime_fail(module->runtime, TN_STATE, operation,
				       "the network is not frozen: use tn_module_freeze");
	if (module->training)
		return tn_runtime_fail(module->runtime, TN_STATE, operation,
				       "the network is in training mode");
	return tn_capture_refuse(module->runtime, operation, "the weights of a network");
}

/* The handle without values.  NULL: a kept error. */
static struct tn_frozen *make_handle(const tn_module *module, const char *operation)
{
	struct tn_runtime *rt = module->runtime;
	struct tn_frozen *frozen = tn_mem_zeroed(1, sizeof(*frozen));
	if (!frozen) {
		tn_runtime_no_memory(rt, operation, "a network");
		return NULL;
	}
	atomic_init(&frozen->n_users, 1);
	frozen->fork_generation = tn_fork_generation();
	pthread_mutex_init(&frozen->mutex, NULL);
	frozen->n_folds = tn_frozen_list_folds(module, NULL);
	frozen->n_values = 1 + module->n_buffer_listing + frozen->n_folds;
	frozen->values = tn_mem_zeroed(frozen->n_values, sizeof(tn_shared *));
	frozen->packs = tn_packs_create();
	if (!frozen->values || !frozen->packs)
		tn_runtime_no_memory(rt, operation, "a network");
	else if (!(frozen->structure = tn_module_copy_tree(NULL, module, &rt->report)))
		tn_runtime_keep(rt, &rt->report);
	if (frozen->structure)
		return frozen;
	tn_frozen_leave(frozen);
	return NULL;
}

static tn_status share_values(tn_module *module, struct tn_frozen *frozen, const char *operation)
{
	struct tn_runtime *rt = module->runtime;
	tn_array **arrays = tn_mem_zeroed(frozen->n_values, sizeof(tn_array *));
	if (!arrays)
		return tn_runtime_no_memory(rt, operation, "a network's values");
	arrays[0] = module->arena.values;
	for (size_t i = 0; i < module->n_buffer_listing; i++)
		arrays[1 + i] = module->buffer_listing[i].buffer->value;
	tn_frozen_list_folds(module, arrays + frozen->n_values - frozen->n_folds);
	tn_status status = TN_OK;
	for (size_t i = 0; i < frozen->n_values && !status; i++) {
		frozen->values[i] = tn_share(arrays[i]);
		status = frozen->values[i] ? TN_OK : rt->error.status;
	}
	tn_mem_free(arrays);
	return status;
}

tn_frozen *tn_frozen_create(tn_module *module)
{
	static const char operation[] = "frozen_create";
	if (!module || tn_runtime_ready(module->runtime) || check_module(module, operation) ||
	    tn_frozen_refold(module))
		return NULL;
	struct tn_frozen *frozen = make_handle(module, operation);
	if (!frozen || !share_values(module, frozen, operation))
		return frozen;
	tn_frozen_leave(frozen);
	return NULL;
}

void tn_frozen_destroy(tn_frozen *frozen)
{
	if (!frozen || tn_frozen_check(frozen, "frozen_destroy", NULL))
		return;
	atomic_store(&frozen->is_destroyed, 1);
	tn_frozen_leave(frozen);
}

/* ---- Running ---------------------------------------------------------------------------------*/

/* A run that was cancelled leaves no error. */
static tn_status run(tn_module *module, const tn_array *x, tn_array *y,
		     const struct tn_frozen_run_options *options)
{
	struct tn_runtime *rt = module->runtime;
	const unsigned limit = options->n_threads ? tn_threads_limit(options->n_threads) : 0;
	rt->cancel = options->cancel;
	tn_status status =
		tn_runtime_is_cancelled(rt) ? TN_CANCELLED : tn_frozen_forward_into(module, x, y);
	rt->cancel = NULL;
	if (options->n_threads)
		tn_threads_limit(limit);
	if (status && rt->error.status == TN_CANCELLED) {
		status = TN_CANCELLED;
		tn_error_reset(&rt->error);
	}
	return status;
}

tn_status tn_frozen_run(tn_frozen *frozen, const tn_array *x, tn_array *y,
			const struct tn_frozen_run_options *given)
{
	static const char operation[] = "frozen_run";
	struct tn_frozen_run_options options = tn_frozen_run_defaults();
	const tn_array *any = x ? x : y;
	struct tn_runtime *rt = any ? any->runtime : NULL;
	const struct tn_given arguments[] = {{"frozen", frozen}, {"x", x}, {"y", y}};
	tn_status status = tn_runtime_given(rt, operation, 3, arguments);
	if (!status)
		status = tn_begin_into(2, (const tn_array *[]){x, y}, operation);
	if (!status)
		status = tn_runtime_take(rt, &options, sizeof(options), given,
					 "struct tn_frozen_run_options", operation);
	if (status)
		return status;
	status = tn_array_writable(rt, operation, y);
	if (status)
		return tn_end_into(rt, status);
	tn_module *module = tn_replica_module(rt, frozen);
	return module ? run(module, x, y, &options) : rt->error.status;
}

tn_array *tn_frozen_forward(tn_frozen *frozen, const tn_array *x)
{
	if (!frozen || !x) {
		tn_runtime_null(x ? x->runtime : NULL, "frozen_forward", x ? "frozen" : "x");
		return NULL;
	}
	tn_module *module =
		tn_runtime_ready(x->runtime) ? NULL : tn_replica_module(x->runtime, frozen);
	return module ? tn_module_forward(module, x) : NULL;
}
