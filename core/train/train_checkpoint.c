/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "train/train_checkpoint.h"

#include "array/array.h"
#include "nn/module.h"
#include "train/checkpoint_folder.h"

/* The accuracy's arrays: right answers, and all. */
static size_t arrays_of(const tn_trainer *trainer, tn_array **arrays)
{
	return tn_metric_pass_arrays(trainer->metrics[0], trainer->sums.passes[0], arrays, 2);
}

tn_status tn_training_take(struct tn_training_state *state, const tn_trainer *trainer)
{
	const struct tn_sums *sums = &trainer->sums;
	tn_array *arrays[2];
	state->loss = 0;
	state->right = 0;
	state->seconds = 0;
	if (!trainer->state.in_epoch || arrays_of(trainer, arrays) != 2)
		return TN_OK;
	tn_status status = tn_to_host(sums->loss, &state->loss, sizeof(state->loss));
	if (!status)
		status = tn_to_host(arrays[0], &state->right, sizeof(state->right));
	state->seconds = trainer->state.seconds + tn_clock_seconds() - sums->started;
	return status;
}

tn_status tn_training_give(const struct tn_training_state *state, uint64_t step,
			   tn_trainer *trainer)
{
	const struct tn_data_position position = tn_data_loader_position(state->loader);
	const int64_t images = (int64_t)position.index;
	struct tn_sums *sums = &trainer->sums;
	tn_array *arrays[2];
	trainer->state = (struct tn_trainer_state){.epoch = position.epoch,
						   .step = step,
						   .in_epoch = images != 0,
						   .seconds = state->seconds,
						   .last_lr = tn_optimizer_lr(state->optimizer)};
	if (!images)
		return TN_OK;
	tn_status status = tn_sums_begin(sums, trainer->context, trainer->objective.dtype,
					 trainer->options.n_metrics, trainer->metrics);
	if (status || arrays_of(trainer, arrays) != 2)
		return status;
	status = tn_assign_host(sums->loss, &state->loss, sizeof(state->loss));
	if (!status)
		status = tn_assign_host(arrays[0], &state->right, sizeof(state->right));
	if (!status)
		status = tn_assign_host(arrays[1], &images, sizeof(images));
	sums->samples = position.index;
	return status;
}

/* What is saved beside the objects.  The length of the training matters for a rate that falls. */
struct additions {
	uint64_t schedule;
	uint64_t n_epochs;
	struct tn_checkpoint_array arrays[3];
	struct tn_checkpoint_array options[3];
	struct tn_checkpoint_own own;
};

static void add(struct tn_training_state *state, struct additions *additions)
{
	additions->schedule = state->options->schedule;
	additions->n_epochs = state->options->n_epochs;
	additions->arrays[0] = (struct tn_checkpoint_array){
		.name = ".train.loss", .dtype = TN_F32, .data = &state->loss};
	additions->arrays[1] = (struct tn_checkpoint_array){
		.name = ".train.right", .dtype = TN_I64, .data = &state->right};
	additions->arrays[2] = (struct tn_checkpoint_array){
		.name = ".train.seconds", .dtype = TN_F64, .data = &state->seconds};
	additions->options[0] = (struct tn_checkpoint_array){
		.name = ".train.options.lr", .dtype = TN_F64, .data = &state->lr};
	additions->options[1] = (struct tn_checkpoint_array){
		.name = ".train.options.schedule", .dtype = TN_U64, .data = &additions->schedule};
	additions->options[2] = (struct tn_checkpoint_array){
		.name = ".train.options.n_epochs", .dtype = TN_U64, .data = &additions->n_epochs};
	additions->own = (struct tn_checkpoint_own){
		.n_arrays = 3,
		.arrays = additions->arrays,
		.n_options = additions->schedule == TN_SCHEDULE_CONSTANT ? 2 : 3,
		.options = additions->options};
}

static struct tn_checkpoint checkpoint_of(const struct tn_training_state *state)
{
	return (struct tn_checkpoint){.struct_size = sizeof(struct tn_checkpoint),
				      .module = state->module,
				      .optimizer = state->optimizer,
				      .loader = state->loader,
				      .n_pairs = state->options->n_pairs,
				      .pairs = state->options->pairs};
}

tn_status tn_training_save(struct tn_training_state *state, uint64_t step, double metric)
{
	struct additions additions;
	const struct tn_checkpoint checkpoint = checkpoint_of(state);
	add(state, &additions);
	return tn_checkpoint_folder_write(state->options->checkpoints, step, metric, &checkpoint,
					  &additions.own);
}

tn_status tn_training_load(struct tn_training_state *state, int *is_loaded)
{
	tn_checkpoint_folder *folder = state->options->checkpoints;
	size_t n = tn_checkpoint_folder_count(folder);
	struct tn_checkpoint_view newest;
	struct additions additions;
	*is_loaded = 0;
	if (!n)
		return TN_OK;
	tn_status status = tn_checkpoint_folder_at(folder, n - 1, &newest);
	if (status)
		return status;
	if (!state->options->resume)
		return tn_runtime_fail(state->module->runtime, TN_STATE, "train",
				       "expected to resume, or a folder without checkpoints, found "
				       "%.300s",
				       newest.path);
	const struct tn_checkpoint checkpoint = checkpoint_of(state);
	add(state, &additions);
	status = tn_checkpoint_folder_read(folder, &checkpoint, &additions.own, NULL);
	*is_loaded = !status;
	return status;
}
