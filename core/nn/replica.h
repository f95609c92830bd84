/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Networks in the contexts that run a tn_frozen: in each a module over the shared values.
 */
#ifndef TN_NN_REPLICA_H
#define TN_NN_REPLICA_H

#include <pthread.h>
#include <stdatomic.h>

#include <tenon/frozen.h>
#include <tenon/share.h>

#include "nn/module.h"
#include "nn/packs.h"

/* Freed by its last user. */
struct tn_frozen {
	atomic_uint n_users; /* the handle, and the replicas */
	atomic_int is_destroyed;
	uint64_t fork_generation;
	pthread_mutex_t mutex; /* the structure is copied by one thread at a time */
	tn_module *structure;
	/* The arena, the buffers and the folds of the network, in this order. */
	tn_shared **values;
	size_t n_values;
	size_t n_folds; /* arrays, at the end of the list */
	struct tn_packs *packs;
};

/* TN_STATE: the handle has ended; it is noticed where handles are checked. */
tn_status tn_frozen_check(const struct tn_frozen *frozen, const char *call,
			  struct tn_error_info *error);
/* One user less.  From any thread. */
void tn_frozen_leave(struct tn_frozen *frozen);

/* The module of that context, made by its first call; NULL: a kept error.  Frees those of networks
 * that are destroyed.  It lives until the context is closed, or until a later call frees it. */
tn_module *tn_replica_module(struct tn_runtime *runtime, struct tn_frozen *frozen);

#endif
