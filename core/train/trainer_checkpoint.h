/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Where a trainer saves its checkpoints, and loads the newest.  Without a folder of checkpoints
 * these functions do nothing.  Errors are kept.
 */
#ifndef TN_TRAIN_TRAINER_CHECKPOINT_H
#define TN_TRAIN_TRAINER_CHECKPOINT_H

#include "train/trainer.h"

/* Before the first run: loads the newest checkpoint, if there is one and options allow it. */
tn_status tn_trainer_checkpoint_begin(tn_trainer *trainer);
/* Is a checkpoint due after step number `step`?  It is saved before the next batch is taken. */
int tn_trainer_checkpoint_is_due(const tn_trainer *trainer, uint64_t step);
/* After a step, and after an epoch with this monitored value (NAN: none).  A checkpoint that cannot
 * be written is told (on_unsaved), and not an error here: tn_trainer_checkpoint_end gives it. */
tn_status tn_trainer_checkpoint_step(tn_trainer *trainer);
tn_status tn_trainer_checkpoint_epoch(tn_trainer *trainer, double value);
/* A callback stops the run: saves unless that has just been done. */
tn_status tn_trainer_checkpoint_stop(tn_trainer *trainer);
/* The run ends with an error, which stays the one that is kept: saves what has been learned, if
 * this rank can without the others, and the network is finite. */
void tn_trainer_checkpoint_failed(tn_trainer *trainer);
/* TN_IO, kept: the last checkpoint could not be written. */
tn_status tn_trainer_checkpoint_end(tn_trainer *trainer);

#endif
