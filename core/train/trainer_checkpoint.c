/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Saves a trainer's checkpoints when they are due, by rank 0 for all, and resumes from the newest.
 */
#include "train/trainer_checkpoint.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "distributed/agree.h"
#include "train/checkpoint_folder.h"
#include "train/not_finite.h"
#include "train/ranks.h"
#include "train/trainer_state.h"

static const char operation[] = "train";

/* ---- What is saved ---------------------------------------------------------------------------*/

/* The options that must be the same. */
enum { N_REAL = 3, N_WHOLE = 5 };

/* The trainer's state under names that begin with a dot, and the options that must be the same. */
struct additions {
	tn_trainer *trainer;
	struct tn_trainer_saved saved;
	struct tn_checkpoint_array *arrays; /* with names of their own */
	uint64_t whole[N_WHOLE];
	double real[N_REAL];
	struct tn_checkpoint_array options[N_REAL + N_WHOLE];
	struct tn_checkpoint_own own;
};

static void add_options(struct additions *additions)
{
	static const char *const names[] = {".trainer.options.lr",
					    ".trainer.options.clip_value",
					    ".trainer.options.clip_norm",
					    ".trainer.options.loss",
					    ".trainer.options.accumulate",
					    ".trainer.options.schedule_epochs",
					    ".trainer.options.evaluate_average",
					    ".trainer.options.monitor"};
	const tn_trainer *t = additions->trainer;
	const struct tn_trainer_options *o = &t->options;
	additions->real[0] = t->first_lr;
	additions->real[1] = o->clip_value;
	additions->real[2] = o->clip_norm;
	additions->whole[0] = t->objective.loss ? tn_loss_number(t->objective.loss) : 0;
	additions->whole[1] = o->accumulate;
	additions->whole[2] = o->schedule_epochs != 0;
	additions->whole[3] = o->evaluate_average != 0;
	additions->whole[4] = t->monitored;
	for (size_t i = 0; i < N_REAL + N_WHOLE; i++) {
		int is_real = i < N_REAL;
		additions->options[i] = (struct tn_checkpoint_array){
			.name = names[i],
			.dtype = is_real ? TN_F64 : TN_U64,
			.data = is_real ? (void *)&additions->real[i]
					: (void *)&additions->whole[i - N_REAL]};
	}
	additions->own.n_options = N_REAL + N_WHOLE;
	additions->own.options = additions->options;
}

static tn_status add_arrays(struct additions *additions)
{
	const struct tn_trainer_saved *saved = &additions->saved;
	additions->arrays = tn_mem_zeroed(saved->n, sizeof(*additions->arrays));
	int failed = !additions->arrays;
	for (size_t i = 0; i < saved->n && !failed; i++) {
		const struct tn_trainer_array *from = &saved->arrays[i];
		struct tn_text name;
		tn_text_init(&name);
		tn_text_format(&name, ".%s", from->name);
		additions->arrays[i] = (struct tn_checkpoint_array){.name = tn_text_take(&name),
								    .dtype = from->dtype,
								    .rank = from->rank,
								    .shape = from->shape,
								    .data = from->data};
		failed = !additions->arrays[i].name;
	}
	if (failed)
		return tn_runtime_no_memory(additions->trainer->runtime, operation,
					    "a checkpoint's list");
	additions->own.n_arrays = saved->n;
	additions->own.arrays = additions->arrays;
	additions->own.text = saved->text;
	return TN_OK;
}

static void release(struct additions *additions)
{
	for (size_t i = 0; additions->arrays && i < additions->saved.n; i++)
		tn_mem_free((void *)(uintptr_t)additions->arrays[i].name);
	tn_mem_free(additions->arrays);
	tn_trainer_saved_release(&additions->saved);
	additions->arrays = NULL;
	memset(&additions->saved, 0, sizeof(additions->saved));
}

static struct tn_checkpoint checkpoint_of(const tn_trainer *t)
{
	const struct tn_trainer_options *o = &t->options;
	return (struct tn_checkpoint){.struct_size = sizeof(struct tn_checkpoint),
				      .module = t->module,
				      .optimizer = t->optimizer,
				      .schedule = o->schedule,
				      .average = o->average,
				      .scaler = o->scaler,
				      .loader = o->train,
				      .n_pairs = o->n_pairs,
				      .pairs = o->pairs};
}

/* ---- Saving ----------------------------------------------------------------------------------*/

static tn_status write(tn_trainer *t, double value)
{
	struct additions additions = {.trainer = t};
	const struct tn_checkpoint checkpoint = checkpoint_of(t);
	add_options(&additions);
	tn_status status = tn_trainer_save_state(t, &additions.saved);
	if (!status)
		status = add_arrays(&additions);
	if (!status)
		status = tn_checkpoint_folder_write(t->options.checkpoints, t->state.step, value,
						    &checkpoint, &additions.own);
	release(&additions);
	return status;
}

/* Rank 0 writes, with the sums of all ranks.  The others learn how it went. */
static tn_status write_of_ranks(tn_trainer *t, double value)
{
	struct tn_sums_kept kept;
	tn_communicator *communicator = tn_trainer_communicator(t);
	const int is_joined = t->state.in_epoch;
	tn_status status = tn_trainer_share_buffers(t), left = TN_OK;
	if (!status)
		status = tn_optimizer_gather_state(t->optimizer);
	if (status)
		return status;
	if (is_joined)
		status = tn_sums_join(&t->sums, communicator, &kept);
	if (!status && tn_communicator_rank(communicator) == 0)
		status = write(t, value);
	status = tn_agree_status(communicator, t->runtime, status, "a checkpoint of rank 0");
	if (is_joined)
		left = tn_sums_leave(&t->sums, &kept);
	return status ? status : left;
}

/* The training goes on: the next checkpoint may find the disk less full, or the folder again. */
static void tell_unsaved(tn_trainer *t)
{
	const tn_communicator *communicator = tn_trainer_communicator(t);
	t->unsaved = t->runtime->error;
	tn_error_clear(t->context);
	if (t->options.on_unsaved)
		t->options.on_unsaved(t->options.user, &t->unsaved);
	else if (!communicator || tn_communicator_rank(communicator) == 0)
		tn_log_format(t->runtime->logger, TN_LOG_WARNING, operation,
			      "the checkpoint of step %llu was not written: %s",
			      (unsigned long long)t->state.step, t->unsaved.text);
}

static tn_status save(tn_trainer *t, double value)
{
	tn_status status = t->options.parallel ? write_of_ranks(t, value) : write(t, value);
	t->is_saved = !status;
	if (!status)
		t->unsaved.status = TN_OK;
	if (status != TN_IO || t->runtime->error.status != TN_IO)
		return status;
	tell_unsaved(t);
	return t->runtime->error.status;
}

int tn_trainer_checkpoint_is_due(const tn_trainer *t, uint64_t step)
{
	const struct tn_trainer_options *o = &t->options;
	return o->checkpoints && o->checkpoint_steps && step % o->checkpoint_steps == 0;
}

tn_status tn_trainer_checkpoint_step(tn_trainer *t)
{
	t->is_saved = 0;
	return tn_trainer_checkpoint_is_due(t, t->state.step) ? save(t, NAN) : TN_OK;
}

tn_status tn_trainer_checkpoint_epoch(tn_trainer *t, double value)
{
	const struct tn_trainer_options *o = &t->options;
	uint64_t interval = o->checkpoint_epochs;
	int is_last =
		t->state.is_early || t->state.epoch == o->n_epochs || t->state.step >= o->max_steps;
	t->is_saved = 0;
	if (!o->checkpoints || (!is_last && (!interval || t->state.epoch % interval != 0)))
		return TN_OK;
	return save(t, value);
}

tn_status tn_trainer_checkpoint_stop(tn_trainer *t)
{
	return t->options.checkpoints && !t->is_saved ? save(t, NAN) : TN_OK;
}

/* On all ranks: each has statistics of its own batches. */
static int is_finite(const tn_trainer *t)
{
	tn_communicator *communicator = tn_trainer_communicator(t);
	int64_t is_bad = !tn_network_is_finite(t->module);
	if (communicator && tn_agree_max(communicator, 1, &is_bad, "whether weights are finite"))
		return 0;
	return !is_bad;
}

/* Other ranks may wait for this one somewhere else, unless all have found the error. */
void tn_trainer_checkpoint_failed(tn_trainer *t)
{
	const struct tn_error_info kept = t->runtime->error;
	if (!t->options.checkpoints || t->is_saved || !t->state.step ||
	    (t->options.parallel && !t->is_common))
		return;
	tn_error_clear(t->context);
	if (is_finite(t))
		(void)save(t, NAN); /* the first error counts */
	tn_error_clear(t->context);
	t->runtime->error = kept;
}

tn_status tn_trainer_checkpoint_end(tn_trainer *t)
{
	const struct tn_error_info unsaved = t->unsaved;
	t->unsaved.status = TN_OK;
	return unsaved.status ? tn_runtime_keep(t->runtime, &unsaved) : TN_OK;
}

/* ---- Loading ---------------------------------------------------------------------------------*/

/* Arrays for the state whose text a file has. */
static tn_status prepare(void *user, const char *text, uint64_t size, struct tn_checkpoint_own *own)
{
	struct additions *additions = user;
	release(additions);
	if (!text)
		return tn_runtime_fail(additions->trainer->runtime, TN_NOT_FOUND, operation,
				       "expected a checkpoint of a trainer, found one without its "
				       "state");
	tn_status status =
		tn_trainer_prepare_state(additions->trainer, text, size, &additions->saved);
	if (!status)
		status = add_arrays(additions);
	own->n_arrays = additions->own.n_arrays;
	own->arrays = additions->own.arrays;
	return status;
}

static tn_status take(void *user)
{
	const struct additions *additions = user;
	return tn_trainer_load_state(additions->trainer, &additions->saved);
}

static tn_status load(tn_trainer *t)
{
	struct additions additions = {.trainer = t,
				      .own = {.part = "trainer",
					      .prefix = ".trainer.",
					      .prepare = prepare,
					      .take = take,
					      .user = &additions}};
	const struct tn_checkpoint checkpoint = checkpoint_of(t);
	add_options(&additions);
	tn_status status = t->options.parallel ? tn_optimizer_gather_state(t->optimizer) : TN_OK;
	if (!status)
		status = tn_checkpoint_folder_read(t->options.checkpoints, &checkpoint,
						   &additions.own, NULL);
	release(&additions);
	if (t->options.parallel)
		status = tn_agree_status(tn_trainer_communicator(t), t->runtime, status,
					 "loading a checkpoint");
	if (!status)
		status = tn_trainer_share_state(t);
	t->is_saved = !status;
	if (!status && t->options.resumed)
		t->options.resumed(t->options.user, t->state.epoch, t->state.step);
	return status;
}

tn_status tn_trainer_checkpoint_begin(tn_trainer *t)
{
	const struct tn_trainer_options *o = &t->options;
	if (!o->checkpoints || t->has_begun)
		return TN_OK;
	if (tn_checkpoint_folder_is_rising(o->checkpoints) != t->best.is_rising)
		return tn_runtime_fail(t->runtime, TN_INVALID_ARGUMENT, operation,
				       "checkpoints: expected a folder with is_rising %d, like the "
				       "monitored value, found %d",
				       t->best.is_rising, !t->best.is_rising);
	tn_status status = tn_trainer_check_folder(t);
	if (!status && tn_checkpoint_folder_count(o->checkpoints))
		status = o->resume ? load(t)
				   : tn_checkpoint_folder_refuse(o->checkpoints, operation);
	t->has_begun = !status;
	return status;
}
