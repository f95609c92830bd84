/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Training steps: forward, backward, the optimizer's step, and the sums.  Steps of full batches
 * have one shape:
 *
 *	the first of a training      runs uncaptured, on the arrays that a captured one will
 *	                             read: kernels are compiled, libraries opened
 *	the next of each epoch       is captured (tenon/capture.h), and then replayed
 *	the other full batches       are copied into those arrays and replayed
 *	a smaller last batch         runs uncaptured
 *
 * The graph is released before the smaller batch, which can use its memory, and at the end of an
 * epoch, so that changes made by the epoch's callback take effect.  Where work cannot be captured,
 * or an epoch has fewer than two full batches, all steps run uncaptured, and a message gives the
 * reason.
 */
#ifndef TN_TRAIN_STEPS_H
#define TN_TRAIN_STEPS_H

#include <tenon/capture.h>

#include "train/batches.h"

/* The caller fills the first four members; the others start as zero. */
struct tn_steps {
	tn_module *module;
	tn_optimizer *optimizer;
	struct tn_batches *batches;
	uint32_t capture; /* TN_CAPTURE_...; OFF after it proved impossible */
	tn_array *x;      /* the input of captured steps; held; NULL before the first full batch */
	tn_array *labels;
	tn_array *batch[2]; /* pictures and labels of the next step; borrowed */
	tn_array *loss;     /* of the last step; held; NULL: none */
	tn_graph *graph;
	int is_settled; /* whether full batches can be captured was decided */
	int is_warm;    /* a full batch ran uncaptured */
};

/* Uploads the loaded batch of n images, in the caller's scope, which must last until the step is
 * done.  The upload waits for the previous step, so that its loss can be read now without
 * waiting. */
tn_status tn_steps_feed(struct tn_steps *steps, uint32_t n);
/* Runs the step of that batch. */
tn_status tn_steps_run(struct tn_steps *steps, struct tn_sums *sums, uint32_t n);
/* The loss of the last step; waits for the step. */
tn_status tn_steps_loss(const struct tn_steps *steps, double *loss);
/* The epoch is over: releases the graph. */
void tn_steps_end_epoch(struct tn_steps *steps);
/* Releases everything. */
void tn_steps_end(struct tn_steps *steps);

#endif
