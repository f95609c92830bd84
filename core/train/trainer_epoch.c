/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The training loop.  It reads two things back from the device: each loss, to check that it is
 * finite, when the next batch has been loaded; and the sums, for the progress callback at intervals
 * and at the end of an epoch.  A step's update follows the look at its loss, so that weights are
 * never lost to a loss that is not finite, and a callback sees them before anything is.
 */
#include "train/trainer_epoch.h"

#include <math.h>

#include "array/array.h"
#include "optim/clip.h"
#include "optim/schedule.h"
#include "train/not_finite.h"
#include "train/ranks.h"
#include "train/trainer_checkpoint.h"
#include "train/trainer_evaluate.h"

#define PROGRESS_SECONDS 0.1

/* ---- Numbers that are not finite -------------------------------------------------------------*/

static tn_status refuse(struct tn_trainer *t, const char *what, double value)
{
	char text[320];
	t->is_common = 1;
	tn_not_finite_find(&t->steps, text, sizeof(text));
	return tn_runtime_fail(t->runtime, TN_NOT_FINITE, "train",
			       "epoch %llu, step %llu: expected a finite %s, found %g; the weights "
			       "are those before this step; first: %s",
			       (unsigned long long)t->state.epoch + 1,
			       (unsigned long long)t->state.step + 1, what,
			       isnan(value) ? fabs(value) : value, text);
}

/* Looks at the loss of the last batch, once. */
static tn_status look_at_loss(struct tn_trainer *t)
{
	double sum, weight;
	if (!t->group.is_unseen)
		return TN_OK;
	tn_status status = tn_steps_loss(&t->steps, t->group.n, &sum, &weight);
	if (status)
		return status;
	t->group.is_unseen = 0;
	t->group.loss += sum;
	t->group.weight += weight;
	t->group.is_weighted = t->steps.losses[t->steps.last].weight != NULL;
	/* With ranks all of them find it in the loss of the step. */
	return isfinite(sum) || t->options.parallel ? TN_OK : refuse(t, "loss", sum / weight);
}

/* Whether it is time to report progress. */
static int is_due(const struct tn_trainer *t)
{
	return t->options.on_progress && tn_clock_seconds() - t->reported >= PROGRESS_SECONDS;
}

/* With ranks, after the last batch of a step: gradients and loss are those of all samples. */
static tn_status join_ranks(struct tn_trainer *t)
{
	if (!t->options.parallel)
		return TN_OK;
	tn_status status = tn_steps_finish(&t->steps);
	if (!status)
		status = tn_trainer_agree_on_step(t, is_due(t));
	if (status || isfinite(t->group.loss))
		return status;
	return refuse(t, "loss", t->group.loss / t->group.weight);
}

/* Of the step whose batches have all run: makes gradients of the sum of losses over what the
 * samples weigh about those of the sum over their weight, which those of a batch alone are. */
static tn_status weigh_gradients(struct tn_trainer *t)
{
	const double unit = t->group.is_weighted ? t->objective.unit : 1.0;
	const double about = unit * (double)t->group.total;
	if (t->group.weight == about)
		return TN_OK;
	if (t->group.weight > 0.0 && isfinite(t->group.weight))
		return t->steps.is_alone ? TN_OK
					 : tn_gradient_scale(t->module, about / t->group.weight);
	t->is_common = 1;
	return tn_runtime_fail(
		t->runtime, TN_NOT_FINITE, "train",
		"epoch %llu, step %llu: expected samples whose weights have a finite "
		"sum above 0, found %g; the weights are those before this step",
		(unsigned long long)t->state.epoch + 1, (unsigned long long)t->state.step + 1,
		t->group.weight);
}

/* Of the step whose batches have all run. */
static tn_status look_at_gradients(struct tn_trainer *t)
{
	double norm = 0;
	tn_status status = tn_gradient_norm(t->module, &norm);
	return status || isfinite(norm) ? status : refuse(t, "norm of the gradients", norm);
}

/* ---- Steps -----------------------------------------------------------------------------------*/

tn_status tn_trainer_advance(struct tn_trainer *t)
{
	if (!t->state.advances)
		return TN_OK;
	t->state.advances = 0;
	return tn_schedule_advance(t->options.schedule);
}

static int is_complete(const struct tn_trainer *t)
{
	return t->group.total && t->group.samples == t->group.total;
}

static tn_status report_step(struct tn_trainer *t, double loss)
{
	const struct tn_trainer_step step = {.struct_size = sizeof(step),
					     .epoch = t->state.epoch + 1,
					     .step = t->state.step,
					     .lr = t->state.last_lr,
					     .loss = loss};
	if (t->options.on_step && t->state.step % t->options.step_interval == 0 &&
	    t->options.on_step(t->options.user, &step))
		tn_trainer_vote(t, TN_ON_STEP);
	return t->runtime->error.status;
}

/* Looks at the last batch's loss, and updates the weights if the step's batches have all run. */
static tn_status settle(struct tn_trainer *t)
{
	tn_status status = look_at_loss(t);
	if (!status && is_complete(t))
		status = join_ranks(t);
	if (!status && is_complete(t))
		status = weigh_gradients(t);
	const double loss = t->group.loss / t->group.weight;
	if (!status && t->options.check_gradients && is_complete(t))
		status = look_at_gradients(t);
	tn_steps_release_batch(&t->steps);
	if (status || !is_complete(t))
		return status;
	status = tn_trainer_advance(t);
	if (!status) {
		t->state.last_lr = tn_optimizer_lr(t->optimizer);
		status = tn_steps_update(&t->steps);
	}
	if (status)
		return status;
	t->group = (struct tn_trainer_group){0};
	t->state.step++;
	t->state.advances = t->options.schedule && !t->options.schedule_epochs;
	status = report_step(t, loss);
	return status ? status : tn_trainer_checkpoint_step(t);
}

/* The last step's effects are wanted at once. */
static int is_urgent(const struct tn_trainer *t)
{
	uint64_t step = t->state.step + 1;
	return is_complete(t) && (t->options.parallel ||
				  (t->options.on_step && step % t->options.step_interval == 0) ||
				  tn_trainer_checkpoint_is_due(t, step) || t->stopped_by ||
				  step == t->options.max_steps);
}

static void begin_group(struct tn_trainer *t)
{
	const struct tn_batch *batch = &t->batches.batch;
	const uint64_t n = t->options.accumulate, left = t->batches.limit - batch->index;
	const int is_full = n <= left / t->batches.batch_size;
	t->group = (struct tn_trainer_group){.total = is_full ? n * t->batches.batch_size : left,
					     .is_regular = n == 1 || is_full};
}

static tn_status run_batch(struct tn_trainer *t)
{
	const struct tn_batch *batch = &t->batches.batch;
	int is_first = t->group.samples == 0;
	if (is_first)
		begin_group(t);
	tn_status status = tn_steps_feed(&t->steps, t->group.is_regular);
	if (status)
		return status;
	t->runtime->anomaly_step = t->state.step; /* those before this one's tape */
	status = tn_steps_forward(&t->steps, is_first ? TN_PART_FIRST : TN_PART_MORE,
				  (double)batch->n / (double)t->group.total,
				  t->group.samples + batch->n_global == t->group.total);
	if (status)
		return status;
	t->group.samples += batch->n_global;
	t->group.n = batch->n;
	t->group.is_unseen = 1;
	return is_urgent(t) ? settle(t) : TN_OK;
}

/* A step, or what follows the last one, failed when the loader had given what comes next. */
static tn_status step_back(struct tn_trainer *t, uint64_t index, tn_status status)
{
	const struct tn_data_position next = {t->batches.batch.epoch, index};
	return tn_data_loader_seek(t->options.train, next, NULL) ? TN_PENDING_ERROR : status;
}

/* *more = 0: the epoch is over, or the run. */
static tn_status train_batch(struct tn_trainer *t, int *more)
{
	tn_status status = tn_batches_load(&t->batches);
	if (!status) {
		status = settle(t);
		if (status)
			status = step_back(t, t->batches.batch.index, status);
	}
	*more = !status && t->batches.batch.n;
	if (*more)
		status = run_batch(t);
	if (t->state.step >= t->options.max_steps)
		*more = 0;
	return status;
}

/* ---- Progress --------------------------------------------------------------------------------*/

static double seconds_of(const struct tn_trainer *t)
{
	return t->state.seconds + tn_clock_seconds() - t->sums.started;
}

/* Estimated for the training from the rate of this epoch; INFINITY: it has no end. */
static double seconds_left(const struct tn_trainer *t, uint64_t samples, double rate)
{
	uint64_t n = t->batches.limit, epochs = 0;
	int has_epochs = t->options.n_epochs != TN_NO_LIMIT;
	if (has_epochs && t->options.n_epochs > t->state.epoch + 1)
		epochs = t->options.n_epochs - t->state.epoch - 1;
	double left = has_epochs ? (double)(n - samples) + (double)epochs * (double)n : INFINITY;
	if (t->options.max_steps != TN_NO_LIMIT)
		left = fmin(left, (double)(t->options.max_steps - t->state.step) *
					  (double)t->options.accumulate *
					  (double)t->batches.batch_size);
	double validations = (double)(epochs + (samples < n));
	return rate > 0 ? left / rate + validations * t->validation_seconds : 0.0;
}

/* Of these values so far. */
static tn_status report_values(struct tn_trainer *t, const struct tn_trainer_values *so_far)
{
	t->reported = tn_clock_seconds();
	t->reports = 0;
	if (!t->options.on_progress)
		return TN_OK;
	double seconds = seconds_of(t);
	double rate = seconds > 0 ? (double)so_far->samples / seconds : 0.0;
	const struct tn_trainer_progress progress = {
		.struct_size = sizeof(progress),
		.epoch = t->state.epoch + 1,
		.n_epochs = t->options.n_epochs,
		.step = t->state.step,
		.sample = so_far->samples,
		.n_samples = t->batches.limit,
		.lr = tn_optimizer_lr(t->optimizer),
		.loss = so_far->loss,
		.metrics = so_far->metrics,
		.samples_per_second = rate,
		.seconds_left = seconds_left(t, so_far->samples, rate),
	};
	if (t->options.on_progress(t->options.user, &progress))
		tn_trainer_vote(t, TN_ON_PROGRESS);
	return t->runtime->error.status;
}

/* With ranks all read the sums together, also those that have no callback. */
static tn_status report_progress(struct tn_trainer *t)
{
	struct tn_trainer_values so_far;
	if (t->options.parallel ? !t->reports : !is_due(t))
		return TN_OK;
	tn_status status = tn_trainer_read_sums(t, &so_far);
	return status ? status : report_values(t, &so_far);
}

/* ---- The end of an epoch ---------------------------------------------------------------------*/

/* The value by which epochs are compared. */
static double monitored_value(const struct tn_trainer *t, const struct tn_trainer_epoch *epoch)
{
	const struct tn_trainer_values *values =
		epoch->validation ? epoch->validation : epoch->train;
	return t->monitored ? values->metrics[t->monitored - 1] : values->loss;
}

static int is_averaged(const struct tn_trainer *t)
{
	return t->options.evaluate_average && tn_weight_average_updates(t->options.average) > 0 &&
	       !tn_weight_average_is_swapped(t->options.average);
}

static tn_status validate(struct tn_trainer *t, struct tn_trainer_values *values)
{
	if (!t->options.validation)
		return tn_trainer_share_buffers(t);
	tn_status status =
		tn_evaluate_loader(&t->objective, t->options.parallel, t->options.validation,
				   t->options.n_metrics, t->metrics, t->validated, values);
	if (status)
		return status;
	t->validation_seconds = values->seconds;
	if (t->options.on_evaluation && t->options.on_evaluation(t->options.user, values))
		tn_trainer_vote(t, TN_ON_EVALUATION);
	return t->runtime->error.status;
}

static int is_plateau(const tn_schedule *schedule)
{
	return schedule && tn_schedule_options_of(schedule)->kind == TN_SCHEDULE_PLATEAU;
}

tn_status tn_trainer_swap_back(struct tn_trainer *t, tn_status status)
{
	const struct tn_error_info kept = t->runtime->error;
	tn_error_clear(t->context);
	tn_status swapped = tn_weight_average_swap(t->options.average);
	if (kept.status)
		t->runtime->error = kept;
	return status ? status : swapped;
}

/* Validates and compares, with the averages in place of the weights if they are wanted. */
static tn_status judge(struct tn_trainer *t, struct tn_trainer_epoch *epoch,
		       struct tn_trainer_values *validation)
{
	const int swaps = is_averaged(t);
	tn_status status = swaps ? tn_weight_average_swap(t->options.average) : TN_OK;
	if (status)
		return status;
	status = validate(t, validation);
	epoch->validation = t->options.validation ? validation : NULL;
	if (!status)
		status = tn_best_take(&t->best, epoch->epoch, monitored_value(t, epoch));
	epoch->is_best = t->best.is_found && t->best.epoch == epoch->epoch;
	return swaps ? tn_trainer_swap_back(t, status) : status;
}

static tn_status finish_epoch(struct tn_trainer *t)
{
	struct tn_trainer_values train, validation;
	struct tn_trainer_epoch epoch = {.struct_size = sizeof(epoch),
					 .epoch = t->state.epoch + 1,
					 .step = t->state.step,
					 .lr = t->state.last_lr,
					 .train = &train};
	tn_status status = tn_trainer_read_sums(t, &train);
	train.seconds = seconds_of(t);
	if (!status)
		status = report_values(t, &train);
	if (!status)
		status = judge(t, &epoch, &validation);
	if (!status && is_plateau(t->options.schedule))
		status = tn_schedule_measure(t->options.schedule, monitored_value(t, &epoch));
	if (status)
		return status;
	if (!tn_history_add(&t->history, &epoch))
		return tn_runtime_no_memory(t->runtime, "train", "the history");
	t->state.epoch++;
	t->state.in_epoch = 0;
	t->state.seconds = 0;
	tn_sums_end(&t->sums);
	t->state.advances |= t->options.schedule && t->options.schedule_epochs;
	if (t->best.waited >= t->options.patience)
		t->state.is_early = 1;
	const struct tn_trainer_epoch *last = t->history.epochs[t->history.n - 1];
	if (t->options.on_epoch && t->options.on_epoch(t->options.user, last))
		tn_trainer_vote(t, TN_ON_EPOCH);
	status = t->runtime->error.status;
	if (!status)
		status = tn_trainer_agree_on_epoch(t);
	return status ? status : tn_trainer_checkpoint_epoch(t, monitored_value(t, last));
}

/* ---- The epoch -------------------------------------------------------------------------------*/

/* max_steps ended the epoch: the next one begins from the start. */
static tn_status skip_rest(struct tn_trainer *t)
{
	struct tn_error_info error;
	struct tn_data_position position = tn_data_loader_position(t->options.train);
	if (!t->batches.batch.n)
		return TN_OK;
	position.epoch++;
	position.index = 0;
	return tn_data_loader_seek(t->options.train, position, &error)
		       ? tn_runtime_keep(t->runtime, &error)
		       : TN_OK;
}

static tn_status train_batches(struct tn_trainer *t)
{
	tn_status status = TN_OK;
	int more = 1;
	while (!status && more && !(t->stopped_by && !t->group.total)) {
		status = tn_scope_begin(t->context);
		if (status)
			break;
		status = train_batch(t, &more);
		tn_scope_end(t->context, NULL);
		if (!status && more)
			status = report_progress(t);
		if (!status && t->stopped_by && is_complete(t))
			status = settle(t);
	}
	if (!status && !more)
		status = skip_rest(t);
	return status;
}

tn_status tn_trainer_epoch(struct tn_trainer *t)
{
	tn_status status = TN_OK;
	if (!t->state.in_epoch) {
		status = tn_sums_begin(&t->sums, t->context, t->objective.dtype,
				       t->options.n_metrics, t->metrics);
		t->state.in_epoch = !status;
		t->group = (struct tn_trainer_group){0};
	}
	if (status)
		return status;
	t->sums.started = tn_clock_seconds();
	t->batches.batch.n = 0;
	tn_module_set_training(t->module, 1);
	status = train_batches(t);
	tn_steps_release_graphs(&t->steps);
	tn_module_set_training(t->module, 0);
	int is_over = !status && (!t->batches.batch.n || t->state.step >= t->options.max_steps);
	if (is_over)
		status = finish_epoch(t);
	if (is_over && !t->state.in_epoch)
		return status;
	if (is_over) /* the next run finishes it */
		status = step_back(t, t->batches.limit, status);
	t->state.seconds = seconds_of(t);
	t->sums.started = tn_clock_seconds();
	if (status) {
		/* The step that failed is not made later, from what is left of its gradients. */
		t->group = (struct tn_trainer_group){0};
		tn_steps_release_batch(&t->steps);
	}
	return status;
}
