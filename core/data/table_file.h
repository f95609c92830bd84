/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The reader of CSV files: features, and a target.
 */
#ifndef TN_DATA_TABLE_FILE_H
#define TN_DATA_TABLE_FILE_H

#include "data/dataset.h"

/* Fills *raw only on success. */
tn_status tn_table_file_read(const char *path, const struct tn_dataset_options *options,
			     struct tn_dataset_raw *raw, struct tn_error_info *error);

#endif
