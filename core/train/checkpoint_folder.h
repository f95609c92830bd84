/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#ifndef TN_TRAIN_CHECKPOINT_FOLDER_H
#define TN_TRAIN_CHECKPOINT_FOLDER_H

#include <tenon/checkpoint.h>

/* tn_checkpoint_folder_save and tn_checkpoint_folder_load with arrays of the library's own, whose
 * names begin with a dot: the trainer's state.  Errors are kept. */
tn_status tn_checkpoint_folder_write(tn_checkpoint_folder *folder, uint64_t step, double metric,
				     const struct tn_checkpoint *checkpoint, size_t n_own,
				     const struct tn_checkpoint_array *own);
tn_status tn_checkpoint_folder_read(tn_checkpoint_folder *folder,
				    const struct tn_checkpoint *checkpoint, size_t n_own,
				    const struct tn_checkpoint_array *own, uint64_t *step);

#endif
