/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A graph: captured work, and everything that a replay of it needs.
 */
#ifndef TN_CAPTURE_GRAPH_H
#define TN_CAPTURE_GRAPH_H

#include <tenon/capture.h>

#include "array/runtime.h"
#include "capture/flags.h"
#include "capture/stepped.h"

/* Something that the work uses: a storage, a kernel. */
struct tn_kept {
	void *thing;
	void (*release)(void *thing);
};

struct tn_kept_list {
	struct tn_kept *items;
	size_t n, room;
};

struct tn_graph {
	struct tn_runtime *runtime;
	struct tn_device *device;
	void *handle;
	struct tn_store *store;
	/* Storages from before the capture that the work changes, and everything else that it
	 * uses. */
	struct tn_kept_list storages, others;
	struct tn_stepped stepped;
	struct tn_flags flags;
	struct tn_graph *next;  /* in the context's list */
	struct tn_graph *later; /* destroyed during a capture: released when that ends */
	int is_incomplete;      /* there was no host memory for a note */
};

#endif
