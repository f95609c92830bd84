/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loading one candidate.
 */
#ifndef TN_LOADER_LOAD_H
#define TN_LOADER_LOAD_H

#include "loader/kind.h"
#include "loader/plugin.h"
#include "loader/registry.h"
#include "loader/search.h"
#include "loader/selection.h"
#include "loader/version.h"

/* What all candidates of one opening share. */
struct tn_loading {
	const struct tn_plugin_kind *kind;
	const struct tn_registry_options *options;
	struct tn_abi_version host;
	struct tn_selection selection;
	const char *source; /* where the selection came from, as errors name it */
	struct tn_simulation simulation;
	struct tn_candidates candidates;
	struct tn_load_report *report;
};

/* Takes candidate i through the stages until one fails and fills its row, which must exist.
 * *plugin: the loaded plugin, the kind's struct, owned (tn_plugin_destroy), or NULL: the row has
 * the reason.  TN_OUT_OF_MEMORY: the host ran out of memory. */
tn_status tn_plugin_load(struct tn_loading *loading, size_t i, struct tn_plugin **plugin);
/* The same up to the stage `negotiate`: no code of the file runs. */
tn_status tn_plugin_inspect(struct tn_loading *loading, size_t i);

/* destroy_instance 0: does not destroy the plugin's instance (in a forked child).  Takes NULL. */
void tn_plugin_destroy(struct tn_plugin *plugin, int destroy_instance);

/* ---- For the stages of one kind --------------------------------------------------------------*/

/* Notes that a candidate enters a stage. */
void tn_plugin_enter(const struct tn_loading *loading, const struct tn_candidate *candidate,
		     uint32_t stage);
int tn_plugin_is_absence(tn_status status);
/* A status that does not describe an absence means that the start failed: TN_PROBE_FAILED, whose
 * text has the entry, the status and its text. */
tn_status tn_plugin_absence(tn_status status, const char *entry, struct tn_error_info *error);

#endif
