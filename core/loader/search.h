/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which files may be plugins, in order of precedence: paths given to the API, then
 * TENON_PLUGIN_PATH, then the folder of installed plugins; within a folder by name.  The working
 * directory, the program's folder and the system's library path are never searched.
 */
#ifndef TN_LOADER_SEARCH_H
#define TN_LOADER_SEARCH_H

#include <stddef.h>
#include <sys/types.h>

#include "loader/backend.h"
#include "loader/kind.h"
#include "loader/registry.h"

struct tn_candidate {
	char name[32]; /* NAME of KIND_NAME.so, or the start of any other file name */
	char *path;    /* as it was found */
	uint32_t found;
	const struct tn_backend_descriptor *built_in; /* then there is no path */
	/* Set during loading. */
	int fd; /* -1: not open */
	char *real_path;
	dev_t device;
	ino_t inode;
	int identified;              /* device and inode are set */
	struct tn_backend_note note; /* or the descriptor's fields */
	struct tn_load_row *row;
};

struct tn_candidates {
	struct tn_candidate *list;
	size_t n;
};

/* Built-in backends, then files of that kind.  Folders that cannot be read are logged.
 * TN_OUT_OF_MEMORY. */
tn_status tn_search(const struct tn_registry_options *options, const struct tn_plugin_kind *kind,
		    struct tn_candidates *candidates);
void tn_candidates_release(struct tn_candidates *candidates);

#endif
