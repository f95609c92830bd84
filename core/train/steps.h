/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Training steps: forward, backward, the optimizer's step, and the sums.  Steps of full batches
 * have one shape:
 *
 *	the first of a training      is done as usual, on the arrays that a captured one will
 *	                             read: kernels are compiled, libraries opened
 *	the next of each epoch       is captured (tenon/capture.h), and then replayed
 *	the other full ones          copy their batch into those arrays and replay
 *	a smaller one, the last      is done as usual
 *
 * The graph goes before the smaller one, which can have its memory, and at the end of an epoch, so
 * that what the epoch's callback changes is seen.  Where work cannot be captured, or an epoch has
 * less than two full batches, all steps are done as usual, and a message says why.
 */
#ifndef TN_TRAIN_STEPS_H
#define TN_TRAIN_STEPS_H

#include <tenon/capture.h>

#include "train/batches.h"

/* Zeroed at first, but for the first four, which the caller fills. */
struct tn_steps {
	tn_module *module;
	tn_optimizer *optimizer;
	struct tn_batches *batches;
	uint32_t capture; /* TN_CAPTURE_...; OFF once it has turned out not to be possible */
	tn_array *x;      /* what captured steps read; held; NULL until there is a full batch */
	tn_array *labels;
	tn_array *batch[2]; /* pictures and labels of the step to come; borrowed */
	tn_array *loss;     /* of the last step; held; NULL: none */
	tn_graph *graph;
	int is_settled; /* it was asked whether full batches can be captured */
	int is_warm;    /* a full batch was done as usual */
};

/* Brings the batch of n images that was loaded to the device, in a scope of the caller's that lasts
 * until its step is done.  The upload waits for the step before, so that its loss is read now
 * without waiting. */
tn_status tn_steps_feed(struct tn_steps *steps, uint32_t n);
/* The step of that batch. */
tn_status tn_steps_run(struct tn_steps *steps, struct tn_sums *sums, uint32_t n);
/* The loss of the last step; waits for it. */
tn_status tn_steps_loss(const struct tn_steps *steps, double *loss);
/* The epoch is over: the graph goes. */
void tn_steps_end_epoch(struct tn_steps *steps);
/* Gives everything back. */
void tn_steps_end(struct tn_steps *steps);

#endif
