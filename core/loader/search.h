/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which files may be plugins, in order of precedence; within a folder by name:
 *
 *	paths given to the API
 *	TENON_PLUGIN_PATH
 *	beside the file of the library: DIR/tenon/0, DIR/../lib/tenon/0
 *	the user's: $XDG_DATA_HOME/tenon/0
 *	the one of the build: $libdir/tenon/0
 *	the system's: /usr/local/lib/tenon/0, /usr/lib/<multiarch>/tenon/0, /usr/lib/tenon/0
 *
 * Each folder is searched once, whatever its names.  A privileged process searches neither those of
 * the variable, nor those beside, nor the user's; no process searches the latter two where a
 * stranger could change them (base/trust.h).  The working directory and the system's library path
 * are never searched.
 */
#ifndef TN_LOADER_SEARCH_H
#define TN_LOADER_SEARCH_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "base/text.h"
#include "loader/backend.h"
#include "loader/kind.h"
#include "loader/registry.h"

struct tn_candidate {
	char name[32]; /* NAME of KIND_NAME.so, or the start of any other file name */
	char *path;    /* as it was found */
	uint32_t found;
	const struct tn_backend_descriptor *built_in; /* then there is no path */
	int is_guarded; /* in a folder that nobody has named: the file must be as trusted */
	/* Set during loading. */
	int fd; /* -1: not open */
	char *real_path;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
	int identified;              /* device and inode are set */
	struct tn_backend_note note; /* or the descriptor's fields */
	struct tn_load_row *row;
};

/* A folder that was searched. */
struct tn_searched {
	char *path;
	int problem; /* an errno value: why it was not read; 0: it was */
	dev_t device;
	ino_t inode;
};

struct tn_candidates {
	struct tn_candidate *list;
	size_t n;
	struct tn_searched *folders;
	size_t n_folders;
};

/* Backends that are built in or registered, then files of that kind.  Folders that cannot be read
 * are logged, and so are those of TENON_PLUGIN_PATH without any plugin.  TN_OUT_OF_MEMORY. */
tn_status tn_search(const struct tn_registry_options *options, const struct tn_plugin_kind *kind,
		    struct tn_candidates *candidates);
/* Appends the folders that were searched: "/a, /b (absent)". */
void tn_search_describe(const struct tn_candidates *candidates, struct tn_text *text);
void tn_candidates_release(struct tn_candidates *candidates);

#endif
