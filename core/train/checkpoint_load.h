/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loading a checkpoint, for folders and trainers.
 */
#ifndef TN_TRAIN_CHECKPOINT_LOAD_H
#define TN_TRAIN_CHECKPOINT_LOAD_H

#include <tenon/io.h>

#include "train/checkpoint_items.h"

/* Opens a file that is a checkpoint of a version that can be read.  *is_damaged: the reason of a
 * failure lies in the file, which is torn or no checkpoint. */
tn_status tn_checkpoint_open(const char *path, tn_safetensors **file, int *is_damaged,
			     struct tn_error_info *error);

/* tn_checkpoint_load with what the library adds, or NULL.  The error is the caller's to keep. */
tn_status tn_checkpoint_read(const char *path, const struct tn_checkpoint *checkpoint,
			     const struct tn_checkpoint_own *own, int *is_damaged,
			     struct tn_error_info *error);

#endif
