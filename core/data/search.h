/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The folders of data sets, and facts about those known by name.
 */
#ifndef TN_DATA_SEARCH_H
#define TN_DATA_SEARCH_H

#include <tenon/data.h>

struct tn_known_dataset {
	struct tn_dataset_info info;
	const char *const *class_names; /* 10 */
};

/* NULL: unknown. */
const struct tn_known_dataset *tn_known_dataset(const char *name);

/* The last component of a path, without trailing slashes; owned, NULL: out of memory. */
char *tn_path_name(const char *path);

/* Finds the folder or file of that name: see tn_dataset_open.  `data_dir` is the folder of Tenon's
 * data files (NULL: not needed, `name` is a path).  *path is owned (tn_mem_free); *is_folder: it is
 * not a file. */
tn_status tn_dataset_find(const char *name, const char *data_dir, char **path, int *is_folder,
			  struct tn_error_info *error);

#endif
