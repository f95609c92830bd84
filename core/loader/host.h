/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The services that the host gives to an instance: struct tn_host and its implementation.
 */
#ifndef TN_LOADER_HOST_H
#define TN_LOADER_HOST_H

#include "base/log.h"
#include "base/parameter.h"
#include "base/threads.h"
#include "loader/plugin.h"

struct tn_host_services {
	struct tn_host host;                    /* host.context points to this struct */
	const struct tn_logger *_Atomic logger; /* NULL: no messages are wanted */
	struct tn_parameters *parameters;
	struct tn_threads *threads;
	char name[32]; /* the backend's name: the subsystem of its messages */
	char *path;
	const struct tn_plugin *plugin; /* has the values of the options; NULL: there are none */
};

/* Owned: tn_host_destroy.  logger (no messages), threads (one thread) and path may be NULL.
 * NULL: out of memory. */
struct tn_host_services *tn_host_create(const struct tn_logger *logger,
					struct tn_parameters *parameters,
					struct tn_threads *threads, const char *name,
					const char *path, uint32_t effective_minor);
void tn_host_destroy(struct tn_host_services *services); /* takes NULL */

#endif
