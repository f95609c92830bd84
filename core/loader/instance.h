/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An instance of a plugin: what `create` has made, and the services that it was given.  The
 * contexts of a process share one when they would give equal ones.
 */
#ifndef TN_LOADER_INSTANCE_H
#define TN_LOADER_INSTANCE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/parameter.h"
#include "base/threads.h"
#include "loader/plugin.h"
#include "loader/registry.h"

struct tn_opened;

struct tn_instance {
	struct tn_instance *next;                   /* in the list of shared ones */
	const struct tn_backend_descriptor *origin; /* in the mapped file */
	struct tn_plugin plugin; /* of the first user: it has the values of the options */
	struct tn_host_services *services;
	int is_shared;
	int is_being_made;             /* in `create`: equal ones wait for it */
	uint32_t n_users, n_listeners; /* plugins, and those whose context still wants messages */
	atomic_int is_lost;            /* a device of it was lost: nobody else gets it */
	uint64_t fork_generation;
	pthread_mutex_t turn;     /* of [instance] entries; guards what follows */
	struct tn_opened *opened; /* its devices that contexts share (device/opened.h) */
	/* Of a backend: what the first user has counted, for the later ones; NULL: nobody yet. */
	struct tn_device_description *devices;
	uint32_t n_devices;
	/* Of a shared one, which outlives the context that made it. */
	struct tn_logger logger;
	struct tn_parameters parameters;
	struct tn_threads *threads;
};

/* Gives the plugin, which has its descriptor and options, an instance: with options->shares one
 * that there is, if it is the same; else it calls `create`.  `origin` is the descriptor in the
 * file, `path` that file (NULL: built in).  TN_OUT_OF_MEMORY, or the status of `create`. */
tn_status tn_instance_take(const struct tn_registry_options *options,
			   const struct tn_backend_descriptor *origin, const char *path,
			   struct tn_plugin *plugin, struct tn_error_info *error);
/* One user fewer; the last one destroys it, unless `destroys` is 0: in a forked child.  Takes a
 * plugin without an instance. */
void tn_instance_give(struct tn_plugin *plugin, int destroys);
/* The plugin's context wants no more messages. */
void tn_instance_silence(struct tn_plugin *plugin);

/* Adds the variables that the instance has read to those of a context. */
void tn_instance_list_variables(const struct tn_instance *instance,
				struct tn_parameters *parameters);

/* Round each [instance] entry.  NULL: an instance without a record, in tests. */
static inline void tn_instance_lock(struct tn_instance *instance)
{
	if (instance)
		pthread_mutex_lock(&instance->turn);
}

static inline void tn_instance_unlock(struct tn_instance *instance)
{
	if (instance)
		pthread_mutex_unlock(&instance->turn);
}

#endif
