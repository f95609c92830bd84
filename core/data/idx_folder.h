/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The reader of folders of IDX files.
 */
#ifndef TN_DATA_IDX_FOLDER_H
#define TN_DATA_IDX_FOLDER_H

#include "data/dataset.h"
tn_status tn_idx_folder_read(const char *folder, struct tn_dataset_raw *raw,
			     struct tn_error_info *error);
/* *is_there := does one of the two training files of tn_idx_folder_read exist? */
tn_status tn_idx_folder_look(const char *folder, int *is_there, struct tn_error_info *error);

#endif
