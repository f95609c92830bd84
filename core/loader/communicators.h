/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The communicators: which one a process is to use, and loading it.  Others than that one are
 * inspected and not opened: a process can have one MPI.
 */
#ifndef TN_LOADER_COMMUNICATORS_H
#define TN_LOADER_COMMUNICATORS_H

#include "loader/communicator.h"
#include "loader/known_plugins.h"
#include "loader/registry.h"

/* Which communicator a process is to use. */
struct tn_communicator_choice {
	char name[32]; /* "none": no plugin, one rank */
	int was_asked; /* by the caller or TENON_COMMUNICATOR */
	struct tn_known_list known;
};

/* The choice of `name`, else of TENON_COMMUNICATOR, else of the launcher that has started this
 * process as one of several ranks, else none.  `options`: logger and parameters are used.
 *   TN_FORMAT: not the name of a communicator.  TN_REFUSED: two launchers are named by the
 *   environment.
 *   TN_OUT_OF_MEMORY.
 * Owned, on failure too (tn_communicator_choice_release). */
tn_status tn_communicator_choose(const struct tn_registry_options *options, const char *name,
				 struct tn_communicator_choice *choice,
				 struct tn_error_info *error);
void tn_communicator_choice_release(struct tn_communicator_choice *choice);

/* The launcher that has started this process as one of several ranks: of the communicator `name`,
 * or of any (NULL).  NULL: none. */
const struct tn_launch *tn_communicator_launch(const struct tn_communicator_choice *choice,
					       const char *name);

/* Makes the report: a row for each communicator's file and each data file.  Loads the one that was
 * chosen, with the options that are given; `plugin` NULL: lists all with their options.
 *   TN_NO_PLUGIN ... TN_DUPLICATE: it is absent for that reason; TN_STATE: a second one of an
 *   engine that a process has once.  TN_FORMAT: TENON_SIMULATE is malformed.  TN_OUT_OF_MEMORY.
 *   TN_NOT_FOUND, TN_INVALID_ARGUMENT: it lacks an option of the program, or refuses its value.
 * `error` is not NULL.  *report is owned and filled on failure too, if memory suffices; *plugin
 * (tn_plugin_destroy) only on success. */
tn_status tn_communicator_load(const struct tn_registry_options *options,
			       const struct tn_communicator_choice *choice, tn_load_report **report,
			       struct tn_communicator_plugin **plugin, struct tn_error_info *error);

#endif
