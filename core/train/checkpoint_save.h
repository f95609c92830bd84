/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Saving a checkpoint, for folders and trainers.
 */
#ifndef TN_TRAIN_CHECKPOINT_SAVE_H
#define TN_TRAIN_CHECKPOINT_SAVE_H

#include "train/checkpoint_items.h"

/* tn_checkpoint_save with what the library adds, or NULL.  The error is the caller's to keep. */
tn_status tn_checkpoint_write(const char *path, const struct tn_checkpoint *checkpoint,
			      const struct tn_checkpoint_own *own, struct tn_error_info *error);

#endif
