/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#ifndef TN_TRAIN_CHECKPOINT_SAVE_H
#define TN_TRAIN_CHECKPOINT_SAVE_H

#include <tenon/checkpoint.h>

/* tn_checkpoint_save with arrays of the library's own, whose names begin with a dot.  The error is
 * the caller's to keep. */
tn_status tn_checkpoint_write(const char *path, const struct tn_checkpoint *checkpoint,
			      size_t n_own, const struct tn_checkpoint_array *own,
			      struct tn_error_info *error);

#endif
