/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loading one candidate.
 */
#ifndef TN_LOADER_LOAD_H
#define TN_LOADER_LOAD_H

#include "loader/registry.h"
#include "loader/search.h"
#include "loader/selection.h"
#include "loader/version.h"

/* What all candidates of one opening share. */
struct tn_loading {
	const struct tn_registry_options *options;
	struct tn_abi_version host;
	struct tn_selection selection;
	const char *source; /* where the selection came from, as errors name it */
	struct tn_simulation simulation;
	struct tn_candidates candidates;
	struct tn_load_report *report;
};

/* Takes candidate i through the stages until one fails and fills its row, which must exist.
 * *backend: the loaded backend, owned (tn_backend_destroy), or NULL: the row has the reason.
 * TN_OUT_OF_MEMORY: the host ran out of memory. */
tn_status tn_plugin_load(struct tn_loading *loading, size_t i, struct tn_backend **backend);

/* destroy_instance 0: does not destroy the plugin's instance (in a forked child).  Takes NULL. */
void tn_backend_destroy(struct tn_backend *backend, int destroy_instance);

#endif
