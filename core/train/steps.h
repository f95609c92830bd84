/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The work of training steps, in two parts: forward, backward and sums of one batch, and the update
 * of the weights from the gradients of one batch or several.  Between them the caller looks at the
 * loss.  Parts of full batches have one shape each:
 *
 *	the first of a training      runs uncaptured, on the arrays that a captured one will
 *	                             read: kernels are compiled, libraries opened
 *	the next of each epoch       is captured (tenon/capture.h), and then replayed
 *	the other full batches       are copied into those arrays and replayed
 *	a smaller last batch         runs uncaptured
 *
 * The graphs are released before the smaller batch, which can use their memory, and at the end of
 * an epoch, so that changes made by the epoch's callback take effect.  Where work cannot be
 * captured, or an epoch has fewer than two full batches, all parts run uncaptured, and a message
 * gives the reason.
 */
#ifndef TN_TRAIN_STEPS_H
#define TN_TRAIN_STEPS_H

#include <tenon/capture.h>

#include "distributed/data_parallel.h"
#include "train/batches.h"
#include "train/objective.h"
#include "train/sums.h"

/* The parts: a batch whose gradients are the first of a step, or are added to those of others; the
 * update. */
enum tn_step_part { TN_PART_FIRST, TN_PART_MORE, TN_PART_UPDATE, TN_STEP_PARTS };

/* The caller fills the members up to `capture`; the others start as zero. */
struct tn_steps {
	const struct tn_objective *objective;
	tn_optimizer *optimizer;
	tn_weight_average *average; /* or NULL */
	tn_grad_scaler *scaler;     /* or NULL */
	double clip_value;          /* INFINITY: none */
	double clip_norm;           /* INFINITY: none */
	tn_data_parallel *parallel; /* NULL: one rank */
	struct tn_batches *batches;
	struct tn_sums *sums;
	const char *never; /* why steps are not captured in any case; NULL: they may be */
	uint32_t capture;  /* TN_CAPTURE_...; OFF after it proved impossible */

	tn_array *fixed[TN_MAX_FIELDS];  /* what captured parts read; held; NULL at first */
	tn_array *fields[TN_MAX_FIELDS]; /* of the last batch; held */
	/* Of the last batch of each part; held. */
	struct tn_loss_value losses[TN_PART_UPDATE];
	enum tn_step_part last;        /* the part of the last batch */
	int is_alone;                  /* its step has no other, on any rank */
	struct tn_random_state random; /* before it */
	int is_fixed;                  /* it may be captured, and so may its update */
	tn_graph *graphs[TN_STEP_PARTS];
	int is_warm[TN_STEP_PARTS]; /* it ran uncaptured */
	int is_settled;             /* whether parts can be captured was decided */
};

/* Uploads the loaded batch.  is_regular: a full batch gets the scale that all others get. */
tn_status tn_steps_feed(struct tn_steps *steps, int is_regular);
/* Runs the part of that batch; the gradients of its mean loss are multiplied by `scale`, those of a
 * sum by `scale` over what its samples weigh about (tn_loss_unit), or, if the batch is alone, by 1
 * over its weight.  is_last: no other batch follows before the update. */
tn_status tn_steps_forward(struct tn_steps *steps, enum tn_step_part part, double scale,
			   int is_last);
/* With ranks, after the last batch: waits for the sums of gradients. */
tn_status tn_steps_finish(const struct tn_steps *steps);
/* The sum of losses of the last batch, of n samples, and its weight; waits for them. */
tn_status tn_steps_loss(const struct tn_steps *steps, uint32_t n, double *sum, double *weight);
tn_status tn_steps_update(struct tn_steps *steps);
/* Releases the arrays of the last batch. */
void tn_steps_release_batch(struct tn_steps *steps);
/* The epoch is over, or interrupted, and its losses were seen: releases them and the graphs. */
void tn_steps_release_graphs(struct tn_steps *steps);
/* Releases everything. */
void tn_steps_end(struct tn_steps *steps);

#endif
