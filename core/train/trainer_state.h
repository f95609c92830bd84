/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The state of a trainer on the host, for checkpoints: all that it needs to continue to the same
 * bits, besides what a checkpoint has of its objects (network, optimizer, schedule, average,
 * loader, random state).  To be saved between steps, as in on_step.
 *
 *	save       text and arrays are written to the file
 *	load       from the text come arrays of the right shapes, which are read from the file;
 *	           then the trainer takes them
 */
#ifndef TN_TRAIN_TRAINER_STATE_H
#define TN_TRAIN_TRAINER_STATE_H

#include "train/trainer.h"

/* As struct tn_checkpoint_array. */
struct tn_trainer_array {
	const char *name; /* "trainer.history" */
	tn_dtype dtype;
	int rank;
	const int64_t *shape;
	void *data;
};

/* Owned: tn_trainer_saved_release. */
struct tn_trainer_saved {
	char *text; /* one line of JSON */
	size_t n;
	struct tn_trainer_array *arrays;
};

/* Errors are kept.  TN_STATE: a step has begun and not ended. */
tn_status tn_trainer_save_state(tn_trainer *trainer, struct tn_trainer_saved *saved);
/* The same arrays with zeros, by the text of a state that was saved.  most: the bytes that the file
 * has for them.  TN_FORMAT: the text is not one, or asks for more.  TN_INVALID_ARGUMENT: it is of a
 * trainer with other metrics. */
tn_status tn_trainer_prepare_state(tn_trainer *trainer, const char *text, uint64_t most,
				   struct tn_trainer_saved *saved);
/* Continues from a prepared state whose arrays were filled.  TN_STATE: the trainer is running. */
tn_status tn_trainer_load_state(tn_trainer *trainer, const struct tn_trainer_saved *saved);
void tn_trainer_saved_release(struct tn_trainer_saved *saved); /* takes a zeroed struct */

#endif
