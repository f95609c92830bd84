/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The registry: finds backends, loads them, and ranks their devices.
 *
 *	tn_registry_open   search -> inspect -> negotiate -> dlopen -> create -> query -> devices,
 *	                   then rank and select
 *	tn_registry_close  destroys the instances; the files stay mapped
 *
 * A broken plugin becomes a row of the load report, never an error of tn_registry_open.
 */
#ifndef TN_LOADER_REGISTRY_H
#define TN_LOADER_REGISTRY_H

#include "loader/backend.h"
#include "loader/plugin_options.h"
#include "loader/selection.h"
#include "loader/version.h"

/* A device to use. */
struct tn_choice {
	const struct tn_backend *backend;
	uint32_t index;
};

/* Zero and NULL are the defaults.  logger, parameters and threads must outlive the registry;
 * `parameters` is required, the other two may be NULL. */
struct tn_registry_options {
	const struct tn_logger *logger;
	struct tn_parameters *parameters;
	struct tn_threads *threads;
	/* Folders or files to search before TENON_PLUGIN_PATH; each contains a '/'. */
	const char *const *paths;
	size_t n_paths;
	/* Replaces the value of TENON_BACKEND; errors call it "backend". */
	const char *selection;
	/* Options of the program for plugins, in the form that tn_given_options_check requires. */
	struct tn_given_options given;
	/* 1: no fall-back to devices that the selection does not name, as with a trailing '!'. */
	int required;
	/* 1: an instance is shared with others that are opened so (instance.h). */
	int shares;
	/* 1: search `paths` alone, no variable or installed folder (the isolated probe). */
	int paths_only;
	/* Not 0: each file is loaded in a process of its own, with this timeout in milliseconds.
	 * The report has the results; nothing is loaded or chosen here. */
	uint32_t probe_ms;
	/* A plugin whose stage takes longer is named in the log; 0: 5 seconds. */
	uint32_t patience_ms;
	/* Backends without a file; they are first in the list of backends. */
	const struct tn_backend_descriptor *const *built_in;
	size_t n_built_in;
	/* The host's version; major and minor 0: this build's.  For tests. */
	struct tn_abi_version host;
	/* Called when a file reaches a stage (TN_STAGE_...); may be NULL. */
	void (*progress)(void *user, const char *path, uint32_t stage);
	void *user;
};

struct tn_registry {
	struct tn_backend **backends; /* those with a device: built-in ones, then in search order */
	size_t n_backends;
	/* The devices to use, best first: those that the selection names in its order and then,
	 * unless forbidden, the rest by rank. */
	struct tn_choice *choices;
	size_t n_choices;
	int fell_back; /* choices[0] is not the selection's first name */
	struct tn_selection selection;
	uint64_t fork_generation;
};

/* Loads and selects.  *report (may be NULL as an argument) is owned by the caller and filled on
 * failure too, if memory suffices; *registry only on success.
 *   TN_FORMAT: TENON_BACKEND or TENON_SIMULATE is malformed; the text contains the column.
 *   TN_NO_PLUGIN ... TN_EXCLUDED: a required backend is unavailable for that reason.
 *   TN_NO_DEVICE: there is no device at all.  TN_OUT_OF_MEMORY.
 *   TN_NOT_FOUND, TN_INVALID_ARGUMENT: a plugin lacks an option of the program, or refuses its
 *   value.
 * Notices and warnings have been logged, one line each. */
tn_status tn_registry_open(const struct tn_registry_options *options, struct tn_registry **registry,
			   tn_load_report **report, struct tn_error_info *error);
/* Destroys the instances, except in a forked child: they are the parent's.  The devices must have
 * been closed.  Takes NULL. */
void tn_registry_close(struct tn_registry *registry);

/* Do backends wait for the count of their devices (tn_choose_again)?  They are not among the
 * choices.  Takes NULL. */
int tn_registry_waits(const struct tn_registry *registry);

/* Its report is about to be destroyed before it.  Takes NULL. */
void tn_registry_forget_report(struct tn_registry *registry);

/* No messages are wanted from now on.  Takes NULL. */
void tn_registry_silence(struct tn_registry *registry);
/* Adds the variables that the plugins' instances have read to `parameters`.  Takes NULL. */
void tn_registry_list_variables(const struct tn_registry *registry,
				struct tn_parameters *parameters);

/* The loaded backend of that name, or NULL. */
const struct tn_backend *tn_registry_find(const struct tn_registry *registry, const char *name);

#endif
