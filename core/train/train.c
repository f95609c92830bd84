/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The trainer.  It reads two things back from the device: each loss, to check that it is finite,
 * after the next batch's upload has waited for it anyway; and the sums, for the progress callback
 * at intervals and at the end of an epoch.
 */
#include <math.h>
#include <tenon/augment.h>

#include "array/array.h"
#include "nn/module.h"
#include "train/batches.h"
#include "train/steps.h"
#include "train/train_checkpoint.h"

#define PROGRESS_SECONDS 0.1

struct training {
	tn_module *module;
	tn_optimizer *optimizer;
	const tn_dataset *dataset;
	struct tn_train_options options;
	tn_context *context;
	struct tn_runtime *runtime;
	struct tn_batches batches;
	struct tn_steps steps;
	uint64_t epoch;
	uint64_t step;   /* steps done */
	uint64_t looked; /* steps whose loss was checked */
	uint64_t n_steps;
	double lr;                      /* the optimizer's, before the schedule */
	double reported;                /* when progress was called last */
	double validation_seconds;      /* duration of the last validation */
	struct tn_training_state state; /* for checkpoints */
	int is_within;                  /* a checkpoint was loaded within the coming epoch */
	int is_saved;                   /* the last step's checkpoint, after its epoch was over */
};

/* Checks the last step's loss, once: the caller may have requested it, and after a loss that is not
 * finite all later ones are not finite either. */
static tn_status look_at_loss(struct training *t)
{
	double loss;
	if (t->looked == t->step)
		return TN_OK;
	tn_status status = tn_steps_loss(&t->steps, &loss);
	if (status)
		return status;
	if (t->looked < t->options.n_losses && t->options.losses)
		t->options.losses[t->looked] = (float)loss;
	t->looked = t->step;
	if (isfinite(loss))
		return TN_OK;
	return tn_runtime_fail(
		t->runtime, TN_NOT_FINITE, "train",
		"epoch %llu, step %llu: expected a finite loss, found %g: the network's "
		"weights are lost; a lower learning rate than %g may help",
		(unsigned long long)t->epoch, (unsigned long long)t->step,
		isnan(loss) ? fabs(loss) : loss, t->lr);
}

/* *n = 0: the epoch is over, and the last step's loss was checked too. */
static tn_status train_batch(struct training *t, struct tn_sums *sums, uint32_t *n)
{
	tn_status status = tn_batches_load(&t->batches, n);
	if (!status && *n)
		status = tn_steps_feed(&t->steps, *n);
	if (!status)
		status = look_at_loss(t);
	if (status || !*n)
		return status;
	double done = (double)t->step / (double)t->n_steps;
	if (t->options.schedule == TN_SCHEDULE_COSINE)
		tn_optimizer_set_lr(t->optimizer, t->lr * 0.5 * (1.0 + cos(M_PI * done)));
	status = tn_steps_run(&t->steps, sums, *n);
	if (status)
		return status;
	t->step++;
	/* The callbacks may stop the training after this one. */
	return t->step <= t->options.n_losses ? look_at_loss(t) : TN_OK;
}

/* ---- Checkpoints -----------------------------------------------------------------------------*/

/* Saves within an epoch, with its sums, or if these are NULL after it.  The loss is checked before:
 * a training that has diverged ends with that error. */
static tn_status save_checkpoint(struct training *t, const struct tn_sums *sums, double metric)
{
	tn_status status = t->options.checkpoints ? look_at_loss(t) : TN_OK;
	if (status || !t->options.checkpoints)
		return status;
	status = tn_training_take(&t->state, sums);
	if (!status)
		status = tn_training_save(&t->state, t->step, metric);
	t->is_saved = !sums;
	return status;
}

static tn_status save_after_step(struct training *t, const struct tn_sums *sums)
{
	uint64_t interval = t->options.checkpoint_steps;
	return interval && t->step % interval == 0 ? save_checkpoint(t, sums, NAN) : TN_OK;
}

static tn_status save_after_epoch(struct training *t, const struct tn_epoch_metrics *metrics)
{
	uint64_t interval = t->options.checkpoint_epochs;
	double metric = metrics->validation.images ? metrics->validation.loss : NAN;
	t->is_saved = 0;
	if (t->epoch != t->options.n_epochs && (!interval || t->epoch % interval != 0))
		return TN_OK;
	return save_checkpoint(t, NULL, metric);
}

/* A callback stops the training, within an epoch or, if `sums` is NULL, after it. */
static tn_status stop(struct training *t, const struct tn_sums *sums, const char *callback)
{
	/* At the end of an epoch that is not over yet, the loader is already at the next. */
	if (sums && t->options.checkpoints) {
		struct tn_error_info error;
		const struct tn_data_position position = {t->epoch - 1, sums->images};
		if (tn_data_loader_seek(t->batches.loader, position, &error))
			return tn_runtime_keep(t->runtime, &error);
	}
	tn_status status = sums || !t->is_saved ? save_checkpoint(t, sums, NAN) : TN_OK;
	if (status)
		return status;
	return tn_runtime_fail(t->runtime, TN_CANCELLED, "train", "stopped by the %s callback",
			       callback);
}

/* Loads the newest checkpoint, if there is one, and continues from there. */
static tn_status resume(struct training *t)
{
	int is_loaded;
	t->state = (struct tn_training_state){.module = t->module,
					      .optimizer = t->optimizer,
					      .loader = t->batches.loader,
					      .options = &t->options,
					      .lr = t->lr};
	tn_status status = tn_training_load(&t->state, &is_loaded);
	if (status || !is_loaded)
		return status;
	const struct tn_data_position position = tn_data_loader_position(t->batches.loader);
	uint64_t batch = (uint64_t)t->batches.shape[0];
	t->epoch = position.epoch + 1;
	t->step = position.epoch * tn_data_loader_batches(t->batches.loader) +
		  (position.index + batch - 1) / batch;
	t->looked = t->step;
	t->is_within = position.index != 0;
	t->is_saved = !t->is_within;
	if (t->options.resumed)
		t->options.resumed(t->options.user, position.epoch, t->step);
	return TN_OK;
}

/* ---- Epochs ----------------------------------------------------------------------------------*/

/* Estimated for the training from the rate of this epoch. */
static double seconds_left(const struct training *t, uint64_t images, double rate)
{
	uint64_t epochs = t->options.n_epochs - t->epoch;
	uint64_t n = tn_dataset_count(t->dataset, TN_PART_TRAIN);
	double left = (double)(n - images) + (double)epochs * (double)n;
	double validations = (double)(epochs + (images < n));
	return rate > 0 ? left / rate + validations * t->validation_seconds : 0.0;
}

static tn_status report_progress(struct training *t, const struct tn_sums *sums, int force)
{
	struct tn_evaluation so_far;
	double now = tn_clock_seconds();
	uint64_t n = tn_dataset_count(t->dataset, TN_PART_TRAIN);
	if (!t->options.progress || (!force && now - t->reported < PROGRESS_SECONDS))
		return TN_OK;
	tn_status status = tn_sums_read(sums, &so_far);
	if (status)
		return status;
	t->reported = now;
	double rate = so_far.seconds > 0 ? (double)so_far.images / so_far.seconds : 0.0;
	struct tn_progress progress = {
		.epoch = t->epoch,
		.n_epochs = t->options.n_epochs,
		.image = so_far.images,
		.n_images = n,
		.loss = so_far.loss,
		.accuracy = so_far.accuracy,
		.images_per_second = rate,
		.seconds_left = seconds_left(t, so_far.images, rate),
	};
	return t->options.progress(t->options.user, &progress) ? stop(t, sums, "progress") : TN_OK;
}

/* Trains, validates and calls the epoch callback. */
static tn_status train_epoch(struct training *t)
{
	struct tn_sums sums = {0};
	struct tn_epoch_metrics metrics = {.epoch = t->epoch};
	tn_module_set_training(t->module, 1);
	tn_status status = tn_scope_begin(t->context);
	if (status)
		return status;
	status = tn_sums_begin(&sums, t->context);
	if (!status && t->is_within)
		status = tn_training_give(&t->state, &sums);
	t->is_within = 0;
	for (uint32_t n = 1; !status && n;) {
		status = tn_scope_begin(t->context);
		if (status)
			break;
		status = train_batch(t, &sums, &n);
		tn_scope_end(t->context, NULL);
		if (!status && n)
			status = save_after_step(t, &sums);
		if (!status && n)
			status = report_progress(t, &sums, 0);
	}
	tn_steps_end_epoch(&t->steps);
	tn_module_set_training(t->module, 0);
	if (!status)
		status = tn_sums_read(&sums, &metrics.train);
	if (!status)
		status = report_progress(t, &sums, 1);
	metrics.seconds = metrics.train.seconds;
	if (metrics.seconds > 0)
		metrics.images_per_second = (double)metrics.train.images / metrics.seconds;
	if (!status && tn_dataset_count(t->dataset, TN_PART_VALIDATION))
		status = tn_evaluate(t->module, t->dataset, TN_PART_VALIDATION, 0,
				     &metrics.validation, NULL);
	t->validation_seconds = metrics.validation.seconds;
	if (!status) {
		/* The callback first: an epoch whose checkpoint exists has been reported. */
		int is_stopped = t->options.epoch && t->options.epoch(t->options.user, &metrics);
		status = save_after_epoch(t, &metrics);
		if (!status && is_stopped)
			status = stop(t, NULL, "epoch");
	}
	tn_sums_end(&sums);
	tn_scope_end(t->context, NULL);
	return status;
}

static tn_status check_arguments(const tn_module *module, const tn_optimizer *optimizer,
				 const tn_dataset *dataset)
{
	if (!module || !optimizer || !dataset)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(module->runtime);
	if (!status && !tn_dataset_count(dataset, TN_PART_TRAIN))
		status = tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "train",
					 "the data set '%s' has no training part",
					 tn_dataset_name(dataset));
	return status;
}

tn_status tn_train(tn_module *module, tn_optimizer *optimizer, const tn_dataset *dataset,
		   const struct tn_train_options *options)
{
	tn_status status = check_arguments(module, optimizer, dataset);
	if (status)
		return status;
	struct training t = {.module = module,
			     .optimizer = optimizer,
			     .dataset = dataset,
			     .context = module->context,
			     .runtime = module->runtime};
	status = tn_runtime_take(t.runtime, &t.options, sizeof(t.options), options,
				 "struct tn_train_options", "train");
	if (status)
		return status;
	if (!t.options.n_epochs)
		t.options.n_epochs = 1;
	if (!t.options.checkpoint_steps && !t.options.checkpoint_epochs)
		t.options.checkpoint_epochs = 1;
	if (t.options.schedule > TN_SCHEDULE_COSINE)
		return tn_runtime_fail(t.runtime, TN_INVALID_ARGUMENT, "train",
				       "unknown schedule %u", t.options.schedule);
	if (t.options.capture > TN_CAPTURE_OFF)
		return tn_runtime_fail(t.runtime, TN_INVALID_ARGUMENT, "train",
				       "capture: expected TN_CAPTURE_AUTO, ON or OFF, found %u",
				       t.options.capture);
	const struct tn_augmentation augmentation = {
		.struct_size = sizeof(augmentation),
		.max_shift = t.options.max_shift,
		.hflip_prob = t.options.flip ? 0.5 : 0.0,
	};
	struct tn_data_loader_options loader = {
		.struct_size = sizeof(loader),
		.batch_size = t.options.batch_size ? t.options.batch_size : 64,
		.seed = t.options.seed,
		.shuffle = 1,
		.augmentation = &augmentation,
	};
	status = tn_batches_open(&t.batches, t.context, dataset, TN_PART_TRAIN, &loader);
	if (status)
		return status;
	t.steps = (struct tn_steps){.module = module,
				    .optimizer = optimizer,
				    .batches = &t.batches,
				    .capture = t.options.capture};
	t.n_steps = tn_data_loader_batches(t.batches.loader) * t.options.n_epochs;
	t.lr = tn_optimizer_lr(optimizer);
	t.epoch = 1;
	if (t.options.checkpoints)
		status = resume(&t);
	for (; t.epoch <= t.options.n_epochs && !status; t.epoch++)
		status = train_epoch(&t);
	tn_optimizer_set_lr(optimizer, t.lr);
	tn_steps_end(&t.steps);
	tn_batches_close(&t.batches);
	return status;
}
