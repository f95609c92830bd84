/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks that all ranks were given the same training, and makes them agree on each step and epoch.
 */
#include "train/ranks.h"

#include <math.h>
#include <string.h>

#include "array/array.h"
#include "data/data_loader.h"
#include "distributed/agree.h"
#include "distributed/compare.h"
#include "optim/optimizer.h"
#include "optim/weight_average.h"
#include "train/checkpoint_items.h"

static const char operation[] = "trainer";

/* ---- Options ---------------------------------------------------------------------------------*/

tn_status tn_trainer_check_loader(const struct tn_trainer *t, const tn_data_loader *loader,
				  const char *which, int trains)
{
	const tn_communicator *communicator = tn_trainer_communicator(t);
	if (!communicator || !loader)
		return TN_OK;
	const struct tn_loader_facts facts = tn_data_loader_facts(loader);
	const uint32_t rank = tn_communicator_rank(communicator);
	const uint32_t size = tn_communicator_size(communicator);
	if (facts.rank != rank || facts.n_ranks != size)
		return tn_runtime_fail(t->runtime, TN_INVALID_ARGUMENT, operation,
				       "%s: expected a loader of rank %u of %u, found one of rank "
				       "%u of %u",
				       which, rank, size, facts.rank, facts.n_ranks);
	if (size > 1 && facts.uneven == (uint32_t)trains)
		return tn_runtime_fail(t->runtime, TN_INVALID_ARGUMENT, operation,
				       "%s: expected a loader with uneven %d, found %u", which,
				       !trains, facts.uneven);
	return TN_OK;
}

static tn_status check_options(const struct tn_trainer *t)
{
	const struct tn_trainer_options *o = &t->options;
	if (o->parallel->module != t->module)
		return tn_runtime_fail(t->runtime, TN_INVALID_ARGUMENT, operation,
				       "parallel: expected that of the module, found another's");
	if (o->capture == TN_CAPTURE_ON)
		return tn_runtime_fail(t->runtime, TN_INVALID_ARGUMENT, operation,
				       "capture: expected TN_CAPTURE_AUTO or OFF with .parallel, "
				       "whose sums over ranks cannot be captured, found ON");
	for (size_t i = 0; i < o->n_metrics; i++) {
		if (!t->metrics[i]->class_.is_sum)
			return tn_runtime_fail(t->runtime, TN_INVALID_ARGUMENT, operation,
					       "metric %s: expected a class with is_sum 1, whose "
					       "state can be added up over ranks, found 0",
					       tn_metric_name(t->metrics[i]));
	}
	tn_status status = tn_trainer_check_loader(t, o->train, "train", 1);
	return status ? status : tn_trainer_check_loader(t, o->validation, "validation", 0);
}

static uint64_t hash_loader(const tn_data_loader *loader)
{
	uint64_t hash = 0;
	if (!loader)
		return 0;
	const struct tn_loader_facts f = tn_data_loader_facts(loader);
	const struct tn_data_position at = tn_data_loader_position(loader);
	const uint64_t facts[] = {(uint64_t)f.part, f.count,   f.seed,  f.batch_size,
				  f.shuffle,        f.weights, f.data,  f.augmentation,
				  f.whole,          at.epoch,  at.index};
	tn_hash_more(&hash, facts, sizeof(facts));
	tn_hash_more(&hash, f.dataset, strlen(f.dataset));
	return hash;
}

static tn_status hash_options(const struct tn_trainer *t, uint64_t *hash)
{
	const struct tn_trainer_options *o = &t->options;
	const tn_loss *loss = t->objective.loss;
	const uint64_t whole[] = {o->n_epochs,
				  o->max_steps,
				  o->accumulate,
				  o->average != NULL,
				  o->evaluate_average != 0,
				  o->schedule != NULL,
				  o->schedule_epochs != 0,
				  o->check_gradients != 0,
				  o->patience,
				  o->best,
				  t->monitored,
				  o->n_metrics,
				  o->checkpoints != NULL,
				  o->checkpoint_steps,
				  o->checkpoint_epochs,
				  o->resume != 0};
	const double real[] = {o->clip_value, o->clip_norm, o->min_delta, t->first_lr,
			       o->average ? tn_weight_average_decay(o->average) : 0};
	tn_hash_more(hash, whole, sizeof(whole));
	tn_hash_more(hash, real, sizeof(real));
	for (size_t i = 0; i < o->n_metrics; i++)
		tn_metric_hash(t->metrics[i], hash);
	return loss ? tn_loss_hash(loss, hash) : TN_OK;
}

/* The rule and, unless each rank has a share of them, the states, which may begin with a value. */
static tn_status hash_rule(const tn_optimizer *optimizer, uint64_t *hash)
{
	const char *text = optimizer->rule->text;
	tn_status status = TN_OK;
	tn_hash_more(hash, text, strlen(text));
	for (size_t i = 0; i < optimizer->n_states && !optimizer->n_shards && !status; i++)
		status = tn_hash_elements(hash, optimizer->states[i]);
	return status;
}

/* What the optimizer, the schedule and the scaler were made with, and where they are: the options
 * and the numbers that a checkpoint has of them. */
static tn_status hash_method(const struct tn_trainer *t, uint64_t *hash)
{
	const struct tn_checkpoint checkpoint = {.module = t->module,
						 .optimizer = t->optimizer,
						 .schedule = t->options.schedule,
						 .scaler = t->options.scaler};
	struct tn_checkpoint_items items;
	tn_status status = tn_checkpoint_items_of_options(&items, &checkpoint, operation);
	for (size_t i = 0; i < items.n_texts && !status; i++)
		tn_hash_more(hash, items.texts[i].value, strlen(items.texts[i].value));
	for (size_t i = 0; i < items.n && !status; i++) {
		struct tn_checkpoint_item *item = &items.items[i];
		tn_hash_more(hash, item->name, strlen(item->name));
		tn_hash_more(hash, tn_checkpoint_item_host(item), item->size_bytes);
	}
	tn_checkpoint_items_release(&items);
	return !status && t->optimizer ? hash_rule(t->optimizer, hash) : status;
}

static uint64_t hash_random(const struct tn_trainer *t)
{
	const uint64_t words[] = {t->runtime->random.seed, t->runtime->random.stream};
	uint64_t hash = 0;
	tn_hash_more(&hash, words, sizeof(words));
	return hash;
}

tn_status tn_trainer_check_ranks(const struct tn_trainer *t, tn_status status)
{
	static const char *const names[] = {"the data", "the options of the trainer",
					    "the optimizer, the schedule or the scaler",
					    "the random state of the context"};
	const struct tn_trainer_options *o = &t->options;
	tn_communicator *communicator = tn_trainer_communicator(t);
	if (!communicator)
		return status;
	const uint64_t loaders[] = {hash_loader(o->train), hash_loader(o->validation)};
	uint64_t hashes[] = {0, 0, 0, hash_random(t)};
	tn_hash_more(&hashes[0], loaders, sizeof(loaders));
	if (!status)
		status = check_options(t);
	if (!status)
		status = hash_options(t, &hashes[1]);
	if (!status)
		status = hash_method(t, &hashes[2]);
	status = tn_agree_status(communicator, t->runtime, status, operation);
	if (!status)
		status = tn_ranks_compare(communicator, t->runtime, 4, names, hashes, operation);
	return status ? status : tn_data_parallel_set_share(o->parallel, 1.0);
}

/* ---- Votes -----------------------------------------------------------------------------------*/

enum { N_CALLBACKS = 4 };

static const char *const callbacks[N_CALLBACKS] = {[TN_ON_STEP] = "step",
						   [TN_ON_PROGRESS] = "progress",
						   [TN_ON_EVALUATION] = "evaluation",
						   [TN_ON_EPOCH] = "epoch"};

void tn_trainer_vote(struct tn_trainer *t, enum tn_trainer_callback callback)
{
	if (t->options.parallel)
		t->votes |= 1u << callback;
	else
		t->stopped_by = callbacks[callback];
}

/* Adds up n numbers and the votes. */
static tn_status agree(struct tn_trainer *t, size_t n, double *numbers, const char *label)
{
	double values[3 + N_CALLBACKS];
	for (size_t i = 0; i < n; i++)
		values[i] = numbers[i];
	for (size_t i = 0; i < N_CALLBACKS; i++)
		values[n + i] = t->votes >> i & 1;
	tn_status status = tn_agree_sum(tn_trainer_communicator(t), n + N_CALLBACKS, values, label);
	if (status)
		return status;
	for (size_t i = 0; i < n; i++)
		numbers[i] = values[i];
	for (size_t i = 0; i < N_CALLBACKS; i++) {
		if (values[n + i] > 0)
			t->stopped_by = callbacks[i];
	}
	t->votes = 0;
	return TN_OK;
}

tn_status tn_trainer_agree_on_step(struct tn_trainer *t, int is_due)
{
	double numbers[] = {t->group.loss, t->group.weight, is_due};
	if (!t->options.parallel)
		return TN_OK;
	tn_status status = agree(t, 3, numbers, "the loss of a step");
	if (status)
		return status;
	t->group.loss = numbers[0];
	t->group.weight = numbers[1];
	t->reports = numbers[2] > 0;
	return TN_OK;
}

tn_status tn_trainer_agree_on_epoch(struct tn_trainer *t)
{
	return t->options.parallel ? agree(t, 0, NULL, "the end of an epoch") : TN_OK;
}

/* ---- State -----------------------------------------------------------------------------------*/

tn_status tn_trainer_read_sums(struct tn_trainer *t, struct tn_trainer_values *values)
{
	struct tn_sums_kept kept;
	tn_communicator *communicator = tn_trainer_communicator(t);
	if (!communicator)
		return tn_sums_read(&t->sums, t->running, values);
	tn_status status = tn_sums_join(&t->sums, communicator, &kept);
	if (!status)
		status = tn_sums_read(&t->sums, t->running, values);
	tn_status left = tn_sums_leave(&t->sums, &kept);
	return status ? status : left;
}

tn_status tn_trainer_share_buffers(const struct tn_trainer *t)
{
	tn_data_parallel *parallel = t->options.parallel;
	return parallel ? tn_data_parallel_broadcast_buffers(parallel) : TN_OK;
}

tn_status tn_trainer_check_folder(const struct tn_trainer *t)
{
	static const char *const names[] = {"the number of checkpoints that they find"};
	const uint64_t n = tn_checkpoint_folder_count(t->options.checkpoints);
	tn_communicator *communicator = tn_trainer_communicator(t);
	return communicator ? tn_ranks_compare(communicator, t->runtime, 1, names, &n,
					       "the list of checkpoints")
			    : TN_OK;
}

tn_status tn_trainer_share_state(struct tn_trainer *t)
{
	static const char *const names[] = {"the checkpoint that they have loaded"};
	const uint64_t loaded[] = {t->state.epoch, t->state.step};
	tn_communicator *communicator = tn_trainer_communicator(t);
	uint64_t hash = 0;
	if (!communicator)
		return TN_OK;
	tn_hash_more(&hash, loaded, sizeof(loaded));
	tn_status status =
		tn_ranks_compare(communicator, t->runtime, 1, names, &hash, "the checkpoint");
	if (status || !t->state.in_epoch || tn_communicator_rank(communicator) == 0)
		return status;
	tn_sums_end(&t->sums);
	return tn_sums_begin(&t->sums, t->context, t->objective.dtype, t->options.n_metrics,
			     t->metrics);
}
