/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening a data set by name.
 */
#ifndef TN_DATA_OPEN_H
#define TN_DATA_OPEN_H

#include <tenon/data.h>

/* tn_dataset_open with the folder of Tenon's data files as an argument (NULL: not needed, `name` is
 * a path). */
tn_status tn_dataset_load(const char *name, const struct tn_dataset_options *options,
			  const char *data_dir, tn_dataset **out, struct tn_error_info *error);

#endif
