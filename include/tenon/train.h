/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Training: the trainer, for any network, loss, metrics and data.
 *
 *     tn_dataset *digits;
 *     tn_data_loader *loader;
 *     struct tn_data_loader_options batches = tn_data_loader_defaults();
 *     batches.batch_size = 64;
 *     batches.shuffle = 1;
 *     if (tn_dataset_open("digits", NULL, &digits, &error) ||
 *         tn_data_loader_create(digits, TN_PART_TRAIN, &batches, &loader, &error))
 *             return error.status;
 *     struct tn_trainer_options options = tn_trainer_defaults();
 *     options.train = loader;
 *     options.n_epochs = 10;
 *     options.clip_norm = 1.0;
 *     tn_trainer *trainer = tn_trainer_create(net, optimizer, &options);
 *     tn_trainer_run(trainer);
 *     tn_trainer_destroy(trainer);
 *
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_TRAIN_H
#define TENON_TRAIN_H

#include <math.h>
#include <string.h>

#include <tenon/augment.h>
#include <tenon/checkpoint.h>
#include <tenon/data.h>
#include <tenon/loss.h>
#include <tenon/metric.h>
#include <tenon/optim.h>
#include <tenon/schedule.h>
#include <tenon/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_trainer tn_trainer;

/* A batch with fewer samples than a layer needs to be trained: a batch norm needs two elements of
 * each channel, and without space one sample has one. */
struct tn_short_batch {
	uint32_t struct_size;
	uint32_t samples; /* of the batch, on all ranks; 0: no batch is too short */
	uint32_t share;   /* of the rank that has the fewest of them */
	uint32_t least; /* that the layer needs on each rank; of all ranks, if it is synchronised */
	int is_last;    /* the last batch of each epoch, which drop_last leaves out; 0: any */
	const char *path; /* of the layer, as in struct tn_module_view; borrowed like the module */
	const char *class_name;
};
/* The first batch of the loader's epochs that is too short for a built network.  Runs the network
 * on one sample of zeros, as tn_summary_create does, if it has such a layer and a batch is so short
 * that it may be too short; where the network does not take field 0 alone, nothing is found.  The
 * caller sets found->struct_size.
 * TN_INVALID_ARGUMENT: struct_size is not set.  TN_STATE: the module is not built. */
TN_API tn_status tn_short_batch_find(tn_module *module, const tn_data_loader *loader,
				     struct tn_short_batch *found);

/* Whether steps of full batches are captured, and replayed (tenon/capture.h).
 * Losses and weights are the same bit for bit.
 *   auto  if the device's backend can capture work, the network consists of the library's modules,
 *         functions and metrics of the program are repeatable, neither the ledger nor a profile
 *         takes times and an epoch has at least two full batches; a step that cannot be captured
 *         runs normally, and a message at the level "info" gives the reason
 *   on    always; a step that cannot be captured is an error: TN_UNSUPPORTED (the backend cannot
 *         capture work), TN_NOT_CAPTURABLE (an operation in a step, or there is no full batch)
 *   off   never
 * A captured step is replayed until the end of its epoch: on_progress must not change the network
 * meanwhile. */
enum { TN_CAPTURE_AUTO = 0, TN_CAPTURE_ON = 1, TN_CAPTURE_OFF = 2 };

/* Where the best weights are kept.  auto: on the device if patience is set, else nowhere. */
enum { TN_BEST_AUTO = 0, TN_BEST_ON_DEVICE = 1, TN_BEST_ON_HOST = 2, TN_BEST_NOT_KEPT = 3 };

/* Means over samples, of a loss with weights over these. */
struct tn_trainer_values {
	uint32_t struct_size;
	double loss;
	const double *metrics; /* in the order of the options; borrowed */
	uint64_t samples;
	double seconds;
};

/* A step that was made: an update of the weights. */
struct tn_trainer_step {
	uint32_t struct_size;
	uint64_t epoch; /* from 1 */
	uint64_t step;  /* from 1, over all epochs */
	double lr;      /* of this step */
	double loss;    /* the mean over all samples of the step, before its update */
};

/* Of this epoch so far. */
struct tn_trainer_progress {
	uint32_t struct_size;
	uint64_t epoch;    /* from 1 */
	uint64_t n_epochs; /* of the options */
	uint64_t step;     /* made */
	uint64_t sample;   /* of this epoch */
	uint64_t n_samples;
	double lr;
	double loss;
	const double *metrics;
	double samples_per_second;
	double seconds_left; /* of the whole training, at this epoch's rate */
};

/* One epoch of the history. */
struct tn_trainer_epoch {
	uint32_t struct_size;
	int is_best;                                /* no earlier epoch was as good */
	uint64_t epoch;                             /* from 1 */
	uint64_t step;                              /* made by its end */
	double lr;                                  /* of its last step */
	const struct tn_trainer_values *train;      /* measured during training, with dropout */
	const struct tn_trainer_values *validation; /* NULL: none */
};

/* Forward and loss of the program's own, from all fields of a batch, by the network or its members:
 * the sum over the samples and, in *weight, by what sums are divided, as `sum` of struct
 * tn_loss_class gives them; tn_loss_sum gives both.  *output may be set to what metrics compare
 * with the target.  Also called to evaluate, when no tape records. */
typedef tn_array *(*tn_step_function)(void *user, tn_module *module, uint32_t n_fields,
				      tn_array *const *fields, tn_array **output,
				      tn_array **weight);

/* Objects, arrays, functions and `user` are borrowed until the trainer is destroyed. */
struct tn_trainer_options {
	uint32_t struct_size;

	/* Data.  Field 0 of a batch is the network's input, field 1 the target; with one field the
	 * input is the target. */
	tn_data_loader *train;      /* NULL: the trainer only evaluates */
	tn_data_loader *validation; /* after each epoch; NULL: none */

	tn_loss *loss; /* NULL: cross-entropy */
	/* In place of forward and loss. */
	tn_step_function step_function;
	/* 1: it does the same operations on arrays for all batches of one shape, so that captured
	 * steps may repeat them. */
	int is_repeatable;

	size_t n_metrics; /* at most 16, of different names */
	tn_metric *const *metrics;

	/* Its length: whichever comes first, so that a number of steps alone is max_steps with
	 * n_epochs = TN_NO_LIMIT. */
	uint64_t n_epochs;  /* default 1; TN_NO_LIMIT: without end */
	uint64_t max_steps; /* default TN_NO_LIMIT */

	/* A step: the gradient of the mean over all samples of `accumulate` batches (the last step
	 * of an epoch may have fewer), the sum of their losses divided by that of their weights;
	 * then clipping by value and by norm, the optimizer, the
	 * average. */
	uint64_t accumulate; /* at least 1; default 1 */
	double clip_value;   /* above 0; default INFINITY: none */
	double clip_norm;    /* the same */
	/* Scales the loss.  A step whose gradients are not finite is skipped: it counts, for the
	 * schedule too, but the average does not take it in. */
	tn_grad_scaler *scaler;
	tn_weight_average *average;
	int evaluate_average; /* 1: evaluate the averages in place of the weights */
	/* Advanced once a step; a plateau measures what is monitored, and rises like it. */
	tn_schedule *schedule;
	int schedule_epochs; /* 1: once an epoch */
	uint32_t capture;    /* TN_CAPTURE_... */
	/* 1: gradients are checked like the loss, before each update; the host waits for it. */
	int check_gradients;

	/* Early stopping. */
	const char
		*monitor; /* copied; "loss" or a metric's name, of the validation data or, without
			      * these, of the training; NULL: "loss" */
	/* Stop after this many epochs in a row that are not better, at least 1; default
	 * TN_NO_LIMIT: never. */
	uint64_t patience;
	double min_delta; /* better by no more than this is not better */
	uint32_t best;    /* TN_BEST_...: parameters and buffers of the best epoch, which the
			    * network has at the end of the training */

	/* Called on the way, unless NULL; a result other than 0 stops it (TN_CANCELLED). */
	int (*on_step)(void *user, const struct tn_trainer_step *step);
	uint64_t step_interval; /* on_step is called every so many steps; default 1 */
	int (*on_progress)(void *user, const struct tn_trainer_progress *progress);
	int (*on_evaluation)(void *user, const struct tn_trainer_values *values);
	int (*on_epoch)(void *user, const struct tn_trainer_epoch *epoch);
	void (*on_end)(void *user, tn_trainer *trainer, tn_status status);
	void *user;
	/* Where checkpoints are saved, and loaded from; borrowed.  NULL: none.  Without intervals
	 * one is saved after each epoch; one is always saved at the end, and when a callback or an
	 * error stops the training (tn_trainer_run). */
	tn_checkpoint_folder *checkpoints;
	uint64_t checkpoint_steps;  /* one after this many steps; 0: no such interval */
	uint64_t checkpoint_epochs; /* one after this many epochs, with the monitored value */
	/* Texts for the metadata of checkpoints, as in struct tn_checkpoint. */
	size_t n_pairs;
	const struct tn_pair *pairs;
	int resume; /* 1: continues from the newest checkpoint, if there is one */
	/* Called once after a checkpoint was loaded, with the epochs and steps that are done.  May
	 * be NULL. */
	void (*resumed)(void *user, uint64_t epochs, uint64_t steps);

	/* Trains on several ranks: of the module (tenon/distributed.h), see tn_trainer_create.
	 * NULL: on one. */
	struct tn_data_parallel *parallel;
	/* Called when a checkpoint could not be written (TN_IO: a full disk, no folder any more),
	 * with the reason.  The training goes on, and tries again when the next one is due.  NULL:
	 * a warning in the log tells it. */
	void (*on_unsaved)(void *user, const struct tn_error_info *error);
};
static inline struct tn_trainer_options tn_trainer_defaults(void)
{
	struct tn_trainer_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.n_epochs = 1;
	options.max_steps = TN_NO_LIMIT;
	options.accumulate = 1;
	options.clip_value = INFINITY;
	options.clip_norm = INFINITY;
	options.patience = TN_NO_LIMIT;
	options.step_interval = 1;
	return options;
}
/* Owned: free it with tn_trainer_destroy before the module and the objects of its options.  The
 * module must be built; optimizer may be NULL if .train is.
 * NULL: TN_INVALID_ARGUMENT, TN_STATE (the module is not built), TN_UNSUPPORTED (options of a newer
 * version), TN_OUT_OF_MEMORY; TN_SHAPE: a batch that the
 * training comes to is too short for a layer (tn_short_batch_find), which the text names, unless
 * there is a step_function.  With .parallel also TN_NOT_EQUAL (the ranks have other data, options
 * or random states; the text says which rank) and errors of the communicator; then what is refused
 * on one rank fails on all.
 *
 * With .parallel all ranks make the same calls with the same options; callbacks, which may be on
 * some ranks only, are the rank's own.  Then the trainer does what it does on one rank with the
 * samples of all, with these rules:
 *   loaders        have .rank and .n_ranks, the one for training with .uneven 0 and those for
 *                  evaluation with .uneven 1; batch_size is that of all ranks together
 *   values         losses, metrics, numbers of samples and the rate of progress are those of all
 *                  ranks, and the same on all; of a metric of the program's own, which must be
 *                  is_sum, too
 *   stopping       a result of on_step or on_progress ends all ranks after the step that follows,
 *                  of on_evaluation or on_epoch after this epoch.  A loss that is not finite ends
 *                  all ranks; the text says what was found on this one
 *   random numbers of a step are drawn from the context's streams with the seed plus rank times
 *                  0x9e3779b97f4a7c15: other elements are dropped on each rank, the same in every
 *                  run with this number of ranks
 *   share          the losses of the ranks are weighed here, and tn_data_parallel_set_share
 *                  stays at 1: the program's own loop afterwards sets it again
 *   batch norms    that are not synchronised keep statistics of the rank's samples; before each
 *                  evaluation and checkpoint all ranks get those of rank 0
 *   checkpoints    rank 0 saves, and the others wait: if it fails, all fail with its error.  To
 *                  resume, all ranks read the folder, which rank 0 opens first and the others with
 *                  is_read_only; the number of ranks may be another one than before
 *   capture        is off: the ranks meet within a step */
TN_API tn_trainer *tn_trainer_create(tn_module *module, tn_optimizer *optimizer,
				     const struct tn_trainer_options *options);
TN_API void tn_trainer_destroy(tn_trainer *trainer); /* takes NULL */

/* Trains to the end, from wherever the trainer is: after TN_CANCELLED, or with a state restored
 * from a checkpoint, it continues with the next batch, to the same bits.  At the end of the
 * training the network has the best weights if they are kept; it is left in evaluation mode.  A
 * training that has ended is not begun again: TN_OK.
 * TN_CANCELLED: a callback stopped it, after a complete step; the network keeps what it has
 * learned.  TN_NOT_FINITE: a loss (or gradient: check_gradients) is infinite or NaN, or the weights
 * of a step have no finite sum above 0.  Training stops before the update, the weights are those
 * before the step, and the text gives the epoch, the step, the loss, and what was not finite first:
 * a field of the batch, a parameter, or the operation with the path of its module, found by
 * computing that step again in anomaly mode (tenon/autograd.h).
 * TN_STATE: run by one of its own callbacks.  Errors of data, operations and capture.
 *
 * With .checkpoints, a training that was stopped or killed continues, with .resume, as if it had
 * not been, in the middle of an epoch too; it must have the same options, except for .capture, and
 * .n_epochs and .max_steps unless a schedule has their length.  One is also saved when an error
 * ends the training, if parameters and buffers are finite; when it continues, the batches of the
 * step that failed are left out.  With .parallel that is so for errors that all ranks find, like
 * TN_NOT_FINITE; after others the newest checkpoint is the last that was due.  TN_STATE: the folder
 * has checkpoints, and .resume is 0.  TN_IO: the last checkpoint could not be written (on_unsaved);
 * unless a callback stopped the training it is complete, and the network as after TN_OK.  Also the
 * errors of tn_checkpoint_folder_save and tn_checkpoint_folder_load. */
TN_API tn_status tn_trainer_run(tn_trainer *trainer);

/* The loss and all metrics over the whole of a loader's part, from its beginning, in evaluation
 * mode; the loader's position, the network's mode and a running epoch stay as they are.
 * The caller sets values->struct_size.  The metrics in it are borrowed until the next evaluation; a
 * metric's counts are then those of this evaluation (tn_metric_counts).
 * If the weights of the samples add up to 0, the loss is NaN, as PyTorch's mean of no sample.
 * TN_INVALID_ARGUMENT: the part has no samples, or the fields do not fit. */
TN_API tn_status tn_trainer_evaluate(tn_trainer *trainer, tn_data_loader *loader,
				     struct tn_trainer_values *values);

/* What has been done: complete epochs and steps. */
TN_API uint64_t tn_trainer_epochs(const tn_trainer *trainer);
TN_API uint64_t tn_trainer_steps(const tn_trainer *trainer);
/* 1: patience ended the training. */
TN_API int tn_trainer_stopped_early(const tn_trainer *trainer);

/* The history: one entry for each complete epoch.  Borrowed, valid until the training goes on.
 * NULL: there is none. */
TN_API size_t tn_trainer_history_count(const tn_trainer *trainer);
TN_API const struct tn_trainer_epoch *tn_trainer_history_at(const tn_trainer *trainer,
							    size_t index);
TN_API const struct tn_trainer_epoch *tn_trainer_best(const tn_trainer *trainer);
/* As JSON lines, one object for each epoch: "epoch", "step", "lr", "seconds", "train_loss",
 * "train_NAME" of each metric, "val_loss", "val_NAME"; null is not finite or missing.  Owned
 * (tn_string_free); NULL: the context keeps the error. */
TN_API char *tn_trainer_history_json(const tn_trainer *trainer);

/* ---- Answers ---------------------------------------------------------------------------------*/

/* Probabilities (n, n_classes) of n host images prepared by tn_input_format_apply or a loader:
 * (n, channels, height, width). */
TN_API tn_status tn_predict(tn_module *module, const struct tn_input_format *format, uint32_t n,
			    const float *images, float *probabilities);

#ifdef __cplusplus
}
#endif
#endif
