/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A trainer on several ranks.  All ranks make the same decisions, because they make them from
 * numbers that they have agreed on:
 *
 *	each step        the loss of all samples, with which a loss that is not finite ends all
 *	                 ranks; whether progress is reported, by one rank's clock; and the
 *	                 callbacks that want to stop
 *	sums             losses and metrics are added up by each rank, and over the ranks when they
 *	                 are read
 *	checkpoints      rank 0 writes; all ranks wait for it and learn its error
 *
 * Best weights, early stopping, plateaus and schedules follow from these.  Without ranks these
 * functions do what the trainer does alone.
 */
#ifndef TN_TRAIN_RANKS_H
#define TN_TRAIN_RANKS_H

#include "train/trainer.h"

enum tn_trainer_callback { TN_ON_STEP, TN_ON_PROGRESS, TN_ON_EVALUATION, TN_ON_EPOCH };

/* NULL: one rank. */
static inline tn_communicator *tn_trainer_communicator(const struct tn_trainer *trainer)
{
	tn_data_parallel *parallel = trainer->options.parallel;
	return parallel ? parallel->communicator : NULL;
}

/* Do the options fit, and have all ranks the same?  With the status of what this rank has checked
 * alone: if one has failed, all fail. */
tn_status tn_trainer_check_ranks(const struct tn_trainer *trainer, tn_status status);
/* Has the loader this rank's share of the data, and is it for training or for evaluation? */
tn_status tn_trainer_check_loader(const struct tn_trainer *trainer, const tn_data_loader *loader,
				  const char *which, int trains);

/* A callback wants to stop the run. */
void tn_trainer_vote(struct tn_trainer *trainer, enum tn_trainer_callback callback);
/* After the batches of a step: group.loss and group.weight become the sums over all
 * samples; votes count.  is_due:
 * this rank wants to report progress. */
tn_status tn_trainer_agree_on_step(struct tn_trainer *trainer, int is_due);
/* At the end of an epoch: votes count. */
tn_status tn_trainer_agree_on_epoch(struct tn_trainer *trainer);

/* The values of the running epoch, over all ranks. */
tn_status tn_trainer_read_sums(struct tn_trainer *trainer, struct tn_trainer_values *values);
/* Batch norms that are not synchronised: all ranks get the statistics of rank 0. */
tn_status tn_trainer_share_buffers(const struct tn_trainer *trainer);
/* Do all ranks find the same checkpoints? */
tn_status tn_trainer_check_folder(const struct tn_trainer *trainer);
/* After loading a checkpoint, whose sums are those of all ranks: rank 0 has them.  Also compares
 * what the ranks have loaded. */
tn_status tn_trainer_share_state(struct tn_trainer *trainer);

#endif
