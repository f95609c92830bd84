/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The reader of folders of pictures by class.
 */
#ifndef TN_DATA_CLASS_FOLDER_H
#define TN_DATA_CLASS_FOLDER_H

#include "data/dataset.h"

/* *is_there := has the folder a folder in it? */
tn_status tn_class_folder_look(const char *folder, int *is_there, struct tn_error_info *error);
/* Fills *raw only on success.  The pictures are read when their samples are. */
tn_status tn_class_folder_read(const char *folder, const struct tn_dataset_options *options,
			       struct tn_dataset_raw *raw, struct tn_error_info *error);

#endif
