/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The reader of arrays: NPY files in a folder, or an NPZ file.
 */
#ifndef TN_DATA_ARRAY_FILES_H
#define TN_DATA_ARRAY_FILES_H

#include "data/dataset.h"

/* *is_there := is x.npy or x_train.npy in the folder? */
tn_status tn_array_files_look(const char *folder, int *is_there, struct tn_error_info *error);
/* `path` is such a folder, or an NPZ file; may_have_gaps: classes of the training part may be
 * without samples.  Fills *raw only on success. */
tn_status tn_array_files_read(const char *path, int is_npz, int may_have_gaps,
			      struct tn_dataset_raw *raw, struct tn_error_info *error);

#endif
