/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The registry: finds backends, loads them, and says which device to use first.
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
#include "loader/version.h"

/* A device to use. */
struct tn_choice {
	const struct tn_backend *backend;
	uint32_t index;
};

/* Zero and NULL are the ordinary values; logger, parameters and threads live longer than the
 * registry.  `parameters` is needed, the other two may be NULL. */
struct tn_registry_options {
	const struct tn_logger *logger;
	struct tn_parameters *parameters;
	struct tn_threads *threads;
	/* Folders or files to look at before TENON_PLUGIN_PATH; each has a '/' in it. */
	const char *const *paths;
	size_t n_paths;
	/* What TENON_BACKEND holds otherwise; errors call it "backend". */
	const char *selection;
	/* 1: no fall-back to what the selection does not name, as with a trailing '!'. */
	int required;
	/* 1: look at `paths` alone, and at no variable or installed folder (the isolated probe). */
	int paths_only;
	/* Not 0: each file is loaded in a process of its own and given so many milliseconds; the
	 * report says what came of it, and nothing is loaded or chosen here. */
	uint32_t probe_ms;
	/* Backends without a file; they come first in the list of backends. */
	const struct tn_backend_descriptor *const *built_in;
	size_t n_built_in;
	/* What the host claims to be; major and minor 0: this build.  For tests. */
	struct tn_abi_version host;
	/* Called when a file reaches a stage (TN_STAGE_...); may be NULL. */
	void (*progress)(void *user, const char *path, uint32_t stage);
	void *user;
};

struct tn_registry {
	struct tn_backend **backends; /* that have a device: built-in ones, then in search order */
	size_t n_backends;
	/* What to use, best first.  choices[0] is what the selection gives; the named ones follow
	 * in their order and then, unless forbidden, the rest by rank. */
	struct tn_choice *choices;
	size_t n_choices;
	int fell_back; /* choices[0] is not what the selection names first */
	uint64_t fork_generation;
};

/* Loads and selects.  *report (may be NULL as an argument) is owned by the caller and filled on
 * failure too, if there was memory for it; *registry only on success.
 *   TN_FORMAT: TENON_BACKEND or TENON_SIMULATE is malformed; the text has the column.
 *   TN_NO_PLUGIN ... TN_EXCLUDED: what was required is not there, for that reason.
 *   TN_NO_DEVICE: there is no device at all.  TN_OUT_OF_MEMORY.
 * Notices and warnings have been logged, one line each. */
tn_status tn_registry_open(const struct tn_registry_options *options, struct tn_registry **registry,
			   tn_load_report **report, struct tn_error_info *error);
/* Destroys the instances (not in a forked child, where that is the parent's business).  The devices
 * have been closed.  Takes NULL. */
void tn_registry_close(struct tn_registry *registry);

/* The loaded backend of that name, or NULL. */
const struct tn_backend *tn_registry_find(const struct tn_registry *registry, const char *name);

#endif
