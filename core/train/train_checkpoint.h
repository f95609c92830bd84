/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checkpoints of tn_train: the objects, and the sums of the running epoch.
 */
#ifndef TN_TRAIN_TRAIN_CHECKPOINT_H
#define TN_TRAIN_TRAIN_CHECKPOINT_H

#include <tenon/train.h>

#include "train/trainer.h"

struct tn_training_state {
	tn_module *module;
	tn_optimizer *optimizer;
	tn_data_loader *loader;
	const struct tn_train_options *options;
	double lr; /* the optimizer's, before the schedule */
	/* Of the running epoch; images are the loader's position. */
	float loss;
	int64_t right;
	double seconds;
};

/* The sums of the running epoch, or zeros, into the state, from a trainer whose only metric is the
 * accuracy. */
tn_status tn_training_take(struct tn_training_state *state, const tn_trainer *trainer);
/* Sets a trainer to the loaded position: `step` steps are made. */
tn_status tn_training_give(const struct tn_training_state *state, uint64_t step,
			   tn_trainer *trainer);

/* Saves after a step; metric NAN: none.  Errors are kept. */
tn_status tn_training_save(struct tn_training_state *state, uint64_t step, double metric);
/* Loads the newest checkpoint, if there is one and the options allow it.  *is_loaded: it did. */
tn_status tn_training_load(struct tn_training_state *state, int *is_loaded);

#endif
