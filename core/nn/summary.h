/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Summaries, and the rows of a watch: one for each module of a tree.
 */
#ifndef TN_NN_SUMMARY_H
#define TN_NN_SUMMARY_H

#include "array/watch.h"
#include "nn/module.h"

struct tn_summary {
	struct tn_watch watch;
	struct tn_runtime *runtime;
	struct tn_summary_options options;
	int64_t shape[TN_MAX_RANK]; /* of the options */
	size_t n;
	struct tn_summary_row *rows;
	char *names; /* that the rows refer to */
};

/* Gives the modules of the tree rows, from 1, in the order of the listing, which has been made, and
 * installs the watch; NULL removes both. */
void tn_watch_modules(tn_module *module, struct tn_watch *watch);
/* The number of names in a path. */
int tn_path_depth(const char *path);

#endif
