/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The folder of checkpoints as the trainer uses it: with a state of its own in each file.
 */
#ifndef TN_TRAIN_CHECKPOINT_FOLDER_H
#define TN_TRAIN_CHECKPOINT_FOLDER_H

#include "train/checkpoint_items.h"

/* tn_checkpoint_folder_save and tn_checkpoint_folder_load with the trainer's state, or NULL. */
tn_status tn_checkpoint_folder_write(tn_checkpoint_folder *folder, uint64_t step, double metric,
				     const struct tn_checkpoint *checkpoint,
				     const struct tn_checkpoint_own *own);
tn_status tn_checkpoint_folder_read(tn_checkpoint_folder *folder,
				    const struct tn_checkpoint *checkpoint,
				    const struct tn_checkpoint_own *own, uint64_t *step);
/* 1: the best has the highest metric. */
int tn_checkpoint_folder_is_rising(const tn_checkpoint_folder *folder);
/* Keeps the error that an unexpected checkpoint is in the folder. */
tn_status tn_checkpoint_folder_refuse(const tn_checkpoint_folder *folder, const char *operation);

#endif
