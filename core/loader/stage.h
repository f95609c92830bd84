/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the stages of loading share.
 */
#ifndef TN_LOADER_STAGE_H
#define TN_LOADER_STAGE_H

#include "loader/kind.h"
#include "loader/known_plugins.h"
#include "loader/registry.h"
#include "loader/search.h"
#include "loader/selection.h"
#include "loader/version.h"
#include "loader/patience.h"

/* What all candidates of one opening share. */
struct tn_loading {
	const struct tn_plugin_kind *kind;
	const struct tn_registry_options *options;
	struct tn_abi_version host;
	struct tn_selection selection;
	const char *source; /* where the selection came from, as errors name it */
	struct tn_simulation simulation;
	struct tn_candidates candidates;
	const struct tn_known_list *known; /* NULL: of communicators */
	struct tn_load_report *report;
	struct tn_patience *patience; /* NULL: none */
	struct tn_error_info refusal; /* a wrong option of the program; status 0: there is none */
};

/* Notes that a candidate enters a stage. */
void tn_plugin_enter(const struct tn_loading *loading, const struct tn_candidate *candidate,
		     uint32_t stage);
int tn_plugin_is_absence(tn_status status);
/* A status that does not describe an absence means that the start failed: TN_PROBE_FAILED, whose
 * text has the entry, the status and its text. */
tn_status tn_plugin_absence(tn_status status, const char *entry, struct tn_error_info *error);

#endif
