/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Training and evaluating a classifier on a data set.
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_TRAIN_H
#define TENON_TRAIN_H

#include <tenon/checkpoint.h>
#include <tenon/data.h>
#include <tenon/optim.h>
#include <tenon/schedule.h>
#include <tenon/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Means over images; accuracies are fractions, 0 to 1. */
struct tn_evaluation {
	double loss;
	double accuracy;
	uint64_t images;
	double seconds;
};

/* One epoch. */
struct tn_epoch_metrics {
	uint64_t epoch;                  /* from 1 */
	struct tn_evaluation train;      /* measured during training, with dropout */
	struct tn_evaluation validation; /* images 0: the data set has no such part */
	double seconds;                  /* of training, without validation */
	double images_per_second;
};

/* The progress of a training; loss and accuracy are those of this epoch so far. */
struct tn_progress {
	uint64_t epoch; /* from 1 */
	uint64_t n_epochs;
	uint64_t image; /* trained in this epoch */
	uint64_t n_images;
	double loss;
	double accuracy;
	double images_per_second;
	double seconds_left; /* of the whole training, at this epoch's rate */
};

/* Whether steps of full batches are captured, and replayed with one call each (tenon/capture.h).
 * Losses and weights are the same bit for bit.
 *   auto  if the device's backend can capture work, the network consists of the library's modules,
 *         the ledger takes no times and an epoch has at least two full batches; a step that cannot
 *         be captured runs normally, and a message at the level "info" gives the reason
 *   on    always; a step that cannot be captured is an error: TN_UNSUPPORTED (the backend cannot
 *         capture work), TN_NOT_CAPTURABLE (an operation in a step, or there is no full batch)
 *   off   never
 * A captured step is replayed until the end of its epoch: progress must not change the network
 * meanwhile. */
enum { TN_CAPTURE_AUTO = 0, TN_CAPTURE_ON = 1, TN_CAPTURE_OFF = 2 };

struct tn_train_options {
	uint32_t struct_size;
	uint64_t n_epochs;   /* 0: 1 */
	uint32_t batch_size; /* 0: 64 */
	uint32_t max_shift;  /* augmentation, see <tenon/augment.h> */
	uint32_t flip;
	/* The optimizer's learning rate over the n steps of the training, at step t = 0, 1, ...:
	 * TN_SCHEDULE_CONSTANT, or TN_SCHEDULE_COSINE (tenon/schedule.h) with a period of n.  It is
	 * restored at the end. */
	uint32_t schedule;
	uint64_t seed; /* of the order of images */
	/* Called about ten times a second and at the end of an epoch; non-zero stops
	 * (TN_CANCELLED).  May be NULL. */
	int (*progress)(void *user, const struct tn_progress *progress);
	/* Called after each epoch; non-zero stops.  May be NULL. */
	int (*epoch)(void *user, const struct tn_epoch_metrics *metrics);
	void *user;
	/* The losses of the first n_losses steps go here.  May be NULL. */
	float *losses;
	size_t n_losses;
	uint32_t capture; /* TN_CAPTURE_... */
	/* Where checkpoints are saved, and loaded from; borrowed.  NULL: none.  Without intervals
	 * one is saved after each epoch; one is always saved at the end, and when a callback stops
	 * the training. */
	tn_checkpoint_folder *checkpoints;
	uint64_t checkpoint_steps;  /* one after so many steps; 0: no such interval */
	uint64_t checkpoint_epochs; /* one after so many epochs, with the validation's loss */
	/* Texts for the metadata of checkpoints, as in struct tn_checkpoint. */
	size_t n_pairs;
	const struct tn_pair *pairs;
	uint32_t resume; /* 1: continues from the newest checkpoint, if there is one */
	/* Called once after a checkpoint was loaded, with the epochs and steps that are done.  May
	 * be NULL. */
	void (*resumed)(void *user, uint64_t epochs, uint64_t steps);
};

/* Trains on the data set's training part by cross-entropy: for each batch forward, backward, one
 * step.  The module is left in evaluation mode.  TN_CANCELLED: a callback stopped it; the network
 * keeps what it has learned.  TN_NOT_FINITE: the loss of a step is infinite or NaN; training stops
 * before the next step, the text gives the epoch, the step (from 1, over all epochs) and the loss,
 * and the weights are useless.  A loss is computed before its step's update: only evaluation shows
 * the effect of the last step.
 *
 * With `checkpoints`, a training that was stopped or killed continues, with `resume`, as if it had
 * not been, in the middle of an epoch too.  TN_STATE: the folder has checkpoints, and `resume` is
 * 0.  Also the errors of tn_checkpoint_folder_save and tn_checkpoint_folder_load; the training must
 * have the same options, except for `capture`, and n_epochs if the rate is constant. */
TN_API tn_status tn_train(tn_module *module, tn_optimizer *optimizer, const tn_dataset *dataset,
			  const struct tn_train_options *options);

/* Loss and accuracy on one part.  confusion (may be NULL) receives n_classes x n_classes counts,
 * with a row for each label and a column for each predicted class.  batch_size 0: 256. */
TN_API tn_status tn_evaluate(tn_module *module, const tn_dataset *dataset, int part,
			     uint32_t batch_size, struct tn_evaluation *result,
			     uint64_t *confusion);

/* Probabilities (n, n_classes) of n host images prepared by tn_input_format_apply or a loader:
 * (n, channels, height, width). */
TN_API tn_status tn_predict(tn_module *module, const struct tn_input_format *format, uint32_t n,
			    const float *images, float *probabilities);

#ifdef __cplusplus
}
#endif
#endif
