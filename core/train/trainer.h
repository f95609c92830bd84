/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A trainer: its options, its parts, and all of its state.
 */
#ifndef TN_TRAIN_TRAINER_H
#define TN_TRAIN_TRAINER_H

#include "train/best.h"
#include "train/history.h"
#include "train/steps.h"

/* What changes as the training goes on, besides its objects and parts. */
struct tn_trainer_state {
	uint64_t epoch; /* complete ones */
	uint64_t step;  /* made */
	int in_epoch;   /* an epoch has begun and not ended: the sums are its own */
	int advances;   /* the schedule is to be advanced before the next update */
	int is_early;   /* patience ends the training with this epoch */
	int is_done;    /* the training has ended, and the best weights are restored */
	double seconds; /* of the running epoch, when it was interrupted */
	double last_lr; /* of the last step */
};

/* The batches of the step that is being made. */
struct tn_trainer_group {
	uint64_t total;   /* samples of the whole step */
	uint64_t samples; /* run so far */
	int is_regular;   /* `accumulate` full batches */
	int is_weighted;  /* the losses are sums with weights */
	int is_unseen;    /* the last batch's loss has not been looked at */
	uint32_t n;       /* samples of that batch */
	double loss;      /* the sum of the losses that were looked at */
	double weight;    /* of their weights */
};

struct tn_trainer {
	tn_module *module;
	tn_optimizer *optimizer;
	tn_context *context;
	struct tn_runtime *runtime;
	struct tn_trainer_options options; /* with the defaults */
	char *monitor;
	size_t monitored; /* 0: the loss; else 1 + the metric's number */
	tn_metric *metrics[TN_MOST_METRICS];
	struct tn_objective objective;
	struct tn_batches batches;
	struct tn_sums sums; /* of the running epoch */
	struct tn_steps steps;
	struct tn_best best;
	struct tn_history history;
	struct tn_trainer_state state;
	struct tn_trainer_group group;
	const char *stopped_by; /* the callback that stopped the run; NULL: none */
	int reports;            /* with ranks: they have agreed to report progress */
	uint32_t votes;         /* with ranks: bits of this one's callbacks that ask for it */
	int is_running;
	int has_begun;                /* a checkpoint was loaded, or there was none */
	int is_saved;                 /* the present state is that of a checkpoint */
	int is_common;                /* the error that ended the run was found by all ranks */
	struct tn_error_info unsaved; /* why the last checkpoint could not be written */
	double first_lr;              /* the optimizer's when the trainer was made */
	double reported;              /* when on_progress was called last */
	double validation_seconds;    /* duration of the last validation */
	/* The metrics of the running epoch, its validation, and the last tn_trainer_evaluate. */
	double running[TN_MOST_METRICS];
	double validated[TN_MOST_METRICS];
	double evaluated[TN_MOST_METRICS];
};

#endif
