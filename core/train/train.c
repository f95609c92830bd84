/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tn_train: a trainer for labelled images.
 */
#include "array/array.h"
#include "base/error.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "distributed/data_parallel.h"
#include "train/trainer.h"

struct training {
	struct tn_train_options options;
	tn_data_loader *loaders[2]; /* of the training and the validation part; NULL: none */
	tn_metric *accuracy;
	tn_schedule *schedule;
	tn_trainer *trainer;
};

/* ---- Callbacks -------------------------------------------------------------------------------*/

static int on_progress(void *user, const struct tn_trainer_progress *p)
{
	const struct training *t = user;
	const struct tn_progress progress = {
		.epoch = p->epoch,
		.n_epochs = p->n_epochs,
		.image = p->sample,
		.n_images = p->n_samples,
		.loss = p->loss,
		.accuracy = p->metrics[0],
		.images_per_second = p->samples_per_second,
		.seconds_left = p->seconds_left,
	};
	return t->options.progress(t->options.user, &progress);
}

static void on_resumed(void *user, uint64_t epochs, uint64_t steps)
{
	const struct training *t = user;
	t->options.resumed(t->options.user, epochs, steps);
}

static struct tn_evaluation evaluation_of(const struct tn_trainer_values *values)
{
	struct tn_evaluation evaluation = {0};
	if (values->samples)
		evaluation = (struct tn_evaluation){.loss = values->loss,
						    .accuracy = values->metrics[0],
						    .images = values->samples,
						    .seconds = values->seconds};
	return evaluation;
}

static int on_epoch(void *user, const struct tn_trainer_epoch *epoch)
{
	const struct training *t = user;
	const double seconds = epoch->train.seconds;
	const struct tn_epoch_metrics metrics = {
		.epoch = epoch->epoch,
		.train = evaluation_of(&epoch->train),
		.validation = evaluation_of(&epoch->validation),
		.seconds = seconds,
		.images_per_second = seconds > 0 ? (double)epoch->train.samples / seconds : 0.0,
	};
	return t->options.epoch(t->options.user, &metrics);
}

/* ---- Training --------------------------------------------------------------------------------*/

static tn_status check_arguments(const tn_module *module, const tn_optimizer *optimizer,
				 const tn_dataset *dataset)
{
	const struct tn_given given[] = {
		{"module", module}, {"optimizer", optimizer}, {"dataset", dataset}};
	const tn_module *any = module ? module : optimizer ? optimizer->module : NULL;
	struct tn_runtime *rt = any ? any->runtime : NULL;
	tn_status status = tn_runtime_given(rt, "train", 3, given);
	if (!status)
		status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (!tn_dataset_format(dataset))
		return tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "train",
				       "expected a data set of labelled images, found '%s', "
				       "which has other samples",
				       tn_dataset_name(dataset));
	if (!tn_dataset_count(dataset, TN_PART_TRAIN))
		return tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "train",
				       "the data set '%s' has no training part",
				       tn_dataset_name(dataset));
	return TN_OK;
}

static tn_status check_options(struct tn_runtime *rt, const struct tn_train_options *o)
{
	if (o->schedule > TN_SCHEDULE_COSINE)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "train", "unknown schedule %u",
				       o->schedule);
	return TN_OK;
}

static tn_status open_loader(struct training *t, const tn_module *module, const tn_dataset *dataset,
			     int part)
{
	struct tn_error_info error;
	const struct tn_train_options *o = &t->options;
	const struct tn_augmentation augmentation = {
		.struct_size = sizeof(augmentation),
		.max_shift = o->max_shift,
		.hflip_prob = o->flip ? 0.5 : 0.0,
	};
	const tn_communicator *ranks = o->parallel ? o->parallel->communicator : NULL;
	const uint32_t rank = ranks ? tn_communicator_rank(ranks) : 0;
	const uint32_t n_ranks = ranks ? tn_communicator_size(ranks) : 0;
	const struct tn_data_loader_options training = {
		.struct_size = sizeof(training),
		.batch_size = o->batch_size ? o->batch_size : 64,
		.seed = o->seed,
		.shuffle = 1,
		.augmentation = o->augmentation ? o->augmentation : &augmentation,
		.context = module->context,
		.rank = rank,
		.n_ranks = n_ranks,
	};
	const struct tn_data_loader_options validation = {
		.struct_size = sizeof(validation),
		.batch_size = n_ranks ? 256 * n_ranks : 256,
		.context = module->context,
		.rank = rank,
		.n_ranks = n_ranks,
		.uneven = 1,
	};
	int is_training = part == TN_PART_TRAIN;
	if (tn_data_loader_create(dataset, part, is_training ? &training : &validation,
				  &t->loaders[!is_training], &error))
		return tn_runtime_keep(module->runtime, &error);
	return TN_OK;
}

/* Makes the schedule, if there is one. */
static tn_status make_schedule(struct training *t, struct tn_runtime *rt, tn_optimizer *optimizer,
			       uint64_t n_epochs)
{
	const struct tn_train_options *o = &t->options;
	const struct tn_schedule_options *given = o->schedule_options;
	struct tn_schedule_options options = {.struct_size = sizeof(options), .kind = o->schedule};
	if (!given && o->schedule == TN_SCHEDULE_CONSTANT)
		return TN_OK;
	if (given && tn_runtime_take(rt, &options, sizeof(options), given,
				     "struct tn_schedule_options", "train"))
		return rt->error.status;
	if (!options.period && tn_schedule_has_period(options.kind))
		options.period =
			n_epochs * (o->schedule_epochs ? 1 : tn_data_loader_batches(t->loaders[0]));
	t->schedule = tn_schedule_create(optimizer, &options);
	return rt->error.status;
}

static tn_status make_trainer(struct training *t, tn_module *module, tn_optimizer *optimizer)
{
	struct tn_runtime *rt = module->runtime;
	const struct tn_train_options *o = &t->options;
	uint64_t n_epochs = o->n_epochs ? o->n_epochs : 1;
	t->accuracy = tn_metric_create(module->context, NULL);
	if (rt->error.status || make_schedule(t, rt, optimizer, n_epochs))
		return rt->error.status;
	t->trainer = tn_trainer_create(
		module, optimizer,
		TN_OPTIONS(struct tn_trainer_options, .train = t->loaders[0],
			   .validation = t->loaders[1], .n_epochs = n_epochs, .n_metrics = 1,
			   .metrics = &t->accuracy, .clip_norm = o->clip_norm,
			   .schedule = t->schedule, .schedule_epochs = (int)o->schedule_epochs,
			   .capture = o->capture, .patience = o->patience,
			   .min_delta = o->min_delta,
			   .on_progress = o->progress ? on_progress : NULL,
			   .on_epoch = o->epoch ? on_epoch : NULL, .user = t,
			   .checkpoints = o->checkpoints, .checkpoint_steps = o->checkpoint_steps,
			   .checkpoint_epochs = o->checkpoint_epochs, .n_pairs = o->n_pairs,
			   .pairs = o->pairs, .resume = o->resume,
			   .resumed = o->resumed ? on_resumed : NULL, .parallel = o->parallel));
	if (!t->trainer)
		return rt->error.status;
	t->trainer->losses = o->losses;
	t->trainer->n_losses = o->losses ? o->n_losses : 0;
	return TN_OK;
}

tn_status tn_train(tn_module *module, tn_optimizer *optimizer, const tn_dataset *dataset,
		   const struct tn_train_options *options)
{
	struct training t = {.trainer = NULL};
	tn_status status = check_arguments(module, optimizer, dataset);
	if (!status)
		status = tn_runtime_take(module->runtime, &t.options, sizeof(t.options), options,
					 "struct tn_train_options", "train");
	if (!status)
		status = check_options(module->runtime, &t.options);
	if (status)
		return status;
	const double lr = tn_optimizer_lr(optimizer);
	status = open_loader(&t, module, dataset, TN_PART_TRAIN);
	if (!status && tn_dataset_count(dataset, TN_PART_VALIDATION))
		status = open_loader(&t, module, dataset, TN_PART_VALIDATION);
	if (!status)
		status = make_trainer(&t, module, optimizer);
	if (!status)
		status = tn_trainer_run(t.trainer);
	tn_trainer_destroy(t.trainer);
	tn_schedule_destroy(t.schedule);
	tn_optimizer_set_lr(optimizer, lr);
	tn_metric_destroy(t.accuracy);
	tn_data_loader_destroy(t.loaders[0]);
	tn_data_loader_destroy(t.loaders[1]);
	return status;
}
