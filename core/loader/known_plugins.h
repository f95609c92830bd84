/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Plugins known from data files, installed or not.
 *
 * A file NAME.backend in $datadir/tenon/backends.d (in TENON_DATA_DIR/backends.d where that is set)
 * holds lines `key = value`, blank lines and lines that begin with '#':
 *
 *	name      the backend's name; required
 *	hardware  what it drives, in words: "NVIDIA GPU"
 *	kind      what kind of device that is: gpu, integrated-gpu, accelerator, cpu; without it,
 *	          devices of any kind are possible
 *	sign      any number: a path (or glob(7) pattern, of which at most 3 parts have '*', '?' or
 *	          '[') that exists when the hardware is present, or `pci VENDOR CLASS`, hexadecimal,
 *	          CLASS a prefix: "pci 10de 03"; without any, the hardware is taken as present
 *	start     `slow`: an answer how many devices there are takes long, because it starts
 *	          drivers.  Where no sign was seen it is asked only if a selection names it, or if
 *	          nothing but the built-in backend is usable; its devices lend no operations
 *	packages  what to install: the plugin's own package, or those of the libraries that it opens
 *	source    what the plugin is built from, in words, where no package contains it
 *
 *
 * A file NAME.communicator in communicators.d beside it holds name, packages and source, and the
 * launchers that start programs for the communicator:
 *
 *	launcher  in words: "mpirun of Open MPI"; begins the next launcher.  If several have set
 *	          their variables, the first counts
 *	size      the variable with the number of ranks that this launcher sets
 *	rank      the one with the number of this rank, from 0
 *
 * Unknown keys are ignored: later versions may define them.
 */
#ifndef TN_LOADER_KNOWN_PLUGINS_H
#define TN_LOADER_KNOWN_PLUGINS_H

#include <stddef.h>

#include "base/log.h"
#include "base/parameter.h"
#include "loader/kind.h"
#include "loader/launch.h"

enum { TN_KNOWN_MOST_LAUNCHES = 8 };

struct tn_known {
	char name[32];
	char hardware
		[128]; /* of a communicator: its launcher, the one that was seen or the first */
	char packages[256];
	char source[256];
	uint32_t kind; /* TN_DEVICE_..., 0: not stated */
	int n_signs;
	int is_slow; /* to say how many devices there are */
	/* One of its signs was found, or it has none; a launcher has started this process. */
	int seen;
	struct tn_launch launches[TN_KNOWN_MOST_LAUNCHES];
	int n_launches;
};

struct tn_known_list {
	struct tn_known *list;
	size_t n;
};

struct tn_known_source {
	const struct tn_plugin_kind *kind;
	const char *folder;
	const char *root; /* signs are looked for below it: "" except in tests */
	struct tn_parameters *parameters;
	const struct tn_logger *logger;
};

/* Reads all files of a folder, in order of their names.  A missing folder counts as empty; a
 * malformed file causes a warning.  TN_OUT_OF_MEMORY. */
tn_status tn_known_read(const struct tn_known_source *source, struct tn_known_list *known);
void tn_known_release(struct tn_known_list *known);
const struct tn_known *tn_known_find(const struct tn_known_list *known, const char *name);

#endif
