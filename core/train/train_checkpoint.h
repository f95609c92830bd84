/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checkpoints of tn_train: the objects, and the sums of the running epoch.
 */
#ifndef TN_TRAIN_TRAIN_CHECKPOINT_H
#define TN_TRAIN_TRAIN_CHECKPOINT_H

#include <tenon/train.h>

#include "train/batches.h"

struct tn_training_state {
	tn_module *module;
	tn_optimizer *optimizer;
	tn_data_loader *loader;
	const struct tn_train_options *options;
	double lr; /* the optimizer's, before the schedule */
	/* Of the running epoch; images are the loader's position. */
	float loss;
	float right;
	double seconds;
};

/* Sums of nothing, and those of an epoch, into the state and back. */
tn_status tn_training_take(struct tn_training_state *state, const struct tn_sums *sums);
tn_status tn_training_give(const struct tn_training_state *state, struct tn_sums *sums);

/* Saves after a step; metric NAN: none.  Errors are kept. */
tn_status tn_training_save(struct tn_training_state *state, uint64_t step, double metric);
/* Loads the newest checkpoint, if there is one and the options allow it.  *is_loaded: it did. */
tn_status tn_training_load(struct tn_training_state *state, int *is_loaded);

#endif
