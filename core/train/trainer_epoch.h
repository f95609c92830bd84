/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One epoch of a trainer.
 */
#ifndef TN_TRAIN_TRAINER_EPOCH_H
#define TN_TRAIN_TRAINER_EPOCH_H

#include "train/trainer.h"

/* Begins or continues an epoch, to its end, with validation, history and callbacks. */
tn_status tn_trainer_epoch(struct tn_trainer *trainer);
/* Exchanges the averages and the weights again, after work with this status; works while an error
 * is kept. */
tn_status tn_trainer_swap_back(struct tn_trainer *trainer, tn_status status);
/* Does a pending advance of the schedule. */
tn_status tn_trainer_advance(struct tn_trainer *trainer);

#endif
