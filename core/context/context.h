/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The context's own state; the state that arrays use is in array/runtime.h.
 */
#ifndef TN_CONTEXT_CONTEXT_H
#define TN_CONTEXT_CONTEXT_H

#include <tenon/context.h>

#include "array/runtime.h"
#include "base/log.h"
#include "base/parameter.h"
#include "base/threads.h"
#include "device/memory_events.h"
#include "loader/registry.h"

struct tn_assembly {
	struct tn_logger logger;
	struct tn_parameters parameters;
	struct tn_threads *threads;
	struct tn_registry *registry;
	tn_load_report *report;
	struct tn_device **devices; /* one per choice of the registry, in its order */
	size_t n_devices;
	uint64_t memory_limit, memory_percent; /* of each (settings.h) */
	/* The built-in backend's device unless it is one of the choices, and its registry when the
	 * selection excludes it. */
	struct tn_device *reference;
	struct tn_registry *last_resort;
	/* The devices that were current before each push. */
	struct tn_device **pushed;
	size_t n_pushed, room_for_pushed;
	char **plugin_paths; /* of the options: communicators are searched for in them later */
	size_t n_plugin_paths;
	struct tn_watchers watchers; /* the program's hook; hook NULL: none */
};

/* One more user of the context's memory outside the library; one fewer, from any thread.  A context
 * that is closed keeps its devices until the last one has left. */
void tn_context_enter(tn_context *context);
void tn_context_leave(tn_context *context);

#endif
