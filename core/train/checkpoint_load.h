/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#ifndef TN_TRAIN_CHECKPOINT_LOAD_H
#define TN_TRAIN_CHECKPOINT_LOAD_H

#include <tenon/checkpoint.h>
#include <tenon/io.h>

/* Opens a file that is a checkpoint of a version that can be read.  *is_damaged: the reason of a
 * failure lies in the file, which is torn or no checkpoint. */
tn_status tn_checkpoint_open(const char *path, tn_safetensors **file, int *is_damaged,
			     struct tn_error_info *error);

/* tn_checkpoint_load with arrays of the library's own, whose names begin with a dot.  The error is
 * the caller's to keep. */
tn_status tn_checkpoint_read(const char *path, const struct tn_checkpoint *checkpoint, size_t n_own,
			     const struct tn_checkpoint_array *own, int *is_damaged,
			     struct tn_error_info *error);

#endif
