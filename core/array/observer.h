/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The observer of a runtime: captures work (capture/capture.c) or records calls for inference
 * (capture/replay.c).  Arrays, routes and operations call it through this table and depend on
 * neither.
 */
#ifndef TN_ARRAY_OBSERVER_H
#define TN_ARRAY_OBSERVER_H

#include "array/runtime.h"
#include "array/storage.h"

struct tn_storage;

/* Each function may be NULL. */
struct tn_observer {
	/* The storage's elements are about to change in place. */
	void (*changed)(struct tn_runtime *runtime, struct tn_storage *storage);
	/* Work is about to be given a storage that is shared with other contexts. */
	void (*shared)(struct tn_runtime *runtime, struct tn_storage *storage);
	/* The storage's last reference is gone.  1: the observer has taken one, and the storage
	 * stays alive. */
	int (*keep)(struct tn_runtime *runtime, struct tn_storage *storage);
	/* Device memory for arrays and workspace: from the observer's own store or from the
	 * pool. */
	tn_status (*take)(struct tn_runtime *runtime, struct tn_device *device, uint64_t size,
			  struct tn_block *block, struct tn_error_info *error);
	void (*give)(struct tn_runtime *runtime, struct tn_device *device,
		     const struct tn_block *block);
	/* The call of an entry succeeded. */
	void (*called)(struct tn_runtime *runtime, uint32_t operation, uint32_t slot,
		       struct tn_device *device, const struct tn_call *args);
	/* An operation was composed of the calls before. */
	void (*composed)(struct tn_runtime *runtime, uint32_t operation);
	/* An operation was computed in f32 by the calls before. */
	void (*widened)(struct tn_runtime *runtime, uint32_t operation);
	/* The host did work other than calling an entry: a transfer, a run of the reference. */
	void (*unrepeatable)(struct tn_runtime *runtime);
};

static inline void tn_observe_unrepeatable(struct tn_runtime *runtime)
{
	if (runtime->observer && runtime->observer->unrepeatable)
		runtime->observer->unrepeatable(runtime);
}

#endif
