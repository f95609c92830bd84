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
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	augmentation.max_shift = o->max_shift;
	augmentation.hflip_prob = o->flip ? 0.5 : 0.0;
	const tn_communicator *ranks = o->parallel ? o->parallel->communicator : NULL;
	const uint32_t rank = ranks ? tn_communicator_rank(ranks) : 0;
	const uint32_t n_ranks = ranks ? tn_communicator_size(ranks) : 1;
	int is_training = part == TN_PART_TRAIN;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = !is_training ? 256 * n_ranks : o->batch_size ? o->batch_size : 64;
	options.context = module->context;
	options.rank = rank;
	options.n_ranks = n_ranks;
	options.uneven = !is_training;
	if (is_training) {
		options.seed = o->seed;
		options.shuffle = 1;
		options.augmentation = o->augmentation ? o->augmentation : &augmentation;
	}
	if (tn_data_loader_create(dataset, part, &options, &t->loaders[!is_training], &error))
		return tn_runtime_keep(module->runtime, &error);
	return TN_OK;
}

/* Makes the schedule, if there is one. */
static tn_status make_schedule(struct training *t, struct tn_runtime *rt, tn_optimizer *optimizer,
			       uint64_t n_epochs)
{
	const struct tn_train_options *o = &t->options;
	const struct tn_schedule_options *given = o->schedule_options;
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = o->schedule;
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
	struct tn_trainer_options options = tn_trainer_defaults();
	options.train = t->loaders[0];
	options.validation = t->loaders[1];
	options.n_epochs = n_epochs;
	options.n_metrics = 1;
	options.metrics = &t->accuracy;
	options.clip_norm = o->clip_norm > 0.0 ? o->clip_norm : INFINITY;
	options.schedule = t->schedule;
	options.schedule_epochs = (int)o->schedule_epochs;
	options.capture = o->capture;
	options.patience = o->patience ? o->patience : TN_NO_LIMIT;
	options.min_delta = o->min_delta;
	options.on_progress = o->progress ? on_progress : NULL;
	options.on_epoch = o->epoch ? on_epoch : NULL;
	options.user = t;
	options.checkpoints = o->checkpoints;
	options.checkpoint_steps = o->checkpoint_steps;
	options.checkpoint_epochs = o->checkpoint_epochs;
	options.n_pairs = o->n_pairs;
	options.pairs = o->pairs;
	options.resume = o->resume;
	options.resumed = o->resumed ? on_resumed : NULL;
	options.parallel = o->parallel;
	t->trainer = tn_trainer_create(module, optimizer, &options);
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
