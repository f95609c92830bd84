/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a graph is: captured work, and all that it needs to be done again.
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
	/* Storages from before the capture that the work changes, and all else that it uses. */
	struct tn_kept_list storages, others;
	struct tn_stepped stepped;
	struct tn_flags flags;
	struct tn_graph *next;  /* of the context's */
	struct tn_graph *later; /* destroyed during a capture: released when that ends */
	int is_incomplete;      /* the host had no memory to note something */
};

#endif
